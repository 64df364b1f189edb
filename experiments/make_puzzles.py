"""Which late positions of played games have a provably best move, and do the built-in policies find it?

    pip install -e '.[train,fast]'
    python -m experiments.make_puzzles

plays games between the built-in policies, looks with the endgame solver (`genial_env/policies/endgame`) at every
decision with few placements left, keeps those whose best move is worth clearly more than any other, sorts them by kind,
and writes `genial_env/analysis/puzzles.jsonl`, at most one puzzle a game, those first that "greedy" and "denial" get
wrong. It takes two to three minutes.

    solved            puzzles  random  greedy  concave  denial
    endgame                53     34%     38%      47%     38%
    immediate win          26     27%     31%      27%     23%
    double bonus           12      0%     75%      42%      0%
    swap                   15     40%     87%      87%     87%
    all                   106     29%     47%      47%     37%

The file was made when random bits of policies became hashes and hidden tiles became exact: whatever changes a policy's
choices makes other games and other puzzles.

They are 60 for two seats of 2025 and 11 of 2009, 10 for three, 9 for four, 9 for teams and 7 solo. A swap is seldom
better declined, so that policies that always swap solve most of those.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from genial_env import Rules, State, use_backend
from genial_env._util.ending import orderly
from genial_env.analysis.puzzles import KINDS, Puzzle, read_puzzles, score
from genial_env.core import kernel
from genial_env.core.bitsets import Ints, count
from genial_env.core.chance import game_seeds
from genial_env.core.rules import TRACK_END
from genial_env.core.state import Phase
from genial_env.core.views import view
from genial_env.policies.decisions import act, choice_keys
from genial_env.policies.endgame import SAME, most_placements_left, value_over_all_deals
from genial_env.policies.registry import make_policy
from genial_env.policies.roster import COMPILED
from genial_env.records.record import Recorder, cut, record_file

CLEAR = 0.02
"""How much more than any other move the best one must be worth."""

DIGITS = 6
"""Of the values in the file."""


@dataclass(frozen=True)
class Source:
    """Games to look for puzzles in.

    Args:
        rules: the rules.
        rosters: the policies, one a seat (repeated to fill the table), for each part of the games.
        games: how many for each roster.
        wanted: how many puzzles of each kind to keep at most.
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
ALIKE = (("concave",), ("greedy",), ("denial", "random"))

SOURCES = (
    Source(Rules(2), PAIRS, 1000, {"endgame": 22, "immediate win": 14, "swap": 12}),
    Source(Rules(2), PAIRS[:4], 9000, {"double bonus": 12}),
    Source(Rules(2, "2009"), PAIRS[:2], 1000, {"endgame": 8, "swap": 3}),
    Source(Rules(3), ALIKE, 1000, {"endgame": 6, "immediate win": 4}),
    Source(Rules(4), ALIKE, 1000, {"endgame": 5, "immediate win": 4}),
    Source(Rules(4, "2004", "team"), ALIKE, 1000, {"endgame": 5, "immediate win": 4}),
    Source(Rules(1, "2004", "solo"), (("concave",), ("denial",)), 60, {"endgame": 7}),
)


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    seed: int = 7
    """of the games"""
    share: float = 1.0
    """of the games to look at"""
    out: Path = Path("genial_env/analysis/puzzles.jsonl")
    """the file to write"""


@dataclass(frozen=True, eq=False)
class Found:
    """A puzzle and what helps to choose among many."""

    puzzle: Puzzle
    game: int
    wrong: int  # of "greedy" and "denial"


# Looking


