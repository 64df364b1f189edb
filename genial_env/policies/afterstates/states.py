"""Afterstates: actions applied to what a seat knows of its game."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genial_env.backends import accelerated
from genial_env.core import kernel
from genial_env.core.arrays import Bools, Ints
from genial_env.core.state import EMPTY, State
from genial_env.core.views import View
from genial_env.policies.afterstates.features import compute_features
from genial_env.policies.afterstates.layout import Features, width

__all__ = ["Afterstates", "afterstates", "fill_afterstates", "make_states"]


@dataclass(eq=False)
class Afterstates:
    """The positions after n actions."""

    game: Ints  # [n] the index of the view
    actions: Ints  # [n]
    features: Features  # [n, W]
    over: Bools  # [n] the game has ended
    scores: NDArray[np.int8]  # [n, T, C] the markers, own track first

    def __len__(self) -> int:
        """Return n."""
        return len(self.game)


def afterstates(view: View, game: Ints, actions: Ints) -> Afterstates:
    """Compute the afterstates of actions.

    Args:
        view: G games in which it is the seat's turn.
        game: [n] the game of each action.
        actions: [n] legal action ids.
    """
    rules = view.rules
    made = Afterstates(
        game=game,
        actions=actions,
        features=np.empty((len(game), width(rules)), dtype=np.int16),
        over=np.empty(len(game), dtype=np.bool_),
        scores=np.empty((len(game), rules.tracks, rules.colors), dtype=np.int8),
    )
    fill_afterstates(view, made)
    return made


def make_states(view: View) -> State:
    """Return states in which the viewing seat is seat 0, the others hold no tiles, and the bag holds all unseen ones.

    No real game is like this. It is what the rules need to apply an action of the seat.
    """
    rules, t, n = view.rules, view.tables, len(view)
    racks = np.full((n, rules.players, rules.rack), EMPTY, dtype=np.int8)
    racks[:, 0] = view.rack
    return State.initial(
        rules,
        n,
        board=view.board.copy(),
        points=view.points.copy(),
        open=kernel.open_sets(t, view.board),
        symbols_touched=kernel.find_touched_symbols(t, view.board),
        scores=view.scores.copy(),
        racks=racks,
        bag=view.unseen.copy(),
        has_placed=view.has_placed.copy(),
        to_play=view.to_play.copy(),
        phase=view.phase.copy(),
        pending_bonus=view.pending_bonus.copy(),
    )


@accelerated
def fill_afterstates(view: View, made: Afterstates) -> None:
    """Fill in `features`, `over` and `scores` of the afterstates in place."""
    for start in range(0, len(made), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        state = make_states(view).select(made.game[part])
        kernel.apply_without_draw(state, made.actions[part])
        made.over[part], made.scores[part] = state.over, state.scores
        others = view.rack_sizes[made.game[part], 1:]
        made.features[part] = compute_features(state, others)


AT_ONCE = 2048
"""Afterstates computed together, so that they fit in the cache."""
