"""Which late positions of played games have a provably best move, and do the heuristics find it?

    pip install -e '.[train,fast]'
    python -m experiments.make_puzzles

plays games between the heuristics and solves every decision with few placements left by the endgame solver
(`genial_env/policies/endgame`). It keeps decisions whose best move is clearly better than any other, sorts them by
kind, and writes `genial_env/analysis/puzzles.jsonl`: at most one puzzle per game, and preferably those that "greedy"
and "denial" get wrong. It takes two to three minutes. A change in the choices of a policy changes the games and so the
puzzles; the stored file is from an earlier version of the policies.

The answer: docs/measurements.md, "Puzzles".
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table

from genial_env import Rules, State, use_backend
from genial_env._util.shutdown import handle_signals
from genial_env.analysis.proofs import write_proof
from genial_env.analysis.puzzles import KINDS, Puzzle, read_puzzles, score
from genial_env.core import kernel
from genial_env.core.arrays import Bits, Bools, Floats, Ints
from genial_env.core.bitsets import count
from genial_env.core.chance import game_seeds
from genial_env.core.state import Phase
from genial_env.core.views import view
from genial_env.policies.decisions import act, choice_keys
from genial_env.policies.endgame import SAME, most_placements_left, value_over_all_deals
from genial_env.policies.registry import make_policy
from genial_env.policies.roster import COMPILED
from genial_env.records import Recorder, record_writer, truncate

MIN_ADVANTAGE = 0.02
"""The least difference in value between the best move and any other one."""

DIGITS = 6
"""Number of digits of the values in the file."""


@dataclass(frozen=True)
class Source:
    """Games to search for puzzles.

    Attributes:
        rules: the rules.
        rosters: the policies of the seats for each part of the games; a roster is repeated to fill all seats.
        games: number of games for each roster.
        wanted: most puzzles of each kind to keep.
    """

    rules: Rules
    rosters: tuple[tuple[str, ...], ...]
    games: int
    wanted: dict[str, int]


PAIRS = (
    ("concave", "concave"),
    ("concave", "greedy"),
    ("denial", "concave"),
    ("greedy", "greedy"),
    ("random", "denial"),
)
SAME_POLICY = (("concave",), ("greedy",), ("denial", "random"))

SOURCES = (
    Source(Rules(2), PAIRS, 1000, {"endgame": 22, "immediate win": 14, "swap": 12}),
    Source(Rules(2), PAIRS[:4], 9000, {"double bonus": 12}),
    Source(Rules(2, "2009"), PAIRS[:2], 1000, {"endgame": 8, "swap": 3}),
    Source(Rules(3), SAME_POLICY, 1000, {"endgame": 6, "immediate win": 4}),
    Source(Rules(4), SAME_POLICY, 1000, {"endgame": 5, "immediate win": 4}),
    Source(Rules(4, "2004", "team"), SAME_POLICY, 1000, {"endgame": 5, "immediate win": 4}),
    Source(Rules(1, "2004", "solo"), (("concave",), ("denial",)), 60, {"endgame": 7}),
)


@dataclass
class Args:
    """The options of the command line."""

    seed: int = 7
    """seed of the games"""
    share: float = 1.0
    """share of the games to search"""
    out: Path = Path("genial_env/analysis/puzzles.jsonl")
    """file for the puzzles"""


@dataclass(frozen=True, eq=False)
class Found:
    """A puzzle with facts for the choice among many.

    Attributes:
        puzzle: the puzzle.
        game: seed of its game.
        wrong: how many of "greedy" and "denial" do not solve it.
    """

    puzzle: Puzzle
    game: int
    wrong: int


# Search


class Search:
    """A search through the games of a source, until there are enough puzzles of every kind to choose from.

    Args:
        source: the games.
        seed: seed of the games.
        share: share of the games to search.
    """

    def __init__(self, source: Source, seed: int, share: float) -> None:
        self.source, self.seed = source, seed
        self.games = max(1, int(source.games * share))
        self.found: list[Found] = []

    def run(self) -> list[Found]:
        """Search, and return the puzzles in the order of the games."""
        batches = [
            (names, game_seeds(self.seed + number, min(_BATCH, self.games - start), start))
            for start in range(0, self.games, _BATCH)
            for number, names in enumerate(self.source.rosters)
        ]
        for names, seeds in batches:
            if any(self.needs(kind) for kind in self.source.wanted):
                self.found += self._search_games(names, seeds)
        return self.found

    def needs(self, kind: str) -> bool:
        """Return whether more puzzles of a kind are needed to choose from."""
        have = sum(found.puzzle.kind == kind for found in self.found)
        return have < _TO_CHOOSE_FROM[kind] * self.source.wanted.get(kind, 0)

    def _search_games(self, names: Sequence[str], seeds: Bits) -> Iterator[Found]:
        """Play some games. Games with puzzles are played once more to record them."""
        rules = self.source.rules
        seats = [names[seat % len(names)] for seat in range(rules.players)]
        answers: list[tuple[int, int, dict[str, Any]]] = []
        state = kernel.deal(rules, seeds)
        for live in play_through(state, seats, seeds, lambda actions, rows: kernel.apply(state, actions, rows)):
            for row in live[count(state.open[live]) <= _MOST_OPEN].tolist():
                answer = self._examine(state.select(np.array([row])))
                if answer is not None:
                    answers.append((row, int(state.decisions[row]), answer))
        if not answers:
            return
        rows = sorted({row for row, _, _ in answers})
        recorder = Recorder(kernel.deal(rules, seeds[rows]), seats, seeds[rows])
        for _ in play_through(recorder.state, seats, seeds[rows], recorder.apply):
            pass
        records = dict(zip(rows, recorder.records(), strict=True))
        puzzles = [
            Puzzle(record=truncate(records[row], find_event(records[row], decision)), **answer)
            for row, decision, answer in answers
        ]
        wrong = np.zeros(len(puzzles), dtype=np.int64)
        for name in ("greedy", "denial"):
            wrong += [not answer.solved for answer in score(name, puzzles)]
        for (row, _, _), puzzle, number in zip(answers, puzzles, wrong, strict=True):
            yield Found(puzzle, int(seeds[row]), int(number))

    def _examine(self, state: State) -> dict[str, Any] | None:
        """Call :func:`examine` if the position may be a puzzle of a kind that is still needed."""
        phase, left = state.phase[0], int(most_placements_left(state)[0])
        if phase == Phase.SWAP:
            likely = left == state.rules.players == 2 and self.needs("swap")
        elif left > 2:
            likely = (
                left == 3 and state.rules.players == 2 and self.needs("double bonus") and is_clear_double_bonus(state)
            )
        else:
            likely = self.needs("endgame") or self.needs("immediate win")
        answer = examine(state) if likely else None
        return answer if answer is not None and self.needs(answer["kind"]) else None


_BATCH = 500
"""Number of games at a time."""

_TO_CHOOSE_FROM = {"endgame": 6, "immediate win": 5, "double bonus": 1, "swap": 2}
"""Number of puzzles to search for each one that is wanted."""

_MOST_OPEN = 24
"""Most open placements of a position that is examined. A board with room for three tiles rarely has more."""


def play_through(
    state: State, seats: Sequence[str], seeds: Bits, apply: Callable[[Ints, Ints], None]
) -> Iterator[Ints]:
    """Play games to their ends by `apply`, and yield the running games before every action."""
    roster = [make_policy(name) for name in seats]
    keys = choice_keys(seeds, len(seats))
    assignment = np.broadcast_to(np.arange(len(seats)), (len(seeds), len(seats)))
    for live in kernel.live_games(state):
        yield live
        apply(act(roster, assignment, state, keys, live), live)


def find_event(record: dict[str, Any], decision: int) -> int:
    """Return the index of a decision among the events of a record."""
    events = [number for number, event in enumerate(record["events"]) if event[0] != "draw"]
    return events[decision]


def examine(state: State) -> dict[str, Any] | None:
    """Solve a decision and return the fields of a puzzle except the record; None if it is no puzzle."""
    try:
        actions, values = value_over_all_deals(view(state))
    except ValueError:  # too early, or swaps have revealed too much
        return None
    values = values.round(DIGITS)
    most = values.max()
    others = values[values < most]
    if not others.size or most - others.max() < MIN_ADVANTAGE:
        return None
    best = actions[values == most]
    kind = find_kind(state, best, float(most))
    return {
        "kind": kind,
        "seat": int(state.to_play[0]),
        "best": tuple(best.tolist()),
        "value": float(most),
        "second": float(others.max()),
        "values": tuple(values.tolist()),
        "unit": name_unit(state.rules),
        "proof": prove(state, kind, actions, values),
    }


def earns_two(state: State, actions: Ints | None = None) -> Bools:
    """Return which actions [n] of a game earn two bonuses with one tile; by default for all legal actions."""
    rules = state.rules
    actions = np.flatnonzero(kernel.legal(state)[0]) if actions is None else actions
    rows = np.zeros(len(actions), dtype=np.int64)
    own = kernel.own_scores(state, rows).astype(np.int64)
    arrivals = state.tables.arrived(own, own + kernel.gained(state, actions, rows)).sum(axis=1)
    two: Bools = (arrivals >= 2) & (rules.bonuses_a_tile == 2)
    return two


def is_clear_double_bonus(state: State) -> bool:
    """Return whether two bonuses at once are clearly better than one.

    This is a fast check: only actions that go on with a bonus of the same turn are solved.
    """
    actions = np.flatnonzero(kernel.legal(state)[0])
    two = earns_two(state, actions)
    if not two.any():
        return False
    children = state.select(np.zeros(len(actions), dtype=np.int64))
    kernel.apply(children, actions)
    best = {True: -1.0, False: -1.0}
    for game in np.flatnonzero(children.phase == Phase.BONUS).tolist():
        value = value_over_all_deals(view(children.select(np.array([game]))))[1].max()
        best[bool(two[game])] = max(best[bool(two[game])], float(value))
    return best[True] - best[False] >= MIN_ADVANTAGE


def find_kind(state: State, best: Ints, value: float) -> str:
    """Return the kind of a puzzle with these best actions and their value."""
    rules = state.rules
    if state.phase[0] == Phase.SWAP:
        return "swap"
    if not rules.has_bonus or (best >= state.tables.swap_action).any():
        return "endgame"
    if earns_two(state, best).all():
        return "double bonus"
    after = state.select(np.zeros(len(best), dtype=np.int64))
    kernel.apply(after, best)
    within = after.over | (after.to_play == state.to_play[0]) & (after.phase == Phase.BONUS)
    return "immediate win" if value > 1 - SAME and within.all() else "endgame"


def name_unit(rules: Rules) -> str:
    """Return the unit of the values."""
    return "lowest marker" if rules.tracks == 1 else "rank utility"


def prove(state: State, kind: str, actions: Ints, values: Floats) -> str:
    """Write what was enumerated, with the numbers."""
    left, unseen = int(most_placements_left(state)[0]), int(view(state).unseen.sum())
    if state.rules.tracks == 1:
        how = "solo"
    elif kind == "immediate win":
        how = "win"
    elif left >= 2 and state.rules.players == 2 and (left == 3 or kernel.may_decline(state)[0]):
        how = "hands"
    else:
        how = "replies"
    best, second = float(values.max()), float(values[values < values.max()].max())
    return write_proof(how, left=left, unseen=unseen, legal=len(actions), best=best, second=second)


# Choice


def choose(source: Source, found: Sequence[Found]) -> list[Puzzle]:
    """Choose the wanted number of each kind, at most one per game.

    Three quarters of them are those that most policies get wrong.
    """
    taken: list[Puzzle] = []
    games: set[int] = set()
    for kind, wanted in sorted(source.wanted.items(), key=lambda item: KINDS.index(item[0]), reverse=True):
        ours = [each for each in found if each.puzzle.kind == kind]
        hard_first = sorted(ours, key=lambda each: (-each.wrong, -_variety(each.puzzle)))
        order = [*hard_first[: -(-3 * wanted // 4)], *ours, *hard_first] if kind != "swap" else _alternate(ours)
        kept = 0
        for each in order:
            if kept < wanted and each.game not in games:
                games.add(each.game)
                taken.append(each.puzzle)
                kept += 1
    return taken


def _variety(puzzle: Puzzle) -> int:
    """Count the different values of the actions."""
    return len(set(puzzle.values))


def _alternate(found: Sequence[Found]) -> list[Found]:
    """Order swap puzzles: decisions to keep and to swap alternate."""
    keep = [each for each in found if each.wrong]
    swap = [each for each in found if not each.wrong]
    pairs = [each for pair in zip(keep, swap, strict=False) for each in pair]
    shorter = min(len(keep), len(swap))
    return [*pairs, *keep[shorter:], *swap[shorter:]]


def main(args: Args) -> None:
    """Search, choose, write, and show which puzzles the heuristics solve."""
    puzzles: list[Puzzle] = []
    with use_backend("numba" if find_spec("numba") is not None else "numpy"):
        for number, source in enumerate(track(SOURCES, "sources")):
            puzzles += choose(source, Search(source, args.seed + 100 * number, args.share).run())
    puzzles.sort(key=lambda puzzle: KINDS.index(puzzle.kind))
    with record_writer(args.out) as write:
        for puzzle in puzzles:
            write(asdict(puzzle))
    show(read_puzzles(args.out))


def show(puzzles: Sequence[Puzzle]) -> None:
    """Print the numbers of puzzles, and the share that each heuristic solves."""
    table = Table("kind", "puzzles", *COMPILED)
    answers = {name: score(name, puzzles) for name in COMPILED}
    for kind in (*KINDS, None):
        mine = [index for index, puzzle in enumerate(puzzles) if kind in (None, puzzle.kind)]
        solved = [np.mean([float(answers[name][index].solved) for index in mine] or [0.0]) for name in COMPILED]
        table.add_row(kind or "all", str(len(mine)), *(f"{share:.0%}" for share in solved))
    Console().print(table)
    tables = Table("rules", "puzzles", *KINDS)
    for rules in dict.fromkeys(puzzle.rules for puzzle in puzzles):
        kinds = [puzzle.kind for puzzle in puzzles if puzzle.rules == rules]
        tables.add_row(
            f"{rules.players} {rules.edition} {rules.mode}",
            str(len(kinds)),
            *(str(kinds.count(kind)) for kind in KINDS),
        )
    Console().print(tables)


if __name__ == "__main__":
    with handle_signals("make_puzzles"):
        main(tyro.cli(Args))
