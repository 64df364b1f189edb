"""Rules, positions, events and games as JSON for the page.

Only what the onlooker may know is sent: the onlooker's own rack, and no draws of others. `static/api_types.js`
describes these objects for the page.

Colors are letters, tiles are two letters, cells are their numbers, and a free cell is a dot.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache
from string import ascii_uppercase, digits
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.actions import Cell, tile_names
from genial_env.core.rules import COLOR_LETTERS, EDITIONS, PLAYERS_BY_MODE, SIZE_LIMITS, Rules
from genial_env.core.state import EMPTY, FREE, End, Phase, State
from genial_env.core.tables import Tables, tables
from genial_env.core.views import View
from genial_env.policies.judgement import Judgement
from genial_env.records import SPECTATOR, events_for_seat
from genial_env.render import theme
from genial_env.render.lines import run_lengths
from genial_env.render.sentences import explain_ranks, rank_reasons
from genial_env.table import PERSON, Table
from genial_env.web._opponents import RATINGS
from genial_env.web._seating import OUT_OF_TIME, RESIGNED, Seating

JsonObject = dict[str, Any]
"""A dictionary that becomes a JSON object."""

FREE_CELL = "."

_DIGITS = digits + ascii_uppercase

LEFT_WORDS = {RESIGNED: "resigned", OUT_OF_TIME: "ran out of time"}
"""What a person did who has left, by the reason."""

LEFT_ENDS = {RESIGNED: "resignation", OUT_OF_TIME: "time"}
"""How a game ends that is decided because people have left, by the last reason."""

YOU = "You"
"""The name of the only person in a game."""


def look_to_json() -> JsonObject:
    """Return the shapes and colors of tiles, by color letter, and the color of the ground of a tile."""
    return {"colors": theme.COLORS, "shapes": theme.SHAPES, "symbols": theme.SYMBOLS, "tile": theme.TILE}


def choices_to_json() -> JsonObject:
    """Return which editions, modes and numbers of seats go together, the range of each size, and agents' ratings."""
    combinations = [
        {"edition": name, "mode": mode, "players": list(PLAYERS_BY_MODE[mode])}
        for name, edition in EDITIONS.items()
        for mode in edition.modes
    ]
    sizes = {name: list(limits) for name, limits in SIZE_LIMITS.items()}
    return {"combinations": combinations, "sizes": sizes, "ratings": RATINGS}


@lru_cache(maxsize=64)
def rules_to_json(rules: Rules) -> JsonObject:
    """Return rules and the facts that follow from them, so that the page need not know the rules.

    The object is not to be changed: others get the same one.
    """
    t = tables(rules)
    return {
        "players": rules.players,
        "edition": rules.edition,
        "mode": rules.mode,
        "side": rules.side,
        "rack": rules.rack,
        "named": rules.to_dict(),
        "colors": COLOR_LETTERS[: rules.colors],
        "seats_by_track": [list(rules.seats_of(track)) for track in range(rules.tracks)],
        "stops": list(rules.stops),
        "next_stop": t.next_stop.tolist(),
        "furthest": t.furthest.tolist(),
        "bonus_stops": list(rules.stops) if rules.has_bonus else [],
        "bonuses_a_tile": rules.bonuses_a_tile,
        "cells": t.cells.tolist(),
        "start_symbols": t.start_symbols.tolist(),
    }


def game_to_json(
    name: str,
    table: Table,
    seat: int | None,
    given: Sequence[str | None] = (),
    seating: Seating | None = None,
    by_person: bool = True,
) -> JsonObject:
    """Return a game as an onlooker may know it.

    Args:
        name: the id of the game.
        table: the game.
        seat: the seat whose rack is shown; None for no rack.
        given: the names of people, as :func:`name_seats` takes them.
        seating: who has left the game; None for nobody.
        by_person: as for :func:`names_to_json`.
    """
    state = table.state
    seating = seating or Seating()
    ended = table.over or seating.is_decided(table.rules, table.players)
    view = table.view(table.to_play if seat is None else seat)
    named = names_to_json(table.players, given, by_person)
    data = {
        "id": name,
        "rules": rules_to_json(table.rules),
        **named,
        "turn": int(state.decisions[0]),
        "waits": table.waits and not ended,
        "seat": seat,
        "people": [at for at, player in enumerate(table.players) if player is None],
        "position": {**view_to_json(view, seat is not None), **_open_racks_to_json(table, ended)},
        "moves": public_events_to_json(table.events(), table.rules),
    }
    if seat is not None and data["waits"] and seat == table.to_play:
        data["choice"] = choice_to_json(view)
    if ended:
        data["end"] = _end_to_json(table, named["names"], seating)
    return data


