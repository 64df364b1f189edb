"""Positions as text."""

import re

import pytest

from genial_env import Rules
from genial_env.render.ansi import board_text
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
