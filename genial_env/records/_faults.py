"""Messages about decisions and results that do not follow from the rules: event, expected, found."""

from collections.abc import Iterable, Sequence

import numpy as np

from genial_env._util.validators import shorten
from genial_env.core import kernel, ranking
from genial_env.core.actions import tile_name
from genial_env.core.arrays import Bools, Ints
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, End, Phase, State
from genial_env.records._decision_arrays import DecisionArrays
from genial_env.records._parse import ParsedDecision, ParsedRecord


def decision_faults(state: State, rows: Ints, decisions: DecisionArrays, at: Ints) -> list[str | None]:
    """Return the first fault of each decision, or None, before the decisions are applied.

    Args:
        state: The positions before the decisions.
        rows: [G] The games.
        decisions: The decisions of all games.
        at: [G] The indices of the decisions of these games.
    """
    faults: list[str | None] = [None] * len(rows)
    suspects = np.flatnonzero(~_are_correct(state, rows, decisions, at))
    if suspects.size:
        found = _describe_faults(state, rows[suspects], decisions, at[suspects])
        for index, fault in zip(suspects.tolist(), found, strict=True):
            faults[index] = fault
    return faults


def _are_correct(state: State, rows: Ints, decisions: DecisionArrays, at: Ints) -> Bools:
    """Return which decisions have no fault: [G]. Numbers are compared in all games at once, and no text is made.

    The arguments are those of :func:`decision_faults`.
    """
    t, seats, racks, actions = state.tables, state.to_play[rows], kernel.own_racks(state, rows), decisions.actions[at]
    correct: Bools = (decisions.seats[at] == seats) & (decisions.legal[at] == kernel.legal_count(state, rows))
    correct &= decisions.draws_by_seat[at] & kernel.is_legal(state, actions, rows)
    correct &= (kernel.count_kinds(decisions.draws[at], t.n_kinds) <= state.bag[rows]).all(axis=1)
    correct &= (decisions.points[at] == kernel.gained(state, actions, rows)).all(axis=1)
    places = np.flatnonzero(t.is_placing(actions))
    correct[places] &= racks[places, t.split_action(actions[places])[0]] == decisions.kinds[at[places]]
    if state.rules.has_swap:
        declines = np.flatnonzero(actions == t.decline_action)
        correct[declines] &= (state.phase[rows[declines]] == Phase.SWAP) == decisions.keeps[at[declines]]
        for index in np.flatnonzero(actions == t.swap_action).tolist():
            held = [kind for kind in racks[index].tolist() if kind != EMPTY]
            correct[index] &= sorted(held) == sorted(decisions.parsed[at[index]].shown)
    return correct


def _describe_faults(state: State, rows: Ints, decisions: DecisionArrays, at: Ints) -> list[str | None]:
    """Return the first fault of each decision, or None. The arguments are those of :func:`decision_faults`."""
    actions, parsed = decisions.actions[at], [decisions.parsed[index] for index in at.tolist()]
    legal = kernel.is_legal(state, actions, rows)
    gained = kernel.gained(state, actions, rows).tolist()
    lacking = (kernel.count_kinds(decisions.draws[at], state.tables.n_kinds) > state.bag[rows]).tolist()
    counts, seats = kernel.legal_count(state, rows).tolist(), state.to_play[rows].tolist()
    names, racks = _expected_names(state, rows), kernel.own_racks(state, rows).tolist()
    faults: list[str | None] = []
    for index, decision in enumerate(parsed):
        checks = (
            (names[index], decision.name),
            ((f"seat {seats[index]}",), f"seat {decision.seat}"),
            ((f"{counts[index]} legal actions",), f"{decision.legal} legal actions"),
            *_tile_checks(state.rules, racks[index], decision),
        )
        failed = next((check for check in checks if check[1] not in check[0]), None)
        if failed is not None:
            faults.append(_fault(decision.event, " or ".join(failed[0]), failed[1]))
        elif decision.draw_seat not in (None, seats[index]):
            faults.append(_fault(decision.draw_event, f"seat {seats[index]}", f"seat {decision.draw_seat}"))
        elif not legal[index]:
            faults.append(_placement_fault(state, int(rows[index]), decision))
        elif decision.name == "place" and tuple(gained[index]) != decision.points:
            expected = f"points {_format_points(gained[index])}"
            faults.append(_fault(decision.event, expected, _format_points(decision.points)))
        elif any(lacking[index]):
            faults.append(_bag_fault(state, int(rows[index]), decision, lacking[index].index(True)))
        else:
            faults.append(None)
    return faults


