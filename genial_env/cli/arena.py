"""Commands that compare agents."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.table import Table

from genial_env.arena import match as matches
from genial_env.arena import report, tournament
from genial_env.arena.corrected import check_correction
from genial_env.arena.isolation import Isolation
from genial_env.arena.pictures import FORMATS, best_first, check_formats
from genial_env.arena.sprt import Sprt
from genial_env.arena.store import MAX_GROUPS, Settings
from genial_env.cli.agent_processes import Workers, make_isolation, print_reasons, worker_errors
from genial_env.cli.common import (
    BackendName,
    Seed,
    app,
    check_seconds,
    check_writable,
    choose_backend,
    format_rules,
    integer_between,
    one_line_errors,
)
from genial_env.cli.console import add_row, make_table, print_table, print_text, progress_bar
from genial_env.cli.options import gathers, make_match_rules, make_rules
from genial_env.core.rules import Rules
from genial_env.policies.registry import expand, split_names

Cluster = Annotated[bool, typer.Option("--ray", help="Run the processes with Ray, on all machines of its cluster.")]
VarianceReduction = Annotated[
    bool,
    typer.Option(
        "--variance-reduction", help="Give also results that are corrected for luck; a match is tested on them."
    ),
]
Anchor = Annotated[str, typer.Option(help="Agent whose rating is 0. If it does not play, the mean rating is 0.")]


@app.command("tournament")
@gathers(rules=make_rules, isolation=make_isolation)
def play_tournament(
    *,
    out: Annotated[
        Path, typer.Argument(help="Directory for the results. An interrupted tournament there is continued.")
    ],
    agents: Annotated[
        str,
        typer.Option(
            help="Agents separated by commas: names, module:factory, or engine:COMMAND, with settings as (name=value); "
            "ladder: all scripted ones."
        ),
    ] = "ladder",
    rules: Rules,
    groups: Annotated[
        int,
        typer.Option(
            help="Number of deals. With each deal every lineup plays in every rotation of the seats.",
            callback=integer_between(1, MAX_GROUPS),
        ),
    ] = 100,
    seed: Seed = 0,
    anchor: Anchor = "greedy",
    records: Annotated[bool, typer.Option(help="Keep game records.")] = True,
    variance_reduction: VarianceReduction = False,
    pictures: Annotated[bool, typer.Option(help="Draw charts of ratings, win rates and lowest markers.")] = True,
    workers: Workers = 1,
    ray: Cluster = False,
    isolation: Isolation,
    backend: BackendName = None,
    pictures_as: Annotated[
        str, typer.Option(help=f"Formats of the charts, separated by commas: {', '.join(FORMATS)}.")
    ] = FORMATS[0],
) -> None:
    """Play a round robin between agents: ratings with confidence intervals, tables and charts."""
    with worker_errors(), progress_bar() as bar:
        report.check_extras(pictures)
        formats = check_formats(split_names(pictures_as))
        if variance_reduction:
            check_correction(rules, records)
        _check_names(split_names(agents))
        settings = Settings(tuple(expand(agents)), rules, groups, seed, records)
        task = bar.add_task("games", total=None)
        store = tournament.run(
            settings,
            out,
            workers=workers,
            joblib_backend=_choose_joblib_backend(ray),
            backend=choose_backend(backend, 1),
            isolation=isolation,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
        found = report.write(
            store,
            anchor=_find_anchor(anchor, settings.agents),
            variance_reduction=variance_reduction,
            pictures=pictures,
            formats=formats,
        )
    _print_ranking(found)
    if store.settings.groups > groups:
        print_text(f"{out} holds {store.settings.groups:,} deals, more than the {groups:,} of --groups: all are shown")
    print(f"results are in {out}")


@app.command("rate")
@gathers(rules=make_rules, isolation=make_isolation)
def rate_agent(
    *,
    agent: Annotated[str, typer.Argument(help="Agent to rate: a name, module:factory, or engine:COMMAND.")],
    against: Annotated[
        str, typer.Option(help="Opponents separated by commas; ladder: all scripted agents.")
    ] = "ladder",
    rules: Rules,
    seconds: Annotated[float, typer.Option(help="Seconds to play, about.")] = 100.0,
    seed: Seed = 0,
    anchor: Anchor = "greedy",
    out: Annotated[Path | None, typer.Option(help="Write the results and records to this directory.")] = None,
    variance_reduction: VarianceReduction = False,
    workers: Workers = 1,
    isolation: Isolation,
    backend: BackendName = None,
) -> None:
    """Rate an agent against known ones, with as many games as the time allows."""
    check_seconds(seconds)
    with worker_errors(), progress_bar() as bar:
        report.check_extras(pictures=out is not None)
        records = out is not None or variance_reduction
        if variance_reduction:
            check_correction(rules, records)
        opponents = split_names(against)
        _check_names([agent, *opponents], ": it is among its opponents" if agent in opponents else "")
        agents = tuple(dict.fromkeys([agent, *expand(against)]))
        task = bar.add_task("games", total=None)
        with TemporaryDirectory() as scrap:
            store = tournament.run_within(
                seconds,
                Settings(agents, rules, seed=seed, records=records),
                out or Path(scrap),
                workers=workers,
                backend=choose_backend(backend, 1),
                isolation=isolation,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
            fixed = _find_anchor(anchor, agents)
            if out is None:
                found = report.report(store, fixed, variance_reduction).to_dict()
            else:
                found = report.write(store, anchor=fixed, variance_reduction=variance_reduction)
    _print_ranking(found)
    print_text(_describe_standing(found, 0))


def _check_names(names: list[str], why: str = "") -> None:
    """Check that no agent is named twice. It may stand beside "ladder", which it may be one of.

    Args:
        names: the agents as the user named them.
        why: what the message ends with.

    Raises:
        ValueError: if one is.
    """
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"every agent is named once, and {', '.join(twice)} is named more often{why}")


def _describe_standing(found: dict[str, Any], agent: int) -> str:
    """Return a sentence about the rank of an agent."""
    names, rating = found["ratings"]["names"], found["ratings"]["rating"]
    order = best_first(found)
    low = rating["low"][agent]
    surely_above = [
        names[other]
        for other in order
        if low is not None and rating["high"][other] is not None and rating["high"][other] < low
    ]
    below = f"; its interval lies above those of {', '.join(surely_above)}" if surely_above else ""
    place = order.index(agent) + 1
    return f"{names[agent]}: place {place} of {len(names)}, rating {report.signed(rating['value'][agent])}{below}"


@app.command("match")
@gathers(rules=make_match_rules, isolation=make_isolation)
def play_match(
    *,
    first: Annotated[str, typer.Argument(help="Agent A: a name, module:factory, or engine:COMMAND.")],
    second: Annotated[str, typer.Argument(help="Agent B.")],
    sprt: Annotated[
        tuple[float, float],
        typer.Option(
            help="Elo differences of the two hypotheses: A is better by at most the first, or by at least the second."
        ),
    ] = (0.0, 30.0),
    alpha: Annotated[float, typer.Option(help="Probability to find A better although it is not.")] = 0.05,
    beta: Annotated[float, typer.Option(help="Probability to miss that A is better.")] = 0.05,
    pairs: Annotated[
        int, typer.Option(help="Most pairs of games.", callback=integer_between(1, MAX_GROUPS))
    ] = matches.MAX_PAIRS,
    fixed: Annotated[bool, typer.Option("--fixed", help="Play all pairs, without a test.")] = False,
    variance_reduction: VarianceReduction = False,
    rules: Rules,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Write the result to this file, as JSON.")] = None,
    workers: Workers = 1,
    ray: Cluster = False,
    isolation: Isolation,
    backend: BackendName = None,
) -> None:
    """Test whether A is better than B: play seat-swapped pairs of games until a sequential test has a verdict."""
    check_writable(out)
    with worker_errors(), progress_bar() as bar:
        task = bar.add_task("pairs", total=pairs)
        found = matches.play_match(
            first,
            second,
            rules,
            sprt=None if fixed else Sprt(*sprt, alpha=alpha, beta=beta),
            pairs=pairs,
            seed=seed,
            workers=workers,
            joblib_backend=_choose_joblib_backend(ray),
            backend=choose_backend(backend, 1),
            isolation=isolation,
            variance_reduction=variance_reduction,
            progress=lambda match: bar.update(
                task, completed=int(match.counts.sum()), description=_describe_score(match)
            ),
        )
    if out is not None:
        with one_line_errors():
            matches.write_match(out, found)
    print_table(_make_match_table(found))
    print_reasons((found.agents[agent], reason) for agent, reason in sorted(found.reasons.items()))
    print_text(_describe_verdict(found))


def _describe_score(match: matches.Match) -> str:
    return f"pairs ({match.estimate.score:.1%})" if match.counts.sum() else "pairs"


def _make_match_table(match: matches.Match) -> Table:
    estimate = match.estimate
    title = f"{match.agents[0]} against {match.agents[1]}, {format_rules(match.rules.to_dict())}"
    table = make_table(["", "value"], title=title)
    rows = {
        "pairs of games": f"{estimate.pairs:,}",
        "pairs that scored 0, ¼, ½, ¾, 1": " ".join(str(count) for count in match.counts.tolist()),
        "score": f"{estimate.score:.1%} ({estimate.score_low:.1%} to {estimate.score_high:.1%})",
        "Elo": f"{estimate.elo:+.0f} ({report.format_interval(estimate.elo_low, estimate.elo_high)})",
        "likelihood of superiority": f"{estimate.superiority:.1%}",
        "ms a move": " and ".join(f"{ms:.3g}" for ms in match.ms_per_move),
        "forfeits": " and ".join(str(count) for count in match.forfeits),
    }
    if match.corrected is not None:
        found = match.corrected
        rows["score corrected for luck"] = f"{found.score:.1%} ({found.low:.1%} to {found.high:.1%})"
        rows["variance explained by luck"] = f"{found.explained:.0%}"
    if match.sprt is not None and match.llr is not None:
        low, high = match.sprt.bounds
        rows["log-likelihood ratio"] = f"{match.llr:+.2f} (bounds {low:+.2f}, {high:+.2f})"
    for name, value in rows.items():
        add_row(table, name, value)
    return table


def _describe_verdict(match: matches.Match) -> str:
    first, second = match.agents
    if match.sprt is None:
        return f"no test: {match.estimate.pairs} pairs played"
    if match.verdict == "H1":
        return f"verdict: {first} is better than {second} (H1: by {match.sprt.elo1:g} Elo)"
    if match.verdict == "H0":
        return f"verdict: {first} is not better than {second} by as much (H0: by {match.sprt.elo0:g} Elo or less)"
    return f"no verdict after {match.estimate.pairs} pairs: give more with --pairs"


def _print_ranking(found: dict[str, Any]) -> None:
    corrected = found["corrected"]
    columns = ["agent", "rating", "95%", "mean utility", "mean lowest", "ms a move", "forfeits"]
    if corrected is not None:
        columns.insert(4, f"{corrected['unit']}, corrected for luck")
    table = make_table(columns, title=f"{found['games']:,} games, {format_rules(found['settings']['rules'])}")
    ratings = found["ratings"]
    for agent in best_first(found):
        low, high = (ratings["rating"][end][agent] for end in ("low", "high"))
        ms = found["ms_per_move"][agent]
        add_row(
            table,
            ratings["names"][agent],
            report.signed(ratings["rating"]["value"][agent]),
            report.format_interval(low, high),
            report.signed(ratings["utility"]["value"][agent], 3),
            *([_format_corrected(corrected["mean"], agent)] if corrected is not None else []),
            f"{ratings['markers'][agent][0]:.2f}",
            "" if ms is None else f"{ms:.3g}",
            str(found["forfeits"][agent]),
        )
    print_table(table)
    print_reasons((ratings["names"][int(agent)], reason) for agent, reason in found["reasons"].items())


def _format_corrected(mean: dict[str, Any], agent: int) -> str:
    value, low, high = (mean[end][agent] for end in ("value", "low", "high"))
    return f"{report.signed(value, 3)} ({report.format_interval(low, high, 3)})"


def _find_anchor(name: str, agents: tuple[str, ...]) -> tuple[str, float] | None:
    return (name, 0.0) if name in agents else None


def _choose_joblib_backend(ray: bool) -> str:
    return "ray" if ray else "loky"
