"""Faulty agents forfeit their games and nothing else; one writer a directory; what a worker's death leaves."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genial_env import Rules, make_policy, view
from genial_env._util.files import LOCK, FolderInUse, lock_folder
from genial_env._util.shutdown import Terminated
from genial_env.arena._agent_process import warm_up
from genial_env.arena.games import Game, play_games
from genial_env.arena.isolation import ISOLATED, IsolatedPolicy, Isolation, end_isolated, isolated
from genial_env.arena.match import play_match
from genial_env.arena.store import Settings, Store
from genial_env.arena.tournament import WorkerEnded, _player, run
from genial_env.backends import Backend, using
from genial_env.core import kernel
from genial_env.core.arrays import Bits, Ints
from genial_env.core.chance import game_seeds
from genial_env.core.views import View
from genial_env.engines.client import Engine
from genial_env.engines.process import LIMITS_MEMORY, ChildProcess
from genial_env.errors import AgentStopped
from genial_env.policies.base import Policy
from genial_env.policies.uniform import RandomPolicy
from tests.cli.test_cli import genial
from tests.conftest import GUARD, posix
from tests.strange_agents import Faulty, Remembering

SMALL = Rules(side=3, colors=3, rack=2)
NUMPY = Backend()
DEAL = view(kernel.deal(SMALL, [1]))
FAULT, NO_FAULT = np.zeros(1, dtype=np.uint64), np.ones(1, dtype=np.uint64)
"""Bits for which a faulty agent does what it does, and others."""


def played(first: Policy, games: int = 6) -> list[Game]:
    """Games between a policy and "random" on alternating seats."""
    seated = np.array([[0, 1], [1, 0]] * (games // 2))
    roster = [first, make_policy("random")]
    return play_games(roster, ["first", "second"], seated, SMALL, np.arange(games), game_seeds(3, games), record=False)[
        0
    ]


def check_forfeits(games: list[Game], reason: str) -> None:
    """Some games were forfeited for this reason, and the others are what random play makes of them."""
    harmless = played(make_policy("random"), len(games))
    forfeited = [game for game in games if game.forfeit is not None]
    assert 0 < len(forfeited) < len(games)
    for game, other in zip(games, harmless, strict=True):
        if game.forfeit is None:
            assert (game.scores, game.ranks, game.moves) == (other.scores, other.ranks, other.moves)
        else:
            assert game.seats[game.forfeit["seat"]] == 0
            assert reason in game.forfeit["reason"]
            assert game.forfeit["reason"].isprintable()
            json.dumps(game.to_dict(), ensure_ascii=False).encode()


REASONS = {
    "exit": "SystemExit: 0",
    "unreadable": "Unreadable, whose message cannot be read (SystemExit)",
    "surrogate": r"ValueError: bad \ud800 text\n",
}


@pytest.mark.parametrize("fault", REASONS)
def test_whatever_an_agent_raises_here_is_a_forfeit(fault: str) -> None:
    check_forfeits(played(Faulty(fault)), REASONS[fault])


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Terminated(15)])
def test_a_signal_is_no_forfeit(error: BaseException) -> None:
    class Interrupted:
        name = "interrupted"

        def __call__(self, view: object, random: object) -> None:
            raise error

    with pytest.raises(type(error)):
        played(Interrupted())  # type: ignore[arg-type]


def in_process(fault: str, move_time_s: float | None = None, memory_mib: int | None = None) -> IsolatedPolicy:
    agent = f"tests.strange_agents:Faulty(fault={fault!r})"
    return IsolatedPolicy(agent, SMALL, NUMPY, move_time_s, memory_mib=memory_mib)


def test_whatever_an_agent_raises_there_is_a_forfeit() -> None:
    """By one process, as starting one takes longer than all games."""
    for fault, reason in {**REASONS, "interrupt": "KeyboardInterrupt: "}.items():
        policy = in_process(fault)
        check_forfeits(played(policy), reason)
        policy.close()


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("end_process", "its process ended with exit status 0"),
        pytest.param(
            "segfault",
            "its process was ended by SIGSEGV",
            marks=posix,
        ),
    ],
)
def test_a_process_that_ends_is_a_forfeit(fault: str, reason: str) -> None:
    policy = in_process(fault)
    check_forfeits(played(policy, 4), reason)
    policy.close()


@pytest.mark.skipif(not LIMITS_MEMORY, reason="only Linux limits the memory of a process")
class TestMemory:
    def test_too_much_of_it_is_a_forfeit(self) -> None:
        policy = in_process("memory", memory_mib=4096)
        check_forfeits(played(policy), "(the limit is 4096 MiB)")
        policy.close()

    def test_a_process_that_cannot_begin_names_its_limit(self) -> None:
        policy = in_process("memory", memory_mib=1)
        with pytest.raises(ValueError, match=r"cannot be made: its process .* with a memory limit of 1 MiB"):
            policy.start()

    def test_an_engine_has_the_limit_too(self) -> None:
        limit = "import resource; print(resource.getrlimit(resource.RLIMIT_DATA), flush=True)"
        process = ChildProcess([sys.executable, "-c", f"input(); {limit}"], 100, memory_mib=512)
        process.send(b"\n")
        assert process.read_line(GUARD) == f"({512 << 20}, {512 << 20})\n".encode()
        process.end()
        assert Engine("engine:nothing", memory_mib=512)._memory_mib == 512

    def test_a_limit_that_cannot_be_set_leaves_no_process(self, monkeypatch: pytest.MonkeyPatch) -> None:
        started = watch_processes(monkeypatch)
        huge, told = 1 << 50, f"the memory limit of {1 << 50} MiB could not be set: "
        with pytest.raises(OSError, match=told):
            ChildProcess([sys.executable, "-c", "input()"], 100, memory_mib=huge)
        with pytest.raises(ValueError, match=f"cannot be made: {told}"):
            in_process("memory", memory_mib=huge).start()
        with pytest.raises(ValueError, match=f"agent .engine:.*: cannot start '.*': {told}"):
            Engine(f"engine:'{sys.executable}' -c 'input()'", memory_mib=huge).prepare(SMALL)
        assert len(started) == 3
        check_ended(started)


def watch_processes(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """Return a list to which all processes are added that are started from now on."""
    started: list[subprocess.Popen[bytes]] = []

    class Watched(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **settings: Any) -> None:
            super().__init__(*arguments, **settings)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    return started


def check_ended(processes: list[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        assert process.returncode is not None
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdin.closed
        assert process.stdout.closed


def test_a_process_without_threads_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    started, starts = watch_processes(monkeypatch), [threading.Thread.start]

    def start_one(thread: threading.Thread) -> None:
        if not starts:
            raise RuntimeError("can't start new thread")
        starts.pop()(thread)

    monkeypatch.setattr(threading.Thread, "start", start_one)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        ChildProcess([sys.executable, "-c", "input()"], 100)
    check_ended(started)


@pytest.mark.parametrize("limit", [512.5, 512.0, "512", True])
def test_a_limit_of_memory_is_a_whole_number(limit: Any) -> None:
    with pytest.raises(TypeError, match="memory_mib must be a whole number, not "):
        Isolation(memory_mib=limit)
    with pytest.raises(TypeError, match="memory_mib must be a whole number, not "):
        Engine("engine:nothing", memory_mib=limit)
    for low in (0, -1):
        with pytest.raises(ValueError, match=f"memory_mib must be at least 1, not {low}"):
            Isolation(memory_mib=low)


def test_a_system_without_limits_of_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genial_env.arena.isolation.LIMITS_MEMORY", False)
    with pytest.raises(ValueError, match="on Linux only, not on "):
        Isolation(memory_mib=100)


def test_an_agent_that_closes_its_pipes_forfeits() -> None:
    policy = in_process("close")
    with pytest.raises(AgentStopped, match="its process"):
        policy(DEAL, FAULT)
    assert (policy(DEAL, NO_FAULT) == make_policy("random")(DEAL, NO_FAULT)).all()
    policy.close()


def test_an_agent_that_hangs_is_waited_for_only_so_long() -> None:
    policy = in_process("hang", move_time_s=0.2)
    for _ in range(2):
        with pytest.raises(AgentStopped, match=r"no answer within 0\.2 s$"):
            policy(DEAL, FAULT)
    policy(DEAL, NO_FAULT)  # by a new process; the next ones are the first in a row again
    for _ in range(3):
        with pytest.raises(AgentStopped, match=r"no answer within 0\.2 s$"):
            policy(DEAL, FAULT)
    with pytest.raises(AgentStopped, match="3 times in a row: not asked again"):
        policy(DEAL, NO_FAULT)
    policy.close()


@posix
def test_what_an_agent_prints_and_where_it_goes_is_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    here = Path.cwd()
    found = play_match(
        "random", f"tests.strange_agents:Spying(file={str(tmp_path / 'pid')!r})", SMALL, pairs=2, backend=NUMPY
    )
    assert found.forfeits == (0, 0)
    assert found.counts.sum() == 2
    assert capfd.readouterr().out == ""
    assert not is_running(int((tmp_path / "pid").read_text()))  # it ended with the match
    play_match("random", "tests.strange_agents:Faulty(fault='chdir')", SMALL, pairs=2, backend=NUMPY)
    assert Path.cwd() == here


def is_running(process: int) -> bool:
    """Whether there is a process."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_agent_does_not_reach_the_game() -> None:
    settings: dict[str, Any] = {"rules": SMALL, "pairs": 3, "seed": 1, "backend": NUMPY}
    honest = play_match("random", "tests.strange_agents:make", **settings)
    reaching = play_match("random", "tests.strange_agents:Reaching", **settings)
    assert reaching.counts.tolist() == honest.counts.tolist()


