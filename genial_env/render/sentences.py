"""What happens in a game, in sentences: for the command line, reviews and pages.

Cells are named as :func:`genial_env.core.actions.cell_name` names them, seats by their numbers.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from genial_env.core import kernel, ranking
from genial_env.core.actions import Cell, cell_name, tile_name
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import Phase, State
from genial_env.records import HIDDEN_TILE

PLACES = ("lowest", "second lowest", "third lowest", "fourth lowest", "fifth lowest", "sixth lowest")
"""Of the sorted markers."""


def event_words(rules: Rules, event: Sequence[Any]) -> str:
    """An event of a game record (docs/records.md) as a sentence: "seat 0 lays RO on D4 D5, points: R2 O1".

    The sentence contains everything in the event. :func:`genial_env.records.events_for_seat` removes what a seat must
    not know; hidden tiles are only counted.

    Args:
        rules: of the game.
        event: it.
    """
    name, mover = event[0], event[1]
    if name == "place":
        return f"seat {mover} lays {event[4]} {_on(rules, event[5:7])}, {_points(event[7])}"
    if name == "draw":
        return f"seat {mover} draws {_drawn(event[2])}"
    if name == "swap":
        return f"seat {mover} swaps {' '.join(event[3])} for {_drawn(event[4])}"
    return f"seat {mover} gives up a bonus placement" if name == "pass" else f"seat {mover} keeps its rack"


def action_words(state: State, action: int, row: int = 0) -> str:
    """A legal action of the seat to play in a few words: "RO on D4 D5, points: R2 O1", or "swap the rack".

    Args:
        state: the games.
        action: its id.
        row: in which of them.
    """
    t, rules = state.tables, state.rules
    if action >= t.swap_action:
        declined = "give up the bonus placement" if state.phase[row] == Phase.BONUS else "keep the rack"
        return "swap the rack" if action == t.swap_action else declined
    slot, placement = divmod(action, t.n_placements)
    tile = tile_name(rules, kernel.own_racks(state, np.array([row]))[0, slot])
    cells = t.cells[t.placements[placement]].tolist()
    return f"{tile} {_on(rules, cells)}, {_points(points_of(state, action, row))}"


def points_of(state: State, action: int, row: int = 0) -> dict[str, int]:
    """What a legal action scores, by the colors' letters, before any marker stops; colors with none left out."""
    gained = kernel.gained(state, np.array([action]), np.array([row]))[0].tolist()
    return {COLOR_LETTERS[color]: points for color, points in enumerate(gained) if points}


def explain_ranks(rules: Rules, scores: ArrayLike, names: Sequence[str]) -> list[str]:
    """Why the tracks of a finished game rank as they do, a sentence for each and the next one below it.

    For example "seat 0 and seat 1 both have 7 lowest; second lowest 9 against 8: seat 0 wins". Solo: what it came to.

    Args:
        rules: of the game.
        scores: [T, C] the markers.
        names: one a track (in team mode one a team).

    Raises:
        ValueError: for a number of names that is not the number of tracks.
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
    ends = "wins" if rules.tracks == 2 else "comes before"
    pairs = [
        _comparison((names[better], names[worse]), (markers[better], markers[worse]), ends)
        for better, worse in pairwise(order)
    ]
    return [*at_top, *pairs]


def _comparison(names: tuple[str, str], markers: tuple[list[int], list[int]], ends: str) -> str:
    """Why the first of two tracks, both sorted, ranks above the second, or beside it."""
    place = next((place for place, (a, b) in enumerate(zip(*markers, strict=True)) if a != b), None)
    if place is None:
        return f"{names[0]} and {names[1]} have the same markers, {_listed(markers[0])}: they share their rank"
    alike = f"{names[0]} and {names[1]} both have {_listed(markers[0][:place])} lowest; " if place else ""
    verdict = f"{names[0]} {ends}" if ends == "wins" else f"{names[0]} {ends} {names[1]}"
    return f"{alike}{PLACES[place]} {markers[0][place]} against {markers[1][place]}: {verdict}"


def _on(rules: Rules, cells: Sequence[Sequence[int]]) -> str:
    return "on " + " ".join(cell_name(rules, _cell(cell)) for cell in cells)


def _cell(pair: Sequence[int]) -> Cell:
    return pair[0], pair[1]


def _points(by_letter: Mapping[str, int]) -> str:
    return f"points: {' '.join(f'{letter}{count}' for letter, count in by_letter.items()) or 'none'}"


def _drawn(tiles: Sequence[str]) -> str:
    return f"{len(tiles)} tile{'s' if len(tiles) > 1 else ''}" if HIDDEN_TILE in tiles else " ".join(tiles)


def _listed(numbers: Sequence[int]) -> str:
    """7, 9 and 9."""
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
