"""Game records: written by everything that plays, replayed and checked by anyone. docs/records.md has the format.

Checking a record means playing it again on the kernel with the draws that it names: every decision must be the right
seat's and legal, every number the one that the rules give, every drawn tile one that the bag still has. The draws are
taken from the record, not from its seed, so a record can come from any program.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from genial_env._util.files import replace_file
from genial_env._util.stored import shorten
from genial_env._util.strict_json import JSONError, numbered_lines, parse_object
from genial_env.core import kernel, ranking
from genial_env.core.actions import placement_id, tile_kind, tile_name
from genial_env.core.bitsets import Ints
from genial_env.core.chance import Bits
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, FREE, End, Phase, State
from genial_env.core.tables import tables
from genial_env.errors import RecordError

FORMAT, VERSION = "genial-record", 1

KEYS = ("format", "version", "rules", "seed", "agents", "deal", "events", "scores", "ranks", "end")

REPLAYED_TOGETHER = 256
"""Games that are checked in one kernel batch."""


class Record(dict[str, Any]):
    """A game record: a dict that shows itself in notebooks (:mod:`genial_env.render.notebook`)."""


class Recorder:
    """Keeps what happens in B games while they are played through it.

    The steps are kept as arrays and turned into events at the end, so that a batch is played at full speed.
    """

    def __init__(self, state: State, agents: Sequence[str], seeds: Bits | None = None) -> None:
        """Begin, before the first action.

        Args:
            state: the games, freshly dealt; the recorder plays on it.
            agents: one name a seat.
            seeds: [B] the games' seeds, where known.
        """
        self.state = state
        self._agents = list(agents)
        self._seeds = seeds
        self._deal = state.racks.copy()
        self._steps: list[dict[str, Any]] = []

    def apply(self, actions: Ints, rows: Ints | None = None, draws: Ints | None = None) -> None:
        """In place: play one action in each game, as :func:`genial_env.core.kernel.apply` does, and keep it."""
        state = self.state
        rows = np.arange(len(state)) if rows is None else rows
        actions = kernel.as_actions(actions, len(rows))
        seat = state.to_play[rows]
        step = {
            "row": rows,
            "seat": seat,
            "action": actions,
            "phase": state.phase[rows],
            "legal": kernel.legal_count(state, rows),
            "rack": kernel.own_racks(state, rows),
            "points": kernel.gained(state, actions, rows),
        }
        kernel.apply(state, actions, rows, draws)
        self._steps.append({**step, "rack_after": state.racks[rows, seat]})

    def records(self) -> list[Record]:
        """The games' records, as they stand now."""
        state = self.state
        events: list[list[list[Any]]] = [[] for _ in range(len(state))]
        for step in self._steps:
            for index, row in enumerate(step["row"].tolist()):
                events[row] += self._events({name: column[index] for name, column in step.items()})
        ranks = ranking.ranks(state.scores)
        return [
            Record(
                format=FORMAT,
                version=VERSION,
                rules=state.rules.to_dict(),
                seed=None if self._seeds is None else int(self._seeds[row]),
                agents=list(self._agents),
                deal=[self._tiles(rack) for rack in self._deal[row]],
                events=events[row],
                scores=state.scores[row].tolist(),
                ranks=ranks[row].tolist(),
                end=End(int(state.end[row])).words,
            )
            for row in range(len(state))
        ]

    def _events(self, step: dict[str, Any]) -> list[list[Any]]:
        """One action as events: what was done, then what was drawn."""
        t, rules = self.state.tables, self.state.rules
        head = [int(step["seat"]), int(step["legal"])]
        rack, after, action = step["rack"].copy(), step["rack_after"], int(step["action"])
        if action == t.swap_action and rules.has_swap:
            return [["swap", *head, self._tiles(rack), self._tiles(after)]]
        if action < t.swap_action:
            slot, placement = divmod(action, t.n_placements)
            cells = t.cells[t.placements[placement]].tolist()
            points = {COLOR_LETTERS[color]: int(n) for color, n in enumerate(step["points"]) if n}
            done = ["place", *head, slot, tile_name(rules, rack[slot]), *cells, points]
            rack[slot] = EMPTY
        else:
            done = ["pass" if step["phase"] == Phase.BONUS else "keep", *head]
        drawn = self._tiles(after[rack == EMPTY])
        return [done, ["draw", head[0], drawn]] if drawn else [done]

    def _tiles(self, kinds: Ints) -> list[str]:
        """The names of the tiles, empty slots left out."""
        return [tile_name(self.state.rules, kind) for kind in kinds if kind != EMPTY]


