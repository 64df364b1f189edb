"""Reports of tournaments: ratings, utilities, markers, speeds and forfeits, as JSON and as Markdown."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
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
from genial_env.arena.corrected import CorrectedResults, correct_results
from genial_env.arena.games import Game, find_reasons
from genial_env.arena.pictures import FORMATS, MISSING, best_first, draw
from genial_env.arena.ratings import Ratings, rate
from genial_env.arena.store import SESSION, Settings, Store
from genial_env.arena.tables import TABLE_FILES, format_interval, signed
from genial_env.core import ranking
from genial_env.core.arrays import Ints

__all__ = [
    "RESULTS",
    "TABLES",
    "Report",
    "check_extras",
    "compared",
    "format_interval",
    "markdown",
    "ranking_table",
    "read_report",
    "report",
    "reproducibility",
    "signed",
    "write",
]

RESULTS, TABLES = "results.json", "results.md"

INTERVALS = "95% intervals over deals, with a block of games added that went as badly, or as well, as it can"
"""The method of the intervals. It is stored with them."""


@dataclass(frozen=True, eq=False)
class Report:
    """The report of a tournament of N agents.

    Attributes:
        settings: the settings.
        sessions: commit, versions and machine of each session.
        games: the number of games.
        ratings: ratings from the ranks; solo from comparing the agents' results of each deal.
        lowest: [N, top + 1] how often each agent's lowest marker ended at each value.
        ms_per_move: [N] milliseconds for a decision, with a batch's time divided evenly; NaN without decisions.
        forfeits: [N] the number of forfeited games.
        reasons: one reason for each agent that forfeited, by its number.
        corrected: the mean results corrected for luck; None unless that was asked for.
    """

    settings: Settings
    sessions: list[dict[str, Any]]
    games: int
    ratings: Ratings
    lowest: Ints
    ms_per_move: NDArray[np.float64]
    forfeits: Ints
    reasons: dict[int, str]
    corrected: CorrectedResults | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values, as :func:`markdown` and ``pictures.draw`` take it."""
        return {
            "settings": self.settings.to_dict(),
            "sessions": self.sessions,
            "games": self.games,
            "intervals": INTERVALS,
            "ratings": self.ratings.to_dict(),
            "lowest": self.lowest.tolist(),
            "ms_per_move": [None if np.isnan(ms) else round(float(ms), 4) for ms in self.ms_per_move],
            "forfeits": self.forfeits.tolist(),
            "reasons": {str(agent): reason for agent, reason in self.reasons.items()},
            "corrected": None if self.corrected is None else self.corrected.to_dict(),
        }


def check_extras(pictures: bool = False) -> None:
    """Check that the libraries for a report are installed.

    Raises:
        ImportError: If choix, or for pictures matplotlib, is not installed. The message says what to install.
    """
    if find_spec("choix") is None:
        raise ImportError(ratings.MISSING)
    if pictures and find_spec("matplotlib") is None:
        raise ImportError(MISSING)


def report(store: Store, anchor: tuple[str, float] | None = None, variance_reduction: bool = False) -> Report:
    """Compute the report of a tournament.

    Args:
        store: the tournament's games.
        anchor: an agent and its fixed rating; None for a mean rating of 0.
        variance_reduction: whether mean results are also corrected for luck.

    Raises:
        ValueError: If there are no finished games, if the anchor did not play, or if they cannot be corrected
            (:func:`genial_env.arena.corrected.check_correction`).
        ImportError: If choix is not installed.
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
    counts = Counter(game.seats[game.forfeit["seat"]] for game in games if game.forfeit is not None)
    return Report(
        settings=settings,
        sessions=store.sessions,
        games=len(games),
        ratings=rated,
        lowest=_lowest(entrants, scores, n, settings.rules.top),
        ms_per_move=_ms_per_move(games, n),
        forfeits=np.array([counts[agent] for agent in range(n)]),
        reasons=find_reasons(games),
        corrected=correct_results(store) if variance_reduction else None,
    )


def compared(settings: Settings, games: list[Game]) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the games as entrants [G, T], scores [G, T, C], ranks [G, T] and deals [G].

    The solo games of a deal become one game, as if the agents had played each other. A forfeited solo game has score 0.
    Deals that some agents have not played are omitted.
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
    """Read a report that :func:`write` wrote to `results.json`.

    Raises:
        OSError: If the file cannot be read.
        ValueError: If it is not a report. The message says where, what was expected and what was found.
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
    """Return the validator of the report of N agents. Values that are never read are not checked."""
    each = list_of(optional(finite_number()), n)
    table = list_of(each, n)
    of_each = json_object(value=list_of(finite_number(), n), low=each, high=each, others=any_value)
    of_each_corrected = json_object(value=each, low=each, high=each)
    return json_object(
        settings=OBJECT,
        sessions=list_of(SESSION, min_length=1),
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
        optional_keys={  # older reports lack it
            "corrected": optional(json_object(unit=STRING, mean=of_each_corrected, explained=finite_number()))
        },
    )


