"""How strong does a value network become that learns by playing against itself?

    python -m experiments.train_value --out runs/value

teaches :class:`~genial_env.policies.value.ValueNet` the value of afterstates: it begins with what it sees of "denial"
playing, then plays itself and its past selves (:mod:`agents.value.self_play`) and learns from a large buffer of its
games. The network that plays is the moving average of the one that learns; every so often it must hold its own against
the one before, or the old one is taken up again. In the end `weights.safetensors` is in the folder, for
``value(weights="...")``.

Processes play while this one learns; with `--ray` they are tasks of a Ray cluster. A run that was broken off goes on
with the same command, and comes to the same weights.

The answer, of one run with two seats on two cores that other work shared (`--games 100000`, 26 minutes, 16 of them of
CPU), shares of 400 games won:

    games      minutes   against greedy   against concave   against denial
     20,480          2              95%               86%              74%      mostly games of "denial"
     40,960          8              97%               91%              87%
     60,416         12              97%               93%              89%
     80,896         18              97%               95%              93%
    116,736         26              98%               94%              95%

Over 2,000 games each the last one wins 97.7% ± 0.6% against greedy, 93.0% ± 1.2% against concave, 93.2% ± 1.1% against
denial. With three seats as many games, in 87 minutes beside other work (36 of CPU), bring a mean rank utility
of +0.64 ± 0.05 among two of denial. Solo (`--mode solo --players 1 --edition 2009 --games 200000 --temperature 0.01
--candidates 10 --first-games 8192`) the lowest marker comes to 18.7 ± 0.4 in 42 minutes beside other work (16 of CPU),
and stood there since half of the games.
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.console import Console

from agents.runs.checkpoints import load_checkpoint
from agents.runs.evaluation import Measured, measure, results_in_words
from agents.runs.runs import Run, read_runs, running
from agents.value.actors import Actors
from agents.value.self_play import Arrays, Order, Samples, self_play
from agents.value.torch_net import TorchValueNet
from genial_env import Policy, Rules, use_backend
from genial_env._util.files import replace_path
from genial_env._util.shutdown import handle_signals
from genial_env.policies import weight_files
from genial_env.policies.afterstates import Features, width
from genial_env.policies.value import KIND, Outcomes, Value, ValueNet

CHECKPOINT, WEIGHTS = "checkpoint.pt", "weights.safetensors"


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    out: Path = Path("runs/value")
    """the run's folder"""
    players: int = 2
    """seats"""
    mode: str = "individual"
    """"individual", "team" (four seats) or "solo" """
    edition: str = "2025"
    """the rule sheet; team and solo are in "2004" and "2009" """
    side: int | None = None
    """cells along an edge of the board; left out, as printed, as are colors and rack"""
    colors: int | None = None
    rack: int | None = None
    games: int = 200_000
    """games of self-play"""
    first_games: int = 16_384
    """games of "denial" to begin with"""
    games_at_once: int = 1_024
    """games of one piece of work"""
    actors: int = 1
    """processes that play"""
    ray: str | None = None
    """address of a Ray cluster on which they run, "local" for one on this machine"""
    candidates: int = 24
    """placements looked at for a decision"""
    temperature: float = 0.03
    """of choices in training games, in rank utility (solo: markers)"""
    trace: float = 0.8
    """lambda of the returns"""
    rival_share: float = 0.25
    """share of the games in which past selves and "denial" have seats"""
    start_from: Path | None = None
    """weights to begin with, of a network with the same widths, instead of with games of "denial" """
    against: Path | None = None
    """weights of a frozen network: all games are against it, for a best response to it"""
    past_selves: int = 8
    """how many are kept at most; then every other one is dropped"""
    widths: tuple[int, int, int, int] = (64, 48, 64, 32)
    """hidden units of the network's four layers"""
    buffer: int = 2_000_000
    """samples to learn from, the newest"""
    reuse: float = 6.0
    """how often a sample is learned from, in the mean"""
    batch: int = 2_048
    learning_rate: float = 1e-3
    """at the beginning; it falls to a hundredth"""
    average: float = 0.9995
    """decay a step of the moving average of the weights"""
    evaluate_every: int = 20_000
    """games between two evaluations"""
    deals: int = 200
    """of each evaluation, against each opponent"""
    opponents: tuple[str, ...] = ("greedy", "concave", "denial")
    """of each evaluation"""
    seed: int = 0
    threads: int = 1
    """of torch"""


