"""People at the command line: whole games by a script, what is said to mistakes, and that nothing is lost."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from genial_env import Rules, play
from genial_env.analysis.puzzles import read_puzzles
from genial_env.cli.dialogue import name_tracks
from genial_env.core.arrays import Bits, Ints
from genial_env.core.kernel import FIRST_TURN_RULE
from genial_env.core.views import View, view
from genial_env.notation.moves import format_with_points
from genial_env.policies.uniform import RandomPolicy
from genial_env.records import read_records, verify
from genial_env.render.sentences import explain_ranks
from tests.cli.test_cli import ROOT, here, mistake
from tests.conftest import GUARD, posix
from tests.paths import PUZZLES

TEAM = ["--players", "4", "--edition", "2009", "--mode", "team", "--seats", "person,greedy,denial,greedy"]
SOLO = ["--players", "1", "--edition", "2004", "--mode", "solo"]
PROGRAM = [sys.executable, "-m", "genial_env"]


class Script:
    """Plays as a program would: reads lines until it is asked, and answers."""

    def __init__(self, *words: object) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "play", *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self.said: list[str] = []

    def __enter__(self) -> "Script":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()

    def listen(self) -> list[str]:
        """The lines up to the next question, or to the end."""
        lines: list[str] = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith("seat ") and line.endswith("in the bag)\n"):
                break
        self.said += lines
        return lines

    def say(self, line: str) -> list[str]:
        """Answer, and listen."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return self.listen()

    def play_to_the_end(self) -> int:
        """Always the first of "moves"; how many decisions that were."""
        count, lines = 0, self.listen()
        while lines and lines[-1].endswith("in the bag)"):
            lines = self.say(self.say("moves 1")[0].split(":")[0])
            count += 1
        return count

    def ended(self) -> int:
        """The exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout=GUARD)


def run(lines: list[str], *words: object) -> subprocess.CompletedProcess[str]:
    """Play by lines that are known before, in this process."""
    return here("play", *words, typed="".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    ("words", "seats"),
    [
        (["--seats", "person,greedy"], 2),
        (["--seats", "greedy,person", "--edition", "2009"], 2),
        (["--seats", "person,greedy,person", "--players", "3"], 3),
        (TEAM, 4),
        (SOLO, 1),
        (["--side", "4", "--colors", "4", "--rack", "3", "--seats", "person,person", "--edition", "2009"], 2),
    ],
    ids=str,
)
def test_a_script_plays_whole_games(words: list[str], seats: int, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    with Script("--seed", 5, "--out", path, *words) as script:
        count = script.play_to_the_end()
        assert script.ended() == 0
        assert script.process.stderr is not None
        assert script.process.stderr.read() == ""
    (record,) = read_records(path)
    assert list(verify([record])) == [None]
    assert (record["seed"], len(record["agents"])) == (5, seats)
    own = [event for event in record["events"] if record["agents"][event[1]] == "person" and event[0] != "draw"]
    assert len(own) == count
    names = name_tracks(Rules.from_dict(record["rules"]), record["agents"])
    why = explain_ranks(Rules.from_dict(record["rules"]), record["scores"], names)
    end = [f"the game is over: {record['end']}", *why, f"the record is in {path}"]
    assert script.said[-len(end) :] == end
    assert not any("\x1b" in line for line in script.said)


def test_nobody_hears_of_the_others_tiles() -> None:
    with Script("--seed", 3, "--seats", "person,denial,denial", "--players", 3) as script:
        script.play_to_the_end()
    drawn = [line for line in script.said if " draws " in line]
    assert all(line.split(" draws ")[1].isupper() for line in drawn if line.startswith("seat 0"))
    assert {line.split(" draws ")[1] for line in drawn if not line.startswith("seat 0")} <= {
        f"{count} tile{'s' * (count > 1)}" for count in range(1, 7)
    }
    assert not any(line.startswith(("rack 1", "rack 2")) for line in script.said)


def test_the_same_seed_is_the_same_game() -> None:
    one, other = (run(["moves 3", "quit"], "--seed", 8).stdout for _ in range(2))
    assert one == other != run(["moves 3", "quit"], "--seed", 9).stdout
    drawn = run(["quit"]).stdout.splitlines()[0]
    assert drawn.startswith("seat 0 person, seat 1 value; players 2, edition 2025, mode individual; seed ")
    again = run(["quit"], "--seed", drawn.split()[-1]).stdout.splitlines()
    assert again == run(["quit"], "--seed", drawn.split()[-1]).stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "opponents"),
    [(["--players", "3"], ["value"] * 2), (["--colors", "5", "--side", "5", "--rack", "4"], ["denial"]), (SOLO, [])],
    ids=str,
)
def test_opponents_that_can_play_the_game(words: list[str], opponents: list[str]) -> None:
    first = run(["quit"], *words).stdout.split(";")[0]
    assert first == ", ".join(f"seat {seat} {name}" for seat, name in enumerate(["person", *opponents]))


def test_what_cannot_be_played_is_said_and_asked_again() -> None:
    known = "expected a move such as RO D4 D5, swap, keep, decline, moves, hint, board, rack, help or quit, not"
    told = {
        "": f"{known} ''",
        "jump": f"{known} 'jump'",
        "1 2 3 4": "expected a tile or its slot and two cells, such as RO D4 D5, not '1 2 3 4'",
        "BP A2": "expected a tile or its slot and two cells, such as RO D4 D5, not 'bp A2'",
        "swap": "no swap now: lay a tile",
        "decline": "no decline now: lay a tile",
        "moves x": "moves takes a whole number above 0, not 'x'",
        "moves 0": "moves takes a whole number above 0, not '0'",
        "9 A2 A3": "the slots that hold a tile are 0, 1, 2, 3, 4, 5, not 9",
        "RR A2 A3": "the rack holds BP PP GO OY GB OP, not RR",
        "XX A2 A3": "a tile is two of the letters RGBOYP, not 'XX'",
        "BP A1 A2": "A1 is not free",
        "BP Z1 A2": "a cell is a row's letter, A to K, and its place in it from the left, not 'Z1'",
        "BP A2 A9": "the cells of row A are A1 to A6, not 'A9'",
        "BP A2 A4": "a tile lies on two neighbouring cells, not on A2 and A4",
        "BP E5 E6": f"{FIRST_TURN_RULE} (printed symbols are small letters)",
    }
    done = run([*told, "quit"], "--seed", 1)
    lines = done.stdout.splitlines()
    asked = [number for number, line in enumerate(lines) if line.endswith("in the bag)")]
    assert [lines[number + 1] for number in asked[:-1]] == list(told.values())
    assert (done.returncode, done.stderr, lines[-1]) == (0, "", "quit: the game is interrupted")


def test_noise_is_asked_about() -> None:
    done = subprocess.run(
        [*PROGRAM, "play", "--seed", "1"], input=b"\xff\xfe\x00\nquit\n", capture_output=True, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"expected a move such as RO D4 D5" in done.stdout


def test_a_tile_by_slot_or_letters_either_way_round() -> None:
    for line in ("2 A2 A3", "GO A2 A3", "og a3 a2", "go a2, a3", "GO A2 A3 "):
        assert "seat 0 lays GO on A2 A3, points: none" in run([line, "quit"], "--seed", 1).stdout.splitlines()


def test_help_board_and_rack() -> None:
    out = run(["help", "board", "rack", "quit"], "--seed", 1).stdout
    assert "RO D4 D5      lay the tile RO" in out
    assert out.count("          A| r   2   3   4   5   g |A") == 2
    assert out.count("rack 0  0:BP  1:PP  2:GO  3:OY  4:GB  5:OP") == 3


def test_hints() -> None:
    lines = run(["hint", "quit"], "--seed", 1).stdout.splitlines()
    at = lines.index("the judge (normal) thinks best, and expects for the rank, +1 first to -1 last:")
    assert all("; +" in line and "first with" in line for line in lines[at + 1 : at + 4])
    best = lines[at + 1].split(":")[0]
    assert f"seat 0 lays {best[:2]} on {best[3:]}" in run([best, "quit"], "--seed", 1).stdout
    assert "expects for the lowest marker:" in run(["hint", "quit"], *SOLO).stdout
    fewer = ["--colors", "5", "--side", "5", "--rack", "4", "--seats", "person,greedy"]
    assert (
        "no hint: the judge 'normal' cannot judge this game: the value network for"
        in run(["hint", "quit"], *fewer).stdout
    )
    assert "the judge (fast) thinks best" in run(["hint", "quit"], "--judge", "fast").stdout


def test_the_end_of_the_input_keeps_the_record(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    done = run(["GO A2 A3"], "--seed", 1, "--out", path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[-2:] == ["the input has ended: the game is interrupted", f"the record is in {path}"]
    quitted = run(["quit"], "--seed", 2, "--out", path)
    assert quitted.returncode == 0
    first, second = read_records(path)
    assert [each["end"] for each in (first, second)] == ["unfinished"] * 2
    assert (first["agents"], first["events"][0][4], second["events"]) == (["person", "value"], "GO", [])
    assert list(verify([first, second])) == [None, None]


@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_kill_keeps_the_record(name: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    with Script("--seed", 1, "--out", path) as script:
        script.listen()
        script.say("GO A2 A3")
        script.process.send_signal(getattr(signal, name))
        assert script.process.wait(timeout=GUARD) == 1
        assert script.listen()[-2:] == ["Ctrl-C: the game is interrupted", f"the record is in {path}"]
    (record,) = read_records(path)
    assert (record["end"], record["events"][0][4]) == ("unfinished", "GO")


def test_a_game_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    with Script("--seed", 4, "--out", path, "--seats", "person,greedy") as whole:
        whole.play_to_the_end()
    with Script("--seed", 4, "--out", path, "--seats", "person,greedy") as script:
        script.listen()
        for _ in range(3):
            script.say(script.say("moves 1")[0].split(":")[0])
        script.say("quit")
    with Script("--resume", path, "--out", path) as script:
        script.play_to_the_end()
        assert script.ended() == 0
    first, broken_off, finished = read_records(path)
    assert broken_off["events"] == first["events"][: len(broken_off["events"])] != []
    assert finished == first
    assert "expected that its last game was interrupted and has a seed" in run([], "--resume", path).stderr
    path.write_text(json.dumps(broken_off | {"seed": 5}))
    assert "the last game" in run([], "--resume", path).stderr
    path.write_text(json.dumps(broken_off))
    assert "seat 1 denial" in run(["quit"], "--resume", path, "--seats", "person,denial").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--seats", "person,gredy"], "seat 1: unknown agent 'gredy': the agents are"),
        (["--seats", "person"], "2 seats need 2 players, not 1"),
        (
            ["--players", "1", "--mode", "solo", "--edition", "2009", "--seats", "ppo"],
            "seat 0: ppo cannot play this game: no weights",
        ),
        (["--edition", "1999"], "unknown edition '1999'"),
        (["--seed", "-1"], "seed must be 0 to"),
        (["--judge", "greedy"], "agent 'greedy' cannot judge: it has no method judge(view, also)"),
        (["--out", "no/such/folder.jsonl"], f"{Path('no/such/folder.jsonl')}: No such file or directory"),
        (["--resume", "nowhere.jsonl"], "nowhere.jsonl: No such file or directory"),
        (
            ["--resume", "genial_env/analysis/puzzles.jsonl"],
            f"{Path('genial_env/analysis/puzzles.jsonl')}:1: format: expected",
        ),
    ],
)
def test_wrong_words(
    words: list[object], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in mistake(["play", *words], monkeypatch, capsys)


class Terminal:
    """Runs a command in a pseudo terminal, as a person would."""

    def __init__(self, *words: object, **environment: str) -> None:
        import pty  # of POSIX

        self.pid, self._file = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.execve(sys.executable, [*PROGRAM, *map(str, words)], {**os.environ, "TERM": "xterm", **environment})

    def until(self, words: str) -> str:
        """What comes up to some words."""
        found, deadline = b"", time.monotonic() + GUARD
        while words.encode() not in found and time.monotonic() < deadline:
            if select.select([self._file], [], [], 1)[0]:
                found += os.read(self._file, 65536)
        assert words.encode() in found, found.decode()
        return found.decode()

    def type(self, line: str) -> None:
        os.write(self._file, f"{line}\n".encode())

    def ended(self) -> int:
        """The exit status."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def close(self) -> None:
        os.close(self._file)


