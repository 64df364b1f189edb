"""Are a value network's chances true: is 65% won in 65 of 100 games? Corrects its last layer so that they are.

    python -m experiments.calibrate runs/value/weights.safetensors --out runs/value/calibrated.safetensors

The network plays against itself, choosing the best action always. In half of the games the logits of the last layer are
fitted to the results: a factor for each distribution and an addend for each outcome (temperature and vector scaling: C.
Guo and others, "On calibration of modern neural networks", ICML 2017). With two seats this changes no choice. With
`--whole-layer` all weights of the last layer are fitted, so that the correction may depend on the position, for example
on how far the game is. A penalty keeps them near the former ones; its strength is the one with which weights from three
quarters of these games predict the last quarter best.

The other half of the games shows the expected calibration error (ECE) before and after, for each third of the game: the
mean distance between the predicted chance of the first rank and the share of games that ended so, over ten ranges of
predicted chances; solo the same for the lowest marker and the mean of the track.

Even true chances have an ECE, as the games are finite. "By chance" is its mean, estimated by a bootstrap over games:
the mean distance between the differences in resampled games and those in all games.

The answer: docs/measurements.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import tyro
from rich.console import Console
from rich.table import Table

from agents.value.self_play import SelfPlayTask, self_play
from genial_env import use_backend
from genial_env._util.shutdown import handle_signals
from genial_env.core.arrays import Bools, Floats, Floats32, Ints
from genial_env.policies import weight_files
from genial_env.policies.afterstates import game_features
from genial_env.policies.seat_counts import value_candidates
from genial_env.policies.value import KIND
from genial_env.policies.value_net import ValueNet

BINS = 10
RESAMPLES = 400
STRENGTHS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
"""of the penalty of `--whole-layer`"""
AT_ONCE = 1024
PHASES = ("opening", "middle", "end")


@dataclass
class Args:
    """The options of the command line."""

    weights: tyro.conf.Positional[Path]
    """file of weights"""
    out: Path | None = None
    """file for the corrected weights"""
    whole_layer: bool = False
    """fit all weights of the last layer, instead of a factor and addends"""
    games: int = 4_000
    """games for the fit, and as many for the check"""
    seed: int = 1
    """seed of the games"""


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions for the positions of some games, and what came."""

    hidden: Floats32  # [n, fourth] the last hidden layer
    logits: Floats32  # [n, H, K]
    results: Floats32  # [n, H, K]
    phase: Ints  # [n] 0, 1 or 2
    game: Ints  # [n]


