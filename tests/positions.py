"""Set-ups that several tests share."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genial_env import Rules, State
from genial_env.core import kernel
from genial_env.core.actions import Cell
from genial_env.core.rules import COLOR_LETTERS
from genial_env.core.tables import tables

STANDARD = [
    *(Rules(players, edition) for players in (2, 3, 4) for edition in ("2004", "2009", "2025")),
    *(Rules(players, edition, mode) for players, mode in ((4, "team"), (1, "solo")) for edition in ("2004", "2009")),
]
VARIANTS = [
    Rules(2, side=3, colors=3, rack=2),
    Rules(3, "2009", side=4, colors=4, rack=3),
    Rules(4, side=3, colors=2, rack=2, tile_sets=2),
    Rules(4, "2009", "team", side=5, colors=3, tile_sets=2),
    Rules(1, "2004", "solo", side=4, colors=5),
    Rules(2, side=9, rack=5),
    Rules(2, side=10, colors=2, tile_sets=12),
    Rules(4, "2009", "team", side=6, colors=3, rack=4, tile_sets=4, one_bonus_a_tile=True),
]
ONE_BONUS = VARIANTS[-1]
EVERYDAY = [
    *(Rules(), Rules(3, "2009"), Rules(4, "2004", "team"), Rules(1, "2004", "solo")),
    *(VARIANTS[0], VARIANTS[2], ONE_BONUS),
]
"""Every edition, mode and number of seats once, and what varies; under the other rules a test that runs under all is
slow."""


FORMER_PPO = Path(__file__).parent.parent / "agents" / "opponents" / "ppo_2026_11-2.safetensors"
"""Weights of the agent "ppo" of the network that scores halves, for two seats."""


def every(name: str, values: Sequence[Any], everyday: Sequence[Any], ids: Callable[[Any], str] = str) -> Any:
    """A parameter with all these values; a test by one that is not among those of every day is slow."""
    marked = [value if value in everyday else pytest.param(value, marks=pytest.mark.slow) for value in values]
    return pytest.mark.parametrize(name, marked, ids=ids)


every_rules = every("rules", STANDARD + VARIANTS, EVERYDAY)


def board_with(rules: Rules, colored: dict[Cell, int], start_symbols: bool = True) -> np.ndarray:
    """[N]: a board with the printed symbols, if wanted, and these cells colored."""
    t = tables(rules)
    board = np.full(t.n_cells, -1, dtype=np.int8)
    if start_symbols:
        board[t.start_symbols] = np.arange(rules.colors)
    for cell, color in colored.items():
        board[t.cell_index[cell]] = color
    return board


def markers(rules: Rules, named: dict[str, int], rest: int = 0) -> np.ndarray:
    """[C]: markers by letter, the others at `rest`."""
    return np.array([named.get(letter, rest) for letter in COLOR_LETTERS[: rules.colors]])


def random_play(rules: Rules, games: int, seed: int, steps: int) -> State:
    """Games after so many random decisions (or at their end)."""
    state = kernel.deal(rules, np.arange(seed, seed + games))
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        live = np.flatnonzero(~state.over)
        if not live.size:
            break
        kernel.apply(state, random_actions(state, live, rng), live)
    return state


def near_stops(rules: Rules, games: int, seed: int, steps: int) -> State:
    """Games that are not over after so many random decisions, with all markers zero to three points before a stop."""
    state = random_play(rules, games, seed, steps)
    state = state.select(np.flatnonzero(~state.over))
    rng = np.random.default_rng(seed)
    state.scores[:] = rng.choice(rules.stops, state.scores.shape) - rng.integers(0, 4, state.scores.shape)
    return state


def random_actions(state: State, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One playable action a game."""
    masks = kernel.legal(state, rows)
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)


def same(one: State, other: State) -> bool:
    """Whether all arrays are equal."""
    return all(np.array_equal(one.arrays()[name], other.arrays()[name]) for name in one.arrays())
