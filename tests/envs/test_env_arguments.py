"""Arguments and options of environments: unknown ones, game seeds, opponents as JSON, and agents of the script."""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import gymnasium as gym
import numpy as np
import pytest

from genial_env import Rules, genial_v0
from genial_env.arena.match import play_match
from genial_env.arena.store import Settings
from genial_env.arena.tournament import run
from genial_env.core import kernel
from genial_env.core.minigames import MINI_GAMES
from genial_env.envs.arguments import LEARNER_DEFAULTS, VARIANT_DEFAULTS, LearnerArguments, VariantArguments
from genial_env.envs.opponents import Pool
from genial_env.envs.parallel import GenialParallelEnv
from genial_env.envs.single import GenialEnv, GenialSoloEnv
from genial_env.envs.vector import GenialSoloVectorEnv, GenialVectorEnv
from tests.positions import same

SMALL: dict[str, Any] = {"side": 3, "colors": 3, "rack": 2}


def make_sb3(**arguments: Any) -> Any:
    pytest.importorskip("stable_baselines3", reason="needs stable-baselines3: pip install -e '.[train]'")
    from genial_env.envs.sb3 import GenialVecEnv

    return GenialVecEnv(2, **arguments)


def make_openspiel(**arguments: Any) -> Any:
    pytest.importorskip("pyspiel", reason="needs OpenSpiel: pip install -e '.[openspiel]'")
    from genial_env.envs.openspiel import GenialGame

    return GenialGame(arguments)


@pytest.mark.parametrize(
    ("make", "wrong", "said"),
    [
        (GenialEnv, "opponent", "GenialEnv takes no argument 'opponent' .did you mean 'opponents'.*players.*tile_sets"),
        (
            lambda **given: gym.make("genial_env/Genial-v0", **given),
            "opponent",
            "GenialEnv takes no.*genial_env/Genial-v0",
        ),
        (lambda **given: gym.make("genial_env/GenialMO-v0", **given), "size", "GenialEnv takes no argument 'size'"),
        (lambda **given: gym.make("genial_env/GenialSolo-v0", **given), "players", "GenialSoloEnv takes no.*edition"),
        (GenialSoloEnv, "one_bonus_a_tile", "GenialSoloEnv takes no argument 'one_bonus_a_tile'"),
        (GenialSoloEnv, "seat", "GenialSoloEnv takes no argument 'seat': it takes edition, reward, encoding"),
        (
            lambda **given: gym.make_vec("genial_env/Genial-v0", **given),
            "max_episode_steps",
            "GenialVectorEnv takes no argument 'max_episode_steps': it takes num_envs, players.*autoreset_mode",
        ),
        (GenialVectorEnv, "record", "GenialVectorEnv takes no argument 'record'"),
        (GenialSoloVectorEnv, "players", "GenialSoloVectorEnv takes no argument 'players': it takes num_envs, edition"),
        (make_sb3, "record", "GenialVecEnv takes no argument 'record'.*: it takes num_envs, players.*render_mode"),
        (genial_v0.env, "opponents", "GenialAECEnv takes no argument 'opponents': it takes players.*max_cycles"),
        (genial_v0.raw_env, "max_cycle", "GenialAECEnv takes no argument 'max_cycle' .did you mean 'max_cycles'"),
        (genial_v0.parallel_env, "opponents", "GenialParallelEnv takes no argument 'opponents': it takes players"),
        (genial_v0.raw_parallel_env, "opponents", "GenialParallelEnv takes no argument 'opponents'"),
        (make_openspiel, "encoding", "python_genial takes no argument 'encoding': it takes players, edition"),
    ],
)
def test_unknown_arguments_are_named(make: Callable[..., Any], wrong: str, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        make(**{wrong: 1})


@pytest.mark.parametrize(
    ("environment", "defaults"),
    [(GenialEnv, LEARNER_DEFAULTS), (GenialVectorEnv, LEARNER_DEFAULTS), (genial_v0.raw_env, VARIANT_DEFAULTS)],
)
def test_signatures_list_all_arguments(environment: Callable[..., Any], defaults: dict[str, Any]) -> None:
    parameters = inspect.signature(environment).parameters
    assert all(each.kind is not each.VAR_KEYWORD for each in parameters.values())
    assert {name: parameters[name].default for name in defaults} == defaults


def test_every_argument_has_a_type_and_a_default() -> None:
    assert get_type_hints(LearnerArguments).keys() == LEARNER_DEFAULTS.keys()
    assert get_type_hints(VariantArguments).keys() == VARIANT_DEFAULTS.keys()


SEEDED: list[Callable[[], tuple[Any, Callable[[Any], Any]]]] = [
    lambda: reset_of(GenialEnv(**SMALL)),
    lambda: reset_of(GenialSoloEnv(side=3, colors=3)),
    lambda: reset_of(GenialVectorEnv(2, **SMALL)),
    lambda: reset_of(genial_v0.env(**SMALL)),
    lambda: reset_of(genial_v0.parallel_env(**SMALL)),
    lambda: (lambda env: (env, lambda options: (env.set_options(options), env.reset())))(make_sb3(**SMALL)),
]


def reset_of(env: Any) -> tuple[Any, Callable[[Any], Any]]:
    return env, lambda options: env.reset(options=options)


@pytest.mark.parametrize("make", SEEDED)
def test_a_game_seed_is_one_whole_number(make: Callable[[], tuple[Any, Callable[[Any], Any]]]) -> None:
    env, reset = make()
    for seed in ([1, 2], (1,), np.array([3]), 1.0, "7", None, True):
        with pytest.raises(TypeError, match=r"options\['game_seed'\] must be a whole number, not"):
            reset({"game_seed": seed})
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match=r"options\['game_seed'\] must be 0 to 18446744073709551615, not"):
            reset({"game_seed": seed})
    deals = []
    for seed in (np.uint64(2**64 - 1), 2**64 - 1):
        reset({"game_seed": seed})
        inner = env.unwrapped
        deals.append((inner._games.state if hasattr(inner, "_games") else inner._game.current).racks[:1].tolist())
    assert deals[0] == deals[1]


