"""The PPO trainer: self-play in a league, evaluations, and checkpoints that resume a run bit for bit."""

import random
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import LinearSchedule, get_device

from agents.ppo.actor_critic import ActorCriticNet
from agents.ppo.afterstates_net import DEFAULT_WIDTHS
from agents.ppo.afterstates_policy import AfterstatesPolicy
from agents.ppo.augmented_env import VecSymmetryAugmentation
from agents.ppo.central_env import VecCentralTiles
from agents.ppo.halves_policy import HalvesPolicy
from agents.ppo.league import League, compute_results
from agents.ppo.masked import AtomicSaveMaskablePPO, PackedMaskDictRolloutBuffer
from agents.ppo.net_policy import NetPolicy
from agents.ppo.options import EVAL_SEED_OFFSET, FINAL_EVAL_FACTOR, PPOOptions
from agents.ppo.past_self import PastSelf
from agents.ppo.plain_net import PlainPolicy
from agents.ppo.progress_callback import ProgressCallback
from agents.ppo.resumable import AnyGenialVecEnv
from agents.ppo.shaping import VecPotentialShaping
from agents.ppo.structured_net import StructuredPolicy
from agents.runs.checkpoints import load_checkpoint
from agents.runs.config import Range, check_ranges
from agents.runs.evaluation import format_results, measure
from agents.runs.progress import Progress, list_files
from agents.runs.run import Run
from genial_env import Policy, Rules
from genial_env._util.files import replace_path
from genial_env.backends import pick
from genial_env.encodings import AnyEncoding
from genial_env.envs.opponents import AnyOpponents
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.policies import value, weight_files
from genial_env.policies.afterstate_choices import AfterstateChoices
from genial_env.policies.halves import Halves
from genial_env.policies.ppo import KIND, PPO
from genial_env.policies.seat_counts import value_candidates
from genial_env.policies.value_net import ValueNet

__all__ = ["CHECKPOINT", "MAY_CHANGE", "NETWORKS", "WEIGHTS", "Args", "Trainer"]

CHECKPOINT, WEIGHTS = "checkpoint.pt", "policy.safetensors"

AFTERSTATES, HALVES = "afterstates", "halves"
"""The networks that genial_env/policies/ppo.py plays."""

NETWORKS: dict[str, type[NetPolicy]] = {
    AFTERSTATES: AfterstatesPolicy,
    HALVES: HalvesPolicy,
    "structured": StructuredPolicy,
    "plain": PlainPolicy,
}
"""The policy of each network."""

SCALARS = ("explained_variance", "entropy_loss", "approx_kl", "clip_fraction", "value_loss")
"""Numbers of the last update that a line of the learning curve holds."""

SB3_EVAL_ENVS = 64
"""Games at a time of sb3-contrib's evaluation callback."""

DEFAULT_EVAL_OPPONENTS = ("denial",)

FORMER_VALUES = Path("agents/opponents")
"""The folder of former networks of the agent "value", opponents of evaluations that stay the same."""

Arrays = weight_files.Arrays

MODEL_STATE = (
    "num_timesteps",
    "_n_updates",
    "_episode_num",
    "_last_obs",
    "_last_episode_starts",
    "_current_progress_remaining",
    "ep_info_buffer",
    "ep_success_buffer",
)
SB3_EVALUATION_STATE = (
    "n_calls",
    "evaluations_timesteps",
    "evaluations_results",
    "evaluations_length",
    "best_mean_reward",
    "last_mean_reward",
)


COUNTS = ("n_envs", "n_steps", "choices", "candidates", "save_every", "threads")

RANGES: dict[str, Range] = {
    "total_timesteps": (0, None),
    "batch_size": (2, None),  # advantages are divided by their standard deviation
    **dict.fromkeys(COUNTS, (1, None)),
    "shaping": (None, None),
}
"""The ranges of the options, besides those of all PPO trainers."""