# Files


@contextmanager
def record_file(path: str | os.PathLike[str]) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Write records one by one: gives a function that writes one, as a line of JSON.

    They are written beside the file, which is put in place at the end (:func:`genial_env._util.files.replace_file`): a
    failure on the way leaves the old file as it was.

    Raises:
        OSError: where no file can be written, or where the name is that of a folder or a device.
    """
    with replace_file(path) as file:
        yield lambda record: print(to_line(record), end="", file=file)


def write_records(path: str | os.PathLike[str], records: Iterable[dict[str, Any]]) -> None:
    """Write records as lines of JSON; a failure on the way leaves the old file as it was."""
    with record_file(path) as write:
        for record in records:
            write(record)


def to_line(record: dict[str, Any]) -> str:
    """A record as its line in a file."""
    line = json.dumps(record, separators=(",", ":"), ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:  # half a surrogate pair in a name, which JSON can hold but UTF-8 cannot
        line = json.dumps(record, separators=(",", ":"))
    return f"{line}\n"


def read_records(path: str | os.PathLike[str]) -> Iterator[Record]:
    """The records of a file, one JSON object a line; blank lines are passed over.

    Their keys, types and sizes are checked here, their events on replay.

    Raises:
        OSError: for a file that cannot be opened.
        RecordError: for a line that is no record, saying file and line.
    """
    try:
        for number, text in numbered_lines(path):
            try:
                record = Record(parse_object(text))
                _parse_head(record)
            except (RecordError, JSONError) as error:
                raise RecordError(f"{path}:{number}: {error}") from error
            yield record
    except JSONError as error:
        raise RecordError(str(error)) from error


# Replaying


def verify(records: Iterable[Any]) -> Iterator[str | None]:
    """Replay records and check everything in them, many in one kernel batch.

    Yields:
        For each record in turn None, or its first fault: event (numbered from 0), expected, found.
    """
    batch: list[Any] = []
    for record in records:
        batch.append(record)
        if len(batch) == REPLAYED_TOGETHER:
            yield from _verify_batch(batch)
            batch = []
    yield from _verify_batch(batch)


def replay(record: dict[str, Any], events: int | None = None) -> State:
    """The position, a batch of one, after so many events; left out, at the end.

    A draw belongs to the decision before it, and is always included.

    Raises:
        RecordError: where the record does not replay up to there.
        ValueError: for a number of events that the record does not have.
    """
    script = _parse(record)
    total = len(record["events"])
    events = total if events is None else events
    if not 0 <= events <= total:
        raise ValueError(f"the game has {total} events: event must be 0 to {total}, not {events}")
    script.decisions = [decision for decision in script.decisions if decision.event < events]
    state, faults = _replay([script], check_result=events == total)
    if faults[0] is not None:
        raise RecordError(faults[0])
    return state


def cut(record: dict[str, Any], events: int) -> Record:
    """The record of a game broken off after so many events.

    Raises:
        RecordError: where the record does not replay up to there.
        ValueError: for a number of events that the record does not have, or that cuts off a draw from its decision.
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
    """The D decisions of a recorded game, in order."""

    states: State  # [D] the game as each found it
    actions: Ints  # [D] what was played
    events: Ints  # [D] the events that they are


def decisions(record: dict[str, Any]) -> Decisions:
    """The decisions of a recorded game with the positions in which they were made.

    Raises:
        RecordError: where the record does not replay.
    """
    script = _parse(record)
    state, before = _dealt([script]), []
    for decision in script.decisions:
        before.append(state.copy())
        fault = _play_decisions(state, np.zeros(1, dtype=np.int64), [decision])[0]
        if fault is not None:
            raise RecordError(fault)
    fault = _result_fault(state, 0, script)
    if fault is not None:
        raise RecordError(fault)
    return Decisions(
        states=State.concat(before) if before else state.select(np.zeros(0, dtype=np.int64)),
        actions=np.array([decision.action for decision in script.decisions], dtype=np.int64),
        events=np.array([decision.event for decision in script.decisions], dtype=np.int64),
    )


