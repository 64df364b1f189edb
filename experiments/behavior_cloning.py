"""How well does a network play that has only imitated the games of a dataset?

    pip install -e '.[minari,train,fast]'
    python -m experiments.offline_data --datasets denial --games 2000
    python -m experiments.behavior_cloning --dataset genial/denial-v0

trains the structured network (agents/ppo/structured_net.py) by behavior cloning: it maximizes the probability of the
actions in the dataset among the legal ones. Then its most likely actions play against scripted agents, each deal from
both seats.

The answer: docs/offline.md.
"""

from dataclasses import dataclass
from itertools import islice
from typing import Any

import minari
import numpy as np
import torch
import tyro
from torch import Tensor
from torch.nn.functional import cross_entropy

from agents.ppo.structured_net import StructuredNet
from agents.runs.evaluation import Measured, measure
from genial_env import Rules, View
from genial_env._util.shutdown import handle_signals
from genial_env.backends import for_one_game, using
from genial_env.core.arrays import Bits, Ints
from genial_env.encodings import make_encoding
from genial_env.envs.offline import unpack_masks


@dataclass
class Args:
    """The options of the command line."""

    dataset: str = "genial/denial-v0"
    """name of the dataset; its observations must have the encoding planes"""
    episodes: int = 4000
    """episodes that are learned from, the first of the dataset"""
    n_epochs: int = 4
    """passes over the decisions"""
    batch_size: int = 256
    """decisions in a minibatch"""
    learning_rate: float = 3e-3
    """initial learning rate; it falls linearly to 0"""
    width: int = 32
    """hidden units of the network"""
    opponents: tuple[str, ...] = ("random", "greedy", "denial")
    """opponents of the evaluation"""
    deals: int = 500
    """deals against each opponent; each is played from both seats"""
    seed: int = 0
    """seed of the network and the order of the decisions"""
    threads: int = 1
    """threads of torch"""


class NetAgent:
    """An agent that plays the most likely action of a network over the encoding planes.

    Args:
        net: the network.
    """

    name = "cloned"

    def __init__(self, net: StructuredNet) -> None:
        self._net, self._encoding = net, make_encoding("planes")

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        observation = {name: torch.as_tensor(each).float() for name, each in self._encoding.encode(view).items()}
        with torch.no_grad():
            logits, _ = self._net(observation)
        best: Ints = logits.masked_fill(~torch.as_tensor(view.mask()), -torch.inf).argmax(dim=1).numpy()
        return best


def read_decisions(dataset: Any, episodes: int) -> tuple[dict[str, Tensor], Tensor, Tensor]:
    """Return the observations, the packed masks and the actions of the first episodes of a dataset."""
    found = list(islice(dataset.iterate_episodes(), episodes))
    names = found[0].observations
    observations = {
        name: torch.as_tensor(np.concatenate([each.observations[name][:-1] for each in found])) for name in names
    }
    masks = torch.as_tensor(np.concatenate([each.infos["action_mask"][:-1] for each in found]))
    return observations, masks, torch.as_tensor(np.concatenate([each.actions for each in found]))


def train(args: Args, rules: Rules) -> StructuredNet:
    """Train a network on a dataset, and print the share of the actions that it predicts in each pass."""
    torch.manual_seed(args.seed)
    dataset = minari.load_dataset(args.dataset)
    observations, masks, actions = read_decisions(dataset, args.episodes)
    n_actions = int(dataset.action_space.n)
    net = StructuredNet(rules, args.width)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.learning_rate)
    updates = args.n_epochs * -(-len(actions) // args.batch_size)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1e-3, updates)
    for epoch in range(args.n_epochs):
        predicted = 0
        for rows in torch.randperm(len(actions)).split(args.batch_size):
            logits, _ = net({name: each[rows].float() for name, each in observations.items()})
            legal = torch.as_tensor(unpack_masks(masks[rows].numpy(), n_actions))
            logits = logits.masked_fill(~legal, -1e9)
            loss = cross_entropy(logits, actions[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            predicted += int((logits.argmax(dim=1) == actions[rows]).sum())
        share = predicted / len(actions)
        print(f"epoch {epoch + 1}: {share:.1%} of {len(actions):,} actions predicted", flush=True)
    return net


def main(args: Args) -> dict[str, Measured]:
    """Train, play, print, and return the results by opponent."""
    torch.set_num_threads(args.threads)
    rules = Rules()
    agent = NetAgent(train(args, rules))
    with using(for_one_game()):
        found = measure(agent, args.opponents, rules, args.deals, seed=1)
    for name, each in found.items():
        print(f"against {name}: {each.mean:.1%} ± {each.half:.1%} of {each.games:,} games won")
    return found


if __name__ == "__main__":
    with handle_signals("behavior_cloning"):
        main(tyro.cli(Args))