def game_summary_to_json(
    name: str, started: float, table: Table, given: Sequence[str | None], seating: Seating, by_person: bool
) -> JsonObject:
    """Return what the list of games shows of a game; the markers and ranks of each track if it is over."""
    scores = table.state.scores[0]
    ended = table.over or seating.is_decided(table.rules, table.players)
    ranks = seating.rank(table.rules, table.players, scores)
    result = {"scores": scores.tolist(), "ranks": ranks} if ended else {}
    return {
        "id": name,
        "started": started,
        "rules": table.rules.to_dict(),
        **names_to_json(table.players, given, by_person),
        "seats_by_track": [list(table.rules.seats_of(track)) for track in range(table.rules.tracks)],
        "turn": int(table.state.decisions[0]),
        "over": ended,
        **result,
    }


def position_to_json(state: State) -> JsonObject:
    """Return the position of the first game, with all racks."""
    rules = state.rules
    return {
        **_board_to_json(state.tables, state.board[0]),
        "scores": state.scores[0].tolist(),
        "racks": [name_tiles(rules, rack) for rack in state.racks[0].tolist()],
        "bag": int(state.bag[0].sum()),
        **_turn_to_json(rules, int(state.to_play[0]), int(state.phase[0])),
        "pending_bonus": int(state.pending_bonus[0]),
    }


def view_to_json(view: View, own_rack: bool) -> JsonObject:
    """Return a position as the seat of a view sees it. Of hidden racks only the number of tiles is shown.

    Args:
        view: one game.
        own_rack: whether the rack of the seat is shown.
    """
    rules, t, seat = view.rules, view.tables, int(view.seat[0])
    sizes, scores = np.empty_like(view.rack_sizes[0]), np.empty_like(view.scores[0])
    sizes[t.seats_from[seat]] = view.rack_sizes[0]
    scores[t.tracks_from[seat]] = view.scores[0]
    racks: list[list[str] | int] = sizes.tolist()
    if own_rack:
        racks[seat] = name_tiles(rules, view.rack[0].tolist())
    unseen = {"unseen": _count_tiles(rules, view.unseen[0].tolist())} if own_rack else {}
    return {
        **_board_to_json(t, view.board[0]),
        **unseen,
        "scores": scores.tolist(),
        "racks": racks,
        "bag": int(view.unseen[0].sum() - view.rack_sizes[0, 1:].sum()),
        **_turn_to_json(rules, int(t.seats_from[seat, view.to_play[0]]), int(view.phase[0])),
        "pending_bonus": int(view.pending_bonus[0]),
    }


def _open_racks_to_json(table: Table, ended: bool) -> JsonObject:
    """Return all racks if nobody is left from whom they are hidden: the game has ended, or agents alone play it."""
    if not ended and None in table.players:
        return {}
    return {"racks": [name_tiles(table.rules, rack) for rack in table.state.racks[0].tolist()]}


def _board_to_json(t: Tables, board: NDArray[np.int8]) -> JsonObject:
    """Return the color on each cell, and the lengths of the lines beside it as digits of base 36, six for a cell."""
    return {
        "board": "".join(FREE_CELL if color == FREE else COLOR_LETTERS[color] for color in board.tolist()),
        "runs": "".join([_DIGITS[length] for length in run_lengths(t, board).ravel().tolist()]),
    }


def _turn_to_json(rules: Rules, seat: int, phase: int) -> JsonObject:
    return {"to_play": seat, "track_to_play": rules.track_of(seat), "phase": Phase(phase).name.lower()}


def choice_to_json(view: View) -> JsonObject:
    """Return what the seat of a view may do now."""
    pairs = view.tables.placements[view.placements[0] & bool(view.slots.any()) & ~view.tables.is_reversed]
    return {
        "pairs": pairs.tolist(),
        "points": view.points[0].tolist(),
        "first_tile": not view.has_placed[0, 0],
        "swap": bool(view.may_swap[0]),
        "decline": bool(view.may_decline[0]),
    }


def _end_to_json(table: Table, names: list[str], seating: Seating) -> JsonObject:
    """Return how a game ended, and why the tracks rank as they do: who has left, or whose markers are higher."""
    rules, scores = table.rules, table.state.scores[0]
    subjects = [_name_track([names[seat] for seat in rules.seats_of(track)]) for track in range(rules.tracks)]
    plural = [track for track, subject in enumerate(subjects) if subject == "you" or " and " in subject]
    why = explain_ranks(rules, scores, subjects, plural)
    reasons = [asdict(reason) for reason in rank_reasons(rules, scores)]
    how = End(int(table.state.end[0])).words
    if seating.left:
        how = how if table.over else LEFT_ENDS[list(seating.left.values())[-1]]
        why = [f"{names[seat]} {LEFT_WORDS[reason]}" for seat, reason in seating.left.items()]
        reasons = []
    return {
        "how": how,
        "seed": table.seed,
        "scores": scores.tolist(),
        "ranks": seating.rank(rules, table.players, scores),
        "left": {str(seat): reason for seat, reason in seating.left.items()},
        "why": [words.replace("all markers of you ", "all your markers ") for words in why],
        "reasons": reasons,
    }


