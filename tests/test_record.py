"""Game records: round trip, replay, and every way in which one can be wrong."""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genial_env import RecordError, Rules, kernel, play
from genial_env.chance import game_seeds
from genial_env.policies import RandomPolicy
from genial_env.record import Recorder, parse_line, read_records, record_file, replay, to_line, verify, write_records
from genial_env.views import view
from tests.positions import STANDARD, VARIANTS

Record = dict[str, Any]


def games(rules: Rules, count: int = 5, seed: int = 0) -> list[Record]:
    return play((["greedy", "random"] * 2)[: rules.players], rules, count, seed, record=True).records or []


@pytest.mark.parametrize("rules", STANDARD + VARIANTS, ids=str)
def test_what_is_played_replays(rules: Rules, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    records = games(rules)
    write_records(path, records)
    again = list(read_records(path))
    assert again == records
    assert "".join(map(to_line, again)) == path.read_text()
    assert list(verify(again)) == [None] * len(records)


def test_replay_stands_where_the_game_ended() -> None:
    rules = Rules(3, "2009")
    results = play(["greedy", "random", "greedy"], rules, 3, record=True)
    for row, record in enumerate(results.records or []):
        state = replay(record)
        assert (state.scores[0] == results.scores[row]).all()
        assert state.over[0]


def test_replay_of_a_part_and_a_broken_off_game() -> None:
    rules = Rules()
    seeds = game_seeds(8, 1)
    state = kernel.deal(rules, seeds)
    recorder = Recorder(state, ["a", "b"], seeds)
    for number in range(9):
        recorder.apply(RandomPolicy()(view(state), np.array([number * 977], dtype=np.uint64) << np.uint64(40)))
    record = recorder.records()[0]
    assert record["end"] == "unfinished"
    assert list(verify([record])) == [None]
    reached = replay(record)
    for name in ("board", "points", "scores", "racks", "bag", "to_play", "phase"):
        assert np.array_equal(getattr(reached, name), getattr(state, name))
    assert replay(record, 0).decisions[0] == 0
    with pytest.raises(ValueError, match="event must be 0 to"):
        replay(record, 1000)


def test_a_tile_may_be_named_from_its_other_half() -> None:
    record = games(Rules(), 1)[0]
    for event in record["events"]:
        if event[0] == "place":
            event[4], event[5], event[6] = event[4][::-1], event[6], event[5]
    assert list(verify([record])) == [None]


# Faults

SWAP_GAME = next(r for r in games(Rules(), 40) if any(e[0] == "swap" for e in r["events"]))
"""A game in which a rack is swapped."""


def first(record: Record, name: str) -> int:
    return next(number for number, event in enumerate(record["events"]) if event[0] == name)


def event_set(name: str, entry: int, value: Any) -> Callable[[Record], None]:
    def change(record: Record) -> None:
        record["events"][first(record, name)][entry] = value

    return change


def key_set(key: str, value: Any) -> Callable[[Record], None]:
    return lambda record: record.__setitem__(key, value)


def other_seat(record: Record) -> None:
    record["events"][0][1] = record["events"][1][1] = 1


def other_points(record: Record) -> None:
    record["events"][0][7] = {"R": 9}


def other_slot(record: Record) -> None:
    event = record["events"][0]
    rack = record["deal"][0]
    event[3] = next(slot for slot, tile in enumerate(rack) if tile != event[4])


def no_draw(record: Record) -> None:
    del record["events"][1]


def draw_twice(record: Record) -> None:
    record["events"].insert(1, record["events"][1])


def draw_more(record: Record) -> None:
    record["events"][1][2] = ["RG", "RG"]


def too_many_of_a_kind(record: Record) -> None:
    record["deal"] = [["RR"] * 6, record["deal"][1]]


def draw_what_is_gone(record: Record) -> None:
    record["deal"][1] = ["RR"] * 5 + ["GB"]
    record["deal"][0] = ["RG"] * 6
    event = record["events"][0]
    event[3:8] = [0, "GR", [0, -4], [1, -4], {}]
    record["events"][1][2] = ["RR"]
    record["events"] = record["events"][:2]


def swap_not_offered(record: Record) -> None:
    record["events"][2:] = [["swap", 1, 2, record["deal"][1], ["RG"] * 6]]


def other_rack_shown(record: Record) -> None:
    record["events"][first(record, "swap")][3] = ["RR"]


def after_the_end(record: Record) -> None:
    record["events"].append(record["events"][0])


def other_seat_draws(record: Record) -> None:
    record["events"][1][1] = 1


FAULTS: dict[str, tuple[Callable[[Record], None], str]] = {
    "seat": (other_seat, "event 0: expected seat 0, found seat 1"),
    "legal": (event_set("place", 2, 7), "event 0: expected 648 legal actions, found 7 legal actions"),
    "slot": (other_slot, "event 0: expected [A-Z]{2} in slot [0-9], found [A-Z]{2} in slot"),
    "slot out of range": (event_set("place", 3, 6), "event 0: expected a slot from 0 to 5, found 6"),
    "tile": (event_set("place", 4, "RX"), "event 0: a tile is two of the letters RGBOYP, not 'RX'"),
    "cell off the board": (
        event_set("place", 5, [9, 9]),
        r"event 0: expected two neighbouring cells.*\(9, 9\) is not on",
    ),
    "cells apart": (event_set("place", 6, [0, 0]), "event 0: expected two neighbouring cells"),
    "no cell": (event_set("place", 6, "middle"), r"event 0: expected a cell \[q, r\], found \"middle\""),
    "points": (other_points, 'event 0: expected points .*, found {"R": 9}'),
    "no points": (event_set("place", 7, {"R": 0}), "event 0: expected points above 0 by the letters RGBOYP"),
    "true for 1": (event_set("place", 1, False), "event 0: expected a whole number from 0 up, found false"),
    "too short": (event_set("draw", slice(2, 3), []), 'event 1: expected 3 entries in "draw", found 2'),
    "unknown event": (event_set("place", 0, "jump"), 'event 0: expected place, pass, swap, keep or draw, found "jump"'),
    "missing draw": (no_draw, "event 0: expected a draw of 1 tiles after it, found 0"),
    "second draw": (draw_twice, "event 2: expected a decision, found a second draw"),
    "long draw": (draw_more, "event 0: expected a draw of 1 tiles after it, found 2"),
    "other seat draws": (other_seat_draws, "event 1: expected seat 0, found seat 1"),
    "tile used up": (draw_what_is_gone, "event 0: expected drawn tiles that the bag has, found one RR too many"),
    "impossible deal": (too_many_of_a_kind, "deal: expected at most 5 tiles RR, found"),
    "short deal": (key_set("deal", [["RR"]]), "deal: expected 2 racks of 6"),
    "swap not offered": (swap_not_offered, "event 2: expected place, found swap"),
    "pass in 2025": (event_set("swap", slice(0, 5), ["pass", 0, 2]), "expected swap or keep, found pass"),
    "other rack": (other_rack_shown, "expected the rack .*, found the rack RR"),
    "after the end": (after_the_end, "expected no event: the game is over, found place"),
    "scores": (key_set("scores", [[0] * 6] * 2), "scores: expected .*, found"),
    "ranks": (key_set("ranks", [2, 2]), r"ranks: expected \[[12], [12]\], found \[2, 2\]"),
    "end": (key_set("end", "unfinished"), 'end: expected "board full", found "unfinished"'),
    "future version": (key_set("version", 2), "version: expected 1, the one known here, found 2"),
    "other format": (key_set("format", "chess"), "format: expected 'genial-record', found \"chess\""),
    "unknown key": (key_set("mood", 1), "expected the keys .*, found 'mood'"),
    "missing key": (lambda record: record.pop("deal"), "expected the key 'deal', found none"),
    "unknown rule": (key_set("rules", {"seats": 2}), "rules: unknown rule 'seats'"),
    "bad rules": (key_set("rules", {"players": 4, "mode": "team"}), "rules: edition '2025' has no mode 'team'"),
    "agents": (key_set("agents", ["one"]), "agents: expected 2 names"),
    "seed": (key_set("seed", "x"), "seed: expected a whole number"),
    "events": (key_set("events", {}), "events: expected a list, found {}"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_named(name: str) -> None:
    """Among sound records, which are not disturbed."""
    change, said = FAULTS[name]
    broken = copy.deepcopy(SWAP_GAME)
    change(broken)
    sound = games(Rules(), 2, seed=3)
    found = list(verify([sound[0], broken, sound[1]]))
    assert found[0] is None
    assert found[2] is None
    assert found[1] is not None
    with pytest.raises(RecordError, match=said):
        replay(broken)
    assert re.search(said, found[1])


def test_solo_knows_no_swap() -> None:
    record = games(Rules(1, "2004", "solo"), 1)[0]
    record["events"][0] = ["keep", 0, 2]
    assert list(verify([record])) == ["event 0: expected place or draw in mode 'solo', found keep"]


# Files


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"format": ', r"games.jsonl:2: expected a JSON object, found something unreadable"),
        ("[1]", r"games.jsonl:2: expected a JSON object, found \[1\]"),
    ],
)
def test_unreadable_lines(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(to_line(SWAP_GAME) + text + "\n")
    with pytest.raises(RecordError, match=said):
        list(read_records(path))


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="expected UTF-8 text"):
        list(read_records(path))


def test_a_failure_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    write_records(path, [SWAP_GAME])
    before = path.read_text()

    def broken_off() -> None:
        with record_file(path) as write:
            write(SWAP_GAME)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_line_is_one_json_object() -> None:
    line = to_line(SWAP_GAME)
    assert line.count("\n") == 1
    assert parse_line(line) == json.loads(line) == SWAP_GAME
