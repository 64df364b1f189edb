"""Games of a tournament. An agent that plays an illegal action or raises an error forfeits the game.

Every exception of an agent in this process is a forfeit, including SystemExit. Only KeyboardInterrupt is not, as it may
come from Ctrl-C. Only :mod:`~genial_env.arena.isolation` protects from agents that end or block their process, or read
the games in memory.

Entrants are numbered. `seated` [G, P] holds the entrant on each seat of each game.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.error_text import describe_error
from genial_env._util.shutdown import Terminated
from genial_env.core import kernel, ranking
from genial_env.core.arrays import Bits, Ints
from genial_env.core.chance import bits
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import View, view
from genial_env.errors import AgentError, AgentStopped
from genial_env.policies.base import Policy
from genial_env.policies.decisions import choice_keys, decide
from genial_env.records import Record, Recorder

__all__ = [
    "Game",
    "ask",
    "find_reasons",
    "forfeited_ranks",
    "play_games",
]


@dataclass(frozen=True)
class Game:
    """The result of one game."""

    group: int  # the deal's number
    seats: list[int]  # the entrant on each seat
    seed: int
    scores: list[list[int]]  # one list of markers a track
    ranks: list[int]  # one a track, 1 = best
    moves: list[int]  # one a seat: decisions
    seconds: list[float]  # one a seat: time for them; the time of a batch is divided evenly among its games
    forfeit: dict[str, Any] | None  # {"seat": ..., "reason": ...}

    def to_dict(self) -> dict[str, Any]:
        """Return the game as JSON values."""
        return asdict(self)


def play_games(
    roster: Sequence[Policy],
    names: Sequence[str],
    seated: Ints,
    rules: Rules,
    groups: Ints,
    seeds: Bits,
    *,
    record: bool,
) -> tuple[list[Game], list[Record]]:
    """Play G games in one batch.

    A forfeit ends the game: the offender's track is last, the others share the first rank.

    Args:
        roster: one policy for each entrant.
        names: the entrants' names in records.
        seated: [G, P] the entrant on each seat.
        rules: the rules.
        groups: [G] the numbers of the deals.
        seeds: [G] the seeds of the games.
        record: whether to record the games.

    Returns:
        The games, and their records, or an empty list without `record`.
    """
    table = _Table(roster, seated, kernel.deal(rules, seeds), choice_keys(seeds, rules.players))
    recorder = Recorder(table.state, [""] * rules.players, seeds) if record else None
    while table.live.size:
        actions = table.ask()
        if recorder is None:
            kernel.apply(table.state, actions, table.live)
        else:
            recorder.apply(actions, table.live)
        table.live = table.live[~table.state.over[table.live]]
    records = [] if recorder is None else recorder.records()
    for game, seats in zip(records, seated.tolist(), strict=False):
        game["agents"] = [names[entrant] for entrant in seats]
    return [table.game(row, int(groups[row]), int(seeds[row])) for row in range(len(seeds))], records


def ask(policy: Policy, seen: View, random: Bits, games: Ints) -> Ints:
    """Ask a policy for its actions [G]: by its method ``decide_in``, which says which games they are, if it has one.

    Args:
        policy: the policy.
        seen: the views of G games.
        random: [G] random bits.
        games: [G] int64, for each seat of each game a number of its own, the same at all its decisions.
    """
    decide_in = getattr(policy, "decide_in", None)
    actions: Ints = policy(seen, random) if decide_in is None else decide_in(seen, random, games)
    return actions


def forfeited_ranks(rules: Rules, seat: int) -> list[int]:
    """Return the ranks of a game that a seat has forfeited: its track is last, the others share the first rank."""
    return [rules.tracks if track == rules.track_of(seat) else 1 for track in range(rules.tracks)]


def find_reasons(games: Iterable[Game]) -> dict[int, str]:
    """Return the reason of the first forfeit of each entrant that has forfeited games, by its number."""
    found: dict[int, str] = {}
    for game in games:
        if game.forfeit is not None:
            found.setdefault(game.seats[game.forfeit["seat"]], game.forfeit["reason"])
    return found


class _Table:
    """G games in play."""

    def __init__(self, roster: Sequence[Policy], seated: Ints, state: State, keys: Bits) -> None:
        self.state, self.live = state, np.flatnonzero(~state.over)
        self._roster, self._seated, self._keys = roster, seated, keys
        self._ids = np.random.default_rng().integers(1 << 63, size=seated.shape)  # [G, P], which tell nothing of deals
        self._moves = np.zeros(seated.shape, dtype=np.int64)
        self._seconds = np.zeros(seated.shape)
        self._forfeits: dict[int, dict[str, Any]] = {}
        self._alone: set[int] = set()
        """Entrants that have stopped in a batch. They are asked game by game, so that the next stop costs one game."""

    def ask(self) -> Ints:
        """In place: ask for the next actions of the live games. Games that are forfeited leave `live`."""
        seat = self.state.to_play[self.live]
        player = self._seated[self.live, seat]
        actions = np.zeros(len(self.live), dtype=np.int64)
        for entrant in np.unique(player):
            mine = np.flatnonzero(player == entrant)
            begun = time.perf_counter()
            actions[mine] = self._chosen(int(entrant), self.live[mine])
            self._seconds[self.live[mine], seat[mine]] += (time.perf_counter() - begun) / len(mine)
        self._moves[self.live, seat] += 1
        playing = np.array([row not in self._forfeits for row in self.live.tolist()], dtype=np.bool_)
        self.live = self.live[playing]
        return actions[playing]

    def _chosen(self, entrant: int, rows: Ints) -> Ints:
        """Return the actions [G] of an entrant in some games. Games without a legal action are forfeited."""
        if entrant in self._alone and len(rows) > 1:
            return self._chosen_one_by_one(entrant, rows)
        random = bits(self._keys[rows, self.state.to_play[rows]], self.state.decisions[rows])
        try:
            actions = kernel.as_actions(self._decided(self._roster[entrant], rows, random), len(rows))
        except (KeyboardInterrupt, Terminated):
            raise
        except BaseException as error:  # whatever an agent may raise
            if isinstance(error, AgentStopped):
                self._alone.add(entrant)
            if len(rows) > 1:
                return self._chosen_one_by_one(entrant, rows)
            is_told = isinstance(error, AgentError)
            self._forfeit(int(rows[0]), str(error) if is_told else describe_error(error))
            return np.zeros(1, dtype=np.int64)
        for i in np.flatnonzero(~kernel.is_legal(self.state, actions, rows)):
            self._forfeit(int(rows[i]), kernel.why_illegal(self.state, int(rows[i]), int(actions[i])))
        return actions

    def _decided(self, policy: Policy, rows: Ints, random: Bits) -> Ints:
        """Return what a policy answers in some games."""
        if not hasattr(policy, "decide_in"):
            return decide(policy, self.state, rows, random)
        return ask(policy, view(self.state, rows=rows), random, self._ids[rows, self.state.to_play[rows]])

    def _chosen_one_by_one(self, entrant: int, rows: Ints) -> Ints:
        return np.concatenate([self._chosen(entrant, rows[i : i + 1]) for i in range(len(rows))])

    def _forfeit(self, row: int, reason: str) -> None:
        self._forfeits[row] = {"seat": int(self.state.to_play[row]), "reason": reason}

    def game(self, row: int, group: int, seed: int) -> Game:
        """Return the result of a game."""
        scores: NDArray[np.int8] = self.state.scores[row]
        forfeit = self._forfeits.get(row)
        ranks = ranking.ranks(scores[None])[0].tolist()
        if forfeit is not None:
            ranks = forfeited_ranks(self.state.rules, forfeit["seat"])
        return Game(
            group=group,
            seats=self._seated[row].tolist(),
            seed=seed,
            scores=scores.tolist(),
            ranks=ranks,
            moves=self._moves[row].tolist(),
            seconds=[round(seconds, 6) for seconds in self._seconds[row].tolist()],
            forfeit=forfeit,
        )
