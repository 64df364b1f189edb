"""What a tournament says: ratings, utilities, markers, speeds and forfeits; as JSON and as Markdown."""

from collections import Counter
from dataclasses import dataclass
from importlib.util import find_spec
from math import isinf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from genial_env._util.files import write_json, write_text
from genial_env._util.strict_json import read_object
from genial_env._util.validators import (
    OBJECT,
    STRING,
    Validator,
    any_value,
    finite_number,
    integer,
    json_object,
    list_of,
    mapping_of,
    optional,
    validation_error,
)
from genial_env.arena import ratings
from genial_env.arena.games import Game
from genial_env.arena.pictures import MISSING, best_first, draw
from genial_env.arena.provenance import PROVENANCE
from genial_env.arena.ratings import Ratings, rate
from genial_env.arena.store import Settings, Store
from genial_env.core import ranking
from genial_env.core.bitsets import Ints

RESULTS, TABLES = "results.json", "results.md"

INTERVALS = "95% intervals over deals, with a block of games added that went as badly, or as well, as it can"
"""What the intervals are; stored with them."""


@dataclass(frozen=True, eq=False)
class Report:
    """What the games of a tournament of N agents say.

    Attributes:
        settings: what was played.
        sittings: what it was played by and on.
        games: how many.
        ratings: from the ranks; solo from comparing the agents' results of each deal.
        lowest: [N, top + 1] how often each agent's lowest marker ended where.
        ms_per_move: [N] milliseconds a decision, its share where many games were asked together; NaN for none.
        forfeits: [N] games.
        reasons: an example for each agent that forfeited, by its number.
    """

    settings: Settings
    sittings: list[dict[str, Any]]
    games: int
    ratings: Ratings
    lowest: Ints
    ms_per_move: NDArray[np.float64]
    forfeits: Ints
    reasons: dict[int, str]

    def to_dict(self) -> dict[str, Any]:
        """For JSON; :func:`markdown` and :func:`draw` need no more."""
        return {
            "settings": self.settings.to_dict(),
            "sittings": self.sittings,
            "games": self.games,
            "intervals": INTERVALS,
            "ratings": self.ratings.to_dict(),
            "lowest": self.lowest.tolist(),
            "ms_per_move": [None if np.isnan(ms) else round(float(ms), 4) for ms in self.ms_per_move],
            "forfeits": self.forfeits.tolist(),
            "reasons": {str(agent): reason for agent, reason in self.reasons.items()},
        }


def check_extras(pictures: bool = False) -> None:
    """Check, before any game is played for it, that a report can be made.

    Raises:
        ImportError: without choix, or matplotlib where pictures are wanted; says what to install.
    """
    if find_spec("choix") is None:
        raise ImportError(ratings.MISSING)
    if pictures and find_spec("matplotlib") is None:
        raise ImportError(MISSING)


def report(store: Store, anchor: tuple[str, float] | None = None) -> Report:
    """Work a tournament out.

    Args:
        store: its games.
        anchor: an agent and the rating that it is given; left out, the mean is 0.

    Raises:
        ValueError: for no finished games, or an anchor that did not play.
        ImportError: without choix.
    """
    settings, games = store.settings, store.games
    n = len(settings.agents)
    if anchor is not None and anchor[0] not in settings.agents:
        raise ValueError(f"the anchor {anchor[0]!r} did not play: {', '.join(settings.agents)} did")
    entrants, scores, ranks, groups = compared(settings, games)
    if not len(groups):
        raise ValueError(f"{store.directory} holds no finished games to compare")
    fixed = None if anchor is None else (settings.agents.index(anchor[0]), anchor[1])
    rated = rate(entrants, ranks, groups, n, scores=scores, names=settings.agents, anchor=fixed)
    losers = [(game.seats[game.forfeit["seat"]], game.forfeit["reason"]) for game in games if game.forfeit is not None]
    counts = Counter(loser for loser, _ in losers)
    return Report(
        settings=settings,
        sittings=store.sittings,
        games=len(games),
        ratings=rated,
        lowest=_lowest(entrants, scores, n, settings.rules.top),
        ms_per_move=_ms_per_move(games, n),
        forfeits=np.array([counts[agent] for agent in range(n)]),
        reasons=dict(reversed(losers)),
    )


