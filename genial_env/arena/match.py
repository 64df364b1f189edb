"""Matches between two agents: pairs of games with swapped seats, until a sequential test has a verdict."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer
from genial_env._util.files import write_json
from genial_env.arena.games import Game
from genial_env.arena.isolation import ISOLATED, Isolation, check_agents, end_isolated
from genial_env.arena.provenance import provenance
from genial_env.arena.schedule import scheduled_games
from genial_env.arena.sprt import Estimate, Sprt, Verdict, pair_counts
from genial_env.arena.store import Settings
from genial_env.arena.tournament import Jobs, check_workers, in_parallel, play_job
from genial_env.backends import Backend, current, for_one_game
from genial_env.core.arrays import Ints
from genial_env.core.rules import Rules

__all__ = [
    "MAX_PAIRS",
    "Match",
    "play_match",
    "write_match",
]


@dataclass(frozen=True, eq=False)
class Match:
    """The state of a match between A and B.

    Attributes:
        agents: A and B.
        rules: two seats, or teams.
        sprt: the test; None for a fixed number of pairs.
        counts: [5] the pentanomial counts: how many pairs gave A a score of 0, 0.25, 0.5, 0.75 and 1.
        verdict: "H1" (A is better by `elo1`), "H0" (by no more than `elo0`), or None.
        forfeits: the number of games that A and B forfeited.
        ms_per_move: milliseconds for a decision of A and B.
        provenance: commit, versions and machine.
    """

    agents: tuple[str, str]
    rules: Rules
    sprt: Sprt | None
    counts: Ints
    verdict: Verdict | None
    forfeits: tuple[int, int]
    ms_per_move: tuple[float, float]
    provenance: dict[str, Any]

    @property
    def estimate(self) -> Estimate:
        """The estimate of the difference in strength."""
        return Estimate.of(self.counts)

    def to_dict(self) -> dict[str, Any]:
        """Return the match as JSON values."""
        test = None if self.sprt is None else {**vars(self.sprt), "llr": self.sprt.llr(self.counts)}
        return {
            "agents": list(self.agents),
            "rules": self.rules.to_dict(),
            "sprt": test,
            "counts": self.counts.tolist(),
            "verdict": self.verdict,
            "estimate": self.estimate.to_dict(),
            "forfeits": list(self.forfeits),
            "ms_per_move": list(self.ms_per_move),
            "provenance": self.provenance,
        }


MAX_PAIRS = 10_000
"""The default for the largest number of pairs."""


def play_match(
    first: str,
    second: str,
    rules: Rules | None = None,
    *,
    sprt: Sprt | None = None,
    pairs: int = MAX_PAIRS,
    seed: int = 0,
    workers: int = 1,
    joblib_backend: str = "loky",
    backend: Backend | None = None,
    isolation: Isolation = ISOLATED,
    progress: Callable[["Match"], None] = lambda match: None,
) -> Match:
    """Play pairs of games until the test has a verdict.

    Pairs are counted in the order of their deals, so the result does not depend on the number of workers.

    Args:
        first: A, as :func:`genial_env.make_policy` reads it.
        second: B.
        rules: rules with two tracks; None for the standard game for two.
        sprt: the test; None to play all pairs.
        pairs: the largest number of pairs.
        seed: the seed of the deals.
        workers: the number of processes.
        joblib_backend: "loky" or "ray", see :func:`genial_env.arena.tournament.run`.
        backend: the compute backend; None for the current one, or numba if it is installed and none was chosen.
        isolation: whether agents named by ``module:factory`` get processes of their own.
        progress: called with the state of the match after each batch of games.

    Returns:
        The match. Its verdict is None if `pairs` were not enough.

    Raises:
        ValueError: For equal agents, agents that cannot be made, rules without two tracks, or no pairs.
        WorkerEnded: If a worker process ends.
    """
    rules = Rules() if rules is None else rules
    if rules.tracks != 2:
        raise ValueError(f"a match is between two tracks (two seats, or teams), not {rules.tracks}: take a tournament")
    pairs = as_integer(pairs, "pairs", 1)
    settings = Settings((first, second), rules, pairs, seed, records=False)
    check_workers(workers, settings.agents)
    chosen = backend or for_one_game() or current()
    try:
        check_agents(settings.agents, rules, chosen, isolation)
        if workers > 1:
            end_isolated()  # worker processes start their own
        return _play(settings, sprt, chosen, isolation, workers, joblib_backend, progress)
    finally:
        end_isolated()


def _play(
    settings: Settings,
    sprt: Sprt | None,
    backend: Backend,
    isolation: Isolation,
    workers: int,
    joblib_backend: str,
    progress: Callable[[Match], None],
) -> Match:
    """Play until there is a verdict, or all pairs are played."""
    tally = _Tally(settings, sprt, provenance(backend))
    jobs = Jobs(list(scheduled_games(2, settings.rules, range(settings.groups))))
    calls = ((settings, job, backend, isolation) for job in jobs if not tally.finished)
    with closing(in_parallel(play_job, calls, workers, joblib_backend)) as played:
        for games, _, seconds in played:
            jobs.took(len(games), seconds)
            tally.add(games)
            progress(tally.match())
    return tally.match()


class _Tally:
    """Counts of pairs in the order of their deals."""

    def __init__(self, settings: Settings, sprt: Sprt | None, made_by: dict[str, Any]) -> None:
        self._settings, self._sprt, self._made_by = settings, sprt, made_by
        self._waiting: dict[int, list[Game]] = {}
        self._pairs: list[list[Game]] = []
        self._counts = np.zeros(5, dtype=np.int64)
        self._verdict: Verdict | None = None

    @property
    def finished(self) -> bool:
        return self._verdict is not None

    def add(self, games: list[Game]) -> None:
        """In place: count all pairs that follow without a gap. Nothing is counted after the verdict."""
        for game in games:
            self._waiting.setdefault(game.group, []).append(game)
        while not self.finished and len(self._waiting.get(len(self._pairs), ())) == 2:
            pair = self._waiting.pop(len(self._pairs))
            self._pairs.append(pair)
            self._counts += pair_counts(*([_score(game, self._settings.rules)] for game in pair))
            self._verdict = None if self._sprt is None else self._sprt.verdict(self._counts)

    def match(self) -> Match:
        """Return the state of the match."""
        games = [game for pair in self._pairs for game in pair]
        lost = [game.seats[game.forfeit["seat"]] for game in games if game.forfeit is not None]
        first, second = self._settings.agents
        return Match(
            agents=(first, second),
            rules=self._settings.rules,
            sprt=self._sprt,
            counts=self._counts.copy(),
            verdict=self._verdict,
            forfeits=(lost.count(0), lost.count(1)),
            ms_per_move=(_ms_per_move(games, 0), _ms_per_move(games, 1)),
            provenance=self._made_by,
        )


def _score(game: Game, rules: Rules) -> float:
    """Return A's score of a game: 1, 0.5 or 0."""
    own = rules.track_of(game.seats.index(0))
    return 0.5 + 0.5 * float(np.sign(game.ranks[1 - own] - game.ranks[own]))


def _ms_per_move(games: list[Game], entrant: int) -> float:
    own = [
        (s, m) for game in games for e, s, m in zip(game.seats, game.seconds, game.moves, strict=True) if e == entrant
    ]
    return 1000 * sum(s for s, _ in own) / max(1, sum(m for _, m in own))


def write_match(path: Path, match: Match) -> None:
    """Write a match as JSON."""
    write_json(path, match.to_dict())
