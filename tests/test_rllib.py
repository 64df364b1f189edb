"""RLlib's environment (RLlib has a virtual environment of its own: .ci/rllib runs this there)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray", reason="needs ray[rllib], which pins an older gymnasium: see .ci/rllib")

from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from genial_env import IllegalAction, Rules, genial_v0
from genial_env.arena.store import Settings
from genial_env.arena.tournament import run
from genial_env.envs.rewards import rank_utility
from genial_env.envs.rllib import GenialMultiAgentEnv

CASES: list[dict[str, Any]] = [
    {"players": 2},
    {"players": 3, "edition": "2009", "side": 4, "colors": 4, "rack": 2},
    {"players": 4, "edition": "2004", "mode": "team", "reward": "lowest", "encoding": "tokens"},
]

each = pytest.mark.parametrize("arguments", CASES, ids=str)


def choose(mask: np.ndarray, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


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
            assert infos == {mover: {}}
            expected = aec.observe(mover)
            assert all(np.array_equal(observations[mover][name], expected[name]) for name in expected)
            action = choose(observations[mover]["action_mask"], rng)
            observations, rewards, terminateds, truncateds, infos = env.step({mover: action})
            aec.step(action)
            over = terminateds["__all__"]
            told = env.possible_agents if over else [aec.agent_selection]
            assert rewards == {agent: aec._cumulative_rewards[agent] for agent in told}
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
    episode = MultiAgentEpisode(
        observation_space=env.observation_spaces,
        action_space=env.action_spaces,
        agent_to_module_mapping_fn=lambda *_: "m",
    )
    episode.add_env_reset(observations=observations, infos=infos)
    decided, earned = dict.fromkeys(env.possible_agents, 0), dict.fromkeys(env.possible_agents, 0.0)
    chunks, steps = [episode], 0
    while not episode.is_done:
        (mover,) = observations
        action = choose(observations[mover]["action_mask"], rng)
        observations, rewards, terminateds, truncateds, infos = env.step({mover: action})
        episode.add_env_step(
            observations=observations,
            actions={mover: action},
            rewards=rewards,
            infos=infos,
            terminateds=terminateds,
            truncateds=truncateds,
        )
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
    assert "illegal action 0" in infos["player_0"]["illegal_action"]
    assert "illegal_action" not in infos["player_1"]
    with pytest.raises(ValueError, match="RLlib takes one number a step"):
        GenialMultiAgentEnv({"reward": "vector"})
    with pytest.raises(TypeError):
        GenialMultiAgentEnv({"worker": 1})


def test_a_tournament_whose_processes_ray_runs(tmp_path: Path) -> None:
    settings = Settings(("random", "greedy", "points"), Rules(side=4, colors=4, rack=3), groups=4, seed=3)
    found = [run(settings, tmp_path / "here"), run(settings, tmp_path / "ray", workers=2, joblib_backend="ray")]
    one, other = (sorted((game.group, game.seats, game.scores) for game in store.games) for store in found)
    assert len(one) == 24
    assert one == other
