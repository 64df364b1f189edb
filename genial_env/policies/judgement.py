"""Judgements: what actions are worth, as a policy that can judge says."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from genial_env.core.bitsets import Ints
from genial_env.core.views import View

Floats = NDArray[np.floating[Any]]

NONE = -1
"""In a row of judged actions: no further one."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """What some actions of G games are worth to the seats that may play them, K actions each, the best first."""

    actions: Ints  # [G, K] action ids, NONE behind the last
    utility: Floats  # [G, K] the expected rank, +1 first to -1 last; solo the expected lowest marker
    win: Floats  # [G, K] the chance of the first rank; solo nan


class Judge(Protocol):
    """Says what actions are worth; any policy with a method ``judge`` is one (``genial_env.policies.value.Value``)."""

    @property
    def name(self) -> str:
        """How reviews call it."""

    def judge(self, view: View, also: Ints | None = None) -> Judgement:
        """Judge the actions of each game that are worth a look.

        Args:
            view: G games in which it is the seat's turn.
            also: [G] an action of each that must be among them.
        """
