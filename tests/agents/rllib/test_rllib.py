"""RLlib's environment, modules and trainer (RLlib has a virtual environment of its own: .ci/rllib runs this there)."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray", reason="needs ray[rllib], which pins an older gymnasium: see .ci/rllib")

import torch
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModule
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from agents.rllib.halves_module import HalvesAndTokens, PastSelfModule
from agents.rllib.rllib_agent import MODULE, RLlibAgent
from agents.rllib.trainer import Args, ModuleMapping, Trainer
from agents.runs.config import CONFIG, parse_options, read_config, write_config
from agents.runs.run import Run
from experiments.train_rllib import main
from genial_env import IllegalAction, Policy, Rules, genial_v0, make_policy, view
from genial_env.arena.store import Settings
from genial_env.arena.tournament import run
from genial_env.core import kernel
from genial_env.core.ranking import rank_utility
from genial_env.core.views import View
from genial_env.encodings import AnyEncoding, make_encoding
from genial_env.envs.rllib import GenialMultiAgentEnv, PolicyModule
from genial_env.policies import weight_files
from genial_env.policies.halves import Halves
from genial_env.policies.ppo import KIND, PPO
from genial_env.testing import check_encoding, check_policy

CASES: list[dict[str, Any]] = [
    {"players": 2},
    {"players": 3, "edition": "2009", "side": 4, "colors": 4, "rack": 2},
    {"players": 4, "edition": "2004", "mode": "team", "reward": "lowest", "encoding": "tokens"},
]

each = pytest.mark.parametrize("arguments", CASES, ids=str)


def choose(mask: np.ndarray, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


def begin_episode(env: GenialMultiAgentEnv, observations: Any, infos: Any) -> MultiAgentEpisode:
    """Begin RLlib's own record of an episode with what a reset returned."""
    episode = MultiAgentEpisode(
        observation_space=env.observation_spaces,
        action_space=env.action_spaces,
        agent_to_module_mapping_fn=lambda *_: "m",
    )
    episode.add_env_reset(observations=observations, infos=infos)
    return episode


def take_step(env: GenialMultiAgentEnv, episode: MultiAgentEpisode, mover: str, action: int) -> Any:
    """Play an action, add the step to the episode, and return what the environment returned."""
    observations, rewards, terminateds, truncateds, infos = env.step({mover: action})
    episode.add_env_step(
        observations=observations,
        actions={mover: action},
        rewards=rewards,
        infos=infos,
        terminateds=terminateds,
        truncateds=truncateds,
    )
    return observations, rewards, terminateds, truncateds, infos


@each
def test_the_game_is_that_of_the_aec_environment(arguments: dict[str, Any]) -> None:
    """Observations, turns, rewards and ends; every agent gets its last observation and infos."""
    env, aec = GenialMultiAgentEnv(arguments), genial_v0.raw_env(**{"encoding": "flat", **arguments})
    for seed in range(3):
        (observations, infos), _ = env.reset(seed=seed), aec.reset(seed=seed)
        rng, over, earned = np.random.default_rng(seed), False, dict.fromkeys(env.possible_agents, 0.0)
        while not over:
            (mover,) = observations
            assert mover == aec.agent_selection
            assert env.observation_spaces[mover].contains(observations[mover])
            assert list(infos) == [mover]
            assert infos[mover].keys() == {"to_play", "ranks", "scores", "illegal_action"}
            assert all(np.array_equal(infos[mover][name], aec.infos[mover][name]) for name in infos[mover])
            expected = aec.observe(mover)
            assert all(np.array_equal(observations[mover][name], expected[name]) for name in expected)
            action = choose(observations[mover]["action_mask"], rng)
            observations, rewards, terminateds, truncateds, infos = env.step({mover: action})
            aec.step(action)
            over = terminateds["__all__"]
            rewarded = env.possible_agents if over else [aec.agent_selection]
            assert rewards == {agent: aec._cumulative_rewards[agent] for agent in rewarded}
            assert truncateds == {"__all__": False}
            for agent, reward in rewards.items():
                earned[agent] += reward
        assert set(observations) == set(infos) == set(env.possible_agents)
        assert all(not observation["action_mask"].any() for observation in observations.values())
        ranks, scores = infos["player_0"]["ranks"], infos["player_0"]["scores"]
        utility = rank_utility(ranks)
        for seat, agent in enumerate(env.possible_agents):
            track = seat % len(scores)
            due = scores[track].min() if arguments.get("reward") == "lowest" else utility[track]
            assert earned[agent] == pytest.approx(due)


