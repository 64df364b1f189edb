"""The network of the agent "ppo": it scores the afterstates of the candidates, and its critic sees everything.

Observations are of the encoding AfterstateChoices (genial_env/policies/afterstate_choices.py), with the tiles that
agents/ppo/central_env.py adds.

    actor     the value network (agents/value/torch_net.py): logit of a candidate = predicted rank utility / TEMPERATURE
    critic    utility by the reference network + a correction, which begins as 0

Both begin with the weights of a value network, if the run starts from some. Then the policy is the agent "value" with
noise. The correction is computed from what the critic alone may see. For each tile kind it reads who holds such tiles,
how many are in the bag, and what its best placements gain after the candidate that the reference network values
highest. The mean over the kinds and the features of the game pass two layers.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.ppo.actor_critic import ActorCriticNet
from agents.ppo.central_env import TILES
from agents.value.self_play import SelfPlayTask, self_play
from agents.value.torch_net import TorchValueNet
from genial_env import Rules
from genial_env.core.arrays import Floats32
from genial_env.core.tables import tables
from genial_env.policies.afterstates import Features, game_features, kind_features
from genial_env.policies.ppo import TEMPERATURE
from genial_env.policies.value_net import Widths

__all__ = ["DEFAULT_WIDTHS", "AfterstatesNet"]

DEFAULT_WIDTHS = Widths(first=48, kind=32, second=48, third=64, fourth=32)
"""Hidden units of the actor if a run does not start from weights."""

NEVER = -1e6
"""The logit of actions that are no candidates; its exponential is 0."""

SAMPLE_GAMES = 16
"""Games of "denial" whose afterstates set the scale of the inputs."""


class AfterstatesNet(ActorCriticNet):
    """A network over observations of the encoding AfterstateChoices, with the hidden tiles.

    Args:
        rules: the rules of the observations; at least two tracks.
        width: number of hidden units of each layer of the critic.
        widths: numbers of hidden units of the actor.

    Raises:
        ValueError: for solo rules.
    """

    utilities: Tensor

    def __init__(self, rules: Rules, width: int = 32, widths: Widths = DEFAULT_WIDTHS) -> None:
        super().__init__(rules, width)
        if rules.tracks < 2:
            raise ValueError(f"the network compares with other seats, and mode {rules.mode!r} has none")
        self.n_actions = tables(rules).n_actions
        self.actor = TorchValueNet(rules, widths, _make_sample(rules))
        utilities, _ = self.actor.outcomes.weights
        self.register_buffer("utilities", torch.as_tensor(utilities), persistent=False)
        self.kind_net = nn.Linear(len(kind_features(rules)) + rules.players + 1, width)
        value_head = nn.Linear(width, 1)
        nn.init.zeros_(value_head.weight)
        nn.init.zeros_(value_head.bias)
        self.value_net = nn.Sequential(nn.Linear(width + len(game_features(rules)) + 1, width), nn.ReLU(), value_head)

    def forward(self, observation: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Compute logits [batch, A] and values [batch]."""
        actions = observation["actions"].long()  # [batch, K]
        game, place = (actions >= 0).nonzero(as_tuple=True)
        chances = self.actor(observation["features"][game, place]).softmax(dim=2)
        predicted = chances[:, 0] @ self.utilities
        over = observation["over"][game, place] > 0
        utility = torch.where(over, observation["results"][game, place], predicted)
        logits = utility.new_full((len(actions), self.n_actions), NEVER)
        return logits.index_put((game, actions[game, place]), utility / TEMPERATURE), self.values(observation)

    def values(self, observation: dict[str, Tensor]) -> Tensor:
        """Compute values [batch]."""
        _, kinds, whole = self.actor.standardize(observation["features"][:, 0])
        held = observation[TILES].transpose(1, 2)  # [batch, M, P + 1]
        of_kinds = torch.relu(self.kind_net(torch.cat([kinds, held], dim=2))).mean(dim=1)
        reference = observation["reference"]
        correction: Tensor = self.value_net(torch.cat([of_kinds, whole, reference], dim=1))
        return (reference + correction)[:, 0]

    def get_arrays(self) -> dict[str, Floats32]:
        """Return the weights of the actor, which a file of weights holds."""
        return self.actor.arrays()

    def load_arrays(self, arrays: Mapping[str, NDArray[np.float32]]) -> None:
        """Set the weights of the actor in place."""
        self.actor.load_arrays(arrays)


@lru_cache(maxsize=4)
def _make_sample(rules: Rules) -> Features:
    """Return the afterstates of some games, always the same."""
    return self_play(SelfPlayTask(rules, {}, games=SAMPLE_GAMES)).features
