"""MaskablePPO by self-play: how strong does it get in two hours on one core?

    python -m experiments.train_ppo --out runs/ppo
    python -m experiments.train_ppo --out runs/ppo            # after an interruption: goes on, nothing lost
    tensorboard --logdir runs/ppo/tensorboard

The policy of agents/ppo/halves_net.py plays a league of scripted agents and of its own past selves, those that are hard
to beat more often. Every so often it is measured against the ladder; what is found goes to `curve.jsonl` and
TensorBoard. The folder then holds

    run.json, curve.jsonl     how the run went (agents/runs/runs.py)
    checkpoint.pt             everything that the next decision depends on: kill -9 loses what came after it, and going
                              on from it gives the same run bit for bit
    evaluations.npz, best_model.zip    of sb3-contrib's MaskableEvalCallback, which plays the last of the ladder
    policy.safetensors        the latest weights, for genial_env/policies/ppo.py
    tensorboard/

The answer, of one run on a core that other work shared; 400 games a line, ± 2% against greedy, ± 4% against denial:

    decisions    minutes   against greedy   against denial
            0          0            94%              51%      the policy begins as denial
      204,800          5            95%              62%
      409,600          9            94%              73%
      819,200         16            97%              81%
    1,228,800         22            97%              85%
    2,457,600         41            96%              84%
    5,001,216        112          96.7%            87.0%      of 4,000 games, ± 0.6% and ± 1.0%
"""

import random
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from rich.console import Console
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv

from agents.ppo.augmented_env import Turned
from agents.ppo.halves_policy import HalvesPolicy
from agents.ppo.league import League, results_of_game
from agents.ppo.masked import PackedMaskDictRolloutBuffer, SavedAtOnce
from agents.ppo.past_self import PastSelf
from agents.ppo.plain_net import PlainPolicy
from agents.ppo.sb3_agent import SB3Agent
from agents.ppo.shaping import Shaped
from agents.ppo.structured import StructuredPolicy
from agents.runs.checkpoints import load_checkpoint
from agents.runs.evaluation import measure, results_in_words
from agents.runs.runs import Run, running
from genial_env import Rules, use_backend
from genial_env._util.files import replace_path
from genial_env._util.shutdown import handle_signals
from genial_env.encodings import AnyEncoding
from genial_env.envs.opponents import AnyOpponents
from genial_env.envs.sb3 import GenialVecEnv
from genial_env.policies import weight_files
from genial_env.policies.halves import Halves
from genial_env.policies.ppo import KIND

CHECKPOINT, WEIGHTS = "checkpoint.pt", "policy.safetensors"

HALVES = "halves"
"""The network that genial_env/policies/ppo.py plays."""

NETWORKS: dict[str, tuple[type[StructuredPolicy], AnyEncoding]] = {
    HALVES: (HalvesPolicy, Halves()),
    "structured": (StructuredPolicy, "planes"),
    "plain": (PlainPolicy, "planes"),
}
"""What may learn, and how it sees the game."""

SCALARS = ("explained_variance", "entropy_loss", "approx_kl", "clip_fraction", "value_loss")
"""What a line of the curve says of the last update, besides how the agent plays."""

EVALUATION_SEED = 10**6
"""Evaluations are of deals that the training does not see."""

EVALUATED = 64
"""Games at a time for sb3-contrib's callback."""

LAST_TIMES = 10
"""How many times the deals of the other measurements the last one has."""