LOG_FORMATS = ("tensorboard", "csv", "json", "log", "stdout")
"""Formats of Stable-Baselines3's logger."""


@dataclass
class Args(PPOOptions):
    """The options of the command line."""

    scripted: tuple[str, ...] = ("value",)
    """scripted opponents"""
    past_self_share: float = 0.8
    """share of the games against past selves, once there is one"""
    snapshot_every: int = 8
    """updates between two snapshots of the learner that join the league as past selves"""
    eval_every: int = 24
    """updates between two evaluations"""
    eval_opponents: tuple[str, ...] = ()
    """opponents of evaluations; by default denial, and the former value network of agents/opponents"""
    batch_size: int = 1024
    """decisions in a minibatch"""
    n_epochs: int = 2
    """passes over the decisions of an update"""
    learning_rate: float = 5e-4
    """initial learning rate; it falls linearly to 0"""
    gae_lambda: float = 0.8
    """lambda of generalized advantage estimation"""
    clip_range: float = 0.1
    """clipping range of PPO's loss"""
    ent_coef: float = 0.01
    """coefficient of the entropy bonus"""
    width: int = 32
    """hidden units of the network; with the network "afterstates" those of its critic"""
    total_timesteps: int = 400_000
    """decisions of the learning seat"""
    n_envs: int = 64
    """games at a time"""
    n_steps: int = 64
    """decisions in each game between two updates"""
    choices: int = 16
    """most candidates of a decision, those that the network of the start values highest; for the network "afterstates",
    as the next one"""
    candidates: int | None = None
    """placements among which they are selected, and that past selves and evaluations compare; by default as many as the
    agent "value" compares"""
    shaping: float = 0.0
    """weight of the potential-based shaping of rewards (agents/ppo/shaping.py)"""
    network: str = AFTERSTATES
    """the network: "afterstates" or "halves"; to compare with, "structured" (it scores halves from the planes) or
    "plain" (a perceptron)"""
    augment: bool = False
    """show the learner every position under a random symmetry; for the network "plain" only, as the others treat all
    symmetric positions alike"""
    save_every: int = 10
    """updates between two checkpoints"""
    threads: int = 1
    """threads of torch"""
    device: str = "cpu"
    """device of torch"""
    log_formats: tuple[str, ...] = ("tensorboard",)
    """formats of Stable-Baselines3's logger, in the folder "tensorboard" of the run: tensorboard, csv, json, log,
    stdout"""
    backend: str = "numba"
    """backend of the environment; "numpy" plays the same games"""
    out: Path = Path("runs/ppo")
    """folder of the run"""

    def check(self) -> None:
        """Check the options (:class:`agents.runs.config.Checked`)."""
        if self.network not in NETWORKS:
            raise ValueError(f"--network: expected one of {', '.join(NETWORKS)}, got {self.network!r}")
        if self.augment and self.network != "plain":
            raise ValueError(f"--augment does nothing for the network {self.network!r}, which is symmetric already")
        check_ranges(self, RANGES)
        for log_format in self.log_formats:
            if log_format not in LOG_FORMATS:
                raise ValueError(f"--log-formats: expected some of {', '.join(LOG_FORMATS)}, got {log_format!r}")
        pick(self.backend)
        try:
            get_device(self.device)
        except RuntimeError as error:
            raise ValueError(f"--device: expected a device of torch, such as cpu, got {self.device!r}") from error
        super().check()


MAY_CHANGE = ("out", "threads", "backend", "device", "log_formats")
"""Options that may differ when a run is resumed."""


