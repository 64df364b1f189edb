"""The whole tree of a small game for two, as flat arrays, for exact results (:mod:`genial_env.analysis.equilibrium`).

A node is a decision or an end. Its edges are a decision and what chance draws after it. Nodes are sorted by *time*:
after k placements the time of a decision about a placement is 2k, that of the decision about a swap before it 2k - 1.
So all nodes that a seat cannot tell apart have the same time, and every edge leads to a later one.

An *information set* is what the seat to play knows: all events that everybody saw, and its own draws. A swap is seen,
that one was declined is not. Recall is perfect.

What makes no difference is left out of the tree. Of duplicate tiles the one in the first slot is placed, and doubles
are placed in one direction (:meth:`~genial_env.core.tables.Tables.canonical_placement`). A seat draws its tiles in the
order of their kinds. A tile that its seat can never place is not a chance event, and a rack that has no further use is
not swapped.

Axis letters: n nodes, I information sets, D decisions: an action at an information set. The decisions of information
set i are ``first[i]`` to ``first[i + 1]``.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core import kernel, ranking
from genial_env.core.arrays import Bools, Floats, Ints
from genial_env.core.ranking import rank_utility
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, Phase, State
from genial_env.core.views import View, view
from genial_env.policies.endgame import most_placements_left

__all__ = ["MOST_NODES", "ROOT", "Edges", "GameTree", "build_tree", "canonical_actions"]

ROOT = -1
"""The parent of the first nodes, between which chance decides."""

MOST_NODES = 4_000_000
"""The most nodes of a tree, which are some 500 bytes each while they are built."""


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges from the nodes of one time to those of another, sorted by parent."""

    first_child: int
    """The first child; the others follow it in the order of the edges."""
    parent: Ints  # [n]
    decision: Ints  # [n] of the parent
    chance: Floats  # [n] the probability of what is drawn
    parents: Ints  # [m] the different parents
    starts: Ints  # [m] the first edge of each

    @property
    def children(self) -> slice:
        """The children."""
        return slice(self.first_child, self.first_child + len(self.parent))


@dataclass(frozen=True, eq=False)
class GameTree:
    """The tree of a game for two seats."""

    rules: Rules
    levels: list[slice]
    """The nodes of each time, ascending."""
    edges: list[list[Edges]]
    """The edges out of the nodes of each level; none for the last."""
    infoset: Ints  # [n] the information set of a decision, -1 for an end
    utility: Floats  # [n] the rank utility of seat 0 at an end, else 0
    chance: Floats  # [n] the probability that chance, and nobody else, decides for the node
    decisions_of: list[slice]
    """The decisions of the information sets of each level."""
    infosets_of: list[slice]
    """The information sets of each level."""
    seat: Ints  # [I] the seat that decides
    first: Ints  # [I + 1]
    action: Ints  # [D] action ids, ascending in an information set
    previous: Ints  # [I] the seat's last decision before, -1 for none
    positions: State
    """[I] a position of each information set."""

    @property
    def n_nodes(self) -> int:
        """The number of nodes, n."""
        return len(self.infoset)

    @property
    def n_infosets(self) -> int:
        """The number of information sets, I."""
        return len(self.seat)

    @property
    def n_decisions(self) -> int:
        """The number of decisions, D."""
        return len(self.action)

    @cached_property
    def infoset_of_decision(self) -> Ints:
        """The information set of each decision: [D]."""
        return np.repeat(np.arange(self.n_infosets), np.diff(self.first))

    def views(self, infosets: Ints) -> View:
        """Return what the seats to play know at some information sets [G]."""
        return view(self.positions, self.seat[infosets], infosets)


