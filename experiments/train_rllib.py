"""Beyond one machine: the self-play of experiments/train_ppo.py with RLlib's PPO, env runners on Ray.

    python3 -m venv .venv-rllib && .venv-rllib/bin/pip install -e '.[rllib]'
    .venv-rllib/bin/python -m experiments.train_rllib --num-env-runners 2

The same network (agents/ppo/halves_net.py) meets the same league: in every game one seat learns, and each other one is
drawn from scripted agents and past selves, those that are hard to beat more often. For RLlib they are modules: one that
learns, a slot for each past self, to which the learner's weights are copied, and one for each scripted agent. On a Ray
cluster the same script runs with ``--address auto`` (docs/rllib.md). The folder then holds

    run.json, curve.jsonl     how the run went (agents/runs/runs.py)
    checkpoint/               RLlib's, for agents/rllib/rllib_agent.py and for whatever RLlib does with one
    policy.safetensors        the latest weights, for genial_env/policies/ppo.py, which plays them with numpy alone

The answer, of short runs only: it works, takes five times as long on one machine, and is for more of them. After 83,000
decisions in 503 s with one env runner 51.2% ± 3.0% against denial, as which the network begins, and 93.7% ± 1.5%
against greedy. With the same settings train_ppo has 55.5% ± 3.1% and 92.1% ± 1.7% in 93 s: whether the difference is
more than chance, these games do not say.
"""

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
import torch
import tyro
from numpy.typing import NDArray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from rich.console import Console

from agents.ppo.halves_net import HalvesNet
from agents.ppo.league import League, results_of_game
from agents.ppo.past_self import PastSelf
from agents.rllib.halves_module import HalvesAndTokens, HalvesModule, PastSelfModule
from agents.rllib.rllib_agent import MODULE
from agents.runs.evaluation import measure
from agents.runs.runs import Run, running
from genial_env import Rules
from genial_env._util.shutdown import handle_signals
from genial_env.envs import rllib
from genial_env.policies import weight_files
from genial_env.policies.halves import Halves
from genial_env.policies.ppo import KIND, PPO, layout

WEIGHTS, CHECKPOINT = "policy.safetensors", "checkpoint"

LOSSES = ("policy_loss", "vf_loss", "entropy", "vf_explained_var")
"""What a line of the curve says of the last update, besides how the agent plays."""

RESULTS = "results"
"""What RLlib's metrics call the games' results by opponent."""

EVALUATION_SEED = 10**6
"""Evaluations are of deals that the training does not see."""

LAST_TIMES = 10
"""How many times the deals of the other measurements the last one has."""

Arrays = dict[str, NDArray[Any]]


@dataclass
class Args:
    """The settings; each is an option of the command line."""

    players: int = 2
    edition: str = "2025"
    mode: str = "individual"
    side: int | None = None
    """variant: cells along an edge of the board"""
    colors: int = 6
    """variant: colors in play"""
    rack: int | None = None
    """variant: tiles on a rack"""
    iterations: int = 300
    """updates"""
    num_env_runners: int = 2
    """processes that play, on whatever machines Ray has; 0: this one plays"""
    num_envs: int = 8
    """games at a time in each of them"""
    batch: int = 4096
    """decisions of the learning seat between two updates, more or less"""
    minibatch: int = 512
    epochs: int = 3
    learning_rate: float = 1.5e-3
    """falls linearly to nothing"""
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    entropy_weight: float = 0.0
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
    width: int = 16
    """hidden units of the network over cells"""
    start_from: Path | None = None
    """weights to begin with, as policy.safetensors has them"""
    ladder: tuple[str, ...] = ("greedy", "denial")
    """whom the agent is measured against"""
    measure_every: int = 50
    """updates between two measurements and checkpoints"""
    deals: int = 200
    """of a measurement, played from every seat; in the last one ten times as many"""
    seed: int = 0
    address: str | None = None
    """of a Ray cluster, "auto" for the one that this machine belongs to; none starts Ray here"""
    out: Path = Path("runs/rllib")


