"""The learned value agent: it plays the action after which its network likes the position best.

    from genial_env.policies.value import Value
    from genial_env import play

    play([Value(), "denial"], games=10)

The network (:class:`ValueNet`) looks at afterstates (:mod:`genial_env.policies.afterstates`) and says how likely each
final place is; what a place is worth is applied afterwards. `experiments/train_value.py` teaches it by self-play.
Playing needs numpy and the file of weights only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env.core import ranking
from genial_env.core.bitsets import Bools, Ints
from genial_env.core.chance import Bits
from genial_env.core.placement_values import equivalence_keys
from genial_env.core.rules import Rules
from genial_env.core.views import View
from genial_env.policies import weight_files
from genial_env.policies.afterstates import (
    NONE,
    Afterstates,
    Features,
    afterstates,
    candidates,
    color_features,
    game_features,
)
from genial_env.policies.exact_products import multiply, round_columns
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.judgement import Judgement
from genial_env.policies.settings import check_count, check_name

Floats = NDArray[np.float32]

CANDIDATES = 32
"""How many placements the network is asked about."""


@dataclass(frozen=True)
class Outcomes:
    """What the network foretells, H distributions over K outcomes each.

    With other tracks to beat: the final places, K = T; H = T, a distribution a track, own track first, but for two
    tracks only the own. Tracks that tie share their places evenly. Solo: the markers from the lowest up, H = C, and
    K = top + 1.
    """

    rules: Rules

    @property
    def heads(self) -> int:
        """H."""
        tracks = self.rules.tracks
        return self.rules.colors if tracks == 1 else 1 if tracks == 2 else tracks

    @property
    def classes(self) -> int:
        """K."""
        return self.rules.top + 1 if self.rules.tracks == 1 else self.rules.tracks

    def of_scores(self, scores: NDArray[np.int8]) -> Floats:
        """[n, H, K]: the outcomes of finished games [n, T, C], of their track 0."""
        if self.rules.tracks == 1:
            markers = np.sort(scores[:, 0], axis=1)
            return np.asarray(markers[:, :, None] == np.arange(self.classes), dtype=np.float32)
        ranks = ranking.ranks(scores)[:, : self.heads]
        tied = (ranking.ranks(scores)[:, None, :] == ranks[:, :, None]).sum(axis=2)
        place = np.arange(1, self.classes + 1)
        shared = (place >= ranks[:, :, None]) & (place < (ranks + tied)[:, :, None])
        result: Floats = (shared / tied[:, :, None]).astype(np.float32)
        return result

    def utility(self, chances: Floats) -> Floats:
        """[n]: what outcomes [n, H, K] are worth to track 0: places from +1 first to -1 last; solo the lowest marker,
        and a tenth of the next one, and so on.
        """
        if self.rules.tracks == 1:
            markers = _mean(chances, np.arange(self.classes))
            return _mean(markers, 0.1 ** np.arange(self.heads))
        return _mean(chances[:, 0], np.linspace(1, -1, self.classes))

    def expected(self, chances: Floats) -> tuple[Floats, Floats]:
        """Each [n], of outcomes [n, H, K] of track 0: the expected place, +1 first to -1 last, and the chance of the
        first; solo the expected lowest marker, and nan.
        """
        if self.rules.tracks == 1:
            lowest = _mean(chances[:, 0], np.arange(self.classes))
            return lowest, np.full_like(lowest, np.nan)
        return self.utility(chances), chances[:, 0, 0]


def _mean(values: Floats, weights: NDArray[Any]) -> Floats:
    """Return the sums of values [n, ..., K] times weights [K], each added up in the same order in every batch."""
    total: Floats = (values * weights.astype(np.float32)).sum(axis=-1)
    return total


class ValueNet:
    """A network over the numbers of afterstates, in numpy.

    One layer pair reads the numbers of each color together with those of the game, the same weights for every color;
    their sum over the colors and the numbers of the game go through two more. So it makes no difference which color is
    which.

    Args:
        rules: what it plays: its seats and mode; sizes may differ.
        arrays: the weights by name, as :meth:`layout` says.

    Raises:
        ValueError: for arrays that do not fit the rules.
    """

    def __init__(self, rules: Rules, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.rules, self.outcomes = rules, Outcomes(rules)
        where = f"the value network for {rules.colors} colors and {rules.players} seats"
        weight_files.check(arrays, self.layout_of(rules, arrays), where)
        self.arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        of_features = {"color": self.arrays["color"], "game": np.hstack([self.arrays["game"], self.arrays["game_3"]])}
        self._matrices = {name: round_columns(self.arrays[name]) for name in ("layer_2", "pooled", "layer_4", "out")}
        self._matrices |= {name: round_columns(array, np.int16) for name, array in of_features.items()}

    @staticmethod
    def layout(rules: Rules, widths: tuple[int, int, int, int]) -> dict[str, tuple[int, ...]]:
        """The shapes of the weights, for the numbers of hidden units of the four layers."""
        a, b, c, d = widths
        per_color, whole, outcomes = len(color_features(rules)), len(game_features(rules)), Outcomes(rules)
        out = outcomes.heads * outcomes.classes
        return {
            "color": (per_color, a),
            "game": (whole, a),
            "bias_1": (a,),
            "layer_2": (a, b),
            "bias_2": (b,),
            "pooled": (b, c),
            "game_3": (whole, c),
            "bias_3": (c,),
            "layer_4": (c, d),
            "bias_4": (d,),
            "out": (d, out),
            "bias_out": (out,),
        }

    @classmethod
    def layout_of(cls, rules: Rules, arrays: weight_files.Arrays) -> dict[str, tuple[int, ...]]:
        """The shapes that some weights must have, with as many hidden units as their biases have."""
        first, second, third, fourth = (weight_files.count(arrays, f"bias_{layer}") for layer in (1, 2, 3, 4))
        return cls.layout(rules, (first, second, third, fourth))

    def __call__(self, features: Features) -> Floats:
        """The outcomes of afterstates [n, W]: [n, H, K] chances."""
        parts = [self._chances(features[i : i + AT_ONCE]) for i in range(0, len(features), AT_ONCE)]
        return np.concatenate(parts) if parts else self._chances(features)

    def _chances(self, features: Features) -> Floats:
        n, colors, whole = len(features), self.rules.colors, features[:, -len(self._matrices["game"]) :]
        by_color = features[:, : -whole.shape[1]].reshape(n, colors, -1)
        to_first, to_third = np.split(multiply(whole, self._matrices["game"]), [len(self.arrays["bias_1"])], axis=1)
        first = multiply(by_color, self._matrices["color"])
        first += (to_first + self.arrays["bias_1"])[:, None]
        second = self._layer(_rectify(first), "layer_2", "bias_2")
        pooled = _rectify(second).sum(axis=1)
        third = self._layer(pooled, "pooled", "bias_3") + to_third
        fourth = self._layer(_rectify(third), "layer_4", "bias_4")
        logits = self._layer(_rectify(fourth), "out", "bias_out")
        return _softmax(logits.reshape(n, self.outcomes.heads, self.outcomes.classes))

    def _layer(self, inputs: Floats, matrix: str, bias: str) -> Floats:
        outputs = multiply(inputs, self._matrices[matrix])
        outputs += self.arrays[bias]
        return outputs


def _rectify(values: Floats) -> Floats:
    """In place: replace negative numbers by 0; return the array."""
    return np.maximum(values, np.zeros_like(values), out=values)  # numpy is several times slower with a number


def _softmax(logits: Floats) -> Floats:
    """In place: turn logits [n, H, K] into H distributions over K outcomes; return the array."""
    logits -= logits.max(axis=2, keepdims=True)
    np.exp(logits, out=logits)
    logits /= logits.sum(axis=2, keepdims=True)
    return logits


AT_ONCE = 256
"""Afterstates that go through the network together, so that they stay in the cache."""


@dataclass(eq=False)
class Judged:
    """The candidates of G games and what the network thinks of them."""

    after: Afterstates
    chances: Floats  # [n, H, K]
    utility: Floats  # [n]

    def best(self, values: NDArray[Any], games: int) -> Ints:
        """[games]: the place among the n of each game's greatest of some values [n], the first of equal ones."""
        start = np.searchsorted(self.after.game, np.arange(games))
        order = np.lexsort((np.arange(len(values)), -values, self.after.game))
        best: Ints = order[start]
        return best