def play_games(net: ValueNet, args: Args, seed: int) -> Predictions:
    """Let the network play against itself."""
    task = SelfPlayTask(
        net.rules,
        net.arrays,
        seed=seed,
        games=args.games,
        candidates=value_candidates(net.rules),
        temperature=0.0,
        td_lambda=1.0,
    )
    samples = self_play(task)
    names = game_features(net.rules)
    free = samples.features[:, names.index("free cells") - len(names)]
    phase = (2 - 3 * free.astype(np.int64) // (int(free.max()) + 1)).clip(0, 2)
    at_once = range(0, len(samples), AT_ONCE)
    hidden = np.concatenate([net.last_hidden(samples.features[start : start + AT_ONCE]) for start in at_once])
    logits = compute_logits(hidden, net.arrays, net.outcomes.heads)
    return Predictions(hidden, logits, samples.targets, phase, samples.game)


def compute_logits(hidden: Floats32, arrays: weight_files.Arrays, heads: int) -> Floats32:
    """Compute logits [n, H, K] by the last layer of some weights."""
    logits: Floats32 = hidden @ arrays["out"] + arrays["bias_out"]
    return logits.reshape(len(hidden), heads, -1)


def fit(found: Predictions) -> tuple[Floats, Floats]:
    """Fit a factor for each distribution [H, 1] and an addend for each outcome [H, K]."""
    logits, results = torch.from_numpy(found.logits).double(), torch.from_numpy(found.results).double()
    factor = torch.ones(logits.shape[1], 1, dtype=torch.double, requires_grad=True)
    addend = torch.zeros(logits.shape[1:], dtype=torch.double, requires_grad=True)
    _minimize(
        [factor, addend],
        lambda: _cross_entropy(factor * logits + addend, results) + 1e-4 * addend.square().mean(),
    )
    return factor.detach().numpy(), addend.detach().numpy()


def fit_layer(found: Predictions, arrays: weight_files.Arrays) -> dict[str, Floats32]:
    """Fit the last layer: return "out" [fourth, H K] and "bias_out" [H K]."""
    is_first = found.game % 4 != 0
    losses = {}
    for strength in STRENGTHS:
        layer = _fit_layer(found, is_first, arrays, strength)
        logits = compute_logits(found.hidden[~is_first], layer, found.results.shape[1])
        losses[strength] = float(_cross_entropy(torch.from_numpy(logits), torch.from_numpy(found.results[~is_first])))
    return _fit_layer(found, np.ones_like(is_first), arrays, min(losses, key=losses.__getitem__))


def _fit_layer(found: Predictions, rows: Bools, arrays: weight_files.Arrays, strength: float) -> dict[str, Floats32]:
    """Fit the last layer to some positions, with a penalty for what the changes add to the logits."""
    hidden, results = (torch.from_numpy(array[rows]).double() for array in (found.hidden, found.results))
    former = [torch.from_numpy(np.asarray(arrays[name])).double() for name in ("out", "bias_out")]
    size = torch.cat([hidden.square().mean(dim=0).sqrt(), torch.ones(1, dtype=torch.double)])[:, None]
    change = torch.zeros(len(size), len(former[1]), dtype=torch.double, requires_grad=True)
    fixed = hidden @ former[0] + former[1]

    def loss() -> torch.Tensor:
        logits = fixed + hidden @ change[:-1] + change[-1]
        return _cross_entropy(logits.reshape(results.shape), results) + strength * (size * change).square().sum()

    _minimize([change], loss)
    found_change = change.detach()
    out, bias = former[0] + found_change[:-1], former[1] + found_change[-1]
    return {"out": out.numpy().astype(np.float32), "bias_out": bias.numpy().astype(np.float32)}


def _cross_entropy(logits: torch.Tensor, results: torch.Tensor) -> torch.Tensor:
    """Return the mean cross entropy of predictions and results [n, H, K]."""
    return -(results * logits.log_softmax(dim=2)).sum(dim=2).mean()


def _minimize(parameters: list[torch.Tensor], loss: Callable[[], torch.Tensor]) -> None:
    optimizer = torch.optim.LBFGS(parameters, max_iter=200, line_search_fn="strong_wolfe")

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        total = loss()
        total.backward()
        return total

    optimizer.step(step)


class CalibrationError(NamedTuple):
    """How true predicted chances are. Solo, the numbers are those of the lowest marker as a share of the track."""

    ece: float
    by_chance: float
    """the mean ECE of true chances in as many games"""
    bias: float
    """mean of prediction minus result"""

    @property
    def words(self) -> tuple[str, str, str]:
        """The numbers for people."""
        return f"{self.ece:.4f}", f"{self.by_chance:.4f}", f"{self.bias:+.4f}"


def calibration_error(net: ValueNet, logits: Floats32, found: Predictions, rows: Bools) -> CalibrationError:
    """Compare predictions [n, H, K] with the results at some positions [n]."""
    chances = np.exp(logits - logits.max(axis=2, keepdims=True))[rows]
    chances /= chances.sum(axis=2, keepdims=True)
    results, (games, game) = found.results[rows], np.unique(found.game[rows], return_inverse=True)
    if net.rules.tracks == 1:
        places = np.arange(chances.shape[2]) / net.rules.top
        predicted, came = (each[:, 0] @ places for each in (chances, results))
    else:
        predicted, came = (each[:, 0, 0].astype(np.float64) for each in (chances, results))
    which = (predicted * BINS).astype(np.int64).clip(max=BINS - 1)
    by_game = np.bincount(game * BINS + which, predicted - came, len(games) * BINS).reshape(-1, BINS) / len(came)
    drawn = np.random.default_rng(0).multinomial(len(games), np.full(len(games), 1 / len(games)), RESAMPLES)
    return CalibrationError(
        ece=float(np.abs(by_game.sum(axis=0)).sum()),
        by_chance=float(np.abs((drawn - 1) @ by_game).sum(axis=1).mean()),
        bias=float((predicted - came).mean()),
    )


def correct(arrays: weight_files.Arrays, factor: Floats, addend: Floats) -> dict[str, Floats32]:
    """Return the weights with the logits multiplied by factors and increased by addends."""
    factors = np.broadcast_to(factor, addend.shape).ravel()
    corrected = {name: np.asarray(array) for name, array in arrays.items()}
    corrected["out"] = (corrected["out"] * factors).astype(np.float32)
    corrected["bias_out"] = (corrected["bias_out"] * factors + addend.ravel()).astype(np.float32)
    return corrected


def main(args: Args) -> dict[str, CalibrationError]:
    """Fit, print the errors before and after, and write the corrected weights; return the errors after by phase."""
    arrays, about = weight_files.read(args.weights, KIND, layout=ValueNet.layout_of)
    net = ValueNet(weight_files.parse_rules(args.weights, about), arrays)
    with use_backend("numba"):
        fitted, check = (play_games(net, args, 2 * args.seed + half) for half in range(2))
    corrected = arrays | fit_layer(fitted, arrays) if args.whole_layer else correct(arrays, *fit(fitted))
    after_correction = compute_logits(check.hidden, corrected, net.outcomes.heads)
    table = Table(f"{args.games:,} games", "correction", "ECE", "by chance", "predicted - came")
    after = {}
    for name, rows in [("all", check.phase >= 0), *((name, check.phase == n) for n, name in enumerate(PHASES))]:
        before, after[name] = (
            calibration_error(net, logits, check, rows) for logits in (check.logits, after_correction)
        )
        table.add_row(name, "before", *before.words)
        table.add_row("", "after", *after[name].words)
    Console().print(table)
    if args.out is not None:
        kept = {name: value for name, value in about.items() if name not in ("kind", "rules")}
        options = f"{'--whole-layer ' if args.whole_layer else ''}--games {args.games} --seed {args.seed}"
        kept["calibration"] = f"python -m experiments.calibrate {options}"
        weight_files.write(args.out, KIND, net.rules, corrected, **kept)
    return after


if __name__ == "__main__":
    with handle_signals("calibrate"):
        main(tyro.cli(Args))
