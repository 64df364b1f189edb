"""Information-set Monte-Carlo tree search.

    from genial_env.policies.ismcts import ISMCTS
    from genial_env import play

    play([ISMCTS(playouts=1000), "denial"], games=10, backend="numba")

Every iteration deals the tiles that the seat cannot see anew, walks down one tree that all deals share, plays the game
out from the leaf, and counts what came of it (single-observer ISMCTS: Cowling, Powley and Whitehouse, "Information set
Monte Carlo tree search", 2012). Where a move is chosen, the seat to choose takes the one that did best for itself, plus
a bonus for what has been tried little::

    mean payoff + exploration * spread * prior * sqrt(times offered) / (1 + times taken)

A move counts as offered when the deal allows it and it is considered: by progressive widening only the first
``widening * visits ** exponent`` moves are, in the order of a prior, which is what "denial" thinks them worth; the
prior of the i-th is in proportion to ``i ** -prior_weight``. The spread is twice the standard deviation of all payoffs
so far, so that a game that is nearly decided, or solo, is explored on its own scale. A move not yet tried has the mean
of its node. In the end the move most often taken is played.

Iterations run in waves, all descents of a wave level by level as one batch; what is under way counts as taken, so that
the wave spreads.

With 300 playouts it scores 93% (69 to 98) against "denial" and 90% (67 to 97) against "concave", 15 pairs each (`genial
match "ismcts(playouts=300)" denial --fixed --pairs 15 --seed 5`). What follows was measured with other weights of
"denial", before the last placements were solved and before moves that earn placements were looked at early: its share
of the games, ties half, with 95% intervals over deals::

    play([ISMCTS(playouts=N), other], games=30, seed=5, backend="numba")  # and [other, ISMCTS(playouts=N)]

    iterations   against "denial"       against "concave"      against itself with depth=1
    200          0.82 ± 0.09 (60 games) 0.75 ± 0.11 (60)
    1000         1.00 (30 of 30)        0.90 ± 0.11 (30)       0.47 ± 0.15 (30)
    4000         1.00 (10 of 10)

Solo at 500 iterations its lowest marker is 17.0 ± 0.6 on the average of 50 games, with depth=1 16.4 ± 0.7, against the
13.4 of "denial"::

    play([ISMCTS(playouts=500)], Rules(1, "2004", "solo"), games=50, seed=5, backend="numba")

**That the tree is better than depth=1, which is flat Monte-Carlo led by the prior, is not shown.** What was measured
with widening=2 and caution=0 against "denial", at 400 iterations: playouts by "concave" 0.76 ± 0.09 with the tree and
0.63 ± 0.08 without (100 games each, the same deals), playouts by "denial" 0.92 ± 0.06 (100) with and 0.94 ± 0.05 (80)
without. So better playouts are worth more than the tree, and the tree seems to make up for replies that "concave" gets
wrong. A likely reason, not tested: the prior's reply is what playouts by "denial" make anyway, and to tell a better one
from it takes more visits than nodes below the root get, each playout being off by half a game. A wider tree did worse,
0.67 ± 0.09 with widening=4 and exploration=1 against 0.79 ± 0.06 (playouts by "concave"), a narrower one 0.96 ± 0.04
(widening=1, playouts by "denial", 80 games).

Speed, 4,000 iterations on one of two shared cores: 4,700 a second at the beginning of a game, 8,200 after 24 decisions,
with playouts by "concave" 8,000 and 10,600. In the middle playouts take two fifths of the time, the prior's order of
moves in new nodes a fifth, choosing edges a seventh, dealing what is hidden a tenth.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_number
from genial_env.backends import for_one_game, using
from genial_env.core import kernel, ranking
from genial_env.core.bitsets import Bools, Ints
from genial_env.core.chance import Bits, bits
from genial_env.core.determinization import determinize
from genial_env.core.ranking import rank_utility
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.tables import Tables, tables
from genial_env.core.views import View, view
from genial_env.policies.base import Policy
from genial_env.policies.decisions import choice_keys
from genial_env.policies.endgame import exact_action
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.playout import play_out
from genial_env.policies.prior import check_prior, compute_prior_values
from genial_env.policies.registry import make_policy
from genial_env.policies.settings import check_budget, check_count, check_name

Floats = NDArray[np.float64]

WIDTH = 168
"""Placements that a node knows: the root the best of its own tiles, any other node as many of every tile kind."""

MOST_BLOCKS = 1 << 15
"""Nodes that know their moves, at most; what lies beyond is left to playouts. Some 200 MB."""

LEAST_SPREAD = 0.02


@dataclass(frozen=True)
class Knobs:
    """How a tree is searched: see :class:`ISMCTS`."""

    exploration: float = 0.5
    widening: float = 1.0
    exponent: float = 0.4
    prior_weight: float = 1.0
    caution: float = 8.0
    depth: int = 4
    wave: int = 64
    margin: float = 0.0

    def __post_init__(self) -> None:
        as_number(self.exploration, "exploration", 0)
        as_number(self.widening, "widening", 0, above=True)
        as_number(self.exponent, "exponent", 0, 1)
        as_number(self.prior_weight, "prior_weight", 0)
        as_number(self.caution, "caution", 0)
        as_number(self.margin, "margin", 0, 1)
        check_count("depth", self.depth)
        check_count("wave", self.wave)


class ISMCTS:
    """Searches a tree for every decision.

    A game's choice follows from its view and its random bits; games of a batch are searched one after the other. The
    last two placements are solved instead (:mod:`genial_env.policies.endgame`).

    Args:
        playouts: iterations a decision; 1,000 where no budget is given.
        budget_s: or else seconds a decision. The answer comes at most 20 ms late with the backend numba, and 100 ms
            with numpy, whose first playouts take that long; the first decision of a process also loads compiled code.
            Where there is no time for anything it is the prior's first move.
        exploration: how much what has been tried little is preferred.
        widening: moves considered at a node's first visit.
        exponent: how fast that number grows with the visits: 0 not at all, 1 in proportion.
        prior_weight: how much the prior's order counts in the bonus; 0 for all moves considered alike.
        caution: playouts of a move that its node's mean weighs as much as; 0 to trust the first playout.
        depth: decisions that a descent makes in the tree, at most. 1 is flat Monte-Carlo.
        wave: descents at a time.
        margin: the part of the payoff that is not the rank but how far the own markers are ahead.
        prior: puts the moves in order; left out, :class:`~genial_env.policies.denial.DenialPolicy`.
        playout: plays all seats from the leaf on; the built-in policies are compiled whole by the backend numba.
        name: how tables and records call it.

    Raises:
        ValueError: for both playouts and budget_s, or a value out of its range.
        TypeError: for a prior that is no WorthPolicy, or a setting of another type.
    """

    def __init__(
        self,
        playouts: int | None = None,
        budget_s: float | None = None,
        *,
        exploration: float = Knobs.exploration,
        widening: float = Knobs.widening,
        exponent: float = Knobs.exponent,
        prior_weight: float = Knobs.prior_weight,
        caution: float = Knobs.caution,
        depth: int = Knobs.depth,
        wave: int = Knobs.wave,
        margin: float = Knobs.margin,
        prior: HeuristicPolicy | None = None,
        playout: str | Policy = "denial",
        name: str = "ismcts",
    ) -> None:
        self.name = check_name(name)
        self._playouts, self._budget_s = check_budget(playouts, budget_s), budget_s
        self._knobs = Knobs(exploration, widening, exponent, prior_weight, caution, depth, wave, margin)
        self._prior = check_prior(prior)
        self._playout = make_policy(playout)

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        actions = np.empty(len(view), dtype=np.int64)
        for game in range(len(view)):
            alone = view.select(np.array([game]))
            exact = exact_action(alone)
            if exact is not None:
                actions[game] = exact
                continue
            move = self.search(alone, random[game]).best_move()
            actions[game] = _actions(view.tables, alone.rack, np.array([move]))[0]
        return actions

    def search(self, view: View, random: np.uint64) -> "Tree":
        """The tree grown for the one game of a view, in which it is the seat's turn. Where there is but one move, it is
        bare.
        """
        start = perf_counter()
        with using(for_one_game()):
            tree = Tree(view, self._prior, self._knobs)
            done, size = 0, self._next_wave(0, perf_counter() - start)
            while size > 0 and len(tree.root_moves) > 1:
                self._run_wave(tree, view, bits(random, np.arange(done, done + size)))
                done += size
                size = self._next_wave(done, perf_counter() - start)
        return tree

    def _next_wave(self, done: int, spent: float) -> int:
        """How many descents are next; with a budget few at first, and never more than there seems to be time for."""
        if self._playouts is not None:
            return min(self._knobs.wave, self._playouts - done)
        assert self._budget_s is not None
        if done == 0:
            return min(self._knobs.wave, 8) if spent < self._budget_s else 0
        return min(self._knobs.wave, 2 * done, int((self._budget_s - spent) * done / spent))

    def _run_wave(self, tree: "Tree", view: View, random: Bits) -> None:
        """In place: one iteration for each of the random bits [W]."""
        states = determinize(view.select(np.zeros(len(random), dtype=np.int64)), random)
        path = tree.descend(states)
        keys = choice_keys(bits(random, 2), view.rules.players)
        play_out(states, [self._playout] * view.rules.players, keys)
        tree.back_up(path, payoffs(states, self._knobs.margin))


def payoffs(states: State, margin: float = 0.0) -> Floats:
    """[B, T]: what the ends of games are worth to each track, from 0 to 1.

    The rank, 1 for the first and 0 for the last; in solo the lowest marker, and a little for the others.

    Args:
        states: games that are over.
        margin: in its place, to this part: how far the own markers are ahead of the mean of the others', each counting
            half as much as the next lower one.
    """
    rules, scores = states.rules, states.scores.astype(np.float64)
    if rules.tracks == 1:
        lowest: Floats = scores.min(axis=2) + scores.mean(axis=2) / (rules.top + 1)
        return lowest / (rules.top + 1)
    places: Floats = (1 + rank_utility(ranking.ranks(states.scores))) / 2
    if margin == 0:
        return places
    standing = np.sort(scores, axis=2) @ 0.5 ** np.arange(1, rules.colors + 1)
    others = (standing.sum(axis=1, keepdims=True) - standing) / (rules.tracks - 1)
    lead: Floats = 1 / (1 + np.exp((others - standing) / 2))
    return (1 - margin) * places + margin * lead


Path = list[tuple[Ints, Ints, Ints, Ints]]
"""For every level the descents that made a move there, their edges, the tracks that chose, and the nodes behind, -1
where the game was over.
"""


class Tree:
    """What is known of the moves from one seat's point of view on. A node is a sequence of moves, whatever the racks.

    A move is named by tile kind and placement, ``kind * E + placement``, of the two ways to lay a double the one whose
    first cell comes first; then come swap and decline. Board, markers and rack sizes follow from the moves, and so does
    all that the prior looks at but for the rack: a node's moves are put in order once, for all tile kinds. It is up to
    what the mover still holds whether it decides again, and everybody sees whether: so a move leads to a node for each
    phase.

    A node's *block* holds its moves and what is counted of them, its edges. It comes with the second visit.

    Args:
        view: one game, in which it is the seat's turn.
        prior: puts moves in order.
        knobs: how to search.
    """

    def __init__(self, view: View, prior: HeuristicPolicy, knobs: Knobs) -> None:
        self._t, self._knobs, self._prior, self._tracks = view.tables, knobs, prior, view.rules.tracks
        weights = np.arange(1, WIDTH + 3) ** -float(knobs.prior_weight)
        self._weights, self._totals = weights, weights.cumsum()
        self._squares = np.zeros(self._tracks)  # of all payoffs, added up
        self._nodes = _node_columns(self._tracks)
        self._blocks = _block_columns()
        self._blocks.add(1)  # number 0: none
        root, held = self._nodes.add(1), _held(self._t, view.rack)
        self._expand(root, view, held)
        self._columns = np.flatnonzero(self._open(self._nodes["block"][root], held, view.may_swap, view.may_decline)[0])

    # What came of it

    @property
    def root_moves(self) -> Ints:
        """[R]: the root's moves, in the order of the prior, swap and decline last."""
        moves: Ints = self._blocks["move"][1, self._columns].astype(np.int64)
        return moves

    @property
    def visits(self) -> Ints:
        """[R]: playouts of each of them."""
        visits: Ints = self._blocks["count"][1, self._columns].astype(np.int64)
        return visits

    @property
    def values(self) -> Floats:
        """[R]: what they were worth to the seat, on the average; 0 where there were none."""
        values: Floats = self._blocks["sum"][1, self._columns] / np.maximum(self.visits, 1)
        return values

    @property
    def size(self) -> int:
        """Nodes."""
        return self._nodes.n

    def best_move(self) -> int:
        """The move most often taken; of equals the one that did best, then the prior's."""
        order = np.lexsort((-np.arange(len(self._columns)), self.values, self.visits))
        return int(self.root_moves[order[-1]])

    # Down

    def descend(self, states: State) -> Path:
        """In place: play each state [W] from the root to a leaf; count the visits."""
        path: Path = []
        live, nodes = np.arange(len(states)), np.zeros(len(states), dtype=np.int64)
        self._nodes["begun"][0] += len(states)
        for _ in range(self._knobs.depth):
            self._expand_bare(nodes, states, live)
            inside = self._nodes["block"][nodes] > 0
            live, nodes = live[inside], nodes[inside]
            if not live.size:
                break
            tracks = states.track(states.to_play[live])
            racks = kernel.own_racks(states, live)
            edges = self._choose(nodes, states, live, racks, tracks)
            kernel.apply(states, _actions(self._t, racks, self._blocks.flat("move")[edges].astype(np.int64)), live)
            behind, known = self._arrive(edges, states, live)
            path.append((live, edges, tracks, behind))
            live, nodes = live[known], behind[known]
        return path

    def _choose(self, nodes: Ints, states: State, live: Ints, racks: NDArray[np.int8], tracks: Ints) -> Ints:
        """[S]: the edges that states take from their nodes; counted as offered and flying."""
        knobs, blocks = self._knobs, self._nodes["block"][nodes]
        may = kernel.may_swap(states, live), kernel.may_decline(states, live)
        considered = self._open(blocks, _held(self._t, racks), *may)
        most = np.ceil(knobs.widening * self._nodes["begun"][nodes] ** knobs.exponent)
        placements = considered[:, :WIDTH]
        placements &= placements.cumsum(axis=1, dtype=np.int16) <= most[:, None]
        state, column = np.nonzero(considered)
        edges = blocks[state] * (WIDTH + 2) + column
        n_edges = np.bincount(state, minlength=len(nodes))
        ends = n_edges.cumsum()
        np.add.at(self._blocks.flat("offered"), edges, 1)
        rank = np.arange(len(edges)) - (ends - n_edges)[state]
        share = self._weights[rank] / self._totals[n_edges - 1][state]
        bonus = knobs.exploration * self._spread()[tracks][state] * share * np.sqrt(self._blocks.flat("offered")[edges])
        return self._take(edges, ends, self._means(edges, nodes, tracks, state), bonus)

    def _means(self, edges: Ints, nodes: Ints, tracks: Ints, state: Ints) -> Floats:
        """[edges]: their mean payoffs to who chooses, the node's own mean counted in as often as caution says."""
        caution = max(self._knobs.caution, 1e-9)  # what has not been tried has the node's
        of_node = self._nodes["sum"][nodes, tracks] / np.maximum(self._nodes["ended"][nodes], 1)
        count, total = self._blocks.flat("count")[edges], self._blocks.flat("sum")[edges]
        means: Floats = (total + caution * of_node[state]) / (count + caution)
        return means

    def _take(self, edges: Ints, ends: Ints, means: Floats, bonus: Floats) -> Ints:
        """[S]: each state's best edge, one state after the other, as what flies already makes an edge less urgent."""
        taken, flying = np.empty(len(ends), dtype=np.int64), self._blocks.flat("flying")
        tried, start = 1 + self._blocks.flat("count")[edges], 0
        for state, end in enumerate(ends.tolist()):
            part = slice(start, end)
            own = edges[part]
            edge = own[(means[part] + bonus[part] / (tried[part] + flying[own])).argmax()]
            flying[edge] += 1
            taken[state] = edge
            start = end
        return taken

    def _spread(self) -> Floats:
        """[T]: twice the standard deviation of the payoffs; 1 where they are 0 or 1 and equally often."""
        n = self._nodes["ended"][0]
        if n < 2:
            return np.ones(self._tracks)
        variance = self._squares / n - (self._nodes["sum"][0] / n) ** 2
        spread: Floats = np.maximum(2 * np.sqrt(np.maximum(variance, 0)), LEAST_SPREAD)
        return spread

    def _open(self, blocks: Ints, held: Bools, may_swap: Bools, may_decline: Bools) -> Bools:
        """[S, WIDTH + 2]: the moves of blocks that are possible with the tile kinds held [S, M]."""
        never = np.zeros((len(held), 1), dtype=np.bool_)
        fulfilled = np.concatenate([held, may_swap[:, None], may_decline[:, None], never], axis=1)
        return np.take_along_axis(fulfilled, self._blocks["need"][blocks], axis=1)

    def _arrive(self, edges: Ints, states: State, live: Ints) -> tuple[Ints, Bools]:
        """[S]: the nodes behind edges, made where there are none, -1 where the game is over; [S] which there were."""
        behind, known = np.full(len(live), -1), np.zeros(len(live), dtype=np.bool_)
        going = np.flatnonzero(~states.over[live])
        at = edges[going] * _PHASES + states.phase[live[going]]
        known[going] = self._blocks.flat("child")[at] > 0
        new = np.unique(at[~known[going]])
        self._blocks.flat("child")[new] = self._nodes.add(len(new))  # never 0, which is the root
        behind[going] = self._blocks.flat("child")[at]
        np.add.at(self._nodes["begun"], behind[going], 1)
        return behind, known

    # Up

    def back_up(self, path: Path, payoff: Floats) -> None:
        """In place: count payoffs [W, T] on the way of each descent."""
        self._squares += (payoff**2).sum(axis=0)
        self._nodes["ended"][0] += len(payoff)
        self._nodes["sum"][0] += payoff.sum(axis=0)
        for live, edges, tracks, behind in path:
            self._blocks.flat("flying")[edges] = 0
            np.add.at(self._blocks.flat("count"), edges, 1)
            np.add.at(self._blocks.flat("sum"), edges, payoff[live, tracks])
            going = behind >= 0
            np.add.at(self._nodes["ended"], behind[going], 1)
            np.add.at(self._nodes["sum"], behind[going], payoff[live[going]])

    # Growing

    def _expand_bare(self, nodes: Ints, states: State, live: Ints) -> None:
        """In place: give those nodes their moves that have none, while there is room."""
        new, first = np.unique(nodes, return_index=True)
        bare = np.flatnonzero(self._nodes["block"][new] == 0)[: MOST_BLOCKS - self._blocks.n]
        if bare.size:
            self._expand(new[bare], view(states, rows=live[first[bare]]))

    def _expand(self, nodes: Ints, seen: View, held: Bools | None = None) -> None:
        """In place: give nodes [n] their moves, in the order of the prior.

        Args:
            nodes: which.
            seen: [n] views of the seats to play.
            held: [n, M] at the root the tile kinds that there are; left out, it may be any.
        """
        t, blocks = self._t, self._blocks.add(len(nodes))
        moves = np.full((len(nodes), WIDTH), -1, dtype=np.int32)
        placing = np.flatnonzero(seen.slots.any(axis=1))
        if placing.size:
            found = self._in_order(seen.select(placing), None if held is None else held[placing])
            moves[placing, : found.shape[1]] = found
        last = np.broadcast_to(t.n_kinds * t.n_placements + np.arange(2, dtype=np.int32), (len(nodes), 2))
        self._blocks["move"][blocks] = np.concatenate([moves, last], axis=1)
        need = np.where(moves < 0, t.n_kinds + 2, moves // t.n_placements)
        self._blocks["need"][blocks] = np.concatenate([need, t.n_kinds + 0 * last + np.arange(2)], axis=1)
        self._nodes["block"][nodes] = blocks

    def _in_order(self, seen: View, held: Bools | None) -> NDArray[np.int32]:
        """[n, up to WIDTH]: the moves that the prior thinks worth most, the best first, -1 behind the last. Where the
        tile kinds held [n, M] are not given, as many of each.

        Sorted as single numbers, of the value and the move, the lower move first.
        """
        t, n = self._t, len(seen)
        kinds = np.broadcast_to(np.arange(t.n_kinds, dtype=np.int8), (n, t.n_kinds))
        values = compute_prior_values(self._prior, replace(seen, rack=kinds))
        keys = np.clip(values, *_VALUES) << _MOVE_BITS
        keys |= _MOVE_MASK - np.arange(t.n_kinds * t.n_placements, dtype=np.int32).reshape(t.n_kinds, t.n_placements)
        fine = np.repeat(seen.placements[:, None, :], t.n_kinds, axis=1)
        fine[:, t.kinds[:, 0] == t.kinds[:, 1]] &= ~_backwards(seen.rules)
        if held is not None:
            fine &= held[:, :, None]
        keys[~fine] = _NEVER
        if held is None:
            keys = np.sort(keys, axis=2)[:, :, -(WIDTH // t.n_kinds) :]
        best = np.sort(keys.reshape(n, -1), axis=1)[:, ::-1][:, :WIDTH]
        return np.where(best == _NEVER, np.int32(-1), _MOVE_MASK - (best & _MOVE_MASK))


_MOVE_BITS = 15
_MOVE_MASK = np.int32((1 << _MOVE_BITS) - 1)
_NEVER = np.iinfo(np.int32).min
_VALUES = (np.iinfo(np.int16).min + 1, np.iinfo(np.int16).max)  # a value and a move are one number of 32 bits
_PHASES = 3  # placement, bonus, swap: what a node can be about


class _Columns:
    """Arrays that grow together, with rows of zeros.

    Args:
        layout: by name the shape of a row, and its dtype.
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
        """The array as one axis."""
        return self._arrays[name].reshape(-1)

    def add(self, n: int) -> Ints:
        """[n]: the numbers of new rows."""
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
            "begun": ((), np.int64),  # visits
            "ended": ((), np.int64),  # those that have been backed up
            "sum": ((tracks,), np.float64),  # of their payoffs
        }
    )


def _block_columns() -> _Columns:
    edges = (WIDTH + 2,)  # the last two are swap and decline
    return _Columns(
        {
            "move": (edges, np.int32),  # -1: none
            "need": (
                edges,
                np.int8,
            ),  # the tile kind that it takes; M, M + 1: to be allowed to swap, decline; M + 2: never
            "child": ((*edges, _PHASES), np.int32),  # the node behind, 0: none
            "offered": (edges, np.int32),  # how often it could be chosen
            "flying": (edges, np.int32),  # descents of this wave
            "count": (edges, np.int32),  # those that have been backed up
            "sum": (edges, np.float64),  # of their payoffs to the track that chose
        }
    )


def _actions(t: Tables, racks: NDArray[np.int8], moves: Ints) -> Ints:
    """[S]: moves as action ids, with the racks [S, K]."""
    kind, placement = np.divmod(moves, t.n_placements)
    slot = (racks == kind[:, None]).argmax(axis=1)
    beyond = moves - t.n_kinds * t.n_placements
    actions: Ints = np.where(beyond < 0, slot * t.n_placements + placement, t.swap_action + beyond)
    return actions


def _held(t: Tables, racks: NDArray[np.int8]) -> Bools:
    """[S, M]: which tile kinds racks [S, K] hold."""
    held = np.zeros((len(racks), t.n_kinds + 1), dtype=np.bool_)
    held[np.arange(len(racks))[:, None], racks] = True  # an empty slot, -1, is the last column
    return held[:, :-1]


@lru_cache(maxsize=64)
def _backwards(rules: Rules) -> Bools:
    """[E]: the placements whose first cell comes after the second."""
    cells = tables(rules).placements
    backwards: Bools = cells[:, 0] > cells[:, 1]
    return backwards