@pytest.fixture
def terminals() -> Iterator[list[Any]]:
    if os.name != "posix":
        pytest.skip("pseudo terminals are of POSIX")
    opened: list[Any] = []
    yield opened
    for each in opened:
        each.close()


@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_two_people_at_one_terminal(terminals: list[Any]) -> None:
    terminal = Terminal("play", "--seed", 1, "--seats", "person,person")
    terminals.append(terminal)
    terminal.until("seat 0: press Enter when seat 1 looks away ")
    terminal.type("")
    own = terminal.until("> ")
    assert "\x1b[97;48;2;" in own  # in color
    terminal.type("2 A2 A3")
    hidden = terminal.until("seat 1: press Enter when seat 0 looks away ")
    after_clearing = hidden.split("\x1b[3J")[1]
    assert "rack" not in after_clearing
    terminal.type("")
    shown = terminal.until("> ")
    assert "seat 0 lays GO on A2 A3" in shown
    assert "seat 0 draws 1 tile\r\n" in shown
    assert "rack 1" in shown
    assert "rack 0" not in shown
    terminal.type("quit")
    terminal.until("quit: the game is interrupted")
    assert terminal.ended() == 0


@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_who_quits_before_the_rack_is_shown_does_not_see_it(terminals: list[Any]) -> None:
    terminal = Terminal("play", "--seed", 1, "--seats", "person,person")
    terminals.append(terminal)
    terminal.until("seat 0: press Enter when seat 1 looks away ")
    terminal.type("quit")
    assert "rack" not in terminal.until("quit: the game is interrupted")
    assert terminal.ended() == 0


