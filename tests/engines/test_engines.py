"""Engines: programs in other languages as agents, what becomes of their failures, and agents played as engines."""

import copy
import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genial_env import Rules, make_policy, play, view
from genial_env.arena.fingerprints import fingerprint
from genial_env.arena.isolation import ISOLATED, Isolation, end_isolated, isolated
from genial_env.arena.match import play_match
from genial_env.arena.store import Settings
from genial_env.arena.tournament import _player, run
from genial_env.backends import Backend
from genial_env.core import kernel
from genial_env.engines.client import Engine
from genial_env.engines.protocol import parse_message, split_command
from genial_env.errors import AgentError, AgentLate, AgentStopped
from genial_env.notation.structs import rules_to_json, view_from_json, view_to_json
from genial_env.policies.registry import make_known_policy
from genial_env.testing import check_policy
from tests.arena.test_isolation import FAULT, NO_FAULT, is_running, played
from tests.cli.test_cli import genial
from tests.conftest import GUARD, posix, slow
from tests.paths import ROOT

SMALL = Rules(side=3, colors=3, rack=2)
NUMPY = Backend()
DEAL = view(kernel.deal(SMALL, [1]))
STRANGE = Path(__file__).parent / "strange_engine.py"
GAME = np.zeros(1, dtype=np.int64)


def strange(fault: str) -> str:
    return f"engine:'{sys.executable}' '{STRANGE}' {fault}"


def decide(engine: Engine, random: np.ndarray) -> int:
    return int(engine.decide_in(DEAL, random, GAME)[0])


def test_an_engine_is_an_agent_wherever_one_is_named() -> None:
    engine = make_policy(strange("none"))
    check_policy(engine, SMALL)
    results = play([strange("none"), "random"], SMALL, games=3, seed=0, record=True)
    assert (results.records or [])[0]["agents"] == [strange("none"), "random"]
    results = play([strange("none")] * 4, Rules(4, "2009", "team", side=5, colors=3, tile_sets=2), games=1, seed=0)
    assert len(results) == 1
    assert isinstance(engine, Engine)
    engine.close()


def test_an_engine_can_be_copied_and_pickled() -> None:
    engine = Engine(strange("none"), SMALL)
    chosen = decide(engine, NO_FAULT)
    for other in (copy.deepcopy(engine), pickle.loads(pickle.dumps(engine))):
        assert decide(other, NO_FAULT) == chosen
        other.close()
    assert decide(engine, NO_FAULT) == chosen
    engine.close()


def test_data_must_not_start_programs() -> None:
    with pytest.raises(ValueError, match="as the name comes with data"):
        make_known_policy(strange("none"))


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("engine:", "an engine is written engine:COMMAND"),
        ("engine:a 'b", "No closing quotation"),
    ],
)
def test_commands_that_cannot_be_read(agent: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_policy(agent)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("engine:./there/is/nothing", "cannot start './there/is/nothing': No such file"),
        (f"engine:'{sys.executable}' -c pass", "its process ended with exit status 0"),
        (f"engine:'{sys.executable}' -c 'print(1)'", "its answer cannot be read: expected a JSON object"),
        (strange("version"), "expected the protocol genialprotocol 1, found genialprotocol 2"),
        (strange("two_only"), "only two seats"),
    ],
)
def test_engines_that_cannot_play_show_before_anything_is_written(agent: str, message: str, tmp_path: Path) -> None:
    rules = Rules(3, side=4, colors=4, rack=3)
    with pytest.raises(ValueError, match=message):
        run(Settings(("random", "greedy", agent), rules), tmp_path / "t", backend=NUMPY)
    assert not (tmp_path / "t").exists()


# Failures in games


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("die", "its process ended with exit status 7"),
        ("nonsense", "its answer cannot be read: expected JSON"),
        ("illegal", "move 'RR A1 K11': "),
        ("words", "move 'the best one': expected|move 'the best one': "),
        ("twice", "expected the answer to request "),
        ("flood", "more than 1000 messages of the type 'info'"),
        ("endless", "its answer cannot be read: expected JSON"),
    ],
)
def test_a_failure_costs_one_game(fault: str, reason: str) -> None:
    engine = Engine(strange(fault), SMALL)
    games = played(engine, 8)
    engine.close()
    forfeited = [game for game in games if game.forfeit is not None]
    assert 0 < len(forfeited) < len(games)
    for game in forfeited:
        assert game.forfeit is not None
        assert game.seats[game.forfeit["seat"]] == 0
        assert any(each in game.forfeit["reason"] for each in reason.split("|"))
        assert game.forfeit["reason"].isprintable()


