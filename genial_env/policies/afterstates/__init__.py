"""Candidate actions, and the features of the positions that they lead to.

An *afterstate* is the position after a seat's action and before it draws new tiles: everything that the action
determines, and nothing random. Everything here is computed from views, so it uses only what the seat may know.

:func:`candidates` lists the actions that are worth a look, :func:`afterstates` makes what they lead to, with features
of each color, each tile kind and the whole game (:mod:`genial_env.policies.afterstates.layout`).

Axis letters as in :mod:`genial_env.core.tables`; also n afterstates, F features of a color, D of a tile kind, W
features in all.
"""

from genial_env.policies.afterstates.choices import candidates, distinct_placements
from genial_env.policies.afterstates.layout import (
    Features,
    Inputs,
    afterstate_inputs,
    color_features,
    game_features,
    kind_features,
    split_features,
    width,
)
from genial_env.policies.afterstates.states import Afterstates, afterstates

__all__ = [
    "Afterstates",
    "Features",
    "Inputs",
    "afterstate_inputs",
    "afterstates",
    "candidates",
    "color_features",
    "distinct_placements",
    "game_features",
    "kind_features",
    "split_features",
    "width",
]
