"""Evaluate placements by cell and color, choose the best, and find equivalent ones."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from genial_env.core import bitsets
from genial_env.core.arrays import Bits, Ints
from genial_env.core.views import View

__all__ = ["equivalence_keys", "pick_best", "tile_values"]

N = TypeVar("N", bound=np.integer[Any])


def tile_values(view: View, values: NDArray[N]) -> NDArray[N]:
    """Compute the value of each tile of the rack on each placement from the values of its halves.

    Args:
        view: G games.
        values: [G, N, C] the value of placing a half by cell and color. With ``view.points`` the result is the points
            of every placement.

    Returns:
        [G, K, E]. Entries for empty slots are undefined.
    """
    t = view.tables
    n_games, n_slots = view.rack.shape
    by_color = np.ascontiguousarray(values.transpose(0, 2, 1)).reshape(-1, t.n_cells)  # [G * C, N]
    halves = t.kinds.take(view.rack, axis=0) + np.arange(n_games)[:, None, None] * view.rules.colors  # [G, K, 2]
    first, second = (by_color.take(halves[:, :, half].ravel(), axis=0) for half in (0, 1))  # [G * K, N]
    total = first.take(t.placements[:, 0], axis=1, mode="clip")  # without a check of every index
    total += second.take(t.placements[:, 1], axis=1, mode="clip")
    return total.reshape(n_games, n_slots, t.n_placements)


def pick_best(view: View, values: NDArray[np.integer[Any]], random: Bits) -> Ints:
    """Return the legal placement of the highest value as an action id, ties broken uniformly at random: [G].

    Args:
        view: games in which a placement is to be made.
        values: [G, K, E] integers greater than the minimum of their type.
        random: [G] random bits.
    """
    limits = np.iinfo(values.dtype)
    cap = limits.min ^ -view.placements.astype(values.dtype)  # 0 -> the minimum, 1 -> the maximum of the type
    capped = np.minimum(values, cap[:, None, :])  # both several times as fast as np.where
    capped[~view.slots] = limits.min
    flat = capped.reshape(len(view), view.tables.swap_action)
    return bitsets.choose(bitsets.pack(flat == flat.max(axis=1)[:, None]), random)


def equivalence_keys(view: View, actions: Ints) -> Ints:
    """Compute a key for each action that is equal within a game if and only if the actions lead to the same position.

    Equivalent are placements of duplicate tiles from either slot, and of a double in either direction.

    Args:
        view: G games in which it is the seat's turn.
        actions: [G, K] action ids; negative numbers are equivalent to themselves only.

    Returns:
        [G, K].
    """
    t = view.tables
    placing = t.is_placing(actions)
    slot, placement = t.split_action(np.where(placing, actions, 0))
    kind = np.take_along_axis(view.rack.astype(np.int64), slot, axis=1)
    others = np.where(actions < 0, actions, -1 - actions)  # negative, as the keys of placements are not
    return np.where(placing, t.join_action(kind, t.canonical_placement(kind, placement)), others)
