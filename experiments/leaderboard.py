"""Which agents are the strongest, for every number of seats, in teams and alone?

    pip install -e '.[fast,arena,train]'
    python -m experiments.leaderboard                      # docs/leaderboard.md from the stored results
    python -m experiments.leaderboard --play --workers 2   # play them anew (an hour of CPU), store them, and the same

A tournament for each board is played in `runs/leaderboard`, broken off and gone on with at will; what it says is stored
in `docs/leaderboard`. The answer is docs/leaderboard.md.
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
STRONG = ("greedy", "concave", "denial")
SEARCH = ("search(playouts=300)",)
LEARNED = ("value", "value_search(playouts=100)")


class Board(NamedTuple):
    """One table."""

    title: str
    rules: Rules
    agents: tuple[str, ...]
    groups: int


BOARDS = {
    "2-seats": Board("Two seats", Rules(2), (*SCRIPTED, *SEARCH, *LEARNED, "ppo"), 40),
    "3-seats": Board("Three seats", Rules(3), (*STRONG, *SEARCH, *LEARNED), 8),
    "4-seats": Board("Four seats", Rules(4), (*STRONG, *SEARCH, *LEARNED), 2),
    "team": Board("Teams", Rules(4, "2009", "team"), (*STRONG, *SEARCH, *LEARNED), 6),
    "solo": Board("Solo", Rules(1, "2009", "solo"), (*SCRIPTED, *SEARCH, *LEARNED), 100),
}


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    play: bool = False
    """play what is not yet played, and store what it says"""
    boards: tuple[str, ...] = tuple(BOARDS)
    """which to play: 2-seats, 3-seats, 4-seats, team, solo"""
    share: float = 1.0
    """play this share of the deals only"""
    workers: int = 1
    """processes"""
    out: Path = ROOT / "runs" / "leaderboard"
    """where the tournaments are kept"""


def play(name: str, args: Args) -> None:
    """Play a board and store what it says."""
    board = BOARDS[name]
    settings = Settings(board.agents, board.rules, max(1, round(args.share * board.groups)), seed=2025)
    with Progress(transient=True) as bar:
        task = bar.add_task(name, total=None)
        store = tournament.run(
            settings,
            args.out / name,
            workers=args.workers,
            tell=lambda done, total: bar.update(task, completed=done, total=total),
        )
    STORED.mkdir(exist_ok=True)
    write_json(STORED / f"{name}.json", report.write(store, anchor=("greedy", 0.0)))


def page() -> str:
    """The leaderboard, in Markdown, from what is stored."""
    parts = [HEAD]
    for name, board in BOARDS.items():
        path = STORED / f"{name}.json"
        if path.exists():
            parts.append(f"## {board.title}\n\n{report.markdown(report.read_report(path))}")
    return "\n".join([*parts, TAIL])


HEAD = """# Leaderboard

Made by `python -m experiments.leaderboard` from the results in `docs/leaderboard`; `--play` plays them anew. Edition
2025; teams and solo 2009. Every agent meets every other in every seat with the same deals; greedy's rating is 0. In
solo the agents are compared deal by deal: a win is a better result of the same deal. Milliseconds a move are of one
core; of agents that answer many games at once, each game's share.
"""

TAIL = """## Enter

An agent is a callable with a name: views of many games in, an action id for each out ([your own agent](policies.md)).
Write a factory in a module of yours, check it, and rate it:

```sh
python -c 'from genial_env.testing import check_policy; import my_module; check_policy(my_module.make())'
genial rate my_module:make --against ladder
```

The second takes about two minutes and says where it stands among the scripted agents. To enter here, an agent

- passes `check_policy` for the boards that it enters: it looks at nothing hidden, its randomness is that of the bits;
- forfeits no game in `genial rate`;
- has a line in `genial_env/policies/roster.py` and in `experiments/leaderboard.py`; the results of `--play` are
  committed with it.
"""


def main(args: Args) -> None:
    """Play, store, and write the page."""
    for name in args.boards:
        if name not in BOARDS:
            raise SystemExit(f"unknown board {name!r}: the boards are {', '.join(BOARDS)}")
        if args.play:
            play(name, args)
    write_text(PAGE, page())
    print(f"{PAGE} written")


if __name__ == "__main__":
    with handle_signals("leaderboard"):
        main(tyro.cli(Args))
