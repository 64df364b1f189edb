"""Sentences about events, actions and results of a game, for the command line, reviews and pages.

Cells are named as :func:`genial_env.core.actions.cell_name` names them, seats by their numbers.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from genial_env.core import kernel, ranking
from genial_env.core.actions import Cell, cell_name, tile_name
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import Phase, State
from genial_env.records import HIDDEN_TILE

__all__ = [
    "PLACES",
    "RankReason",
    "describe_action",
    "describe_event",
    "explain_ranks",
    "points_by_color",
    "rank_reasons",
]

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
    rows = len(np.asarray(scores))
    if not len(names) == rows == rules.tracks:
        raise ValueError(f"{rules.tracks} tracks need as many names and markers, not {len(names)} and {rows}")
    reasons = rank_reasons(rules, scores)
    return [_explain(reason, [names[track] for track in reason.tracks], plural, rules) for reason in reasons]


@dataclass(frozen=True)
class RankReason:
    """Why two neighbouring tracks of a ranking rank as they do, or what else the ranking shows of a track."""

    code: str
    """ "solo": the markers of the only track. "all_at_top": all markers of a track stand at the end. "ahead": the first
    track ranks above the second. "shared": both have the same markers."""

    tracks: tuple[int, ...]
    """The tracks, from 0: one or two."""

    markers: tuple[int, ...]
    """Of "solo" and "shared" all markers, the lowest first; of "all_at_top" where they stand; of "ahead" the lowest
    markers that both tracks have."""

    differing: tuple[int, ...]
    """Of "ahead" the next marker of both tracks, which decides; else empty."""


def rank_reasons(rules: Rules, scores: ArrayLike) -> list[RankReason]:
    """Return why the tracks of a finished game rank as they do, in the order of :func:`explain_ranks`.

    Args:
        rules: the rules of the game.
        scores: [T, C] the markers.

    Raises:
        ValueError: if the number of rows is not the number of tracks.
    """
    markers = [tuple(row) for row in np.sort(np.asarray(scores), axis=1).tolist()]
    if len(markers) != rules.tracks:
        raise ValueError(f"{rules.tracks} tracks need as many rows of markers, not {len(markers)}")
    if rules.tracks == 1:
        return [RankReason("solo", (0,), markers[0], ())]
    order = np.argsort(ranking.ranks(scores), kind="stable").tolist()
    at_top = [RankReason("all_at_top", (track,), (rules.top,), ()) for track in order if markers[track][0] == rules.top]
    return [*at_top, *(_compare(pair, markers) for pair in pairwise(order))]


def _compare(tracks: tuple[int, int], markers: Sequence[tuple[int, ...]]) -> RankReason:
    """Return why the first of two tracks ranks above the second, or equal to it."""
    better, worse = (markers[track] for track in tracks)
    place = next((place for place, (a, b) in enumerate(zip(better, worse, strict=True)) if a != b), None)
    if place is None:
        return RankReason("shared", tracks, better, ())
    return RankReason("ahead", tracks, better[:place], (better[place], worse[place]))


def _explain(reason: RankReason, names: Sequence[str], plural: Collection[int], rules: Rules) -> str:
    """Return a reason as a sentence, with the names of its tracks."""
    markers = reason.markers
    match reason.code:
        case "solo":
            return f"{names[0]}: {markers[0]} lowest; from there up {_listed(markers[1:])}"
        case "all_at_top":
            return f"all markers of {names[0]} stand at {markers[0]}"
        case "shared":
            return f"{names[0]} and {names[1]} have the same markers, {_listed(markers)}: they share their rank"
    s = "" if reason.tracks[0] in plural else "s"
    ends = f"win{s}" if rules.tracks == 2 else f"come{s} before {names[1]}"
    alike = f"{names[0]} and {names[1]} both have {_listed(markers)} lowest; " if markers else ""
    values = "{} against {}".format(*reason.differing)
    return f"{alike}{PLACES[len(markers)]} {values}: {names[0]} {ends}"


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