@dataclass
class _Decision:
    """A decision of a record, its draw included, in the kernel's terms."""

    event: int
    name: str  # place, pass, swap, keep
    seat: int
    legal: int
    action: int
    slot: int = 0
    kind: int = EMPTY
    points: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()  # tile kinds of a swapped rack
    draws: tuple[int, ...] = ()
    draw_seat: int | None = None  # as the draw's own event says

    @property
    def draw_event(self) -> int:
        """The event with its draw: a swap draws itself."""
        return self.event if self.name == "swap" else self.event + 1


@dataclass
class _Script:
    """A record whose form is right."""

    rules: Rules
    deal: list[list[int]]
    decisions: list[_Decision]
    scores: list[list[int]]
    ranks: list[int]
    end: str


def _verify_batch(records: list[Any]) -> list[str | None]:
    """The first fault of each record; those with the same rules are replayed together."""
    faults: list[str | None] = [None] * len(records)
    by_rules: dict[Rules, list[tuple[int, _Script]]] = {}
    for index, record in enumerate(records):
        try:
            script = _parse(record)
        except RecordError as error:
            faults[index] = str(error)
        else:
            by_rules.setdefault(script.rules, []).append((index, script))
    for group in by_rules.values():
        found = _replay([script for _, script in group], check_result=True)[1]
        for (index, _), fault in zip(group, found, strict=True):
            faults[index] = fault
    return faults


def _replay(scripts: list[_Script], check_result: bool) -> tuple[State, list[str | None]]:
    """Play scripts under the same rules side by side; one with a fault is left where it stands."""
    state = _dealt(scripts)
    faults: list[str | None] = [None] * len(scripts)
    for turn in range(max(len(script.decisions) for script in scripts)):
        rows = [row for row, script in enumerate(scripts) if faults[row] is None and turn < len(script.decisions)]
        decisions = [scripts[row].decisions[turn] for row in rows]
        for row, fault in zip(rows, _play_decisions(state, np.array(rows, dtype=np.int64), decisions), strict=True):
            faults[row] = fault
    if check_result:
        for row, script in enumerate(scripts):
            faults[row] = faults[row] or _result_fault(state, row, script)
    return state, faults


def _dealt(scripts: list[_Script]) -> State:
    rules = scripts[0].rules
    state = kernel.deal(rules, np.zeros(len(scripts), dtype=np.uint64))
    state.racks[:] = [script.deal for script in scripts]
    held = kernel.count_kinds(state.racks.reshape(len(scripts), rules.players * rules.rack), state.tables.n_kinds)
    state.bag[:] = state.tables.full_bag - held
    return state


def _play_decisions(state: State, rows: Ints, decisions: list[_Decision]) -> list[str | None]:
    """In place: play a decision in each of some games where it is right; what is wrong with the others."""
    actions = np.array([decision.action for decision in decisions], dtype=np.int64)
    draws = np.full((len(rows), state.rules.rack), -1)
    for index, decision in enumerate(decisions):
        draws[index, : len(decision.draws)] = decision.draws
    faults = _decision_faults(state, rows, actions, draws, decisions)
    fine = np.array([fault is None for fault in faults], dtype=np.bool_)
    playing = rows[fine]
    before = state.drawn.sum(axis=1)
    kernel.apply(state, actions[fine], playing, draws=draws[fine])
    drawn = state.drawn.sum(axis=1) - before
    for index in np.flatnonzero(fine).tolist():
        decision, due = decisions[index], int(drawn[rows[index]])
        if len(decision.draws) != due:
            expected = f"a draw of {due} by seat {decision.seat}" if due else "no draw here"
            found = f"a draw of {len(decision.draws)}" if decision.draws else "none"
            faults[index] = _fault(decision.draw_event, expected, found)
    return faults


