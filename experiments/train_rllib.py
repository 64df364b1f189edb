"""Self-play as in experiments/train_ppo.py with RLlib's PPO: does it work on more than one machine?

    python3 -m venv .venv-rllib && .venv-rllib/bin/pip install -e '.[rllib]'
    .venv-rllib/bin/python -m experiments.train_rllib --num-env-runners 2

The network of agents/ppo/halves_net.py plays in the same league. On a Ray cluster the same command has the option
``--address auto`` (docs/rllib.md). The folder of the run then holds

    run.json, curve.jsonl     how the run went (agents/runs/run.py)
    checkpoint/               RLlib's, for agents/rllib/rllib_agent.py and for RLlib itself
    policy.safetensors        the latest weights, for genial_env/policies/ppo.py, which plays them with numpy

The answer, with numbers: docs/rllib.md.
"""

import ray

from agents.rllib.trainer import LOSSES, Args, Trainer
from agents.runs.config import parse_options
from agents.runs.run import Run, open_run
from genial_env._util.shutdown import handle_signals

__all__ = ["LOSSES", "Args", "main"]


def main(args: Args) -> Run:
    """Train and return the run.

    Raises:
        ValueError: if the folder holds a run already, or an option is out of its range.
    """
    if (args.out / "run.json").exists():
        raise ValueError(f"{args.out} has a run already, and RLlib runs are not resumed: name another folder by --out")
    ray.init(address=args.address, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    with open_run(args.out, "rllib", args) as run:
        trainer = Trainer(args, run)
        try:
            trainer.train()
        finally:
            trainer.algorithm.stop()
    return run


if __name__ == "__main__":
    with handle_signals("train_rllib"):
        main(parse_options(Args))