class Slow(RandomPolicy):
    """An agent that thinks for more than a second."""

    def __call__(self, view: View, random: Bits) -> Ints:
        time.sleep(1.3)
        return super().__call__(view, random)


@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_the_terminal_says_who_thinks_and_for_how_long(terminals: list[Any]) -> None:
    seats = "tests.cli.test_play:Slow,person"
    terminal = Terminal("play", "--seed", 1, "--seats", seats)
    terminals.append(terminal)
    said = terminal.until("seat 0 lays ")
    assert "\rseat 0 (random) thinks" in said
    assert " thinks, 1 s" in said
    assert "\rseat 0 lays " in said  # the line is empty again
    assert " thinks" not in run(["quit"], "--seed", 1, "--seats", seats).stdout


@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_no_color(terminals: list[Any]) -> None:
    terminal = Terminal("play", "--seed", 1, NO_COLOR="1")
    terminals.append(terminal)
    assert "\x1b[97" not in terminal.until("> ")
    terminal.type("\x04")
    terminal.until("the input has ended: the game is interrupted")
    assert terminal.ended() == 1


@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_ctrl_c_cancels_a_review(terminals: list[Any], tmp_path: Path) -> None:
    """A bar shows how far it is; then there is one line."""
    path = tmp_path / "game.jsonl"
    (record,) = play(["greedy", "greedy"], games=1, record=True).records or []
    path.write_text(json.dumps(record))
    terminal = Terminal("review", path, "--judge", "deep")
    terminals.append(terminal)
    terminal.until(f"0/{sum(event[0] != 'draw' for event in record['events'])}")
    os.kill(terminal.pid, signal.SIGINT)
    assert terminal.until("genial: ended by SIGINT").count("genial: ") == 1
    assert terminal.ended() == 128 + signal.SIGINT


def test_a_hint_for_a_puzzle_is_the_proved_move(tmp_path: Path) -> None:
    path = tmp_path / "puzzle.jsonl"
    for kind in ("immediate win", "double bonus", "swap"):
        puzzle = min((each for each in read_puzzles(PUZZLES) if each.kind == kind), key=lambda each: len(each.values))
        path.write_text(json.dumps(puzzle.record))
        seats = ",".join(["person"] * puzzle.rules.players)
        said = run(["hint", "quit"], "--resume", path, "--seats", seats).stdout.splitlines()
        first = said[said.index("the judge (normal) thinks best, and expects for the rank, +1 first to -1 last:") + 1]
        seen = view(puzzle.state)
        assert first.split("; ")[0] in [format_with_points(seen, action) for action in puzzle.best]
        assert f"; {puzzle.value:+.2f}, " in first
