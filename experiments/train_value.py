"""How strong does a value network become by self-play?

    python -m experiments.train_value --out runs/value

trains :class:`~genial_env.policies.value_net.ValueNet`, which evaluates afterstates. It learns from warmup games of
"denial" first, and then from games against itself and its past selves (:mod:`agents.value.self_play`), with a replay
buffer. The network that plays is the moving average of the one that is trained. At every evaluation it must not lose to
the average before it; otherwise that one is restored. At the end the folder holds `weights.safetensors`, for
``value(weights="...")``.

Actor processes play while this one learns; with `--ray` they are tasks of a Ray cluster. The same command resumes an
interrupted run, which ends with the same weights.

The answer, with numbers and commands: docs/learning_curves.md.
"""

from pathlib import Path

import torch
from rich.console import Console

from agents.runs.checkpoints import load_checkpoint
from agents.runs.config import parse_options
from agents.runs.evaluation import Measured, format_results, measure
from agents.runs.progress import Progress, list_files
from agents.runs.run import Run, open_run, read_runs
from agents.value.actors import Actors
from agents.value.learner import Args, Learner
from agents.value.self_play import Samples, SelfPlayTask, self_play
from genial_env import Policy, use_backend
from genial_env._util.files import replace_path
from genial_env._util.shutdown import handle_signals
from genial_env.policies import weight_files
from genial_env.policies.value import KIND, Value

__all__ = ["CHECKPOINT", "WEIGHTS", "Args", "main"]

CHECKPOINT, WEIGHTS = "checkpoint.pt", "weights.safetensors"


def main(args: Args) -> dict[str, Measured]:
    """Train, or resume training, and return the final network's results by opponent."""
    torch.set_num_threads(args.threads)
    with use_backend("numba"), open_run(args.out, KIND, args) as run:
        return _train(args, run, Console())


def _train(args: Args, run: Run, console: Console) -> dict[str, Measured]:
    learner, tasks = _start_or_resume(args, run)
    with (
        Actors[SelfPlayTask, Samples](self_play, args.actors, "numba", args.ray) as actors,
        Progress(args.total_games, "games", learner.games) as progress,
    ):
        for task in tasks:
            actors.submit(task)
        due = _next_evaluation(learner)
        while learner.games < args.total_games:
            while len(actors.pending) < args.actors + 1:  # one more, so that no actor waits while this process learns
                actors.submit(learner.make_task())
            samples = actors.take_result()
            run.add_cpu(samples.cpu_s)
            learner.learn(samples)
            progress.done = learner.games
            if learner.games >= due:
                due = _next_evaluation(learner)
                progress.phase = "evaluation"
                _evaluate(learner, run, console)
                _save(learner, actors.pending, run)
                progress.phase = ""
    run.finish(learner.moves, learner.games, rejected=learner.rejected)
    print(list_files(args.out))
    final = read_runs(args.out)[0].curve[-1]["against"]
    return {name: Measured(**found) for name, found in final.items()}


def _next_evaluation(learner: Learner) -> int:
    """Return the number of games at which the next evaluation is due: a multiple of the interval, or the end."""
    args = learner.args
    return min((learner.games // args.eval_every + 1) * args.eval_every, args.total_games)


def _evaluate(learner: Learner, run: Run, console: Console) -> dict[str, Measured]:
    """Gate the average in place, evaluate it, write its weights and a line of the learning curve."""
    args = learner.args
    gated = learner.gate()
    opponents: list[str | Policy] = list(args.eval_opponents) if learner.rules.tracks > 1 else []
    if args.best_response_to is not None:
        opponents.append(Value(args.best_response_to, name="frozen"))
    agent = Value(learner.average.arrays())
    against = measure(agent, opponents, learner.rules, args.eval_deals, args.make_eval_seed(1))
    _write_weights(learner, run, against)
    extra = {"loss": learner.loss, "rejected": learner.rejected}
    run.add_evaluation(learner.moves, learner.games, against, **extra, **({"gate": gated.mean} if gated else {}))
    figures = ", ".join(f"{name} {found.mean:.3f}±{found.half:.3f}" for name, found in against.items())
    gate = f", previous average {gated.mean:.3f}" if gated else ""
    done = f"{run.wall_s:7.0f} s {learner.games:9,} games  loss {learner.loss:.4f}"
    console.print(f"{done}  {figures}{gate}", soft_wrap=True)
    return against


def _write_weights(learner: Learner, run: Run, against: dict[str, Measured]) -> None:
    """Write the weights of the average, with metadata of the run."""
    weight_files.write(
        run.folder / WEIGHTS,
        KIND,
        learner.rules,
        learner.average.arrays(),
        command=run.command,
        seed=learner.args.seed,
        games=learner.games,
        moves=learner.moves,
        wall_s=round(run.wall_s),
        cpu_s=round(run.cpu_s),
        results=format_results(against),
    )


def _save(learner: Learner, tasks: list[SelfPlayTask], run: Run) -> None:
    """Write a checkpoint, which replaces the older one once it is complete."""
    state = {"learner": learner.get_state(), "tasks": tasks, "run": run.get_state()}
    with replace_path(run.folder / CHECKPOINT) as beside:
        torch.save(state, beside)


def _start_or_resume(args: Args, run: Run) -> tuple[Learner, list[SelfPlayTask]]:
    """Create the learner, from the checkpoint if there is one, and return it with the tasks that were pending."""
    path: Path = args.out / CHECKPOINT
    if not path.exists():
        learner = Learner.start(args)
        run.set_state(None)
        return learner, []
    state = load_checkpoint(path, [SelfPlayTask])
    run.set_state(state["run"])
    return Learner.restore(args, state["learner"]), state["tasks"]


if __name__ == "__main__":
    with handle_signals("train_value"):
        main(parse_options(Args))
