"""What would it be worth to know the opponent's rack, and what do its choices tell about it?

    pip install -e '.[train,fast]'
    python -m experiments.hidden_racks

Two measurements, with two seats:

- `value_search` that sees the other rack, against `value_search` that does not. All else is the same: the deals that it
  plays on hold the real rack of the other seat. This bounds what any guess about that rack can win.
- How well can the other rack be predicted? A small network learns in games of "value" which kinds of unseen tiles the
  other seat holds: from what each kind would gain that seat now, its markers and the board; then also from what each
  kind would have gained it at its last turn, and what the tile gained that it laid. The gain is measured in nats a
  rack, beside tiles drawn at random from the unseen ones, which is what searches assume.

The answer: docs/measurements.md.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from torch import nn

from agents.runs.evaluation import Measured, summarize_deals
from genial_env import Rules, use_backend, view
from genial_env._util.checks import as_integer
from genial_env._util.shutdown import handle_signals
from genial_env.core import kernel, ranking
from genial_env.core.arrays import Bits, Floats, Ints
from genial_env.core.chance import bits, game_seeds
from genial_env.core.state import FREE, Phase, State
from genial_env.core.views import View
from genial_env.policies.afterstates.gains import compute_gains
from genial_env.policies.afterstates.states import make_states
from genial_env.policies.decisions import choice_keys, decide
from genial_env.policies.search import Deals
from genial_env.policies.value import Value
from genial_env.policies.value_search import ValueSearch

SEATS = 2
GAIN_UNIT = 500.0
"""Gains of tiles are divided by this for the network."""


@dataclass
class Args:
    """The options of the command line."""

    pairs: int = 200
    """pairs of games of the searches, in each of which both have either seat once"""
    playouts: int = 100
    """playouts of a decision"""
    games: int = 2000
    """games of "value" from which the other rack is learned; a fifth of them is for the test"""
    epochs: int = 12
    """passes over the positions"""
    hidden: int = 32
    """hidden units of the network"""
    seed: int = 1
    """seed of the games and of the network"""


class SeeingSearch(ValueSearch):
    """A `value_search` that sees the other seat's rack.

    Args:
        playouts: continuations for each decision.
    """

    def __init__(self, playouts: int) -> None:
        super().__init__(playouts, name="seeing")
        self.truth: State | None = None
        """the one game that is decided in"""

    def outcomes(self, view: View, actions: Ints, deals: Deals) -> Floats:
        """Return the value a few turns after each action, with the real rack of the other seat in all deals."""
        assert self.truth is not None
        states, other = deals.states, 1 - int(view.seat[0])
        unseen = states.bag + kernel.count_kinds(states.racks[:, other], view.tables.n_kinds).astype(np.uint8)
        states.racks[:, other] = self.truth.racks[0, other]
        states.bag[:] = unseen - kernel.count_kinds(states.racks[:, other], view.tables.n_kinds).astype(np.uint8)
        return super().outcomes(view, actions, deals)


def measure_sight(pairs: int, playouts: int, seed: int) -> Measured:
    """Return the share of games that the search which sees the racks wins."""
    seeing, blind = SeeingSearch(playouts), ValueSearch(playouts)
    scores = np.empty((pairs, SEATS))
    for seat in range(SEATS):
        seeds = game_seeds(seed, pairs)
        for game in range(pairs):
            scores[game, seat] = _play(seeing, blind, seat, seeds[game : game + 1])
    return summarize_deals(scores.mean(axis=1), Rules().tracks, SEATS * pairs)


def _play(seeing: SeeingSearch, blind: ValueSearch, seat: int, seeds: Bits) -> float:
    """Play a game; return the score of the seeing search: 1, 0.5 or 0."""
    state, keys, row = kernel.deal(Rules(), seeds), choice_keys(seeds, SEATS), np.zeros(1, dtype=np.int64)
    while not state.over[0]:
        mover = int(state.to_play[0])
        seeing.truth = state
        random = bits(keys[row, mover], state.decisions)
        kernel.apply(state, decide(seeing if mover == seat else blind, state, row, random), row)
    ranks = ranking.ranks(state.scores)[0]
    return float(ranks[seat] < ranks[1 - seat]) + 0.5 * float(ranks[seat] == ranks[1 - seat])


class Positions(NamedTuple):
    """n decisions about placements, and what the other seat holds."""

    game: Ints  # [n]
    now: Floats  # [n, M, D] features of each kind: of the position
    last_turn: Floats  # [n, M, 4] features of each kind: of the other seat's last turn
    unseen: NDArray[np.uint8]  # [n, M] tiles of each kind that the seat to play does not see
    held: Ints  # [n, M] those that the other seat holds


def find_positions(games: int, seed: int) -> Positions:
    """Return all decisions about placements in games of "value" against itself."""
    rules, agent = Rules(), Value()
    seeds = game_seeds(seed, games)
    state, keys = kernel.deal(rules, seeds), choice_keys(seeds, SEATS)
    n_kinds = state.tables.n_kinds
    last_gains = np.zeros((games, SEATS, n_kinds), dtype=np.int16)  # of each kind at each seat's last placement
    last_gain = np.full((games, SEATS), -1, dtype=np.int16)  # of the tile that it laid then
    found = []
    for live in kernel.live_games(state):
        seen, mover = view(state, rows=live), state.to_play[live]
        actions = decide(agent, state, live, bits(keys[live, mover], state.decisions[live]))
        own, others = _find_gains(seen)
        placing = state.phase[live] == Phase.PLACE
        rows, other = live[placing], 1 - mover[placing]
        some = seen.select(np.flatnonzero(placing))
        last = last_gains[rows, other], last_gain[rows, other]
        held = kernel.count_kinds(state.racks[rows, other], n_kinds)
        now = _describe_now(some, own[placing], others[placing])
        found.append(Positions(rows, now, _describe_last_turn(some, *last, others[placing]), some.unseen, held))
        laid = np.flatnonzero(placing & state.tables.is_placing(actions))
        slot, _ = state.tables.split_action(actions[laid])
        last_gains[live[laid], mover[laid]] = own[laid]
        last_gain[live[laid], mover[laid]] = own[laid, seen.rack[laid, slot]]
        kernel.apply(state, actions, live)
    return Positions(*(np.concatenate(each) for each in zip(*found, strict=True)))


def _find_gains(seen: View) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return the greatest gain of each kind for the own and for the other seat: [G, M] each."""
    states = make_states(seen)
    free = states.board == FREE
    around = np.append(free, np.zeros((len(seen), 1), dtype=np.bool_), axis=1)
    fits = free & around[:, seen.tables.neighbours[:-1]].any(axis=2)
    own, other = (compute_gains(states, track, fits)[0] for track in range(SEATS))
    return own, other


