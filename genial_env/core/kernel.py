"""The rules as functions on arrays of B games. There is no Python loop over games.

    state = deal(Rules(), seeds=range(1000))
    for live in live_games(state):
        mask = legal(state, live)                  # [G, A] bool, True = playable
        apply(state, actions, live)                # in place
    ranks(state.scores)                            # [B, T], 1 = best

`rows` selects the games of a call: [G] indices into B, each at most once; None selects all. `backend` is the compute
backend (:mod:`genial_env.backends`); None is the current one.

Two arrays are updated incrementally, and the speed of everything rests on them. `open` is the set of placements whose
two cells are free; placing a tile removes only the placements that share a cell with it. `points` holds what each color
would score on each free cell. Both halves of a tile are placed on cells that were free, so a tile scores
``points[first cell, first color] + points[second cell, second color]``, doubles included; and placing color k on
cell x changes only ``points[y, k]`` for the first free cell y behind the run of k in each of the six directions::

        y  k  k  x  k  .        y was next to a run of 2; now the run is 2 + x + the run of 1 on the other side,
        |  +--+  |  +- run      so points[y, k] grows by 1 + 1
        |   run of 2
        points[y, k] += 1 + run of k from x in the opposite direction
"""

from genial_env.core._kernel.board import find_touched_symbols, open_sets, recount_points
from genial_env.core._kernel.dealing import deal, deal_at, deal_racks, redeal, undealt, undealt_at
from genial_env.core._kernel.legality import (
    FIRST_TURN_RULE,
    illegal_reason,
    is_legal,
    legal,
    legal_count,
    legal_placements,
    legal_slots,
    may_decline,
    may_swap,
    placement_sets,
    placement_sets_unchecked,
    why_illegal,
)
from genial_env.core._kernel.playing import apply, apply_without_draw, gained, lacks_lowest, live_games
from genial_env.core._kernel.positions import position
from genial_env.core._kernel.rows import as_actions, as_rows, count_kinds, own_racks, own_scores

__all__ = [
    "FIRST_TURN_RULE",
    "apply",
    "apply_without_draw",
    "as_actions",
    "as_rows",
    "count_kinds",
    "deal",
    "deal_at",
    "deal_racks",
    "find_touched_symbols",
    "gained",
    "illegal_reason",
    "is_legal",
    "lacks_lowest",
    "legal",
    "legal_count",
    "legal_placements",
    "legal_slots",
    "live_games",
    "may_decline",
    "may_swap",
    "open_sets",
    "own_racks",
    "own_scores",
    "placement_sets",
    "placement_sets_unchecked",
    "position",
    "recount_points",
    "redeal",
    "undealt",
    "undealt_at",
    "why_illegal",
]
