"""The encoding "afterstate choices": the afterstates of the best actions, for networks that score afterstates.

A fixed reference network selects the actions: that with which training starts.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core.arrays import Floats32
from genial_env.core.rules import Rules
from genial_env.core.state import Phase
from genial_env.core.views import View
from genial_env.encodings.base import Field
from genial_env.policies.afterstates import Afterstates, afterstates, candidates, width
from genial_env.policies.base import NONE
from genial_env.policies.value import judge
from genial_env.policies.value_net import Outcomes, ValueNet

__all__ = ["AfterstateChoices"]


class AfterstateChoices:
    """A dict of arrays for the candidates of a decision, those that the reference network values highest first.

    Without a decision, in a finished game or for a seat that is not to play, there are no candidates. The letter K
    here stands for candidates, W for the features of an afterstate (:mod:`genial_env.policies.afterstates`).

    ==============  ========  =======  =================================================================================
    field           shape     dtype    content
    ==============  ========  =======  =================================================================================
    ``actions``     (K,)      int16    the candidates, -1 after the last
    ``features``    (K, W)    int16    the features of their afterstates, 0 after the last
    ``over``        (K,)      uint8    1: the game ends with the action
    ``results``     (K,)      float32  the rank utility of the result where the game ends, else 0
    ``reference``   (1,)      float32  the greatest utility of the candidates by the reference network; 0 without one
    ``markers``     (T, C)    uint8    the markers, own track first
    ==============  ========  =======  =================================================================================

    Args:
        choices: K, the most candidates.
        net: the reference network; None: the candidates are those of the highest prior values.
        most: the most placements that the reference network compares.
    """

    def __init__(self, choices: int, net: ValueNet | None = None, most: int = 128) -> None:
        self.choices, self._net, self._most = choices, net, most

    def fields(self, rules: Rules) -> dict[str, Field]:
        """Return the fields by name."""
        k, words = self.choices, np.iinfo(np.int16)
        return {
            "actions": Field((k,), words.max, np.int16, NONE),
            "features": Field((k, width(rules)), words.max, np.int16, words.min),
            "over": Field((k,), 1),
            "results": Field((k,), 1, np.float32, -1),
            "reference": Field((1,), 1, np.float32, -1),
            "markers": Field((rules.tracks, rules.colors), rules.top),
        }

    def encode(self, view: View) -> dict[str, NDArray[Any]]:
        """Return a new array [G, *shape] for each field."""
        made = {
            name: np.zeros((len(view), *field.shape), dtype=field.dtype)
            for name, field in self.fields(view.rules).items()
        }
        made["actions"][:] = NONE
        made["markers"][:] = view.scores
        deciding = np.flatnonzero((view.to_play == 0) & (view.phase != Phase.OVER))
        if not deciding.size:
            return made
        after, utility = self._judge(view.select(deciding))
        best_first = np.lexsort((-utility, after.game))  # stable
        place = np.arange(len(after)) - np.searchsorted(after.game, after.game)
        kept = best_first[place < self.choices]
        at = deciding[after.game[kept]], place[place < self.choices]
        made["actions"][at], made["features"][at] = after.actions[kept], after.features[kept]
        made["over"][at] = after.over[kept]
        ended = kept[after.over[kept]]
        outcomes = Outcomes(view.rules)
        made["results"][at[0][after.over[kept]], at[1][after.over[kept]]] = outcomes.utility(
            outcomes.of_scores(after.scores[ended])
        )
        made["reference"][deciding, 0] = utility[best_first[place == 0]]
        return made

    def _judge(self, view: View) -> tuple[Afterstates, Floats32]:
        """Return the candidates of games in which it is the seat's turn, and their utility by the reference network."""
        if self._net is not None:
            judged = judge(view, self._net, self._most)
            return judged.after, judged.utility
        actions = candidates(view, max(self.choices - 2, 1))
        game, place = np.nonzero(actions != NONE)
        return afterstates(view, game, actions[game, place]), np.zeros(len(game), dtype=np.float32)