def canonical_actions(positions: State, rows: Ints, actions: Ints) -> Ints:
    """Return for each legal action the action id that stands for it in a tree.

    Args:
        positions: the positions.
        rows: [n] the position of each action.
        actions: [n] action ids.
    """
    t, racks, returned = positions.tables, *_own_slots(positions, rows)
    placing = t.is_placing(actions)
    slot, placement = t.split_action(np.where(placing, actions, 0))
    each = np.arange(len(rows))
    kind = racks[each, slot]
    alike = (racks == kind[:, None]) & (returned == returned[each, slot][:, None]).all(axis=2)
    first_slot = alike.argmax(axis=1)
    return np.where(placing, t.join_action(first_slot, t.canonical_placement(kind, placement)), actions)


def build_tree(start: State, most_nodes: int = MOST_NODES) -> GameTree:
    """Build the tree of a game that begins at a position.

    Args:
        start: one game for two seats, at the beginning of a turn. Its racks are ignored: their tiles go into the bag,
            and chance deals all racks (:func:`genial_env.core.kernel.undealt_at`).
        most_nodes: the most nodes.

    Raises:
        ValueError: if it is not such a game, or its tree is larger.
    """
    if start.rules.players != 2:
        raise ValueError(f"a tree is of a game for two seats, not for {start.rules.players}")
    return _Builder(start.rules, most_nodes).build(kernel.undealt_at(start))


@dataclass(eq=False)
class _Nodes:
    """Nodes of one time that are still to be numbered, with the edges that lead to them."""

    level: int
    """The number of the time of their parents."""
    states: State
    public: Ints  # [n] the number of the events that everybody saw
    private: Ints  # [n, 2] the number of each seat's draws
    previous: Ints  # [n, 2] each seat's last decision
    parent: Ints  # [n]
    decision: Ints  # [n]
    chance: Floats  # [n] the probability of what is drawn on the edge

    def select(self, some: Ints | Bools) -> "_Nodes":
        """Return some of the nodes."""
        return _Nodes(
            self.level,
            self.states.select(some),
            self.public[some],
            self.private[some],
            self.previous[some],
            self.parent[some],
            self.decision[some],
            self.chance[some],
        )


