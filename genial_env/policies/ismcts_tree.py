"""The tree of information-set Monte-Carlo tree search, for one seat's decision."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_number
from genial_env.core import kernel
from genial_env.core.arrays import Bools, Floats, Ints
from genial_env.core.state import State
from genial_env.core.tables import Tables
from genial_env.core.views import View, view
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.prior import compute_prior_values
from genial_env.policies.settings import check_count

__all__ = ["Path", "Tree", "TreeSettings", "to_actions"]

WIDTH = 168
"""The most placements of a node. The root has the best for its own tiles, other nodes as many of each tile kind."""

MOST_BLOCKS = 1 << 15
"""The most nodes with moves, some 200 MB. Beyond them, playouts begin."""

LEAST_SPREAD = 0.02
"""The least spread of payoffs, so that some exploration remains."""


@dataclass(frozen=True)
class TreeSettings:
    """How a tree is searched (:class:`~genial_env.policies.ismcts.ISMCTS`)."""

    exploration: float = 0.5
    widening: float = 1.0
    exponent: float = 0.4
    prior_weight: float = 1.0
    prior_visits: float = 8.0
    depth: int = 4
    batch_size: int = 64
    margin: float = 0.0

    def __post_init__(self) -> None:
        as_number(self.exploration, "exploration", 0)
        as_number(self.widening, "widening", 0, above=True)
        as_number(self.exponent, "exponent", 0, 1)
        as_number(self.prior_weight, "prior_weight", 0)
        as_number(self.prior_visits, "prior_visits", 0)
        as_number(self.margin, "margin", 0, 1)
        check_count("depth", self.depth)
        check_count("batch_size", self.batch_size)


Path = list[tuple[Ints, Ints, Ints, Ints]]
"""For each level of the tree four arrays: the descents that made a move there, their edges, the tracks that chose, and
the child nodes, -1 if the game was over."""


class Tree:
    """The search tree of one seat. A node is a sequence of moves, whatever the racks are.

    A move has the number ``kind * E + placement`` of its tile kind and placement; swap and decline come last. A double
    is placed in the direction whose first cell has the lower number. Board, markers and rack sizes follow from the
    moves. So does all that the prior uses except the rack, so a node's moves are sorted once, for all tile kinds.
    Whether the mover decides again depends on its rack, and everybody sees it; so a move leads to one child for each
    phase.

    A node's *block* holds its moves and their statistics, its edges. It is made at the second visit.

    Args:
        view: one game, in which it is the seat's turn.
        prior: sorts the moves.
        settings: how to search.
    """

    def __init__(self, view: View, prior: HeuristicPolicy, settings: TreeSettings) -> None:
        self._t, self._settings, self._prior, self._tracks = view.tables, settings, prior, view.rules.tracks
        weights = np.arange(1, WIDTH + 3) ** -float(settings.prior_weight)
        self._weights, self._totals = weights, weights.cumsum()
        self._squares = np.zeros(self._tracks)  # of all payoffs, added up
        self._nodes = _node_columns(self._tracks)
        self._blocks = _block_columns()
        self._blocks.add(1)  # number 0: none
        root, held = self._nodes.add(1), find_held_kinds(self._t, view.rack)
        self._expand(root, view, held)
        self._columns = np.flatnonzero(
            self._find_possible(self._nodes["block"][root], held, view.may_swap, view.may_decline)[0]
        )

    # Results

    @property
    def root_moves(self) -> Ints:
        """The moves of the root in the order of the prior, swap and decline last: [R]."""
        moves: Ints = self._blocks["move"][1, self._columns].astype(np.int64)
        return moves

    @property
    def visits(self) -> Ints:
        """The number of playouts of each move of the root: [R]."""
        visits: Ints = self._blocks["count"][1, self._columns].astype(np.int64)
        return visits

    @property
    def values(self) -> Floats:
        """The mean payoff of each move of the root for the seat, 0 without playouts: [R]."""
        values: Floats = self._blocks["sum"][1, self._columns] / np.maximum(self.visits, 1)
        return values

    @property
    def size(self) -> int:
        """The number of nodes."""
        return self._nodes.n

    def best_move(self) -> int:
        """Return the move with the most playouts; ties are broken by the mean payoff, then by the prior."""
        order = np.lexsort((-np.arange(len(self._columns)), self.values, self.visits))
        return int(self.root_moves[order[-1]])

    # Descent

    def descend(self, states: State) -> Path:
        """In place: play each state [W] from the root to a leaf, and count the visits."""
        path: Path = []
        live, nodes = np.arange(len(states)), np.zeros(len(states), dtype=np.int64)
        self._nodes["visits"][0] += len(states)
        for _ in range(self._settings.depth):
            self._expand_bare(nodes, states, live)
            inside = self._nodes["block"][nodes] > 0
            live, nodes = live[inside], nodes[inside]
            if not live.size:
                break
            tracks = states.rules.track_of(states.to_play[live])
            racks = kernel.own_racks(states, live)
            edges = self._choose(nodes, states, live, racks, tracks)
            kernel.apply(states, to_actions(self._t, racks, self._blocks.flat("move")[edges].astype(np.int64)), live)
            child, known = self._find_children(edges, states, live)
            path.append((live, edges, tracks, child))
            live, nodes = live[known], child[known]
        return path

    def _choose(self, nodes: Ints, states: State, live: Ints, racks: NDArray[np.int8], tracks: Ints) -> Ints:
        """Return the edges [S] that the states take from their nodes, and count them as available and taken."""
        settings, blocks = self._settings, self._nodes["block"][nodes]
        may = kernel.may_swap(states, live), kernel.may_decline(states, live)
        considered = self._find_possible(blocks, find_held_kinds(self._t, racks), *may)
        most = np.ceil(settings.widening * self._nodes["visits"][nodes] ** settings.exponent)
        placements = considered[:, :WIDTH]
        placements &= placements.cumsum(axis=1, dtype=np.int16) <= most[:, None]
        state, column = np.nonzero(considered)
        edges = blocks[state] * (WIDTH + 2) + column
        n_edges = np.bincount(state, minlength=len(nodes))
        ends = n_edges.cumsum()
        np.add.at(self._blocks.flat("available"), edges, 1)
        rank = np.arange(len(edges)) - (ends - n_edges)[state]
        share = self._weights[rank] / self._totals[n_edges - 1][state]
        bonus = (
            settings.exploration
            * self._spread()[tracks][state]
            * share
            * np.sqrt(self._blocks.flat("available")[edges])
        )
        return self._take_best(edges, ends, self._means(edges, nodes, tracks, state), bonus)

    def _means(self, edges: Ints, nodes: Ints, tracks: Ints, state: Ints) -> Floats:
        """Return the mean payoff of each edge for the track that chooses; the node's mean counts as `prior_visits`."""
        prior_visits = max(self._settings.prior_visits, 1e-9)  # above 0: a move without visits has the node's mean
        of_node = self._nodes["sum"][nodes, tracks] / np.maximum(self._nodes["returns"][nodes], 1)
        count, total = self._blocks.flat("count")[edges], self._blocks.flat("sum")[edges]
        means: Floats = (total + prior_visits * of_node[state]) / (count + prior_visits)
        return means

    def _take_best(self, edges: Ints, ends: Ints, means: Floats, bonus: Floats) -> Ints:
        """Return the best edge of each state: [S].

        The states choose one after the other. A choice adds a virtual visit to its edge, so that the states of a batch
        spread over the tree.
        """
        taken, virtual = np.empty(len(ends), dtype=np.int64), self._blocks.flat("virtual")
        tried, start = 1 + self._blocks.flat("count")[edges], 0
        for state, end in enumerate(ends.tolist()):
            part = slice(start, end)
            own = edges[part]
            edge = own[(means[part] + bonus[part] / (tried[part] + virtual[own])).argmax()]
            virtual[edge] += 1
            taken[state] = edge
            start = end
        return taken

    def _spread(self) -> Floats:
        """Return twice the standard deviation of all payoffs: [T]. It is 1 if they are 0 and 1 equally often."""
        n = self._nodes["returns"][0]
        if n < 2:
            return np.ones(self._tracks)
        variance = self._squares / n - (self._nodes["sum"][0] / n) ** 2
        spread: Floats = np.maximum(2 * np.sqrt(np.maximum(variance, 0)), LEAST_SPREAD)
        return spread

    def _find_possible(self, blocks: Ints, held: Bools, may_swap: Bools, may_decline: Bools) -> Bools:
        """Return which moves of the blocks are possible with the tile kinds held [S, M]: [S, WIDTH + 2]."""
        never = np.zeros((len(held), 1), dtype=np.bool_)
        fulfilled = np.concatenate([held, may_swap[:, None], may_decline[:, None], never], axis=1)
        return np.take_along_axis(fulfilled, self._blocks["need"][blocks], axis=1)

    def _find_children(self, edges: Ints, states: State, live: Ints) -> tuple[Ints, Bools]:
        """Return the child nodes [S] of edges, -1 if the game is over, and which existed [S]; make the others."""
        child, known = np.full(len(live), -1), np.zeros(len(live), dtype=np.bool_)
        going = np.flatnonzero(~states.over[live])
        at = edges[going] * _PHASES + states.phase[live[going]]
        known[going] = self._blocks.flat("child")[at] > 0
        new = np.unique(at[~known[going]])
        self._blocks.flat("child")[new] = self._nodes.add(len(new))  # never 0, which is the root
        child[going] = self._blocks.flat("child")[at]
        np.add.at(self._nodes["visits"], child[going], 1)
        return child, known

    # Backup

    def back_up(self, path: Path, payoff: Floats) -> None:
        """In place: add the payoffs [W, T] to the nodes and edges of each descent, and remove the virtual visits."""
        self._squares += (payoff**2).sum(axis=0)
        self._nodes["returns"][0] += len(payoff)
        self._nodes["sum"][0] += payoff.sum(axis=0)
        for live, edges, tracks, child in path:
            self._blocks.flat("virtual")[edges] = 0
            np.add.at(self._blocks.flat("count"), edges, 1)
            np.add.at(self._blocks.flat("sum"), edges, payoff[live, tracks])
            going = child >= 0
            np.add.at(self._nodes["returns"], child[going], 1)
            np.add.at(self._nodes["sum"], child[going], payoff[live[going]])

    # Expansion

    def _expand_bare(self, nodes: Ints, states: State, live: Ints) -> None:
        """In place: give moves to the nodes that have none, up to :data:`MOST_BLOCKS`."""
        new, first = np.unique(nodes, return_index=True)
        bare = np.flatnonzero(self._nodes["block"][new] == 0)[: MOST_BLOCKS - self._blocks.n]
        if bare.size:
            self._expand(new[bare], view(states, rows=live[first[bare]]))

    def _expand(self, nodes: Ints, views: View, held: Bools | None = None) -> None:
        """In place: give nodes [n] their moves, in the order of the prior.

        Args:
            nodes: [n].
            views: [n] views of the seats to play.
            held: [n, M] at the root, the tile kinds of the rack; None: all kinds.
        """
        t, blocks = self._t, self._blocks.add(len(nodes))
        moves = np.full((len(nodes), WIDTH), -1, dtype=np.int32)
        placing = np.flatnonzero(views.slots.any(axis=1))
        if placing.size:
            found = self._sort_moves(views.select(placing), None if held is None else held[placing])
            moves[placing, : found.shape[1]] = found
        last = np.broadcast_to(t.n_kinds * t.n_placements + np.arange(2, dtype=np.int32), (len(nodes), 2))
        self._blocks["move"][blocks] = np.concatenate([moves, last], axis=1)
        need = np.where(moves < 0, t.n_kinds + 2, moves // t.n_placements)
        self._blocks["need"][blocks] = np.concatenate([need, t.n_kinds + 0 * last + np.arange(2)], axis=1)
        self._nodes["block"][nodes] = blocks

    def _sort_moves(self, views: View, held: Bools | None) -> NDArray[np.int32]:
        """Return the moves with the highest prior values, best first, -1 after the last: [n, up to WIDTH].

        Without `held` [n, M], the tile kinds of the rack, there are as many moves of each kind. Value and move are
        sorted as one number; of equal values the lower move comes first.
        """
        t, n = self._t, len(views)
        kinds = np.broadcast_to(np.arange(t.n_kinds, dtype=np.int8), (n, t.n_kinds))
        values = compute_prior_values(self._prior, replace(views, rack=kinds))
        keys = np.clip(values, *_VALUES) << _MOVE_BITS
        keys |= _MOVE_MASK - np.arange(t.n_kinds * t.n_placements, dtype=np.int32).reshape(t.n_kinds, t.n_placements)
        possible = np.repeat(views.placements[:, None, :], t.n_kinds, axis=1)
        possible[:, t.is_double[:-1]] &= ~t.is_reversed
        if held is not None:
            possible &= held[:, :, None]
        keys[~possible] = _NEVER
        if held is None:
            keys = np.sort(keys, axis=2)[:, :, -(WIDTH // t.n_kinds) :]
        best = np.sort(keys.reshape(n, -1), axis=1)[:, ::-1][:, :WIDTH]
        return np.where(best == _NEVER, np.int32(-1), _MOVE_MASK - (best & _MOVE_MASK))


_MOVE_BITS = 15
_MOVE_MASK = np.int32((1 << _MOVE_BITS) - 1)
_NEVER = np.iinfo(np.int32).min
_VALUES = (np.iinfo(np.int16).min + 1, np.iinfo(np.int16).max)  # a value and a move are one number of 32 bits
_PHASES = 3  # placement, bonus and swap, the phases in which a seat decides


class _Columns:
    """Arrays that grow together. New rows are 0.

    Args:
        layout: the shape of a row and its dtype, by name.
    """

    def __init__(self, layout: dict[str, tuple[tuple[int, ...], type[np.generic]]]) -> None:
        self.n = 0
        self._capacity = 32
        self._arrays: dict[str, NDArray[Any]] = {
            name: np.zeros((self._capacity, *shape), dtype) for name, (shape, dtype) in layout.items()
        }

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def flat(self, name: str) -> NDArray[Any]:
        """Return the array as one axis."""
        return self._arrays[name].reshape(-1)

    def add(self, n: int) -> Ints:
        """Add rows and return their numbers: [n]."""
        self.n += n
        if self.n > self._capacity:
            more = max(self._capacity, n)
            for name, array in self._arrays.items():
                self._arrays[name] = np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])
            self._capacity += more
        return np.arange(self.n - n, self.n)


def _node_columns(tracks: int) -> _Columns:
    return _Columns(
        {
            "block": ((), np.int64),  # 0: none
            "visits": ((), np.int64),
            "returns": ((), np.int64),  # visits that have been backed up
            "sum": ((tracks,), np.float64),  # of their payoffs
        }
    )


def _block_columns() -> _Columns:
    edges = (WIDTH + 2,)  # the last two are swap and decline
    return _Columns(
        {
            "move": (edges, np.int32),  # -1: none
            # The tile kind that the move needs; M, M + 1: swap, decline must be legal; M + 2: never possible.
            "need": (edges, np.int8),
            "child": ((*edges, _PHASES), np.int32),  # 0: none
            "available": (edges, np.int32),  # how often the move could be chosen
            "virtual": (edges, np.int32),  # descents of this batch
            "count": (edges, np.int32),  # visits that have been backed up
            "sum": (edges, np.float64),  # of their payoffs to the track that chose
        }
    )


def to_actions(t: Tables, racks: NDArray[np.int8], moves: Ints) -> Ints:
    """Return moves [S] as action ids, given the racks [S, K]."""
    kind, placement = np.divmod(moves, t.n_placements)
    slot = (racks == kind[:, None]).argmax(axis=1)
    beyond = moves - t.n_kinds * t.n_placements
    actions: Ints = np.where(beyond < 0, t.join_action(slot, placement), t.swap_action + beyond)
    return actions


def find_held_kinds(t: Tables, racks: NDArray[np.int8]) -> Bools:
    """Return which tile kinds racks [S, K] hold: [S, M]."""
    held = np.zeros((len(racks), t.n_kinds + 1), dtype=np.bool_)
    held[np.arange(len(racks))[:, None], racks] = True  # an empty slot, -1, is the last column
    return held[:, :-1]