def compared(settings: Settings, games: list[Game]) -> tuple[Ints, Ints, Ints, Ints]:
    """The games as entrants [G, T], scores [G, T, C], ranks [G, T] and groups [G].

    Solo games of the same deal are one: the agents' results of it, as if they had played each other. One that was
    forfeited counts as no points, and a deal that some agents have not played is left out.
    """
    tracks = settings.rules.tracks
    if tracks > 1:
        entrants = np.array([game.seats[:tracks] for game in games], dtype=np.int64).reshape(-1, tracks)
        scores = np.array([game.scores for game in games], dtype=np.int64)
        ranks = np.array([game.ranks for game in games], dtype=np.int64)
        return entrants, scores, ranks, np.array([game.group for game in games], dtype=np.int64)
    n = len(settings.agents)
    by_deal: dict[int, dict[int, list[int]]] = {}
    for game in games:
        markers = game.scores[0] if game.forfeit is None else [0] * settings.rules.colors
        by_deal.setdefault(game.group, {})[game.seats[0]] = markers
    groups = [group for group, found in by_deal.items() if len(found) == n]
    scores = np.array([[by_deal[group][agent] for agent in range(n)] for group in groups], dtype=np.int64)
    entrants = np.tile(np.arange(n), (len(groups), 1))
    return entrants, scores, ranking.ranks(scores) if groups else entrants, np.array(groups, dtype=np.int64)


def _lowest(entrants: Ints, scores: Ints, n: int, top: int) -> Ints:
    found = np.zeros((n, top + 1), dtype=np.int64)
    np.add.at(found, (entrants, scores.min(axis=2)), 1)
    return found


def _ms_per_move(games: list[Game], n: int) -> NDArray[np.float64]:
    seats = np.array([entrant for game in games for entrant in game.seats])
    seconds = np.bincount(seats, [s for game in games for s in game.seconds], minlength=n)
    moves = np.bincount(seats, [m for game in games for m in game.moves], minlength=n)
    return 1000 * seconds / np.where(moves > 0, moves, np.nan)


def read_report(path: Path) -> dict[str, Any]:
    """Read what :func:`write` wrote to `results.json`, as :func:`markdown` and :func:`draw` take it.

    Raises:
        OSError: if the file cannot be read.
        ValueError: for something else, saying where, what was expected and what was found.
    """
    found = read_object(path)
    names = _NAMES(found, str(path))["ratings"]["names"]
    n = len(names)
    checked: dict[str, Any] = _report_check(n)(found, str(path))
    for agent in checked["reasons"]:
        if agent not in map(str, range(n)):
            raise validation_error(f"{path}: reasons", f"agents from 0 to {n - 1}", agent)
    settings = Settings.from_dict(checked["settings"], f"{path}: settings")
    if names != list(settings.agents):
        raise validation_error(f"{path}: ratings: names", "the agents of the settings", names)
    return checked


_NAMES = json_object(ratings=json_object(names=list_of(STRING, min_length=1), others=any_value), others=any_value)


def _report_check(n: int) -> Validator:
    """What the report of N agents must be; what is not read again may be anything."""
    each = list_of(optional(finite_number()), n)
    table = list_of(each, n)
    of_each = json_object(value=list_of(finite_number(), n), low=each, high=each, others=any_value)
    return json_object(
        settings=OBJECT,
        sittings=list_of(PROVENANCE, min_length=1),
        games=integer(1),
        intervals=STRING,
        ratings=json_object(
            names=list_of(STRING, n),
            plays=list_of(integer(), n),
            rating=of_each,
            utility=of_each,
            win_rate=json_object(value=table, others=any_value),
            meetings=list_of(list_of(finite_number(0), n), n),
            markers=list_of(list_of(finite_number(0), min_length=1), n),
            others=any_value,
        ),
        lowest=list_of(list_of(integer(), min_length=1), n),
        ms_per_move=each,
        forfeits=list_of(integer(), n),
        reasons=mapping_of(STRING),
    )


