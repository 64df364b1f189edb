"""The RLlib trainer: the self-play of agents/ppo/trainer.py with RLlib's PPO.

In every game one seat is the learner's, and every other seat has an opponent of the league. For RLlib they are modules:
one that learns, a slot for each past self, to which the learner's weights are copied, and one for each scripted agent.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from rich.console import Console

from agents.ppo.halves_net import HalvesNet
from agents.ppo.league import League, compute_results
from agents.ppo.options import EVAL_SEED_OFFSET, FINAL_EVAL_FACTOR, PPOOptions
from agents.ppo.past_self import PastSelf
from agents.rllib.halves_module import HalvesAndTokens, HalvesModule, PastSelfModule
from agents.rllib.rllib_agent import MODULE
from agents.runs.config import Range, check_ranges
from agents.runs.evaluation import measure
from agents.runs.run import Run
from genial_env import Rules
from genial_env.envs import rllib
from genial_env.policies import weight_files
from genial_env.policies.halves import Halves
from genial_env.policies.halves_net import layout
from genial_env.policies.ppo import KIND, PPO

__all__ = ["LOSSES", "Args", "ModuleMapping", "RecordResults", "Trainer", "make_callback", "make_modules"]

WEIGHTS, CHECKPOINT = "policy.safetensors", "checkpoint"

LOSSES = ("policy_loss", "vf_loss", "entropy", "vf_explained_var")
"""Numbers of the last update that a line of the learning curve holds."""

RESULTS = "results"
"""The name of the results by opponent in RLlib's metrics."""

Arrays = dict[str, NDArray[Any]]

RANGES: dict[str, Range] = {
    "num_env_runners": (0, None),
    **dict.fromkeys(("iterations", "n_envs", "rollout_size"), (1, None)),
}
"""The ranges of the options that only this trainer has."""


@dataclass
class Args(PPOOptions):
    """The options of the command line."""

    side: int | None = None
    """variant: cells along an edge of the board"""
    colors: int = 6
    """variant: number of colors"""
    rack: int | None = None
    """variant: tiles on a rack"""
    iterations: int = 300
    """number of updates"""
    num_env_runners: int = 2
    """processes that play, on all machines of Ray; 0: this process plays"""
    n_envs: int = 8
    """games at a time in each env runner"""
    rollout_size: int = 4096
    """approximate number of the learning seat's decisions between two updates, over all games (Stable-Baselines3's
    n_steps times its n_envs)"""
    address: str | None = None
    """address of a Ray cluster, "auto" for the one of this machine; by default Ray is started here"""
    out: Path = Path("runs/rllib")
    """folder of the run"""

    @property
    def rules(self) -> Rules:
        """The rules of the games."""
        sizes = {name: value for name in ("side", "colors", "rack") if (value := getattr(self, name)) is not None}
        return Rules(self.players, self.edition, self.mode, **sizes)

    def check(self) -> None:
        """Check the options (:class:`agents.runs.config.Checked`)."""
        check_ranges(self, RANGES)
        super().check()


@dataclass(frozen=True)
class ModuleMapping:
    """RLlib's policy mapping function: it decides which module plays an agent.

    In every game one random seat is the learner's. Every other seat has a random module of the league. RLlib calls the
    function for one agent at a time, possibly in several processes, so the random numbers are derived from the id that
    RLlib gives the game.

    Attributes:
        players: number of seats.
        shares: probability of each module of the league by name.
    """

    players: int
    shares: dict[str, float]

    def __call__(self, agent: str, episode: Any, **_: Any) -> str:
        """Return the name of the module."""
        rng = random.Random(episode.id_)
        seat = rng.randrange(self.players)
        modules = rng.choices(list(self.shares), list(self.shares.values()), k=self.players)
        modules[seat] = MODULE
        return modules[int(agent.removeprefix("player_"))]


