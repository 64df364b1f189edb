"""The learner of the value network: TD(lambda) from games of self-play, with a replay buffer."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.runs.config import Range, check_ranges
from agents.runs.evaluation import Measured, check_opponents, compare, is_weaker
from agents.value.replay_buffer import ReplayBuffer
from agents.value.self_play import Samples, SelfPlayTask, Weights, self_play
from agents.value.torch_net import TorchValueNet
from genial_env import Rules
from genial_env.policies import weight_files
from genial_env.policies.afterstates import Features, width
from genial_env.policies.value import KIND, Value
from genial_env.policies.value_net import Outcomes, ValueNet, Widths

__all__ = ["Args", "Learner"]


@dataclass
class Args:
    """The options of the command line. Names are those of Stable-Baselines3 where it has the option."""

    out: Path = Path("runs/value")
    """folder of the run"""
    players: int = 2
    """number of seats"""
    mode: str = "individual"
    """"individual", "team" (four seats) or "solo" """
    edition: str = "2025"
    """edition of the rules; team and solo are in "2004" and "2009" """
    side: int | None = None
    """variant: cells along an edge of the board; by default as printed, like the next two"""
    colors: int | None = None
    """variant: number of colors"""
    rack: int | None = None
    """variant: tiles on a rack"""
    games: int = 200_000
    """games of self-play"""
    warmup_games: int = 16_384
    """games of "denial" to learn from at first"""
    n_envs: int = 1_024
    """games at a time in an actor: one task"""
    actors: int = 1
    """processes that play"""
    ray: str | None = None
    """address of the Ray cluster on which they run; "local" starts one on this machine"""
    candidates: int = 32
    """placements that are evaluated for a decision"""
    temperature: float = 0.03
    """temperature of choices in training games, in rank utility (solo: markers)"""
    td_lambda: float = 0.8
    """lambda of the returns"""
    opponent_share: float = 0.2
    """share of the games in which a past self has seats"""
    search_share: float = 0.0
    """share of the decisions that are searched, after the games of `search_after`"""
    search_after: float = 0.5
    """share of the games after which the search begins"""
    search_deals: int = 8
    """deals in which each action is searched, at least 2; one half chooses, the other one sets the targets"""
    search_turns: int = 1
    """own turn up to which it is played on, 1: the next"""
    start_from: Path | None = None
    """weights to start from, of a network with at most these widths, instead of the warmup games"""
    best_response_to: Path | None = None
    """weights of a frozen network: all games are against it, to train a best response"""
    max_past_selves: int = 8
    """most past selves that are kept; of more, every other one is removed"""
    widths: Widths = field(default_factory=lambda: Widths(first=48, kind=32, second=48, third=64, fourth=32))
    """hidden units of the layers"""
    buffer_size: int = 2_000_000
    """samples in the replay buffer"""
    replay_ratio: float = 4.0
    """mean number of times that a sample is trained on"""
    batch_size: int = 1_024
    """samples of a gradient step"""
    learning_rate: float = 4e-3
    """initial learning rate; it falls to a hundredth by a cosine schedule"""
    ema_decay: float = 0.9995
    """decay per step of the exponential moving average of the weights"""
    eval_every: int = 20_000
    """games between two evaluations"""
    eval_deals: int = 200
    """deals of an evaluation against each opponent"""
    eval_opponents: tuple[str, ...] = ("greedy", "concave", "denial")
    """opponents of evaluations"""
    seed: int = 0
    """seed of the run"""
    threads: int = 1
    """threads of torch"""

    @property
    def rules(self) -> Rules:
        """The rules of the games."""
        sizes = {name: value for name in ("side", "colors", "rack") if (value := getattr(self, name)) is not None}
        return Rules(self.players, self.edition, self.mode, **sizes)

    def check(self) -> None:
        """Check the options (:class:`agents.runs.config.Checked`)."""
        check_ranges(self, RANGES)
        if self.best_response_to is not None and self.rules.tracks == 1:
            raise ValueError("--best-response-to: expected a game with opponents, got solo")
        if self.rules.tracks > 1:
            check_opponents(self.eval_opponents, self.rules)
        if self.best_response_to is not None:
            _read_weights(self.best_response_to, self.rules)
        if self.start_from is not None:
            found = ValueNet.widths_of(_read_weights(self.start_from, self.rules))
            if any(wanted < size for wanted, size in zip(self.widths, found, strict=True)):
                raise ValueError(
                    f"--widths: expected at least those of --start-from {self.start_from}, {_list_widths(found)}, got "
                    f"{_list_widths(self.widths)}"
                )

    @property
    def total_games(self) -> int:
        """The number of games, warmup games included."""
        return self.first_games + self.games

    @property
    def first_games(self) -> int:
        """The number of warmup games; 0 for a run that starts from weights."""
        return self.warmup_games if self.start_from is None else 0

    def make_task_seed(self, number: int) -> int:
        """Return the seed of a self-play task, different for all runs and tasks."""
        return (self.seed << 32) + number

    def make_eval_seed(self, number: int) -> int:
        """Return the seed of an evaluation, different from the seeds of all tasks."""
        return (1 << 63) + (self.seed << 32) + number


MOST_SEED = 2**31 - 1
"""The seeds of tasks and evaluations that follow from a seed have 64 bits."""

COUNTS = (
    "games",
    "warmup_games",
    "n_envs",
    "actors",
    "candidates",
    "search_turns",
    "max_past_selves",
    "buffer_size",
    "batch_size",
    "eval_every",
    "threads",
    *(f"widths.{name}" for name in Widths._fields),
)
SHARES = ("td_lambda", "opponent_share", "search_share", "search_after", "ema_decay")
RANGES: dict[str, Range] = {
    "seed": (0, MOST_SEED),
    "eval_deals": (2, None),  # an interval needs two
    "search_deals": (2, None),  # one half to choose by
    **dict.fromkeys(COUNTS, (1, None)),
    **dict.fromkeys(SHARES, (0.0, 1.0)),
    **dict.fromkeys(("temperature", "replay_ratio", "learning_rate"), (0.0, None)),
}
"""The ranges of the options."""


def _list_widths(widths: Widths) -> str:
    return ", ".join(f"{name} {size}" for name, size in widths._asdict().items())


_SCALARS = ("games", "moves", "tasks", "steps", "pending_steps", "loss", "rejected")


class Learner:
    """Everything that training changes: networks, optimizer, buffer, past selves and counters.

    Args:
        args: the options.
        sample: [n, W] afterstates that set the scale of the network's inputs.
    """

    def __init__(self, args: Args, sample: Features) -> None:
        rules, outcomes = args.rules, Outcomes(args.rules)
        self.args, self.rules = args, rules
        self.buffer = ReplayBuffer(
            np.empty((args.buffer_size, width(rules)), dtype=np.int16),
            np.empty((args.buffer_size, outcomes.heads, outcomes.classes), dtype=np.float16),
        )
        torch.manual_seed(args.seed)
        self.net, self.average = (TorchValueNet(rules, args.widths, sample) for _ in range(2))
        """the network that is trained, and the moving average of its weights, which plays"""
        self.average.load_state_dict(self.net.state_dict())
        self.optimizer: torch.optim.Optimizer = torch.optim.Adam(self.net.parameters(), lr=args.learning_rate)
        self.rng = np.random.default_rng(args.seed)
        self.accepted: dict[str, Any] = {name: value.clone() for name, value in self.net.state_dict().items()}
        """state of the last average that passed the gate"""
        self.past_selves: list[Weights] = []
        self.games, self.moves, self.tasks, self.steps, self.rejected = 0, 0, 0, 0, 0
        self.pending_steps = 0.0
        """gradient steps that are still due for samples in the buffer"""
        self.loss = math.nan

    @classmethod
    def start(cls, args: Args) -> "Learner":
        """Create a learner with the weights to start from, or one that has learned from the first warmup games."""
        games = min(args.warmup_games, args.n_envs)
        samples = self_play(SelfPlayTask(args.rules, {}, seed=args.make_task_seed(0), games=games))
        learner = cls(args, samples.features)
        learner.tasks = 1
        if args.start_from is not None:
            weights = _read_weights(args.start_from, args.rules)
            for net in (learner.net, learner.average):
                net.load_arrays(weights)
        else:
            learner.learn(samples)
        return learner

    def make_task(self) -> SelfPlayTask:
        """Create the next self-play task, and count it in place."""
        args = self.args
        task = SelfPlayTask(
            self.rules,
            {} if self.games < args.first_games else self.average.arrays(),
            opponents=self._choose_opponents(),
            seed=args.make_task_seed(self.tasks),
            games=args.n_envs,
            opponent_share=args.opponent_share if args.best_response_to is None else 1.0,
            candidates=args.candidates,
            temperature=args.temperature,
            td_lambda=args.td_lambda,
            search_share=args.search_share if self.games >= args.search_after * args.total_games else 0.0,
            search_deals=args.search_deals,
            search_turns=args.search_turns,
        )
        self.tasks += 1
        return task

    def _choose_opponents(self) -> list[Weights]:
        """Choose a random past self, or the frozen network; none for warmup games and solo."""
        args = self.args
        if self.games < args.first_games or args.players == 1:
            return []
        if args.best_response_to is not None:
            return [_read_weights(args.best_response_to, self.rules)]
        return [self.past_selves[int(self.rng.integers(len(self.past_selves)))]] if self.past_selves else []

    def learn(self, samples: Samples) -> None:
        """Add samples to the buffer and make the gradient steps that are due, in place."""
        self.buffer.add(samples)
        self.games += samples.games
        self.moves += samples.moves
        self.pending_steps += self.args.replay_ratio * len(samples) / self.args.batch_size
        losses = [self._step() for _ in range(int(self.pending_steps))]
        self.pending_steps -= len(losses)
        self.loss = float(np.mean(losses)) if losses else self.loss

    def _step(self) -> float:
        """Make one gradient step, update the average in place, and return the loss."""
        args = self.args
        done = min(self.games / args.total_games, 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = args.learning_rate * (0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2)
        loss = self.net.loss(*self.buffer.sample(args.batch_size, self.rng))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        decay = min(args.ema_decay, self.steps / (self.steps + 10))  # less at first, to forget the initial weights
        with torch.no_grad():
            for mean, new in zip(self.average.parameters(), self.net.parameters(), strict=True):
                mean.lerp_(new, 1 - decay)
        return float(loss.detach())

    def gate(self) -> Measured | None:
        """Accept the average as a past self in place, or return to the last accepted one if it is clearly weaker.

        It is weaker if the 95% interval of its games against the last accepted one lies below an even result; solo if
        that of the difference of their lowest markers, in the same deals, lies below 0.

        Returns:
            The result of these games, solo the difference; None for the first average.
        """
        found = None
        if self.past_selves:
            new, old = Value(self.average.arrays()), Value(self.past_selves[-1], name="old")
            found = compare(new, old, self.rules, self.args.eval_deals, self.args.make_eval_seed(0))
            if is_weaker(found, self.rules):
                self.average.load_state_dict(self.accepted)
                self.net.load_state_dict(self.accepted)
                self.optimizer.state.clear()
                self.rejected += 1
                return found
        self.accepted = {name: value.clone() for name, value in self.average.state_dict().items()}
        self.past_selves.append(self.average.arrays())
        if len(self.past_selves) > self.args.max_past_selves:
            del self.past_selves[1::2]
        return found

    def get_state(self) -> dict[str, Any]:
        """Return everything that training changes, for a checkpoint."""
        filled = self.buffer.filled
        return {name: getattr(self, name) for name in _SCALARS} | {
            "accepted": self.accepted,
            "past_selves": self.past_selves,
            "net": self.net.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "rng": self.rng.bit_generator.state,
            "buffer": (*(array[:filled] for array in self.buffer.arrays), self.buffer.total),
        }

    @classmethod
    def restore(cls, args: Args, state: Mapping[str, Any]) -> "Learner":
        """Create a learner from what :meth:`get_state` returned."""
        learner = cls(args, np.zeros((2, width(args.rules)), dtype=np.int16))
        for name in (*_SCALARS, "accepted", "past_selves"):
            setattr(learner, name, state[name])
        learner.net.load_state_dict(state["net"])
        learner.average.load_state_dict(state["average"])
        learner.optimizer.load_state_dict(state["optimizer"])
        learner.rng.bit_generator.state = state["rng"]
        *filled, learner.buffer.total = state["buffer"]
        for whole, part in zip(learner.buffer.arrays, filled, strict=True):
            whole[: len(part)] = part
        return learner


@lru_cache(maxsize=1)
def _read_weights(path: Path, rules: Rules) -> Weights:
    """Read the weights of a file, once."""
    return weight_files.read(path, KIND, rules, ValueNet.layout_of)[0]
