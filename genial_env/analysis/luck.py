"""Luck and skill: which part of a game's result the draws decided.

    from genial_env.analysis.luck import measure_luck

    found = measure_luck(next(read_records("game.jsonl")))
    print(found.luck, found.skill)

The luck of a drawn tile is the value of the position with it, minus the mean over all tiles that could have been drawn,
each with its probability. Values are those of a network that sees all racks
(:mod:`genial_env.analysis.state_value`). What is left of the result is skill: result = expected + luck + skill, where
`expected` is the value before any tile was drawn.

The mean of a draw's luck is zero, whatever the network predicts and whoever plays. So a result minus its luck estimates
the same strength as the result, with a smaller variance if the network predicts well. This is the part of AIVAT for
chance events; :mod:`genial_env.analysis.corrections` has the part for the choices of agents that play at random.

Axis letters as in :mod:`genial_env.analysis.draws`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from genial_env._util.stopping import checkpoint
from genial_env.analysis.draws import Draws, draws_of_actions, draws_of_deals
from genial_env.analysis.state_value import FullStateNet, read_full_state_net
from genial_env.core import ranking
from genial_env.core.actions import tile_name
from genial_env.core.arrays import Floats, Ints
from genial_env.core.ranking import rank_utility
from genial_env.core.rules import Rules
from genial_env.core.state import EMPTY, State
from genial_env.policies import weight_files
from genial_env.records import Decisions, replay_many

__all__ = [
    "AT_ONCE",
    "DEAL",
    "DrawLuck",
    "FoundDraws",
    "GameLuck",
    "can_measure_luck",
    "compute_luck",
    "explained_variance",
    "find_draws",
    "luck_of_draws",
    "measure_luck",
    "results_of",
]


DEAL = -1
"""The place of the initial racks among the events of a record."""


@dataclass(frozen=True)
class DrawLuck:
    """The luck of the tiles that a seat drew at once."""

    event: int  # the index of the event of the record, DEAL for the initial rack
    seat: int
    tiles: tuple[str, ...]  # their letters, in the order in which they were drawn
    luck: tuple[float, ...]  # [T] the luck of each track, the tiles together


@dataclass(frozen=True)
class GameLuck:
    """The parts of a game's result, for each track [T]: result = expected + luck + skill.

    The unit is that of reviews: rank utility, +1 first to -1 last; solo the lowest marker.
    """

    rules: Rules
    result: tuple[float, ...]
    expected: tuple[float, ...]  # before any tile was drawn
    luck: tuple[float, ...]
    draws: tuple[DrawLuck, ...]

    @property
    def skill(self) -> tuple[float, ...]:
        """What neither the expected value nor luck explains: [T]."""
        parts = zip(self.result, self.expected, self.luck, strict=True)
        return tuple(result - expected - luck for result, expected, luck in parts)

    @property
    def adjusted(self) -> tuple[float, ...]:
        """The result without luck: [T]."""
        return tuple(result - luck for result, luck in zip(self.result, self.luck, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the parts as JSON values."""
        names = "result", "expected", "luck", "skill", "adjusted"
        return {name: list(getattr(self, name)) for name in names} | {
            "draws": [
                {"event": each.event, "seat": each.seat, "tiles": list(each.tiles), "luck": list(each.luck)}
                for each in self.draws
            ]
        }


def measure_luck(record: dict[str, Any], weights: weight_files.Source = None) -> GameLuck:
    """Divide the result of a recorded game into expected value, luck and skill.

    Args:
        record: the record of a finished game (docs/records.md).
        weights: a file of weights, or the arrays; None: the shipped file for the game's seats and mode.

    Raises:
        RecordError: if the record is invalid.
        ValueError: if the game is not finished, or there are no weights for it.
    """
    found = find_draws(replay_many([record]))
    if not found.final.over[0]:
        raise ValueError("luck is a part of the result: the game is not finished")
    net = read_full_state_net(found.rules, weights)
    luck = luck_of_draws(found.draws, net)  # [D, K, T]
    expected = _expected(found.draws.select(np.zeros(1, dtype=np.int64)), net)[0]
    draws = tuple(
        DrawLuck(event, seat, tuple(tile_name(found.rules, kind) for kind in kinds if kind != EMPTY), tuple(of_tracks))
        for event, seat, kinds, of_tracks in zip(
            found.events.tolist(),
            found.draws.seat.tolist(),
            found.draws.kinds.tolist(),
            luck.sum(axis=1).tolist(),
            strict=True,
        )
    )
    return GameLuck(
        found.rules,
        result=tuple(results_of(found.final)[0].tolist()),
        expected=tuple(expected.tolist()),
        luck=tuple(luck.sum(axis=(0, 1)).tolist()),
        draws=draws,
    )