def _decision_faults(
    state: State, rows: Ints, actions: Ints, draws: Ints, decisions: list[_Decision]
) -> list[str | None]:
    """What is wrong with decisions before they are played."""
    legal = kernel.is_legal(state, actions, rows)
    gained = kernel.gained(state, actions, rows).tolist()
    lacking = (kernel.count_kinds(draws, state.tables.n_kinds) > state.bag[rows]).tolist()
    counts, seats = kernel.legal_count(state, rows).tolist(), state.to_play[rows].tolist()
    phases, racks = state.phase[rows].tolist(), kernel.own_racks(state, rows).tolist()
    faults: list[str | None] = []
    for index, decision in enumerate(decisions):
        checks = (
            (_names_due(state.rules, phases[index]), decision.name),
            ((f"seat {seats[index]}",), f"seat {decision.seat}"),
            ((f"{counts[index]} legal actions",), f"{decision.legal} legal actions"),
            *_tile_checks(state.rules, racks[index], decision),
        )
        wrong = next((check for check in checks if check[1] not in check[0]), None)
        if wrong is not None:
            faults.append(_fault(decision.event, " or ".join(wrong[0]), wrong[1]))
        elif decision.draw_seat not in (None, seats[index]):
            faults.append(_fault(decision.draw_event, f"seat {seats[index]}", f"seat {decision.draw_seat}"))
        elif not legal[index]:
            faults.append(_placement_fault(state, int(rows[index]), decision))
        elif decision.name == "place" and tuple(gained[index]) != decision.points:
            faults.append(_fault(decision.event, f"points {_points(gained[index])}", f"{_points(decision.points)}"))
        elif any(lacking[index]):
            faults.append(_bag_fault(state, int(rows[index]), decision, lacking[index].index(True)))
        else:
            faults.append(None)
    return faults


def _names_due(rules: Rules, phase: int) -> tuple[str, ...]:
    """The events that a decision of this phase may be."""
    return {
        Phase.PLACE: ("place",),
        Phase.BONUS: ("place", "pass") if rules.bonus_may_be_declined else ("place",),
        Phase.SWAP: ("swap", "keep"),
        Phase.OVER: ("no event: the game is over",),
    }[Phase(phase)]


def _placement_fault(state: State, row: int, decision: _Decision) -> str:
    """What is wrong with where a tile is laid."""
    t = state.tables
    cells = t.placements[decision.action % t.n_placements]
    covered = [f"{t.cells[cell].tolist()} covered" for cell in cells if state.board[row, cell] != FREE]
    if covered:
        return _fault(decision.event, "two free cells", " and ".join(covered))
    expected = "a seat's first tile next to a printed symbol that has no tile next to it yet"
    return _fault(decision.event, expected, f"it on {t.cells[cells[0]].tolist()} {t.cells[cells[1]].tolist()}")


def _bag_fault(state: State, row: int, decision: _Decision, kind: int) -> str:
    """What is wrong with drawn tiles that the bag has not."""
    name, left = tile_name(state.rules, kind), int(state.bag[row, kind])
    found = f"{decision.draws.count(kind)} drawn"
    return _fault(decision.draw_event, f"at most {left} {name}, as many as the bag has left", found)


def _tile_checks(rules: Rules, rack: list[int], decision: _Decision) -> list[tuple[tuple[str, ...], str]]:
    """What may stand and what stands there, about the tiles that a decision names."""

    def names(kinds: Iterable[int]) -> str:
        return " ".join(tile_name(rules, kind) for kind in sorted(kinds))

    if decision.name == "place":
        held = rack[decision.slot]
        due = "no tile" if held == EMPTY else tile_name(rules, held)
        return [((f"{due} in slot {decision.slot}",), f"{tile_name(rules, decision.kind)} in slot {decision.slot}")]
    if decision.name == "swap":
        return [((f"the rack {names(kind for kind in rack if kind != EMPTY)}",), f"the rack {names(decision.shown)}")]
    return []


def _result_fault(state: State, row: int, script: _Script) -> str | None:
    """What is wrong with how a record says the game ended."""
    scores = state.scores[row]
    for name, due, found in (
        ("end", End(int(state.end[row])).words, script.end),
        ("scores", scores.tolist(), script.scores),
        ("ranks", ranking.ranks(scores).tolist(), script.ranks),
    ):
        if due != found:
            return f"{name}: expected {shorten(due)}, found {shorten(found)}"
    return None


# The form of a record


def _parse(record: Any) -> _Script:
    """A record in the kernel's terms.

    Raises:
        RecordError: for a form that is not right.
    """
    script = _parse_head(record)
    script.decisions = _parse_events(script.rules, record["events"])
    return script


