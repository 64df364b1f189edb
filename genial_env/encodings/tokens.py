"""The encoding "tokens": rows for attention networks, such as one for each cell and each tile."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Ints
from genial_env.core.determinization import complete
from genial_env.core.rules import Rules
from genial_env.core.state import LEVELS
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.encodings.base import Field

__all__ = ["CELL", "GAME", "KIND", "MARKER", "SEAT", "TILE", "Tokens"]

CELL, TILE, MARKER, KIND, SEAT, GAME = range(1, 7)


class Tokens:
    """One uint8 array (L, W): a row for each token, its type in column 0; columns that a type does not use are 0.

    Rows come in this order, L = N + K + T * C + M + P + 1; W = 4 + max(C, P * K + 12) (solo: 4 + C).

    =========  =====  ==============================================================================================
    type       rows   columns from 1 on
    =========  =====  ==============================================================================================
    1 cell     N      q + side - 1; r + side - 1; color + 1, 0 where free; what each color would score here
    2 tile     K      slot; color + 1 of the first half, of the second; 0 and 0: empty slot
    3 marker   T * C  track, own first; color; the marker
    4 kind     M      color of the first half, of the second; tiles unseen; then (not in solo), for each slot of each
                      seat, own first, how many of the kind swaps have returned since it was filled (others' slots: the
                      longest filled first); then, for the latest 12 returns of the kind, the latest first, how many of
                      it were then in the bag, or are in slots filled before
    5 seat     P      seat, own first; tiles held; 1: has placed its first tile; 1: the decision is this seat's
    6 game     1      phase (0 place, 1 bonus, 2 swap, 3 over); bonus placements to be made
    =========  =====  ==============================================================================================
    """

    def fields(self, rules: Rules) -> dict[str, Field]:
        """Return one field with the empty name."""
        rows = sum(_counts(rules))
        most = max(6 * (2 * rules.side - 1), rules.top, int(tables(rules).full_bag.max()), LEVELS)
        return {"": Field((rows, _width(rules)), high=most)}

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """Encode views as a new array [G, L, W]."""
        rules, t = view.rules, view.tables
        tokens = np.zeros((len(view), sum(_counts(rules)), _width(rules)), dtype=np.uint8)
        cells, tiles, markers, kinds, seats, game = _parts(rules, tokens)
        cells[:, :, 0] = CELL
        cells[:, :, 1:3] = t.cells + rules.side - 1
        cells[:, :, 3] = view.board + 1
        cells[:, :, 4 : 4 + rules.colors] = view.points
        tiles[:, :, 0] = TILE
        tiles[:, :, 1] = np.arange(rules.rack)
        tiles[:, :, 2:4] = np.where(view.rack[..., None] < 0, 0, t.kinds.take(view.rack, axis=0) + 1)
        markers[:, :, 0] = MARKER
        markers[:, :, 1], markers[:, :, 2] = np.divmod(np.arange(rules.tracks * rules.colors), rules.colors)
        markers[:, :, 3] = view.scores.reshape(len(view), rules.tracks * rules.colors)
        kinds[:, :, 0] = KIND
        kinds[:, :, 1:3] = t.kinds
        kinds[:, :, 3] = view.unseen
        if rules.has_swap:
            slots = rules.players * rules.rack
            kinds[:, :, 4 : 4 + slots] = view.returned.reshape(len(view), slots, t.n_kinds).transpose(0, 2, 1)
            kinds[:, :, 4 + slots : 4 + slots + LEVELS] = view.levels
        seats[:, :, 0] = SEAT
        seats[:, :, 1] = np.arange(rules.players)
        seats[:, :, 2] = view.rack_sizes
        seats[:, :, 3] = view.has_placed
        seats[:, :, 4] = view.to_play[:, None] == np.arange(rules.players)
        game[:, 0, 0] = GAME
        game[:, 0, 1] = view.phase
        game[:, 0, 2] = view.pending_bonus
        return {"": tokens}

    def decode(self, rules: Rules, arrays: dict[str, NDArray[Any]]) -> View:
        """Return the views [G] of encoded arrays, as seat 0 sees them."""
        t, tokens = tables(rules), arrays[""].astype(np.int64)
        cells, tiles, markers, kinds, seats, game = _parts(rules, tokens)
        halves: Ints = tiles[:, :, 2:4] - 1
        slots = rules.players * rules.rack
        swaps = kinds[:, :, 4 : 4 + slots + LEVELS] if rules.has_swap else np.zeros((1, 1, slots + LEVELS))
        return complete(
            rules,
            board=cells[:, :, 3] - 1,
            scores=markers[:, :, 3].reshape(len(tokens), rules.tracks, rules.colors),
            rack=np.where(halves[:, :, 0] < 0, -1, t.kind_of[halves[:, :, 0], halves[:, :, 1]]),
            unseen=kinds[:, :, 3],
            returned=swaps[:, :, :slots].transpose(0, 2, 1).reshape(-1, rules.players, rules.rack, swaps.shape[1]),
            levels=swaps[:, :, slots:],
            rack_sizes=seats[:, :, 2],
            has_placed=seats[:, :, 3] == 1,
            to_play=seats[:, :, 4].argmax(axis=1),
            phase=game[:, 0, 1],
            pending_bonus=game[:, 0, 2],
        )


def _counts(rules: Rules) -> tuple[int, ...]:
    """Return how many rows each type has."""
    t = tables(rules)
    return t.n_cells, rules.rack, rules.tracks * rules.colors, t.n_kinds, rules.players, 1


def _width(rules: Rules) -> int:
    return 4 + max(rules.colors, rules.players * rules.rack + LEVELS if rules.has_swap else 0)


def _parts(rules: Rules, tokens: NDArray[Any]) -> list[NDArray[Any]]:
    """Split the array into the rows of each type, not copied."""
    return np.split(tokens, np.cumsum(_counts(rules))[:-1], axis=1)