def judge(view: View, net: ValueNet, most: int = CANDIDATES, prior: HeuristicPolicy | None = None) -> Judged:
    """What comes of the likeliest actions.

    Args:
        view: G games in which it is the seat's turn.
        net: who judges.
        most: how many placements (:func:`~genial_env.policies.afterstates.candidates`).
        prior: what finds them.
    """
    return judge_actions(view, net, candidates(view, most, prior))


def judge_actions(view: View, net: ValueNet, actions: Ints) -> Judged:
    """What comes of some actions.

    Args:
        view: G games in which it is the seat's turn.
        net: who judges.
        actions: [G, K] playable ones, NONE behind the last.
    """
    game, place = np.nonzero(actions != NONE)
    after = afterstates(view, game, actions[game, place])
    chances = net(after.features)
    over: Bools = after.over
    if over.any():
        chances[over] = net.outcomes.of_scores(after.scores[over])
    return Judged(after, chances, net.outcomes.utility(chances))


class Value:
    """Plays the action whose afterstate the network likes best.

    Args:
        weights: a file of weights, or the arrays; left out, the file that is shipped for the game's seats and mode.
        candidates: how many placements the network is asked about, those that "denial" thinks worth most.
        name: how tables and records call it.

    Raises:
        FileNotFoundError, ValueError: for a file that is none of weights.
    """

    def __init__(
        self, weights: weight_files.Source = None, *, candidates: int = CANDIDATES, name: str = "value"
    ) -> None:
        self.name = check_name(name)
        self._candidates = check_count("candidates", candidates)
        self._nets = Nets(weights)

    def prepare(self, rules: Rules) -> None:
        """Read the weights for a game; raises what is wrong with them, ValueError where there are none."""
        self._nets.of(rules)

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        judged = judge(view, self._nets.of(view.rules), self._candidates)
        return judged.after.actions[judged.best(judged.utility, len(view))]

    def judge(self, view: View, also: Ints | None = None) -> Judgement:
        """What the likeliest actions of each game are worth (:class:`genial_env.policies.judgement.Judge`).

        Solo they are worth the expected lowest marker, of equal ones the better for the next ones first.

        Args:
            view: G games in which it is the seat's turn.
            also: [G] an action of each that must be among them.

        Raises:
            ValueError: where there are no weights for these rules.
        """
        net, actions = self._nets.of(view.rules), candidates(view, self._candidates)
        judged = judge_actions(view, net, actions if also is None else _with(view, actions, also))
        utility, win = net.outcomes.expected(judged.chances)
        best_first = np.lexsort((-judged.utility, -utility, judged.after.game))
        game = judged.after.game[best_first]
        place = np.arange(len(game)) - np.searchsorted(game, game)
        shape = (len(view), int(place.max(initial=-1)) + 1)
        made = Judgement(np.full(shape, NONE), np.full(shape, np.nan, np.float32), np.full(shape, np.nan, np.float32))
        made.actions[game, place] = judged.after.actions[best_first]
        made.utility[game, place] = utility[best_first]
        made.win[game, place] = win[best_first]
        return made


def _with(view: View, actions: Ints, also: Ints) -> Ints:
    """[G, K + 1]: actions, with another one of each game in the place of what comes to the same, or else besides."""
    same = equivalence_keys(view, actions) == equivalence_keys(view, also[:, None])
    lacking = np.where(same.any(axis=1), NONE, also)
    return np.concatenate([lacking[:, None], np.where(same, also[:, None], actions)], axis=1)


class Nets:
    """The networks of some weights, or the shipped ones, by what they are asked to play.

    Args:
        source: a file of weights, or the arrays; left out, the shipped ones.

    Raises:
        FileNotFoundError, ValueError: for a file that is none of weights.
    """

    def __init__(self, source: weight_files.Source = None) -> None:
        self._weights = weight_files.Weights(KIND, ValueNet.layout_of, source)
        self._by_rules: dict[Rules, ValueNet] = {}

    def of(self, rules: Rules) -> ValueNet:
        """The network for a game.

        Raises:
            ValueError: where there is none that plays it.
        """
        if rules not in self._by_rules:
            self._by_rules[rules] = ValueNet(rules, self._weights.of(rules))
        return self._by_rules[rules]


KIND = "value"
"""What the files of weights call this network."""
