"""Matches between two agents: pairs of games with swapped seats, until a sequential test has a verdict."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from genial_env._util.checks import as_integer
from genial_env._util.files import write_json
from genial_env.analysis.corrections import compute_terms
from genial_env.analysis.luck import explained_variance
from genial_env.analysis.state_value import FullStateNet, read_full_state_net
from genial_env.arena.corrected import find_tells
from genial_env.arena.correction import Correction
from genial_env.arena.games import Game, find_reasons
from genial_env.arena.intervals import student_95
from genial_env.arena.isolation import ISOLATED, Isolation, check_agents, end_isolated
from genial_env.arena.provenance import provenance
from genial_env.arena.schedule import scheduled_games
from genial_env.arena.sprt import Estimate, Sprt, Verdict, pair_counts
from genial_env.arena.store import Settings
from genial_env.arena.tournament import Jobs, check_workers, in_parallel, play_job
from genial_env.backends import Backend, current, for_one_game
from genial_env.core.arrays import Floats, Ints
from genial_env.core.rules import Rules
from genial_env.records import Record

__all__ = [
    "MAX_PAIRS",
    "Corrected",
    "Match",
    "play_match",
    "write_match",
]


@dataclass(frozen=True)
class Corrected:
    """A's mean score in a match of at least two pairs, corrected for luck (:mod:`genial_env.arena.correction`).

    It estimates the same as the mean score. The interval is Student's, over pairs.

    Attributes:
        score: the mean of the corrected scores, which may lie beyond 0 and 1.
        low: the lower end of its 95% interval.
        high: the upper end.
        explained: the share of the variance of the pairs' scores that the correction removes.
    """

    score: float
    low: float
    high: float
    explained: float

    @classmethod
    def of(cls, scores: Floats, corrected: Floats) -> "Corrected":
        """Return the estimate.

        Args:
            scores: [n] A's score in each pair.
            corrected: [n] the same, corrected.
        """
        mean, variance = float(corrected.mean()), float(corrected.var(ddof=1))
        half = student_95(len(corrected) - 1) * sqrt(variance / len(corrected))
        return cls(mean, mean - half, mean + half, explained_variance(scores, scores - corrected))


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
        llr: the log-likelihood ratio of the test; None without one.
        corrected: A's score corrected for luck; None unless that was asked for and two pairs are finished.
        reasons: one reason for each agent that forfeited: 0 is A, 1 is B.
    """

    agents: tuple[str, str]
    rules: Rules
    sprt: Sprt | None
    counts: Ints
    verdict: Verdict | None
    forfeits: tuple[int, int]
    ms_per_move: tuple[float, float]
    provenance: dict[str, Any]
    llr: float | None = None
    corrected: Corrected | None = None
    reasons: dict[int, str] = field(default_factory=dict)

    @property
    def estimate(self) -> Estimate:
        """The estimate of the difference in strength."""
        return Estimate.of(self.counts)

    def to_dict(self) -> dict[str, Any]:
        """Return the match as JSON values."""
        test = None if self.sprt is None else {**vars(self.sprt), "llr": self.llr}
        return {
            "agents": list(self.agents),
            "rules": self.rules.to_dict(),
            "sprt": test,
            "counts": self.counts.tolist(),
            "verdict": self.verdict,
            "estimate": self.estimate.to_dict(),
            "corrected": None if self.corrected is None else asdict(self.corrected),
            "forfeits": list(self.forfeits),
            "reasons": {str(agent): reason for agent, reason in self.reasons.items()},
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
    variance_reduction: bool = False,
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
        variance_reduction: whether the score is corrected for luck. Then the test is one of the corrected scores.
        progress: called with the state of the match after each batch of games.

    Returns:
        The match. Its verdict is None if `pairs` were not enough.

    Raises:
        ValueError: For equal agents, agents that cannot be made, rules without two tracks, or no pairs; with
            `variance_reduction` also if there are no weights for the rules.
        ImportError: If joblib or Ray is needed and not installed.
        WorkerEnded: If a worker process ends.
    """
    rules = Rules() if rules is None else rules
    if rules.tracks != 2:
        raise ValueError(f"a match is between two tracks (two seats, or teams), not {rules.tracks}: take a tournament")
    pairs = as_integer(pairs, "pairs", 1)
    settings = Settings((first, second), rules, pairs, seed, records=variance_reduction)
    net = read_full_state_net(rules) if variance_reduction else None
    check_workers(workers, settings.agents, joblib_backend)
    chosen = backend or for_one_game() or current()
    try:
        check_agents(settings.agents, rules, chosen, isolation)
        if workers > 1:
            end_isolated()  # worker processes start their own
        tally = _Tally(settings, sprt, provenance(chosen), net)
        return _play(settings, tally, chosen, isolation, workers, joblib_backend, progress)
    finally:
        end_isolated()


def _play(
    settings: Settings,
    tally: "_Tally",
    backend: Backend,
    isolation: Isolation,
    workers: int,
    joblib_backend: str,
    progress: Callable[[Match], None],
) -> Match:
    """Play until there is a verdict, or all pairs are played."""
    jobs = Jobs(list(scheduled_games(2, settings.rules, range(settings.groups))))
    calls = ((settings, job, backend, isolation) for job in jobs if not tally.finished)
    with closing(in_parallel(play_job, calls, workers, joblib_backend)) as played:
        for games, records, seconds in played:
            jobs.took(len(games), seconds)
            tally.add(games, records)
            progress(tally.match())
    return tally.match()


class _Tally:
    """Counts of pairs in the order of their deals, and what of their scores was luck."""

    def __init__(
        self, settings: Settings, sprt: Sprt | None, made_by: dict[str, Any], net: FullStateNet | None
    ) -> None:
        self._settings, self._sprt, self._made_by, self._net = settings, sprt, made_by, net
        self._tells = find_tells(settings.agents)
        self._correction = Correction()
        self._waiting: dict[int, list[tuple[Game, Record | None]]] = {}
        self._pairs: list[list[Game]] = []
        self._scores: list[float] = []
        self._corrected: list[float] = []
        self._total = self._squares = 0.0  # of the corrected scores minus a half
        self._counts = np.zeros(5, dtype=np.int64)
        self._verdict: Verdict | None = None

    @property
    def finished(self) -> bool:
        return self._verdict is not None

    def add(self, games: list[Game], records: list[Record]) -> None:
        """In place: count all pairs that follow without a gap. Nothing is counted after the verdict."""
        kept: Sequence[Record | None] = records or [None] * len(games)
        for game, record in zip(games, kept, strict=True):
            self._waiting.setdefault(game.group, []).append((game, record))
        added: list[list[tuple[Game, Record | None]]] = []
        while not self.finished and len(self._waiting.get(len(self._pairs) + len(added), ())) == 2:
            added.append(self._waiting.pop(len(self._pairs) + len(added)))
        terms = self._compute_terms([each for pair in added for each in pair])
        for pair, of_pair in zip(added, terms, strict=True):
            if not self.finished:
                self._count([game for game, _ in pair], of_pair)

    def _compute_terms(self, games: list[tuple[Game, Record | None]]) -> Floats:
        """Return the terms of A's score in the pairs of some games: [n, F]; F = 0 without a correction."""
        if self._net is None or not games:
            return np.zeros((len(games) // 2, 0))
        rules = self._settings.rules
        tells = [[self._tells[entrant] for entrant in game.seats] for game, _ in games]
        terms = compute_terms([record for _, record in games if record is not None], self._net, tells)
        own = [rules.track_of(game.seats.index(0)) for game, _ in games]
        of_games: Floats = terms[np.arange(len(own)), own] / 2
        of_pairs: Floats = of_games.reshape(-1, 2, of_games.shape[1]).mean(axis=1)
        return of_pairs

    def _count(self, pair: list[Game], terms: Floats) -> None:
        """Count the next pair, with its terms [F], and ask the test."""
        scores = [_score(game, self._settings.rules) for game in pair]
        self._pairs.append(pair)
        self._scores.append(float(np.mean(scores)))
        self._counts += pair_counts(*([score] for score in scores))
        if self._net is not None:
            (corrected,) = self._correction.add(np.array(self._scores[-1:]), terms[None]).tolist()
            self._corrected.append(corrected)
            self._total += corrected - 0.5
            self._squares += (corrected - 0.5) ** 2
        if self._sprt is not None and self._net is not None:
            self._verdict = self._sprt.verdict_of_mean(*self._moments())
        elif self._sprt is not None:
            self._verdict = self._sprt.verdict(self._counts)

    def _moments(self) -> tuple[int, float, float]:
        """Return the number, the mean and the variance of the corrected scores."""
        n = max(1, len(self._corrected))
        away = self._total / n
        return len(self._corrected), 0.5 + away, max(0.0, self._squares / n - away**2)

    def _ratio(self) -> float | None:
        """Return the log-likelihood ratio of the test."""
        if self._sprt is None:
            return None
        return self._sprt.llr(self._counts) if self._net is None else self._sprt.llr_of_mean(*self._moments())

    def _correct(self) -> Corrected | None:
        if self._net is None or len(self._pairs) < 2:
            return None
        return Corrected.of(np.array(self._scores), np.array(self._corrected))

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
            llr=self._ratio(),
            corrected=self._correct(),
            reasons=find_reasons(games),
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