class _Builder:
    """Builds a tree, time by time."""

    def __init__(self, rules: Rules, most_nodes: int) -> None:
        self._rules, self._most = rules, most_nodes
        self._waiting: dict[int, list[_Nodes]] = {}
        self._n_public, self._n_private = 1, 1
        self._n_nodes, self._n_infosets, self._n_decisions = 0, 0, 0

    def build(self, start: State) -> GameTree:
        levels: list[slice] = []
        edges: list[list[Edges]] = []
        infosets_of: list[slice] = []
        decisions_of: list[slice] = []
        nodes: list[tuple[Ints, Floats, Floats]] = []
        sets: list[tuple[Ints, Ints, Ints, Ints]] = []
        positions: list[State] = []
        reach = np.ones(0)
        self._add(0, self._deal(start))
        while self._waiting:
            time = min(self._waiting)
            batches = self._waiting.pop(time)
            first_node = self._n_nodes
            level_reach = []
            for batch in batches:
                if batch.level == ROOT:
                    level_reach.append(batch.chance)
                else:
                    level_reach.append(batch.chance * reach[batch.parent])
                    edges[batch.level].append(_make_edges(self._n_nodes, batch))
                self._n_nodes += len(batch.parent)
            here = _concat(batches)
            reach = np.concatenate([reach, *level_reach])
            if self._n_nodes > self._most:
                raise ValueError(f"the tree of this game has more than {self._most:,} nodes: begin at a later position")
            levels.append(slice(first_node, self._n_nodes))
            edges.append([])
            over = here.states.over
            infoset = np.full(len(over), -1)
            going = np.flatnonzero(~over)
            infosets_before, decisions_before = self._n_infosets, self._n_decisions
            if going.size:
                infoset[going], found, position = self._decide(len(levels) - 1, here.select(going), going + first_node)
                sets.append(found)
                positions.append(position)
            nodes.append((infoset, _utilities(here.states), np.concatenate(level_reach)))
            infosets_of.append(slice(infosets_before, self._n_infosets))
            decisions_of.append(slice(decisions_before, self._n_decisions))
        infoset, utility, chance = (np.concatenate(parts) for parts in zip(*nodes, strict=True))
        seat, counts, action, previous = (np.concatenate(parts) for parts in zip(*sets, strict=True))
        return GameTree(
            rules=self._rules,
            levels=levels,
            edges=edges,
            infoset=infoset,
            utility=utility,
            chance=chance,
            decisions_of=decisions_of,
            infosets_of=infosets_of,
            seat=seat,
            first=np.concatenate([[0], np.cumsum(counts)]),
            action=action,
            previous=previous,
            positions=State.concat(positions),
        )

    def _add(self, time: int, nodes: _Nodes) -> None:
        if len(nodes.parent):
            self._waiting.setdefault(time, []).append(nodes)

    def _deal(self, state: State) -> _Nodes:
        """Return the first nodes: all deals of the racks."""
        chance, private = np.ones(1), np.zeros((1, 2), dtype=np.int64)
        for seat in (0, 1):
            rows, state, drawn, code = _fill(state, np.full(len(state), seat), state.bag.astype(np.int64))
            private = private[rows]
            private[:, seat] = self._number_private(private[:, seat], code)
            chance = chance[rows] * drawn
        n = len(chance)
        nothing = np.full(n, ROOT)
        return _Nodes(ROOT, state, np.zeros(n, dtype=np.int64), private, np.full((n, 2), -1), nothing, nothing, chance)

    def _decide(self, level: int, nodes: _Nodes, numbers: Ints) -> tuple[Ints, tuple[Ints, Ints, Ints, Ints], State]:
        """Collect the information sets of the decisions at one time, and add the nodes behind them.

        Args:
            level: the number of the time.
            nodes: the nodes, none of which is an end.
            numbers: [n] their numbers.

        Returns:
            The information set of each node [n]; seat, number of decisions, actions and last decision of the
            information sets; a position of each.
        """
        state, each = nodes.states, np.arange(len(numbers))
        own = nodes.private[each, state.to_play]
        _, first, infoset = np.unique(nodes.public * self._n_private + own, return_index=True, return_inverse=True)
        infoset = infoset.ravel()
        position = state.select(first)
        rows, actions = _distinct_actions(position)
        counts = np.bincount(rows, minlength=len(first))
        start = np.concatenate([[0], np.cumsum(counts)])
        previous = nodes.previous[first, position.to_play]
        # Every node times every action of its information set.
        many = counts[infoset]
        node = np.repeat(each, many)
        place = np.arange(len(node)) - np.repeat(np.cumsum(many) - many, many)
        decision = start[infoset[node]] + place
        self._play(level, nodes, numbers, node, actions[decision], decision + self._n_decisions)
        found = (position.to_play, counts, actions, previous)
        infoset = infoset + self._n_infosets
        self._n_infosets += len(first)
        self._n_decisions += len(actions)
        return infoset, found, position

    def _play(self, level: int, nodes: _Nodes, numbers: Ints, node: Ints, actions: Ints, decision: Ints) -> None:
        """Play actions [m] at some nodes [m], draw all tiles that may follow, and add the nodes that are reached."""
        if self._n_nodes + len(node) > self._most:
            raise ValueError(f"the tree of this game has more than {self._most:,} nodes: begin at a later position")
        mover = nodes.states.to_play[node]
        public = self._number_public(nodes, node, actions)
        state, drawable = _apply(nodes.states.select(node), actions)
        rows, state, drawn, code = _fill(state, mover, drawable)
        mover, public = mover[rows], public[rows]
        private, previous = nodes.private[node[rows]], nodes.previous[node[rows]]
        each = np.arange(len(rows))
        some = np.flatnonzero(code)
        private[some, mover[some]] = self._number_private(private[some, mover[some]], code[some])
        previous[each, mover] = decision[rows]
        swap_next = state.phase == Phase.SWAP
        placed = (state.board >= 0).sum(axis=1) // 2
        time = 2 * placed - swap_next
        after = _Nodes(level, state, public, private, previous, numbers[node[rows]], decision[rows], drawn)
        for when in np.unique(time).tolist():
            self._add(when, after.select(time == when))

    def _number_public(self, nodes: _Nodes, node: Ints, actions: Ints) -> Ints:
        """Return the numbers [m] of the events that everybody has seen after an action; declining is not seen."""
        state, t = nodes.states, nodes.states.tables
        racks, returned = _own_slots(state, node)
        slot, placement = t.split_action(np.where(t.is_placing(actions), actions, 0))
        each = np.arange(len(node))
        ages = _number_rows(returned[each, slot])
        shown = np.sort(racks + 1, axis=1).astype(np.int64) @ (t.n_kinds + 1) ** np.arange(racks.shape[1])
        seen = np.where(
            t.is_placing(actions),
            (ages * t.n_placements + placement) * t.n_kinds + racks[each, slot],
            -2 - shown,
        )
        before = nodes.public[node]
        public = before.copy()
        some = np.flatnonzero(actions != t.decline_action)
        public[some] = self._n_public + _number_pairs(before[some], seen[some])
        self._n_public = int(public.max(initial=self._n_public - 1)) + 1
        return public

    def _number_private(self, before: Ints, drawn: Ints) -> Ints:
        """Return the numbers [m] of a seat's draws, from those before and the tiles that it has drawn now."""
        numbers = self._n_private + _number_pairs(before, drawn)
        self._n_private = int(numbers.max(initial=self._n_private - 1)) + 1
        return numbers