class Trainer:
    """A run in memory: model, environments and league. It resumes from the checkpoint in the run's folder, if any.

    Args:
        args: the options.
        run: the folder of the run.

    Raises:
        ValueError: for an unknown network, or augmentation for a network that is symmetric already.
    """

    def __init__(self, args: Args, run: Run) -> None:
        self.args, self.run = args, run
        args.check()
        self.rules = args.rules
        self.policy = NETWORKS[args.network]
        self.kind = KIND if args.network in (AFTERSTATES, HALVES) else f"{KIND}-{args.network}"
        self.start = self._read_start()
        self.encoding = self._make_encoding()
        self.league = League(args, self._make_past_self)
        self.env = self._make_env(self.league.make_pool(), args.n_envs, args.seed)
        self.training_env = VecPotentialShaping(self._augment(self._add_tiles(self.env)), args.shaping)
        self.model = self._make_model()
        self.model.set_logger(configure(str(args.out / "tensorboard"), list(args.log_formats)))
        if self.start is not None:
            self.net.load_arrays(self.start)
            self.add_past_self()
        self.callback = LeagueCallback(self)
        self.final: dict[str, Any] = {}
        """the line of the final evaluation, once it is made"""
        self.eval_opponents = args.eval_opponents or (*DEFAULT_EVAL_OPPONENTS, *name_former_value(self.rules))
        eval_env = self._make_env(self.eval_opponents[-1], SB3_EVAL_ENVS, args.seed + EVAL_SEED_OFFSET)
        self.eval_env = VecPotentialShaping(self._add_tiles(eval_env), 0.0)
        self.sb3_evaluation = MaskableEvalCallback(
            self.eval_env,
            n_eval_episodes=args.eval_deals,
            eval_freq=args.eval_every * args.n_steps,
            log_path=str(args.out),
            best_model_save_path=str(args.out),
            verbose=0,
        )
        path = args.out / CHECKPOINT
        saved = load_checkpoint(path) if path.exists() else None
        run.set_state(None if saved is None else saved["run"])
        if saved is not None:
            self._restore(saved)

    @property
    def net(self) -> ActorCriticNet:
        """The network of the model."""
        policy = self.model.policy
        assert isinstance(policy, NetPolicy)
        return policy.net

    def train(self) -> None:
        """Train in place to the end, evaluate and write the weights. A finished run is only reported."""
        left = self.args.total_timesteps - self.model.num_timesteps
        with Progress(self.args.total_timesteps, "decisions", self.model.num_timesteps) as progress:
            if left > 0:
                callbacks = CallbackList([ProgressCallback(progress), self.callback, self.sb3_evaluation])
                is_new = self.model.num_timesteps == 0
                self.model.learn(left, callbacks, reset_num_timesteps=is_new)
            if not self.final:
                progress.phase = "final evaluation"
                self.final = self.evaluate(FINAL_EVAL_FACTOR * self.args.eval_deals)
                self.save()
        self.run.finish(self.model.num_timesteps, self.callback.games)
        console = Console()
        for name, found in self.final["against"].items():
            console.print(f"against {name}: {found['mean']:.1%} ± {found['half']:.1%} of {found['games']:,} games")
        print(list_files(self.args.out))

    def evaluate(self, deals: int) -> dict[str, Any]:
        """Write the weights, evaluate the agent, and return the new line of the learning curve."""
        moves, log = self.model.num_timesteps, self.model.logger
        weights = self.net.get_arrays()
        agent = self._make_agent(weights, KIND, solve=True)
        seed = self.args.seed + EVAL_SEED_OFFSET + moves
        found = measure(agent, self.eval_opponents, self.rules, deals, seed)
        about = {
            "command": self.run.command,
            "seed": self.args.seed,
            "moves": moves,
            "results": format_results(found),
        }
        about |= {"wall_s": round(self.run.wall_s), "cpu_s": round(self.run.cpu_s)}
        weight_files.write(self.args.out / WEIGHTS, self.kind, self.rules, weights, **about)
        for name, share in found.items():
            log.record(f"ladder/{name}", share.mean)
        logged = log.name_to_value
        scalars = {name: float(logged[f"train/{name}"]) for name in SCALARS if f"train/{name}" in logged}
        rates = {opponent.policy.name: round(opponent.win_rate, 4) for opponent in self.league.opponents}
        return self.run.add_evaluation(moves, self.callback.games, found, win_rates=rates, **scalars)

    def add_past_self(self) -> None:
        """Add the current policy to the league in place, and pass the new opponents to the environment.

        Running games may get another opponent then, with the default options about one in two hundred.
        """
        self.league.add_past_self(self.model.num_timesteps, self.net.get_arrays())
        self.env.set_opponents(self.league.make_pool())

    def save(self) -> None:
        """Write a checkpoint."""
        model, callback = self.model, self.callback
        state = {
            "run": self.run.get_state(),
            "weights": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "model": {name: _to_list(getattr(model, name)) for name in MODEL_STATE},
            "env": self.training_env.get_state(),
            "league": self.league.get_state(),
            "callback": {"updates": callback.updates, "games": callback.games},
            "sb3_evaluation": {name: getattr(self.sb3_evaluation, name) for name in SB3_EVALUATION_STATE},
            "eval_env": self.eval_env.get_state(),
            "random": _get_random_states(),
            "final": self.final,
        }
        with replace_path(self.args.out / CHECKPOINT) as beside:
            torch.save(state, beside)

    def _restore(self, saved: Mapping[str, Any]) -> None:
        """Restore in place what :meth:`save` wrote."""
        model = self.model
        model.policy.load_state_dict(saved["weights"])
        model.policy.optimizer.load_state_dict(saved["optimizer"])
        for target, part, names in (
            (model, "model", MODEL_STATE),
            (self.callback, "callback", ("updates", "games")),
            (self.sb3_evaluation, "sb3_evaluation", SB3_EVALUATION_STATE),
        ):
            for name in names:
                setattr(target, name, saved[part][name])
        for name in ("ep_info_buffer", "ep_success_buffer"):
            setattr(model, name, deque(saved["model"][name] or (), maxlen=model._stats_window_size))
        self.league.set_state(saved["league"])
        self.env.set_opponents(self.league.make_pool())
        self.training_env.set_state(saved["env"])
        self.eval_env.set_state(saved["eval_env"])
        _set_random_states(saved["random"])
        self.final = saved["final"]

    def _make_env(self, opponents: AnyOpponents, games: int, seed: int) -> GenialVecEnv:
        return GenialVecEnv(
            games,
            self.args.players,
            self.args.edition,
            self.args.mode,
            opponents=opponents,
            seat="random",
            encoding=self.encoding,
            seed=seed,
        )

    def _make_model(self) -> MaskablePPO:
        args = self.args
        network: dict[str, Any] = {"rules_arguments": self.rules.to_dict(), "width": args.width}
        if args.network == AFTERSTATES:
            network["widths"] = DEFAULT_WIDTHS if self.start is None else ValueNet.widths_of(self.start)
        return AtomicSaveMaskablePPO(
            self.policy,
            self.training_env,
            n_steps=args.n_steps,
            batch_size=args.batch_size,
            n_epochs=args.n_epochs,
            learning_rate=LinearSchedule(args.learning_rate, 0.0, 1.0),
            gamma=1.0,
            gae_lambda=args.gae_lambda,
            clip_range=args.clip_range,
            ent_coef=args.ent_coef,
            rollout_buffer_class=PackedMaskDictRolloutBuffer,
            policy_kwargs=network,
            seed=args.seed,
            device=args.device,
        )

    def _add_tiles(self, env: GenialVecEnv) -> AnyGenialVecEnv:
        """Wrap an environment for the critic that sees the hidden tiles, if the network has one."""
        return VecCentralTiles(env) if self.args.network == AFTERSTATES else env

    def _augment(self, env: AnyGenialVecEnv) -> AnyGenialVecEnv:
        """Wrap an environment for augmentation, if the options ask for it."""
        if not self.args.augment:
            return env
        return VecSymmetryAugmentation(env, self.rules, self.encoding, self.args.seed)

    def _make_encoding(self) -> AnyEncoding:
        """Create the encoding of the network."""
        args = self.args
        if args.network != AFTERSTATES:
            return Halves() if args.network == HALVES else "planes"
        most = value_candidates(self.rules) if args.candidates is None else args.candidates
        net = None if self.start is None else ValueNet(self.rules, self.start)
        return AfterstateChoices(args.choices, net, most)

    def _read_start(self) -> Arrays | None:
        """Read the weights to start from; a network of afterstates may start from those of the agent "value"."""
        path = self.args.start_from
        if path is None:
            return None
        if self.args.network == AFTERSTATES:
            kind = value.KIND if weight_files.read_metadata(path).get("kind") == value.KIND else KIND
            return weight_files.read(path, kind, self.rules, ValueNet.layout_of)[0]
        net = self.policy.net_class(self.rules, self.args.width)
        shapes = {name: array.shape for name, array in net.get_arrays().items()}
        return weight_files.read(path, self.kind, self.rules, lambda rules, arrays: shapes)[0]

    def _make_past_self(self, moves: int, weights: Arrays) -> Policy:
        return self._make_agent(weights, f"self@{moves}", solve=False)

    def _make_agent(self, weights: Arrays, name: str, solve: bool) -> Policy:
        """Create an agent with the weights of the network; `solve`: whether it may solve the last two placements."""
        if self.args.network == AFTERSTATES:
            return PPO(weights, candidates=self.args.candidates, solve=solve, name=name)
        net = self.policy.net_class(self.rules, self.args.width)
        net.load_arrays(weights)
        return PastSelf(net, self.encoding, name)


