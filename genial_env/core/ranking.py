"""Rank players by the minimum-score tie-break, and turn ranks into utilities."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from genial_env.core.arrays import Ints

__all__ = ["rank_utility", "ranks"]


def ranks(scores: ArrayLike) -> Ints:
    """Rank tracks by the min-score tie-break: sorted ascending, the higher first difference is better.

    Args:
        scores: [..., T, C] whole numbers; colors do not matter.

    Returns:
        [..., T], 1 = best; tracks equal in all colors share a rank and the next one is skipped (1, 2, 2, 4).

    Raises:
        TypeError: for something other than whole numbers.
        ValueError: for fewer than two axes.
    """
    values = np.asarray(scores)
    if values.dtype.kind not in "iu":
        raise TypeError(f"scores must be whole numbers, not {values.dtype}")
    if values.ndim < 2:
        raise ValueError(f"scores must have the axes [..., tracks, colors], not shape {values.shape}")
    ordered = np.sort(values.astype(np.int64), axis=-1)
    ahead = ordered[..., None, :, :] - ordered[..., :, None, :]  # [..., T, other T, C]: the other's lead
    first = (ahead != 0).argmax(axis=-1)
    lead = np.take_along_axis(ahead, first[..., None], axis=-1)[..., 0]
    places: Ints = 1 + (lead > 0).sum(axis=-1)
    return places


def rank_utility(ranks: Ints) -> NDArray[np.float64]:
    """[..., T]: ranks as utilities, +1 first to -1 last, their sum 0; equal tracks share their places."""
    tied = (ranks[..., :, None] == ranks[..., None, :]).sum(axis=-1)
    mean_place = ranks - 1 + (tied - 1) / 2
    utility: NDArray[np.float64] = 1 - 2 * mean_place / (ranks.shape[-1] - 1)
    return utility