KEPT_OF_MODEL = (
    "num_timesteps",
    "_n_updates",
    "_episode_num",
    "_last_obs",
    "_last_episode_starts",
    "_current_progress_remaining",
    "ep_info_buffer",
    "ep_success_buffer",
)
KEPT_OF_EVALUATION = (
    "n_calls",
    "evaluations_timesteps",
    "evaluations_results",
    "evaluations_length",
    "best_mean_reward",
    "last_mean_reward",
)


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    total_steps: int = 5_000_000
    """decisions of the learning seat"""
    players: int = 2
    edition: str = "2025"
    num_envs: int = 64
    """games at a time"""
    num_steps: int = 64
    """decisions of each game between two updates"""
    batch_size: int = 512
    epochs: int = 3
    learning_rate: float = 1.5e-3
    """falls linearly to nothing"""
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    entropy_weight: float = 0.0
    shaping: float = 0.0
    """weight of the potential (agents/ppo/shaping.py) beside the rank reward"""
    scripted: tuple[str, ...] = ("denial", "greedy")
    """the scripted agents of the league"""
    selves_share: float = 0.3
    """share of games against past selves"""
    most_selves: int = 4
    hardness: float = 2.0
    """how much more often the hard to beat are met; 0: all alike"""
    memory: int = 200
    """games over which the win rates are averaged that say who is hard to beat"""
    keep_every: int = 50
    """updates between two past selves"""
    network: str = HALVES
    """"halves", or to compare with "structured", the quickstart's, or "plain", without the game's structure"""
    width: int = 16
    """hidden units of the network: over cells, or the plain one's of a layer"""
    turned: bool = False
    """the learner sees every position turned, mirrored and recolored at random; for the plain network only, as the
    others treat all images alike"""
    start_from: Path | None = None
    """weights to begin with, as policy.safetensors has them"""
    ladder: tuple[str, ...] = ("greedy", "denial")
    """whom the agent is measured against"""
    measure_every: int = 50
    """updates between two measurements"""
    deals: int = 200
    """of a measurement, played from both seats; in the last one ten times as many"""
    save_every: int = 10
    """updates between two checkpoints"""
    seed: int = 0
    threads: int = 1
    """of torch"""
    device: str = "cpu"
    backend: str = "numba"
    """of the environment; the same games with numpy"""
    out: Path = Path("runs/ppo")


MAY_CHANGE = ("out", "threads", "backend", "device")
"""What may be another when a run goes on."""


def main(args: Args) -> Run:
    """Train, or go on training; the run."""
    torch.set_num_threads(args.threads)
    with use_backend(args.backend), running(args.out, "ppo", args, MAY_CHANGE) as run:
        Trainer(args, run).go()
        return run


