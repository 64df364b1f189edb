"""Make the datasets of transitions for offline learning: four strengths, and mixed play.

    pip install -e '.[minari,train,fast]'
    python -m experiments.offline_data --datasets denial           # genial/denial-v0; without --datasets: all five

plays games for two, in which one agent has both seats, and writes the transitions of both seats as a dataset of Minari
(genial_env/envs/offline.py). In the dataset "mixed" each ordered pair of the four agents plays an equal share of the
games. The games follow from the seed, so the same command makes the same dataset again. Minari keeps its datasets in
``~/.minari/datasets``, or in the folder that MINARI_DATASETS_PATH names.

What the datasets hold: docs/offline.md.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tyro

from genial_env import Rules
from genial_env._util.shutdown import handle_signals
from genial_env._util.version import __version__
from genial_env.backends import for_one_game, using
from genial_env.envs.offline import check_dataset, write_minari
from genial_env.records import Record
from genial_env.simulation import play_batches

AGENTS = ("random", "greedy", "denial", "value")

MIXED = "mixed"

BATCH = 256
"""Games played at a time."""


@dataclass
class Args:
    """The options of the command line."""

    datasets: tuple[str, ...] = (*AGENTS, MIXED)
    """datasets to make: agents, or mixed"""
    games: int = 10_000
    """games of each dataset; of the dataset mixed at least one for each of the 16 pairs of agents"""
    seed: int = 0
    """seed of the games"""
    encoding: str = "planes"
    """encoding of the observations"""
    suffix: str = "-v0"
    """end of the names, with the version"""


def make_lineups(dataset: str) -> list[tuple[str, str]]:
    """Return the agents of both seats of the games of a dataset.

    Raises:
        ValueError: if there is no such dataset.
    """
    if dataset not in (*AGENTS, MIXED):
        raise ValueError(f"the dataset must be one of {', '.join((*AGENTS, MIXED))}, not {dataset!r}")
    pairs = [(first, second) for first in AGENTS for second in AGENTS]
    return pairs if dataset == MIXED else [(dataset, dataset)]


def play_records(dataset: str, args: Args) -> Iterator[Record]:
    """Yield the records of the games of a dataset."""
    lineups = make_lineups(dataset)
    for number, lineup in enumerate(lineups):
        games = (args.games * (number + 1)) // len(lineups) - (args.games * number) // len(lineups)
        for part in play_batches(lineup, Rules(), max(1, games), args.seed + number, batch=BATCH, record=True):
            yield from part.records or []


def describe(dataset: str, args: Args) -> dict[str, Any]:
    """Return the metadata of a dataset: what it holds, and how it is made again."""
    words = ["python", "-m", "experiments.offline_data", "--datasets", dataset, "--games", str(args.games)]
    words += ["--seed", str(args.seed), "--encoding", args.encoding, "--suffix", args.suffix]
    who = f"each ordered pair of {', '.join(AGENTS)}" if dataset == MIXED else f"{dataset} against itself"
    return {
        "description": (
            f"Transitions of both seats in {args.games:,} games of Génial! (Ingenious) for two, edition 2025: "
            f"{who}. Observations: encoding {args.encoding!r}. Packed bits of the legal actions: infos['action_mask']. "
            f"Made with genial_env {__version__} by: {shlex.join(words)}"
        ),
        "author": {"The genial_env developers"},
        "code_permalink": "https://github.com/genial-env/genial-env",
        "command": shlex.join(words),
    }


def main(args: Args) -> dict[str, int]:
    """Make the datasets, and return their numbers of episodes by name."""
    names = {dataset: f"genial/{dataset}{args.suffix}" for dataset in args.datasets}
    for dataset, name in names.items():  # before any game is played
        make_lineups(dataset)
        check_dataset(name)
    found = {}
    with using(for_one_game()):
        for dataset, name in names.items():
            found[name] = write_minari(name, play_records(dataset, args), args.encoding, describe(dataset, args))
            print(f"{name}: {found[name]:,} episodes", flush=True)
    return found


if __name__ == "__main__":
    with handle_signals("offline_data"):
        main(tyro.cli(Args))