@dataclass
class Buffer:
    """The newest samples, in rings."""

    features: NDArray[np.int16]  # [size, W]
    targets: NDArray[np.float16]  # [size, H, K]
    total: int = 0
    """samples ever added"""

    @property
    def filled(self) -> int:
        """How many there are."""
        return min(self.total, len(self.features))

    def add(self, samples: Samples) -> None:
        """In place: add samples; the oldest make room."""
        at = (self.total + np.arange(len(samples))) % len(self.features)
        self.features[at], self.targets[at] = samples.features, samples.targets
        self.total += len(samples)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """Some of them, with repetition: features [n, W] and targets [n, H, K]."""
        at = rng.integers(self.filled, size=n)
        return torch.from_numpy(self.features[at]), torch.from_numpy(self.targets[at]).float()


@dataclass
class Learner:
    """All that learning changes; what a checkpoint holds."""

    net: TorchValueNet
    average: TorchValueNet
    optimizer: torch.optim.Optimizer
    buffer: Buffer
    rng: np.random.Generator
    accepted: dict[str, Any]
    """the state of the network that last held its own"""
    past: list[dict[str, NDArray[np.float32]]] = field(default_factory=list)
    games: int = 0
    moves: int = 0
    orders: int = 0
    steps: int = 0
    pending_bonus: float = 0.0
    """steps still to be made for samples that have come"""
    loss: float = math.nan
    rejected: int = 0


def rules_of(args: Args) -> Rules:
    """What is played."""
    sizes = {name: getattr(args, name) for name in ("side", "colors", "rack") if getattr(args, name) is not None}
    return Rules(args.players, args.edition, args.mode, **sizes)


def begin(args: Args) -> Learner:
    """A learner with the weights to start from, or with the first games of "denial" learned."""
    rules = rules_of(args)
    samples = self_play(Order(rules, {}, seed=seed_of(args, 0), games=min(args.first_games, args.games_at_once)))
    learner = _untaught(args, samples.features)
    learner.orders = 1
    if args.start_from is not None:
        arrays, _ = weight_files.read(args.start_from, KIND, rules, ValueNet.layout_of)
        for net in (learner.net, learner.average):
            net.take_over(arrays)
        learner.games = args.first_games
    else:
        take_in(args, learner, samples)
    return learner


def _untaught(args: Args, sample: Features) -> Learner:
    """A learner that has learned nothing; the sample [n, W] sets its network's scale."""
    rules, outcomes = rules_of(args), Outcomes(rules_of(args))
    buffer = Buffer(
        np.empty((args.buffer, width(rules)), dtype=np.int16),
        np.empty((args.buffer, outcomes.heads, outcomes.classes), dtype=np.float16),
    )
    torch.manual_seed(args.seed)
    net, average = (TorchValueNet(rules, args.widths, sample) for _ in range(2))
    average.load_state_dict(net.state_dict())
    return Learner(
        net,
        average,
        torch.optim.Adam(net.parameters(), lr=args.learning_rate),
        buffer,
        np.random.default_rng(args.seed),
        {name: value.clone() for name, value in net.state_dict().items()},
    )


def seed_of(args: Args, order: int) -> int:
    """The seed of a piece of work: no two runs and no two pieces share one."""
    return (args.seed << 32) + order


def evaluation_seed(args: Args, number: int) -> int:
    """The seed of the deals of an evaluation, which no piece of work has."""
    return (1 << 63) + (args.seed << 32) + number