def _parse_head(record: Any) -> _Script:
    """All of a record but its decisions.

    Raises:
        RecordError: for a form that is not right.
    """
    _check_keys(_object(record))
    rules = _parse_rules(record["rules"])
    if record["seed"] is not None:
        _whole(record["seed"], "seed", below=2**64)
    for agent in _list(record["agents"], rules.players, "agents"):
        _of_type(agent, str, "agents")
    _of_type(record["events"], list, "events")
    for markers in _list(record["scores"], rules.tracks, "scores"):
        for marker in _list(markers, rules.colors, "scores"):
            _whole(marker, "scores", below=rules.top + 1)
    for rank in _list(record["ranks"], rules.tracks, "ranks"):
        _whole(rank, "ranks", below=rules.tracks + 1)
    ends = [end.words for end in End]
    if record["end"] not in ends:
        raise RecordError(f"end: expected {' or '.join(map(shorten, ends))}, found {shorten(record['end'])}")
    deal = _parse_deal(rules, record["deal"])
    return _Script(rules, deal, [], record["scores"], record["ranks"], record["end"])


def _check_keys(record: dict[str, Any]) -> None:
    if record.get("format") != FORMAT:
        raise RecordError(f"format: expected {shorten(FORMAT)}, found {shorten(record.get('format'))}")
    version = record.get("version")
    if type(version) is not int or version != VERSION:
        raise RecordError(f"version: expected {VERSION}, the one known here, found {shorten(version)}")
    _check_names(record, KEYS, KEYS, "")


def _parse_rules(named: Any) -> Rules:
    types = {f.name: f.type for f in fields(Rules)}
    _check_names(_of_type(named, dict, "rules"), list(types), ("players", "edition", "mode"), "rules: ")
    for name, value in named.items():
        if type(value) is not types[name]:
            wanted = "text" if types[name] is str else "a whole number"
            raise RecordError(f"rules: expected {wanted} for {name!r}, found {shorten(value)}")
    try:
        return Rules.from_dict(named)
    except ValueError as error:
        raise RecordError(f"rules: expected rules that can be played ({error}), found {shorten(named)}") from error


def _check_names(named: dict[str, Any], known: Sequence[str], needed: Sequence[str], where: str) -> None:
    for name in needed:
        if name not in named:
            raise RecordError(f"{where}expected the key {name!r}, found none")
    for name in named:
        if name not in known:
            raise RecordError(f"{where}expected the keys {', '.join(known)}, found {name!r}")


def _parse_deal(rules: Rules, deal: Any) -> list[list[int]]:
    racks = [_kinds(rules, _list(rack, rules.rack, "deal"), "deal") for rack in _list(deal, rules.players, "deal")]
    for kind, count in enumerate(tables(rules).full_bag.tolist()):
        dealt = sum(rack.count(kind) for rack in racks)
        if dealt > count:
            raise RecordError(f"deal: expected at most {count} {tile_name(rules, kind)}, found {dealt}")
    return racks


def _parse_events(rules: Rules, events: list[Any]) -> list[_Decision]:
    """The decisions, each with the draw that follows it."""
    decisions: list[_Decision] = []
    for number, event in enumerate(events):
        where = f"event {number}"
        parts = _of_type(event, list, where)
        name = parts[0] if parts else None
        if name == "draw":
            _add_draw(rules, parts, where, decisions)
        elif isinstance(name, str) and name in _PARSERS:
            decisions.append(_PARSERS[name](rules, parts, number))
        else:
            raise RecordError(f"{where}: expected place, pass, swap, keep or draw, found {shorten(name)}")
    return decisions


def _add_draw(rules: Rules, parts: list[Any], where: str, decisions: list[_Decision]) -> None:
    """In place: give a draw to the decision before it."""
    _check_length(parts, 3, where)
    if not decisions or decisions[-1].draws:
        raise RecordError(
            f"{where}: expected a decision, found a second draw"
            if decisions
            else f"{where}: expected a decision first, found a draw"
        )
    kinds = _kinds(rules, parts[2], where)
    if not 0 < len(kinds) <= rules.rack:
        raise RecordError(f"{where}: expected 1 to {rules.rack} drawn tiles, found {len(kinds)}")
    decisions[-1].draw_seat = _whole(parts[1], where)
    decisions[-1].draws = tuple(kinds)