class Trainer:
    """A run in memory: model, environments, league; and how they go to a checkpoint and come back.

    Args:
        args: the settings.
        run: the folder; what it holds is taken up.
    """

    def __init__(self, args: Args, run: Run) -> None:
        self.args, self.run = args, run
        self.rules = Rules(args.players, args.edition)
        if args.network not in NETWORKS:
            raise ValueError(f"the network must be one of {', '.join(NETWORKS)}, not {args.network!r}")
        if args.turned and args.network != "plain":
            raise ValueError(f"the network {args.network!r} treats all images alike, so turning would change nothing")
        self.policy, self.encoding = NETWORKS[args.network]
        self.kind = KIND if args.network == HALVES else f"{KIND}-{args.network}"
        self.league = League(
            args.scripted, self._past_self, args.selves_share, args.most_selves, args.hardness, args.memory
        )
        self.env = self._environment(self.league.pool(), args.num_envs, args.seed)
        self.model = self._model()
        self.model.set_logger(configure(str(args.out / "tensorboard"), ["tensorboard"]))
        if args.start_from is not None:
            net = self.model.policy.net
            shapes = {name: tuple(value.shape) for name, value in net.state_dict().items()}
            arrays, _ = weight_files.read(args.start_from, self.kind, self.rules, lambda rules, arrays: shapes)
            net.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
        self.keeper = Keeper(self)
        self.last: dict[str, Any] = {}
        """the line of the last measurement, once it is made"""
        self.evaluation = MaskableEvalCallback(
            Shaped(self._environment(args.ladder[-1], EVALUATED, args.seed + EVALUATION_SEED), 0.0),
            n_eval_episodes=args.deals,
            eval_freq=args.measure_every * args.num_steps,
            log_path=str(args.out),
            best_model_save_path=str(args.out),
            verbose=0,
        )
        path = args.out / CHECKPOINT
        saved = load_checkpoint(path) if path.exists() else None
        run.restore(None if saved is None else saved["run"])
        if saved is not None:
            self._restore(saved)

    def go(self) -> None:
        """In place: train to the end, measure what came of it, and write the weights; of a finished run only say."""
        left = self.args.total_steps - self.model.num_timesteps
        if left > 0:
            callbacks = CallbackList([self.keeper, self.evaluation])
            fresh = self.model.num_timesteps == 0
            self.model.learn(left, callbacks, reset_num_timesteps=fresh)
        if not self.last:
            self.last = self.measure(LAST_TIMES * self.args.deals)
            self.save()
        self.run.finish(self.model.num_timesteps, self.keeper.games)
        console = Console()
        for name, found in self.last["against"].items():
            console.print(f"against {name}: {found['mean']:.1%} ± {found['half']:.1%} of {found['games']:,} games")
        console.print(f"In {self.args.out}: {WEIGHTS}, run.json, curve.jsonl, tensorboard")

    def measure(self, deals: int) -> dict[str, Any]:
        """In place: write the weights, measure the agent against the ladder, and keep what was found."""
        moves, log = self.model.num_timesteps, self.model.logger
        weights = {name: value.numpy(force=True) for name, value in self.model.policy.net.state_dict().items()}
        agent = SB3Agent(self.model, encoding=self.encoding)
        found = measure(agent, self.args.ladder, self.rules, deals, self.args.seed + EVALUATION_SEED + moves)
        about = {
            "command": self.run.command,
            "seed": self.args.seed,
            "moves": moves,
            "results": results_in_words(found),
        }
        about |= {"wall_s": round(self.run.wall_s), "cpu_s": round(self.run.cpu_s)}
        weight_files.write(self.args.out / WEIGHTS, self.kind, self.rules, weights, **about)
        for name, share in found.items():
            log.record(f"ladder/{name}", share.mean)
        logged = log.name_to_value
        scalars = {name: float(logged[f"train/{name}"]) for name in SCALARS if f"train/{name}" in logged}
        rates = {opponent.policy.name: round(opponent.win_rate, 4) for opponent in self.league.opponents}
        return self.run.add(moves, self.keeper.games, found, win_rates=rates, **scalars)

    def keep_self(self) -> None:
        """In place: today's policy joins the league, and the environment gets it with today's shares.

        Games that are running get other opponents then: with the defaults one in two hundred.
        """
        weights = {name: value.detach().cpu().clone() for name, value in self.model.policy.net.state_dict().items()}
        self.league.keep(self.model.num_timesteps, weights)
        self.env.set_opponents(self.league.pool())

    def save(self) -> None:
        """In place: write a checkpoint."""
        model, keeper, evaluation = self.model, self.keeper, self.evaluation
        state = {
            "run": self.run.saved(),
            "weights": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "model": {name: _plain(getattr(model, name)) for name in KEPT_OF_MODEL},
            "env": model.env.get_state(),
            "league": self.league.saved(),
            "keeper": {"updates": keeper.updates, "games": keeper.games},
            "evaluation": {name: getattr(evaluation, name) for name in KEPT_OF_EVALUATION},
            "evaluation_env": evaluation.eval_env.get_state(),
            "random": _random_states(),
            "last": self.last,
        }
        with replace_path(self.args.out / CHECKPOINT) as beside:
            torch.save(state, beside)

    def _restore(self, saved: Mapping[str, Any]) -> None:
        """In place: the reverse of :meth:`save`."""
        model = self.model
        model.policy.load_state_dict(saved["weights"])
        model.policy.optimizer.load_state_dict(saved["optimizer"])
        for target, part, names in (
            (model, "model", KEPT_OF_MODEL),
            (self.keeper, "keeper", ("updates", "games")),
            (self.evaluation, "evaluation", KEPT_OF_EVALUATION),
        ):
            for name in names:
                setattr(target, name, saved[part][name])
        for name in ("ep_info_buffer", "ep_success_buffer"):
            setattr(model, name, deque(saved["model"][name] or (), maxlen=model._stats_window_size))
        self.league.restore(saved["league"])
        self.env.set_opponents(self.league.pool())
        model.env.set_state(saved["env"])
        self.evaluation.eval_env.set_state(saved["evaluation_env"])
        _set_random_states(saved["random"])
        self.last = saved["last"]

    def _environment(self, opponents: AnyOpponents, games: int, seed: int) -> GenialVecEnv:
        return GenialVecEnv(
            games,
            self.args.players,
            self.args.edition,
            opponents=opponents,
            seat="random",
            encoding=self.encoding,
            seed=seed,
        )

    def _model(self) -> MaskablePPO:
        args = self.args
        return SavedAtOnce(
            self.policy,
            Shaped(self._seen(), args.shaping),
            n_steps=args.num_steps,
            batch_size=args.batch_size,
            n_epochs=args.epochs,
            learning_rate=LinearSchedule(args.learning_rate, 0.0, 1.0),
            gamma=1.0,
            gae_lambda=args.gae_lambda,
            clip_range=args.clip_range,
            ent_coef=args.entropy_weight,
            rollout_buffer_class=PackedMaskDictRolloutBuffer,
            policy_kwargs={"rules_arguments": self.rules.to_dict(), "width": args.width},
            seed=args.seed,
            device=args.device,
        )

    def _seen(self) -> VecEnv:
        """The environment as the learner sees it."""
        return Turned(self.env, self.encoding, self.args.seed) if self.args.turned else self.env

    def _past_self(self, moves: int, weights: dict[str, torch.Tensor]) -> PastSelf:
        net = self.policy.net_class(self.rules, self.args.width)
        net.load_state_dict(weights)
        return PastSelf(net, self.encoding, f"self@{moves}")