@pytest.mark.parametrize("options", [7, "game_seed", [1]])
def test_options_are_a_dict(options: Any) -> None:
    for env in (GenialEnv(**SMALL), genial_v0.env(**SMALL), genial_v0.parallel_env(**SMALL)):
        with pytest.raises(TypeError, match="options must be a dict or None"):
            env.reset(options=options)


@pytest.mark.parametrize("start", ["middle", kernel.deal(Rules(3, side=3, colors=3, rack=2), [0])], ids=type)
def test_a_refused_start_leaves_the_game_at_hand(start: Any) -> None:
    for env in (GenialEnv(**SMALL), genial_v0.raw_env(**SMALL), genial_v0.raw_parallel_env(**SMALL)):
        with pytest.raises((TypeError, ValueError), match=r"options\['start'\]"):
            env.reset(options={"start": start})
        with pytest.raises(RuntimeError, match="call reset"):
            env.step(0)
        env.reset(seed=0)
        before = env._game.current.copy()
        with pytest.raises((TypeError, ValueError), match=r"options\['start'\]"):
            env.reset(options={"start": start})
        assert same(before, env._game.current)
        action = int(kernel.legal(before)[0].argmax())
        env.step({"player_0": action} if isinstance(env, GenialParallelEnv) else action)
        assert env._game.current.decisions[0] > 0


def test_environments_of_many_games_refuse_a_start() -> None:
    """They say who takes it; the games and their streams of seeds are as they were, and other options are ignored."""
    start = MINI_GAMES["pairs"].start
    rules = {name: getattr(start.rules, name) for name in ("side", "colors", "rack", "edition", "tile_sets")}
    said = r"no 'start', here State: single environments take it \(gym\.make, or gym\.make_vec with vectorization_mode"
    many, other = (GenialVectorEnv(2, **rules) for _ in "ab")
    for env in (many, other):
        env.reset(seed=3)
    for options in ({"start": start}, {"start": start, "reset_mask": np.array([True, False])}):
        with pytest.raises(ValueError, match=said):
            many.reset(options=options)
    assert same(many._games.state, other._games.state)
    many.step(many.action_masks().argmax(axis=1))
    many.reset(options={"start": None, "level": 3})
    other.reset()
    assert same(many._games.state, other._games.state)
    sync = gym.make_vec("genial_env/Genial-v0", num_envs=2, vectorization_mode="sync", **rules)
    sync.reset(options={"start": start})


