"""Positions as text."""

import re

import pytest

from genial_env import Rules
from genial_env.actions import cell_name
from genial_env.render.ansi import board_text, named_text, rack_text
from genial_env.rules import COLOR_LETTERS
from tests.positions import STANDARD, VARIANTS, random_play

ESCAPE = re.compile("\x1b\\[[0-9;]*m")


@pytest.mark.parametrize("rules", STANDARD + VARIANTS, ids=str)
def test_every_cell_marker_and_rack_is_there(rules: Rules) -> None:
    state = random_play(rules, games=2, seed=0, steps=12)
    text = board_text(state, row=1, color=False)
    lines = text.splitlines()
    board, rest = lines[: 2 * rules.side - 1], lines[2 * rules.side :]
    assert sum(len(line.split()) for line in board) == state.board.shape[1]
    assert sum(line.count("·") for line in board) == (state.board[1] < 0).sum()
    letters = "".join(board).replace("·", "").replace(" ", "")
    assert sum(letter.islower() for letter in letters) == rules.colors
    assert len(rest) == 1 + rules.tracks + rules.players
    colored = ESCAPE.sub("", board_text(state, row=1)).splitlines()
    assert [line.rstrip() for line in colored] == [line.rstrip() for line in lines]


def test_racks_are_hidden_from_others_and_the_last_tile_stands_out() -> None:
    state = random_play(Rules(3), games=1, seed=0, steps=4)
    text = board_text(state, color=False, last=[(0, 0)], seat=2)
    assert text.count("??") == 12
    assert "[·]" in text


def test_cells_by_name() -> None:
    state = random_play(Rules(), games=1, seed=0, steps=5)
    cells = {cell_name(state.rules, tuple(cell)): number for number, cell in enumerate(state.tables.cells.tolist())}
    board = named_text(state, color=False).split("\n\n")[0].splitlines()
    assert [line.strip()[0] for line in board] == [line[-1] for line in board] == list("ABCDEFGHIJK")
    for line in board:
        letter, shown, _ = line.strip().split("|")
        for number, word in enumerate(shown.split(), 1):
            color = int(state.board[0, cells[f"{letter}{number}"]])
            assert word.upper() == (str(number) if color < 0 else COLOR_LETTERS[color])
    assert board == board_text(state, color=False, named=True).split("\n\n")[0].splitlines()
    assert "\x1b[2m" in named_text(state)
    assert ESCAPE.sub("", named_text(state)) == named_text(state, color=False)


def test_a_rack_with_its_slots() -> None:
    state = random_play(Rules(), games=1, seed=0, steps=4)
    state.racks[0, 1] = [0, -1, 1, -1, -1, 20]
    assert rack_text(state, 1, color=False) == "rack 1  0:RR  2:RG  5:PP"
