"""Which positions teach something: puzzles of all phases of the game, for people who want to play better.

    pip install -e '.[train,fast]'
    python -m experiments.make_lessons

writes `genial_env/analysis/lessons.jsonl` (`genial_env/analysis/puzzles.py` describes the format). Half of the puzzles
are proved, and found by the search of `experiments/make_puzzles.py` in other games. The others are judged. The network
picks decisions in games of the agent "value" whose best action is clearly best by its predictions, and that "denial"
does not choose. The judge plays the best sixteen actions on in 400 deals. A decision is kept if one action is better
than every other one by at least MIN_ADVANTAGE and by MIN_ERRORS standard errors. At most one puzzle is kept per game.
It takes about half an hour on one core. A change in the choices of a policy, or other weights, change the puzzles.

The answer: docs/measurements.md, "Puzzles for people".
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table

from experiments.make_puzzles import DIGITS, SOURCES, Search, choose, find_event, name_unit, play_through
from genial_env import Rules, use_backend
from genial_env._util.shutdown import handle_signals
from genial_env.analysis.judge import LEVELS, RolloutJudge
from genial_env.analysis.proofs import write_proof
from genial_env.analysis.puzzles import JUDGED_KINDS, KINDS, LESSONS, Puzzle, read_puzzles
from genial_env.core import kernel
from genial_env.core.arrays import Ints
from genial_env.core.chance import bits, game_seeds
from genial_env.core.placement_values import equivalence_keys
from genial_env.core.state import Phase, State
from genial_env.core.views import view
from genial_env.policies.base import NONE
from genial_env.policies.registry import make_policy
from genial_env.records import Recorder, record_writer, truncate

MIN_ADVANTAGE = 0.06
"""The least difference in value between the best action and any other one of a judged puzzle."""

MIN_ERRORS = 4.0
"""The least such difference in standard errors."""

MANY = {"endgame": 45, "immediate win": 45, "double bonus": 20, "swap": 20}
"""The most proved puzzles of each kind and source."""

WANTED = {Rules(2): 150, Rules(3): 36, Rules(4): 30, Rules(4, "2009", "team"): 24}
"""The number of judged puzzles by rules."""

_BATCH = 60
"""The number of games that are played at a time."""

_SHARE = 4
"""One in so many decisions is looked at."""


@dataclass
class Args:
    """The options of the command line."""

    seed: int = 2026
    """seed of the games"""
    share: float = 1.0
    """share of the puzzles to make"""
    out: Path = LESSONS
    """file for the puzzles"""


def find_proved(seed: int, share: float) -> list[Puzzle]:
    """Return proved puzzles of all kinds."""
    found: list[Puzzle] = []
    for number, source in enumerate(track(SOURCES, "proved")):
        wanted = {kind: max(1, round(share * MANY[kind])) for kind in source.wanted}
        larger = replace(source, wanted=wanted)
        found += choose(larger, Search(larger, seed + 100 * number, share).run())
    return found


# Judged puzzles


@dataclass(frozen=True)
class Decision:
    """A decision of a game that may be a puzzle."""

    row: int
    number: int  # of the decision in its game
    advantage: float  # predicted, of the best action over any other one


def find_judged(rules: Rules, wanted: int, seed: int) -> Iterator[Puzzle]:
    """Yield judged puzzles, at most one a game, until there are as many as wanted, a third of each kind."""
    lacking = dict.fromkeys(JUDGED_KINDS, -(-wanted // len(JUDGED_KINDS)))
    start = 0
    while any(lacking.values()):
        seeds = game_seeds(seed, _BATCH, start)
        start += _BATCH
        for puzzle in _judge_games(rules, seeds, lacking):
            lacking[puzzle.kind] -= 1
            yield puzzle


def _judge_games(rules: Rules, seeds: Any, lacking: dict[str, int]) -> Iterator[Puzzle]:
    names = ["value"] * rules.players
    recorder = Recorder(kernel.deal(rules, seeds), names, seeds)
    fast, denial = RolloutJudge("fast"), make_policy("denial")
    positions: dict[tuple[int, int], State] = {}
    decisions: list[Decision] = []
    for live in play_through(recorder.state, names, seeds, recorder.apply):
        state = recorder.state
        looked_at = bits(seeds[live], state.decisions[live]) % np.uint64(_SHARE) == 0
        rows = live[looked_at & (state.phase[live] != Phase.SWAP)]
        if not rows.size:
            continue
        seen = view(state.select(rows))
        judged = fast.judge(seen)
        advantage = judged.utility[:, 0] - np.nan_to_num(judged.utility[:, 1], nan=np.inf)
        advantage[_are_equivalent(seen, judged.actions[:, 0], denial(seen, seeds[rows]))] = -1  # too easy
        for index in np.flatnonzero(advantage >= MIN_ADVANTAGE).tolist():
            row = int(rows[index])
            decision = Decision(row, int(state.decisions[row]), float(advantage[index]))
            decisions.append(decision)
            positions[decision.row, decision.number] = state.select(np.array([row]))
    records, lengths = recorder.records(), recorder.state.decisions
    taken: set[int] = set()
    for decision in sorted(decisions, key=lambda each: -each.advantage):
        kind = JUDGED_KINDS[3 * decision.number // int(lengths[decision.row])]
        if decision.row in taken or not lacking[kind]:
            continue
        answer = judge_position(positions[decision.row, decision.number])
        if answer is not None:
            taken.add(decision.row)
            record = records[decision.row]
            yield Puzzle(kind=kind, record=truncate(record, find_event(record, decision.number)), **answer)


def _are_equivalent(seen: Any, first: Ints, second: Ints) -> Any:
    """Return in which games two actions [G] lead to the same position."""
    keys = equivalence_keys(seen, np.stack([first, second], axis=1))
    return keys[:, 0] == keys[:, 1]


def judge_position(state: State) -> dict[str, Any] | None:
    """Judge one position and return the fields of a puzzle except kind and record.

    Returns None if no action is clearly best, or if the endgame solver has an answer.
    """
    seen = view(state)
    judged = RolloutJudge("deep").judge(seen)
    rolled = judged.actions[0] != NONE
    actions, utility, error = judged.actions[0][rolled], judged.utility[0][rolled], judged.error[0][rolled]
    if len(actions) < 2 or not error[1:].any():
        return None
    gaps = utility[0] - utility[1:]
    if not (gaps >= np.maximum(MIN_ADVANTAGE, MIN_ERRORS * error[1:])).all():
        return None
    legal = np.flatnonzero(kernel.legal(state)[0])
    keys, judged_keys = (equivalence_keys(seen, each[None])[0] for each in (legal, actions))
    values = np.full(len(legal), np.nan)
    for key, value in zip(judged_keys, utility.round(DIGITS), strict=True):
        values[keys == key] = value
    level = LEVELS["deep"]
    return {
        "seat": int(state.to_play[0]),
        "best": tuple(legal[keys == judged_keys[0]].tolist()),
        "value": float(utility[0].round(DIGITS)),
        "second": float(utility[1].round(DIGITS)),
        "values": tuple(values.tolist()),
        "unit": name_unit(state.rules),
        "proof": write_proof(
            "rollouts",
            judged=len(actions),
            legal=len(legal),
            deals=level.deals,
            best=float(utility[0]),
            second=float(utility[1]),
            error=float(error[1]),
        ),
        "error": float(error[1].round(DIGITS)),
    }


# The file


def as_line(puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle as the object of a line of a file."""
    found = asdict(puzzle)
    if puzzle.error is None:
        del found["error"]
    found["values"] = [None if np.isnan(value) else value for value in puzzle.values]
    return found


