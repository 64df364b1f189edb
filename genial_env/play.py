"""Games between policies, in batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env import kernel
from genial_env.bitsets import Ints
from genial_env.chance import Bits, game_seeds
from genial_env.policies import Policy, act, choice_keys, make_policy
from genial_env.record import Recorder
from genial_env.rules import Rules


@dataclass(eq=False)
class Results:
    """What came of G games."""

    rules: Rules
    agents: list[str]  # one name a seat
    seeds: Bits  # [G]
    scores: NDArray[np.int8]  # [G, T, C] the final markers
    ranks: Ints  # [G, T] 1 = best, equal tracks share a rank
    decisions: Ints  # [G] actions played
    records: list[dict[str, Any]] | None  # G game records, where asked for

    def __len__(self) -> int:
        """G."""
        return len(self.seeds)


def play(
    policies: Sequence[str | Policy],
    rules: Rules | None = None,
    games: int = 1,
    seed: int = 0,
    *,
    batch: int = 1024,
    record: bool = False,
) -> Results:
    """Play games between policies, one a seat.

    Game i depends on `seed` and i alone: neither `batch` nor `games` changes it.

    Args:
        policies: one a seat, by name ("random", "greedy") or as a :class:`~genial_env.policies.Policy`.
        rules: the rules; left out, the standard game for two.
        games: how many.
        seed: of the run; each game gets a seed of its own from it.
        batch: how many are played at a time.
        record: whether to keep game records.

    Raises:
        ValueError: for a number of policies that is not the number of seats, an unknown name, or counts below 1.
        IllegalAction: when a policy plays what it may not.
    """
    parts = list(play_batches(policies, rules, games, seed, batch=batch, record=record))
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _BY_GAME}
    records = [game for part in parts for game in part.records or []] if record else None
    return Results(rules=parts[0].rules, agents=parts[0].agents, records=records, **joined)


_BY_GAME = ("seeds", "scores", "ranks", "decisions")


def play_batches(
    policies: Sequence[str | Policy],
    rules: Rules | None = None,
    games: int = 1,
    seed: int = 0,
    *,
    batch: int = 1024,
    record: bool = False,
) -> Iterator[Results]:
    """As :func:`play`, but batch by batch: for progress bars and for more games than fit in memory."""
    rules = Rules() if rules is None else rules
    roster = [make_policy(policy) for policy in policies]
    if len(roster) != rules.players:
        raise ValueError(f"{rules.players} seats need {rules.players} policies, not {len(roster)}")
    for name, value in (("games", games), ("batch", batch)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, not {value}")
    for start in range(0, games, batch):
        yield _play_batch(roster, rules, game_seeds(seed, min(batch, games - start), start), record)


def _play_batch(roster: list[Policy], rules: Rules, seeds: Bits, record: bool) -> Results:
    state = kernel.deal(rules, seeds)
    keys = choice_keys(seeds, rules.players)
    assignment = np.broadcast_to(_distinct(roster), (len(seeds), rules.players))
    names = [policy.name for policy in roster]
    recorder = Recorder(state, names, seeds) if record else None
    live = np.arange(len(seeds))
    while live.size:
        actions = act(roster, assignment, state, keys, live)
        if recorder is None:
            kernel.apply(state, actions, live)
        else:
            recorder.apply(actions, live)
        live = live[~state.over[live]]
    return Results(
        rules=rules,
        agents=names,
        seeds=seeds,
        scores=state.scores,
        ranks=kernel.ranks(state.scores),
        decisions=state.decisions,
        records=None if recorder is None else recorder.records(),
    )


def _distinct(roster: list[Policy]) -> Ints:
    """[P]: the first seat with the same policy, so that a policy on two seats is asked once."""
    return np.array([next(i for i, other in enumerate(roster) if other is policy) for policy in roster])
