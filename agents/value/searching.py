"""Search some of the decisions of self-play: play the best actions on to a later turn of the seat in several deals.

The mean of the action that was chosen for its mean is too high: with two seats and eight deals by 0.03 of rank utility.
So one half of the deals chooses, and the means over the other half are what the network learns.
"""

from dataclasses import dataclass

import numpy as np

from genial_env import view
from genial_env.core import kernel
from genial_env.core.arrays import Bits, Bools, Floats32, Ints
from genial_env.core.chance import bits
from genial_env.core.determinization import determinize
from genial_env.core.state import State
from genial_env.policies.value import Judged
from genial_env.policies.value_net import ValueNet
from genial_env.policies.value_search import predict_later

__all__ = ["Search"]

SEARCH_BITS = 1 << 41
"""The number of the random bits of a decision that decide whether it is searched; those of the search follow."""


@dataclass(frozen=True)
class Search:
    """How decisions are searched.

    Attributes:
        share: share of the decisions that are searched.
        candidates: number of actions that are searched, those that the network values highest.
        deals: deals of the hidden tiles in which each of them is played on, at least 2. One half chooses, and the other
            one sets the targets.
        replies: number of placements that are evaluated for the decisions in between.
        turns: the turn of the seat up to which they are played on, 1: the next.
    """

    share: float
    candidates: int
    deals: int
    replies: int
    turns: int

    def improve(self, state: State, rows: Ints, net: ValueNet, random: Bits, judged: Judged) -> tuple[Ints, Floats32]:
        """Search some games, and replace the predictions of the searched actions by means of the search in place.

        Args:
            state: B games.
            rows: [G] the games to decide in.
            net: the network that plays on.
            random: [G] the random bits of the decisions.
            judged: the candidates in these games.

        Returns:
            The indices of the searched actions [n], ascending, and the values by which to choose, the least possible
            one for actions that were not searched in a searched game.
        """
        after = judged.after
        is_searched = bits(random, SEARCH_BITS) / 2.0**64 < self.share
        searched = np.flatnonzero(is_searched[after.game] & (_places(judged) < self.candidates))
        values = np.where(is_searched[after.game], np.float32(np.finfo(np.float32).min), judged.utility)
        if searched.size:
            played = self._deal(state, rows, is_searched, random, after.game[searched])
            seats = played.to_play.copy()
            kernel.apply(played, np.repeat(after.actions[searched], self.deals))
            found = predict_later(played, seats, net, self.replies, self.turns)
            by_deal, half = found.reshape(len(searched), self.deals, *found.shape[1:]), self.deals // 2
            judged.chances[searched] = by_deal[:, half:].mean(axis=1)
            values[searched] = net.outcomes.utility(by_deal[:, :half].mean(axis=1))
        return searched, values

    def _deal(self, state: State, rows: Ints, is_searched: Bools, random: Bits, game: Ints) -> State:
        """Return deals of the games of n actions, `game` [n]: [n * deals]. All actions of a game get the same ones."""
        games = np.flatnonzero(is_searched)
        seen = view(state, rows=rows[np.repeat(games, self.deals)])
        random_of_game = np.repeat(bits(random[games], SEARCH_BITS + 1), self.deals)
        dealt = determinize(seen, bits(random_of_game, np.tile(np.arange(self.deals), len(games))))
        first = np.searchsorted(games, game) * self.deals
        return dealt.select((first[:, None] + np.arange(self.deals)).ravel())


def _places(judged: Judged) -> Ints:
    """Return the place of each action among those of its game, 0 for the best: [n]."""
    game = judged.after.game
    places = np.empty(len(game), dtype=np.int64)
    places[np.lexsort((-judged.utility, game))] = np.arange(len(game)) - np.searchsorted(game, game)
    return places