# Tables


def markdown(found: dict[str, Any]) -> str:
    """Return the tables of a report (``Report.to_dict``) in Markdown, the strongest agent first."""
    order = best_first(found)
    parts = [_head(found), ranking_table(found, order), _wins(found, order)]
    reproducible = f"**Reproducibility.** {reproducibility(found)}"
    reasons = [f"{_name(found, int(agent))} forfeited: {reason}" for agent, reason in found["reasons"].items()]
    return "\n\n".join([*parts, *reasons, reproducible]) + "\n"


def reproducibility(found: dict[str, Any]) -> str:
    """Return a paragraph on how the games of a report were made, and with which software, for an appendix."""
    settings, sessions = found["settings"], found["sessions"]
    rules = ", ".join(f"{name} {value}" for name, value in settings["rules"].items())
    agents = ", ".join(f"`{agent}`" for agent in settings["agents"])
    sentences = [
        f"A round robin of {agents}: {found['games']:,} games under the rules {rules}.",
        f"The games are those of {settings['groups']:,} deals with seed {settings['seed']}; deal i has the seed "
        f"`genial_env.core.chance.game_seeds({settings['seed']}, 1, i)`, and in each deal every lineup plays once in "
        "every rotation of the seats.",
        f"Intervals: {found['intervals']}.",
    ]
    for session in sessions:
        machine = session["machine"]
        libraries = [f"{name} {version}" for name, version in session["libraries"].items() if version]
        versions = [f"genial_env {machine['genial_env']}", f"Python {machine['python']}", f"numpy {machine['numpy']}"]
        versions += [] if machine["numba"] == "none" else [f"numba {machine['numba']}"]
        sentences.append(
            f"Session of {session['date']}: commit {session['commit'] or 'unknown'}, "
            f"{', '.join(versions + libraries)}; backend {session['backend']}; {machine['cpu']}, "
            f"{machine['cores']} cores."
        )
    depends = {agent: parts for session in sessions for agent, parts in session.get("agents", {}).items()}
    for agent, parts in depends.items():
        if parts:
            sentences.append(f"`{agent}`: {', '.join(f'{name} {version}' for name, version in parts.items())}.")
    return " ".join(sentences)


def ranking_table(found: dict[str, Any], order: list[int]) -> str:
    """Return a table with one row for each agent."""
    ratings = found["ratings"]
    head = ["agent", "rating", "mean utility", "mean sorted markers", "games", "ms a move", "forfeits"]
    corrected = found.get("corrected")
    if corrected is not None:
        head.insert(3, f"{corrected['unit']}, corrected for luck")
    rows = []
    for agent in order:
        markers = " ".join(f"{marker:.1f}" for marker in ratings["markers"][agent])
        ms = found["ms_per_move"][agent]
        rows.append(
            [
                _name(found, agent),
                _interval(ratings["rating"], agent, 0),
                _interval(ratings["utility"], agent, 2),
                *([] if corrected is None else [_interval(corrected["mean"], agent, 2)]),
                markers,
                f"{ratings['plays'][agent]:,}",
                "" if ms is None else f"{ms:.3g}",
                str(found["forfeits"][agent]),
            ]
        )
    return _table(head, rows)


def _wins(found: dict[str, Any], order: list[int]) -> str:
    """Return the table of win rates of the row against the column."""
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
    settings, last = found["settings"], found["sessions"][-1]
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
    return f"{signed(value, digits)} ({format_interval(low, high, digits)})"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write(
    store: Store,
    *,
    anchor: tuple[str, float] | None = None,
    variance_reduction: bool = False,
    pictures: bool = True,
    formats: Sequence[str] = FORMATS[:1],
) -> dict[str, Any]:
    """Write `results.json`, `results.md`, tables and pictures into a tournament's directory, and return the report.

    Args:
        store: the tournament's games.
        anchor: see :func:`report`.
        variance_reduction: see :func:`report`.
        pictures: whether to draw pictures.
        formats: the formats of the pictures, of ``pictures.FORMATS``.

    Raises:
        ValueError, ImportError: See :func:`report` and ``pictures.draw``.
    """
    found = report(store, anchor, variance_reduction).to_dict()
    write_json(store.directory / RESULTS, found)
    write_text(store.directory / TABLES, markdown(found))
    for name, make in TABLE_FILES.items():
        write_text(store.directory / name, make(found))
    if pictures:
        draw(found, store.directory, formats)
    return found