class Search:
    """Looks through the games of a source until there is enough of every kind to choose from.

    Args:
        source: which games.
        seed: of the games.
        share: of them.
    """

    def __init__(self, source: Source, seed: int, share: float) -> None:
        self.source, self.seed = source, seed
        self.games = max(1, int(source.games * share))
        self.found: list[Found] = []

    def run(self) -> list[Found]:
        """All puzzles found, in the order of the games."""
        batches = [
            (names, game_seeds(self.seed + number, min(_BATCH, self.games - start), start))
            for start in range(0, self.games, _BATCH)
            for number, names in enumerate(self.source.rosters)
        ]
        for names, seeds in batches:
            if any(self.lacks(kind) for kind in self.source.wanted):
                self.found += self._look_at(names, seeds)
        return self.found

    def lacks(self, kind: str) -> bool:
        """Whether more puzzles of a kind are wanted to choose from."""
        have = sum(found.puzzle.kind == kind for found in self.found)
        return have < _TO_CHOOSE_FROM[kind] * self.source.wanted.get(kind, 0)

    def _look_at(self, names: Sequence[str], seeds: NDArray[np.uint64]) -> Iterator[Found]:
        """Play some games, and those with puzzles once more, to record them."""
        rules = self.source.rules
        seats = [names[seat % len(names)] for seat in range(rules.players)]
        answers: list[tuple[int, int, dict[str, Any]]] = []
        state = kernel.deal(rules, seeds)
        for live in played(state, seats, seeds, lambda actions, rows: kernel.apply(state, actions, rows)):
            for row in live[count(state.open[live]) <= _MOST_OPEN].tolist():
                answer = self._examine(state.select(np.array([row])))
                if answer is not None:
                    answers.append((row, int(state.decisions[row]), answer))
        if not answers:
            return
        rows = sorted({row for row, _, _ in answers})
        recorder = Recorder(kernel.deal(rules, seeds[rows]), seats, seeds[rows])
        for _ in played(recorder.state, seats, seeds[rows], recorder.apply):
            pass
        records = dict(zip(rows, recorder.records(), strict=True))
        puzzles = [
            Puzzle(record=cut(records[row], _event_of(records[row], decision)), **answer)
            for row, decision, answer in answers
        ]
        wrong = np.zeros(len(puzzles), dtype=np.int64)
        for name in ("greedy", "denial"):
            wrong += [not answer.solved for answer in score(name, puzzles)]
        for (row, _, _), puzzle, number in zip(answers, puzzles, wrong, strict=True):
            yield Found(puzzle, int(seeds[row]), int(number))

    def _examine(self, state: State) -> dict[str, Any] | None:
        """As :func:`examine`, where such puzzles are still lacking."""
        phase, left = state.phase[0], int(most_placements_left(state)[0])
        if phase == Phase.SWAP:
            likely = left == state.rules.players == 2 and self.lacks("swap")
        elif left > 2:
            likely = left == 3 and state.rules.players == 2 and self.lacks("double bonus") and two_stand_out(state)
        else:
            likely = self.lacks("endgame") or self.lacks("immediate win")
        answer = examine(state) if likely else None
        return answer if answer is not None and self.lacks(answer["kind"]) else None


_BATCH = 500
"""Games played together."""

_TO_CHOOSE_FROM = {"endgame": 6, "immediate win": 5, "double bonus": 1, "swap": 2}
"""Puzzles looked for, for each that is wanted."""

_MOST_OPEN = 24
"""Open placements up to which a position is looked at: three tiles' worth of cells seldom have more."""


def played(
    state: State, seats: Sequence[str], seeds: NDArray[np.uint64], apply: Callable[[Ints, Ints], None]
) -> Iterator[Ints]:
    """Play games to their ends, each batch of actions by `apply`; gives the games that go on, before every action."""
    roster = [make_policy(name) for name in seats]
    keys = choice_keys(seeds, len(seats))
    assignment = np.broadcast_to(np.arange(len(seats)), (len(seeds), len(seats)))
    while (live := np.flatnonzero(~state.over)).size:
        yield live
        apply(act(roster, assignment, state, keys, live), live)


def _event_of(record: dict[str, Any], decision: int) -> int:
    """The number of a decision among a record's events."""
    events = [number for number, event in enumerate(record["events"]) if event[0] != "draw"]
    return events[decision]


def examine(state: State) -> dict[str, Any] | None:
    """A game's decision as the fields of a puzzle, all but the record; None where it is none."""
    try:
        actions, values = value_over_all_deals(view(state))
    except ValueError:  # too early, or swaps have told too much
        return None
    values = values.round(DIGITS)
    most = values.max()
    others = values[values < most]
    if not others.size or most - others.max() < CLEAR:
        return None
    best = actions[values == most]
    kind = kind_of(state, best, float(most))
    return {
        "kind": kind,
        "seat": int(state.to_play[0]),
        "best": tuple(best.tolist()),
        "value": float(most),
        "second": float(others.max()),
        "values": tuple(values.tolist()),
        "unit": unit_of(state.rules),
        "proof": proof(state, kind, actions, values),
    }