def _parse_place(rules: Rules, parts: list[Any], number: int) -> _Decision:
    where = f"event {number}"
    _check_length(parts, 8, where)
    _, seat, legal, slot, tile, first, second, points = parts
    kind = _kind(rules, tile, where)
    cells = [_cell(first, where), _cell(second, where)]
    if tile != tile_name(rules, kind):
        cells.reverse()  # named from its other half
    slot = _whole(slot, f"{where}: slot", below=rules.rack)
    try:
        placement = placement_id(rules, cells[0], cells[1])
    except ValueError as error:
        raise RecordError(f"{where}: expected two neighbouring cells, found {first} {second}: {error}") from error
    return _Decision(
        event=number,
        name="place",
        seat=_whole(seat, where),
        legal=_whole(legal, where),
        action=slot * tables(rules).n_placements + placement,
        slot=slot,
        kind=kind,
        points=_parse_points(rules, points, where),
    )


def _parse_swap(rules: Rules, parts: list[Any], number: int) -> _Decision:
    where = f"event {number}"
    _check_length(parts, 5, where)
    drawn = _kinds(rules, parts[4], where)
    if len(drawn) != rules.rack:
        raise RecordError(f"{where}: expected {rules.rack} drawn tiles, found {len(drawn)}")
    shown = tuple(_kinds(rules, parts[3], where))
    decision = _parse_word(rules, parts[:3], number)
    decision.shown, decision.draws = shown, tuple(drawn)
    return decision


def _parse_word(rules: Rules, parts: list[Any], number: int) -> _Decision:
    where = f"event {number}"
    _check_length(parts, 3, where)
    if not rules.has_swap:
        raise RecordError(f"{where}: expected place or draw in mode {rules.mode!r}, found {parts[0]}")
    t = tables(rules)
    action = t.swap_action if parts[0] == "swap" else t.decline_action
    return _Decision(number, parts[0], _whole(parts[1], where), _whole(parts[2], where), action)


_PARSERS = {"place": _parse_place, "swap": _parse_swap, "pass": _parse_word, "keep": _parse_word}


def _parse_points(rules: Rules, points: Any, where: str) -> tuple[int, ...]:
    named = _of_type(points, dict, where)
    letters = COLOR_LETTERS[: rules.colors]
    for letter, count in named.items():
        if letter not in letters or len(letter) != 1 or _whole(count, where) == 0:
            raise RecordError(f"{where}: expected points above 0 by the letters {letters}, found {shorten(points)}")
    return tuple(named.get(letter, 0) for letter in letters)


def _kinds(rules: Rules, names: Any, where: str) -> list[int]:
    return [_kind(rules, name, where) for name in _of_type(names, list, where)]


def _kind(rules: Rules, name: Any, where: str) -> int:
    try:
        return tile_kind(rules, name)
    except ValueError as error:
        letters = COLOR_LETTERS[: rules.colors]
        raise RecordError(f"{where}: expected a tile, two of the letters {letters}, found {shorten(name)}") from error


def _cell(value: Any, where: str) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2 or not all(type(part) is int for part in value):
        raise RecordError(f"{where}: expected a cell [q, r], found {shorten(value)}")
    return value[0], value[1]


def _whole(value: Any, where: str, below: int = 2**31) -> int:
    if type(value) is not int or not 0 <= value < below:  # a bool is no number here
        raise RecordError(f"{where}: expected a whole number from 0 to {below - 1}, found {shorten(value)}")
    return value


def _list(value: Any, length: int, where: str) -> list[Any]:
    if not isinstance(value, list) or len(value) != length:
        raise RecordError(f"{where}: expected a list of {length}, found {shorten(value)}")
    return value


_TYPE_NAMES: dict[type, str] = {dict: "an object", list: "a list", str: "text"}


def _of_type(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind):
        raise RecordError(f"{where}: expected {_TYPE_NAMES[kind]}, found {shorten(value)}")
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RecordError(f"expected a JSON object, found {shorten(value)}")
    return value


def _check_length(parts: list[Any], length: int, where: str) -> None:
    if len(parts) != length:
        raise RecordError(f"{where}: expected {length} entries in {shorten(parts[0])}, found {len(parts)}")


def _points(by_color: Sequence[int]) -> str:
    return shorten({COLOR_LETTERS[color]: count for color, count in enumerate(by_color) if count})


def _fault(event: int, expected: str, found: str) -> str:
    return f"event {event}: expected {expected}, found {found}"
