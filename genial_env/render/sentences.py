"""Sentences about events, actions and results of a game, for the command line, reviews and pages.

Cells are named as :func:`genial_env.core.actions.cell_name` names them, seats by their numbers.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from genial_env.core import kernel, ranking
from genial_env.core.actions import Cell, cell_name, tile_name
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import Phase, State
from genial_env.records import HIDDEN_TILE

__all__ = ["PLACES", "describe_action", "describe_event", "explain_ranks", "points_by_color"]

PLACES = ("lowest", "second lowest", "third lowest", "fourth lowest", "fifth lowest", "sixth lowest")
"""The names of the sorted markers."""


def describe_event(rules: Rules, event: Sequence[Any]) -> str:
    """Return a sentence about an event of a game record (docs/records.md): "seat 0 lays RO on D4 D5, points: R2 O1".

    The sentence says all that the event holds. For one player, first remove what this player may not know with
    :func:`genial_env.records.events_for_seat`; hidden tiles are then only counted.

    Args:
        rules: the rules of the game.
        event: the event.
    """
    name, mover = event[0], event[1]
    if name == "place":
        return f"seat {mover} lays {event[4]} {_on(rules, event[5:7])}, {_points(event[7])}"
    if name == "draw":
        return f"seat {mover} draws {_drawn(event[2])}"
    if name == "swap":
        return f"seat {mover} swaps {' '.join(event[3])} for {_drawn(event[4])}"
    return f"seat {mover} gives up a bonus placement" if name == "pass" else f"seat {mover} keeps its rack"


def describe_action(state: State, action: int, row: int = 0) -> str:
    """Return a legal action of the seat to play in words: "RO on D4 D5, points: R2 O1", or "swap the rack".

    Args:
        state: the games.
        action: the id of the action.
        row: the index of the game.
    """
    t, rules = state.tables, state.rules
    if not t.is_placing(action):
        declined = "give up the bonus placement" if state.phase[row] == Phase.BONUS else "keep the rack"
        return "swap the rack" if action == t.swap_action else declined
    slot, placement = t.split_action(action)
    tile = tile_name(rules, kernel.own_racks(state, np.array([row]))[0, slot])
    cells = t.cells[t.placements[placement]].tolist()
    return f"{tile} {_on(rules, cells)}, {_points(points_by_color(state, action, row))}"


def points_by_color(state: State, action: int, row: int = 0) -> dict[str, int]:
    """Return the points of a legal action by color letter, before any stop. Colors without points are left out."""
    gained = kernel.gained(state, np.array([action]), np.array([row]))[0].tolist()
    return {COLOR_LETTERS[color]: points for color, points in enumerate(gained) if points}


def explain_ranks(
    rules: Rules, scores: ArrayLike, names: Sequence[str], plural: Collection[int] = frozenset()
) -> list[str]:
    """Return sentences that say why the tracks of a finished game rank as they do, one for each two neighbouring ranks.

    For example "seat 0 and seat 1 both have 7 lowest; second lowest 9 against 8: seat 0 wins". In solo mode the
    sentence lists the markers.

    Args:
        rules: the rules of the game.
        scores: [T, C] the markers.
        names: the name of each track (in team mode of each team).
        plural: the tracks whose names take the verb in the plural, for example "value and greedy", or "you".

    Raises:
        ValueError: if the number of names is not the number of tracks.
    """
    markers = np.sort(np.asarray(scores), axis=1).tolist()
    if not len(names) == len(markers) == rules.tracks:
        raise ValueError(f"{rules.tracks} tracks need as many names and markers, not {len(names)} and {len(markers)}")
    if rules.tracks == 1:
        return [f"{names[0]}: {markers[0][0]} lowest; from there up {_listed(markers[0][1:])}"]
    order = np.argsort(ranking.ranks(scores), kind="stable").tolist()
    at_top = [
        f"all markers of {names[track]} stand at {rules.top}" for track in order if markers[track][0] == rules.top
    ]
    pairs = []
    for better, worse in pairwise(order):
        s = "" if better in plural else "s"
        ends = f"win{s}" if rules.tracks == 2 else f"come{s} before {names[worse]}"
        pairs.append(_comparison((names[better], names[worse]), (markers[better], markers[worse]), ends))
    return [*at_top, *pairs]


def _comparison(names: tuple[str, str], markers: tuple[list[int], list[int]], ends: str) -> str:
    """Return why the first of two tracks ranks above the second, or equal to it.

    Args:
        names: of the tracks.
        markers: of the tracks, sorted.
        ends: the end of the sentence after the first name.
    """
    place = next((place for place, (a, b) in enumerate(zip(*markers, strict=True)) if a != b), None)
    if place is None:
        return f"{names[0]} and {names[1]} have the same markers, {_listed(markers[0])}: they share their rank"
    alike = f"{names[0]} and {names[1]} both have {_listed(markers[0][:place])} lowest; " if place else ""
    return f"{alike}{PLACES[place]} {markers[0][place]} against {markers[1][place]}: {names[0]} {ends}"


def _on(rules: Rules, cells: Sequence[Sequence[int]]) -> str:
    return "on " + " ".join(cell_name(rules, _cell(cell)) for cell in cells)


def _cell(pair: Sequence[int]) -> Cell:
    return pair[0], pair[1]


def _points(by_letter: Mapping[str, int]) -> str:
    return f"points: {' '.join(f'{letter}{count}' for letter, count in by_letter.items()) or 'none'}"


def _drawn(tiles: Sequence[str]) -> str:
    return f"{len(tiles)} tile{'s' if len(tiles) > 1 else ''}" if HIDDEN_TILE in tiles else " ".join(tiles)


def _listed(numbers: Sequence[int]) -> str:
    """Return numbers as "7, 9 and 9"."""
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
