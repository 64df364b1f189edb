"""What chance decided in recorded games: the luck of draws, and of choices that agents made at random.

A *term* is a number that a game's result can be corrected by, because its mean is zero whoever plays. There are eight
of each game and track:

- the luck of the draws (:mod:`genial_env.analysis.luck`) in each quarter of the game;
- the luck of the choices in each quarter: the value of the position that an action leads to, minus its mean over all
  actions that the agent might have played, each with its probability. Only agents that tell their probabilities have
  it (:mod:`genial_env.policies.probabilities`).

Together they are the terms of AIVAT (Burch et al., "AIVAT: A New Variance Reduction Technique for Agent Evaluation in
Imperfect Information Games", AAAI 2018), for chance and for players whose strategy is known. AIVAT also averages over
the hands that such a player might have held. That has no use here: a result follows from what everybody saw.

A quarter is known before the tiles are drawn or the action is chosen: it counts covered cells. So the terms of each
quarter have a mean of zero, too, and a correction may weight them as it likes (:mod:`genial_env.arena.correction`).

Axis letters: B games, P seats, T tracks, D decisions, F terms.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from genial_env.analysis.draws import draws_of_actions
from genial_env.analysis.luck import AT_ONCE, find_draws, luck_of_draws, results_of
from genial_env.analysis.state_value import FullStateNet
from genial_env.core.arrays import Bits, Bools, Floats, Ints
from genial_env.core.chance import bits
from genial_env.core.placement_values import equivalence_keys
from genial_env.core.state import EMPTY, FREE, Phase, State
from genial_env.core.views import view
from genial_env.policies.probabilities import Tell
from genial_env.records import Decisions, replay_many

__all__ = ["N_TERMS", "QUARTERS", "compute_terms", "luck_of_choices"]

QUARTERS = 4

N_TERMS = 2 * QUARTERS
"""F: the draws' terms by quarters, then the choices'."""

MOST_EVALUATED = 24
"""The positions that the mean of a choice is computed from. Of more than these it is estimated from so many, drawn
with the actions' probabilities.
"""


def compute_terms(
    records: Sequence[dict[str, Any]], net: FullStateNet, tell: Sequence[Sequence[Tell | None]]
) -> Floats:
    """Compute the terms of games with the same rules: [B, T, F].

    Args:
        records: B records.
        net: the value of full states.
        tell: for each of B games those of the agents of its P seats, None where they are not known.

    Raises:
        RecordError: if a record is invalid.
        ValueError: if the rules differ.
    """
    terms = np.zeros((len(records), net.rules.tracks, N_TERMS))
    for start in range(0, len(records), AT_ONCE):
        played = replay_many(records[start : start + AT_ONCE])
        found = find_draws(played)
        drawn = luck_of_draws(found.draws, net).sum(axis=1)
        _add_at(terms, start + found.games, _quarters(found.draws.before), drawn)
        _add_choices(terms[start : start + AT_ONCE], played, net, tell[start : start + AT_ONCE])
    return terms


def _add_choices(terms: Floats, played: Decisions, net: FullStateNet, tell: Sequence[Sequence[Tell | None]]) -> None:
    """Add the luck of choices to the terms [B, T, F] of replayed games, in place."""
    seats = played.states.to_play.astype(np.int64)
    told = [tell[game][seat] for game, seat in zip(played.games.tolist(), seats.tolist(), strict=True)]
    for one in {id(each): each for each in told if each is not None}.values():
        rows = np.array([row for row, each in enumerate(told) if each is one], dtype=np.int64)
        states = played.states.select(rows)
        luck = luck_of_choices(states, played.actions[rows], one, net)
        _add_at(terms, played.games[rows], QUARTERS + _quarters(states), luck)


def _add_at(terms: Floats, games: Ints, numbers: Ints, luck: Floats) -> None:
    """Add the luck [D, T] of D decisions to the terms [B, T, F] of their games, in place."""
    tracks = np.arange(terms.shape[1])
    np.add.at(terms, (games[:, None], tracks, numbers[:, None]), luck)


def _quarters(states: State) -> Ints:
    """Return the quarter of the game by covered cells: [D] from 0 to 3."""
    covered = (states.board != FREE).mean(axis=1)
    quarters: Ints = np.minimum((covered * QUARTERS).astype(np.int64), QUARTERS - 1)
    return quarters


def luck_of_choices(states: State, actions: Ints, tell: Tell, net: FullStateNet) -> Floats:
    """Compute the luck of an agent's choices: [D, T] for each track, in absolute order.

    Args:
        states: D games, before the choices.
        actions: [D] what was played.
        tell: the agent's probabilities.
        net: the value of full states.

    Raises:
        ValueError: if an action was played whose probability is 0.
    """
    luck = np.zeros((len(states), net.rules.tracks))
    for start in range(0, len(states), DECISIONS_AT_ONCE):
        rows = np.arange(start, min(start + DECISIONS_AT_ONCE, len(states)))
        luck[rows] = _luck_of_some_choices(states.select(rows), actions[rows], tell, net)
    return luck


DECISIONS_AT_ONCE = 256
"""Decisions whose probabilities are computed together: 6 MB for two seats."""


def _luck_of_some_choices(states: State, actions: Ints, tell: Tell, net: FullStateNet) -> Floats:
    seen, each = view(states), np.arange(len(states))
    probabilities = tell(seen)
    if not (probabilities[each, actions] > 0).all():
        wrong = int((probabilities[each, actions] > 0).argmin())
        raise ValueError(f"the agent played action {actions[wrong]}, and says that it never does: another agent played")
    row, action = np.nonzero(probabilities)
    keys = equivalence_keys(seen.select(row), action[:, None])[:, 0]
    _, first, number = np.unique(np.stack([row, keys]), axis=1, return_index=True, return_inverse=True)
    weight: Floats = np.bincount(number.ravel(), probabilities[row, action]).astype(np.float64)
    row, action = row[first], action[first]
    many = np.bincount(row, minlength=len(states))
    row, action, weight = _thin_out(states, row, action, weight, many)
    chosen_at = np.flatnonzero(many > 1)
    kept = many[row] > 1
    row, action, weight = row[kept], action[kept], weight[kept]
    values = _values_after(states, np.append(row, chosen_at), np.append(action, actions[chosen_at]), net)
    means = np.zeros((len(states), net.rules.tracks))
    np.add.at(means, row, values[: len(row)] * weight[:, None])
    luck = np.zeros_like(means)
    luck[chosen_at] = values[len(row) :] - means[chosen_at]
    return luck


def _thin_out(states: State, row: Ints, action: Ints, weight: Floats, many: Ints) -> tuple[Ints, Ints, Floats]:
    """Replace the actions of rows that have very many by a systematic sample of them, of equal weights.

    Its mean has the same expectation. The random bits follow from the position, so they do not depend on the choice.
    """
    wide: Bools = many[row] > MOST_EVALUATED
    if not wide.any():
        return row, action, weight
    rows = np.flatnonzero(many > MOST_EVALUATED)
    total = np.cumsum(weight[wide])
    begin = np.concatenate([[0.0], total[np.cumsum(many[rows]) - 1]])
    offset = bits(_hash(states.select(rows)), 0) / 2.0**64
    share = (offset[:, None] + np.arange(MOST_EVALUATED)) / MOST_EVALUATED
    at = np.searchsorted(total, (begin[:-1, None] + share * np.diff(begin)[:, None]).ravel(), side="right")
    end = np.repeat(np.cumsum(many[rows]) - 1, MOST_EVALUATED)
    sampled = np.flatnonzero(wide)[np.minimum(at, end)]
    row = np.append(row[~wide], np.repeat(rows, MOST_EVALUATED))
    action = np.append(action[~wide], action[sampled])
    return row, action, np.append(weight[~wide], np.full(len(sampled), 1 / MOST_EVALUATED))


def _hash(states: State) -> Bits:
    """Return a number for each position: [D]."""
    parts = (states.board, states.scores, states.bag, states.racks)
    numbers = np.concatenate([part.reshape(len(states), -1).astype(np.int64) for part in parts], axis=1)
    factors = bits(np.uint64(1), np.arange(numbers.shape[1])) | np.uint64(1)
    hashes: Bits = (numbers.astype(np.uint64) * factors).sum(axis=1, dtype=np.uint64)
    return hashes


def _values_after(states: State, rows: Ints, actions: Ints, net: FullStateNet) -> Floats:
    """Return the values [n, T] of the positions after actions [n] in some rows [n], before the draws."""
    if not len(rows):
        return np.zeros((0, net.rules.tracks))
    after = draws_of_actions(states.select(rows), actions, np.full((len(rows), 1), EMPTY))
    position = after.before
    goes_on = (position.to_play == after.seat) & (position.phase != Phase.PLACE) & ~position.over
    after.until_next[goes_on] = 0
    values = net.values(after.describe(), np.arange(len(rows)), after.tiles, after.seat)
    over = np.flatnonzero(position.over)
    if over.size:
        values[over] = results_of(position.select(over))
    return values
