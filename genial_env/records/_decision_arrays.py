"""The decisions of parsed records as arrays, so that all games of a batch are compared and played at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genial_env.core.arrays import Bools, Ints
from genial_env.core.state import EMPTY
from genial_env.records._parse import ParsedDecision, ParsedRecord

__all__ = ["DecisionArrays"]


@dataclass(eq=False)
class DecisionArrays:
    """The D decisions of B records with the same rules, game by game and in order."""

    parsed: list[ParsedDecision]  # D
    starts: Ints  # [B + 1] the first decision of each game, and D
    actions: Ints  # [D]
    seats: Ints  # [D]
    legal: Ints  # [D] numbers of legal actions, as recorded
    kinds: Ints  # [D] the tile placed, EMPTY if none is
    points: Ints  # [D, C]
    keeps: Bools  # [D] whether a swap is declined
    draws: Ints  # [D, K] the tile kinds drawn after each of them, EMPTY after the last
    draws_by_seat: Bools  # [D] whether the seat of the decision draws them; True if none are drawn

    @classmethod
    def of(cls, records: Sequence[ParsedRecord]) -> "DecisionArrays":
        """Return the decisions of records with the same rules."""
        rules = records[0].rules
        parsed = [decision for record in records for decision in record.decisions]
        no_points = (0,) * rules.colors
        padding = [(EMPTY,) * (rules.rack - count) for count in range(rules.rack + 1)]
        rows = [
            (
                each.action,
                each.seat,
                each.legal,
                each.kind,
                each.name == "keep",
                each.draw_seat is None or each.draw_seat == each.seat,
                *(each.points or no_points),
                *each.draws,
                *padding[len(each.draws)],
            )
            for each in parsed
        ]
        columns = np.array(rows, dtype=np.int64).reshape(len(parsed), 6 + rules.colors + rules.rack).T.copy()
        actions, seats, legal, kinds, keeps, draws_by_seat = columns[:6]
        return cls(
            parsed=parsed,
            starts=np.cumsum([0, *(len(record.decisions) for record in records)]),
            actions=actions,
            seats=seats,
            legal=legal,
            kinds=kinds,
            points=columns[6 : 6 + rules.colors].T,
            keeps=keeps == 1,
            draws=columns[6 + rules.colors :].T.copy(),
            draws_by_seat=draws_by_seat == 1,
        )

    @property
    def counts(self) -> Ints:
        """The number of decisions of each game: [B]."""
        return np.diff(self.starts)