def _name_track(names: list[str]) -> str:
    """Return a track as the subject of a sentence, by the names of its seats."""
    if YOU in names:
        return "you" if len(names) == 1 else "your side"
    return " and ".join(names)


def names_to_json(
    players: Sequence[str | None], given: Sequence[str | None] = (), by_person: bool = True
) -> JsonObject:
    """Return the names of seats in English, and what they are, so that the page can word them.

    Args:
        players: one for each seat: None or "person" for a person, else the name of an agent.
        given: the name that each seat's person has given, or None; empty if nobody has.
        by_person: whether the only person reads the names, so that they call the seat "You".

    Returns:
        ``names``, which count seats from 1; ``seat_names``, for each seat an object with the keys ``code`` and
        ``seat``. The code is "you", "seat" for a person without a name, "name", or "name_on_seat" for a name that
        several seats have; the last two have the key ``name``, too.
    """
    named = _identify_seats(players, given, by_person)
    return {"names": [_name_in_english(seat) for seat in named], "seat_names": named}


def _identify_seats(players: Sequence[str | None], given: Sequence[str | None], by_person: bool) -> list[JsonObject]:
    is_person = [player is None or player == PERSON for player in players]
    nameless = "you" if by_person and sum(is_person) == 1 else "seat"
    found: list[JsonObject] = []
    for seat, player in enumerate(players):
        name = given[seat] if given else None
        if not is_person[seat]:  # a person with a name may have left the seat to the agent
            name = f"{name} ({player})" if name else str(player)
        found.append({"code": nameless, "seat": seat} if name is None else {"code": "name", "seat": seat, "name": name})
    names = [_name_in_english(named) for named in found]
    for named in found:
        if named["code"] == "name" and names.count(named["name"]) > 1:
            named["code"] = "name_on_seat"
    return found


def _name_in_english(named: JsonObject) -> str:
    if named["code"] == "you":
        return YOU
    if named["code"] == "seat":
        return f"Seat {named['seat'] + 1}"
    name: str = named["name"]
    return name if named["code"] == "name" else f"{name} (seat {named['seat'] + 1})"


def public_events_to_json(events: list[list[Any]], rules: Rules) -> list[JsonObject]:
    """Return the events of a record that every player sees: placements, declined bonuses, racks shown in a swap.

    Draws are left out. The events are numbered anew: their numbers in the record would tell about hidden events.
    """
    public = [event for event in events_for_seat(events, SPECTATOR) if event[0] != "draw"]
    return [event_to_json(number, event, rules) for number, event in enumerate(public)]


def event_to_json(number: int, event: list[Any], rules: Rules) -> JsonObject:
    """Return an event of a record; of a swap only the rack that was shown."""
    kind, seat = event[0], event[1]
    data: JsonObject = {"event": number, "kind": kind, "seat": seat}
    if kind == "place":
        data |= {"tile": event[4], "cells": number_cells(rules, event[5:7]), "points": event[7]}
    elif kind == "swap":
        data |= {"tiles": event[3]}
    elif kind == "draw":
        data |= {"tiles": event[2]}
    return data


def hint_to_json(view: View, judgement: Judgement) -> JsonObject:
    """Return the best action of a judgement of one game, and its value.

    A placement has the keys `slot` and `cells`, another action has the key `word`.
    """
    action, t = int(judgement.actions[0, 0]), view.tables
    data: JsonObject = {
        "utility": _finite_or_none(judgement.utility[0, 0]),
        "win": _finite_or_none(judgement.win[0, 0]),
    }
    if t.is_placing(action):
        slot, placement = t.split_action(action)
        return {**data, "slot": slot, "cells": t.placements[placement].tolist()}
    return {**data, "word": word_of(t, action)}


def word_of(t: Tables, action: int) -> str:
    """Return the word for an action that is no placement: "swap" or "decline"."""
    return "swap" if action == t.swap_action else "decline"


def number_cells(rules: Rules, cells: Iterable[Cell]) -> list[int]:
    """Return the numbers of cells (q, r)."""
    index = tables(rules).cell_index
    return [index[q, r] for q, r in cells]


def name_tiles(rules: Rules, kinds: list[int]) -> list[str]:
    """Return the names of the tiles of a rack by slot; "" for an empty slot."""
    names = tile_names(rules)
    return ["" if kind == EMPTY else names[kind] for kind in kinds]


def _count_tiles(rules: Rules, counts: list[int]) -> dict[str, int]:
    """Return the number of tiles by name; kinds of which there are none are left out."""
    return {name: count for name, count in zip(tile_names(rules), counts, strict=True) if count}


def _finite_or_none(value: float) -> float | None:
    """Return a number rounded to 4 digits; None, which becomes null in JSON, for nan."""
    return None if math.isnan(value) else round(float(value), 4)
