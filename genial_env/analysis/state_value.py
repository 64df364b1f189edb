"""The value of full states: the expected result of a game when all racks are known.

It is for looking back at games: for the luck of draws (:mod:`genial_env.analysis.luck`). `experiments/train_luck.py`
trains the network by self-play of the agent "value".
"""

import numpy as np

from genial_env.analysis.draws import Tiles
from genial_env.analysis.full_states import Positions, compute_full_features, full_inputs
from genial_env.core.arrays import Floats, Ints
from genial_env.core.rules import Rules
from genial_env.core.tables import tables
from genial_env.policies import weight_files
from genial_env.policies.afterstates import Inputs
from genial_env.policies.value_net import ValueNet

__all__ = ["KIND", "FullStateNet", "read_full_state_net"]

KIND = "luck"
"""The kind of network in files of weights."""


class FullStateNet(ValueNet):
    """A network of the layers of :class:`~genial_env.policies.value_net.ValueNet` over the features of full states."""

    title = "the network of full states"

    @staticmethod
    def inputs(rules: Rules) -> Inputs:
        """Return the numbers of features that it reads."""
        return full_inputs(rules)

    def values(self, positions: Positions, at: Ints, tiles: Tiles, seats: Ints) -> Floats:
        """Predict the results of n full states: [n, T] for each track, in absolute order.

        The result of a track is its rank utility, +1 first to -1 last; solo, its lowest marker.

        Args:
            positions: D positions.
            at: [n] the position of each state.
            tiles: the tiles of each state.
            seats: [n] the seat that draws.
        """
        rules, t = self.rules, tables(self.rules)
        clockwise = tiles.racks[np.arange(len(at))[:, None], t.seats_from[seats]]
        chances = self(compute_full_features(positions, at, clockwise, tiles.bag))
        if rules.tracks == 1:
            lowest: Floats = self.outcomes.expected(chances)[0].reshape(-1, 1).astype(np.float64)
            return lowest
        own_first = (chances * self.outcomes.weights[0]).sum(axis=2).astype(np.float64)
        if rules.tracks == 2:
            own_first = np.concatenate([own_first, -own_first], axis=1)
        values: Floats = np.empty_like(own_first)
        np.put_along_axis(values, t.tracks_from[seats], own_first - own_first.mean(axis=1, keepdims=True), axis=1)
        return values


def read_full_state_net(rules: Rules, source: weight_files.Source = None) -> FullStateNet:
    """Return the network for a game.

    Args:
        rules: the rules.
        source: a file of weights, or the arrays; None: the shipped file for the game's seats and mode.

    Raises:
        ValueError, OSError: if there are no weights for the game, or they cannot be used.
    """
    return FullStateNet(rules, weight_files.Weights(KIND, FullStateNet.layout_of, source).of(rules))
