"""Positions, moves and games as the page is told of them: JSON, and of hidden things only what an onlooker may know.

Colors are letters, tiles two of them, cells their numbers; a free cell is a dot.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from genial_env.core import ranking
from genial_env.core.actions import Cell, tile_name
from genial_env.core.rules import COLOR_LETTERS, EDITIONS, PLAYERS_BY_MODE, Rules
from genial_env.core.state import EMPTY, FREE, End, Phase, State
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.policies.judgement import Judgement
from genial_env.records import SPECTATOR, events_for_seat
from genial_env.render import theme
from genial_env.render.sentences import explain_ranks
from genial_env.table import PERSON, Table

Shown = dict[str, Any]
"""What becomes a JSON object."""

FREE_CELL = "."


def look() -> Shown:
    """The shapes and colors of everything that is drawn."""
    return {
        "colors": theme.COLORS,
        "shapes": theme.SHAPES,
        "symbols": theme.SYMBOLS,
        "tile": theme.TILE,
        "free": theme.FREE,
        "edge": theme.FREE_EDGE,
        "mark": theme.MARK,
    }


def combinations() -> list[Shown]:
    """The editions, modes and numbers of seats that go together."""
    return [
        {"edition": name, "mode": mode, "players": list(PLAYERS_BY_MODE[mode])}
        for name, edition in EDITIONS.items()
        for mode in edition.modes
    ]


def rules_shown(rules: Rules) -> Shown:
    """Rules, and what follows from them."""
    t = tables(rules)
    return {
        "players": rules.players,
        "edition": rules.edition,
        "mode": rules.mode,
        "side": rules.side,
        "rack": rules.rack,
        "placements": t.n_placements,
        "named": rules.to_dict(),
        "colors": COLOR_LETTERS[: rules.colors],
        "tracks": rules.tracks,
        "stops": list(rules.stops),
        "bonus": rules.has_bonus,
        "cells": t.cells.tolist(),
        "printed": t.start_symbols.tolist(),
    }


def game_shown(name: str, table: Table, seat: int | None) -> Shown:
    """A game as one onlooker may know it.

    Args:
        name: its id.
        table: the game.
        seat: whose rack is seen; None for nobody's.
    """
    state = table.state
    view = table.view(table.to_play if seat is None else seat)
    shown = {
        "id": name,
        "rules": rules_shown(table.rules),
        "names": names_of(table.players),
        "turn": int(state.decisions[0]),
        "waits": table.waits,
        "seat": seat,
        "position": _position(view, seat is not None),
        "moves": open_events(table.record()["events"], table.rules),
    }
    if seat is not None and table.waits and seat == table.to_play:
        shown["choice"] = _choice(view)
    if table.over:
        shown["end"] = _ending(table)
    return shown


def _position(view: View, own_rack: bool) -> Shown:
    """A position as the seat of a view sees it, its own rack left out where it is not to be seen."""
    rules, seat = view.rules, int(view.seat[0])
    sizes = np.roll(view.rack_sizes[0], seat).tolist()
    racks: list[list[str] | int] = list(sizes)
    if own_rack:
        racks[seat] = rack_names(rules, view.rack[0].tolist())
    return {
        "board": _letters(view.board[0].tolist()),
        "scores": np.roll(view.scores[0], seat % rules.tracks, axis=0).tolist(),
        "racks": racks,
        "bag": int(view.unseen[0].sum()) - sum(sizes) + sizes[seat],
        "toPlay": (int(view.to_play[0]) + seat) % rules.players,
        "phase": _phase(int(view.phase[0])),
        "pending_bonus": int(view.pending_bonus[0]),
    }


def open_position(state: State) -> Shown:
    """A position with everything in the open, of a recorded game."""
    rules = state.rules
    return {
        "board": _letters(state.board[0].tolist()),
        "scores": state.scores[0].tolist(),
        "racks": [rack_names(rules, rack) for rack in state.racks[0].tolist()],
        "bag": int(state.bag[0].sum()),
        "toPlay": int(state.to_play[0]),
        "phase": _phase(int(state.phase[0])),
        "pending_bonus": int(state.pending_bonus[0]),
    }


def _choice(view: View) -> Shown:
    """What the seat may do: the pairs of free cells that its tiles may cover, what each cell is worth by color."""
    pairs = view.tables.placements[view.placements[0] & bool(view.slots.any())]
    return {
        "pairs": pairs[pairs[:, 0] < pairs[:, 1]].tolist(),
        "points": view.points[0].tolist(),
        "swap": bool(view.may_swap[0]),
        "decline": bool(view.may_decline[0]),
    }


def _ending(table: Table) -> Shown:
    """How a finished game ended, and why so."""
    scores = table.state.scores[0]
    return {
        "how": End(int(table.state.end[0])).words,
        "seed": table.seed,
        "scores": scores.tolist(),
        "ranks": ranking.ranks(scores).tolist(),
        "why": explain_ranks(table.rules, scores, [_side(table, track) for track in range(table.rules.tracks)]),
    }


def _side(table: Table, track: int) -> str:
    """A track as the subject of a sentence."""
    seats = range(track, table.rules.players, table.rules.tracks)
    names = [names_of(table.players)[seat] for seat in seats]
    return "your side" if YOU in names else " and ".join(names)


YOU = "You"


def names_of(players: Sequence[str | None]) -> list[str]:
    """What seats are called: an only person "You", several "Seat 0" and so on, agents by their names,
    with the seat where two have the same.

    Args:
        players: one a seat, None for a person, who is "person" in a record.
    """
    people = [player is None or player == PERSON for player in players]
    return [_name(seat, players, people) for seat in range(len(players))]


def _name(seat: int, players: Sequence[str | None], people: Sequence[bool]) -> str:
    if people[seat]:
        return YOU if sum(people) == 1 else f"Seat {seat}"
    agent = str(players[seat])
    return agent if players.count(agent) == 1 else f"{agent} (seat {seat})"


def open_events(events: list[list[Any]], rules: Rules) -> list[Shown]:
    """The events of a record that everybody at the table sees: tiles laid, bonuses given up, racks shown in a swap.

    Draws are left out. The numbers count what is told: those of the record would give away what is not.
    """
    told = [event for event in events_for_seat(events, SPECTATOR) if event[0] != "draw"]
    return [event_shown(number, event, rules) for number, event in enumerate(told)]


def event_shown(number: int, event: list[Any], rules: Rules) -> Shown:
    """An event of a record; of a swap only the rack that was shown."""
    kind, seat = event[0], event[1]
    shown: Shown = {"event": number, "kind": kind, "seat": seat}
    if kind == "place":
        shown |= {"tile": event[4], "cells": cell_numbers(rules, event[5:7]), "points": event[7]}
    elif kind == "swap":
        shown |= {"tiles": event[3]}
    elif kind == "draw":
        shown |= {"tiles": event[2]}
    return shown


def cell_numbers(rules: Rules, cells: Iterable[Cell]) -> list[int]:
    """Cells (q, r) as numbers."""
    index = tables(rules).cell_index
    return [index[q, r] for q, r in cells]


def hint_shown(view: View, judgement: Judgement) -> Shown:
    """The best action of a judgement of one game, and what it is worth."""
    action, t = int(judgement.actions[0, 0]), view.tables
    shown: Shown = {"utility": number(judgement.utility[0, 0]), "win": number(judgement.win[0, 0])}
    if action < t.swap_action:
        slot, placement = divmod(action, t.n_placements)
        return {**shown, "slot": slot, "cells": t.placements[placement].tolist()}
    return {**shown, "word": "swap" if action == t.swap_action else "decline"}


def number(value: float) -> float | None:
    """A number as JSON knows them: what is none becomes null."""
    return None if math.isnan(value) else round(float(value), 4)


def summary(name: str, started: float, table: Table) -> Shown:
    """A game in a list of games."""
    return {
        "id": name,
        "started": started,
        "rules": table.rules.to_dict(),
        "names": names_of(table.players),
        "turn": int(table.state.decisions[0]),
        "over": table.over,
    }


def rack_names(rules: Rules, kinds: list[int]) -> list[str]:
    """The tiles of a rack by slot, "" for an empty one."""
    return ["" if kind == EMPTY else tile_name(rules, kind) for kind in kinds]


def _letters(board: list[int]) -> str:
    return "".join(FREE_CELL if what == FREE else COLOR_LETTERS[what] for what in board)


def _phase(number: int) -> str:
    return Phase(number).name.lower()