def test_an_engine_that_hangs_is_waited_for_only_so_long() -> None:
    engine = Engine(strange("hang"), SMALL, move_time_s=0.3)
    engine.start()
    for _ in range(2):
        with pytest.raises(AgentLate, match=r"no answer within 0\.3 s$"):
            decide(engine, FAULT)
    engine._move_time_s = 60.0  # for the new process, on a busy machine
    decide(engine, NO_FAULT)
    engine._move_time_s = 0.1
    for _ in range(3):
        with pytest.raises(AgentLate, match=r"no answer within 0\.1 s$"):
            decide(engine, FAULT)
    with pytest.raises(AgentStopped, match="no answer in time, 3 times in a row: not asked again"):
        decide(engine, NO_FAULT)
    engine.close()


def test_the_time_of_a_game_is_limited() -> None:
    engine = Engine(strange("slow"), SMALL, game_time_s=0.2)
    expected = r"no answer within 0\.\d+ s|more than 0\.2 s for its decisions in this game"

    def play_on() -> None:
        for _ in range(50):
            decide(engine, NO_FAULT)

    with pytest.raises(AgentLate, match=expected):
        play_on()
    assert engine._clock.left_s(GAME + 1) == 0.2  # another game has its own time
    engine.close()


def test_the_time_of_a_game_is_limited_for_agents_in_python() -> None:
    limits = Isolation(move_time_s=60, game_time_s=1e-9)
    found = play_match("random", "tests.strange_agents:make", SMALL, pairs=1, backend=NUMPY, isolation=limits)
    assert found.forfeits == (0, 2)


def test_a_tournament_loses_nothing_but_the_forfeits(tmp_path: Path) -> None:
    agents = ("random", strange("stateful"), strange("die"), strange("hang"))
    limits = Isolation(move_time_s=2.0)
    store = run(Settings(agents, SMALL, groups=2), tmp_path / "t", backend=NUMPY, isolation=limits)
    assert len(store.games) == 2 * 12
    lost = {agents[game.seats[game.forfeit["seat"]]] for game in store.games if game.forfeit is not None}
    assert lost
    assert lost <= {strange("die"), strange("hang")}
    assert any(game.forfeit is None for game in store.games)


def test_a_match_that_forfeits_names_the_agent() -> None:
    found = play_match("random", strange("die"), SMALL, pairs=4, backend=NUMPY)
    assert found.forfeits[0] == 0
    assert found.forfeits[1] > 0


def test_on_windows_a_backslash_is_a_part_of_a_path() -> None:
    path = r"C:\My agents\a.exe"
    assert split_command(rf'engine:"{path}" --net b\c', windows=True) == [path, "--net", r"b\c"]
    assert split_command("engine:a\\ b c", windows=False) == ["a b", "c"]


@posix
def test_processes_end_with_the_match() -> None:
    player = _player(strange("none"), SMALL, NUMPY, Isolation(on=False))
    assert isinstance(player, Engine)
    assert isolated(strange("none"), SMALL, NUMPY, Isolation(on=False)) is player
    assert player._process is not None
    pid = player._process._child.pid
    assert is_running(pid)
    end_isolated()
    assert not is_running(pid)
    assert ISOLATED.applies_to(strange("none"))


def test_a_failure_outside_of_tournaments_is_said_in_one_line() -> None:
    with pytest.raises(AgentError, match="exit status 7"):
        play([strange("die")] * 2, SMALL, games=5, seed=0)
    small = ["--side", "3", "--colors", "3", "--rack", "2"]
    failed = genial("simulate", "--agents", f"{strange('die')},random", "--games", "9", *small, status=1)
    assert failed.stderr == "genial: its process ended with exit status 7\n"


def test_the_program_is_part_of_the_fingerprint() -> None:
    found = fingerprint(strange("none"), SMALL)
    assert set(found) == {f"file {sys.executable}", f"file {STRANGE}"}


# Agents as engines