@pytest.mark.parametrize("cut_every", [0, 7, 10])
@each
def test_rllib_credits_every_agent_for_its_own_actions(arguments: dict[str, Any], cut_every: int) -> None:
    """Its own episodes, whole or cut: the whole reward, and in whole ones an action for each own decision."""
    env, rng = GenialMultiAgentEnv(arguments), np.random.default_rng(0)
    observations, infos = env.reset(seed=4)
    episode = begin_episode(env, observations, infos)
    decided, earned = dict.fromkeys(env.possible_agents, 0), dict.fromkeys(env.possible_agents, 0.0)
    chunks, steps = [episode], 0
    while not episode.is_done:
        (mover,) = observations
        action = choose(observations[mover]["action_mask"], rng)
        observations, rewards, *_ = take_step(env, episode, mover, action)
        decided[mover] += 1
        for agent, reward in rewards.items():
            earned[agent] += reward
        steps += 1
        if cut_every and steps % cut_every == 0 and not episode.is_done:
            episode = episode.cut()
            chunks.append(episode)
    for agent in env.possible_agents:
        parts = [chunk.agent_episodes[agent] for chunk in chunks if agent in chunk.agent_episodes]
        if not cut_every:  # RLlib drops the transition of an agent that waits for its next turn where it cuts
            assert sum(len(part) for part in parts) == decided[agent]
        assert sum(sum(part.get_rewards()) for part in parts) == pytest.approx(earned[agent])
        assert parts[-1].is_terminated


def test_max_cycles_truncates_all_agents() -> None:
    """After 3 cycles of 2 seats: last observations and rewards of both, and RLlib's own episode is truncated."""
    env, rng = GenialMultiAgentEnv({"max_cycles": 3, "reward": "lowest"}), np.random.default_rng(0)
    aec = genial_v0.raw_env(max_cycles=3, reward="lowest", encoding="flat")
    for seed in range(2):
        (observations, infos), _ = env.reset(seed=seed), aec.reset(seed=seed)
        episode = begin_episode(env, observations, infos)
        steps, truncated = 0, False
        while not truncated:
            (mover,) = observations
            action = choose(observations[mover]["action_mask"], rng)
            observations, rewards, terminateds, truncateds, infos = take_step(env, episode, mover, action)
            aec.step(action)
            steps, truncated = steps + 1, truncateds["__all__"]
        assert steps == 6
        assert truncateds == {"__all__": True}
        assert terminateds == {"player_0": False, "player_1": False, "__all__": False}
        assert set(observations) == set(infos) == {"player_0", "player_1"}
        assert rewards == aec._cumulative_rewards
        assert episode.is_truncated
        assert not episode.is_terminated
        for single in episode.agent_episodes.values():
            assert (single.is_truncated, single.is_terminated) == (True, False), "its value is estimated, not 0"
        assert not infos["player_0"]["ranks"].any()


@each
def test_rllibs_own_check(arguments: dict[str, Any]) -> None:
    check_multiagent_environments(GenialMultiAgentEnv(arguments))


def test_refusals() -> None:
    env = GenialMultiAgentEnv({"players": 2})
    env.reset(seed=0)
    with pytest.raises(ValueError, match="player_0 is to move, and it alone"):
        env.step({"player_1": 0})
    with pytest.raises(ValueError, match=r"it alone: there are actions of \[\]"):
        env.step({})
    strict = GenialMultiAgentEnv({"illegal_action": "raise"})
    strict.reset(seed=0)
    with pytest.raises(IllegalAction):
        strict.step({"player_0": 0})
    observations, rewards, terminateds, _, infos = env.step({"player_0": 0})
    assert rewards == {"player_0": -1.0, "player_1": 0.0}
    assert terminateds == {"player_0": True, "player_1": True, "__all__": True}
    assert set(observations) == {"player_0", "player_1"}
    assert [infos[agent]["illegal_action"] for agent in ("player_0", "player_1")] == [0, -1]
    assert "illegal action 0" in env.illegal_reason
    env.reset(seed=1)
    assert env.illegal_reason is None
    with pytest.raises(ValueError, match="RLlib takes one number a step"):
        GenialMultiAgentEnv({"reward": "vector"})
    with pytest.raises(TypeError, match="GenialMultiAgentEnv takes no argument 'worker': it takes players, edition"):
        GenialMultiAgentEnv({"worker": 1})


def test_a_tournament_whose_processes_ray_runs(tmp_path: Path) -> None:
    settings = Settings(("random", "greedy", "points"), Rules(side=4, colors=4, rack=3), groups=4, seed=3)
    found = [run(settings, tmp_path / "here"), run(settings, tmp_path / "ray", workers=2, joblib_backend="ray")]
    one, other = (sorted((game.group, game.seats, game.scores) for game in store.games) for store in found)
    assert len(one) == 24
    assert one == other


