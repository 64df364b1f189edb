"""MaskablePPO by self-play: can it improve the network of the agent "value"?

    python -m experiments.train_ppo --start-from genial_env/policies/weights/value-2.safetensors --out runs/ppo
    tensorboard --logdir runs/ppo/tensorboard

The same command resumes an interrupted run. The network of agents/ppo/afterstates_net.py plays against a league of its
past selves and scripted agents, hard ones more often. It is evaluated regularly. The folder of the run then holds

    run.json, curve.jsonl     how the run went (agents/runs/run.py)
    config.yaml               all options, for --config
    checkpoint.pt             the complete state: an interrupted run resumes from it and ends bit for bit the same
    evaluations.npz, best_model.zip    of sb3-contrib's MaskableEvalCallback, against the last of the opponents
    policy.safetensors        the latest weights, for genial_env/policies/ppo.py
    tensorboard/

The answer, with all numbers: docs/training.md, "PPO".
"""

import torch

from agents.ppo.trainer import MAY_CHANGE, Args, Trainer
from agents.runs.config import parse_options
from agents.runs.run import Run, open_run
from genial_env import use_backend
from genial_env._util.shutdown import handle_signals

__all__ = ["Args", "main"]


def main(args: Args) -> Run:
    """Train, or resume training, and return the run."""
    torch.set_num_threads(args.threads)
    with use_backend(args.backend), open_run(args.out, "ppo", args, MAY_CHANGE) as run:
        Trainer(args, run).train()
        return run


if __name__ == "__main__":
    with handle_signals("train_ppo"):
        main(parse_options(Args))
