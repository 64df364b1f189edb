"""Positions that are set up: what cannot be is refused, and the message names the place."""

from typing import Any

import numpy as np
import pytest

from genial_env import Rules
from genial_env.core import kernel
from genial_env.core.state import Phase
from genial_env.core.tables import tables
from tests.positions import STANDARD, VARIANTS, board_with, random_play

RULES = Rules()
T = tables(RULES)


def board(*cells: tuple[int, int, int], **symbols: int) -> np.ndarray:
    """The printed symbols, and (q, r, color); printed symbols by their letter's number may be others."""
    made = board_with(RULES, {(q, r): color for q, r, color in cells})
    for name, color in symbols.items():
        made[T.start_symbols["RGBOYP".index(name)]] = color
    return made


FULL = np.where(board() < 0, np.arange(T.n_cells) % 6, board())
"""All cells covered."""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"board": np.full(91, -1)}, r"board of game 0: cell A1 \(0, -5\) must show its printed symbol, R, not a free"),
        ({"board": board(B=-1)}, r"cell F11 \(5, 0\) must show its printed symbol, B, not a free cell"),
        ({"board": board(G=5)}, r"cell A6 \(5, -5\) must show its printed symbol, G, not P"),
        ({"board": np.stack([board(), board(P=0)])}, r"board of game 1: cell F1 \(-5, 0\) must show .* P, not R"),
        ({"board": board((0, 0, 1))}, r"board of game 0: tiles cover two cells each, and 1 cells .* cell F6 \(0, 0\)"),
        (
            {"board": board((0, 0, 1), (1, 0, 1), (-4, 0, 1), (-4, 1, 1), (-3, 0, 2), (3, 1, 0))},
            r"and 3 cells are covered around cell F2 \(-4, 0\) \(any_tiles=True allows it\)",
        ),
        ({"board": FULL * 0 + np.where(np.isin(np.arange(91), T.start_symbols), FULL, 0)}, "cells are covered around"),
        ({"racks": [[0] * 6, [-1] * 6], "bag": T.full_bag}, "there are 5 tiles RR, not 11"),
        ({"racks": [[1] * 6, [1, *[-1] * 5]], "bag": np.zeros(21)}, "there are 6 tiles RG, not 7"),
        (
            {"phase": Phase.OVER},
            r"phase of game 0: it cannot be over, as cell A2 \(1, -5\) and cell A3 \(2, -5\) are free",
        ),
        ({"phase": [0, 3], "board": np.stack([board()] * 2)}, "phase of game 1: it cannot be over"),
        ({"phase": Phase.PLACE, "board": FULL, "any_tiles": True}, "it must be 3, over, as no two adjacent cells are"),
        (
            {"phase": Phase.BONUS, "scores": [[18] * 6, [0] * 6]},
            "it must be 3, over, as a track has all markers at its",
        ),
    ],
)
def test_what_cannot_be(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        kernel.position(RULES, **{"board": board(), **arguments})


def test_more_of_a_color_than_all_tiles_have() -> None:
    """Red has 40 halves: 5 doubles, and 6 tiles with each of five colors."""
    free = np.flatnonzero(board() < 0)
    for reds, fine in ((40, True), (42, False)):
        made = board()
        made[free[:84]] = 1 + np.arange(84) % 5
        made[free[np.arange(reds)]] = 0
        made[free[84]] = -1
        pairs = (made[T.placements] >= 0).all(axis=1).any()
        assert pairs
        if fine:
            assert kernel.position(RULES, made).over.all()
        else:
            with pytest.raises(ValueError, match="all tiles have 40 halves of R, not 42"):
                kernel.position(RULES, made)
        assert kernel.position(RULES, made, any_tiles=True).over.all()


def test_ended_games_are_over_by_themselves_or_where_it_is_said() -> None:
    for phase in (None, Phase.OVER):
        assert kernel.position(RULES, FULL, phase=phase, any_tiles=True).over.all()
        won = kernel.position(RULES, board(), scores=[[18] * 6, [0] * 6], phase=phase)
        assert (won.phase[0], won.end[0]) == (3, 2)
    assert not kernel.position(RULES, board()).over.any()


@pytest.mark.parametrize("rules", [*STANDARD, *VARIANTS], ids=str)
def test_every_position_of_a_game_can_be(rules: Rules) -> None:
    for steps in (0, 7, 30, 200):
        state = random_play(rules, games=6, seed=steps, steps=steps)
        again = kernel.position(
            rules,
            state.board,
            scores=state.scores,
            racks=state.racks,
            bag=state.bag,
            to_play=state.to_play,
            phase=state.phase,
            pending_bonus=state.pending_bonus,
            has_placed=state.has_placed,
        )
        for name in (
            "board",
            "points",
            "open",
            "symbols_touched",
            "scores",
            "racks",
            "bag",
            "phase",
            "end",
            "pending_bonus",
        ):
            assert np.array_equal(getattr(again, name), getattr(state, name)), name