# Modules

SMALL = Rules(side=4, colors=4, rack=3)
NETWORK = {"rules": SMALL.to_dict(), "width": 5}


def positions() -> View:
    state, rng = kernel.deal(SMALL, range(30)), np.random.default_rng(0)
    for _ in range(5):
        mask = kernel.legal(state)
        kernel.apply(state, np.where(mask, rng.random(mask.shape), -1).argmax(axis=1))
    return view(state, seats=state.to_play)


def batch_of(seen: View, encoding: AnyEncoding) -> dict[str, Any]:
    fields = {name: torch.from_numpy(array) for name, array in make_encoding(encoding).encode(seen).items()}
    return {
        "obs": {"observation": fields.get("", fields), "action_mask": torch.from_numpy(seen.mask().astype(np.int8))}
    }


@pytest.mark.parametrize("encoding", ["flat", "planes", "tokens", HalvesAndTokens()], ids=str)
def test_scripted_agents_play_as_anywhere(encoding: AnyEncoding) -> None:
    seen = positions()
    for name in ("random", "denial"):
        module = PolicyModule(model_config={"policy": name, "rules": SMALL.to_dict(), "encoding": encoding})
        np.random.seed(3)  # noqa: NPY002  as RLlib does
        found = module.forward_exploration(batch_of(seen, encoding))["actions"]
        np.random.seed(3)  # noqa: NPY002
        random = np.random.randint(2**64, size=len(seen), dtype=np.uint64)  # noqa: NPY002
        assert np.array_equal(found, make_policy(name)(seen, random))


def test_policies_need_views() -> None:
    with pytest.raises(TypeError, match="views, which cannot be read from the encoding <"):
        PolicyModule(model_config={"policy": "greedy", "rules": SMALL.to_dict(), "encoding": Halves()})


def test_the_encoding_of_the_trainer() -> None:
    check_encoding(HalvesAndTokens(), SMALL)


def test_past_selves_play_as_with_numpy(tmp_path: Path) -> None:
    torch.manual_seed(0)
    module, seen = PastSelfModule(model_config=NETWORK), positions()
    weights = {name: value.numpy() for name, value in module.net.state_dict().items()}
    weight_files.write(tmp_path / "some.safetensors", KIND, SMALL, weights)
    found = module.forward_exploration(batch_of(seen, HalvesAndTokens()))["actions"]
    expected = PPO(tmp_path / "some.safetensors")(seen, np.zeros(len(seen), dtype=np.uint64))
    assert (found == expected).mean() > 0.9  # rounding may decide between equally good actions
    assert seen.mask()[np.arange(len(seen)), found].all()


# The trainer

SMALL_RUN = Args(
    side=4, colors=4, rack=3, iterations=2, num_env_runners=0, n_envs=2, rollout_size=128, batch_size=64, n_epochs=1,
    max_past_selves=1, snapshot_every=1, eval_every=1, eval_deals=2,
)  # fmt: skip


def test_one_seat_learns_and_the_league_has_the_others() -> None:
    seating = ModuleMapping(3, {"denial": 0.2, "self_0": 0.8})
    games = [SimpleNamespace(id_=f"game {number}") for number in range(2000)]
    seated = np.array([[seating(f"player_{seat}", game) for seat in range(3)] for game in games])
    assert ((seated == MODULE).sum(axis=1) == 1).all()
    assert np.allclose((seated == MODULE).mean(axis=0), 1 / 3, atol=0.05)
    assert (seated[seated != MODULE] == "self_0").mean() == pytest.approx(0.8, abs=0.03)
    assert seating("player_0", games[7]) == seated[7, 0], "it depends on the id of the game only"


def test_past_selves_stay_as_they_were(tmp_path: Path) -> None:
    """They get the learner's weights, and further updates change the learner only."""
    trainer = Trainer(SMALL_RUN, Run(tmp_path, "rllib", SMALL_RUN))
    modules = trainer.algorithm.env_runner.module
    trainer._update()
    kept = trainer._get_weights()
    trainer.add_past_self()
    assert trainer.league.shares == pytest.approx({"denial": 0.35, "greedy": 0.35, "self_0": 0.3}, abs=0.1)
    trainer._update()
    past, learner = (modules[name].get_state() for name in ("self_0", MODULE))
    assert all(np.array_equal(past[f"net.{name}"], array) for name, array in kept.items())
    assert any(not np.array_equal(learner[f"net.{name}"], array) for name, array in kept.items())
    assert trainer.games > 10
    trainer.algorithm.stop()


