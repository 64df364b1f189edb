"""Datasets of Minari: their episodes against the environment, names, errors, and the experiments that use them."""

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from genial_env import Rules, kernel, play
from genial_env.core.tables import tables
from genial_env.errors import RecordError
from genial_env.records import Record, replay_decisions, truncate, write_records

pytest.importorskip("minari", reason="needs Minari: pip install -e '.[minari]'")
pytest.importorskip("h5py", reason="needs h5py: pip install -e '.[minari]'")
import minari

from genial_env.envs.offline import check_dataset, unpack_masks, write_minari


@pytest.fixture(autouse=True)
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    return tmp_path / "datasets"


def play_records(rules: Rules, games: int, agents: list[str]) -> list[Record]:
    records = play(agents, rules, games, seed=3, record=True).records
    assert records is not None
    return records


def write(rules: Rules, games: int, agents: list[str], **arguments: Any) -> tuple[list[Record], Any]:
    records = play_records(rules, games, agents)
    assert write_minari("genial/test-v0", records, **arguments) == games * rules.players
    return records, minari.load_dataset("genial/test-v0")


@pytest.mark.parametrize(
    "rules", [Rules(side=4, colors=4, rack=3), Rules(3), Rules(4, "2009", "team"), Rules(1, "2009", "solo")], ids=str
)
def test_episodes_are_the_decisions_of_each_seat(rules: Rules) -> None:
    records, dataset = write(rules, 2, ["greedy", *["random"] * (rules.players - 1)])
    assert dataset.total_episodes == 2 * rules.players
    for number, episode in enumerate(dataset.iterate_episodes()):
        game, seat = divmod(number, rules.players)
        found = replay_decisions(records[game])
        own = np.flatnonzero(found.states.to_play == seat)
        assert episode.actions.tolist() == found.actions[own].tolist()
        masks = unpack_masks(episode.infos["action_mask"], dataset.action_space.n)
        assert (masks[:-1] == kernel.legal(found.states, own)).all()
        assert not masks[-1].any()
        assert episode.terminations.tolist() == [False] * (len(own) - 1) + [True]
        assert set(episode.infos["seat"].tolist()) == {seat}
        assert episode.infos["agent"][0].decode() == records[game]["agents"][seat]
        track = rules.track_of(seat)
        if rules.tracks == 1:
            assert episode.rewards.sum() == min(records[game]["scores"][0])
        else:
            assert not episode.rewards[:-1].any()
            ranks = records[game]["ranks"]
            assert np.sign(episode.rewards[-1]) == np.sign(np.mean(ranks) - ranks[track])


def test_observations_are_those_of_the_environment() -> None:
    """The recovered environment gives the same observations, rewards and masks for the same seed and actions."""
    rules = Rules(side=4, colors=4, rack=3)
    records, dataset = write(rules, 3, ["random", "greedy"], about={"description": "three games"})
    env = dataset.recover_environment(opponents="greedy", seat=0)
    assert env.observation_space == dataset.observation_space
    options = [each["options"] for each in dataset.storage.get_episode_metadata(range(6))]
    for game in range(3):
        episode = dataset[2 * game]
        assert int(options[2 * game]["game_seed"]) == records[game]["seed"]
        observation, info = env.reset(options={"game_seed": records[game]["seed"]})
        masks = unpack_masks(episode.infos["action_mask"], dataset.action_space.n)
        for step, action in enumerate(episode.actions.tolist()):
            assert all((array[step] == observation[name]).all() for name, array in episode.observations.items())
            assert (masks[step] == info["action_mask"]).all()
            observation, reward, terminated, _, info = env.step(action)
            assert (reward, terminated) == (episode.rewards[step], episode.terminations[step])
        assert all((array[-1] == observation[name]).all() for name, array in episode.observations.items())
    assert dataset.storage.metadata["description"] == "three games"
    assert dataset.storage.metadata["algorithm_name"] == "greedy, random"


def test_a_seat_that_never_decides_makes_no_episode() -> None:
    rules = Rules(4, side=3, rack=2)
    records = play_records(rules, 120, ["random"] * 4)[100:]
    seats = [sorted({event[1] for event in record["events"] if event[0] != "draw"}) for record in records]
    expected = [(record["seed"], seat) for record, of_game in zip(records, seats, strict=True) for seat in of_game]
    assert len(expected) < 4 * len(records)
    assert write_minari("genial/test-v0", records) == len(expected)
    dataset = minari.load_dataset("genial/test-v0")
    assert dataset.total_episodes == len(expected)
    options = [each["options"] for each in dataset.storage.get_episode_metadata(range(len(expected)))]
    found = [int(episode.infos["seat"][0]) for episode in dataset.iterate_episodes()]
    assert [(int(each["game_seed"]), seat) for each, seat in zip(options, found, strict=True)] == expected