def next_order(args: Args, learner: Learner) -> Order:
    """In place, the count: what is to be played next."""
    order = Order(
        rules_of(args),
        {} if learner.games < args.first_games else learner.average.arrays(),
        rivals=_rivals(args, learner),
        seed=seed_of(args, learner.orders),
        games=args.games_at_once,
        rival_share=args.rival_share if args.against is None else 1.0,
        candidates=args.candidates,
        temperature=args.temperature,
        trace=args.trace,
    )
    learner.orders += 1
    return order


def _rivals(args: Args, learner: Learner) -> list[Arrays]:
    """One past self and "denial", or the frozen network, where there are others to play against."""
    if learner.games < args.first_games or args.players == 1:
        return []
    if args.against is not None:
        return [_frozen(args.against, rules_of(args))]
    past: list[Arrays] = list(learner.past)
    return [{}, past[int(learner.rng.integers(len(past)))]] if past else [{}]


@lru_cache(maxsize=1)
def _frozen(path: Path, rules: Rules) -> Arrays:
    """The weights of a file, read once."""
    return weight_files.read(path, KIND, rules, ValueNet.layout_of)[0]


def take_in(args: Args, learner: Learner, samples: Samples) -> None:
    """In place: add samples and learn so often from the buffer as they are worth."""
    learner.buffer.add(samples)
    learner.games += samples.games
    learner.moves += samples.moves
    learner.pending_bonus += args.reuse * len(samples) / args.batch
    losses = [_step(args, learner) for _ in range(int(learner.pending_bonus))]
    learner.pending_bonus -= len(losses)
    learner.loss = float(np.mean(losses)) if losses else learner.loss


def _step(args: Args, learner: Learner) -> float:
    """In place: one step of the network that learns and of its average."""
    done = min(learner.games / (args.first_games + args.games), 1.0)
    for group in learner.optimizer.param_groups:
        group["lr"] = args.learning_rate * (0.01 + 0.99 * (1 + math.cos(math.pi * done)) / 2)
    loss = learner.net.loss(*learner.buffer.draw(args.batch, learner.rng))
    learner.optimizer.zero_grad()
    loss.backward()
    learner.optimizer.step()
    learner.steps += 1
    decay = min(args.average, learner.steps / (learner.steps + 10))  # at first a mean of all so far
    with torch.no_grad():
        for mean, new in zip(learner.average.parameters(), learner.net.parameters(), strict=True):
            mean.lerp_(new, 1 - decay)
    return float(loss.detach())


def gate(args: Args, learner: Learner) -> Measured | None:
    """In place: the average against the network that was accepted before it; where it loses for certain, that one is
    taken up again. None for the first.
    """
    rules = rules_of(args)
    found = None
    if learner.past and rules.tracks > 1:
        new, old = Value(learner.average.arrays()), Value(learner.past[-1], name="old")
        found = measure(new, [old], rules, args.deals, evaluation_seed(args, 0))["old"]
        even = 0.5 if rules.tracks == 2 else 0.0
        if found.mean + found.half < even:
            learner.average.load_state_dict(learner.accepted)
            learner.net.load_state_dict(learner.accepted)
            learner.optimizer.state.clear()
            learner.rejected += 1
            return found
    learner.accepted = {name: value.clone() for name, value in learner.average.state_dict().items()}
    learner.past.append(learner.average.arrays())
    if len(learner.past) > args.past_selves:
        del learner.past[1::2]
    return found


def write_weights(args: Args, learner: Learner, run: Run, against: dict[str, Measured]) -> None:
    """The average's weights with all that is to be known of them."""
    weight_files.write(
        run.folder / WEIGHTS,
        KIND,
        rules_of(args),
        learner.average.arrays(),
        command=run.command,
        seed=args.seed,
        games=learner.games,
        moves=learner.moves,
        wall_s=round(run.wall_s),
        cpu_s=round(run.cpu_s),
        results=results_in_words(against),
    )