def draw_fault(decision: ParsedDecision, drawn: int) -> str | None:
    """Return the fault of a decision whose draw has another length than the rules require, or None.

    Args:
        decision: The decision.
        drawn: How many tiles the kernel has drawn for it.
    """
    if len(decision.draws) == drawn:
        return None
    expected = f"a draw of {drawn} by seat {decision.seat}" if drawn else "no draw here"
    found = f"a draw of {len(decision.draws)}" if decision.draws else "none"
    return _fault(decision.draw_event, expected, found)


def result_fault(state: State, row: int, record: ParsedRecord) -> str | None:
    """Return the first fault in the recorded end, scores and ranks of a game, or None."""
    scores = state.scores[row]
    for name, expected, found in (
        ("end", End(int(state.end[row])).words, record.end),
        ("scores", scores.tolist(), record.scores),
        ("ranks", ranking.ranks(scores).tolist(), record.ranks),
    ):
        if expected != found:
            return f"{name}: expected {shorten(expected)}, found {shorten(found)}"
    return None


def _expected_names(state: State, rows: Ints) -> list[tuple[str, ...]]:
    """[G]: Return the names of the events that may come next."""
    names: list[tuple[str, ...]] = []
    for phase, may_decline in zip(state.phase[rows].tolist(), kernel.may_decline(state, rows).tolist(), strict=True):
        if phase == Phase.OVER:
            names.append(("no event: the game is over",))
        elif phase == Phase.SWAP:
            names.append(("swap", "keep"))
        else:
            names.append(("place", "pass") if may_decline else ("place",))
    return names


def _placement_fault(state: State, row: int, decision: ParsedDecision) -> str:
    """Return the fault of a placement on cells that are not allowed."""
    t = state.tables
    cells = t.placements[t.split_action(decision.action)[1]]
    found = f"one on {t.cells[cells[0]].tolist()} {t.cells[cells[1]].tolist()}"
    reason = kernel.illegal_reason(state, row, decision.action)
    return _fault(decision.event, "a legal placement", f"{found}: {reason}")


def _bag_fault(state: State, row: int, decision: ParsedDecision, kind: int) -> str:
    """Return the fault of a draw of more tiles of a kind than the bag has."""
    name, left = tile_name(state.rules, kind), int(state.bag[row, kind])
    found = f"{decision.draws.count(kind)} drawn"
    return _fault(decision.draw_event, f"at most {left} {name}, as many as the bag has left", found)


def _tile_checks(rules: Rules, rack: list[int], decision: ParsedDecision) -> list[tuple[tuple[str, ...], str]]:
    """Return pairs of allowed and found texts about the tiles that a decision names."""

    def names(kinds: Iterable[int]) -> str:
        return " ".join(tile_name(rules, kind) for kind in sorted(kinds))

    if decision.name == "place":
        held = rack[decision.slot]
        expected = "no tile" if held == EMPTY else tile_name(rules, held)
        found = f"{tile_name(rules, decision.kind)} in slot {decision.slot}"
        return [((f"{expected} in slot {decision.slot}",), found)]
    if decision.name == "swap":
        return [((f"the rack {names(kind for kind in rack if kind != EMPTY)}",), f"the rack {names(decision.shown)}")]
    return []


def _format_points(by_color: Sequence[int]) -> str:
    return shorten({COLOR_LETTERS[color]: count for color, count in enumerate(by_color) if count})


def _fault(event: int, expected: str, found: str) -> str:
    return f"event {event}: expected {expected}, found {found}"
