"""The options that the PPO trainers share; they become options of the command line.

Names are those of Stable-Baselines3 where it has the option.
"""

from dataclasses import dataclass
from pathlib import Path

from agents.ppo.league import LeagueOptions
from agents.runs.config import Range, check_ranges
from agents.runs.evaluation import check_opponents
from genial_env import Rules
from genial_env.policies.weight_files import read_metadata

__all__ = ["EVAL_SEED_OFFSET", "FINAL_EVAL_FACTOR", "MOST_SEED", "PPOOptions"]

EVAL_SEED_OFFSET = 10**6
"""Added to the seed for evaluations, so that their deals differ from those of training."""

FINAL_EVAL_FACTOR = 10
"""The final evaluation has so many times the deals of the others."""

MOST_SEED = 2**32 - 1
"""The largest seed of numpy's global generator, which Stable-Baselines3 seeds."""

COUNTS = ("batch_size", "n_epochs", "width", "eval_every", "snapshot_every", "max_past_selves", "win_rate_horizon")

RANGES: dict[str, Range] = {
    "seed": (0, MOST_SEED),
    "eval_deals": (2, None),  # an interval needs two
    **dict.fromkeys(COUNTS, (1, None)),
    **dict.fromkeys(("gae_lambda", "past_self_share"), (0.0, 1.0)),
    **dict.fromkeys(("learning_rate", "clip_range", "pfsp_power"), (0.0, None)),
    "ent_coef": (None, None),
}
"""The ranges of the options."""


@dataclass
class PPOOptions(LeagueOptions):
    """The options of a PPO run, whatever library trains."""

    players: int = 2
    """number of seats"""
    edition: str = "2025"
    """edition of the rules"""
    mode: str = "individual"
    """"individual" or "team" (four seats)"""
    batch_size: int = 512
    """decisions in a minibatch"""
    n_epochs: int = 3
    """passes over the decisions of an update"""
    learning_rate: float = 1.5e-3
    """initial learning rate; it falls linearly to 0"""
    gae_lambda: float = 0.95
    """lambda of generalized advantage estimation"""
    clip_range: float = 0.2
    """clipping range of PPO's loss"""
    ent_coef: float = 0.0
    """coefficient of the entropy bonus"""
    width: int = 16
    """hidden units of the network"""
    start_from: Path | None = None
    """weights to start from, a file policy.safetensors"""
    eval_opponents: tuple[str, ...] = ("greedy", "denial")
    """opponents of evaluations"""
    eval_every: int = 50
    """updates between two evaluations"""
    eval_deals: int = 200
    """deals of an evaluation, each played from every seat; ten times as many in the final one"""
    seed: int = 0
    """seed of the run"""

    @property
    def rules(self) -> Rules:
        """The rules of the games."""
        return Rules(self.players, self.edition, self.mode)

    def check(self) -> None:
        """Check the options (:class:`agents.runs.config.Checked`)."""
        check_ranges(self, RANGES)
        if not self.scripted:
            raise ValueError("--scripted: expected at least one opponent, got none")
        for opponents in (self.scripted, self.eval_opponents):
            check_opponents(opponents, self.rules)
        if self.start_from is not None:
            read_metadata(self.start_from)
