"""Games between policies, in batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.backends import AnyBackend, pick, using
from genial_env.core import kernel, ranking
from genial_env.core.bitsets import Ints
from genial_env.core.chance import Bits, Purpose, game_seeds, seat_keys
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.policies.base import Policy
from genial_env.policies.decisions import choice_keys
from genial_env.policies.playout import play_on, play_out
from genial_env.policies.registry import make_policy
from genial_env.records import Record, Recorder


@dataclass(eq=False)
class Results:
    """What came of G games."""

    rules: Rules
    agents: list[str]  # one name a seat
    seeds: Bits  # [G]
    scores: NDArray[np.int8]  # [G, T, C] the final markers
    ranks: Ints  # [G, T] 1 = best, equal tracks share a rank
    decisions: Ints  # [G] actions played
    records: list[Record] | None  # G game records, where asked for

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
    backend: AnyBackend = None,
) -> Results:
    """Play games between policies, one a seat.

    Game i depends on `seed` and i alone: neither `batch` nor `games` changes it.

    Args:
        policies: one a seat, by name ("random", "greedy", "concave", "denial") or as a
            :class:`~genial_env.policies.base.Policy`.
        rules: the rules; left out, the standard game for two.
        games: how many.
        seed: of the run; each game gets a seed of its own from it.
        batch: how many are played at a time.
        record: whether to keep game records.
        backend: who does it.

    Raises:
        ValueError: for a number of policies that is not the number of seats, an unknown name, or counts below 1.
        IllegalAction: when a policy plays what it may not.
    """
    parts = list(play_batches(policies, rules, games, seed, batch=batch, record=record, backend=backend))
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
    backend: AnyBackend = None,
) -> Iterator[Results]:
    """As :func:`play`, but batch by batch: for progress bars and for more games than fit in memory."""
    rules = Rules() if rules is None else rules
    roster = [make_policy(policy) for policy in policies]
    _check_roster(roster, rules)
    games, batch = _as_counts(games=games, batch=batch)
    chosen = None if backend is None else pick(backend)
    for start in range(0, games, batch):
        with using(chosen):
            results = _play_batch(roster, rules, game_seeds(seed, min(batch, games - start), start), record)
        yield results


def _play_batch(roster: list[Policy], rules: Rules, seeds: Bits, record: bool) -> Results:
    state = kernel.deal(rules, seeds)
    keys = choice_keys(seeds, rules.players)
    names = [policy.name for policy in roster]
    recorder = Recorder(state, names, seeds) if record else None
    if recorder is None:
        play_out(state, roster, keys)
    else:
        play_on(state, roster, keys, recorder.apply)
    return Results(
        rules=rules,
        agents=names,
        seeds=seeds,
        scores=state.scores,
        ranks=ranking.ranks(state.scores),
        decisions=state.decisions,
        records=None if recorder is None else recorder.records(),
    )


@dataclass(eq=False)
class Playouts:
    """What came of n playouts of each of B games."""

    rules: Rules
    scores: NDArray[np.int8]  # [B, n, T, C] the final markers
    decisions: Ints  # [B, n] actions played from the given position on

    @property
    def ranks(self) -> Ints:  # [B, n, T]
        """1 = best, equal tracks share a rank."""
        return ranking.ranks(self.scores)


def playouts(
    states: State,
    policy: str | Policy | Sequence[str | Policy],
    n: int,
    seed: int = 0,
    *,
    batch: int = 1024,
    backend: AnyBackend = None,
) -> Playouts:
    """Play n copies of each game to its end, with new luck in each: the tiles drawn from now on, and the choices.

    Tiles that others hold stay as they are: give states made by :func:`genial_env.determinize` to let a seat think. The
    states are not changed. Playout j of game i depends on its position, on `seed` and on ``i * n + j`` alone.

    Args:
        states: B games.
        policy: who plays, all seats or a sequence of one each: "random", "greedy", "concave", "denial", or any
            :class:`~genial_env.policies.base.Policy`. The named ones are compiled whole by the backend "numba".
        n: playouts of each.
        seed: of the luck.
        batch: copies at a time.
        backend: who does it.

    Raises:
        ValueError: for an unknown name, a number of policies that is not the number of seats, or counts below 1.
        TypeError: for something that is no policy.
    """
    rules = states.rules
    many = isinstance(policy, Sequence) and not isinstance(policy, str)
    roster = [make_policy(each) for each in policy] if many else [make_policy(policy)] * rules.players  # type: ignore[arg-type, union-attr]
    _check_roster(roster, rules)
    n, batch = _as_counts(n=n, batch=batch)
    total = len(states) * n
    scores = np.empty((total, rules.tracks, rules.colors), dtype=np.int8)
    decisions = np.empty(total, dtype=np.int64)
    with using(backend):
        for start in range(0, total, batch):
            part = slice(start, min(start + batch, total))
            copies = states.select(np.arange(part.start, part.stop) // n)
            seeds = game_seeds(seed, len(copies), start)
            copies.key[:] = seat_keys(seeds, Purpose.DRAWS, rules.players)
            copies.drawn[:] = 0
            copies.decisions[:] = 0
            play_out(copies, roster, choice_keys(seeds, rules.players))
            scores[part], decisions[part] = copies.scores, copies.decisions
    shape = (len(states), n)
    return Playouts(rules, scores.reshape(*shape, rules.tracks, rules.colors), decisions.reshape(shape))


def _check_roster(roster: Sequence[Policy], rules: Rules) -> None:
    if len(roster) != rules.players:
        raise ValueError(f"{rules.players} seats need {rules.players} policies, not {len(roster)}")


def _as_counts(**counts: int) -> list[int]:
    """Whole numbers of at least 1, as Python ints."""
    return [as_integer(value, name, 1) for name, value in counts.items()]
