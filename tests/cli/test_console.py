"""The commands write on any encoding and terminal, and say in one line what cannot be written or is out of range."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from genial_env.arena.report import format_interval
from genial_env.cli import console, main
from genial_env.policies.uniform import RandomPolicy
from tests.paths import PUZZLES, ROOT
from tests.positions import every

COMMANDS = ("simulate", "verify", "show", "draw", "bench", "tournament", "match", "rate", "puzzles", "review", "play")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    status, _, said = run(["simulate", "--agents", "greedy,random", "--games", 2, "--out", path])
    assert (status, said) == (0, "")
    return path


class Terminal(io.TextIOWrapper):
    """A stream that takes itself for a terminal."""

    def isatty(self) -> bool:
        return True


def run(
    words: Sequence[object],
    encoding: str = "utf-8",
    kind: type[io.TextIOWrapper] = io.TextIOWrapper,
    **environment: str,
) -> tuple[int, str, str]:
    """Run the command in this process, its streams in an encoding; its status and what it wrote."""
    with pytest.MonkeyPatch.context() as patch:
        streams = {name: kind(io.BytesIO(), encoding=encoding) for name in ("stdout", "stderr")}
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"moves\nquit\n"), encoding=encoding))
        patch.setattr(sys, "argv", ["genial", *map(str, words)])
        patch.setattr(sys, "path", [*sys.path])
        patch.chdir(ROOT)
        for name, value in environment.items():
            patch.setenv(name, value)
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        for stream in streams.values():
            stream.flush()
        out, said = (stream.buffer.getvalue().decode(encoding) for stream in streams.values())  # type: ignore[attr-defined]
    return ended.value.code, out, said


@every("encoding", ["ascii", "cp932", "cp1252", "utf-8"], ["ascii"])
def test_every_command_writes_in_every_encoding(encoding: str, played: Path, tmp_path: Path) -> None:
    some = tmp_path / "puzzles.jsonl"
    with PUZZLES.open(encoding="utf-8") as puzzles:
        some.write_text(next(puzzles), encoding="utf-8")
    calls: list[list[object]] = [
        ["--help"],
        *([command, "--help"] for command in (*COMMANDS, "serve")),
        ["simulate", "--games", 2],
        ["verify", played],
        ["show", played],
        ["draw", played, tmp_path / "picture.svg"],
        ["bench", "--seconds", 0.01, "--batch", 2],
        ["tournament", tmp_path / "t", "--agents", "random,greedy", "--groups", 1, "--no-pictures"],
        ["match", "random", "tests.cli.test_console:named(name='é[x]')", "--pairs", 1, "--fixed"],
        ["puzzles", "greedy", "--file", some],
        ["review", played, "--judge", "fast"],
        ["play", "--seats", "person,greedy", "--side", 3, "--seed", 1],
    ]
    for words in calls:
        status, out, said = run(words, encoding)
        assert (status, said) == (0, ""), words
        assert out, words


@pytest.mark.parametrize(("encoding", "written"), [("utf-8", "0, ¼, ½, ¾, 1"), ("ascii", "0, 1/4, 1/2, 3/4, 1")])
def test_what_an_encoding_lacks_is_in_plain_letters(encoding: str, written: str) -> None:
    _, out, _ = run(["match", "greedy", "random", "--pairs", 1, "--fixed"], encoding)
    assert written in out
    assert len({len(line) for line in out.splitlines() if line[:1] in "|+│┃┏├└┡"}) == 1  # the frame stays straight
    assert ("Génial!" if encoding == "utf-8" else "Genial!") in run(["--help"], encoding)[1]


def test_plain_letters() -> None:
    plain = "–é…½日─│┌".encode("ascii", "genial_env.plain")
    assert plain == rb"-e~1/2\u65e5-|+"
    assert "Génial ½ ·".encode("cp1252", "genial_env.plain") == "Génial ½ ·".encode("cp1252")
    assert "·".encode("cp932", "genial_env.plain") == b"."


def named(*, name: str) -> RandomPolicy:
    """An agent that calls itself something."""
    policy = RandomPolicy()
    policy.name = name
    return policy


@pytest.mark.parametrize(("name", "shown"), [("[x] [/x] [red]z", "[x] [/x] [red]z"), ("a\x1b[2Jb", r"a\x1b[2Jb")])
def test_names_are_printed_as_they_are(name: str, shown: str) -> None:
    agent = f"tests.cli.test_console:named(name={name!r})"
    for words in (["simulate", "--agents", f"{agent},greedy"], ["match", agent, "greedy", "--pairs", 1, "--fixed"]):
        status, out, _ = run([*words, *(["--games", 1] if words[0] == "simulate" else [])])
        assert status == 0
        assert shown in out or shown.replace("\\", "\\\\") in out


def test_long_words_are_not_cut() -> None:
    table = console.make_table(["agent", "value"])
    name = "search(playouts=300)" * 9
    console.add_row(table, name, "1")
    file = io.StringIO()
    console.Console(file=file, width=60).print(table)
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    assert "".join(line.split("│")[1].strip() for line in lines if line.startswith("│")) == name


@pytest.mark.parametrize("variable", ["NO_COLOR", "TERM"])
def test_no_color(variable: str, played: Path) -> None:
    colored = {"TERM": "xterm", "NO_COLOR": "", "COLUMNS": "60"}
    assert "\x1b[" in run(["show", played], kind=Terminal, **colored)[1]
    for words in (["show", played], ["simulate", "--games", 1], ["match", "random", "greedy", "--pairs", 1, "--fixed"]):
        status, out, _ = run(words, kind=Terminal, **colored | {variable: "dumb"})
        assert status == 0
        assert ";48;2;" not in out
        assert "\x1b[3" not in out


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_output_has_the_width_of_the_terminal(term: str, played: Path) -> None:
    def lines(words: list[object], columns: int) -> list[str]:
        out = run(words, kind=Terminal, TERM=term, NO_COLOR="1", COLUMNS=str(columns))[1]
        return re.sub(r"\x1b\[[\d;]*m", "", out).splitlines()

    words: list[object] = ["simulate", "--games", 1, "--players", 4, "--agents", "random,greedy,random,greedy"]
    wide = lines(words, 110)
    assert 80 < max(map(len, wide)) <= 110
    assert any("mean sorted markers" in line and "rank 4" in line for line in wide)
    narrow = lines(words, 40)
    assert max(map(len, narrow)) <= 40
    assert narrow.count("agent: greedy") == 2
    assert sum(line.startswith("mean sorted markers: ") for line in narrow) == 4
    shown = lines(["show", played], 70)
    assert max(map(len, shown[: shown.index("")])) <= 70
    assert " ".join(shown[: shown.index("")]) == " ".join(run(["show", played])[1].split("\n\n")[0].splitlines())


@pytest.mark.parametrize("words", [["simulate", "--games", 2], ["--help"], ["verify", "{played}"]], ids=lambda w: w[0])
def test_a_full_disk_is_one_line(words: list[object], played: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "w") as full:
        done = shell(words, played, full)
    assert done.returncode == 1
    assert done.stderr == "genial: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("words", [["simulate", "--games", 2], ["show", "{played}"]], ids=lambda w: w[0])
def test_a_closed_pipe_is_quiet(words: list[object], played: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as closed:
        done = shell(words, played, closed)
    assert (done.returncode, done.stderr) == (1, "")


def shell(words: list[object], played: Path, stdout: io.TextIOWrapper) -> subprocess.CompletedProcess[str]:
    filled = [str(word).format(played=played) for word in words]
    command = [sys.executable, "-m", "genial_env", *filled]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, cwd=ROOT)


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", "--games", 2, "--out"],
        ["match", "greedy", "random", "--pairs", 1_000_000, "--fixed", "--out"],
        ["draw", "{played}"],
    ],
    ids=lambda words: words[0],
)
def test_where_nothing_can_be_written_nothing_is_played(words: list[object], played: Path, tmp_path: Path) -> None:
    path = tmp_path / "no" / "file.svg"
    status, out, said = run([*(str(word).format(played=played) for word in words), path])
    assert (status, out) == (2, "")
    assert said == f"genial: {path.parent}: No such folder\n"


def test_missing_extras_are_told_before_the_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, out, said = run(["tournament", tmp_path / "t", "--agents", "random,greedy", "--groups", 1])
    assert (status, out, said.count("\n")) == (2, "", 1)
    assert "matplotlib" in said
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("library", "words", "extra"),
    [
        ("choix", ["tournament", "{out}", "--agents", "random,greedy", "--groups", 1, "--no-pictures"], "arena"),
        ("choix", ["rate", "random", "--against", "greedy", "--seconds", 1], "arena"),
        ("matplotlib", ["rate", "random", "--against", "greedy", "--seconds", 1, "--out", "{out}"], "arena"),
        ("joblib", ["tournament", "{out}", "--agents", "random,greedy", "--groups", 1, "--workers", 2], "arena"),
        ("joblib", ["match", "random", "greedy", "--pairs", 1, "--workers", 2], "arena"),
        ("ray", ["match", "random", "greedy", "--pairs", 1, "--workers", 2, "--ray"], "rllib"),
        ("resvg_py", ["draw", "{played}", "{out}.png"], "render"),
        ("PIL", ["draw", "{played}", "{out}.gif"], "render"),
    ],
)
def test_every_command_says_first_which_library_is_missing(
    library: str, words: list[object], extra: str, played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    some = tmp_path / "puzzles.jsonl"
    with PUZZLES.open(encoding="utf-8") as puzzles:
        some.write_text(next(puzzles), encoding="utf-8")
    words = [str(word).format(played=played, out=tmp_path / "out") for word in words]
    status, out, said = run([*words, *(["--file", some] if words[0] == "puzzles" else [])])
    assert (status, out, said.count("\n")) == (2, "", 1)
    assert re.search(rf"pip install .*\[{extra}\]", said)
    assert list(tmp_path.iterdir()) == [some]


SIZES = ["--side", "--colors", "--rack", "--tile-sets"]
NUMBERS = {
    "simulate": ["--players", "--games", "--seed", "--batch", "--threads", *SIZES],
    "show {played}": ["--game", "--event", "--decision"],
    "draw {played} {out}.gif": ["--game", "--event", "--decision", "--seat", "--width", "--seconds"],
    "review {played}": ["--game"],
    "bench": ["--players", "--batch", "--seconds", "--threads"],
    "tournament {out} --agents random,greedy": ["--players", "--groups", "--seed", "--workers", *SIZES],
    "match random greedy": ["--alpha", "--beta", "--pairs", "--seed", "--workers", *SIZES],
    "rate random": ["--players", "--seconds", "--seed", "--workers", *SIZES],
    "puzzles greedy": ["--seed"],
    "play --seats person,greedy": ["--players", "--seed", *SIZES],
    "serve --data {out}": ["--port"],
}


@pytest.mark.parametrize("number", [-1, 10**30, "1e400", "nan"], ids=str)
@pytest.mark.parametrize("command", NUMBERS)
def test_numbers_out_of_range(command: str, number: int | str, played: Path, tmp_path: Path) -> None:
    for option in NUMBERS[command]:
        words = command.format(played=played, out=tmp_path / "out").split()
        status, out, said = run([*words, option, number])
        assert (status, out) == (2, ""), option
        assert said, option
        assert "Traceback" not in said


def test_intervals_in_words() -> None:
    assert format_interval(-12.4, 40) == "-12 to +40"
    assert format_interval(140, float("inf")) == format_interval(140, None) == "at least +140"
    assert format_interval(None, -3.25, 1) == "at most -3.2"
    assert format_interval(None, None) == "anything"


def test_a_match_without_a_limit_is_json(tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    status, out, _ = run(["match", "greedy", "random", "--pairs", 2, "--fixed", "--out", path])
    assert status == 0
    assert "(at least -" in out

    def no_constants(name: str) -> None:
        raise ValueError(name)

    assert json.loads(path.read_text(), parse_constant=no_constants)["estimate"]["elo_high"] is None
