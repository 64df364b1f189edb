"""What is each group of the value network's features worth?

    python -m experiments.ablate_features

A shipped network plays games against itself. Networks learn from these games to predict the results: one with all
features, and for each group one without it (its numbers are 0). The table shows the cross-entropy in games that they
have not seen, as means over seeds, and by how much it is worse without the group. So it tells what a feature adds to
the others as a predictor, not what it adds to the strength.
"""

import math
import re
from dataclasses import dataclass

import numpy as np
import torch
import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table

from agents.value.learner import Args as TrainingArgs
from agents.value.self_play import Samples, SelfPlayTask, self_play
from agents.value.torch_net import TorchValueNet
from genial_env import Rules, use_backend
from genial_env._util.shutdown import handle_signals
from genial_env.core.arrays import Bools, Floats
from genial_env.core.tables import tables
from genial_env.policies.afterstates import color_features, game_features, kind_features, width
from genial_env.policies.seat_counts import value_candidates
from genial_env.policies.value import Nets

GROUPS = {
    "points on cells": r"cells that score|most points on",
    "rack by colors": r"(tiles|doubles) in the rack|greatest gain of a tile in the rack with",
    "unseen by colors": r"unseen (tiles with|doubles)|greatest gain of an unseen tile with",
    "tile kinds": r"kind: ",
    "placements elsewhere": r"elsewhere",
    "placements left": r"most placements left",
    "tiles to be drawn": r"to be drawn",
    "parts of lines": r"parts of lines",
    "replies": r"seat \d: (expected|greatest) gain",
}
"""The groups: patterns of the features' names; those of a tile kind begin with "kind: "."""


@dataclass
class Args:
    """The options of the command line."""

    players: int = 2
    """number of seats"""
    mode: str = "individual"
    """"individual", "team" or "solo" """
    edition: str = "2025"
    """edition of the rules; team and solo are in "2004" and "2009" """
    games: int = 6_000
    """games to learn from"""
    test_games: int = 2_000
    """games to measure with"""
    steps: int = 2_500
    """gradient steps of each network"""
    batch_size: int = 1_024
    """samples of a gradient step"""
    learning_rate: float = 4e-3
    """initial learning rate; it falls to 0 by a cosine schedule"""
    seeds: int = 3
    """networks of each kind"""
    groups: tuple[str, ...] = ()
    """groups of features, one is left out at a time; by default all that the game has"""


def find_columns(rules: Rules, group: str) -> Bools:
    """Return which numbers of the features belong to a group: [W].

    Raises:
        ValueError: if there is no such group in the game.
    """
    own = list_groups(rules)
    if group not in own:
        raise ValueError(f"the group must be one of {', '.join(own)}, not {group!r}")
    return _match(rules, group)


def list_groups(rules: Rules) -> list[str]:
    """Return the groups of which the game has features."""
    return [group for group in GROUPS if _match(rules, group).any()]


def _match(rules: Rules, group: str) -> Bools:
    """Return which numbers have a name that a group's pattern finds: [W]."""
    names = [
        *color_features(rules) * rules.colors,
        *(f"kind: {name}" for name in kind_features(rules) * tables(rules).n_kinds),
        *game_features(rules),
    ]
    return np.array([re.search(GROUPS[group], name) is not None for name in names])


def train(rules: Rules, samples: Samples, without: Bools, args: Args, seed: int) -> TorchValueNet:
    """Train a network from samples, in which some numbers are 0."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = TorchValueNet(rules, TrainingArgs().widths, np.where(without, 0, samples.features[:20_000]))
    optimizer = torch.optim.Adam(net.parameters(), lr=args.learning_rate)
    for step in range(args.steps):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1 + math.cos(math.pi * step / args.steps)) / 2
        rows = rng.integers(len(samples), size=args.batch_size)
        features = torch.from_numpy(np.where(without, 0, samples.features[rows]))
        loss = net.loss(features, torch.from_numpy(samples.targets[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net


def measure(net: TorchValueNet, samples: Samples, without: Bools) -> float:
    """Return the cross-entropy of a network, averaged over samples."""
    with torch.no_grad():
        parts = [
            float(net.loss(torch.from_numpy(np.where(without, 0, features)), torch.from_numpy(targets))) * len(features)
            for features, targets in zip(
                np.array_split(samples.features, 1 + len(samples) // 50_000),
                np.array_split(samples.targets, 1 + len(samples) // 50_000),
                strict=True,
            )
        ]
    return sum(parts) / len(samples)


def main(args: Args) -> dict[str, Floats]:
    """Print the table; return the cross-entropies [seeds] by group, "" for all features."""
    rules = Rules(args.players, args.edition, args.mode)
    columns = {"": np.zeros(width(rules), dtype=np.bool_)} | {
        group: find_columns(rules, group) for group in args.groups or list_groups(rules)
    }
    weights, most = Nets().of(rules).arrays, value_candidates(rules)
    with use_backend("numba"):
        train_set, test_set = (
            self_play(SelfPlayTask(rules, weights, seed=seed, games=games, candidates=most, td_lambda=1.0))
            for seed, games in ((1, args.games), (2, args.test_games))
        )
    console, found = Console(stderr=True), {}
    for group, without in columns.items():
        seeds = track(range(args.seeds), group or "all features", console=console, transient=True)
        nets = [train(rules, train_set, without, args, seed) for seed in seeds]
        found[group] = np.array([measure(net, test_set, without) for net in nets])
    table = Table("features", "numbers", "cross-entropy", "worse by", title=f"{rules.players} seats, {rules.mode}")
    for group, losses in found.items():
        worse = losses - found[""]  # the same seeds
        half = 1.96 * worse.std(ddof=1) / math.sqrt(len(worse)) if len(worse) > 1 else math.nan
        numbers = int(columns[group].sum()) if group else width(rules)
        row = f"without {group}" if group else "all", str(numbers), f"{losses.mean():.4f}"
        table.add_row(*row, f"{worse.mean():+.4f} ± {half:.4f}" if group else "")
    Console().print(table)
    return found


if __name__ == "__main__":
    with handle_signals("ablate_features"):
        main(tyro.cli(Args))
