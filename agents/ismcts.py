"""Information-set Monte-Carlo tree search."""

from dataclasses import dataclass, replace
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env import Rules, State, View, determinize, kernel, make_policy, view
from genial_env.backends import AnyBackend, for_one_game, pick, twin, using
from genial_env.bitsets import Bools, Ints
from genial_env.chance import Bits, bits
from genial_env.envs.rewards import rank_utility
from genial_env.play import play_out
from genial_env.policies import DenialPolicy, Policy, WorthPolicy, choice_keys
from genial_env.state import Phase
from genial_env.tables import Tables, tables

Floats = NDArray[np.float64]

WIDTH = 168
"""Placements that a node knows: the root the best of its own tiles, any other node as many of every tile kind."""

MOST_BLOCKS = 1 << 15
"""Nodes that have moves, at most: what is beyond them is left to playouts. Some 200 MB."""

_INDEX_BITS = 15
_INDEX_MASK = (1 << _INDEX_BITS) - 1
_NEVER = np.iinfo(np.int32).min
_PHASES = 3  # placement, bonus, swap: what a node can be about


@dataclass(frozen=True)
class Knobs:
    """How the tree is searched; see :class:`ISMCTS`."""

    exploration: float = 0.5
    widening: float = 2.0
    exponent: float = 0.4
    prior_weight: float = 1.0
    depth: int = 4
    wave: int = 64
    margin: float = 0.0

    def __post_init__(self) -> None:
        _check("exploration", self.exploration, self.exploration >= 0, "at least 0")
        _check("widening", self.widening, self.widening > 0, "above 0")
        _check("exponent", self.exponent, 0 <= self.exponent <= 1, "between 0 and 1")
        _check("prior_weight", self.prior_weight, self.prior_weight >= 0, "at least 0")
        _check("depth", self.depth, self.depth >= 1, "at least 1")
        _check("wave", self.wave, self.wave >= 1, "at least 1")
        _check("margin", self.margin, 0 <= self.margin <= 1, "between 0 and 1")


def _check(name: str, value: float, fine: bool, wanted: str) -> None:
    if not fine:
        raise ValueError(f"{name} must be {wanted}, not {value!r}")


class ISMCTS:
    def __init__(
        self,
        playouts: int | None = None,
        budget_s: float | None = None,
        *,
        exploration: float = Knobs.exploration,
        widening: float = Knobs.widening,
        exponent: float = Knobs.exponent,
        prior_weight: float = Knobs.prior_weight,
        depth: int = Knobs.depth,
        wave: int = Knobs.wave,
        margin: float = Knobs.margin,
        prior: WorthPolicy | None = None,
        playout: str | Policy = "concave",
        backend: AnyBackend = None,
        name: str = "ismcts",
    ) -> None:
        if (playouts is None) == (budget_s is None):
            raise ValueError(f"give exactly one of playouts and budget_s, not {playouts!r} and {budget_s!r}")
        if playouts is not None:
            _check("playouts", playouts, playouts >= 1, "at least 1")
        if budget_s is not None:
            _check("budget_s", budget_s, budget_s > 0, "above 0")
        self.name = name
        self.playouts, self.budget_s = playouts, budget_s
        self.knobs = Knobs(exploration, widening, exponent, prior_weight, depth, wave, margin)
        self._prior = DenialPolicy() if prior is None else prior
        self._playout = make_policy(playout)
        self._backend = for_one_game() if backend is None else pick(backend)

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        with using(self._backend):
            games = [view.select(np.array([game])) for game in range(len(view))]
            return np.array([self._choose(*each) for each in zip(games, random, strict=True)], dtype=np.int64)

    def search(self, view: View, random: np.uint64) -> "Tree":
        """The tree grown for the one game of a view, in which it is the seat's turn."""
        start = perf_counter()
        tree = Tree(view, self._prior, self.knobs)
        done, size = 0, self.knobs.wave if self.budget_s is None else min(8, self.knobs.wave)
        while tree.n_root_moves > 1:
            if self.playouts is not None:
                size = min(size, self.playouts - done)
            if size < 1:
                break
            self._run_wave(tree, view, bits(random, np.arange(done, done + size)))
            done += size
            if self.budget_s is not None:
                spent = perf_counter() - start
                size = min(self.knobs.wave, 2 * size, int((self.budget_s - spent) * done / spent))
        return tree

    def _choose(self, view: View, random: np.uint64) -> int:
        move = self.search(view, random).best_move()
        return int(_actions(view.tables, view.rack, np.array([move]))[0])

    def _run_wave(self, tree: "Tree", view: View, random: Bits) -> None:
        """In place: one iteration for each of the random bits [W]."""
        states = determinize(view.select(np.zeros(len(random), dtype=np.int64)), random)
        path = tree.descend(states)
        keys = choice_keys(bits(random, 2), view.rules.players)
        twin(play_out)(states, [self._playout] * view.rules.players, keys)
        tree.back_up(path, payoffs(view.rules, states, self.knobs.margin))


