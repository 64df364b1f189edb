"""What do training runs reach, how fast, and how surely over seeds?

    pip install -e '.[arena,train]'
    python -m experiments.report --store runs/value --label "value, two seats"   # keep the finished runs in that folder
    python -m experiments.report                                                 # make the page from all that are kept

Runs are stored in `docs/training` (agents/runs/stored_runs.py), those that differ only in their seeds under one label.
From them docs/learning_curves.md and its pictures are made, and from the files in `genial_env/policies/weights` their
cards. The answer is docs/learning_curves.md; how to read it, docs/training.md.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import tyro

from agents.runs import sentences as words
from agents.runs import stored_runs
from agents.runs.learning_curves import Groups, draw, opponents_of
from agents.runs.model_cards import cards
from agents.runs.runs import ROOT, read_runs
from agents.runs.stored_runs import Stored, groups_of, slug
from agents.runs.strength import FEW, final_strength
from genial_env import Rules
from genial_env._util.files import write_text
from genial_env._util.shutdown import handle_signals
from genial_env.policies import weight_files

PAGE = ROOT / "docs" / "learning_curves.md"
CARDS = weight_files.FOLDER / "README.md"


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    store: tuple[Path, ...] = ()
    """folders with finished runs to keep: all runs in them and below"""
    label: str = ""
    """what the group of these runs is called"""
    replace: bool = False
    """put runs in the place of those that are stored with their label and seed"""


HEAD = """# Learning curves

Made by `python -m experiments.report` from the runs stored in `docs/training`; [Training](training.md) says how to
store one and how to read this page.
"""

FEW_MARK = "†"
FEW_NOTE = f"""{FEW_MARK} of fewer than {FEW} seeds: their plain mean, with the interval of their games alone, which
says nothing of other seeds.
"""


def keep(args: Args) -> list[Path]:
    """Store the runs that the arguments name; the files."""
    if not args.label:
        raise ValueError("--store takes --label too: the name of the group that the runs belong to")
    found = [kept for folder in args.store for kept in read_runs(folder)]
    if not found:
        raise ValueError(f"there are no runs in {', '.join(map(str, args.store))}")
    return stored_runs.store([stored_runs.stored(kept, args.label) for kept in found], stored_runs.FOLDER, args.replace)


def games_of(runs: Sequence[Stored]) -> dict[Rules, dict[str, list[Stored]]]:
    """Groups by what they play, in the order of the games' names."""
    games: dict[Rules, dict[str, list[Stored]]] = {}
    for label, group in groups_of(runs).items():
        games.setdefault(group[0].rules, {})[label] = group
    return dict(sorted(games.items(), key=lambda game: (game[0].players, words.game_title(game[0]))))


def picture_of(rules: Rules) -> str:
    """The name of the file of a game's picture."""
    return f"{slug(words.game_title(rules))}.svg"


def made_of(groups: Groups) -> str:
    """What a picture is made of, short: it is up to date while this stays the same."""
    found = json.dumps([asdict(run) for runs in groups.values() for run in runs])
    return f"stored runs {hashlib.sha256(found.encode()).hexdigest()}"


def page(runs: Sequence[Stored]) -> str:
    """The page of some runs, in Markdown."""
    return "\n".join([HEAD, *(_section(rules, groups) for rules, groups in games_of(runs).items())])


def _section(rules: Rules, groups: Groups) -> str:
    title, table = words.game_title(rules), _table(rules, groups)
    parts = [
        f"## {title}",
        f"![{words.strength_title(rules)} against the clock and against moves](training/{picture_of(rules)})",
        table,
        *([FEW_NOTE] if FEW_MARK in table else []),
        "How they were made:",
        "".join(_made(label, runs) for label, runs in groups.items()),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _table(rules: Rules, groups: Groups) -> str:
    opponents = opponents_of(groups)
    head = ["group", "seeds", *map(words.words_of, opponents), "moves", "by the clock", "CPU"]
    rows = [
        [label, str(len(runs)), *(_cell(rules, runs, opponent) for opponent in opponents), *_costs(runs)]
        for label, runs in groups.items()
    ]
    return words.markdown_table(head, rows)


def _cell(rules: Rules, runs: Sequence[Stored], opponent: str) -> str:
    """The final strength: "95.1% (94.0% to 96.2%)"; marked where it is of few seeds, told where not all have it."""
    found = final_strength(runs, opponent)
    if found is None:
        return "–"
    value, low, high = (words.strength(number, rules) for number in (found.value, found.low, found.high))
    mark = FEW_MARK if found.seeds < FEW else ""
    part = "" if found.seeds == len(runs) else f", {found.seeds} of {len(runs)} seeds"
    return f"{value}{mark} ({low} to {high}{part})"


def _costs(runs: Sequence[Stored]) -> list[str]:
    moves, wall, cpu = (float(np.mean([run.totals[name] for run in runs])) for name in ("moves", "wall_s", "cpu_s"))
    return [words.count(moves), words.duration(wall), words.duration(cpu)]


def _made(label: str, runs: Sequence[Stored]) -> str:
    """A point of a list: command, seeds, commits, machines, and how many games the last evaluations had."""
    command = re.sub(r" --seed[ =]\S+", "", runs[0].command)
    seeds = ", ".join(str(run.seed) for run in runs)
    games = {found["games"] for run in runs for found in run.curve[-1]["against"].values()}
    sittings = [sitting for run in runs for sitting in run.sittings]
    commits = sorted({_short(sitting["commit"]) for sitting in sittings})
    machines = sorted({f"{each['machine']['cpu']}, {each['machine']['cores']} cores" for each in sittings})
    return (
        f"- **{label}**: `{command}` with `--seed` {seeds}; commit {', '.join(commits)}; {'; '.join(machines)}. "
        f"Last evaluation: {' or '.join(f'{n:,}' for n in sorted(games))} games an opponent.\n"
    )


def _short(commit: str | None) -> str:
    """Twelve digits of a commit, with the plus of changed files."""
    return "unknown" if commit is None else commit[:12] + "+" * commit.endswith("+")


def make(runs: Sequence[Stored]) -> None:
    """Write the page, the pictures in the place of those that are there, and the cards."""
    for path in stored_runs.FOLDER.glob("*.svg"):
        path.unlink()
    for rules, groups in games_of(runs).items():
        draw(groups, stored_runs.FOLDER / picture_of(rules), words.strength_title(rules), made_of(groups))
    write_text(PAGE, page(runs))
    write_text(CARDS, cards(CARDS.parent))


def main(args: Args) -> None:
    """Store what is to be stored, and make everything from what is."""
    if args.store:
        for path in keep(args):
            print(f"{path} stored")
    elif args.label or args.replace:
        raise ValueError("--label and --replace are of runs to keep: --store says which")
    make(stored_runs.read(stored_runs.FOLDER))
    print(f"{PAGE} and {CARDS} written")


if __name__ == "__main__":
    with handle_signals("report"):
        main(tyro.cli(Args))