def _number_pairs(one: Ints, other: Ints) -> Ints:
    """Return numbers from 0 that are equal where both whole numbers of a pair are: [n]."""
    low = other.min(initial=0)
    width = int(other.max(initial=0) - low) + 1
    numbers: Ints = np.unique(one * width + (other - low), return_inverse=True)[1].ravel()
    return numbers


def _number_rows(rows: NDArray[Any]) -> Ints:
    """Return numbers from 0 that are equal where the rows [n, K] are: [n]."""
    if not rows.any():
        return np.zeros(len(rows), dtype=np.int64)
    numbers: Ints = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    return numbers


def _own_slots(state: State, rows: Ints) -> tuple[NDArray[np.int8], NDArray[np.uint8]]:
    """Return the racks [G, K] of the seats to play, and what was returned since their slots were filled [G, K, M]."""
    seat = state.to_play[rows]
    return state.racks[rows, seat], state.returned[rows, seat]


def _distinct_actions(position: State) -> tuple[Ints, Ints]:
    """Return the actions of the tree at positions: rows [n], ascending, and action ids [n], ascending in a row."""
    rows, actions = np.nonzero(kernel.legal(position))
    useless = (position.phase == Phase.SWAP) & (most_placements_left(position) < position.rules.players)
    kept = (canonical_actions(position, rows, actions) == actions) & ~(
        useless[rows] & (actions == position.tables.swap_action)
    )
    return rows[kept], actions[kept]


def _apply(state: State, actions: Ints) -> tuple[State, Ints]:
    """Play actions [G], in place, up to the draws; slots that are to be filled at random are empty.

    Returns:
        The states, and the tiles [G, M] that may be drawn. A swapped rack is in the bag but cannot be drawn.
    """
    t, each, seat = state.tables, np.arange(len(state)), state.to_play.copy()
    before = state.racks[each, seat].copy()
    placing, swapping = np.flatnonzero(t.is_placing(actions)), actions == t.swap_action
    aside = kernel.count_kinds(np.where(swapping[:, None], before, EMPTY), t.n_kinds)
    before[placing, t.split_action(actions[placing])[0]] = EMPTY
    before[swapping] = EMPTY
    kernel.apply(state, actions)
    after = state.racks[each, seat]
    matters = most_placements_left(state) >= state.rules.players
    back = (before == EMPTY) & (after != EMPTY) & matters[:, None]
    rows, slots = np.nonzero(back)
    np.add.at(state.bag, (rows, after[rows, slots]), 1)
    state.racks[rows, seat[rows], slots] = EMPTY
    return state, state.bag.astype(np.int64) - aside