def test_encodings() -> None:
    _, dataset = write(Rules(), 1, ["greedy", "greedy"], encoding="flat")
    assert dataset[0].observations.shape == (len(dataset[0].actions) + 1, *dataset.observation_space.shape)
    assert dataset.env_spec.kwargs["encoding"] == "flat"
    assert isinstance(dataset.recover_environment().action_space, gym.spaces.Discrete)
    assert dataset.action_space.n == tables(Rules()).n_actions


def test_what_is_refused_leaves_nothing(datasets: Path, tmp_path: Path) -> None:
    records = play_records(Rules(), 2, ["greedy", "greedy"])
    other = play_records(Rules(side=4, colors=4, rack=3), 1, ["greedy", "greedy"])
    broken = json.loads(json.dumps(records[1]))
    broken["events"][0][2] += 1
    for given, error, message in (
        ([], ValueError, "there is no record"),
        ([*records, *other], ValueError, "games with the same rules"),
        ([truncate(records[0], 4)], ValueError, "finished games only"),
        ([records[0], broken], RecordError, "game 1: event 0"),
    ):
        with pytest.raises(error, match=message):
            write_minari("genial/test-v0", given)
    assert [each for each in datasets.rglob("*") if each.is_file()] == []
    with pytest.raises(ValueError, match="a name such as 'genial/denial-v0', not 'no name'"):
        check_dataset("no name")
    write_minari("genial/test-v0", records[:1])
    with pytest.raises(ValueError, match="the dataset genial/test-v0 exists"):
        write_minari("genial/test-v0", records)


def test_the_standard_datasets(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tyro", reason="needs the extra train")
    from experiments import offline_data

    found = offline_data.main(offline_data.Args(datasets=("greedy", "mixed"), games=16, suffix="-small-v0"))
    assert found == {"genial/greedy-small-v0": 32, "genial/mixed-small-v0": 32}
    assert "genial/mixed-small-v0: 32 episodes" in capsys.readouterr().out
    mixed = minari.load_dataset("genial/mixed-small-v0")
    agents = {episode.infos["agent"][0].decode() for episode in mixed.iterate_episodes()}
    assert agents == set(offline_data.AGENTS)
    command = mixed.storage.metadata["command"]
    assert command == (
        "python -m experiments.offline_data --datasets mixed --games 16 --seed 0 --encoding planes --suffix -small-v0"
    )
    again = list(offline_data.play_records("greedy", offline_data.Args(games=2)))
    assert again == list(offline_data.play_records("greedy", offline_data.Args(games=3)))[:2]
    with pytest.raises(ValueError, match="must be one of random, greedy, denial, value, mixed, not 'chess'"):
        offline_data.make_lineups("chess")


def test_behavior_cloning(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sb3_contrib", reason="needs the extra train")
    from experiments import behavior_cloning

    write_minari("genial/test-v0", play_records(Rules(), 4, ["greedy", "greedy"]))
    args = behavior_cloning.Args(
        "genial/test-v0", episodes=6, n_epochs=1, batch_size=64, width=4, opponents=("random",), deals=4
    )
    assert behavior_cloning.main(args)["random"].games == 8
    assert "actions predicted" in capsys.readouterr().out


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from genial_env.cli.common import UserError, app

    path = str(tmp_path / "games.jsonl")
    write_records(path, play_records(Rules(), 1, ["greedy", "random"]))

    def run(*words: str) -> Any:
        return CliRunner().invoke(app, ["export", path, *words])

    done = run("--to", "minari", "--name", "genial/mine-v0", "--encoding", "flat")
    assert done.output == "2 episodes in the dataset genial/mine-v0\n"
    assert minari.load_dataset("genial/mine-v0").total_episodes == 2
    for words, message in (
        (["--to", "minari"], "needs the name of the dataset"),
        (["--to", "minari", "--name", "genial/mine-v0"], "exists"),
        (["--to", "minari", "--name", "genial/x-v0", "--judge", "fast"], "--judge is for tables"),
        (["--to", "minari", "--name", "genial/x-v0", "--encoding", "none"], "none"),
        (["--to", "games.csv", "--name", "genial/x-v0"], "needs --to minari"),
    ):
        error = run(*words).exception
        assert isinstance(error, UserError)
        assert message in str(error)
