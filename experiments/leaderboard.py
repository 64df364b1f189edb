"""Which agents are the strongest, for every number of seats, in teams and solo?

    pip install -e '.[fast,arena,train]'
    python -m experiments.leaderboard                      # write docs/leaderboard.md from the stored results
    python -m experiments.leaderboard --play --workers 2   # play first (an hour of CPU time) and store the results

The tournament of each board is played in `runs/leaderboard`; the same command resumes it after an interruption. Its
results are stored in `docs/leaderboard`.

The answer: docs/leaderboard.md.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import tyro
from rich.progress import Progress

from genial_env import Rules
from genial_env._util.files import write_json, write_text
from genial_env._util.shutdown import handle_signals
from genial_env.arena import report, tournament
from genial_env.arena.store import Settings

ROOT = Path(__file__).parents[1]
STORED = ROOT / "docs" / "leaderboard"
PAGE = ROOT / "docs" / "leaderboard.md"

SCRIPTED = ("random", "points", "greedy", "lexicographic", "concave", "denial")
STRONG = ("greedy", "denial")
SEARCH = ("search(playouts=300)",)
LEARNED = ("value", "value_search(playouts=100)")


class Board(NamedTuple):
    """The tournament of one table."""

    title: str
    rules: Rules
    agents: tuple[str, ...]
    groups: int


BOARDS = {
    "2-seats": Board("Two seats", Rules(2), (*SCRIPTED, *SEARCH, *LEARNED, "ppo"), 40),
    "3-seats": Board("Three seats", Rules(3), (*STRONG, *LEARNED, "ppo"), 40),
    "4-seats": Board("Four seats", Rules(4), (*STRONG, *LEARNED, "ppo"), 40),
    "team": Board("Teams", Rules(4, "2009", "team"), (*STRONG, *LEARNED, "ppo"), 40),
    "solo": Board("Solo", Rules(1, "2009", "solo"), (*SCRIPTED, *SEARCH, *LEARNED), 100),
}


@dataclass
class Args:
    """The options of the command line."""

    play: bool = False
    """play what has not been played yet, and store the results"""
    boards: tuple[str, ...] = tuple(BOARDS)
    """boards to play: 2-seats, 3-seats, 4-seats, team, solo"""
    share: float = 1.0
    """share of the deals to play"""
    workers: int = 1
    """number of processes"""
    out: Path = ROOT / "runs" / "leaderboard"
    """folder of the tournaments"""


def play_board(name: str, args: Args) -> None:
    """Play the tournament of a board and store its results."""
    board = BOARDS[name]
    settings = Settings(board.agents, board.rules, max(1, round(args.share * board.groups)), seed=2025)
    with Progress(transient=True) as bar:
        task = bar.add_task(name, total=None)
        store = tournament.run(
            settings,
            args.out / name,
            workers=args.workers,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    STORED.mkdir(exist_ok=True)
    write_json(STORED / f"{name}.json", report.write(store, anchor=("greedy", 0.0)))


def make_page() -> str:
    """Make the leaderboard, in Markdown, from the stored results."""
    parts = [HEAD]
    for name, board in BOARDS.items():
        path = STORED / f"{name}.json"
        found = report.markdown(report.read_report(path)) if path.exists() else NOT_PLAYED.format(name=name)
        parts.append(f"## {board.title}\n\n{found}")
    return "\n".join([*parts, TAIL])


HEAD = """# Leaderboard

Made by `python -m experiments.leaderboard` from the results in `docs/leaderboard`; with `--play` the tournaments are
played again. The edition is 2025, for teams and solo 2009. Every agent plays every other one in every seat with the
same deals. The rating of greedy is 0. In solo, agents are compared deal by deal: the better result of a deal is a win.
The time per move is wall time on one core, divided by the number of games for agents that play many games at once. It
includes waiting where the machine had other work, so compare times only within a table.
The networks of `value`, `value_search` and `ppo` are of one seed each, so these tables say nothing about other seeds.
"""

NOT_PLAYED = """Not played with the agents of this version: `python -m experiments.leaderboard --play --boards {name}`.
"""

TAIL = """## Enter

An agent is a callable with a name. It takes the views of many games and returns an action id for each of them ([your
own agent](policies.md)). Write a factory in a module of your own, check it, and rate it:

```sh
python -c 'from genial_env.testing import check_policy; import my_module; check_policy(my_module.make())'
genial rate my_module:make --against ladder
```

The second command takes about two minutes and rates the agent among the scripted ones. To enter the leaderboard, an
agent

- passes `check_policy` for the boards that it enters: it uses nothing hidden and no other random numbers than the given
  bits;
- forfeits no game in `genial rate`;
- has a line in `genial_env/policies/roster.py` and in `experiments/leaderboard.py`. The results of `--play` are
  committed with it.
"""


def main(args: Args) -> None:
    """Play and store, if the options say so, and write the page."""
    for name in args.boards:
        if name not in BOARDS:
            raise SystemExit(f"unknown board {name!r}: the boards are {', '.join(BOARDS)}")
        if args.play:
            play_board(name, args)
    write_text(PAGE, make_page())
    print(f"{PAGE} written")


if __name__ == "__main__":
    with handle_signals("leaderboard"):
        main(tyro.cli(Args))
