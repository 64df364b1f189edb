"""Which hyperparameters of MaskablePPO learn fastest on a small board?

    python -m experiments.tune_ppo --out runs/tune

searches with Optuna (extra tune). A trial trains the structured network (agents/ppo/structured_net.py) against
"greedy" and is judged by the share of games that it wins against it. Trials that are worse than the median of the
others at the same number of decisions are pruned. The folder then holds

    study.db       all trials; the same command continues them
    best.yaml      the best hyperparameters

An example to begin with: change :func:`suggest` and :func:`make_model` for your own network.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
import torch
import tyro
import yaml
from rich.console import Console
from sb3_contrib import MaskablePPO

from agents.ppo.ladder_callback import LadderCallback
from agents.ppo.masked import PackedMaskDictRolloutBuffer
from agents.ppo.structured_net import StructuredPolicy
from genial_env import Rules
from genial_env._util.files import lock_folder, write_text
from genial_env._util.shutdown import handle_signals
from genial_env.envs.sb3 import GenialVecEnv

__all__ = ["Args", "main"]

OPPONENT = "greedy"
BATCH_SIZES = [256, 512, 1024]


@dataclass
class Args:
    """The options of the command line."""

    trials: int = 10
    """trials in all, those of former sessions included"""
    total_timesteps: int = 24_576
    """decisions of the learning seat in a trial"""
    evaluations: int = 6
    """evaluations of a trial, after each of which it may be pruned"""
    eval_deals: int = 200
    """deals of an evaluation, each played from both seats"""
    n_envs: int = 64
    """games at a time"""
    side: int = 4
    """cells along an edge of the board"""
    colors: int = 4
    """number of colors"""
    rack: int = 3
    """tiles on a rack"""
    seed: int = 0
    """seed of the search and of every trial"""
    threads: int = 1
    """threads of torch"""
    out: Path = Path("runs/tune")
    """folder of the results"""

    @property
    def rules(self) -> Rules:
        """The rules of the games."""
        return Rules(side=self.side, colors=self.colors, rack=self.rack)


def suggest(trial: optuna.Trial) -> dict[str, Any]:
    """Return the hyperparameters of a trial, with the names of Stable-Baselines3."""
    return {
        "learning_rate": trial.suggest_float("learning_rate", 1e-4, 1e-2, log=True),
        "n_steps": trial.suggest_categorical("n_steps", [16, 32, 64]),
        "batch_size": trial.suggest_categorical("batch_size", BATCH_SIZES),
        "n_epochs": trial.suggest_int("n_epochs", 1, 6),
        "gae_lambda": trial.suggest_float("gae_lambda", 0.8, 1.0),
        "clip_range": trial.suggest_float("clip_range", 0.05, 0.3),
        "ent_coef": trial.suggest_float("ent_coef", 1e-4, 0.1, log=True),
    }


def make_model(args: Args, settings: dict[str, Any]) -> MaskablePPO:
    """Return the model of a trial, with its environment."""
    rules = args.rules
    env = GenialVecEnv(
        args.n_envs,
        opponents=OPPONENT,
        seat="random",
        side=rules.side,
        colors=rules.colors,
        rack=rules.rack,
        seed=args.seed,
    )
    return MaskablePPO(
        StructuredPolicy,
        env,
        gamma=1.0,
        rollout_buffer_class=PackedMaskDictRolloutBuffer,
        policy_kwargs={"rules_arguments": rules.to_dict()},
        seed=args.seed,
        device="cpu",
        **settings,
    )


class PruningCallback(LadderCallback):
    """Reports every evaluation to Optuna, and stops the training if the trial is to be pruned."""

    def __init__(self, trial: optuna.Trial, args: Args) -> None:
        super().__init__(
            args.rules,
            max(1, args.total_timesteps // args.evaluations),
            opponents=[OPPONENT],
            deals=args.eval_deals,
            seed=args.seed + 1,
        )
        self._trial = trial
        self.is_pruned = False

    def _on_step(self) -> bool:
        before = len(self.games_won)
        super()._on_step()
        if len(self.games_won) > before:
            self._trial.report(self.games_won[-1][1][OPPONENT], len(self.games_won))
            self.is_pruned = self._trial.should_prune()
        return not self.is_pruned


def run_trial(trial: optuna.Trial, args: Args) -> float:
    """Train a model and return the share of games that it wins in the last evaluation.

    Raises:
        TrialPruned: if it is worse than the median of the trials so far.
    """
    callback = PruningCallback(trial, args)
    make_model(args, suggest(trial)).learn(args.total_timesteps, callback=callback)
    if callback.is_pruned:
        raise optuna.TrialPruned
    return callback.games_won[-1][1][OPPONENT]


def main(args: Args) -> optuna.Study:
    """Search, or continue a search; write the best hyperparameters and return the study."""
    torch.set_num_threads(args.threads)
    with lock_folder(args.out):
        study = optuna.create_study(
            study_name="ppo",
            storage=f"sqlite:///{args.out / 'study.db'}",
            load_if_exists=True,
            direction="maximize",
            pruner=optuna.pruners.MedianPruner(n_startup_trials=3, n_warmup_steps=1),
        )
        # A search that goes on must not draw again what its first trials had.
        study.sampler = optuna.samplers.TPESampler(seed=args.seed + len(study.trials))
        finished = [trial for trial in study.trials if trial.state.is_finished()]
        study.optimize(lambda trial: run_trial(trial, args), max(0, args.trials - len(finished)))
        write_text(args.out / "best.yaml", yaml.safe_dump(study.best_params, sort_keys=False))
    console = Console()
    pruned = sum(trial.state == optuna.trial.TrialState.PRUNED for trial in study.trials)
    console.print(
        f"{len(study.trials)} trials, {pruned} of them pruned; best {study.best_value:.1%} against {OPPONENT}"
    )
    console.print(f"In {args.out}: best.yaml, study.db")
    return study


if __name__ == "__main__":
    with handle_signals("tune_ppo"):
        main(tyro.cli(Args))
