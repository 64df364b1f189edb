"""The sheets' own examples: scoring, arrivals and ranking."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genial_env import Rules, ranks
from genial_env.core import kernel
from genial_env.core.actions import Place, encode, tile_kind
from genial_env.core.rules import COLOR_LETTERS
from genial_env.core.state import Phase, State
from genial_env.core.tables import tables
from tests.positions import board_with, markers

pytestmark = pytest.mark.usefixtures("each_backend")

EXAMPLES: list[dict[str, Any]] = json.loads(Path(__file__).with_name("worked_examples.json").read_text())


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(example, id=example["name"]) for example in EXAMPLES if example["kind"] == kind]


@pytest.mark.parametrize("example", of_kind("score"))
@pytest.mark.parametrize("turned", [False, True])
def test_scoring(example: dict[str, Any], turned: bool) -> None:
    """In both orders of the halves."""
    rules = Rules()
    board = board_with(rules, {(q, r): COLOR_LETTERS.index(letter) for q, r, letter in example["board"]})
    kind = tile_kind(rules, example["tile"])
    first, second = map(tuple, example["cells"])
    letters = "".join(COLOR_LETTERS[color] for color in tables(rules).kinds[kind])
    if (letters != example["tile"]) != turned:
        first, second = second, first
    if letters[0] != letters[1] and turned:
        first, second = second, first
    state = kernel.position(rules, board, racks=[[[kind] + [-1] * 5, [-1] * 6]], any_tiles=True)
    action = encode(rules, Place(0, first, second))
    expected = markers(rules, example["points"])
    assert kernel.gained(state, np.array([action]), np.array([0]))[0].tolist() == expected.tolist()
    kernel.apply(state, [action])
    assert state.scores[0, 0].tolist() == expected.tolist()


@pytest.mark.parametrize("example", of_kind("advance"))
def test_arrivals(example: dict[str, Any]) -> None:
    """Markers before, points, markers after, bonus placements earned."""
    players, edition = {"individual": (2, "2025"), "team": (4, "2009"), "solo": (1, "2004")}[example["mode"]]
    rules = Rules(players, edition, example["mode"])
    before = markers(rules, example["before"])
    state = scoring(rules, {COLOR_LETTERS.index(letter): n for letter, n in example["points"].items()}, before)
    kernel.apply(state, [encode(rules, Place(0, (0, 0), (1, 0)))])
    after = before + markers(rules, {letter: n - example["before"][letter] for letter, n in example["after"].items()})
    assert state.scores[0, 0].tolist() == after.tolist()
    assert int(state.pending_bonus[0]) == example["bonus"]
    assert (int(state.phase[0]) == Phase.BONUS) == (example["bonus"] > 0)


@pytest.mark.parametrize("example", [each for each in of_kind("advance") if each.values[0]["mode"] != "solo"])
def test_one_bonus_a_tile(example: dict[str, Any]) -> None:
    """As at the Mind Sports Olympiad: markers move as printed, and two that arrive with one tile earn one bonus."""
    players, edition = {"individual": (2, "2025"), "team": (4, "2009")}[example["mode"]]
    rules = Rules(players, edition, example["mode"], one_bonus_a_tile=True)
    state = scoring(
        rules,
        {COLOR_LETTERS.index(letter): n for letter, n in example["points"].items()},
        markers(rules, example["before"]),
    )
    kernel.apply(state, [encode(rules, Place(0, (0, 0), (1, 0)))])
    assert {letter: int(state.scores[0, 0, COLOR_LETTERS.index(letter)]) for letter in example["after"]} == (
        example["after"]
    )
    assert int(state.pending_bonus[0]) == min(example["bonus"], 1)


def test_bonuses_of_several_tiles_add_up() -> None:
    """A bonus tile that brings two markers to 18 uses one bonus and earns one; another one is still owed."""
    rules = Rules(one_bonus_a_tile=True)
    state = scoring(rules, {0: 6, 2: 2}, markers(rules, {"R": 17, "B": 16}))
    state.phase[:], state.pending_bonus[:] = Phase.BONUS, 2
    kernel.apply(state, [encode(rules, Place(0, (0, 0), (1, 0)))])
    assert (int(state.phase[0]), int(state.pending_bonus[0])) == (Phase.BONUS, 2)


def scoring(rules: Rules, points: dict[int, int], before: np.ndarray) -> State:
    """A position in which the tile of slot 0, laid on (0, 0) and (1, 0), scores just these points."""
    (first, first_points), *rest = points.items()
    second, second_points = rest[0] if rest else ((first + 1) % 6, 0)
    kind = tables(rules).kind_of[first, second]
    if first > second:
        (first, first_points), (second, second_points) = (second, second_points), (first, first_points)
    left = [(-1, 0), (-2, 0), (-3, 0), (-1, 1), (-2, 2), (0, -1)][:first_points]
    right = [(2, 0), (3, 0), (4, 0), (1, 1), (1, 2), (2, -1)][:second_points]
    board = board_with(rules, dict.fromkeys(left, first) | dict.fromkeys(right, second))
    racks = np.full((1, rules.players, rules.rack), -1)
    racks[0, 0] = kind
    scores = np.zeros((1, rules.tracks, 6), dtype=int)
    scores[0, 0] = before
    return kernel.position(rules, board, racks=racks, scores=scores, any_tiles=True)


@pytest.mark.parametrize("example", of_kind("rank"))
def test_ranking(example: dict[str, Any]) -> None:
    assert ranks(list(example["scores"].values())).tolist() == list(example["ranks"].values())


def test_ranking_looks_at_every_marker_and_shares() -> None:
    assert ranks([[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1], [1, 2, 3, 4, 5, 7], [1, 1, 9, 9, 9, 9]]).tolist() == [
        2,
        2,
        1,
        4,
    ]
    batch = np.random.default_rng(0).integers(0, 4, (500, 5, 6))
    for scores, found in zip(batch.tolist(), ranks(batch).tolist(), strict=True):
        ordered = [sorted(track) for track in scores]
        assert found == [1 + sum(other > track for other in ordered) for track in ordered]
    assert ranks(np.zeros((0, 3, 6), dtype=int)).shape == (0, 3)


def test_ranking_refuses() -> None:
    with pytest.raises(TypeError, match="whole numbers, not float64"):
        ranks([[1.0, 2.0]])
    with pytest.raises(ValueError, match="not shape"):
        ranks([1, 2])