# Tables


def markdown(found: dict[str, Any]) -> str:
    """The tables of a report, as :meth:`Report.to_dict` gives it, in Markdown: the strongest first."""
    order = best_first(found)
    parts = [_head(found), ranking_table(found, order), _wins(found, order)]
    reasons = [f"{_name(found, int(agent))} forfeited: {reason}" for agent, reason in found["reasons"].items()]
    return "\n\n".join([*parts, *reasons]) + "\n"


def ranking_table(found: dict[str, Any], order: list[int]) -> str:
    """A table of one row an agent."""
    ratings = found["ratings"]
    head = ["agent", "rating", "mean utility", "mean sorted markers", "games", "ms a move", "forfeits"]
    rows = []
    for agent in order:
        markers = " ".join(f"{marker:.1f}" for marker in ratings["markers"][agent])
        ms = found["ms_per_move"][agent]
        rows.append(
            [
                _name(found, agent),
                _interval(ratings["rating"], agent, 0),
                _interval(ratings["utility"], agent, 2),
                markers,
                f"{ratings['plays'][agent]:,}",
                "" if ms is None else f"{ms:.3g}",
                str(found["forfeits"][agent]),
            ]
        )
    return _table(head, rows)


def _wins(found: dict[str, Any], order: list[int]) -> str:
    """How often the row ended above the column."""
    rates, met = found["ratings"]["win_rate"], found["ratings"]["meetings"]
    head = ["wins against", *(found["ratings"]["names"][agent] for agent in order)]
    rows = []
    for row in order:
        cells = [
            f"{rates['value'][row][column]:.1%}" if met[row][column] and row != column else "–" for column in order
        ]
        rows.append([_name(found, row), *cells])
    return _table(head, rows)


def _head(found: dict[str, Any]) -> str:
    settings, last = found["settings"], found["sittings"][-1]
    rules = ", ".join(f"{name} {value}" for name, value in settings["rules"].items())
    machine = last["machine"]
    return (
        f"{found['games']:,} games ({settings['groups']} deals, seed {settings['seed']}): {rules}.\n\n"
        f"Ratings in Elo by Plackett-Luce, utilities from +1 (always first) to -1; {found['intervals']}. "
        f"Commit {str(last['commit'])[:12]}, genial_env {machine['genial_env']}, backend {last['backend']}, Python "
        f"{machine['python']}, {machine['cpu']}."
    )


def _name(found: dict[str, Any], agent: int) -> str:
    return f"`{found['ratings']['names'][agent]}`"


def _interval(values: dict[str, Any], agent: int, digits: int) -> str:
    value, low, high = (values[end][agent] for end in ("value", "low", "high"))
    return f"{signed(value, digits)} ({range_words(low, high, digits)})"


def range_words(low: float | None, high: float | None, digits: int = 0) -> str:
    """Say an interval: "-12 to +40", "at least +140", "anything".

    Args:
        low: the low end; None or infinite for no limit.
        high: the high end, likewise.
        digits: behind the point.
    """
    ends = [None if end is None or isinf(end) else signed(end, digits) for end in (low, high)]
    if None not in ends:
        return " to ".join(map(str, ends))
    if ends[0] is not None:
        return f"at least {ends[0]}"
    return "anything" if ends[1] is None else f"at most {ends[1]}"


def signed(value: float, digits: int = 0) -> str:
    """A number with its sign, which for 0 is a plus."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(store: Store, *, anchor: tuple[str, float] | None = None, pictures: bool = True) -> dict[str, Any]:
    """Write `results.json`, `results.md` and the pictures into a tournament's directory; what is in the first.

    Raises:
        ValueError, ImportError: as :func:`report` and :func:`draw`.
    """
    found = report(store, anchor).to_dict()
    write_json(store.directory / RESULTS, found)
    write_text(store.directory / TABLES, markdown(found))
    if pictures:
        draw(found, store.directory)
    return found
