"""Tables and pictures of reports, in the formats of papers."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from genial_env import Rules
from genial_env.arena import pictures, report
from genial_env.arena.store import Settings
from genial_env.arena.tables import TABLE_FILES, escape_latex
from genial_env.arena.tournament import run

AGENTS = ("random", "greedy", "concave(temperature=5)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tables") / "t"
    report.write(run(Settings(AGENTS, Rules(side=4, colors=4, rack=3), groups=4), out), pictures=False)
    return out


@pytest.fixture
def found(folder: Path) -> dict[str, Any]:
    return report.read_report(folder / report.RESULTS)


def test_csv(folder: Path, found: dict[str, Any]) -> None:
    order, ratings = report.best_first(found), found["ratings"]
    rows = list(csv.DictReader(io.StringIO((folder / "ranking.csv").read_text())))
    assert [row["agent"] for row in rows] == [AGENTS[agent] for agent in order]
    for row, agent in zip(rows, order, strict=True):
        low = ratings["rating"]["low"][agent]
        assert row["rating_low"] == ("" if low is None else str(low))
        assert float(row["utility"]) == ratings["utility"]["value"][agent]
        assert [float(row[f"marker_{rank}"]) for rank in range(1, 5)] == ratings["markers"][agent]
        assert int(row["games"]) == 16
    wins = {row["agent"]: row for row in csv.DictReader(io.StringIO((folder / "wins.csv").read_text()))}
    assert wins["random"]["random"] == ""
    assert float(wins["greedy"]["random"]) + float(wins["random"]["greedy"]) == pytest.approx(1)


def test_latex(folder: Path, found: dict[str, Any]) -> None:
    for name, columns in (("ranking.tex", 9), ("wins.tex", 4)):
        lines = (folder / name).read_text().splitlines()
        assert lines[1] == r"\begin{tabular}{l" + "r" * (columns - 1) + "}"
        rows = [line for line in lines if line.endswith(r"\\")]
        assert [row.count("&") for row in rows] == [columns - 1] * 4
        assert lines[2] == r"\toprule"
        assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]
    assert escape_latex(r"a_b:c(x='1%', y=\~^)") == (
        r"a\_b:c(x=\textquotesingle{}1\%\textquotesingle{}, y=\textbackslash{}\textasciitilde{}\textasciicircum{})"
    )
    found["corrected"] = {"unit": "rank utility", "mean": found["ratings"]["utility"], "explained": 0.5}
    text = TABLE_FILES["ranking.tex"](found)
    assert r"\begin{tabular}{l" + "r" * 10 + "}" in text
    assert "rank_utility_corrected_low" in TABLE_FILES["ranking.csv"](found).splitlines()[0]


def test_the_paragraph_says_how_to_make_the_games_again(folder: Path, found: dict[str, Any]) -> None:
    text = (folder / report.TABLES).read_text().partition("**Reproducibility.**")[2]
    session = found["sessions"][0]
    for words in (
        *(f"`{agent}`" for agent in AGENTS),
        "24 games",
        "4 deals with seed 0",
        "edition 2025",
        "side 4",
        f"Intervals: {found['intervals']}",
        session["commit"] or "commit unknown",
        f"genial_env {session['machine']['genial_env']}",
        f"choix {session['libraries']['choix']}",
        session["machine"]["cpu"],
    ):
        assert words in text


def test_pictures_in_several_formats(found: dict[str, Any], tmp_path: Path) -> None:
    once, again = tmp_path / "1", tmp_path / "2"
    for out in (once, again):
        out.mkdir()
        drawn = pictures.draw(found, out, ["pdf", "svg", "pdf"])
        assert [path.name for path in drawn] == [
            f"{name}.{kind}" for name in ("ratings", "wins", "lowest") for kind in ("pdf", "svg")
        ]
    for path in once.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes()
        assert path.read_bytes().startswith(b"%PDF" if path.suffix == ".pdf" else b"<?xml")
    for formats, said in ((["gif"], "pictures are png, svg, pdf, not 'gif'"), ([], "at least one format")):
        with pytest.raises(ValueError, match=said):
            pictures.draw(found, tmp_path, formats)