def test_scripted_opponents_with_settings(tmp_path: Path) -> None:
    """Their modules have the names that the league has, and play with the settings."""
    args = replace(SMALL_RUN, scripted=("concave(temperature=5)", "greedy"))
    trainer = Trainer(args, Run(tmp_path, "rllib", args))
    modules = trainer.algorithm.env_runner.module
    assert set(trainer.league.shares) == set(modules.keys()) - {MODULE, "self_0"}
    assert len(trainer.league.shares) == 2
    name = next(iter(trainer.league.shares))
    seen = positions()
    np.random.seed(3)  # noqa: NPY002  as RLlib does
    found = modules[name].forward_exploration(batch_of(seen, HalvesAndTokens()))["actions"]
    np.random.seed(3)  # noqa: NPY002
    random = np.random.randint(2**64, size=len(seen), dtype=np.uint64)  # noqa: NPY002
    assert np.array_equal(found, make_policy("concave(temperature=5)")(seen, random))
    assert not np.array_equal(found, make_policy("concave")(seen, random))
    trainer._update()
    assert all(opponent.win_rate != 0.5 for opponent in trainer.league.scripted)
    trainer.algorithm.stop()
    with pytest.raises(ValueError, match="concave"):
        Trainer(replace(args, scripted=("greedy", "concave", "concave")), trainer.run)


def test_the_files_of_a_run(tmp_path: Path) -> None:
    """Checkpoint and weights play alike, the options come back, and another run can start from the weights."""
    args = replace(SMALL_RUN, out=tmp_path / "one")
    main(args)
    assert read_config(args.out / CONFIG, Args) == args
    agents = RLlibAgent(args.out / "checkpoint", encoding=HalvesAndTokens()), PPO(args.out / "policy.safetensors")
    for agent in agents:
        check_policy(agent, SMALL)
    assert_same_play(*agents)
    other = replace(args, start_from=args.out / "policy.safetensors", learning_rate=0.0, out=tmp_path / "other")
    main(other)
    assert_same_play(agents[1], PPO(other.out / "policy.safetensors"))
    with pytest.raises(ValueError, match="has a run already"):
        main(args)


def test_options_from_a_file(tmp_path: Path) -> None:
    """The command line overrides the file, and a wrong file is refused before Ray starts."""
    path = tmp_path / "my.yaml"
    write_config(path, replace(SMALL_RUN, iterations=1, num_env_runners=1))
    command = [sys.executable, "-m", "experiments.train_rllib", "--config", str(path)]
    options = parse_options(Args, [*command[3:], "--num-env-runners", "0", "--out", "elsewhere"])
    assert options == replace(SMALL_RUN, iterations=1, out=Path("elsewhere"))
    path.write_text("rollout: 128\n")
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert f"{path}: expected the options " in refused.stderr
    assert 'found "rollout"' in refused.stderr


class RoundsBatches(RLModule):
    """Two actions have the same logit, but in a batch the second one has a slightly greater one."""

    def __init__(self) -> None:  # it has no spaces and no networks
        self.batches: list[int] = []

    def forward_inference(self, batch: dict[str, Any], **_: Any) -> dict[str, torch.Tensor]:
        mask = batch[Columns.OBS]["action_mask"]
        self.batches.append(len(mask))
        logits = torch.zeros(mask.shape)
        logits[:, 0], logits[:, 1] = 1, 1 + 1e-6 * (len(mask) > 1)
        return {Columns.ACTION_DIST_INPUTS: logits}


def test_near_ties_are_decided_as_for_one_game_alone() -> None:
    module, seen = RoundsBatches(), positions()
    found = RLlibAgent(module)(seen, np.zeros(len(seen), dtype=np.uint64))
    assert (found == 0).all()
    assert module.batches == [len(seen), *[1] * len(seen)]


@pytest.mark.parametrize(
    ("option", "value"), [("iterations", 0), ("rollout_size", 0), ("n_envs", 0), ("num_env_runners", -1)]
)
def test_numbers_out_of_range(option: str, value: int) -> None:
    least = 0 if option == "num_env_runners" else 1
    with pytest.raises(ValueError, match=f"--{option.replace('_', '-')} must be at least {least}, not {value}"):
        replace(SMALL_RUN, **{option: value}).check()


def assert_same_play(one: Policy, other: Policy) -> None:
    seen, random = positions(), np.zeros(30, dtype=np.uint64)
    assert (one(seen, random) == other(seen, random)).mean() > 0.9  # rounding may decide between equally good actions