def evaluate(args: Args, learner: Learner, run: Run, console: Console) -> dict[str, Measured]:
    """In place: gate, measure, write the weights and a line."""
    rules = rules_of(args)
    gated = gate(args, learner)
    opponents: list[str | Policy] = list(args.opponents) if rules.tracks > 1 else []
    if args.against is not None:
        opponents.append(Value(args.against, name="frozen"))
    against = measure(Value(learner.average.arrays()), opponents, rules, args.deals, evaluation_seed(args, 1))
    write_weights(args, learner, run, against)
    extra = {"loss": learner.loss, "rejected": learner.rejected}
    run.add(learner.moves, learner.games, against, **extra, **({"gate": gated.mean} if gated else {}))
    figures = ", ".join(f"{name} {found.mean:.3f}±{found.half:.3f}" for name, found in against.items())
    before = f", itself before {gated.mean:.3f}" if gated else ""
    done = f"{run.wall_s:7.0f} s {learner.games:9,} games  loss {learner.loss:.4f}"
    console.print(f"{done}  {figures}{before}", soft_wrap=True)
    return against


def save(learner: Learner, orders: list[Order], run: Run, path: Path) -> None:
    """A checkpoint, replaced at once."""
    filled = learner.buffer.filled
    kept = {name: getattr(learner, name) for name in _KEPT} | {
        "net": learner.net.state_dict(),
        "average": learner.average.state_dict(),
        "optimizer": learner.optimizer.state_dict(),
        "rng": learner.rng.bit_generator.state,
        "buffer": (learner.buffer.features[:filled], learner.buffer.targets[:filled], learner.buffer.total),
        "given": orders,
        "run": run.saved(),
    }
    with replace_path(path) as beside:
        torch.save(kept, beside)


_KEPT = ("accepted", "past", "games", "moves", "orders", "steps", "pending_bonus", "loss", "rejected")


def restored(args: Args, path: Path) -> tuple[Learner, list[Order], dict[str, Any]]:
    """The learner of a checkpoint, the work that had been given, and where the run stood."""
    learner = _untaught(args, np.zeros((2, width(rules_of(args))), dtype=np.int16))
    kept = load_checkpoint(path, [Order])
    for name in _KEPT:
        setattr(learner, name, kept[name])
    learner.net.load_state_dict(kept["net"])
    learner.average.load_state_dict(kept["average"])
    learner.optimizer.load_state_dict(kept["optimizer"])
    learner.rng.bit_generator.state = kept["rng"]
    features, targets, learner.buffer.total = kept["buffer"]
    learner.buffer.features[: len(features)], learner.buffer.targets[: len(targets)] = features, targets
    return learner, kept["given"], kept["run"]


def main(args: Args) -> dict[str, Measured]:
    """Learn to the end, or go on where a run was broken off; what the final network does against the others."""
    torch.set_num_threads(args.threads)
    with use_backend("numba"), running(args.out, KIND, args) as run:
        return _learn(args, run, Console())


def _learn(args: Args, run: Run, console: Console) -> dict[str, Measured]:
    checkpoint = args.out / CHECKPOINT
    learner, orders, stood = restored(args, checkpoint) if checkpoint.exists() else (begin(args), [], None)
    run.restore(stood)
    total = args.first_games + args.games
    with Actors[Order, Samples](self_play, args.actors, "numba", args.ray) as actors:
        for order in orders:
            actors.give(order)
        due = _next_due(args, learner)
        while learner.games < total:
            while len(actors.given) < args.actors + 1:  # one more, so that nobody waits while this process learns
                actors.give(next_order(args, learner))
            samples = actors.take()
            run.add_cpu(samples.cpu_s)
            take_in(args, learner, samples)
            if learner.games >= due:
                due = _next_due(args, learner)
                evaluate(args, learner, run, console)
                save(learner, actors.given, run, checkpoint)
    run.finish(learner.moves, learner.games, rejected=learner.rejected)
    last = read_runs(args.out)[0].curve[-1]["against"]
    return {name: Measured(**found) for name, found in last.items()}


def _next_due(args: Args, learner: Learner) -> int:
    """At how many games the next evaluation is: after every so many, and at the end."""
    after = (learner.games // args.evaluate_every + 1) * args.evaluate_every
    return min(after, args.first_games + args.games)


if __name__ == "__main__":
    with handle_signals("train_value"):
        main(tyro.cli(Args))
