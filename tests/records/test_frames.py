"""Tables of decisions: their values against the records, files in parts, errors, and what judges add."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genial_env import Rules, play
from genial_env.analysis.judged_decisions import DecisionsJudge
from genial_env.analysis.luck import measure_luck
from genial_env.analysis.review import review
from genial_env.core.actions import Place, decode
from genial_env.errors import RecordError
from genial_env.records import (
    Record,
    batches,
    frame_schema,
    frames,
    located_records,
    to_frame,
    truncate,
    write_frame,
    write_records,
)
from genial_env.records.columns import COLUMNS, FORMAT, VERSION
from tests.positions import every_rules

pytest.importorskip("pyarrow", reason="needs pyarrow: pip install -e '.[data]'")
import pyarrow as pa
from pyarrow import csv, parquet


def play_records(rules: Rules, games: int, seed: int = 0, agent: str = "greedy") -> list[Record]:
    records = play([agent, *["random"] * (rules.players - 1)], rules, games, seed, record=True).records
    assert records is not None
    return records


@every_rules
def test_rows_are_the_decisions_of_the_records(rules: Rules) -> None:
    records = play_records(rules, 3)
    rows = to_frame(records).to_pylist()
    expected = [
        (game, event) for game, record in enumerate(records) for event in record["events"] if event[0] != "draw"
    ]
    assert len(rows) == len(expected)
    for row, (game, (name, seat, legal, *rest)) in zip(rows, expected, strict=True):
        track = rules.track_of(seat)
        assert (row["game"], row["decision"], row["seat"], row["legal"]) == (game, name, seat, legal)
        assert row["agent"] == records[game]["agents"][seat]
        assert (row["rank"], row["end"]) == (records[game]["ranks"][track], records[game]["end"])
        assert [row[f"rank_{other}"] for other in range(rules.tracks)] == records[game]["ranks"]
        points = {letter: row[f"points_{letter}"] for letter in "RGBOYP" if row[f"points_{letter}"]}
        if name == "place":
            slot, tile, first, second, scored = rest
            assert (row["slot"], points) == (slot, scored)
            assert (row["tile"], [row["q1"], row["r1"]], [row["q2"], row["r2"]]) in (
                (tile, first, second),
                (tile[::-1], second, first),
            )
            assert row[f"rack_{slot}"] == row["tile"]
            action = decode(rules, row["action"])
            assert isinstance(action, Place)
            assert action.first == (row["q1"], row["r1"])
        else:
            assert (points, row["tile"], row["q1"]) == ({}, None, None)


@every_rules
def test_markers_follow_from_decision_to_decision(rules: Rules) -> None:
    records = play_records(rules, 2, seed=1)
    found: dict[tuple[int, int], list[int]] = {}
    turns: dict[tuple[int, int], int] = {}
    for row in to_frame(records).to_pylist():
        at = row["game"], rules.track_of(row["seat"])
        before = [row[f"before_{letter}"] for letter in "RGBOYP"]
        assert before == found.get(at, [0] * rules.colors + [None] * (6 - rules.colors))
        found[at] = [row[f"after_{letter}"] for letter in "RGBOYP"]
        seat = row["game"], row["seat"]
        turns[seat] = turns.get(seat, 0) + (row["phase"] == "place")
        assert row["turn"] == turns[seat]
        known = sum(row[name] or 0 for name in row if name.startswith("bag_"))
        assert 0 <= known <= 120 * rules.tile_sets
    for (game, track), markers in found.items():
        assert markers[: rules.colors] == records[game]["scores"][track]


def test_games_with_different_rules_in_one_table() -> None:
    records = [
        *play_records(Rules(), 2),
        *play_records(Rules(1, "2004", "solo"), 1),
        *play_records(Rules(4, "2009", "team"), 1),
        *play_records(Rules(side=4, colors=4, rack=3), 1),
    ]
    table = to_frame(iter(records))
    assert table.schema.equals(frame_schema())
    assert [row["agent"] for row in table.to_pylist() if row["ply"] == 0] == ["greedy"] * 5
    last = {row["game"]: row for row in table.to_pylist()}
    assert [last[game]["mode"] for game in range(5)] == ["individual", "individual", "solo", "team", "individual"]
    assert last[2]["result"] == min(records[2]["scores"][0])
    assert (last[4]["bag_PP"], last[4]["rack_3"], last[4]["rank_2"]) == (None, None, None)
    assert {last[0]["result"], last[1]["result"]} <= {-1.0, 0.0, 1.0}
    assert to_frame([]).schema.equals(frame_schema())


@pytest.mark.parametrize("suffix", frames.SUFFIXES)
def test_files_are_written_in_parts(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "GAMES_AT_ONCE", 2)
    records, path = play_records(Rules(), 5), tmp_path / f"games{suffix}"
    write_records(tmp_path / "games.jsonl", records)
    assert list(write_frame(path, located_records(tmp_path / "games.jsonl"))) == [2, 2, 1]
    whole = to_frame(records)
    if suffix == ".parquet":
        found = parquet.read_table(path)
        assert found.schema.metadata[b"format"] == FORMAT.encode()
        assert found.schema.metadata[b"version"] == str(VERSION).encode()
        assert found.to_pylist() == whole.to_pylist()
    else:
        found = csv.read_csv(path, convert_options=csv.ConvertOptions(strings_can_be_null=True))
        assert found.column_names == whole.column_names
        assert found["tile"].to_pylist() == whole["tile"].to_pylist()
        assert found["after_P"].to_pylist() == whole["after_P"].to_pylist()


def test_a_wrong_record_changes_no_file(tmp_path: Path) -> None:
    records, path = play_records(Rules(), 3), tmp_path / "games.parquet"
    records[1]["scores"][0][0] += 1
    write_records(tmp_path / "games.jsonl", records)
    path.write_text("before")
    with pytest.raises(RecordError, match=r"games\.jsonl:2: scores: expected .*, found"):
        list(write_frame(path, located_records(tmp_path / "games.jsonl")))
    assert path.read_text() == "before"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["games.jsonl", "games.parquet"]
    with pytest.raises(RecordError, match="game 1: scores"):
        to_frame(records)
    with pytest.raises(ValueError, match=r"must end in \.parquet or \.csv, not 'games.xlsx'"):
        frames.check_format("games.xlsx")


def test_unfinished_games_have_no_result() -> None:
    record = truncate(play_records(Rules(), 1)[0], 6)
    table = to_frame([record])
    assert set(table["end"].to_pylist()) == {"unfinished"}
    assert set(table["result"].to_pylist()) == {None}


@pytest.mark.parametrize("judge", [None, DecisionsJudge("fast")], ids=["plain", "judged"])
def test_a_game_without_decisions_has_no_rows(judge: DecisionsJudge | None) -> None:
    full = play_records(Rules(), 1)[0]
    empty = truncate(full, 0)
    table = to_frame([empty], judge)
    assert len(table) == 0
    assert table.schema.equals(frame_schema())
    mixed, alone = to_frame([empty, full, empty], judge), to_frame([full], judge)
    assert set(mixed["game"].to_pylist()) == {1}
    assert mixed.drop_columns("game").to_pylist() == alone.drop_columns("game").to_pylist()


@pytest.mark.parametrize("suffix", frames.SUFFIXES)
@pytest.mark.parametrize(("at_once", "counts"), [(1, [1, 1, 1, 1]), (2, [2, 2]), (9, [4])])
def test_games_without_decisions_are_counted(
    suffix: str, at_once: int, counts: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "GAMES_AT_ONCE", at_once)
    full, path = play_records(Rules(), 1)[0], tmp_path / f"games{suffix}"
    empty = truncate(full, 0)
    assert list(write_frame(path, [empty, full, empty, empty])) == counts
    found = parquet.read_table(path) if suffix == ".parquet" else csv.read_csv(path)
    assert set(found["game"].to_pylist()) == {1}
    assert len(found) == len(to_frame([full]))
    assert list(write_frame(path, [empty])) == [1]
    assert path.exists()


def test_judged_tables_agree_with_reviews() -> None:
    record = play_records(Rules(), 1)[0]
    table = to_frame([record], DecisionsJudge("fast"))
    found = review(record, "fast")
    assert table["loss"].to_pylist() == pytest.approx([each.loss for each in found.decisions], abs=1e-5)
    luck = measure_luck(record)
    assert [row["luck_game"] for row in table.to_pylist()] == pytest.approx(
        [luck.luck[row["seat"]] for row in table.to_pylist()], abs=1e-5
    )
    of_seat = {each.event: each.luck[each.seat] for each in luck.draws if each.event >= 0}
    assert sum(filter(None, table["luck"].to_pylist())) == pytest.approx(sum(of_seat.values()), abs=1e-4)
    small = to_frame(play_records(Rules(side=4, colors=4, rack=3), 1))
    assert set(small["loss"].to_pylist()) == set(small["luck_game"].to_pylist()) == {None}


def test_pandas_and_polars_read_tables() -> None:
    pytest.importorskip("pandas", reason="needs pandas: pip install pandas")
    table = to_frame(play_records(Rules(), 2))
    frame: Any = table.to_pandas()
    assert frame.groupby("game").size().sum() == len(table)
    assert str(frame["tile"].dtype) == "category"
    if importlib.util.find_spec("polars"):
        import polars

        assert polars.from_arrow(table).height == len(table)


def test_every_column_has_its_type_and_a_meaning() -> None:
    schema = frame_schema()
    assert schema.names == [name for column in COLUMNS for name in column.names]
    assert all(column.meaning for column in COLUMNS)
    assert schema.field("seed").type == pa.uint64()
    assert np.uint64(2**64 - 1) == to_frame([{**play_records(Rules(), 1)[0], "seed": 2**64 - 1}])["seed"][0].as_py()


def test_the_command(tmp_path: Path) -> None:
    write_records(tmp_path / "games.jsonl", play_records(Rules(), 2))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "genial_env", "export", *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    done = run("games.jsonl", "--to", "games.parquet")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("2 games in games.parquet: ")
    assert len(parquet.read_table(tmp_path / "games.parquet")) > 60
    for words, message in (
        (["games.jsonl", "--to", "games.txt"], "must end in .parquet or .csv"),
        (["none.jsonl", "--to", "games.csv"], "none.jsonl"),
        (["games.jsonl", "--to", "games.csv", "--judge", "nobody"], "nobody"),
    ):
        refused = run(*words)
        assert refused.returncode == 2
        assert message in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
    assert not (tmp_path / "games.csv").exists()
