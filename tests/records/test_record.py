"""Game records: round trip, replay, and every way in which one can be wrong."""

import copy
import json
import os
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genial_env import RecordError, Rules, play
from genial_env.core import kernel
from genial_env.core.chance import game_seeds
from genial_env.core.views import View, view
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.uniform import RandomPolicy
from genial_env.records import Recorder, read_records, record_writer, replay, to_json_line, verify, write_records
from tests.conftest import posix
from tests.positions import ONE_BONUS, VARIANTS, every_rules

pytestmark = pytest.mark.usefixtures("each_backend")

Record = dict[str, Any]


def games(rules: Rules, count: int = 5, seed: int = 0) -> list[Record]:
    return play((["greedy", "random"] * 2)[: rules.players], rules, count, seed, record=True).records or []


@every_rules
def test_what_is_played_replays(rules: Rules, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    records = games(rules)
    write_records(path, records)
    again = list(read_records(path))
    assert again == records
    assert "".join(map(to_json_line, again)) == path.read_text()
    assert list(verify(again)) == [None] * len(records)


def test_replay_stands_where_the_game_ended() -> None:
    rules = Rules(3, "2009")
    results = play(["greedy", "random", "greedy"], rules, 3, record=True)
    for row, record in enumerate(results.records or []):
        state = replay(record)
        assert (state.scores[0] == results.scores[row]).all()
        assert state.over[0]


def test_records_are_copies() -> None:
    """Events are converted once; whoever changes a record does not change the next one, nor that of a copy."""
    recorder = Recorder(kernel.deal(Rules(), game_seeds(1, 1)), ["a", "b"])
    recorder.apply(np.array([kernel.legal(recorder.state)[0].argmax()]))
    first = recorder.records()[0]
    before, other = copy.deepcopy(first), recorder.copy()
    for event in first["events"]:
        for value in event:
            if isinstance(value, list | dict):
                value.clear()
        event.clear()
    assert recorder.records()[0] == other.records()[0] == before
    other.apply(np.array([kernel.legal(other.state)[0].argmax()]))
    assert len(other.records()[0]["events"]) > len(before["events"])
    assert recorder.records()[0] == before


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


def test_an_option_stands_in_the_record_only_where_it_is_chosen() -> None:
    assert all("one_bonus_a_tile" not in to_json_line(record) for record in games(Rules(), 3))
    chosen = games(Rules(one_bonus_a_tile=True), 3)
    assert all(record["rules"]["one_bonus_a_tile"] is True for record in chosen)
    assert replay(chosen[0]).rules == Rules(one_bonus_a_tile=True)
    printed = games(Rules(), 3)
    for record in printed:
        record["rules"]["one_bonus_a_tile"] = False
    assert list(verify(printed)) == [None] * 3


def test_a_game_by_another_number_of_bonuses_does_not_replay() -> None:
    records = play(["greedy"] * 4, ONE_BONUS, 30, record=True).records or []
    for record in records:
        del record["rules"]["one_bonus_a_tile"]
    assert {fault is None for fault in verify(records)} == {True, False}


# Faults


def has_swap_and_chain(record: Record) -> bool:
    names = [event[0] for event in record["events"]]
    return "swap" in names and ("place", "place") in pairwise(names)


SWAP_GAME = next(filter(has_swap_and_chain, games(Rules(), 60)))
"""A game in which a rack is swapped and a bonus placement made."""


def first(record: Record, name: str) -> int:
    return next(number for number, event in enumerate(record["events"]) if event[0] == name)


def event_set(name: str, entry: int, value: Any) -> Callable[[Record], None]:
    def change(record: Record) -> None:
        record["events"][first(record, name)][entry] = value

    return change


def key_set(key: str, value: Any) -> Callable[[Record], None]:
    return lambda record: record.__setitem__(key, value)


def rules_set(**words: Any) -> Callable[[Record], None]:
    return lambda record: record["rules"].update(words)


def floats(record: Record) -> None:
    record["scores"] = [[float(marker) for marker in track] for track in record["scores"]]


def broken_off_in_a_turn(record: Record) -> None:
    del record["events"][1:]


def laid_on_another(record: Record) -> None:
    record["events"][2][5:7] = record["events"][0][5:7]


def laid_in_the_middle(record: Record) -> None:
    record["events"][0][5:7] = [[0, 0], [1, 0]]


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


def chain_of(record: Record) -> int:
    """The number of a placement after which a bonus placement follows."""
    pairs = pairwise(record["events"])
    return next(number for number, (one, other) in enumerate(pairs) if one[0] == other[0] == "place")


def pass_a_bonus(record: Record) -> None:
    bonus = chain_of(record) + 1
    record["events"][bonus] = ["pass", *record["events"][bonus][1:3]]


def draw_in_a_chain(record: Record) -> None:
    first_of_chain = chain_of(record)
    record["events"].insert(first_of_chain + 1, ["draw", record["events"][first_of_chain][1], ["RG"]])


def other_rack_shown(record: Record) -> None:
    record["events"][first(record, "swap")][3] = ["RR"]


def after_the_end(record: Record) -> None:
    record["events"].append(record["events"][0])


def other_seat_draws(record: Record) -> None:
    record["events"][1][1] = 1


FAULTS: dict[str, tuple[Callable[[Record], None], str]] = {
    "seat": (event_set("place", 1, 1), "event 0: expected seat 0, found seat 1"),
    "legal": (event_set("place", 2, 7), "event 0: expected 648 legal actions, found 7 legal actions"),
    "slot": (other_slot, "event 0: expected [A-Z]{2} in slot [0-9], found [A-Z]{2} in slot"),
    "slot out of range": (event_set("place", 3, 6), "event 0: slot: expected a whole number from 0 to 5, found 6"),
    "tile": (event_set("place", 4, "RX"), 'event 0: expected a tile, two of the letters RGBOYP, found "RX"'),
    "cell off the board": (
        event_set("place", 5, [9, 9]),
        r"event 0: expected two neighbouring cells.*\(9, 9\) is not on",
    ),
    "cells apart": (event_set("place", 6, [0, 0]), "event 0: expected two neighbouring cells"),
    "no cell": (event_set("place", 6, "middle"), r"event 0: expected a cell \[q, r\], found \"middle\""),
    "points": (other_points, 'event 0: expected points .*, found {"R": 9}'),
    "no points": (event_set("place", 7, {"R": 0}), "event 0: expected points above 0 by the letters RGBOYP"),
    "true for 1": (event_set("place", 1, False), "event 0: expected a whole number from 0 to 2147483647, found false"),
    "too short": (event_set("draw", slice(2, 3), []), 'event 1: expected 3 entries in "draw", found 2'),
    "unknown event": (event_set("place", 0, "jump"), 'event 0: expected place, pass, swap, keep or draw, found "jump"'),
    "missing draw": (no_draw, "event 1: expected a draw of 1 by seat 0, found none"),
    "second draw": (draw_twice, "event 2: expected a decision, found a second draw"),
    "long draw": (draw_more, "event 1: expected a draw of 1 by seat 0, found a draw of 2"),
    "other seat draws": (other_seat_draws, "event 1: expected seat 0, found seat 1"),
    "broken off before a draw": (broken_off_in_a_turn, "event 1: expected a draw of 1 by seat 0, found none"),
    "draw in a chain": (draw_in_a_chain, "event [0-9]+: expected no draw here, found a draw of 1"),
    "covered cells": (
        laid_on_another,
        r"event 2: expected a legal placement, found one on \[.*\] \[.*\]: cell \(.*\) is not free",
    ),
    "first-turn rule": (
        laid_in_the_middle,
        f"event 0: expected a legal placement, found one on .*: {kernel.FIRST_TURN_RULE}",
    ),
    "tile used up": (draw_what_is_gone, "event 1: expected at most 0 RR, as many as the bag has left, found 1 drawn"),
    "impossible deal": (too_many_of_a_kind, "deal: expected at most 5 RR, found"),
    "short deal": (key_set("deal", [["RR"]]), "deal: expected a list of 2"),
    "short rack": (lambda record: record["deal"][0].pop(), r"deal\[0\]: expected a list of 6"),
    "swap not offered": (swap_not_offered, "event 2: expected place, found swap"),
    "pass in 2025": (pass_a_bonus, "event [0-9]+: expected place, found pass"),
    "pass for a swap": (event_set("swap", slice(0, 5), ["pass", 0, 2]), "expected swap or keep, found pass"),
    "other rack": (other_rack_shown, "expected the rack .*, found the rack RR"),
    "after the end": (after_the_end, "expected no event: the game is over, found place"),
    "scores": (key_set("scores", [[0] * 6] * 2), "scores: expected .*, found"),
    "ranks": (key_set("ranks", [2, 2]), r"ranks: expected \[[12], [12]\], found \[2, 2\]"),
    "floats": (floats, r"scores\[0\]\[0\]: expected a whole number from 0 to 18, found [0-9]+\.0"),
    "end": (key_set("end", "unfinished"), 'end: expected "board full", found "unfinished"'),
    "no such end": (key_set("end", "won"), 'end: expected "unfinished" or .*, found "won"'),
    "future version": (key_set("version", 2), "version: expected 1, the one known here, found 2"),
    "version as a float": (key_set("version", 1.0), r"version: expected 1, the one known here, found 1\.0"),
    "other format": (key_set("format", "chess"), 'format: expected "genial-record", found "chess"'),
    "unknown key": (key_set("mood", 1), 'expected the keys .*, found "mood"'),
    "missing key": (lambda record: record.pop("deal"), "expected the key 'deal', found none"),
    "unknown rule": (rules_set(seats=2), 'rules: expected the keys players, .*, found "seats"'),
    "missing rule": (lambda record: record["rules"].pop("mode"), "rules: expected the key 'mode', found none"),
    "rule of another type": (rules_set(players=True), "rules: players: expected a whole number from 0 up, found true"),
    "option of another type": (
        rules_set(one_bonus_a_tile=1),
        "rules: one_bonus_a_tile: expected true or false, found 1",
    ),
    "bad rules": (rules_set(mode="team"), "rules: expected rules .*edition '2025' has no mode 'team'.*, found {"),
    "agents": (key_set("agents", ["one"]), r'agents: expected a list of 2, found \["one"\]'),
    "agents of another type": (key_set("agents", ["one", 2]), r"agents\[1\]: expected text, found 2"),
    "seed": (key_set("seed", "x"), "seed: expected a whole number"),
    "seed too large": (key_set("seed", 2**64), "seed: expected a whole number from 0 to 18446744073709551615"),
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


def test_other_values_than_records_are_faults() -> None:
    found = list(verify([None, 3, [], "x"]))
    assert found == [f"expected a JSON object, found {value}" for value in ("null", "3", "[]", '"x"')]


def test_faults_do_not_depend_on_the_company() -> None:
    """A message is about the record alone, not about its place in a batch."""
    broken = copy.deepcopy(SWAP_GAME)
    laid_on_another(broken)
    alone, among = list(verify([broken])), list(verify([*games(Rules(), 3), broken]))
    assert alone == among[3:]


def test_a_part_replays_up_to_the_fault() -> None:
    broken = copy.deepcopy(SWAP_GAME)
    laid_on_another(broken)
    assert replay(broken, 2).decisions[0] == 1
    with pytest.raises(RecordError, match=r"event 2: expected a legal placement, found .* is not free"):
        replay(broken, 3)


class Modest(GreedyPolicy):
    """Declines whatever it may."""

    name = "modest"

    def __call__(self, view: View, random: np.ndarray) -> np.ndarray:
        return np.where(view.may_decline, view.tables.decline_action, super().__call__(view, random))


def test_passed_bonuses_and_kept_racks() -> None:
    records = play(["greedy", Modest()], Rules(2, "2009"), 20, record=True).records or []
    names = {event[0] for record in records for event in record["events"]}
    assert names == {"place", "draw", "swap", "keep", "pass"}
    assert not any(verify(records))


def test_more_games_than_one_batch_of_different_rules() -> None:
    mixed = [record for rules in (Rules(), Rules(3), VARIANTS[0]) for record in games(rules, 100)]
    mixed[150]["ranks"] = [3, 3, 3]
    found = list(verify(mixed))
    assert [number for number, fault in enumerate(found) if fault] == [150]


def test_solo_knows_no_swap() -> None:
    record = games(Rules(1, "2004", "solo"), 1)[0]
    record["events"][0] = ["keep", 0, 2]
    assert list(verify([record])) == ["event 0: expected place or draw in mode 'solo', found keep"]


# Files


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"format": ', r"games.jsonl:2: expected JSON, found something unreadable"),
        ("1" * 5000, r"games.jsonl:2: expected JSON, found something unreadable"),
        ("[" * 100_000, r"games.jsonl:2: expected JSON nested at most 64 deep"),
        ("[1]", r"games.jsonl:2: expected a JSON object, found list"),
        ("{}", r'games.jsonl:2: format: expected "genial-record", found null'),
        ('{"format": "genial-record", "version": 9}', r"games.jsonl:2: version: expected 1, .*, found 9"),
    ],
)
def test_unreadable_lines(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(to_json_line(SWAP_GAME) + text + "\n")
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
        with record_writer(path) as write:
            write(SWAP_GAME)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


def test_only_files_are_replaced(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Not a file that can be replaced"):
        write_records(tmp_path, [SWAP_GAME])


@posix
def test_pipes_are_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="Not a file that can be replaced"):
        write_records(pipe, [SWAP_GAME])
    assert pipe.is_fifo()


@posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link, file = tmp_path / "link.jsonl", tmp_path / "file.jsonl"
    link.symlink_to(file)
    write_records(link, [SWAP_GAME])
    assert link.is_symlink()
    assert list(read_records(file)) == [SWAP_GAME]


def test_records_are_written_as_they_come(tmp_path: Path) -> None:
    """An iterator is enough, and one that fails leaves the old file."""
    path = tmp_path / "games.jsonl"
    write_records(path, iter([SWAP_GAME]))

    def failing() -> Iterator[Record]:
        yield SWAP_GAME
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_records(path, failing())
    assert list(read_records(path)) == [SWAP_GAME]


def test_a_line_is_one_json_object() -> None:
    line = to_json_line(SWAP_GAME)
    assert line.count("\n") == 1
    assert json.loads(line) == SWAP_GAME
