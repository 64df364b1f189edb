"""What a seat knows, as text: the rules, the position, what has happened, and what it may do.

Views are batches of one game, seen by the seat that gets the text.
"""

from collections.abc import Iterable

import numpy as np

from genial_env.core.actions import cell_name, tile_name
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, Phase
from genial_env.core.views import View
from genial_env.notation.moves import format_decision, list_distinct
from genial_env.records import events_for_seat
from genial_env.records.format import Event
from genial_env.render.ansi import describe
from genial_env.render.sentences import describe_event

__all__ = ["COLOR_NAMES", "describe_legal", "describe_observation", "describe_rules", "summarize_legal"]

COLOR_NAMES = ("red", "green", "blue", "orange", "yellow", "purple")
"""The names of the colors, in the order of their letters."""

EXAMPLES = 4
"""How many legal moves :func:`summarize_legal` names."""


def describe_rules(rules: Rules) -> str:
    """Return the rules of the game and how moves are written, for a player who knows neither."""
    colors = ", ".join(f"{COLOR_LETTERS[c]} {COLOR_NAMES[c]}" for c in range(rules.colors))
    parts = [
        f"You play Génial! (Ingenious) on a hexagonal board of {rules.side} cells a side. Colors: {colors}. A cell is "
        "named by the letter of its row and its number in the row from the left. In the picture a number is a free "
        "cell, a capital letter a half of a tile, a small letter a printed symbol.",
        "A tile has two halves and covers two neighbouring free cells. For each half, count the cells of its color in "
        "unbroken straight lines from it, in all directions but that of the other half: so many points move the marker "
        f"of that color, up to {rules.stops[0]}.",
        _describe_aim(rules),
    ]
    if rules.has_bonus:
        declined = " It may be declined." if rules.bonus_may_be_declined else ""
        stops = " and at ".join(map(str, rules.stops))
        parts.append(f"A marker that arrives at {stops} earns a bonus placement, made at once.{declined}")
    if len(rules.stops) > 1:
        parts.append(f"A marker stops at {rules.stops[0]}; further tiles move it on, up to {rules.top}.")
    if rules.has_swap:
        parts.append(
            "At the end of a turn, a rack that shows none of your lowest colors may be swapped for a new one. Then "
            f"the rack is filled up to {rules.rack} tiles."
        )
    parts.append(
        "A seat's first tile must lie next to a printed symbol that has no tile next to it. The game ends when no two "
        "neighbouring cells are free."
    )
    return "\n".join(parts)


def _describe_aim(rules: Rules) -> str:
    whose = {"team": "Seats 0 and 2 share their markers, and so do seats 1 and 3. The team", "solo": "You play alone"}
    if rules.mode == "solo":
        return f"{whose['solo']}: your result is your lowest marker at the end, then the second lowest, and so on."
    who = whose.get(rules.mode, "The seat")
    return (
        f"{who} whose lowest marker is highest at the end wins; ties are broken by the second lowest, and so on. Who "
        f"brings all markers to {rules.top} wins at once."
    )


def describe_observation(view: View, events: Iterable[Event] = ()) -> str:
    """Return what a seat knows, and what it has to decide.

    Args:
        view: one game.
        events: what has happened since the seat last decided: events of the game's record, of which only what the seat
            may know is told.
    """
    seat = int(view.seat[0])
    told = [describe_event(view.rules, event) for event in events_for_seat(events, seat)]
    parts = [f"You are seat {seat}."]
    if told:
        parts += ["Since your last decision:", *told]
    parts += ["", describe(view, named=True), "", _describe_decision(view)]
    return "\n".join(parts)


def _describe_decision(view: View) -> str:
    if view.phase[0] == Phase.OVER:
        return "The game is over."
    if view.to_play[0] != 0:
        return f"Seat {int((view.seat[0] + view.to_play[0]) % view.rules.players)} decides now."
    moves = list_distinct(view)
    if view.phase[0] == Phase.SWAP:
        return "Your rack shows none of your lowest colors. Answer swap or keep."
    example = format_decision(view, moves[0])
    tile, first, second = example.split()
    how = f'such as "{example}": {tile[0]} on {first}, {tile[1]} on {second}'
    if view.phase[0] == Phase.PLACE:
        return f"Place a tile. Answer with the tile and two neighbouring free cells, {how}."
    left = int(view.pending_bonus[0])
    declined = ", or decline" if view.may_decline[0] else ""
    return f"Place a bonus tile ({left} pending){declined}. Answer with the tile and two cells, {how}."


def describe_legal(view: View) -> str:
    """Return all legal moves of the seat to play as text, without naming each one.

    Args:
        view: one game, seen by the seat to play.
    """
    lines = []
    tiles, pairs = _list_tiles(view), _list_pairs(view)
    if tiles:
        lines.append(f"tiles: {', '.join(tiles)}")
        lines.append(f"pairs of cells, each for any of the tiles and either way round: {', '.join(pairs)}")
    words = [word for word, may in (("swap", view.may_swap[0]), ("keep", view.may_decline[0])) if may]
    if view.phase[0] == Phase.BONUS and view.may_decline[0]:
        words = ["decline"]
    if words:
        lines.append(f"{'or' if tiles else 'answers'}: {', '.join(words)}")
    return "\n".join(lines) or "there is nothing to decide"


def summarize_legal(view: View) -> str:
    """Return in one sentence what would be legal, with some moves as examples that follow no strategy."""
    moves = list_distinct(view)
    if not moves:
        return "there is nothing to decide"
    if view.phase[0] == Phase.SWAP:
        return "legal now: swap, keep"
    placing = [move for move in moves if view.tables.is_placing(move)]
    some = [placing[i] for i in np.linspace(0, len(placing) - 1, min(EXAMPLES, len(placing))).astype(int).tolist()]
    examples = ", ".join(format_decision(view, move) for move in some)
    declined = ", or decline" if view.may_decline[0] else ""
    return (
        f"legal now: one of the tiles {', '.join(_list_tiles(view))} on one of {len(_list_pairs(view))} pairs of "
        f"cells, for example {examples}{declined}"
    )


def _list_tiles(view: View) -> list[str]:
    """Return the tiles that may be placed, each kind once."""
    kinds = dict.fromkeys(kind for kind in view.rack[0][view.slots[0]].tolist() if kind != EMPTY)
    return [tile_name(view.rules, kind) for kind in kinds]


def _list_pairs(view: View) -> list[str]:
    t = view.tables
    cells = t.cells[t.placements[view.placements[0] & ~t.is_reversed]].tolist()
    return [f"{cell_name(view.rules, tuple(first))} {cell_name(view.rules, tuple(second))}" for first, second in cells]