class Keeper(BaseCallback):
    """Counts games for the league, and between updates measures, keeps past selves and writes checkpoints."""

    def __init__(self, trainer: Trainer) -> None:
        super().__init__()
        self.updates, self.games = 0, 0
        self._trainer, self._just_begun = trainer, True

    def _on_step(self) -> bool:
        """Who won, of the games that have ended."""
        names = self.training_env.opponent_names
        for info, done in zip(self.locals["infos"], self.locals["dones"], strict=True):
            if done:
                self.games += 1
                named = {**info, "opponents": [names[number] for number in info["opponents"]]}
                for name, result in results_of_game(named, self._trainer.rules.tracks):
                    self._trainer.league.tell(name, result)
        return True

    def _on_rollout_start(self) -> None:
        """An update has just been made, but where the run has just begun or gone on."""
        if self._just_begun:
            self._just_begun = False
            return
        args = self._trainer.args
        self.updates += 1
        if self.updates % args.measure_every == 0:
            self._trainer.measure(args.deals)
        if self.updates % args.keep_every == 0:
            self._trainer.keep_self()
        if self.updates % args.save_every == 0:
            self._trainer.save()


def _plain(value: Any) -> Any:
    """A list for a deque, which torch does not read as weights only."""
    return list(value) if isinstance(value, deque) else value


def _random_states() -> dict[str, Any]:
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    numpy = np.random.get_state()  # noqa: NPY002  what Stable-Baselines3 draws from
    return {"python": random.getstate(), "numpy": numpy, "torch": torch.get_rng_state(), "cuda": cuda}


def _set_random_states(saved: Mapping[str, Any]) -> None:
    random.setstate(saved["python"])
    np.random.set_state(saved["numpy"])  # noqa: NPY002
    torch.set_rng_state(saved["torch"])
    if saved["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(saved["cuda"])


if __name__ == "__main__":
    with handle_signals("train_ppo"):
        main(tyro.cli(Args))
