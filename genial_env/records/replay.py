"""Replay and verification of game records.

A record is verified by playing it again on the kernel with the draws that it names. Every decision must be legal and by
the right seat, every number must follow from the rules, and every drawn tile must be in the bag. Draws are taken from
the record and not from its seed, so records of other programs can be verified too.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from genial_env.core import kernel, ranking
from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, End, State
from genial_env.errors import RecordError
from genial_env.records._decision_arrays import DecisionArrays
from genial_env.records._faults import decision_faults, draw_fault, result_fault
from genial_env.records._parse import ParsedRecord, parse_record
from genial_env.records.format import Record

__all__ = ["Decisions", "replay", "replay_decisions", "replay_each", "replay_many", "truncate", "verify"]

BATCH_SIZE = 256
"""The number of games that are verified in one batch."""


def verify(records: Iterable[Any]) -> Iterator[str | None]:
    """Replay records and check everything in them, in batches.

    Yields:
        One value for each record, in order: None, or its first fault with event number (from 0), expected and found.
    """
    for batch in _batches(records):
        for found in _replay_batch(batch):
            yield found if isinstance(found, str) else None


def replay_each(records: Iterable[Any]) -> Iterator[State | str]:
    """Replay records and check everything in them, in batches.

    Yields:
        One value for each record, in order: the position after the last event, as a batch of one game, or the first
        fault with event number (from 0), expected and found.
    """
    for batch in _batches(records):
        for found in _replay_batch(batch):
            yield found if isinstance(found, str) else found[0].select(np.array([found[1]]))


def replay(record: dict[str, Any], events: int | None = None) -> State:
    """Return the position after a number of events, as a batch of one game.

    Args:
        record: The record.
        events: The number of events; None for all. If the last one is a decision, the draw that follows is included.

    Raises:
        RecordError: If the record does not replay up to there.
        ValueError: If the record does not have so many events.
    """
    parsed = parse_record(record)
    total = len(record["events"])
    events = total if events is None else events
    if not 0 <= events <= total:
        raise ValueError(f"the game has {total} events: event must be 0 to {total}, not {events}")
    parsed.decisions = [decision for decision in parsed.decisions if decision.event < events]
    state, faults = _replay([parsed], check_result=events == total)
    if faults[0] is not None:
        raise RecordError(faults[0])
    return state


def truncate(record: dict[str, Any], events: int) -> Record:
    """Return the record of the same game, ended after a number of events.

    Raises:
        RecordError: If the record does not replay up to there.
        ValueError: If the record does not have so many events, or if the next one is the draw of the last decision.
    """
    state = replay(record, events)
    rest = record["events"][events:]
    if rest and rest[0][0] == "draw":
        raise ValueError(f"event {events} draws for the decision before it: the game cannot be cut between them")
    return Record(
        record,
        events=record["events"][:events],
        scores=state.scores[0].tolist(),
        ranks=ranking.ranks(state.scores)[0].tolist(),
        end=End(int(state.end[0])).words,
    )


@dataclass(eq=False)
class Decisions:
    """The D decisions of B recorded games, game by game and in order, and what was drawn after them."""

    dealt: State  # [B] the initial positions
    final: State  # [B] the positions after the last events
    games: Ints  # [D] the game of each decision
    states: State  # [D] the position before each decision
    actions: Ints  # [D] the actions played
    events: Ints  # [D] the numbers of their events in the record
    draws: Ints  # [D, K] the tile kinds drawn after each of them, EMPTY after the last
    draw_events: Ints  # [D] the number of the event that names these tiles


def replay_decisions(record: dict[str, Any]) -> Decisions:
    """Return the decisions of a recorded game with the positions in which they were made.

    Raises:
        RecordError: If the record does not replay.
    """
    return replay_many([record])


def replay_many(records: Sequence[dict[str, Any]]) -> Decisions:
    """Return the decisions of recorded games with the same rules, replayed side by side.

    Raises:
        RecordError: If a record does not replay.
        ValueError: If there is no record, or their rules differ.
    """
    return replay_parsed([_parse(record, game, len(records)) for game, record in enumerate(records)])


def replay_parsed(parsed: Sequence[ParsedRecord]) -> Decisions:
    """Compute :func:`replay_many` of parsed records."""
    if len({each.rules for each in parsed}) != 1:
        raise ValueError(f"expected records of games with the same rules, got {len({each.rules for each in parsed})}")
    state, decisions = _deal(parsed), DecisionArrays.of(parsed)
    dealt, before, games = state.copy(), [state.select(np.zeros(0, dtype=np.int64))], [np.zeros(0, dtype=np.int64)]
    for number in range(int(decisions.counts.max())):
        rows = np.flatnonzero(decisions.counts > number)
        before.append(state.select(rows))
        games.append(rows)
        _raise_first(rows, _apply_decisions(state, rows, decisions, number), len(parsed))
    _raise_first(range(len(parsed)), [result_fault(state, row, each) for row, each in enumerate(parsed)], len(parsed))
    by_game = np.argsort(np.concatenate(games), kind="stable")
    return Decisions(
        dealt=dealt,
        final=state,
        games=np.repeat(np.arange(len(parsed)), decisions.counts),
        states=State.concat(before).select(by_game),
        actions=decisions.actions,
        events=np.array([decision.event for decision in decisions.parsed], dtype=np.int64),
        draws=decisions.draws,
        draw_events=np.array([decision.draw_event for decision in decisions.parsed], dtype=np.int64),
    )


def _parse(record: dict[str, Any], game: int, games: int) -> ParsedRecord:
    """Parse one of several records."""
    try:
        return parse_record(record)
    except RecordError as error:
        raise RecordError(_name_game(str(error), game, games)) from error


def _raise_first(rows: Iterable[int], faults: list[str | None], games: int) -> None:
    """Raise a RecordError for the first of some games with a fault."""
    for game, fault in zip(rows, faults, strict=True):
        if fault is not None:
            raise RecordError(_name_game(fault, game, games))


def _name_game(fault: str, game: int, games: int) -> str:
    return fault if games == 1 else f"game {game}: {fault}"


def _batches(records: Iterable[Any]) -> Iterator[list[Any]]:
    remaining = iter(records)
    while batch := list(islice(remaining, BATCH_SIZE)):
        yield batch


def _replay_batch(records: list[Any]) -> list[tuple[State, int] | str]:
    """Return the row of a state with the last position of each record, or its first fault.

    Records with the same rules are replayed together.
    """
    found: dict[int, tuple[State, int] | str] = {}
    by_rules: dict[Rules, list[tuple[int, ParsedRecord]]] = {}
    for index, record in enumerate(records):
        try:
            parsed = parse_record(record)
        except RecordError as error:
            found[index] = str(error)
        else:
            by_rules.setdefault(parsed.rules, []).append((index, parsed))
    for same_rules in by_rules.values():
        state, faults = _replay([parsed for _, parsed in same_rules], check_result=True)
        for row, ((index, _), fault) in enumerate(zip(same_rules, faults, strict=True)):
            found[index] = (state, row) if fault is None else fault
    return [found[index] for index in range(len(records))]


def _replay(records: list[ParsedRecord], check_result: bool) -> tuple[State, list[str | None]]:
    """Replay records with the same rules side by side. A game stops at its first fault."""
    state, decisions = _deal(records), DecisionArrays.of(records)
    faults: list[str | None] = [None] * len(records)
    correct = np.ones(len(records), dtype=np.bool_)
    for number in range(int(decisions.counts.max())):
        rows = np.flatnonzero(correct & (decisions.counts > number))
        for row, fault in zip(rows.tolist(), _apply_decisions(state, rows, decisions, number), strict=True):
            faults[row], correct[row] = fault, fault is None
    if check_result:
        for row, record in enumerate(records):
            faults[row] = faults[row] or result_fault(state, row, record)
    return state, faults


def _deal(records: Sequence[ParsedRecord]) -> State:
    """Return the initial positions: the recorded racks, all other tiles in the bag."""
    rules = records[0].rules
    state = kernel.deal(rules, np.zeros(len(records), dtype=np.uint64))
    state.racks[:] = [record.deal for record in records]
    held = kernel.count_kinds(state.racks.reshape(len(records), rules.players * rules.rack), state.tables.n_kinds)
    state.bag[:] = state.tables.full_bag - held
    return state


def _apply_decisions(state: State, rows: Ints, decisions: DecisionArrays, number: int) -> list[str | None]:
    """In place: apply one decision in each of some games if it has no fault. Return the faults.

    Args:
        state: The games.
        rows: [G] The games that have the decision.
        decisions: The decisions of all games.
        number: The number of the decision in each game.
    """
    at = decisions.starts[rows] + number
    faults = decision_faults(state, rows, decisions, at)
    is_correct = np.array([fault is None for fault in faults], dtype=np.bool_)
    draws, before = decisions.draws[at], state.drawn.sum(axis=1)
    kernel.apply(state, decisions.actions[at][is_correct], rows[is_correct], draws=draws[is_correct])
    drawn = (state.drawn.sum(axis=1) - before)[rows]
    for index in np.flatnonzero(is_correct & (drawn != (draws != EMPTY).sum(axis=1))).tolist():
        faults[index] = draw_fault(decisions.parsed[at[index]], int(drawn[index]))
    return faults