def main(args: Args) -> None:
    """Find the puzzles, write them, and print how many there are of each kind and game."""
    with use_backend("numba"):
        puzzles = find_proved(args.seed, args.share)
        for number, (rules, wanted) in enumerate(WANTED.items()):
            goal = max(1, round(args.share * wanted))
            found = find_judged(rules, goal, args.seed + 1000 + number)
            puzzles += track(found, f"judged, {rules.players} seats {rules.mode}", total=goal)
    order = (*KINDS, *JUDGED_KINDS)
    puzzles.sort(key=lambda puzzle: order.index(puzzle.kind))
    with record_writer(args.out) as write:
        for puzzle in puzzles:
            write(as_line(puzzle))
    show(read_puzzles(args.out))


def show(puzzles: list[Puzzle]) -> None:
    """Print the number of puzzles by kind and rules."""
    kinds = [kind for kind in (*KINDS, *JUDGED_KINDS) if any(puzzle.kind == kind for puzzle in puzzles)]
    table = Table("rules", *kinds, "all")
    for rules in dict.fromkeys(puzzle.rules for puzzle in puzzles):
        mine = [puzzle.kind for puzzle in puzzles if puzzle.rules == rules]
        counts = (str(mine.count(kind)) for kind in kinds)
        table.add_row(f"{rules.players} {rules.edition} {rules.mode}", *counts, str(len(mine)))
    Console().print(table)


if __name__ == "__main__":
    with handle_signals("make_lessons"):
        main(tyro.cli(Args))
