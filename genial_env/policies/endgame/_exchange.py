"""Two seats with two placements left: the opponent's reply, and the mover's last tile."""

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.stopping import checkpoint
from genial_env.core import kernel
from genial_env.core.arrays import Bools, Floats, Ints
from genial_env.core.state import EMPTY, Phase, State
from genial_env.policies.endgame._knowledge import Knowledge
from genial_env.policies.endgame._outcomes import SAME, find_ends, list_distinct_actions

__all__ = ["Exchange"]


class Exchange:
    """A game of two seats with two placements left: the opponent places one tile and the mover the last, or it both.

    Args:
        known: what the mover knows.
        state: one game, the opponent to play.
        held: [K] what is left of the mover's rack before it draws.
    """

    def __init__(self, known: Knowledge, state: State, held: NDArray[np.int8]) -> None:
        self.known, self.state = known, state
        self.held = held[held != EMPTY]
        self.drawn = state.rules.rack - len(self.held)
        self.n_kinds = state.tables.n_kinds

    def value(self) -> float:
        """Return the mover's mean utility over the opponent's hands and its own draws."""
        checkpoint()
        needs, payoffs = self._replies()
        if payoffs.max() - payoffs.min() < SAME:
            return float(payoffs[0, 0])
        sure = payoffs[:, self.held].max(axis=1, initial=-1.0)
        group = _group_kinds(needs, payoffs, self.known.opponent.revealed)
        first = np.unique(group, return_index=True)[1]
        member = (group[:, None] == np.arange(len(first))).astype(np.int64)
        counts = self.known.unseen @ member
        needs = needs @ member
        merged = np.unique(np.concatenate([needs, payoffs[:, first], sure[:, None]], axis=1), axis=0)
        needs, payoffs, sure = merged[:, : len(first)].astype(np.int64), merged[:, len(first) : -1], merged[:, -1]
        hands, chances = self.known.opponent.hands(group)
        total = 0.0
        for start in range(0, len(hands), 1 << 14):
            checkpoint()
            part = slice(start, start + (1 << 14))
            total += float(chances[part] @ self._best_replies(hands[part], counts, needs, payoffs, sure))
        return total

    def _best_replies(
        self, hands: NDArray[np.int8], counts: Ints, needs: Ints, payoffs: Floats, sure: Floats
    ) -> Floats:
        """Return the mover's mean utility [n] against the best reply of each of n hands.

        Args:
            hands: [n, groups] tiles of each group of interchangeable kinds.
            counts: [groups] unseen tiles.
            needs: [R, groups] the tiles that each reply needs.
            payoffs: [R, groups] the mover's utility by the group of its last tile.
            sure: [R] the mover's utility with the best tile that it already holds.
        """
        worst = np.full(len(hands), np.inf)
        columns = np.ascontiguousarray(hands.T)
        different, which = np.unique(needs, axis=0, return_inverse=True)
        which = which.reshape(-1)
        for number, need in enumerate(different):
            able = np.flatnonzero(_holding(columns, need))
            if able.size:
                mine = which == number
                means = self._means(counts - hands[able], payoffs[mine], sure[mine])
                worst[able] = np.minimum(worst[able], means.min(axis=1))
        return worst

    def _means(self, bags: Ints, payoffs: Floats, sure: Floats) -> Floats:
        """Return the mover's mean utility [n, R] over its draws from bags [n, groups], against each reply."""
        left = int(self.known.unseen.sum()) - self.known.opponent.size
        none = np.array([comb(left - good, self.drawn) / comb(left, self.drawn) for good in range(left + 1)])
        means = np.ones((len(bags), len(payoffs)))
        for level in (0, 1):  # of -1, 0 and 1: the mean is -1 + P(at least 0) + P(1)
            missing = none[bags @ (payoffs >= level - SAME).T.astype(np.int64)]
            missing[:, sure >= level - SAME] = 0
            means -= missing
        return means

    def _replies(self) -> tuple[Ints, Floats]:
        """Return the tiles that each reply needs [R, M], and the mover's utility by its last tile's kind [R, M]."""
        kinds = np.flatnonzero(self.known.unseen)
        games = self._with_hand(np.zeros(len(kinds), dtype=np.int64), self.state, kinds, twice=True)
        rows, actions = list_distinct_actions(games)
        ends, utilities = find_ends(games, rows, actions)
        needs, payoffs = [], []
        needs.append(self._need(kinds[rows[ends]]))
        payoffs.append(np.repeat(utilities[ends, self.known.track, None], self.n_kinds, axis=1))
        after = games.select(rows[~ends])
        kernel.apply(after, actions[~ends])
        laid = kinds[rows[~ends]]
        for more, further in (self._reply_with_both(after, laid), self._reply_with_one(after, laid)):
            needs.append(more)
            payoffs.append(further)
        return _drop_dominated(np.concatenate(needs), np.concatenate(payoffs))

    def _reply_with_both(self, after: State, laid: Ints) -> tuple[Ints, Floats]:
        """Return needs and payoffs of the replies in which a bonus lets the opponent place both tiles."""
        chain = np.flatnonzero(after.phase == Phase.BONUS)
        kinds = np.flatnonzero(self.known.unseen)
        from_row = np.repeat(chain, len(kinds))
        second = np.tile(kinds, len(chain))
        games = self._with_hand(from_row, after, second, twice=False)
        games.phase[:] = Phase.PLACE  # no bonus can follow, and none may be declined here
        rows, actions = list_distinct_actions(games)
        ends, utilities = find_ends(games, rows, actions)
        assert ends.all()
        needs = self._need(laid[from_row[rows]]) + self._need(second[rows])
        return needs, np.repeat(utilities[:, self.known.track, None], self.n_kinds, axis=1)

    def _reply_with_one(self, after: State, laid: Ints) -> tuple[Ints, Floats]:
        """Return needs and payoffs of the replies in which the opponent places one tile."""
        passing = after.phase != Phase.BONUS
        if self.state.rules.bonus_may_be_declined:
            passing[:] = True
        games = after.select(np.flatnonzero(passing))
        games.phase[:] = Phase.PLACE
        games.pending_bonus[:] = 0
        games.to_play[:] = self.known.seat
        payoffs = self.known.value_last_tile(games, self.known.seat)[:, :, self.known.track]
        return self._need(laid[passing]), payoffs

    def _with_hand(self, rows: Ints, state: State, kinds: Ints, twice: bool) -> State:
        """Return games in which the opponent holds a tile of these kinds, or two, so that a bonus can follow."""
        games = state.select(rows)
        games.racks[:, self.known.next_seat] = EMPTY
        games.racks[:, self.known.next_seat, : 1 + twice] = kinds[:, None]
        return games

    def _need(self, kinds: Ints) -> Ints:
        """Return needs [R, M] of one tile of each of these kinds."""
        need: Ints = (kinds[:, None] == np.arange(self.n_kinds)).astype(np.int64)
        return need