def test_named_agents_play_here_and_others_where_it_is_said() -> None:
    assert not ISOLATED.applies_to("search(playouts=3)")
    assert not ISOLATED.applies_to("value(weights='C:/x')")
    assert ISOLATED.applies_to("my_agents:make(file='x')")
    assert not Isolation(on=False).applies_to("my_agents:make")
    assert isolated("a:b", SMALL, NUMPY, ISOLATED) is isolated("a:b", SMALL, NUMPY, ISOLATED)
    end_isolated()
    for seconds in (0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="move_time_s must be above 0"):
            Isolation(move_time_s=seconds)
        with pytest.raises(ValueError, match="game_time_s must be above 0"):
            Isolation(game_time_s=seconds)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("tests.strange_agents:leaving", "cannot be made: its process ended with exit status 5"),
        ("tests.strange_agents:Faulty", "missing 1 required positional argument"),
        ("tests.strange_agents:nobody", "has no factory 'nobody'"),
    ],
)
def test_agents_that_cannot_be_made_show_before_anything_is_written(agent: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        run(Settings(("random", agent), SMALL), tmp_path / "t")
    assert not (tmp_path / "t").exists()


SCRIPT = """
from genial_env import Rules, kernel, make_policy, view
from genial_env.arena.match import play_match
from genial_env.backends import Backend

def make():
    return make_policy("random")

{guard}
    found = play_match("greedy", "__main__:make", Rules(side=3, colors=3, rack=2), pairs=2, backend=Backend())
    print("pairs", found.counts.sum(), "forfeits", found.forfeits)
"""


def test_an_agent_of_the_program_itself(tmp_path: Path) -> None:
    """A script's is imported from it; what was typed in, or begins its work at once, cannot be."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(guard="if __name__ == '__main__':"))
    assert python(str(path)).stdout == "pairs 2 forfeits (0, 0)\n"
    path.write_text(SCRIPT.format(guard="if True:"))
    assert "must begin its work under if __name__ == '__main__'" in python(str(path)).stderr
    assert "cannot import what was typed in" in python("-c", SCRIPT.format(guard="if True:")).stderr


def python(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, timeout=120)


# Directories


def test_a_second_tournament_in_a_directory_is_refused(tmp_path: Path) -> None:
    out, settings = tmp_path / "t", Settings(("random", "greedy"), SMALL, 2)
    store = run(settings, out, backend=NUMPY)
    before = {path: path.read_bytes() for path in out.iterdir() if path.name != LOCK}
    with lock_folder(out):
        with pytest.raises(FolderInUse):
            run(settings, out, backend=NUMPY)
        refused = genial("tournament", out, "--agents", "random,greedy", "--backend", "numpy", status=1)
    assert refused.stderr.splitlines() == [
        f"genial: {out}: Another process is writing there (process {os.getpid()} on {socket.gethostname()})"
    ]
    assert refused.stdout == ""
    assert {path: path.read_bytes() for path in out.iterdir() if path.name != LOCK} == before
    assert run(settings, out, backend=NUMPY).games == store.games  # the lock is free again, its file nothing strange


def test_a_lock_file_alone_is_an_empty_directory(tmp_path: Path) -> None:
    with lock_folder(tmp_path):
        pass
    assert len(run(Settings(("random", "greedy"), SMALL, 1), tmp_path, backend=NUMPY).games) == 2
    with pytest.raises(ValueError, match="something else"):
        run(Settings(("random", "greedy"), SMALL, 1), Path(__file__).parent)
    assert not (Path(__file__).parent / LOCK).exists()


def test_a_worker_that_dies_costs_what_it_was_at(tmp_path: Path) -> None:
    """Without isolation an agent can end its worker: that is said, and what was finished stays."""
    settings = Settings(("random", "tests.strange_agents:Faulty(fault='end_process')"), SMALL, groups=3, records=False)
    with pytest.raises(WorkerEnded, match="a worker process has ended while it played"):
        run(settings, tmp_path / "t", workers=2, backend=NUMPY, isolation=Isolation(on=False))
    games = run(settings, tmp_path / "t", workers=2, backend=NUMPY).games
    assert len(games) == 6
    assert len(Store(tmp_path / "t").games) == 6
    assert any(game.forfeit and "exit status 0" in game.forfeit["reason"] for game in games)


# Agents with a memory, and what is done before decisions are timed


def test_an_agent_learns_which_games_it_is_asked_about() -> None:
    here = Remembering()
    games = played(here)
    assert all(game.forfeit is None for game in games)
    assert len(here.boards) == len(games)
    assert here.asked == sum(game.moves[game.seats.index(0)] for game in games)
    everywhere = Remembering()  # on both seats, each of which has numbers of its own
    seated, seeds = np.zeros((3, 2), dtype=np.int64), np.zeros(3, dtype=np.uint64)
    play_games([everywhere], ["r"], seated, SMALL, np.arange(3), seeds, record=False)
    assert len(everywhere.boards) == 6


def test_an_agent_in_its_own_process_learns_it_too() -> None:
    policy = IsolatedPolicy("tests.strange_agents:Remembering", SMALL, NUMPY, None)
    try:
        policy.start()
        assert policy._process is not None
        assert all(game.forfeit is None for game in played(policy, games=4))
    finally:
        policy.close()


def test_warming_up_asks_for_early_and_late_decisions() -> None:
    free = []

    class Watching(RandomPolicy):
        def __call__(self, view: View, random: Bits) -> Ints:
            free.append(int((view.board == -1).sum()))
            return super().__call__(view, random)

    with using(NUMPY):
        warm_up(Watching(), SMALL)
    assert len(free) == 3
    assert free[0] == (DEAL.board == -1).sum() > free[1] > free[2]


def test_an_isolated_agent_is_made_before_it_is_timed() -> None:
    try:
        player = _player("tests.strange_agents:Remembering", SMALL, NUMPY, ISOLATED)
        assert isinstance(player, IsolatedPolicy)
        assert player._process is not None
        assert isinstance(_player("nowhere:make", SMALL, NUMPY, ISOLATED), IsolatedPolicy)  # it forfeits its games
    finally:
        end_isolated()
