// Lessons: puzzles that are rated like players, mistakes of own games, and a single position to find a better move in.

import { Refusal, post } from "./api.js";
import { announce, fill, html } from "./dom.js";
import { describeMove } from "./judge_panel.js";
import { createPanels, createTable } from "./panels.js";
import { positionAddress } from "./share.js";
import { StudyBoard } from "./study_board.js";
import { addOwnPuzzles, listOwnPuzzles, loadSolver, markOwnPuzzle, rateTry } from "./solver.js";
import { texts } from "./texts.js";

/** @import { Answered, Decision, JudgedMove, Move, PuzzleAnswer, PuzzleSummary, Shown, Steps } from "./api_types.js" */

const OWN = "own"; // the theme of the puzzles of own games
const NEAR = 6; // so many puzzles of the nearest ratings are drawn from
const FOUND = ["best", "good"]; // the verdicts with which a position of an own game is solved
const LOST = ["inaccuracy", "mistake", "blunder"];

/**
 * @param {HTMLElement} place
 * @param {string} theme or "try", or "" for all
 * @param {string} rest of the address: the name of a puzzle, or the text of a position
 */
export async function openLessons(place, theme, rest) {
  document.title = texts.lessonsTitle;
  /** @type {{puzzles: PuzzleSummary[]}} */
  const { puzzles } = await post("/api/puzzles/list", {});
  const lessons = new Lessons(place, puzzles);
  if (theme === "try") await lessons.openPosition(rest, false);
  else if (theme === "puzzle") await lessons.openPuzzle(rest);
  else {
    lessons.theme = theme;
    await lessons.next();
  }
  const onKey = (/** @type {KeyboardEvent} */ event) => lessons.board?.onKey(event);
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

/**
 * Keep the mistakes of a review as puzzles; return how many are new.
 * @param {Steps} game
 * @param {Decision[]} decisions
 * @param {(seat: number) => boolean} isOwn
 */
export function keepMistakes({ frames }, decisions, isOwn) {
  const when = Date.now();
  const found = decisions.flatMap(({ seat, verdict }, index) => {
    const text = frames[index].seen;
    return isOwn(seat) && text && verdict !== "inaccuracy" && LOST.includes(verdict) ? [{ text, when, verdict }] : [];
  });
  return addOwnPuzzles(found);
}

/**
 * Return the address at which a better move is looked for.
 * @param {string} text of the position
 */
export const tryAddress = (text) => positionAddress(text).replace("#/analysis/", "#/lessons/try/");

class Lessons {
  /**
   * @param {HTMLElement} place
   * @param {PuzzleSummary[]} puzzles
   */
  constructor(place, puzzles) {
    this.place = place;
    this.puzzles = puzzles;
    this.solver = loadSolver();
    this.theme = "";
    /** @type {PuzzleSummary | null} a rated puzzle; null for a position of a game */
    this.puzzle = null;
    this.tried = false; // whether this is no longer the first try
    this.mayGoOn = true; // whether there is a next puzzle
    /** @type {Shown | null} */
    this.shown = null;
    /** @type {StudyBoard | null} */
    this.board = null;
    this.status = html("p", { class: "status", role: "status" });
    this.result = html("section", { class: "card", "aria-label": texts.result });
    this.side = html("div", { class: "panels" });
    this.head = html("section", { class: "card", "aria-label": texts.lessonsPage });
  }

  // Which puzzle

  /** The puzzles of the chosen theme that were not solved, those with the nearest ratings first. */
  get candidates() {
    const fitting = this.puzzles.filter(({ kind }) => !this.theme || kind === this.theme);
    const fresh = fitting.filter(({ id }) => !this.solver.done[id] && id !== this.puzzle?.id);
    const distance = (/** @type {PuzzleSummary} */ { rating }) => Math.abs(rating - this.solver.rating);
    return (fresh.length ? fresh : fitting).sort((a, b) => distance(a) - distance(b));
  }

  async next() {
    if (this.theme === OWN) {
      const own = listOwnPuzzles();
      const open = own.find(({ text, done }) => !done && text !== this.shown?.text) ?? own[0];
      if (open) await this.openPosition(open.text, true);
      else this.showNothing();
      return;
    }
    const near = this.candidates.slice(0, NEAR);
    if (near.length) await this.openPuzzle(near[Math.floor(Math.random() * near.length)].id);
    else this.showNothing();
  }

  showNothing() {
    this.showHead();
    fill(this.place, html("div", { class: "alone" }, this.head, html("p", {}, texts.noOwnPuzzles)));
  }

  /** @param {string} id */
  async openPuzzle(id) {
    const shown = await post("/api/puzzles/show", { id });
    this.puzzle = this.puzzles.find((each) => each.id === id) ?? null;
    this.open(shown);
    history.replaceState(history.state, "", `#/lessons/puzzle/${id}`);
  }

  /**
   * @param {string} text
   * @param {boolean} mayGoOn
   */
  async openPosition(text, mayGoOn) {
    this.puzzle = null;
    this.mayGoOn = mayGoOn;
    this.open(await post("/api/analysis/position", { position: text }));
    history.replaceState(history.state, "", tryAddress(text));
  }

  /** @param {Shown} shown */
  open(shown) {
    if (!this.place.isConnected) return;
    this.shown = shown;
    this.tried = false;
    const board = new StudyBoard(shown, { onMove: (move) => this.answer(move) });
    this.board = board;
    const table = createTable(shown.rules, {
      title: texts.lessonsTitle,
      status: this.status,
      board: board.frame,
      controls: [board.preview, board.controls],
      beside: [this.result, this.head, this.side],
    });
    table.classList.add("puzzle");
    fill(this.place, table);
    const { rules, names, position } = shown;
    fill(this.side, createPanels(rules, names, position), html("p", { class: "hint" }, `${texts.rules(rules.named)} · ${texts.bag(position.bag)}`));
    this.status.textContent = this.puzzle ? texts.puzzleTask(this.puzzle.kind) : texts.findBetter;
    this.showHead();
    this.showResult([html("p", { class: "hint" }, this.puzzle ? texts.puzzleHelp : texts.findBetterHelp)], false);
  }

  // Answers

  /** @param {Move} move */
  async answer(move) {
    const { shown, puzzle } = this;
    if (shown === null) return;
    const isFirst = !this.tried;
    this.tried = true;
    this.board?.show(shown, { locked: true });
    this.showResult([html("p", {}, texts.checking)], false);
    try {
      if (puzzle) {
        this.showPuzzleAnswer(puzzle, move, await post("/api/puzzles/answer", { id: puzzle.id, ...move }), isFirst);
      } else {
        this.showVerdict(move, await post("/api/analysis/answer", { position: shown.text, ...move }));
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.showResult([html("p", { class: "problem", role: "alert" }, error.message)], true);
    }
  }

  /**
   * @param {PuzzleSummary} puzzle
   * @param {Move} move
   * @param {PuzzleAnswer} answer
   * @param {boolean} isFirst whether the answer counts
   */
  showPuzzleAnswer(puzzle, move, { solved, lost, best, count, proof, proved }, isFirst) {
    const before = this.solver.rating;
    if (isFirst) this.solver = rateTry(this.solver, puzzle, solved);
    const change = Math.round(this.solver.rating - before);
    const words = solved ? texts.solved : texts.notSolved(lost, puzzle.rules.mode === "solo");
    const rated = isFirst ? texts.ratedTry(Math.round(this.solver.rating), change) : texts.notRated;
    this.showHead();
    const proven = html("p", { class: "hint" }, `${texts.bestCount(count)} ${texts.proof(proof, proved)}`);
    this.finish(move, solved, best, [words, rated], proven);
  }

  /**
   * @param {Move} move
   * @param {Answered} answer
   */
  showVerdict(move, { verdict, loss, error, best }) {
    const isFound = FOUND.includes(verdict);
    if (isFound && this.shown) markOwnPuzzle(this.shown.text);
    this.finish(move, isFound, best, [texts.verdictOn(texts.verdicts[verdict], loss, error)], null);
  }

  /**
   * @param {Move} move
   * @param {boolean} isSolved
   * @param {JudgedMove[]} best
   * @param {string[]} words
   * @param {import("./dom.js").Child} more shown with the answer
   */
  finish(move, isSolved, best, words, more) {
    const title = html("p", { class: isSolved ? "right" : "wrong", role: "alert" }, html("strong", {}, isSolved ? "✓ " : "✗ ", words[0]));
    const rest = words.slice(1).map((each) => html("p", {}, each));
    const answer = html("div", {}, ...this.describeBest(best), more);
    const show = () => {
      shown.replaceWith(answer);
      this.drawBest(move, best);
    };
    const shown = html("div", { class: "buttons" }, html("button", { type: "button", onclick: show }, texts.showAnswer));
    if (isSolved) this.drawBest(move, best);
    else this.drawPlayed(move);
    this.showResult([title, rest, isSolved ? answer : shown], !isSolved);
    announce([...words].join(" "));
  }

  /** @param {JudgedMove[]} best */
  describeBest(best) {
    const { shown, board } = this;
    if (shown === null || board === null) return [];
    const items = best.map((move) => html("li", {}, describeMove(shown, board.board.grid, move)));
    return [html("h3", {}, texts.bestAnswer), html("ul", { class: "losses" }, items)];
  }

  /** @param {Move} move */
  drawPlayed(move) {
    this.board?.draw({ ghosts: this.ghostsOf(move, "played") });
  }

  /**
   * @param {Move} move
   * @param {JudgedMove[]} best
   */
  drawBest(move, [first]) {
    const better = first?.slot !== undefined && first.cells ? this.ghostsOf({ slot: first.slot, cells: first.cells }, "better") : [];
    const isSame = "cells" in move && first?.cells && [...move.cells].sort().join() === [...first.cells].sort().join();
    this.board?.draw({ ghosts: isSame ? this.ghostsOf(move, "played") : [...this.ghostsOf(move, "played"), ...better] });
  }

  /**
   * @param {Move} move
   * @param {"played" | "better"} look
   * @returns {import("./board.js").Ghost[]}
   */
  ghostsOf(move, look) {
    const tile = "slot" in move ? this.board?.tiles[move.slot] : undefined;
    return "cells" in move && tile ? [{ cells: move.cells, tile, look }] : [];
  }

  /**
   * @param {import("./dom.js").Child} content
   * @param {boolean} mayTry
   */
  showResult(content, mayTry) {
    const again = () => {
      if (this.shown === null) return;
      this.board?.show(this.shown);
      this.showResult([html("p", { class: "hint" }, texts.findBetter)], false);
    };
    const buttons = [
      mayTry ? html("button", { type: "button", class: "main", onclick: again }, texts.tryAgain) : null,
      this.mayGoOn ? html("button", { type: "button", class: mayTry ? null : "main", onclick: () => this.next() }, texts.nextPuzzle) : null,
      this.shown ? html("a", { class: "button", href: positionAddress(this.shown.text) }, texts.analyse) : null,
    ];
    fill(this.result, content, html("div", { class: "buttons" }, buttons));
  }

  /** Show the rating, and the choice of a theme. */
  showHead() {
    const { rating, deviation, tries, solved } = this.solver;
    const own = listOwnPuzzles();
    const kinds = [...new Set(this.puzzles.map(({ kind }) => kind))].sort();
    const options = [["", texts.allThemes], ...kinds.map((kind) => [kind, texts.puzzleThemes[kind] ?? kind]), [OWN, texts.ownGames(own.length)]];
    const select = html("select", {
      onchange: () => {
        this.theme = select.value;
        this.mayGoOn = true;
        this.next();
      },
    });
    fill(select, options.map(([value, words]) => html("option", { value }, words)));
    select.value = this.theme;
    fill(
      this.head,
      html("label", { class: "across" }, html("strong", {}, texts.lessonsPage), select),
      html("p", {}, texts.yourRating(Math.round(rating), Math.round(2 * deviation), solved, tries)),
      this.puzzle ? html("p", { class: "hint" }, texts.puzzleAbout(texts.puzzleThemes[this.puzzle.kind] ?? this.puzzle.kind, this.puzzle.rating)) : null,
    );
  }
}