def earns_two(state: State, actions: Ints | None = None) -> NDArray[np.bool_]:
    """[n]: which actions of a game, left out all legal ones, earn two bonuses with one tile."""
    rules = state.rules
    actions = np.flatnonzero(kernel.legal(state)[0]) if actions is None else actions
    rows = np.zeros(len(actions), dtype=np.int64)
    own = kernel.own_scores(state, rows).astype(np.int64)
    stops = np.where(own < TRACK_END, TRACK_END, rules.top)
    arrivals = ((own < stops) & (own + kernel.gained(state, actions, rows) >= stops)).sum(axis=1)
    two: NDArray[np.bool_] = (arrivals >= 2) & rules.has_bonus
    return two


def two_stand_out(state: State) -> bool:
    """Whether two bonuses at once win clearly more than one: a quick look, as no turn closes in between."""
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
    return best[True] - best[False] >= CLEAR


def kind_of(state: State, best: Ints, value: float) -> str:
    """The kind of a puzzle with these best actions of that value."""
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


def unit_of(rules: Rules) -> str:
    """Of the values."""
    return "lowest marker" if rules.tracks == 1 else "rank utility"


def proof(state: State, kind: str, actions: Ints, values: NDArray[np.float64]) -> str:
    """What was enumerated, with the numbers."""
    left, unseen = int(most_placements_left(state)[0]), int(view(state).unseen.sum())
    if state.rules.tracks == 1:
        how = "every placement and every draw to the end of the game were enumerated"
    elif kind == "immediate win":
        how = f"the best win within the turn whatever others hold, and the rest count over all deals of {unseen} tiles"
    elif left >= 2 and state.rules.players == 2 and (left == 3 or kernel.may_decline(state)[0]):
        how = (
            f"all own chains, all hands that the opponent may hold of {unseen} tiles, its best reply against each, "
            f"all draws and the own last tile were enumerated"
        )
    else:
        how = f"all own chains, and the next seat's best last reply over all deals of {unseen} tiles, were enumerated"
    second = values[values < values.max()].max()
    return (
        f"With at most {left} placements left {how}: of {len(actions)} legal actions the best are worth "
        f"{values.max():+.4f}, the next {second:+.4f} ({unit_of(state.rules)})."
    )


# Choosing


def choose(source: Source, found: Sequence[Found]) -> list[Puzzle]:
    """As many of each kind as wanted, one a game: three of four those that most policies get wrong, the others any."""
    taken: list[Puzzle] = []
    games: set[int] = set()
    for kind, wanted in sorted(source.wanted.items(), key=lambda item: KINDS.index(item[0]), reverse=True):
        ours = [each for each in found if each.puzzle.kind == kind]
        hard_first = sorted(ours, key=lambda each: (-each.wrong, -_variety(each.puzzle)))
        order = [*hard_first[: -(-3 * wanted // 4)], *ours, *hard_first] if kind != "swap" else _halves(ours)
        kept = 0
        for each in order:
            if kept < wanted and each.game not in games:
                games.add(each.game)
                taken.append(each.puzzle)
                kept += 1
    return taken


def _variety(puzzle: Puzzle) -> int:
    """How many different values the actions have."""
    return len(set(puzzle.values))


def _halves(found: Sequence[Found]) -> list[Found]:
    """Decisions to keep and to swap by turns."""
    keep = [each for each in found if each.wrong]
    swap = [each for each in found if not each.wrong]
    pairs = [each for pair in zip(keep, swap, strict=False) for each in pair]
    shorter = min(len(keep), len(swap))
    return [*pairs, *keep[shorter:], *swap[shorter:]]


def main(args: Args) -> None:
    """Look, choose, write, and show how the built-in policies do."""
    puzzles: list[Puzzle] = []
    with use_backend("numba" if find_spec("numba") is not None else "numpy"):
        for number, source in enumerate(track(SOURCES, "sources")):
            puzzles += choose(source, Search(source, args.seed + 100 * number, args.share).run())
    puzzles.sort(key=lambda puzzle: KINDS.index(puzzle.kind))
    with record_file(args.out) as write:
        for puzzle in puzzles:
            write(asdict(puzzle))
    show(read_puzzles(args.out))


def show(puzzles: Sequence[Puzzle]) -> None:
    """How many puzzles there are, and which the built-in policies solve."""
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
    with orderly("make_puzzles"):
        main(tyro.cli(Args))
