"""Parsing of game records: from JSON values to the numbers of the kernel.

Only the form is checked here: keys, types, sizes, names of tiles and cells. Whether the game follows the rules is
checked by :mod:`genial_env.records.replay`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

from genial_env._util.strict_json import JSONError
from genial_env._util.validators import (
    BOOLEAN,
    LIST,
    OBJECT,
    STRING,
    Validator,
    any_value,
    integer,
    json_object,
    list_of,
    optional,
    shorten,
    validation_error,
)
from genial_env.core.actions import placement_id, tile_kind, tile_name
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, End
from genial_env.core.tables import tables
from genial_env.errors import RecordError
from genial_env.records.format import FORMAT, KEYS, VERSION, Event


@dataclass(slots=True)
class ParsedDecision:
    """A decision of a record and the draw that follows it."""

    event: int  # the event's number in the record, from 0
    name: str  # "place", "pass", "swap" or "keep"
    seat: int
    legal: int  # the number of legal actions, as recorded
    action: int
    slot: int = 0
    kind: int = EMPTY
    points: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()  # the tile kinds of a swapped rack
    draws: tuple[int, ...] = ()
    draw_seat: int | None = None  # the seat of the draw event; None if there is no such event

    @property
    def draw_event(self) -> int:
        """The number of the event with the draw. A swap includes its own."""
        return self.event if self.name == "swap" else self.event + 1


@dataclass
class ParsedRecord:
    """A record whose form is correct."""

    rules: Rules
    deal: list[list[int]]
    scores: list[list[int]]
    ranks: list[int]
    end: str
    decisions: list[ParsedDecision] = field(default_factory=list)


def parse_record(record: Any) -> ParsedRecord:
    """Parse a record.

    Raises:
        RecordError: If its form is wrong.
    """
    parsed = check_header(record)
    with _record_errors():
        parsed.decisions = _parse_events(parsed.rules, record["events"])
    return parsed


def check_header(record: Any) -> ParsedRecord:
    """Check and parse everything in a record except its events.

    Raises:
        RecordError: If the form is wrong.
    """
    with _record_errors():
        if not isinstance(record, dict):
            raise validation_error("", "a JSON object", record)
        _check_format(record)
        _KEYS(record, "")
        rules = _parse_rules(record["rules"])
        _header(rules)(record, "")
        deal = _parse_deal(rules, record["deal"])
    return ParsedRecord(rules, deal, record["scores"], record["ranks"], record["end"])


@contextmanager
def _record_errors() -> Iterator[None]:
    """Raise a RecordError in place of a JSONError."""
    try:
        yield
    except JSONError as error:
        raise RecordError(str(error)) from error


_KEYS = json_object(optional_keys=None, **dict.fromkeys(KEYS, any_value))


def _check_format(record: dict[str, Any]) -> None:
    if record.get("format") != FORMAT:
        raise validation_error("format", shorten(FORMAT), record.get("format"))
    version = record.get("version")
    if type(version) is not int or version != VERSION:
        raise validation_error("version", f"{VERSION}, the one known here", version)


def _header(rules: Rules) -> Validator:
    """Return the validator of everything that depends on the rules alone."""
    return json_object(
        seed=optional(integer(0, 2**64 - 1)),
        agents=list_of(STRING, rules.players),
        events=LIST,
        scores=list_of(list_of(integer(0, rules.top), rules.colors), rules.tracks),
        ranks=list_of(integer(0, rules.tracks), rules.tracks),
        end=_check_end,
        others=any_value,
    )


def _check_end(value: Any, where: str) -> Any:
    ends = [end.words for end in End]
    if value not in ends:
        raise validation_error(where, " or ".join(map(shorten, ends)), value)
    return value


_VALIDATORS: dict[Any, Validator] = {str: STRING, int: integer(), bool: BOOLEAN}
_RULE_TYPES = {each.name: _VALIDATORS[each.type] for each in fields(Rules)}
_REQUIRED_RULES = ("players", "edition", "mode")
_RULES = json_object(
    optional_keys={name: check for name, check in _RULE_TYPES.items() if name not in _REQUIRED_RULES},
    **{name: _RULE_TYPES[name] for name in _REQUIRED_RULES},
)


def _parse_rules(value: Any) -> Rules:
    found = _RULES(value, "rules")
    try:
        return tables(Rules.from_dict(found)).rules  # one object for equal rules, so that look-ups compare no values
    except ValueError as error:
        raise validation_error("rules", f"rules that can be played ({error})", value) from error


def _parse_deal(rules: Rules, value: Any) -> list[list[int]]:
    check_shape = list_of(list_of(any_value, rules.rack), rules.players)
    racks = [_tile_kinds(rules, rack, "deal") for rack in check_shape(value, "deal")]
    held = [kind for rack in racks for kind in rack]
    for kind, count in enumerate(tables(rules).full_bag.tolist()):
        dealt = held.count(kind)
        if dealt > count:
            raise validation_error("deal", f"at most {count} {tile_name(rules, kind)}", dealt)
    return racks


# Events


def _parse_events(rules: Rules, events: list[Any]) -> list[ParsedDecision]:
    """Return the decisions, each with the draw that follows it."""
    decisions: list[ParsedDecision] = []
    for number, value in enumerate(events):
        where = f"event {number}"
        event: Event = LIST(value, where)
        name = event[0] if event else None
        if name == "draw":
            _add_draw(rules, event, where, decisions)
        elif isinstance(name, str) and name in _PARSERS:
            decisions.append(_PARSERS[name](rules, event, number))
        else:
            raise validation_error(where, "place, pass, swap, keep or draw", name)
    return decisions


def _add_draw(rules: Rules, event: Event, where: str, decisions: list[ParsedDecision]) -> None:
    """In place: add a draw to the decision before it."""
    _check_length(event, 3, where)
    if not decisions:
        raise JSONError(f"{where}: expected a decision first, found a draw")
    if decisions[-1].draws:
        raise JSONError(f"{where}: expected a decision, found a second draw")
    kinds = _tile_kinds(rules, event[2], where)
    if not 0 < len(kinds) <= rules.rack:
        raise validation_error(where, f"1 to {rules.rack} drawn tiles", len(kinds))
    decisions[-1].draw_seat = _COUNT(event[1], where)
    decisions[-1].draws = tuple(kinds)


def _parse_place(rules: Rules, event: Event, number: int) -> ParsedDecision:
    where = f"event {number}"
    _check_length(event, 8, where)
    _, seat, legal, slot, tile, first, second, points = event
    kind = _tile_kind(rules, tile, where)
    cells = [_parse_cell(first, where), _parse_cell(second, where)]
    if tile != _names(rules)[kind]:
        cells.reverse()  # named from its other half
    if type(slot) is not int or not 0 <= slot < rules.rack:
        integer(0, rules.rack - 1)(slot, f"{where}: slot")
    try:
        placement = _placement_id(rules, cells[0], cells[1])
    except ValueError as error:
        raise JSONError(f"{where}: expected two neighbouring cells, found {first} {second}: {error}") from error
    return ParsedDecision(
        event=number,
        name="place",
        seat=_COUNT(seat, where),
        legal=_COUNT(legal, where),
        action=tables(rules).join_action(slot, placement),
        slot=slot,
        kind=kind,
        points=_parse_points(rules, points, where),
    )


@lru_cache(maxsize=64)
def _names(rules: Rules) -> list[str]:
    """Return the names of the tile kinds: [M]."""
    return [tile_name(rules, kind) for kind in range(tables(rules).n_kinds)]


_placement_id = lru_cache(maxsize=2**16)(placement_id)


def _parse_swap(rules: Rules, event: Event, number: int) -> ParsedDecision:
    where = f"event {number}"
    _check_length(event, 5, where)
    drawn = _tile_kinds(rules, event[4], where)
    if len(drawn) != rules.rack:
        raise validation_error(where, f"{rules.rack} drawn tiles", len(drawn))
    shown = _tile_kinds(rules, event[3], where)
    decision = _parse_choice(rules, event[:3], number)
    decision.shown, decision.draws = tuple(shown), tuple(drawn)
    return decision


def _parse_choice(rules: Rules, event: Event, number: int) -> ParsedDecision:
    """Parse what "pass", "keep" and "swap" have in common."""
    where = f"event {number}"
    _check_length(event, 3, where)
    if not rules.has_swap:
        raise JSONError(f"{where}: expected place or draw in mode {rules.mode!r}, found {event[0]}")
    t = tables(rules)
    action = t.swap_action if event[0] == "swap" else t.decline_action
    return ParsedDecision(number, event[0], _COUNT(event[1], where), _COUNT(event[2], where), action)


_PARSERS = {"place": _parse_place, "swap": _parse_swap, "pass": _parse_choice, "keep": _parse_choice}

_COUNT = integer(0, 2**31 - 1)


def _parse_points(rules: Rules, value: Any, where: str) -> tuple[int, ...]:
    letters = COLOR_LETTERS[: rules.colors]
    points = OBJECT(value, where)
    by_color = [0] * rules.colors
    for letter, count in points.items():
        color = letters.find(letter) if len(letter) == 1 else -1
        if color < 0 or _COUNT(count, where) == 0:
            raise validation_error(where, f"points above 0 by the letters {letters}", points)
        by_color[color] = count
    return tuple(by_color)


def _tile_kinds(rules: Rules, names: Any, where: str) -> list[int]:
    return [_tile_kind(rules, name, where) for name in LIST(names, where)]


def _tile_kind(rules: Rules, name: Any, where: str) -> int:
    try:
        return _kind_of(rules, name) if type(name) is str else tile_kind(rules, name)
    except ValueError as error:
        letters = COLOR_LETTERS[: rules.colors]
        raise validation_error(where, f"a tile, two of the letters {letters}", name) from error


_kind_of = lru_cache(maxsize=2**12)(tile_kind)


def _parse_cell(value: Any, where: str) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2 or type(value[0]) is not int or type(value[1]) is not int:
        raise validation_error(where, "a cell [q, r]", value)
    return value[0], value[1]


def _check_length(event: Event, length: int, where: str) -> None:
    if len(event) != length:
        raise validation_error(where, f"{length} entries in {shorten(event[0])}", len(event))