def payoffs(rules: Rules, states: State, margin: float) -> Floats:
    """[B, T]: what the ends of games are worth to each track, from 0 to 1.

    The rank utility; in solo the lowest marker, and a little for the others.
    """
    scores = states.scores.astype(np.float64)
    if rules.tracks == 1:
        return (scores.min(axis=2) + scores.mean(axis=2) / (rules.top + 1)) / (rules.top + 1)
    won = (rank_utility(kernel.ranks(states.scores)) + 1) / 2
    if margin == 0:
        return won
    ordered = np.sort(scores, axis=2) @ (0.5 ** np.arange(1, rules.colors + 1))
    others = (ordered.sum(axis=1, keepdims=True) - ordered) / (rules.tracks - 1)
    lead = 1 / (1 + np.exp((others - ordered) / 2))
    return (1 - margin) * won + margin * lead


def _actions(t: Tables, racks: NDArray[np.int8], moves: Ints) -> Ints:
    """[S]: moves as action ids, for the racks [S, K]."""
    kind, placement = np.divmod(moves, t.n_placements)
    slot = (racks == kind[:, None]).argmax(axis=1)
    actions: Ints = np.where(
        kind < t.n_kinds, slot * t.n_placements + placement, moves + (t.swap_action - t.n_kinds * t.n_placements)
    )
    return actions


Path = list[tuple[Ints, Ints, Ints, Ints]]
"""For every level the descents that made a move there, their edges, their tracks, and the nodes they came to (-1: none).
"""


