"""The columns of tables of decisions: their names, types and meaning, and how they are computed.

A table has one row a decision (docs/tables.md). All columns of a batch of games are computed at once, from the replayed
positions. :mod:`genial_env.records.frames` makes tables of them.

Axis letters as in :mod:`genial_env.core.state`; also D decisions, n columns of a group.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from genial_env.core import kernel, ranking
from genial_env.core.actions import tile_name
from genial_env.core.arrays import AnyFloats, Bools, Ints
from genial_env.core.rules import COLOR_LETTERS, EDITIONS, SIZE_LIMITS, Rules
from genial_env.core.state import EMPTY, End, Phase, State
from genial_env.core.tables import tables
from genial_env.records.replay import Decisions

__all__ = ["COLUMNS", "FORMAT", "TILE_NAMES", "VERSION", "Batch", "Column", "DecisionJudge", "Judged", "Values"]

FORMAT, VERSION = "genial-table", 1
"""Name and version of the columns. The version is raised when a column changes its meaning or is removed."""

TILE_NAMES = tuple(tile_name(Rules(), kind) for kind in range(tables(Rules()).n_kinds))
"""The tiles of six colors, in the order of their kinds."""

PHASES = ("place", "bonus", "swap")
DECISIONS = ("place", "pass", "swap", "keep")
MODES = ("individual", "team", "solo")
MAX_RACK = SIZE_LIMITS["rack"][1]
MAX_TRACKS = 4


@dataclass(frozen=True)
class Judged:
    """What a judge says of D decisions, NaN where it says nothing. The unit is that of the column `result`."""

    loss: AnyFloats  # [D] the value of the best action less that of the action played
    luck: AnyFloats  # [D, T] for each track, the luck of the tiles drawn after the decision
    luck_deal: AnyFloats  # [B, T] for each track, the luck of the initial racks of all seats


class DecisionJudge(Protocol):
    """Judges the decisions of recorded games, see :class:`genial_env.analysis.judged_decisions.DecisionsJudge`."""

    def __call__(self, decisions: Decisions) -> Judged:
        """Judge the decisions of games with the same rules."""


class Values(NamedTuple):
    """The values of a group of n columns."""

    values: NDArray[Any]  # [D] or [D, n]; categories as indices
    missing: Bools | None = None  # the same shape: where there is no value
    categories: tuple[str, ...] | None = None  # the texts that the values are indices of


class Batch:
    """Replayed games with the same rules, from which columns are computed.

    Args:
        decisions: the D decisions of B games.
        agents: [B, P] the names of the agents by seat.
        seeds: [B] the seeds of the games, None where they are unknown.
        first_game: the number of the first game in the table.
        judged: what a judge says of the decisions; None if they are not judged.
    """

    def __init__(
        self,
        decisions: Decisions,
        agents: Sequence[Sequence[str]],
        seeds: Sequence[int | None],
        first_game: int = 0,
        judged: Judged | None = None,
    ) -> None:
        self.decisions, self.agents, self.seeds = decisions, agents, seeds
        self.first_game, self.judged = first_game, judged
        self.rules, self.tables = decisions.states.rules, decisions.states.tables
        self.games, self.states, self.actions = decisions.games, decisions.states, decisions.actions
        self.rows = np.arange(len(self.actions))
        self.seats: Ints = self.states.to_play.astype(np.int64)
        self.tracks: Ints = self.rules.track_of(self.seats)
        self.places = self.tables.is_placing(self.actions)

    @cached_property
    def slot_and_placement(self) -> tuple[Ints, Ints]:
        """Slot and placement of each decision: 2 times [D], 0 where no tile is placed."""
        slot, placement = self.tables.split_action(np.where(self.places, self.actions, 0))
        return slot, placement

    @cached_property
    def racks(self) -> Ints:
        """The own racks as indices of :data:`TILE_NAMES`: [D, K], EMPTY for an empty slot."""
        racks: Ints = _standard_kinds(self.rules)[kernel.own_racks(self.states)]
        return racks

    @cached_property
    def markers_after(self) -> NDArray[np.int8]:
        """The own markers after each decision: [D, C]."""
        following = np.minimum(self.rows + 1, len(self.rows) - 1)
        after = self.states.scores[following, self.tracks]
        last = np.flatnonzero(np.diff(self.games, append=len(self.decisions.final)))
        after[last] = self.decisions.final.scores[self.games[last], self.tracks[last]]
        return after

    @cached_property
    def turns(self) -> Ints:
        """The number of the turn of its seat to which each decision belongs, from 1: [D]."""
        starts = (self.states.phase == Phase.PLACE)[:, None] & (self.seats[:, None] == np.arange(self.rules.players))
        counted = np.cumsum(starts, axis=0)
        before_game = (counted - starts)[self.first_rows]
        turns: Ints = (counted - before_game)[self.rows, self.seats]
        return turns

    @cached_property
    def first_rows(self) -> Ints:
        """The index of the first decision of the game of each decision: [D]."""
        return np.searchsorted(self.games, self.games)

    @cached_property
    def ranks(self) -> Ints:
        """The final ranks: [B, T]."""
        return ranking.ranks(self.decisions.final.scores)

    @cached_property
    def results(self) -> AnyFloats:
        """The results of the tracks: [B, T]; NaN in games that are not finished."""
        final: State = self.decisions.final
        if self.rules.tracks == 1:
            found: AnyFloats = final.scores.min(axis=2).astype(np.float64)
        else:
            found = ranking.rank_utility(self.ranks)
        found[~final.over] = np.nan
        return found

    def by_game(self, values: Sequence[Any], dtype: Any = np.int64) -> NDArray[Any]:
        """Return the value of the game of each decision: [D].

        Args:
            values: one a game.
            dtype: the dtype of the result.
        """
        return np.array(values, dtype=dtype)[self.games]

    def by_color(self, values: NDArray[Any]) -> Values:
        """Return values [D, C] as six columns, missing for the colors that are not in play."""
        return _pad(values, len(COLOR_LETTERS))


@dataclass(frozen=True)
class Column:
    """A column, or a group of similar ones."""

    names: tuple[str, ...]
    type: str
    """the type of Arrow; "category" for texts with few values"""
    meaning: str
    compute: Callable[[Batch], Values]


def _standard_kinds(rules: Rules) -> Ints:
    """Return the index in :data:`TILE_NAMES` of each tile kind: [M + 1]; the last entry, for EMPTY, is EMPTY."""
    names = [tile_name(rules, kind) for kind in range(tables(rules).n_kinds)]
    return np.array([*(TILE_NAMES.index(name) for name in names), EMPTY], dtype=np.int64)


def _pad(values: NDArray[Any], columns: int) -> Values:
    """Return values [D, m] as [D, columns], missing behind the first m."""
    padded = np.zeros((len(values), columns), dtype=values.dtype)
    padded[:, : values.shape[1]] = values
    missing = np.zeros(padded.shape, dtype=np.bool_)
    missing[:, values.shape[1] :] = True
    return Values(padded, missing)


def _rule(name: str, kind: str, meaning: str, attribute: str | None = None) -> Column:
    """Return a column of one of the rules."""
    return Column((name,), kind, meaning, lambda b: Values(np.repeat(getattr(b.rules, attribute or name), len(b.rows))))


def _rule_text(name: str, meaning: str, texts: tuple[str, ...]) -> Column:
    def compute(batch: Batch) -> Values:
        return Values(np.repeat(texts.index(getattr(batch.rules, name)), len(batch.rows)), categories=texts)

    return Column((name,), "category", meaning, compute)


def _seeds(batch: Batch) -> Values:
    missing = batch.by_game([seed is None for seed in batch.seeds], np.bool_)
    return Values(batch.by_game([seed or 0 for seed in batch.seeds], np.uint64), missing)


def _agents(batch: Batch) -> Values:
    texts = tuple(dict.fromkeys(name for names in batch.agents for name in names))
    index = {name: number for number, name in enumerate(texts)}
    by_seat = np.array([[index[name] for name in names] for names in batch.agents], dtype=np.int64)
    return Values(by_seat[batch.games, batch.seats], categories=texts)


def _decision(batch: Batch) -> Values:
    declines = np.where(batch.states.phase == Phase.SWAP, DECISIONS.index("keep"), DECISIONS.index("pass"))
    if not batch.rules.has_swap:
        return Values(np.zeros(len(batch.rows), dtype=np.int64), categories=DECISIONS)
    swapped = np.where(batch.actions == batch.tables.swap_action, DECISIONS.index("swap"), declines)
    return Values(np.where(batch.places, DECISIONS.index("place"), swapped), categories=DECISIONS)


def _tile(batch: Batch) -> Values:
    tiles = batch.racks[batch.rows, batch.slot_and_placement[0]]
    return Values(np.where(batch.places, tiles, 0), ~batch.places, TILE_NAMES)


def _cells(batch: Batch) -> Values:
    cells = batch.tables.cells[batch.tables.placements[batch.slot_and_placement[1]]].reshape(-1, 4)
    return Values(cells, np.repeat(~batch.places[:, None], 4, axis=1))


def _rack(batch: Batch) -> Values:
    padded = np.full((len(batch.rows), MAX_RACK), EMPTY, dtype=np.int64)
    padded[:, : batch.rules.rack] = batch.racks
    return Values(np.maximum(padded, 0), padded == EMPTY, TILE_NAMES)


def _bag(batch: Batch) -> Values:
    kinds = _standard_kinds(batch.rules)[:-1]
    counts = np.zeros((len(batch.rows), len(TILE_NAMES)), dtype=np.uint8)
    counts[:, kinds] = batch.states.bag
    missing = np.ones(counts.shape, dtype=np.bool_)
    missing[:, kinds] = False
    return Values(counts, missing)


def _result(batch: Batch) -> Values:
    return _floats(batch.results[batch.games, batch.tracks])


def _loss(batch: Batch) -> Values:
    return _floats(np.full(len(batch.rows), np.nan) if batch.judged is None else batch.judged.loss)


def _luck(batch: Batch) -> Values:
    if batch.judged is None:
        return _floats(np.full((len(batch.rows), 2), np.nan))
    luck, of_game = batch.judged.luck, batch.judged.luck_deal.copy()
    np.add.at(of_game, batch.games, luck)
    return _floats(np.stack([luck[batch.rows, batch.tracks], of_game[batch.games, batch.tracks]], axis=1))


def _floats(values: AnyFloats) -> Values:
    return Values(values, np.isnan(values))


def _each(prefix: str, names: Sequence[Any]) -> tuple[str, ...]:
    return tuple(f"{prefix}_{name}" for name in names)


COLUMNS: tuple[Column, ...] = (
    Column(("game",), "int64", "number of the game, from 0", lambda b: Values(b.games + b.first_game)),
    Column(("seed",), "uint64", "seed of the game", _seeds),
    _rule("players", "int8", "number of seats"),
    _rule_text("edition", "edition of the rules", tuple(EDITIONS)),
    _rule_text("mode", "individual, team or solo", MODES),
    _rule("side", "int8", "cells along an edge of the board"),
    _rule("colors", "int8", "colors in play, the first of R G B O Y P"),
    _rule("rack_size", "int8", "tiles on a rack", "rack"),
    _rule("tile_sets", "int8", "boxes of tiles in the bag"),
    _rule("one_bonus_a_tile", "bool", "whether a tile earns at most one bonus placement"),
    Column(
        ("ply",),
        "int16",
        "number of the decision in its game, from 0",
        lambda b: Values(b.rows - b.first_rows),
    ),
    Column(
        ("turn",),
        "int16",
        "number of the turn of this seat, from 1; its bonus placements and its swap belong to the turn",
        lambda b: Values(b.turns),
    ),
    Column(("seat",), "int8", "the seat that decides, from 0", lambda b: Values(b.seats)),
    Column(("agent",), "category", "name of the agent of this seat", _agents),
    Column(
        ("phase",),
        "category",
        "place, bonus or swap: what is decided",
        lambda b: Values(b.states.phase, categories=PHASES),
    ),
    Column(
        ("decision",),
        "category",
        "place a tile, pass a bonus placement (2009), swap the rack, keep the rack",
        _decision,
    ),
    Column(("legal",), "int32", "number of legal actions", lambda b: Values(kernel.legal_count(b.states))),
    Column(("action",), "int32", "id of the action (docs/actions.md)", lambda b: Values(b.actions)),
    Column(("slot",), "int8", "rack slot of the tile placed", lambda b: Values(b.slot_and_placement[0], ~b.places)),
    Column(("tile",), "category", "the tile placed; its first letter lies on cell (q1, r1)", _tile),
    Column(("q1", "r1", "q2", "r2"), "int8", "axial coordinates of the two cells of the tile placed", _cells),
    Column(
        _each("points", COLOR_LETTERS),
        "int16",
        "points of the placement by color, before a marker stops; 0 if no tile is placed",
        lambda b: b.by_color(kernel.gained(b.states, b.actions, b.rows)),
    ),
    Column(
        _each("before", COLOR_LETTERS),
        "int8",
        "markers of the seat (its team) before the decision",
        lambda b: b.by_color(b.states.scores[b.rows, b.tracks]),
    ),
    Column(
        _each("after", COLOR_LETTERS),
        "int8",
        "markers of the seat (its team) after the decision",
        lambda b: b.by_color(b.markers_after),
    ),
    Column(_each("rack", range(MAX_RACK)), "category", "tiles of the seat before the decision, slot by slot", _rack),
    Column(_each("bag", TILE_NAMES), "uint8", "tiles of each kind in the bag before the decision", _bag),
    Column(
        ("end",),
        "category",
        "how the game ended: board full, all markers at the end, or unfinished",
        lambda b: Values(b.decisions.final.end[b.games], categories=tuple(end.words for end in End)),
    ),
    Column(
        ("rank",),
        "int8",
        "rank of the seat (its team) at the end, 1 = best; equal ones share a rank",
        lambda b: Values(b.ranks[b.games, b.tracks]),
    ),
    Column(
        _each("rank", range(MAX_TRACKS)),
        "int8",
        "ranks of all seats at the end; in team mode of the two teams",
        lambda b: _pad(b.ranks[b.games], MAX_TRACKS),
    ),
    Column(
        ("result",),
        "float32",
        "rank utility of the seat (its team), +1 first to -1 last; solo the lowest marker. Missing in unfinished games",
        _result,
    ),
    Column(
        ("loss",),
        "float32",
        "value of the best action less that of the action played, in units of `result`; judged tables only",
        _loss,
    ),
    Column(
        ("luck", "luck_game"),
        "float32",
        "luck for the seat (its team), in units of `result`: of the tiles drawn after this decision; of all tiles that "
        "all seats drew in the game, the first racks included. Judged tables only",
        _luck,
    ),
)
"""All columns in their order."""