def _describe_now(seen: View, own: NDArray[np.int16], other: NDArray[np.int16]) -> Floats:
    """Return features of each kind in the position: [G, M, D]."""
    t, unseen = seen.tables, seen.unseen.astype(np.float64)
    theirs, n_unseen = np.where(unseen > 0, other, 0) / GAIN_UNIT, unseen.sum(axis=1, keepdims=True)
    better = (theirs[:, :, None] < theirs[:, None, :]) * unseen[:, None, :]  # unseen tiles that would gain more
    markers = seen.scores[:, 1].astype(np.float64)
    low, high = np.sort(markers[:, t.kinds], axis=2).transpose(2, 0, 1) / 9
    lowest = markers.min(axis=1, keepdims=True) / 9
    return np.stack(
        np.broadcast_arrays(
            theirs,
            theirs.max(axis=1, keepdims=True) - theirs,
            theirs.mean(axis=1, keepdims=True),
            better.sum(axis=2) / np.maximum(n_unseen, 1),
            own / GAIN_UNIT,
            low,
            high,
            low - lowest,
            lowest,
            t.is_double[: t.n_kinds],
            unseen / 3,
            n_unseen / 100,
            (seen.board == FREE).sum(axis=1)[:, None] / 90,
        ),
        axis=2,
    )