def _fill(state: State, seat: Ints, drawable: Ints) -> tuple[Ints, State, Floats, Ints]:
    """Fill the racks of seats [G] in all ways.

    Args:
        state: G games.
        seat: [G] the seats. A rack is filled if the turn has passed on, or nothing has been played.
        drawable: [G, M] the tiles that may be drawn.

    Returns:
        The game [n] that each filled one comes from, ascending; the filled games; the probabilities [n] of their
        draws; and what was drawn, as a number [n], 0 for nothing.
    """
    t, each = state.tables, np.arange(len(state))
    mid_turn = (state.phase == Phase.BONUS) | (state.phase == Phase.SWAP) | state.over
    missing = np.where(mid_turn, 0, (state.racks[each, seat] == EMPTY).sum(axis=1))
    all_rows, all_chances, all_codes, all_filled = [], [], [], []
    for size in np.unique(missing).tolist():
        some = np.flatnonzero(missing == size)
        each_draw = list(combinations_with_replacement(range(t.n_kinds), size))
        kinds = np.array(each_draw, dtype=np.int64).reshape(len(each_draw), size)
        ways = _choose(drawable[some][:, None, :], kernel.count_kinds(kinds, t.n_kinds)[None]).prod(axis=2)
        game, which = np.nonzero(ways)
        rows, drawn = some[game], kinds[which]
        filled = state.select(rows)
        if size:
            at, slot = np.nonzero(filled.racks[np.arange(len(rows)), seat[rows]] == EMPTY)
            filled.racks[at, seat[rows[at]], slot] = drawn.ravel()
            filled.bag -= kernel.count_kinds(drawn, t.n_kinds).astype(np.uint8)
        all_rows.append(rows)
        all_chances.append(ways[game, which] / _choose(drawable[some].sum(axis=1), size)[game])
        all_codes.append((1 + drawn @ t.n_kinds ** np.arange(size)) if size else np.zeros(len(rows), dtype=np.int64))
        all_filled.append(filled)
    if len(all_rows) == 1:
        return all_rows[0], all_filled[0], all_chances[0], all_codes[0]
    rows = np.concatenate(all_rows)
    order = np.argsort(rows, kind="stable")
    whole = State.concat(all_filled).select(order)
    return rows[order], whole, np.concatenate(all_chances)[order], np.concatenate(all_codes)[order]


def _choose(tiles: Ints, count: Ints | int) -> Floats:
    """Return the number of ways to choose so many of the tiles; arrays are broadcast."""
    ways = np.ones(np.broadcast_shapes(np.shape(tiles), np.shape(count)))
    for taken in range(int(np.max(count, initial=0))):
        ways *= np.where(taken < np.asarray(count), (tiles - taken) / (taken + 1), 1.0)
    return ways


def _make_edges(first_child: int, batch: _Nodes) -> Edges:
    parents, starts = np.unique(batch.parent, return_index=True)
    return Edges(first_child, batch.parent, batch.decision, batch.chance, parents, starts)


def _concat(batches: list[_Nodes]) -> _Nodes:
    names = ("public", "private", "previous", "parent", "decision", "chance")
    return _Nodes(
        batches[0].level,
        State.concat([batch.states for batch in batches]),
        *(np.concatenate([getattr(batch, name) for batch in batches]) for name in names),
    )


def _utilities(state: State) -> Floats:
    """Return seat 0's rank utility where the game is over, else 0: [G]."""
    utility: Floats = np.where(state.over, rank_utility(ranking.ranks(state.scores))[:, 0], 0.0)
    return utility