@pytest.mark.parametrize("agent", ["denial", pytest.param("value", marks=slow), "tests.strange_agents:Remembering"])
def test_an_agent_plays_the_same_game_as_an_engine(agent: str) -> None:
    rules = Rules() if agent == "value" else Rules(side=4, colors=4, rack=3)
    command = f"engine:'{sys.executable}' -m genial_env engine {agent} --backend numpy"
    if agent != "tests.strange_agents:Remembering":
        here, there = (play([name, "greedy"], rules, games=2, seed=3) for name in (agent, command))
        assert (here.scores == there.scores).all()
    found = play_match(command, "random", SMALL if agent != "value" else rules, pairs=1, backend=NUMPY)
    assert found.forfeits == (0, 0)


def talk(*lines: str, agent: str = "greedy") -> list[str]:
    command = [sys.executable, "-m", "genial_env", "engine", agent, "--backend", "numpy"]
    said = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=True, cwd=ROOT, timeout=300
    )
    return said.stdout.splitlines()


def test_what_an_agent_answers_to_mistakes() -> None:
    answers = talk(
        "hello",
        '{"type":"fly"}',
        '{"type":"go","id":1,"random":"1"}',
        '{"type":"position","game":null,"view":{}}',
        '{"type":"rules","rules":{"players":9}}',
        '{"type":"rules","rules":{"players":2}}',
        '{"type":"position","game":null,"view":{}}',
        '{"type":"hello","protocol":"genialprotocol","version":1}',
        '{"type":"quit"}',
        '{"type":"hello","protocol":"genialprotocol","version":1}',
    )
    assert len(answers) == 8
    expected = [
        "expected JSON",
        "expected a message of the type",
        "expected a position before 'go'",
        "expected the rules before a position",
        "players must be",
        '{"type":"ready"}',
        "view: expected the key",
        '{"type":"hello","protocol":"genialprotocol","version":1}',
    ]
    for answer, part in zip(answers, expected, strict=True):
        assert part in answer


# The example in C


@pytest.fixture(scope="module")
def c_engine(tmp_path_factory: pytest.TempPathFactory) -> str:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    program = tmp_path_factory.mktemp("engine") / "greedy_engine"
    source = ROOT / "examples" / "greedy_engine.c"
    flags = ["-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([compiler, *flags, "-o", str(program), str(source)], check=True)
    return f"engine:'{program}'"


@pytest.mark.parametrize(
    "rules",
    [
        Rules(side=4, colors=4, rack=3),
        Rules(3, "2009", side=5),
        Rules(1, "2004", "solo"),
        Rules(2, side=10, tile_sets=2),
    ],
    ids=str,
)
def test_the_example_plays_all_rules(c_engine: str, rules: Rules) -> None:
    play([c_engine] + ["points"] * (rules.players - 1), rules, games=1, seed=0)


def test_the_dialogue_of_the_page_is_that_of_the_example(c_engine: str) -> None:
    page = (ROOT / "docs" / "engine_protocol.md").read_text()
    lines = page.partition("```text\n")[2].partition("```")[0].splitlines()
    read, written = ([line[2:] for line in lines if line[0] == mark] for mark in "<>")
    program = c_engine.removeprefix("engine:").strip("'")
    said = subprocess.run(
        [program], input="\n".join(read) + "\n", capture_output=True, text=True, check=True, timeout=GUARD
    )
    assert said.stdout.splitlines() == written
    rules = Rules(side=3, colors=2, rack=2)
    assert parse_message(read[1].encode())["rules"] == rules_to_json(rules)
    assert view_to_json(view_from_json(rules, parse_message(read[4].encode())["view"])) == json.loads(read[4])["view"]


def test_the_example_plays_as_the_agent_that_places_for_points(c_engine: str) -> None:
    engine: Any = make_policy(c_engine)
    rules = Rules()
    state = kernel.deal(rules, [5])
    keys = np.arange(40, dtype=np.uint64)
    points = make_policy("points")
    for random in keys:
        if state.over[0]:
            break
        seen = view(state)
        action, other = engine(seen, random[None]), points(seen, random[None])
        if seen.tables.is_placing(action[0]):
            gained = [kernel.gained(state, each, np.zeros(1, dtype=np.int64)).sum() for each in (action, other)]
            assert gained[0] == gained[1]
        kernel.apply(state, action)
    engine.close()
