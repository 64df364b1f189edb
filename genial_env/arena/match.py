"""Is A better than B? Pairs of games with the seats swapped, until a sequential test has a verdict."""

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
from genial_env.arena.schedule import units
from genial_env.arena.sprt import Estimate, Sprt, Verdict, pair_counts
from genial_env.arena.store import Settings
from genial_env.arena.tournament import Jobs, check_workers, in_parallel, play_job
from genial_env.backends import Backend, current, for_one_game
from genial_env.core.bitsets import Ints
from genial_env.core.rules import Rules


@dataclass(frozen=True, eq=False)
class Match:
    """How a match between A and B stands.

    Attributes:
        agents: A and B.
        rules: two seats, or teams.
        sprt: the test; None where a fixed number of pairs was wanted.
        counts: [5] how many pairs gave A 0, 0.25, 0.5, 0.75 and 1.
        verdict: "H1" (A is better by `elo1`), "H0" (by no more than `elo0`), or None.
        forfeits: games that A and B forfeited.
        ms_per_move: of A and B.
        provenance: what it was played by and on.
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
        """How much better A is."""
        return Estimate.of(self.counts)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
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


MOST_PAIRS = 10_000
"""Where a test without a verdict is broken off, unless the caller says otherwise."""


def play_match(
    first: str,
    second: str,
    rules: Rules | None = None,
    *,
    sprt: Sprt | None = None,
    pairs: int = MOST_PAIRS,
    seed: int = 0,
    workers: int = 1,
    joblib_backend: str = "loky",
    backend: Backend | None = None,
    isolation: Isolation = ISOLATED,
    tell: Callable[["Match"], None] = lambda match: None,
) -> Match:
    """Play pairs of games until the test has a verdict.

    Pairs count in their order, whichever is finished first: the result depends neither on workers nor on batches.

    Args:
        first: A, as :func:`genial_env.make_policy` reads it.
        second: B.
        rules: with two tracks; left out, the standard game for two.
        sprt: the test; left out, all pairs are played.
        pairs: the most.
        seed: of the deals.
        workers: processes.
        joblib_backend: who runs them, "loky" or "ray".
        backend: who plays; left out, numba where it is installed and nobody has chosen.
        isolation: whether agents named by ``module:factory`` get processes of their own.
        tell: is told how the match stands, now and then.

    Returns:
        The match; its verdict is None where `pairs` were not enough.

    Raises:
        ValueError: for equal agents or ones that cannot be made, rules with more tracks, or no pairs.
        WorkerEnded: if a worker process ends.
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
            end_isolated()  # others play
        return _play(settings, sprt, chosen, isolation, workers, joblib_backend, tell)
    finally:
        end_isolated()


def _play(
    settings: Settings,
    sprt: Sprt | None,
    backend: Backend,
    isolation: Isolation,
    workers: int,
    joblib_backend: str,
    tell: Callable[[Match], None],
) -> Match:
    """Play until nothing more is needed."""
    tally = _Tally(settings, sprt, provenance(backend))
    jobs = Jobs(list(units(2, settings.rules, range(settings.groups))))
    calls = ((settings, job, backend, isolation) for job in jobs if not tally.finished)
    with closing(in_parallel(play_job, calls, workers, joblib_backend)) as played:
        for games, _, seconds in played:
            jobs.took(len(games), seconds)
            tally.add(games)
            tell(tally.match())
    return tally.match()


class _Tally:
    """Counts pairs in their order."""

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
        """In place: count what can be counted now; nothing after the verdict."""
        for game in games:
            self._waiting.setdefault(game.group, []).append(game)
        while not self.finished and len(self._waiting.get(len(self._pairs), ())) == 2:
            pair = self._waiting.pop(len(self._pairs))
            self._pairs.append(pair)
            self._counts += pair_counts(*([_score(game)] for game in pair))
            self._verdict = None if self._sprt is None else self._sprt.verdict(self._counts)

    def match(self) -> Match:
        """How it stands."""
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


def _score(game: Game) -> float:
    """A's score of a game: 1, 0.5 or 0."""
    own = game.seats.index(0) % 2
    return 0.5 + 0.5 * float(np.sign(game.ranks[1 - own] - game.ranks[own]))


def _ms_per_move(games: list[Game], entrant: int) -> float:
    own = [
        (s, m) for game in games for e, s, m in zip(game.seats, game.seconds, game.moves, strict=True) if e == entrant
    ]
    return 1000 * sum(s for s, _ in own) / max(1, sum(m for _, m in own))


def write_match(path: Path, match: Match) -> None:
    """Write a match as JSON."""
    write_json(path, match.to_dict())