def test_stable_baselines3s_environment_refuses_a_start() -> None:
    start = MINI_GAMES["pairs"].start
    env = make_sb3(**SMALL)
    for options in ({"start": start}, [{}, {"start": start}]):
        with pytest.raises(ValueError, match="no 'start', here State: single environments take it"):
            env.set_options(options)
    env.reset()  # without the options that were refused


def test_pettingzoos_stream_is_np_random() -> None:
    for make in (genial_v0.env, genial_v0.parallel_env):
        env = make(**SMALL)
        assert isinstance(env.unwrapped.np_random, np.random.Generator)
        env.reset(seed=4)
        first = env.unwrapped.np_random.integers(100, size=3).tolist()
        racks = env.unwrapped._game.current.racks.tolist()
        env.reset(seed=4)
        assert env.unwrapped._game.current.racks.tolist() == racks
        assert env.unwrapped.np_random.integers(100, size=3).tolist() == first
        with pytest.raises(TypeError, match="seed must be a whole number"):
            env.reset(seed=[4, 5])


def test_a_pool_may_be_written_as_json() -> None:
    shares = {"greedy": 1, "random": 3}
    one = GenialVectorEnv(20, opponents=shares, **SMALL)
    other = GenialVectorEnv(20, opponents=Pool(["greedy", "random"], weights=[1, 3]), **SMALL)
    for env in (one, other):
        env.reset(seed=0)
    names = [[env._games.names(row) for row in range(20)] for env in (one, other)]
    assert names[0] == names[1]
    assert len({name for row in names[0] for name in row}) == 2
    arguments = {"players": 3, "opponents": ["greedy", shares], "encoding": "flat", "side": 4, "colors": 4, "rack": 3}
    env = gym.make("genial_env/Genial-v0", **arguments)
    words = env.spec.to_json()
    again = gym.make(gym.envs.registration.EnvSpec.from_json(words))
    assert json.loads(words)["kwargs"] == arguments
    assert np.array_equal(env.reset(seed=1)[0], again.reset(seed=1)[0])
    with pytest.raises(TypeError, match="Pool is not JSON serializable"):
        gym.make("genial_env/Genial-v0", opponents=Pool(["greedy"])).spec.to_json()
    with pytest.raises(ValueError, match="weights must be 1 numbers"):
        GenialEnv(opponents={"greedy": -1})
    with pytest.raises(TypeError, match=r"expected a list of agents, such as \['greedy', 'random'\], not 'greedy'"):
        Pool("greedy")
    with pytest.raises(TypeError, match=r"opponents must be a policy or its name, a Pool, .*, not 5"):
        GenialEnv(opponents=5)
    with pytest.raises(ValueError, match="autoreset_mode must be one of NextStep, SameStep, Disabled, not 'samestep'"):
        GenialVectorEnv(2, autoreset_mode="samestep")
    with pytest.raises(ValueError, match="the pool of opponents is empty"):
        GenialEnv(opponents={})


def test_agents_of_the_script_are_refused_where_other_processes_play(tmp_path: Path) -> None:
    rules = Rules(**SMALL)
    with pytest.raises(ValueError, match=r"agent '__main__:make' is of the script that runs.*or take workers=1"):
        run(Settings(("__main__:make", "random"), rules, 1), tmp_path / "new", workers=2)
    assert not (tmp_path / "new").exists()
    with pytest.raises(ValueError, match=r"agent '__main__:make\(level=2\)' is of the script"):
        play_match("random", "__main__:make(level=2)", rules, pairs=1, workers=2)
    with pytest.raises(ValueError, match=r"agent '__main__:make'"):  # with one worker it is looked for
        play_match("random", "__main__:make", rules, pairs=1)
