"""The `genial` command as a user meets it: output, exit status, files."""

import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from genial_env import Rules, __version__, play
from genial_env.cli import main
from genial_env.records import read_records, truncate
from tests.conftest import needs_numba
from tests.paths import ROOT


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return subprocess.run(
        [sys.executable, "-m", "genial_env", *map(str, words)], capture_output=True, text=True, check=False, cwd=ROOT
    )


def genial(*words: object, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command in this process, as starting another takes longer than most commands; check its status. An error
    is one line and no traceback.
    """
    done = here(*words)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    if status == 2:
        assert done.stdout == ""
        assert len(done.stderr.strip().splitlines()) == 1
    return done


def here(*words: object, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in this process, as from the folder that holds the package; what it said, and its status.

    Args:
        words: of the command line.
        typed: what it reads.
    """
    out, err, code = StringIO(), StringIO(), None
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(ROOT)
        patch.setattr(sys, "argv", ["genial", *map(str, words)])
        patch.setattr(sys, "stdin", StringIO(typed))
        patch.setattr(sys, "path", [*sys.path])  # the command adds the folder
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int), code
    return subprocess.CompletedProcess(["genial", *map(str, words)], code, out.getvalue(), err.getvalue())


def mistake(words: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Run the command in this process, which makes a mistake; its one line."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["genial", *map(str, words)])
    monkeypatch.setattr(sys, "path", [*sys.path])  # the command adds the folder
    with pytest.raises(SystemExit) as ended:
        main()
    found = capsys.readouterr()
    assert (ended.value.code, found.out) == (2, "")
    assert len(found.err.strip().splitlines()) == 1
    return found.err


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    genial("simulate", "--agents", "greedy,random", "--games", 12, "--seed", 3, "--out", path)
    return path


def test_simulate_prints_a_table(played: Path) -> None:
    done = genial("simulate", "--agents", "greedy,random", "--games", 40)
    assert done.stderr == ""  # no progress bar where nobody looks
    for words in ("40 games", "mean lowest", "mean sorted markers", "rank 1", "greedy", "random", "100.0%"):
        assert words in done.stdout


def test_records_do_not_depend_on_the_batch(played: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    genial("simulate", "--agents", "greedy,random", "--games", 12, "--seed", 3, "--batch", 5, "--out", other)
    assert other.read_bytes() == played.read_bytes()
    assert len(list(read_records(other))) == 12


@pytest.mark.parametrize(
    "words",
    [
        ["--players", "4", "--edition", "2009", "--mode", "team", "--agents", "greedy,random,greedy,random"],
        ["--players", "1", "--edition", "2004", "--mode", "solo", "--agents", "greedy"],
        ["--side", "4", "--colors", "3", "--rack", "3", "--tile-sets", "2"],
        ["--one-bonus-a-tile"],
    ],
)
def test_modes_and_variants(words: list[str], tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    genial("simulate", *words, "--games", 5, "--out", path)
    assert genial("verify", path).stdout == f"{path}: 5 games, all replay\n"


def test_verify(played: Path, tmp_path: Path) -> None:
    assert genial("verify", played).stdout == f"{played}: 12 games, all replay\n"
    lines = played.read_text().splitlines()
    wrong = json.loads(lines[1])
    wrong["ranks"] = [2, 1]
    broken = tmp_path / "broken.jsonl"
    broken.write_text("\n".join([lines[0], json.dumps(wrong), lines[2][:100], lines[3]]) + "\n")
    out = genial("verify", played, broken, status=1).stdout.splitlines()
    assert out[0] == f"{played}: 12 games, all replay"
    assert out[1] == f"{broken}:2: ranks: expected [1, 2], found [2, 1]"
    assert out[2].startswith(f"{broken}:3: expected JSON, found something unreadable")
    assert out[3] == f"{broken}: 2 of 4 games are wrong"


def test_verify_goes_on_after_a_file_that_cannot_be_read(played: Path, tmp_path: Path) -> None:
    noise = tmp_path / "noise"
    noise.write_bytes(b"\xff\xfe\x00")
    done = run("verify", tmp_path / "nowhere", noise, played)
    assert done.returncode == 2
    assert done.stdout == f"{played}: 12 games, all replay\n"
    assert done.stderr.splitlines() == [
        f"genial: {tmp_path / 'nowhere'}: No such file or directory",
        f"genial: {noise}:1: expected UTF-8 text, found invalid start byte at byte 0",
    ]


@pytest.mark.parametrize("text", ["", "\n \n"])
@pytest.mark.parametrize(
    "words",
    [
        ["verify", "FILE"],
        ["export", "FILE", "--to", "TABLE.csv"],
        ["show", "FILE"],
        ["draw", "FILE", "TABLE.svg"],
        ["review", "FILE"],
    ],
    ids=lambda words: words[0],
)
def test_a_file_without_games_is_a_mistake(
    words: list[str], text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text(text)
    words = [word.replace("FILE", str(path)).replace("TABLE", str(tmp_path / "out")) for word in words]
    assert mistake([*words], monkeypatch, capsys) == f"genial: {path} holds no games\n"
    assert list(tmp_path.iterdir()) == [path]


def test_solo_has_no_ranks() -> None:
    out = genial("simulate", "--players", 1, "--edition", 2004, "--mode", "solo", "--agents", "random").stdout
    assert "mean lowest" in out
    assert "rank" not in out


def test_show_needs_only_the_one_game_to_be_right(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("{\n" + played.read_text())
    assert "game 2 of" in genial("show", path, "--game", 2).stdout
    assert f"{path}:1: expected JSON, found something unreadable" in genial("show", path, status=2).stderr


def test_show(played: Path) -> None:
    out = genial("show", played, "--game", 2, "--event", 3).stdout
    assert "game 2 of" in out
    assert "seat 0 greedy, seat 1 random" in out
    assert "after event 3 of" in out
    assert "lays" in out
    assert "\x1b[" not in out
    assert "after event" in genial("show", played).stdout
    assert "after event 0 of" in genial("show", played, "--event", 0).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simulate", "--agents", "random,gredy"], "unknown agent 'gredy': the agents are random, greedy"),
        (["simulate", "--agents", "random"], "2 seats need 2 policies, not 1"),
        (["simulate", "--players", "1"], "mode 'individual' is for 2, 3 or 4 players, not 1: for 1 take mode 'solo'"),
        (["simulate", "--edition", "1999"], "unknown edition '1999'"),
        (["simulate", "--games", "0"], "games must be 1 to 1000000000000, not 0"),
        (["simulate", "--seed", "-1"], "seed must be 0 to 18446744073709551615, not -1"),
        (["verify", "nowhere.jsonl"], "nowhere.jsonl: No such file or directory"),
        (["show", "nowhere.jsonl"], "nowhere.jsonl: No such file or directory"),
        (["verify", "."], "Is a directory"),
        (["simulate", "--out", "."], "Not a file that can be replaced"),
        (["simulate", "--out", "no/such/folder.jsonl"], "no/such: No such folder"),
        (["bench", "--backend", "rust"], "unknown backend 'rust': the backends are numpy, numba"),
        (["simulate", "--threads", "2"], "'numpy' works in one thread, not 2"),
        (["bench", "--seconds", "0"], "seconds must be above 0"),
        (["bench", "--seconds", "nan"], "seconds must be above 0"),
    ],
)
def test_wrong_words(
    words: list[object], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in mistake(words, monkeypatch, capsys)


def test_a_wrong_word_from_a_shell() -> None:
    assert "unknown edition '1999'" in genial("simulate", "--edition", "1999", status=2).stderr


def test_nothing_is_left_half_written(tmp_path: Path) -> None:
    out = tmp_path / "games.jsonl"
    genial("simulate", "--agents", "random,gredy", "--out", out, status=2)
    genial("simulate", "--out", tmp_path / "no" / "such" / "folder.jsonl", status=2)
    assert list(tmp_path.iterdir()) == []


def test_show_says_what_there_is(played: Path) -> None:
    assert "holds 12 games: game must be 1 to 12, not 13" in genial("show", played, "--game", 13, status=2).stderr
    assert "event must be 0 to" in genial("show", played, "--event", 999, status=2).stderr
    assert "game 1: decision must be 1 to " in genial("show", played, "--decision", 0, status=2).stderr
    both = genial("show", played, "--decision", 1, "--event", 0, status=2)
    assert "by --event or by --decision, not by both" in both.stderr


@pytest.mark.parametrize(("suffix", "magic"), [(".svg", b"<svg"), (".png", b"\x89PNG"), (".gif", b"GIF8")])
def test_draw(played: Path, tmp_path: Path, suffix: str, magic: bytes) -> None:
    picture = tmp_path / f"picture{suffix}"
    picture.write_bytes(b"an old one")
    words = ["--game", 2, "--decision", 4, "--seat", 0, "--width", 300]
    assert f"{picture.stat().st_size:,} bytes" not in genial("draw", played, picture, *words).stdout
    assert picture.read_bytes().startswith(magic)
    assert list(tmp_path.iterdir()) == [picture]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["picture.jpg"], "the picture's name must end in .svg, .png, .gif, not 'picture.jpg'"),
        (["picture.svg", "--width", 0], "width must be 1 to 8192, not 0"),
        (["picture.svg", "--seat", 2], "seat must be 0 to 1, not 2"),
        (["picture.svg", "--event", 999], "event must be 0 to"),
        (["no/such/picture.svg"], "No such folder"),
        (["picture.png", "--width", 100_000], "width must be 1 to 8192, not 100000"),
        (["picture.gif", "--width", 10_000], "width must be 1 to 2048, not 10000"),
        (["picture.gif", "--seconds", 0], "seconds must be 0.01 to 150, not 0"),
        (["picture.gif", "--seconds", "1e300"], "seconds must be 0.01 to 150, not 1e+300"),
    ],
)
def test_what_cannot_be_drawn(
    words: list[object],
    said: str,
    played: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    picture = tmp_path / str(words[0])
    assert said in mistake(["draw", played, picture, *words[1:]], monkeypatch, capsys)
    assert not picture.exists()


def test_a_faulty_game_is_not_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text("{}\n")
    said = mistake(["draw", path, tmp_path / "picture.svg", "--seat", 0], monkeypatch, capsys)
    assert f"{path}: game 1: " in said


def test_review(played: Path) -> None:
    lines = genial("review", played, "--game", 2, "--judge", "fast").stdout.splitlines()
    assert lines[0].startswith(f"game 2 of {played}: seat 0 greedy, seat 1 random; players 2")
    assert any("losses of rank utility, +1 first to -1 last" in line for line in lines)
    worst = [line for line in lines if ": blunder, lost 0." in line or ": mistake, lost 0." in line]
    assert worst
    assert all(line.startswith("decision ") and "; better: " in line for line in worst)
    told = json.loads(genial("review", played, "--game", 2, "--json", "--judge", "fast").stdout)
    assert sum(decision["verdict"] in ("mistake", "blunder") for decision in told["decisions"]) == len(worst)
    everything = genial("review", played, "--game", 2, "--all", "--judge", "fast").stdout.splitlines()
    numbered = [line for line in everything if line.startswith("decision ")]
    assert len(numbered) == len(told["decisions"])
    for number, (line, decision) in enumerate(zip(numbered, told["decisions"], strict=True), 1):
        assert line.startswith(f"decision {number}: {decision['text']}")
    ninth = told["decisions"][8]
    shown = genial("show", played, "--game", 2, "--decision", 9).stdout.splitlines()
    assert shown[1].startswith(f"after event {ninth['event']} of ")
    assert shown[2] == f"before decision 9: {ninth['text']}"
    assert "agent 'greedy' cannot judge" in genial("review", played, "--judge", "greedy", status=2).stderr


def test_review_with_open_racks(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    (record,) = play(["greedy", "random"], Rules(2, side=4), games=1, record=True).records or []
    path.write_text(json.dumps(record))
    assert "judged by normal, by all racks" in genial("review", path, "--open-racks").stdout
    assert "judged by normal, by what the seat knew" in genial("review", path).stdout
    assert "judge fast has no rollouts" in genial("review", path, "--open-racks", "--judge", "fast", status=2).stderr
    path.write_text(json.dumps(truncate(record, 4)))
    assert "open racks are for finished games" in genial("review", path, "--open-racks", status=2).stderr


def test_review_says_what_is_wrong_with_a_record(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    record = json.loads(played.read_text().splitlines()[0])
    path.write_text(json.dumps(record | {"ranks": [1, 1]}))
    assert f"{path}: game 1: ranks: expected" in genial("review", path, status=2).stderr
    path.write_text(json.dumps(record | {"agents": ["\x1b[31m", "[red]"]}))
    out = genial("review", path, "--judge", "fast").stdout
    assert "seat 0 '\\x1b[31m'" in out
    assert out.count("[red]") == 3  # the game, the verdicts, and what was luck


def test_bench() -> None:
    lines = genial("bench", "--batch", 64, "--seconds", 0.02, "--json").stdout.splitlines()
    found = {line["play"]: line for line in map(json.loads, lines)}
    assert list(found) == [
        "random, full mask",
        "random, no mask",
        *(f"{name}, playouts" for name in ("random", "greedy", "concave", "denial")),
        "one game, kernel.apply",
    ]
    for measured in found.values():
        assert 20 * measured["games_per_s"] < measured["moves_per_s"] < 60 * measured["games_per_s"]
        assert (measured["players"], measured["backend"], measured["threads"]) == (2, "numpy", 1)
    assert found["random, no mask"]["batch"] == 64
    assert "moves/s" in genial("bench", "--batch", 64, "--seconds", 0.02).stdout


@needs_numba
def test_backends_change_nothing_but_the_speed() -> None:
    arguments = ["simulate", "--agents", "denial,greedy", "--games", 20]
    plain = genial(*arguments).stdout
    assert plain == genial(*arguments, "--backend", "numba", "--threads", 2).stdout
    line = json.loads(
        genial("bench", "--batch", 64, "--seconds", 0.02, "--json", "--backend", "numba").stdout.splitlines()[0]
    )
    assert line["backend"] == "numba"


def test_version() -> None:
    assert genial("--version").stdout == f"genial_env {__version__}\n"


def test_the_shell_completes_commands_and_options() -> None:
    program = "import sys; from genial_env.cli import main; sys.argv[0] = 'genial'; main()"
    for typed, number, found in (("genial si", 1, "simulate"), ("genial draw --wi", 2, "--width")):
        asked = {"_GENIAL_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(number)}
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | asked,
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        assert done.stdout.split() == [found]


def test_help() -> None:
    out = genial("--help").stdout
    for command in ("play", "simulate", "verify", "show", "review", "bench"):
        assert command in out