def _describe_last_turn(
    seen: View, gains: NDArray[np.int16], laid: NDArray[np.int16], other: NDArray[np.int16]
) -> Floats:
    """Return features of each kind at the other seat's last turn: [G, M, 4]."""
    then = np.where(seen.unseen > 0, gains, 0) / GAIN_UNIT
    took = laid[:, None] / GAIN_UNIT
    return np.stack(np.broadcast_arrays(then, then - took, then - other / GAIN_UNIT, took), axis=2)


def measure_gain(positions: Positions, features: Floats, args: Args) -> tuple[float, float]:
    """Learn which unseen tiles the other seat holds.

    Args:
        positions: the positions.
        features: [n, M, D] what is known about each kind.
        args: the options.

    Returns:
        The mean nats that a rack has if its tiles are drawn from the unseen ones, and how many fewer it has by the
        network. Both are of games that the network was not trained on.
    """
    torch.manual_seed(args.seed)
    inputs, held = (torch.tensor(each, dtype=torch.float32) for each in (features, positions.held))
    inputs = (inputs - inputs.mean((0, 1))) / inputs.std((0, 1)).clamp(min=1e-6)
    at_random = torch.tensor(np.log(np.maximum(positions.unseen, 1e-30)), dtype=torch.float32)  # no tile: never
    net = nn.Sequential(
        nn.Linear(inputs.shape[2], args.hidden),
        nn.ReLU(),
        nn.Linear(args.hidden, args.hidden),
        nn.ReLU(),
        nn.Linear(args.hidden, 1),
    )
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    is_test = positions.game % 5 == 0
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    rng = np.random.default_rng(args.seed)

    def nats(rows: Ints, learned: bool = True) -> torch.Tensor:
        logits = at_random[rows] + (net(inputs[rows])[:, :, 0] if learned else 0.0)
        return -(logits.log_softmax(1) * held[rows]).sum(1).mean()

    for _ in range(args.epochs):
        order = rng.permutation(train)
        for batch in np.array_split(order, max(len(order) // 512, 1)):
            optimizer.zero_grad()
            nats(batch).backward()
            optimizer.step()
        schedule.step()
    with torch.no_grad():
        base = float(nats(test, learned=False))
        return base, base - float(nats(test))


def main(args: Args) -> dict[str, float]:
    """Print both measurements; return the numbers.

    Raises:
        ValueError: if a number is too small.
    """
    for name, least in (("pairs", 2), ("playouts", 1), ("games", 5), ("epochs", 1), ("hidden", 1)):
        as_integer(getattr(args, name), f"--{name}", least)
    with use_backend("numba"):
        sight = measure_sight(args.pairs, args.playouts, args.seed)
        positions = find_positions(args.games, args.seed)
    base, by_position = measure_gain(positions, positions.now, args)
    both = np.concatenate([positions.now, positions.last_turn], axis=2)
    _, by_history = measure_gain(positions, both, args)
    table = Table(f"{SEATS} seats", "")
    table.add_row("games won by the search that sees the other rack", f"{sight.mean:.1%} ± {sight.half:.1%}")
    table.add_row("nats of a rack drawn from the unseen tiles", f"{base:.2f}")
    table.add_row("fewer by the position", f"{by_position:.2f}")
    table.add_row("fewer by the position and the last turn", f"{by_history:.2f}")
    Console().print(table)
    return {"won": sight.mean, "nats": base, "by position": by_position, "by last turn": by_history}


if __name__ == "__main__":
    with handle_signals("hidden_racks"):
        main(tyro.cli(Args))