def compute_luck(records: Sequence[dict[str, Any]], net: FullStateNet) -> Floats:
    """Compute the luck of each track in games with the same rules, up to their last event: [B, T].

    Raises:
        RecordError: if a record is invalid.
        ValueError: if the rules differ.
    """
    luck = np.zeros((len(records), net.rules.tracks))
    for start in range(0, len(records), AT_ONCE):
        found = find_draws(replay_many(records[start : start + AT_ONCE]))
        np.add.at(luck, start + found.games, luck_of_draws(found.draws, net).sum(axis=1))
    return luck


AT_ONCE = 64
"""Games whose draws are evaluated together."""


def luck_of_draws(draws: Draws, net: FullStateNet) -> Floats:
    """Compute the luck of each drawn tile: [D, K, T] for each track, in absolute order; 0 where no tile was drawn."""
    luck = np.zeros((*draws.kinds.shape, net.rules.tracks))
    if not len(draws):
        return luck
    positions, tiles = draws.describe(), draws.tiles
    for place, drawn in enumerate(draws.kinds.T):
        checkpoint()
        rows = np.flatnonzero(drawn != EMPTY)
        in_row, kinds = np.nonzero(tiles.bag[rows] > 0)
        at = rows[in_row]
        possible = tiles.select(at)
        possible.move(np.arange(len(at)), draws.seat[at], kinds)
        values = net.values(positions, at, possible, draws.seat[at])
        weights = tiles.bag[at, kinds] / tiles.bag[at].sum(axis=1)
        means = np.zeros((len(rows), net.rules.tracks))
        np.add.at(means, in_row, values * weights[:, None])
        luck[rows, place] = values[kinds == drawn[at]] - means
        tiles.move(rows, draws.seat[rows], drawn[rows])
    return luck


def explained_variance(results: Floats, luck: Floats) -> float:
    """Return the share of the variance of results [n] that luck [n] explains; 0 if they do not vary.

    It is negative if correcting for luck makes the variance greater.
    """
    total = float(results.var())
    return 1 - float((results - luck).var()) / total if total else 0.0


@lru_cache(maxsize=64)
def can_measure_luck(rules: Rules) -> bool:
    """Return whether there are weights with which the luck of games with these rules can be measured."""
    try:
        read_full_state_net(rules)
    except (ValueError, OSError):
        return False
    return True


@dataclass(eq=False)
class FoundDraws:
    """The draws of recorded games."""

    rules: Rules
    draws: Draws  # [D], those of a game in order
    games: Ints  # [D] the game of each draw
    events: Ints  # [D] the number of its event in the record, DEAL for an initial rack
    decisions: Ints  # [D] the index of the decision before it, -1 for an initial rack
    final: State  # [B] the end of each game


def find_draws(played: Decisions) -> FoundDraws:
    """Return the draws of replayed games."""
    drew = np.flatnonzero((played.draws != EMPTY).any(axis=1))
    deals = list(draws_of_deals(played.dealt))
    parts = [*deals, draws_of_actions(played.states.select(drew), played.actions[drew], played.draws[drew])]
    n_games, n_deals = len(played.final), len(deals) * len(played.final)
    games = np.concatenate([*(np.arange(n_games) for _ in deals), played.games[drew]])
    in_order = np.argsort(games, kind="stable")
    return FoundDraws(
        played.final.rules,
        Draws.concat(parts).select(in_order),
        games[in_order],
        np.concatenate([np.full(n_deals, DEAL), played.draw_events[drew]])[in_order],
        np.concatenate([np.full(n_deals, -1), drew])[in_order],
        played.final,
    )


def _expected(deals: Draws, net: FullStateNet) -> Floats:
    """Return the values before any tile is drawn [D, T], given the draws of the first seats."""
    return net.values(deals.describe(), np.arange(len(deals)), deals.tiles, deals.seat)


def results_of(final: State) -> Floats:
    """Return the results of finished games [B, T]: rank utilities, or lowest markers."""
    if final.rules.tracks == 1:
        return np.asarray(final.scores.min(axis=2), dtype=np.float64)
    return np.asarray(rank_utility(ranking.ranks(final.scores)), dtype=np.float64)
