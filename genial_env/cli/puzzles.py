"""The command that counts the puzzles which an agent solves."""

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from genial_env.analysis import puzzles
from genial_env.backends import for_one_game, using
from genial_env.cli.agent_errors import make_guarded
from genial_env.cli.agent_processes import worker_errors
from genial_env.cli.common import MAX_SEED, app, integer_between
from genial_env.cli.console import add_row, make_table, print_table, print_text
from genial_env.render.sentences import describe_action


@app.command("puzzles")
def solve_puzzles(
    agent: Annotated[str, typer.Argument(help="Agent: a name, module:factory, or engine:COMMAND.")],
    file: Annotated[Path | None, typer.Option(help="File of puzzles; default: those of the package.")] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the agent's random bits.", callback=integer_between(0, MAX_SEED))
    ] = 0,
    verbose: Annotated[bool, typer.Option("--verbose", help="List the puzzles that the agent does not solve.")] = False,
) -> None:
    """Count how many puzzles an agent solves, by kind. A puzzle is a position in which one move is best.

    Puzzles of games that the agent cannot play, for example because it has no weights for them, are skipped.
    """
    with worker_errors(), using(for_one_game()):
        path = file or puzzles.SHIPPED
        found, player = puzzles.read_puzzles(path), make_guarded(agent)
        refused = puzzles.find_refused(player, found)
        playable = [number for number, puzzle in enumerate(found, 1) if puzzle.rules not in refused]
        if found and not playable:
            raise ValueError(next(iter(refused.values())))
        answers = puzzles.score(player, [found[number - 1] for number in playable], seed)
    print_table(_make_puzzle_table(agent, answers))
    for rules, reason in refused.items():
        print_text(f"{sum(puzzle.rules == rules for puzzle in found)} puzzles are skipped: {reason}")
    for number, answer in zip(playable, answers, strict=True):
        if verbose and not answer.solved:
            print_text(f"{path}:{number}: {_describe_mistake(answer)}", indent=2)


def _make_puzzle_table(agent: str, answers: list[puzzles.Answer]) -> Table:
    table = make_table(
        ["kind", "puzzles", "solved", "share", "mean loss"],
        title=f"{agent} on {len(answers)} puzzles",
        caption="mean loss: of rank utility, +1 first to -1 last, over moves that have a value",
    )
    for kind in (*puzzles.KINDS, *puzzles.JUDGED_KINDS, "all"):
        of_kind = [answer for answer in answers if kind in (answer.puzzle.kind, "all")]
        if of_kind:
            solved = sum(answer.solved for answer in of_kind)
            losses = [
                answer.lost
                for answer in of_kind
                if answer.puzzle.unit == "rank utility" and not math.isnan(answer.lost)
            ]
            loss = f"{sum(losses) / len(losses):.3f}" if losses else ""
            add_row(table, kind, str(len(of_kind)), str(solved), f"{solved / len(of_kind):.0%}", loss)
    return table


def _describe_mistake(answer: puzzles.Answer) -> str:
    puzzle = answer.puzzle
    played, best = (describe_action(puzzle.state, action) for action in (answer.action, puzzle.best[0]))
    lost = "an unknown part" if math.isnan(answer.lost) else f"{answer.lost:.3f}"
    return f"{puzzle.kind}: played {played}; best is {best}; lost {lost} {puzzle.unit}. {puzzle.proof}"