def _holding(columns: NDArray[np.int8], need: Ints) -> Bools:
    """Return which hands, as columns [groups, n], hold the tiles that a reply needs [groups]: [n]."""
    holding = np.ones(columns.shape[1], dtype=np.bool_)
    for group in np.flatnonzero(need):
        holding &= columns[group] >= need[group]
    return holding


def _drop_dominated(needs: Ints, payoffs: Floats) -> tuple[Ints, Floats]:
    """Remove the replies [R, M] that are never better for the opponent than another that needs no more tiles."""
    both = np.unique(np.concatenate([needs, payoffs], axis=1), axis=0)
    needs, payoffs = both[:, : needs.shape[1]].astype(np.int64), both[:, needs.shape[1] :]
    kept = np.ones(len(both), dtype=np.bool_)
    for reply in range(len(both)):
        kept[reply] = False
        better = (needs[kept] <= needs[reply]).all(axis=1) & (payoffs[kept] <= payoffs[reply] + SAME).all(axis=1)
        kept[reply] = not better.any()
    return needs[kept], payoffs[kept]


def _group_kinds(needs: Ints, payoffs: Floats, revealed: Bools) -> Ints:
    """Return groups [M] of kinds that are interchangeable, in the opponent's hand and as the mover's last tile.

    A kind is alone in its group if a reply needs two tiles of it, or needs it together with another kind, or if swaps
    have revealed something about it (`revealed` [M]).
    """
    single = needs.sum(axis=1) == 1
    groups: dict[Any, int] = {}
    numbers = []
    for kind in range(needs.shape[1]):
        taken = needs[:, kind] > 0
        alone = kind if revealed[kind] or (taken & ~single).any() else None
        replies = frozenset(row.tobytes() for row in payoffs[taken & single])
        numbers.append(groups.setdefault((alone, payoffs[:, kind].tobytes(), replies), len(groups)))
    return np.array(numbers, dtype=np.int64)
