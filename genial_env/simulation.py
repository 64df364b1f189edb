"""Play games between policies in batches, and play positions out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from genial_env._util.checks import as_integer
from genial_env.backends import AnyBackend, pick, using
from genial_env.core import kernel, ranking
from genial_env.core.arrays import Bits, Ints
from genial_env.core.chance import Purpose, game_seeds, seat_keys
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.policies.base import Policy
from genial_env.policies.decisions import choice_keys
from genial_env.policies.playout import play_on, play_out
from genial_env.policies.registry import make_policies, make_policy
from genial_env.records import Record, Recorder

__all__ = ["Playouts", "Results", "play", "play_batches", "playouts"]


@dataclass(eq=False)
class Results:
    """The results of G games."""

    rules: Rules
    agents: list[str]  # one name a seat
    seeds: Bits  # [G]
    scores: NDArray[np.int8]  # [G, T, C] the final markers
    ranks: Ints  # [G, T] 1 = best, equal tracks share a rank
    decisions: Ints  # [G] actions played
    records: list[Record] | None  # G game records, if they were asked for

    def __len__(self) -> int:
        """Return G."""
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

    Game i depends only on `seed` and i. It does not depend on `batch` or `games`.

    Args:
        policies: one a seat, by name ("random", "greedy", "concave", "denial") or as a
            :class:`~genial_env.policies.base.Policy`.
        rules: the rules; None: the standard game for two.
        games: the number of games.
        seed: the seed of the run, from which each game gets its own.
        batch: the number of games played at a time.
        record: whether to keep game records.
        backend: the compute backend; None: the current one.

    Raises:
        ValueError: if there is not one policy for each seat, a name is unknown, or a count is below 1.
        IllegalAction: if a policy plays an illegal action.
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
    """Play games as :func:`play` does, and yield the results of each batch.

    This is for progress bars, and for more games than fit in memory.
    """
    rules = Rules() if rules is None else rules
    roster = make_policies(policies)
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
    """The results of n playouts of each of B games."""

    rules: Rules
    scores: NDArray[np.int8]  # [B, n, T, C] the final markers
    decisions: Ints  # [B, n] actions played from the given position on

    @property
    def ranks(self) -> Ints:  # [B, n, T]
        """The final ranks: 1 is the best, equal tracks share a rank."""
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
    """Play n copies of each game to its end, each with new random draws and new random bits for the policies.

    The racks stay as they are. For a search that may not see them, pass states from :func:`genial_env.determinize`. The
    states are not changed. Playout j of game i depends only on its position, on `seed` and on ``i * n + j``.

    Args:
        states: B games.
        policy: one policy for all seats, or a sequence of one for each: names, or
            :class:`~genial_env.policies.base.Policy` objects. The backend "numba" compiles whole playouts of "random",
            "greedy", "concave" and "denial".
        n: the number of playouts of each game.
        seed: the seed of the draws and of the policies' random bits.
        batch: the number of copies played at a time.
        backend: the compute backend; None: the current one.

    Raises:
        ValueError: if a name is unknown, there is not one policy for each seat, or a count is below 1.
        TypeError: if something is not a policy.
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
    """Check that there is one policy for each seat."""
    if len(roster) != rules.players:
        raise ValueError(f"{rules.players} seats need {rules.players} policies, not {len(roster)}")


def _as_counts(**counts: int) -> list[int]:
    """Return counts as Python ints, after a check that they are at least 1."""
    return [as_integer(value, name, 1) for name, value in counts.items()]