class RecordResults(RLlibCallback):  # type: ignore[misc]  # ray has no type hints
    """Adds the learner's result against each module of the league to the metrics. Subclasses set the rules."""

    rules: Rules

    def on_episode_end(self, *, episode: Any, metrics_logger: Any, **_: Any) -> None:
        """Add the results of a game. RLlib calls this method."""
        agents = sorted(episode.agent_ids)
        modules = [episode.module_for(agent) for agent in agents]
        seat = modules.index(MODULE)
        ranks = episode.get_infos(-1)[agents[seat]]["ranks"]
        info = {"seat": seat, "ranks": ranks, "opponents": modules[seat + 1 :] + modules[:seat]}
        for name, result in compute_results(info, self.rules):
            metrics_logger.log_value((RESULTS, name), result, reduce="item_series")


def make_callback(rules: Rules) -> type[RecordResults]:
    """Create the callback class for some rules. RLlib creates the callbacks itself, so it takes a class."""
    return type("RecordResultsOfRules", (RecordResults,), {"rules": rules})


class Trainer:
    """A run in memory: RLlib's algorithm, and the league whose members are its modules.

    Args:
        args: the options.
        run: the folder of the run.
    """

    def __init__(self, args: Args, run: Run) -> None:
        self.args, self.run = args, run
        self.rules = args.rules
        self.moves, self.games = 0, 0
        self.league = League(args, self._make_past_self)
        self.algorithm = self._make_config().build_algo()
        if args.start_from is not None:
            self._set_weights(MODULE, weight_files.read(args.start_from, KIND, self.rules, layout)[0])

    def train(self) -> None:
        """Train in place to the end, and evaluate."""
        args, console = self.args, Console()
        for iteration in range(1, args.iterations + 1):
            found = self._update()
            losses = {name: float(found["learners"][MODULE][name]) for name in LOSSES}
            shown = ", ".join(f"{name} {value:.3f}" for name, value in losses.items())
            console.print(f"{iteration:4d}  {self.moves:,} decisions  {self.run.wall_s:,.0f} s  {shown}")
            is_last = iteration == args.iterations
            if is_last or iteration % args.eval_every == 0:
                line = self.evaluate(args.eval_deals * (FINAL_EVAL_FACTOR if is_last else 1), losses)
            if iteration % args.snapshot_every == 0:
                self.add_past_self()
        self.run.finish(self.moves, self.games)
        for name, against in line["against"].items():
            console.print(f"against {name}: {against['mean']:.3f} ± {against['half']:.3f}, {against['games']:,} games")
        console.print(f"In {args.out}: {WEIGHTS}, {CHECKPOINT}, run.json, curve.jsonl")

    def evaluate(self, deals: int, losses: dict[str, float]) -> dict[str, Any]:
        """Write checkpoint and weights, evaluate the weights, and return the new line of the learning curve."""
        args = self.args
        self.algorithm.save_to_path(str((args.out / CHECKPOINT).absolute()))
        about = {"architecture": "HalvesNet", "width": args.width, "command": self.run.command, "seed": args.seed}
        about |= {"moves": self.moves, "wall_s": self.run.wall_s, "cpu_s": self.run.cpu_s}
        weight_files.write(args.out / WEIGHTS, KIND, self.rules, self._get_weights(), **about)
        agent = PPO(args.out / WEIGHTS)
        found = measure(agent, args.eval_opponents, self.rules, deals, args.seed + EVAL_SEED_OFFSET + self.moves)
        rates = {opponent.policy.name: round(opponent.win_rate, 4) for opponent in self.league.opponents}
        return self.run.add_evaluation(self.moves, self.games, found, win_rates=rates, **losses)

    def add_past_self(self) -> None:
        """Add the current weights to the league in place, in a free slot or in that of the easiest past self.

        Running games against that one get another opponent then; new games follow the new shares.
        """
        weights = self._get_weights()
        self.league.add_past_self(self.moves, weights)
        self._set_weights(self.league.past_selves[-1].policy.name, weights)

    def _update(self) -> dict[str, Any]:
        """Make an update in place, and return RLlib's metrics."""
        mapping = ModuleMapping(self.rules.players, self.league.shares)

        def set_mapping(env_runner: Any) -> None:
            env_runner.config.multi_agent(policy_mapping_fn=mapping)

        self.algorithm.env_runner_group.foreach_env_runner(set_mapping)  # every time, as Ray may have restarted some
        found: dict[str, Any] = self.algorithm.train()
        self.moves += int(found["env_runners"]["num_module_steps_sampled"][MODULE])
        self.games += int(found["env_runners"]["num_episodes"])
        for name, results in found["env_runners"].get(RESULTS, {}).items():
            for result in results if isinstance(results, list) else []:  # NaN where a module was not met
                self.league.record_result(name, result)
        return found

    def _get_weights(self) -> Arrays:
        """Return the learner's weights by their names in the network."""
        state = self.algorithm.learner_group.get_weights([MODULE])[MODULE]
        return {name.removeprefix("net."): array for name, array in state.items()}

    def _set_weights(self, module: str, weights: Arrays) -> None:
        """Set the weights of a module in place, here and in all env runners."""
        learners = self.algorithm.learner_group
        learners.set_weights({module: {f"net.{name}": array for name, array in weights.items()}})
        self.algorithm.env_runner_group.sync_weights(from_worker_or_learner_group=learners, policies=[module])

    def _make_past_self(self, moves: int, weights: Arrays) -> PastSelf:
        """Create a past self with the name of the first free slot."""
        taken = {opponent.policy.name for opponent in self.league.past_selves}
        slot = next(name for name in name_slots(self.args) if name not in taken)
        net = HalvesNet(self.rules, self.args.width)
        net.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
        return PastSelf(net, Halves(), slot)

    def _make_config(self) -> PPOConfig:
        """Configure RLlib's PPO like that of train_ppo."""
        args, rules = self.args, self.rules
        rllib.register()
        scripted = dict(zip(self.league.shares, args.scripted, strict=True))  # there are no past selves yet
        modules = make_modules(args, rules, scripted)
        total = args.iterations * args.rollout_size * rules.players
        return (
            PPOConfig()
            .environment("genial_env", env_config={**rules.to_dict(), "encoding": HalvesAndTokens()})
            .env_runners(num_env_runners=args.num_env_runners, num_envs_per_env_runner=args.n_envs)
            .multi_agent(
                policies=set(modules),
                policy_mapping_fn=ModuleMapping(rules.players, self.league.shares),
                policies_to_train=[MODULE],
            )
            .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=modules))
            .callbacks(make_callback(rules))
            .training(
                lr=[[0, args.learning_rate], [total, 0.0]],
                gamma=1.0,
                lambda_=args.gae_lambda,
                clip_param=args.clip_range,
                use_kl_loss=False,
                vf_loss_coeff=0.5,
                entropy_coeff=args.ent_coef,
                train_batch_size_per_learner=args.rollout_size * rules.players,
                minibatch_size=args.batch_size,
                num_epochs=args.n_epochs,
                grad_clip=0.5,
            )
            .debugging(seed=args.seed, log_level="ERROR")
        )


def make_modules(args: Args, rules: Rules, scripted: Mapping[str, str]) -> dict[str, RLModuleSpec]:
    """Specify the modules by name: the learner, a slot for each past self, the scripted agents.

    Args:
        args: the options.
        rules: the rules.
        scripted: for the name of each scripted opponent in the league its text, which may have settings.
    """
    network = {"rules": rules.to_dict(), "width": args.width}
    game = {"rules": rules.to_dict(), "encoding": HalvesAndTokens()}
    return {
        MODULE: RLModuleSpec(module_class=HalvesModule, model_config=network),
        **{name: RLModuleSpec(module_class=PastSelfModule, model_config=network) for name in name_slots(args)},
        **{
            name: RLModuleSpec(module_class=rllib.PolicyModule, model_config={**game, "policy": text})
            for name, text in scripted.items()
        },
    }


def name_slots(args: Args) -> list[str]:
    """Return the names of the modules for past selves."""
    return [f"self_{number}" for number in range(args.max_past_selves)]
