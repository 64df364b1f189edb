"""What do training runs reach, how fast, and how surely over seeds?

    pip install -e '.[arena,train]'
    python -m experiments.report --store runs/value --label "value, two seats"   # store the finished runs of a folder
    python -m experiments.report                                                 # make the page from all stored runs

Runs are stored in `docs/training` (agents/runs/stored_runs.py). Runs that differ only in their seeds have the same
label. The command makes docs/learning_curves.md with its pictures from the stored runs, and the README of
`genial_env/policies/weights` from the weight files.

The answer: docs/learning_curves.md. docs/training.md says how to read it.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import tyro

from agents.runs import formatting, stored_runs
from agents.runs.learning_curves import Groups, collect_opponents, draw
from agents.runs.model_cards import make_cards
from agents.runs.run import ROOT, read_runs
from agents.runs.stored_runs import Stored, group_runs, make_slug
from agents.runs.strength import MIN_SEEDS, compute_final_strength
from genial_env import Rules
from genial_env._util.files import write_text
from genial_env._util.shutdown import handle_signals
from genial_env.policies import weight_files

PAGE = ROOT / "docs" / "learning_curves.md"
CARDS = weight_files.FOLDER / "README.md"


@dataclass
class Args:
    """The options of the command line."""

    store: tuple[Path, ...] = ()
    """folders with finished runs to store: all runs in them and below"""
    label: str = ""
    """label of the group of these runs"""
    replace: bool = False
    """replace stored runs with the same label and seed"""


HEAD = """# Learning curves

Made by `python -m experiments.report` from the runs stored in `docs/training`. [Training](training.md#storing-runs)
says how to store a run and how to read this page.
"""

FEW_SEEDS_MARK = "†"
FEW_SEEDS_NOTE = f"""{FEW_SEEDS_MARK} fewer than {MIN_SEEDS} seeds: their plain mean, with an interval over their games
only, which says nothing about other seeds.
"""


def store_runs(args: Args) -> list[Path]:
    """Store the runs that the options name, and return the paths of their files."""
    if not args.label:
        raise ValueError("--store needs --label, the label of the group of the runs")
    found = [kept for folder in args.store for kept in read_runs(folder)]
    if not found:
        raise ValueError(f"there are no runs in {', '.join(map(str, args.store))}")
    runs = [stored_runs.make_stored(kept, args.label) for kept in found]
    return stored_runs.store(runs, stored_runs.FOLDER, args.replace)


def group_by_rules(runs: Sequence[Stored]) -> dict[Rules, dict[str, list[Stored]]]:
    """Group runs by rules, sorted by the games' titles, and then by label."""
    games: dict[Rules, dict[str, list[Stored]]] = {}
    for label, group in group_runs(runs).items():
        games.setdefault(group[0].rules, {})[label] = group
    return dict(sorted(games.items(), key=lambda game: (game[0].players, formatting.make_game_title(game[0]))))


def name_picture(rules: Rules) -> str:
    """Return the file name of the picture of a game."""
    return f"{make_slug(formatting.make_game_title(rules))}.svg"


def describe_source(groups: Groups) -> str:
    """Describe the data of a picture by a hash. The picture is up to date as long as it stays the same."""
    found = json.dumps([asdict(run) for runs in groups.values() for run in runs])
    return f"stored runs {hashlib.sha256(found.encode()).hexdigest()}"


def make_page(runs: Sequence[Stored]) -> str:
    """Make the page of some runs, in Markdown."""
    return "\n".join([HEAD, *(_make_section(rules, groups) for rules, groups in group_by_rules(runs).items())])


def _make_section(rules: Rules, groups: Groups) -> str:
    title, table = formatting.make_game_title(rules), _make_table(rules, groups)
    strength = formatting.make_strength_title(rules)
    parts = [
        f"## {title}",
        f"![{strength} over wall time and over moves](training/{name_picture(rules)})",
        table,
        *([FEW_SEEDS_NOTE] if FEW_SEEDS_MARK in table else []),
        "Commands:",
        "".join(_format_origin(label, runs) for label, runs in groups.items()),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _make_table(rules: Rules, groups: Groups) -> str:
    opponents = collect_opponents(groups)
    head = ["group", "seeds", *map(formatting.format_against, opponents), "moves", "wall time", "CPU time"]
    rows = [
        [label, str(len(runs)), *(_format_cell(rules, runs, opponent) for opponent in opponents), *_format_costs(runs)]
        for label, runs in groups.items()
    ]
    return formatting.format_table(head, rows)


def _format_cell(rules: Rules, runs: Sequence[Stored], opponent: str) -> str:
    """Format the final strength as "95.1% (94.0% to 96.2%)", with remarks if there are few or not all seeds."""
    found = compute_final_strength(runs, opponent)
    if found is None:
        return "–"
    value, low, high = (formatting.format_strength(number, rules) for number in (found.value, found.low, found.high))
    mark = FEW_SEEDS_MARK if found.seeds < MIN_SEEDS else ""
    part = "" if found.seeds == len(runs) else f", {found.seeds} of {len(runs)} seeds"
    return f"{value}{mark} ({low} to {high}{part})"


def _format_costs(runs: Sequence[Stored]) -> list[str]:
    moves, wall, cpu = (float(np.mean([run.totals[name] for run in runs])) for name in ("moves", "wall_s", "cpu_s"))
    return [formatting.format_count(moves), formatting.format_duration(wall), formatting.format_duration(cpu)]


def _format_origin(label: str, runs: Sequence[Stored]) -> str:
    """Format a list item: command, seeds, commits, machines, and the number of games of the last evaluations."""
    command = re.sub(r" --seed[ =]\S+", "", runs[0].command)
    seeds = ", ".join(str(run.seed) for run in runs)
    games = {found["games"] for run in runs for found in run.curve[-1]["against"].values()}
    sessions = [session for run in runs for session in run.sessions]
    commits = sorted({_shorten(session["commit"]) for session in sessions})
    machines = sorted({f"{each['machine']['cpu']}, {each['machine']['cores']} cores" for each in sessions})
    return (
        f"- **{label}**: `{command}` with `--seed` {seeds}; commit {', '.join(commits)}; {'; '.join(machines)}. "
        f"Last evaluation: {' or '.join(f'{n:,}' for n in sorted(games))} games per opponent.\n"
    )


def _shorten(commit: str | None) -> str:
    """Return twelve digits of a commit, with a plus if files had been changed."""
    return "unknown" if commit is None else commit[:12] + "+" * commit.endswith("+")


def write_pages(runs: Sequence[Stored]) -> None:
    """Write the page, its pictures and the README of the weights, replacing older ones."""
    for path in stored_runs.FOLDER.glob("*.svg"):
        path.unlink()
    for rules, groups in group_by_rules(runs).items():
        draw(
            groups,
            stored_runs.FOLDER / name_picture(rules),
            formatting.make_strength_title(rules),
            describe_source(groups),
        )
    write_text(PAGE, make_page(runs))
    write_text(CARDS, make_cards(CARDS.parent))


def main(args: Args) -> None:
    """Store runs, if the options name any, and write the pages."""
    if args.store:
        for path in store_runs(args):
            print(f"{path} stored")
    elif args.label or args.replace:
        raise ValueError("--label and --replace need --store, the folders of the runs")
    write_pages(stored_runs.read(stored_runs.FOLDER))
    print(f"{PAGE} and {CARDS} written")


if __name__ == "__main__":
    with handle_signals("report"):
        main(tyro.cli(Args))
