"""Datasets of transitions in the format of Minari, for offline reinforcement learning and imitation.

    from genial_env.envs.offline import write_minari
    from genial_env.records import located_records

    write_minari("genial/denial-v0", located_records("games.jsonl"))
    minari.load_dataset("genial/denial-v0")

An episode is what one seat experiences in one game, as in the environment ``genial_env/Genial-v0``: a step runs from
one decision of the seat to its next one. A seat that never decides in a game has no step, so it makes no episode.
docs/offline.md describes the datasets. Needs Minari (extra `minari`).
"""

import copy
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from genial_env._util.extras import install_hint
from genial_env._util.version import __version__
from genial_env.core import kernel
from genial_env.core.arrays import Bools, Ints
from genial_env.core.rules import Rules
from genial_env.core.views import view
from genial_env.encodings import Encoding, make_encoding
from genial_env.envs import spaces
from genial_env.envs.rewards import compute_rewards
from genial_env.records.batches import AnyRecord, Played, replay_batches

__all__ = ["check_dataset", "unpack_masks", "write_minari"]

MASK = "action_mask"
"""The name of the info that holds the packed masks."""


def write_minari(
    dataset_id: str, records: Iterable[AnyRecord], encoding: str = "planes", about: dict[str, Any] | None = None
) -> int:
    """Write the transitions of recorded games as a dataset of Minari. It appears when it is complete.

    Args:
        dataset_id: the name, as Minari wants it: ``"genial/denial-v0"``.
        records: the records of finished games with the same rules.
        encoding: the name of the encoding of the observations.
        about: further metadata of the dataset, such as `description`; see Minari's documentation.

    Returns:
        The number of episodes: at most one for each seat of each game, as seats that never decided make none.

    Raises:
        ValueError: if the name or the encoding is wrong, the dataset exists, there is no record, or a game is
            unfinished or has other rules.
        RecordError: if a record does not replay.
        ImportError: if Minari is not installed.
        OSError: if the dataset cannot be written.
    """
    minari, target = _import_minari(), check_dataset(dataset_id)
    chosen = make_encoding(encoding)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.parent / f".{target.name}.{uuid4().hex[:12]}.part"
    beside.mkdir()
    try:
        storage: Any = None
        rules, episodes, agents = Rules(), 0, set()
        for played in replay_batches(records):
            found = played.decisions.final.rules
            if storage is None:
                rules, storage = found, _open_storage(beside / "data", found, chosen, encoding)
            if found != rules:
                raise ValueError(f"a dataset has games with the same rules, not with {rules} and {found}")
            if not played.decisions.final.over.all():
                raise ValueError("a dataset has finished games only, and one of these is unfinished")
            buffers = list(_make_episodes(played, chosen))
            storage.update_episodes(buffers)
            episodes += len(buffers)
            agents |= {name for names in played.agents for name in names}
        if storage is None:
            raise ValueError("there is no record: a dataset needs at least one game")
        storage.update_metadata(
            {
                "dataset_id": dataset_id,
                "minari_version": minari.__version__,
                "algorithm_name": ", ".join(sorted(agents)),
                "requirements": [f"genial-env=={__version__}"],
                **(about or {}),
            }
        )
        beside.rename(target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return episodes


def check_dataset(dataset_id: str) -> Path:
    """Return the folder of a new dataset, after a check of its name.

    Raises:
        ValueError: if it is no name of a dataset, or the dataset exists.
        ImportError: if Minari is not installed.
    """
    _import_minari()
    from minari.dataset.minari_dataset import parse_dataset_id
    from minari.storage.datasets_root_dir import get_dataset_path

    try:
        parse_dataset_id(dataset_id)
    except ValueError as error:
        raise ValueError(f"a dataset has a name such as 'genial/denial-v0', not {dataset_id!r} ({error})") from error
    target = Path(get_dataset_path(dataset_id))
    if os.path.lexists(target):
        raise ValueError(f"the dataset {dataset_id} exists: delete it with `minari delete {dataset_id}` first")
    return target


def unpack_masks(packed: NDArray[np.uint8], n_actions: int) -> Bools:
    """Return the masks of legal actions [T, A] of packed ones [T, ceil(A / 8)], ``infos["action_mask"]`` of an episode.

    Args:
        packed: the packed masks.
        n_actions: A, ``dataset.action_space.n``.
    """
    return np.unpackbits(packed, axis=-1, count=n_actions).astype(np.bool_)


def _open_storage(folder: Path, rules: Rules, encoding: Encoding, name: str) -> Any:
    """Return a new storage of Minari in a folder."""
    from minari.dataset.minari_storage import MinariStorage

    kept = rules.to_dict()
    if rules.tracks == 1:
        kept = {key: value for key, value in kept.items() if key not in ("players", "mode")}  # the environment's own
    spec = copy.copy(gym.spec("genial_env/GenialSolo-v0" if rules.tracks == 1 else "genial_env/Genial-v0"))
    spec.kwargs = {**kept, "encoding": name}
    return MinariStorage.new(
        folder,
        observation_space=spaces.observation_space(encoding, rules),
        action_space=spaces.action_space(rules),
        env_spec=spec,
        jpeg_encoding=False,
    )


def _make_episodes(played: Played, encoding: Encoding) -> Iterator[Any]:
    """Yield one episode for each seat that decided in a game, game by game."""
    by_seat = [list(_episodes_of_seat(played, encoding, seat)) for seat in range(played.decisions.final.rules.players)]
    for of_game in zip(*by_seat, strict=True):
        yield from (episode for episode in of_game if len(episode.actions))


def _episodes_of_seat(played: Played, encoding: Encoding, seat: int) -> Iterator[Any]:
    """Yield the episode of a seat in each game."""
    from minari.data_collector.episode_buffer import EpisodeBuffer

    decisions, games = played.decisions, np.arange(len(played.agents))
    states, final = decisions.states, decisions.final
    own = np.flatnonzero(states.to_play == seat)
    in_order = np.argsort(np.concatenate([decisions.games[own], games]), kind="stable")  # the final ones behind
    ends = np.searchsorted(decisions.games[own], games, side="right")
    starts = np.concatenate([[0], ends[:-1]])
    encoded = encoding.encode(view(states, seat, own))
    at_end = encoding.encode(view(final, seat))
    observations = {name: np.concatenate([encoded[name], at_end[name]])[in_order] for name in encoded}
    masks = _pack_masks(states, own, in_order, len(games))
    rewards = _compute_rewards(played, own, ends, seat)
    for game, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        steps = end - start
        rows = slice(start + game, end + game + 1)  # each game before has one more observation than actions
        of_game = {name: array[rows] for name, array in observations.items()}
        seed = played.seeds[game]
        yield EpisodeBuffer(
            options=None if seed is None else {"game_seed": np.uint64(seed)},
            observations=of_game.get("", of_game),
            actions=decisions.actions[own[start:end]],
            rewards=rewards[start:end],
            terminations=np.arange(1, steps + 1) == steps,
            truncations=np.zeros(steps, dtype=np.bool_),
            infos={
                MASK: masks[rows],
                "seat": np.full(steps + 1, seat),
                "phase": np.append(states.phase[own[start:end]], final.phase[game]).astype(np.int64),
                "agent": [played.agents[game][seat]] * (steps + 1),
            },
        )


def _pack_masks(states: Any, own: Ints, in_order: Ints, games: int) -> NDArray[np.uint8]:
    """Return the packed masks of decisions, and of ends of games, which have no legal action."""
    packed = np.packbits(kernel.legal(states, own), axis=1)
    none = np.zeros((games, packed.shape[1]), dtype=np.uint8)
    found: NDArray[np.uint8] = np.concatenate([packed, none])[in_order]
    return found


def _compute_rewards(played: Played, own: Ints, ends: Ints, seat: int) -> NDArray[np.float64]:
    """Return the reward of each step of a seat: that of the environment's default, "rank" or solo "lowest"."""
    states, final = played.decisions.states, played.decisions.final
    games = played.decisions.games[own]
    after = states.scores[own[np.minimum(np.arange(len(own)) + 1, len(own) - 1)]]
    last = np.zeros(len(own), dtype=np.bool_)
    last[ends[ends > np.concatenate([[0], ends[:-1]])] - 1] = True
    after[last] = final.scores[games[last]]
    scheme = "lowest" if final.rules.tracks == 1 else "rank"
    return compute_rewards(scheme, final.rules, states.scores[own], after, last)[:, seat] + 0.0  # no negative zeros


def _import_minari() -> Any:
    """Return the module minari.

    Raises:
        ImportError: if it or h5py is not installed; the message says how to install them.
    """
    try:
        import h5py  # noqa: F401  the format of the datasets
        import minari
    except ImportError as error:
        raise ImportError(f"datasets need Minari: {install_hint('minari')} ({error})") from error
    return minari