def main(args: Args) -> Run:
    """Train; the run.

    Raises:
        ValueError: for a folder that has a run already, or settings that cannot be.
    """
    if (args.out / "run.json").exists():
        raise ValueError(f"{args.out} has a run already, and RLlib's do not go on: name another folder by --out")
    ray.init(address=args.address, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    with running(args.out, "rllib", args) as run:
        trainer = Trainer(args, run)
        try:
            trainer.go()
        finally:
            trainer.algorithm.stop()
    return run


@dataclass(frozen=True)
class Seating:
    """Which module plays an agent: the learner on one seat, drawn for every game, and on each other one of the league.

    RLlib calls it for the agents of a game one after the other, perhaps in several processes; so what it draws follows
    from the name that RLlib gives the game.

    Attributes:
        players: how many seats there are.
        shares: how often each module of the league is met, by name.
    """

    players: int
    shares: dict[str, float]

    def __call__(self, agent: str, episode: Any, **_: Any) -> str:
        """The name of the module."""
        luck = random.Random(episode.id_)
        seat = luck.randrange(self.players)
        modules = luck.choices(list(self.shares), list(self.shares.values()), k=self.players)
        modules[seat] = MODULE
        return modules[int(agent.removeprefix("player_"))]


class TellResults(RLlibCallback):  # type: ignore[misc]  # ray has no types to build on
    """Says of every game how the learner did against each module of the league."""

    def on_episode_end(self, *, episode: Any, metrics_logger: Any, **_: Any) -> None:
        """In place: the results go to the metrics. RLlib calls it."""
        agents = sorted(episode.agent_ids)
        modules = [episode.module_for(agent) for agent in agents]
        seat = modules.index(MODULE)
        ranks = episode.get_infos(-1)[agents[seat]]["ranks"]
        info = {"seat": seat, "ranks": ranks, "opponents": modules[seat + 1 :] + modules[:seat]}
        for name, result in results_of_game(info, len(ranks)):
            metrics_logger.log_value((RESULTS, name), result, reduce="item_series")


class Trainer:
    """A run in memory: RLlib's algorithm, and the league whose members are its modules.

    Args:
        args: the settings.
        run: its folder.
    """

    def __init__(self, args: Args, run: Run) -> None:
        self.args, self.run = args, run
        self.rules = Rules(
            args.players,
            args.edition,
            args.mode,
            side=args.side,  # type: ignore[arg-type]  # None is as printed
            colors=args.colors,
            rack=args.rack,  # type: ignore[arg-type]
        )
        self.moves, self.games = 0, 0
        self.league = League(
            args.scripted, self._past_self, args.selves_share, args.most_selves, args.hardness, args.memory
        )
        self.algorithm = self._config().build_algo()
        if args.start_from is not None:
            self._set_weights(MODULE, weight_files.read(args.start_from, KIND, self.rules, layout)[0])

    def go(self) -> None:
        """In place: train to the end, and measure what came of it."""
        args, console = self.args, Console()
        for iteration in range(1, args.iterations + 1):
            found = self._train()
            losses = {name: float(found["learners"][MODULE][name]) for name in LOSSES}
            shown = ", ".join(f"{name} {value:.3f}" for name, value in losses.items())
            console.print(f"{iteration:4d}  {self.moves:,} decisions  {self.run.wall_s:,.0f} s  {shown}")
            last = iteration == args.iterations
            if last or iteration % args.measure_every == 0:
                line = self.measure(args.deals * (LAST_TIMES if last else 1), losses)
            if iteration % args.keep_every == 0:
                self.keep_self()
        self.run.finish(self.moves, self.games)
        for name, against in line["against"].items():
            console.print(f"against {name}: {against['mean']:.3f} ± {against['half']:.3f}, {against['games']:,} games")
        console.print(f"In {args.out}: {WEIGHTS}, {CHECKPOINT}, run.json, curve.jsonl")

    def measure(self, deals: int, losses: dict[str, float]) -> dict[str, Any]:
        """In place: write checkpoint and weights, measure what the weights play, and keep what was found."""
        args = self.args
        self.algorithm.save_to_path(str((args.out / CHECKPOINT).absolute()))
        about = {"architecture": "HalvesNet", "width": args.width, "command": self.run.command, "seed": args.seed}
        about |= {"moves": self.moves, "wall_s": self.run.wall_s, "cpu_s": self.run.cpu_s}
        weight_files.write(args.out / WEIGHTS, KIND, self.rules, self._weights(), **about)
        agent = PPO(args.out / WEIGHTS)
        found = measure(agent, args.ladder, self.rules, deals, args.seed + EVALUATION_SEED + self.moves)
        rates = {opponent.policy.name: round(opponent.win_rate, 4) for opponent in self.league.opponents}
        return self.run.add(self.moves, self.games, found, win_rates=rates, **losses)

    def keep_self(self) -> None:
        """In place: today's weights join the league, in a slot that is free or that the easiest past self leaves.

        Games that are running against that one have another opponent then; in new ones shares are today's.
        """
        weights = self._weights()
        self.league.keep(self.moves, weights)
        self._set_weights(self.league.selves[-1].policy.name, weights)

    def _train(self) -> dict[str, Any]:
        """In place: an update; what RLlib says of it."""
        seating = Seating(self.rules.players, self.league.shares)

        def seat(env_runner: Any) -> None:
            env_runner.config.multi_agent(policy_mapping_fn=seating)

        self.algorithm.env_runner_group.foreach_env_runner(seat)  # each time, as Ray may have started some anew
        found: dict[str, Any] = self.algorithm.train()
        self.moves += int(found["env_runners"]["num_module_steps_sampled"][MODULE])
        self.games += int(found["env_runners"]["num_episodes"])
        for name, results in found["env_runners"].get(RESULTS, {}).items():
            for result in results if isinstance(results, list) else []:  # NaN where a module was not met
                self.league.tell(name, result)
        return found

    def _weights(self) -> Arrays:
        """The learner's, by the names that the network has for them."""
        state = self.algorithm.learner_group.get_weights([MODULE])[MODULE]
        return {name.removeprefix("net."): array for name, array in state.items()}

    def _set_weights(self, module: str, weights: Arrays) -> None:
        """In place: a module's, here and in all env runners."""
        learners = self.algorithm.learner_group
        learners.set_weights({module: {f"net.{name}": array for name, array in weights.items()}})
        self.algorithm.env_runner_group.sync_weights(from_worker_or_learner_group=learners, policies=[module])

    def _past_self(self, moves: int, weights: Arrays) -> PastSelf:
        """Named as the slot that it is to have, the first that is free."""
        taken = {opponent.policy.name for opponent in self.league.selves}
        slot = next(name for name in slots(self.args) if name not in taken)
        net = HalvesNet(self.rules, self.args.width)
        net.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
        return PastSelf(net, Halves(), slot)

    def _config(self) -> PPOConfig:
        """RLlib's PPO set up as train_ppo's."""
        args, rules = self.args, self.rules
        rllib.register()
        modules = make_modules(args, rules)
        total = args.iterations * args.batch * rules.players
        return (
            PPOConfig()
            .environment("genial_env", env_config={**rules.to_dict(), "encoding": HalvesAndTokens()})
            .env_runners(num_env_runners=args.num_env_runners, num_envs_per_env_runner=args.num_envs)
            .multi_agent(
                policies=set(modules),
                policy_mapping_fn=Seating(rules.players, self.league.shares),
                policies_to_train=[MODULE],
            )
            .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=modules))
            .callbacks(TellResults)
            .training(
                lr=[[0, args.learning_rate], [total, 0.0]],
                gamma=1.0,
                lambda_=args.gae_lambda,
                clip_param=args.clip_range,
                use_kl_loss=False,
                vf_loss_coeff=0.5,
                entropy_coeff=args.entropy_weight,
                train_batch_size_per_learner=args.batch * rules.players,
                minibatch_size=args.minibatch,
                num_epochs=args.epochs,
                grad_clip=0.5,
            )
            .debugging(seed=args.seed, log_level="ERROR")
        )


def make_modules(args: Args, rules: Rules) -> dict[str, RLModuleSpec]:
    """By name: the module that learns, a slot for each past self, the scripted agents."""
    network = {"rules": rules.to_dict(), "width": args.width}
    scripted = {"rules": rules.to_dict(), "encoding": HalvesAndTokens()}
    return {
        MODULE: RLModuleSpec(module_class=HalvesModule, model_config=network),
        **{name: RLModuleSpec(module_class=PastSelfModule, model_config=network) for name in slots(args)},
        **{
            name: RLModuleSpec(module_class=rllib.PolicyModule, model_config={**scripted, "policy": name})
            for name in args.scripted
        },
    }


def slots(args: Args) -> list[str]:
    """The names of the modules for past selves."""
    return [f"self_{number}" for number in range(args.most_selves)]


if __name__ == "__main__":
    with handle_signals("train_rllib"):
        main(tyro.cli(Args))