class Tree:
    """..."""

    def __init__(self, view: View, prior: WorthPolicy, knobs: Knobs) -> None:
        self.rules, self.knobs, self._prior = view.rules, knobs, prior
        t = self._t = tables(view.rules)
        self._per_kind = max(WIDTH // t.n_kinds, 1)
        self._first_swap = t.n_kinds * t.n_placements
        self._width = WIDTH + 2
        self._backwards = _backwards(view.rules)
        self._twice = t.kinds[:, 0] == t.kinds[:, 1]
        weight = np.arange(1, WIDTH + 4) ** -float(knobs.prior_weight)
        self._weight, self._total = weight, weight.cumsum()
        self.n_nodes, self.n_blocks = 1, 0
        # Of nodes
        self._block = np.full(64, -1)
        self._visits = np.zeros(64, dtype=np.int64)
        self._ended = np.zeros(64, dtype=np.int64)
        self._node_sum = np.zeros((64, view.rules.tracks))
        self._squares = np.zeros(view.rules.tracks)
        # Of edges
        self._moves = np.zeros((0, self._width), dtype=np.int64)
        self._kinds = np.zeros((0, self._width), dtype=np.int64)
        self._count = np.zeros(0, dtype=np.int64)
        self._flying = np.zeros(0, dtype=np.int64)
        self._offered = np.zeros(0, dtype=np.int64)
        self._sum = np.zeros(0)
        self._child = np.zeros(0, dtype=np.int64)
        self._expand(np.array([0]), view, _held(t, view.rack))
        offered = self._moves[0] >= 0
        offered[WIDTH], offered[WIDTH + 1] = view.may_swap[0], view.may_decline[0]
        self._root_columns = np.flatnonzero(offered)
        self.n_root_moves = len(self._root_columns)

    # Growing

    def _expand(self, nodes: Ints, view: View, held: Bools) -> None:
        """In place: give nodes [n] their moves, in the order of the prior; views [n] and held [n, M] tile kinds."""
        self._reserve_blocks(len(nodes))
        blocks = np.arange(self.n_blocks, self.n_blocks + len(nodes))
        self._block[nodes] = blocks
        self.n_blocks += len(nodes)
        self._moves[blocks, :WIDTH] = -1
        self._moves[blocks, WIDTH:] = self._first_swap + np.arange(2)
        placing = np.flatnonzero(view.phase != Phase.SWAP)
        if placing.size:
            seen = view.select(placing) if placing.size < len(nodes) else view
            found = self._best_moves(seen, held[placing], at_root=nodes[0] == 0)
            self._moves[blocks[placing], : found.shape[1]] = found
        kinds = self._moves[blocks] // self._t.n_placements
        kinds[kinds < 0] = self._t.n_kinds + 2  # nobody's
        kinds[:, WIDTH + 1] = self._t.n_kinds + 1
        self._kinds[blocks] = kinds

    def _best_moves(self, view: View, held: Bools, at_root: bool) -> Ints:
        """[n, up to WIDTH]: the moves that the prior likes best, best first, -1 where there are no more."""
        t, n = self._t, len(view)
        everything = np.broadcast_to(np.arange(t.n_kinds, dtype=np.int8), (n, t.n_kinds))
        keys = self._prior.values(replace(view, rack=everything)).astype(np.int32) << _INDEX_BITS
        keys |= _INDEX_MASK - np.arange(t.n_kinds * t.n_placements, dtype=np.int32).reshape(t.n_kinds, t.n_placements)
        fine = held[:, :, None] & view.placements[:, None, :]
        fine[:, self._twice] &= ~self._backwards
        keys[~fine] = _NEVER
        if at_root:
            best = np.sort(keys.reshape(n, -1), axis=1)[:, -WIDTH:]
        else:
            best = np.sort(np.sort(keys, axis=2)[:, :, -self._per_kind :].reshape(n, -1), axis=1)
        best = best[:, ::-1]
        return np.where(best == _NEVER, -1, _INDEX_MASK - (best & _INDEX_MASK))

    def _reserve_blocks(self, n: int) -> None:
        capacity, wanted = len(self._moves), self.n_blocks + n
        if wanted <= capacity:
            return
        more = max(2 * capacity, wanted, 16) - capacity
        self._moves = _longer(self._moves, more)
        self._kinds = _longer(self._kinds, more)
        for name in ("_count", "_flying", "_offered", "_sum"):
            setattr(self, name, _longer(getattr(self, name), more * self._width))
        self._child = _longer(self._child, more * self._width * _PHASES)

    def _reserve_nodes(self, n: int) -> None:
        more = max(self.n_nodes, n)
        if self.n_nodes + n > len(self._block):
            self._block = np.concatenate([self._block, np.full(more, -1)])
            for name in ("_visits", "_ended", "_node_sum"):
                setattr(self, name, _longer(getattr(self, name), more))

    # Descending

    def descend(self, states: State) -> Path:
        """In place: play each state from the root to a leaf."""
        path: Path = []
        live, nodes = np.arange(len(states)), np.zeros(len(states), dtype=np.int64)
        self._visits[0] += len(states)
        for level in range(self.knobs.depth):
            track = states.track(states.to_play[live])
            held = _held(self._t, kernel.own_racks(states, live))
            self._expand_new(nodes, states, live)
            inside = self._block[nodes] >= 0
            live, nodes, track, held = live[inside], nodes[inside], track[inside], held[inside]
            if not live.size:
                break
            edges = self._select(nodes, states, live, held, track)
            moves = self._moves.reshape(-1)[edges]
            kernel.apply(states, _actions(self._t, kernel.own_racks(states, live), moves), live)
            going = ~states.over[live]
            arrived = np.full(len(live), -1)
            known = np.zeros(len(live), dtype=np.bool_)
            arrived[going], known[going] = self._children(edges[going], states.phase[live[going]])
            path.append((live, edges, track, arrived))
            live, nodes = live[known], arrived[known]
        return path

    def _expand_new(self, nodes: Ints, states: State, live: Ints) -> None:
        new, first = np.unique(nodes, return_index=True)
        bare = self._block[new] < 0
        new, first = new[bare], first[bare]
        room = MOST_BLOCKS - self.n_blocks
        if new.size and room > 0:
            new, first = new[:room], first[:room]
            anything = np.ones((len(new), self._t.n_kinds), dtype=np.bool_)
            self._expand(new, view(states, rows=live[first]), anything)

    def _select(self, nodes: Ints, states: State, live: Ints, held: Bools, track: Ints) -> Ints:
        """[S]: the edges that states in nodes take."""
        knobs, blocks = self.knobs, self._block[nodes]
        nothing = np.zeros((len(live), 1), dtype=np.bool_)
        swaps, declines = kernel.may_swap(states, live), kernel.may_decline(states, live)
        holds = np.concatenate([held, swaps[:, None], declines[:, None], nothing], axis=1)  # [S, M + 3]
        placing = states.phase[live] != Phase.SWAP
        holds[~placing, : self._t.n_kinds] = False
        open_here = np.take_along_axis(holds, self._kinds[blocks], axis=1)  # [S, width]
        wide = np.ceil(knobs.widening * self._visits[nodes] ** knobs.exponent)
        considered = open_here
        considered[:, :WIDTH] &= open_here[:, :WIDTH].cumsum(axis=1, dtype=np.int16) <= wide[:, None]
        row, column = np.nonzero(considered)
        edges = blocks[row] * self._width + column
        n_each = np.bincount(row, minlength=len(nodes))
        ends = n_each.cumsum()
        starts = ends - n_each
        np.add.at(self._offered, edges, 1)
        rank = np.arange(len(row)) - starts[row]
        count = self._count[edges]
        node_mean = self._node_sum[nodes, track] / np.maximum(self._ended[nodes], 1)
        value = np.where(count > 0, self._sum[edges] / np.maximum(count, 1), node_mean[row])
        prior = self._weight[rank] / self._total[n_each - 1][row]
        bonus = knobs.exploration * self._spread()[track][row] * prior * np.sqrt(self._offered[edges])
        count += 1
        taken = np.empty(len(nodes), dtype=np.int64)
        flying = self._flying
        for i, (lo, hi) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            mine = edges[lo:hi]
            edge = mine[(value[lo:hi] + bonus[lo:hi] / (count[lo:hi] + flying[mine])).argmax()]
            flying[edge] += 1
            taken[i] = edge
        return taken

    def _spread(self) -> Floats:  # [T]
        """Twice the standard deviation of what playouts have been worth to each track: 1 where that is win or lose."""
        n = self._ended[0]
        if n < 2:
            return np.ones(self.rules.tracks)
        mean = self._node_sum[0] / n
        spread: Floats = np.maximum(2 * np.sqrt(np.maximum(self._squares / n - mean**2, 0)), 0.02)
        return spread

    def _children(self, edges: Ints, phase: NDArray[np.int8]) -> tuple[Ints, Bools]:
        """[S] the nodes behind edges, made where there are none; and which of them were known before this level."""
        at = edges * _PHASES + phase
        child = self._child[at] - 1
        known = child >= 0
        new = np.unique(at[~known])
        self._reserve_nodes(len(new))
        self._child[new] = np.arange(self.n_nodes, self.n_nodes + len(new)) + 1
        self.n_nodes += len(new)
        child = self._child[at] - 1
        np.add.at(self._visits, child, 1)
        return child, known

    def back_up(self, path: Path, payoff: Floats) -> None:
        """In place: count payoffs [W, T] along the way of each descent."""
        self._flying[:] = 0
        self._ended[0] += len(payoff)
        self._node_sum[0] += payoff.sum(axis=0)
        self._squares += (payoff**2).sum(axis=0)
        for live, edges, track, arrived in path:
            np.add.at(self._count, edges, 1)
            np.add.at(self._sum, edges, payoff[live, track])
            there = arrived >= 0
            np.add.at(self._ended, arrived[there], 1)
            np.add.at(self._node_sum, arrived[there], payoff[live[there]])

    def best_move(self) -> int:
        """Of the moves at the root the one most visited; of equals the one that did best, then the prior's."""
        count, total = self._count[self._root_columns], self._sum[self._root_columns]
        value = total / np.maximum(count, 1)
        order = np.lexsort((-np.arange(len(count)), value, count))
        return int(self._moves[0, self._root_columns[order[-1]]])


def _longer(array: NDArray[Any], more: int) -> NDArray[Any]:
    """The array with so many rows of zeros behind it."""
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), dtype=array.dtype)])


def _held(t: Tables, racks: NDArray[np.int8]) -> Bools:
    """[S, M]: which tile kinds the racks [S, K] hold."""
    held = np.zeros((len(racks), t.n_kinds + 1), dtype=np.bool_)
    held[np.arange(len(racks))[:, None], racks] = True  # EMPTY is the last column
    return held[:, :-1]


@lru_cache(maxsize=64)
def _backwards(rules: Rules) -> Bools:
    """[E]: the placements whose first cell comes after the second: for a double the same as the other way round."""
    cells = tables(rules).placements
    backwards: Bools = cells[:, 0] > cells[:, 1]
    return backwards