class LeagueCallback(BaseCallback):
    """Records results for the league; between updates it evaluates, adds past selves and writes checkpoints."""

    def __init__(self, trainer: Trainer) -> None:
        super().__init__()
        self.updates, self.games = 0, 0
        self._trainer, self._is_first_rollout = trainer, True

    def _on_step(self) -> bool:
        """Record the results of the games that have ended."""
        trainer = self._trainer
        names = trainer.env.opponent_names
        for info, done in zip(self.locals["infos"], self.locals["dones"], strict=True):
            if done:
                self.games += 1
                named = {**info, "opponents": [names[number] for number in info["opponents"]]}
                for name, result in compute_results(named, trainer.rules):
                    trainer.league.record_result(name, result)
        return True

    def _on_rollout_start(self) -> None:
        """Do what is due after an update. Before the first rollout of a session there was none."""
        if self._is_first_rollout:
            self._is_first_rollout = False
            return
        args = self._trainer.args
        self.updates += 1
        if self.updates % args.eval_every == 0:
            self._trainer.evaluate(args.eval_deals)
        if self.updates % args.snapshot_every == 0:
            self._trainer.add_past_self()
        if self.updates % args.save_every == 0:
            self._trainer.save()


def _to_list(value: Any) -> Any:
    """Convert a deque to a list, as ``weights_only`` loading refuses a deque."""
    return list(value) if isinstance(value, deque) else value


def _get_random_states() -> dict[str, Any]:
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    numpy = np.random.get_state()  # noqa: NPY002  used by Stable-Baselines3
    return {"python": random.getstate(), "numpy": numpy, "torch": torch.get_rng_state(), "cuda": cuda}


def _set_random_states(saved: Mapping[str, Any]) -> None:
    random.setstate(saved["python"])
    np.random.set_state(saved["numpy"])  # noqa: NPY002
    torch.set_rng_state(saved["torch"])
    if saved["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(saved["cuda"])


def name_former_value(rules: Rules) -> tuple[str, ...]:
    """Return the agent of the former value network for a game, if there is one."""
    mode = "" if rules.mode == "individual" else f"-{rules.mode}"
    path = FORMER_VALUES / f"value_2026_11-{rules.players}{mode}.safetensors"
    if not path.exists():
        return ()
    return (f"value(weights={str(path)!r}, candidates=32, prior='denial', name={path.stem!r})",)
