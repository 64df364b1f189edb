/* An engine in C: it plays the placement with the most points, and swaps whenever it may.
 *
 *     cc -O2 -o greedy_engine examples/greedy_engine.c
 *     genial match "engine:./greedy_engine" random --fixed --pairs 10
 *
 * docs/engine_protocol.md describes the protocol. Each message is one line, and the names of the keys that are read
 * here occur once in it, so no JSON library is needed: a key is searched for, and its value is scanned.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CELLS 271 /* a board of side 10 */
#define LETTERS "RGBOYP"

static char line[1 << 16], position[1 << 16];
static char cells[MOST_CELLS][4];
static int n_cells, points[6][MOST_CELLS];

/* Return where the value of a key begins; end the program if there is none. */
static const char *value_of(const char *text, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *found = strstr(text, quoted);
    if (found == NULL) {
        fprintf(stderr, "no key %s\n", key);
        exit(1);
    }
    return found + strlen(quoted);
}

/* Read the texts of a list into rows of `width` characters; null becomes "". Return how many there are. */
static int read_texts(const char *list, char *texts, int width, int most) {
    int count = 0;
    for (const char *at = list + 1; *at != ']' && count < most; at++) {
        char *text = texts + width * count;
        int length = 0;
        if (*at == '"')
            for (at++; *at != '"'; at++)
                if (length < width - 1) text[length++] = *at;
        if (*at == '"' || *at == 'n') {
            text[length] = '\0';
            count++;
            while (at[1] != ',' && at[1] != ']') at++;
        }
    }
    return count;
}

/* Read the numbers of a list; return how many there are. */
static int read_numbers(const char *list, int *numbers, int most) {
    int count = 0;
    char *end = (char *)list + 1;
    while (*end != ']' && count < most) {
        numbers[count++] = (int)strtol(end, &end, 10);
        if (*end == ',') end++;
    }
    return count;
}

static int cell_number(const char *name, size_t length) {
    for (int cell = 0; cell < n_cells; cell++)
        if (strlen(cells[cell]) == length && strncmp(cells[cell], name, length) == 0) return cell;
    return 0;
}

/* Write the placement with the most points into `move`. */
static void choose_placement(char *move) {
    static char rack[6][3], pairs[3 * MOST_CELLS][12];
    const char *legal = value_of(position, "legal");
    int slots[6], best = -1;
    read_texts(value_of(position, "rack"), rack[0], 3, 6);
    int n_slots = read_numbers(value_of(legal, "slots"), slots, 6);
    int n_pairs = read_texts(value_of(legal, "pairs"), pairs[0], 12, 3 * MOST_CELLS);
    for (const char *letter = LETTERS; *letter; letter++) {
        char key[2] = {*letter, '\0'};
        if (strstr(value_of(position, "points"), key) != NULL)
            read_numbers(value_of(value_of(position, "points"), key), points[letter - LETTERS], MOST_CELLS);
    }
    for (int s = 0; s < n_slots; s++)
        for (int p = 0; p < n_pairs; p++)
            for (int turned = 0; turned < 2; turned++) {
                char *space = strchr(pairs[p], ' ');
                int a = cell_number(pairs[p], space - pairs[p]), b = cell_number(space + 1, strlen(space + 1));
                int first = turned ? b : a, second = turned ? a : b;
                const char *tile = rack[slots[s]];
                int total = points[strchr(LETTERS, tile[0]) - LETTERS][first] +
                            points[strchr(LETTERS, tile[1]) - LETTERS][second];
                if (total > best) {
                    best = total;
                    sprintf(move, "%s %s %s", tile, cells[first], cells[second]);
                }
            }
}

int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        const char *type = value_of(line, "type");
        if (strncmp(type, "\"hello\"", 7) == 0) {
            puts("{\"type\":\"hello\",\"protocol\":\"genialprotocol\",\"version\":1}");
        } else if (strncmp(type, "\"rules\"", 7) == 0) {
            n_cells = read_texts(value_of(line, "cells"), cells[0], 4, MOST_CELLS);
            puts("{\"type\":\"ready\"}");
        } else if (strncmp(type, "\"position\"", 10) == 0) {
            strcpy(position, line);
        } else if (strncmp(type, "\"go\"", 4) == 0) {
            char move[32] = "swap";
            if (strncmp(value_of(value_of(position, "legal"), "swap"), "true", 4) != 0) choose_placement(move);
            printf("{\"type\":\"bestmove\",\"id\":%ld,\"move\":\"%s\"}\n", strtol(value_of(line, "id"), NULL, 10), move);
        } else if (strncmp(type, "\"quit\"", 6) == 0) {
            return 0;
        }
        fflush(stdout); /* an answer in a buffer is no answer */
    }
    return 0;
}
