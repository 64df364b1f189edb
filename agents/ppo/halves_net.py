"""A network that scores each half of a tile by its effects and starts as the policy "denial".

The agent "ppo" plays its weights (genial_env/policies/halves_net.py). The network is plain torch:
agents/ppo/halves_policy.py makes a MaskablePPO policy of it, agents/rllib/halves_module.py an RLlib module.

Observations are of the encoding "halves" (genial_env/policies/halves.py). One small network, shared by all colors and
cells, scores each (color, cell). The logit of a placement is the sum of the scores of its two halves and of a term of
its tile. A score has two parts:

    direct    features x weights that depend on the color's embedding; linear, initialized with the weights of "denial"
    hidden    features -> width -> the same outputs, shifted by the color's embedding; initialized close to zero

Each part yields a half's own score and the value of covering the cell whatever the color: the sum and the maximum over
colors. The embedding of a color is computed from its markers, its halves in hand and unseen, and the features of the
board for it, mixed with the mean over all colors. So logits move with a rotation of the board or a permutation of the
colors and do not change otherwise.

There are no layers over neighbouring cells: points follow whole lines, and so does what a half opens, so the features
hold what is further away.
"""

import torch
from torch import Tensor, nn

from agents.ppo.actor_critic import ActorCriticNet
from genial_env import Rules
from genial_env.core.rules import TRACK_END
from genial_env.core.tables import tables
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.halves import (
    COLOR_FEATURES,
    GAIN_STEP,
    HALF_FEATURES,
    HEADS,
    OPENED_STEP,
    SCALES,
    SHARPNESS,
    STANDING,
    UNSEEN_SCALE,
    VALUE_UNITS,
    count_value_inputs,
    make_half_sums,
)

__all__ = ["HalvesNet"]

TEMPERATURE = 100.0
"""Temperature of the initial policy, in eighths of a marker value, the unit of
:class:`~genial_env.policies.heuristic.HalfWeights`."""


class HalvesNet(ActorCriticNet):
    """A network over observations of the encoding "halves".

    Args:
        rules: the rules of the observations; at least two tracks.
        width: number of hidden units of the network over cells.

    Raises:
        ValueError: for solo rules.
    """

    half_sums: Tensor
    scales: Tensor

    def __init__(self, rules: Rules, width: int = 16) -> None:
        super().__init__(rules, width)
        if rules.tracks < 2:
            raise ValueError(f"the network compares with other seats, and mode {rules.mode!r} has none")
        self.rules = rules
        self.register_buffer("half_sums", torch.as_tensor(make_half_sums(tables(rules))), persistent=False)
        self.register_buffer("scales", 1 / torch.tensor(SCALES), persistent=False)
        self.color_net = Mixing(COLOR_FEATURES, STANDING)
        self.color_net_2 = Mixing(STANDING, STANDING)
        self.direct = nn.Linear(STANDING, HALF_FEATURES * HEADS)
        self.cell_net = nn.Linear(HALF_FEATURES, width)
        self.shift = nn.Linear(STANDING, width, bias=False)
        self.heads = nn.Linear(width, HEADS, bias=False)
        self.tile_net = nn.Linear(STANDING, 2)  # for each half of a tile; for a double in addition
        self.swap_net = nn.Linear(STANDING, 2)
        inputs, units = count_value_inputs(rules), VALUE_UNITS
        layers = [nn.Linear(inputs, units), nn.ReLU(), nn.Linear(units, units), nn.ReLU()]
        value_head = nn.Linear(units, 1)
        self.value_net = nn.Sequential(*layers, value_head)
        self._initialize_as_denial(value_head)

    def forward(self, observation: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Compute logits [batch, A] and values [batch]."""
        halves = observation["halves"] * self.scales
        standing = self._standing(observation, halves)
        return self._logits(observation, halves, standing), self._values(observation, standing)

    def values(self, observation: dict[str, Tensor]) -> Tensor:
        """Compute values [batch]."""
        return self._values(observation, self._standing(observation, observation["halves"] * self.scales))

    @torch.no_grad()
    def sharpen(self, factor: float) -> None:
        """Multiply all logits by a factor, in place. Above 1 the likely actions become likelier; their order stays."""
        for layer in (self.direct, self.heads, self.tile_net, self.swap_net):
            for parameter in layer.parameters():
                parameter.mul_(factor)

    def _standing(self, observation: dict[str, Tensor], halves: Tensor) -> Tensor:
        """Compute the embeddings of the colors [batch, C, STANDING]."""
        own, others = _markers(observation)
        lowest, others_lowest = own.amin(dim=1, keepdim=True), others.amin(dim=1, keepdim=True)
        features = [
            own,
            others,
            own - lowest,
            others - others_lowest,
            (own == lowest).float(),
            (others == others_lowest).float(),
            observation["rack"].sum(dim=(1, 2)) / self.rules.rack,
            observation["unseen"] / UNSEEN_SCALE,
            observation["free"].mean(dim=1, keepdim=True).expand_as(own),
        ]
        on_board = [3 * halves.mean(dim=2), halves.amax(dim=2)]
        inputs = torch.cat([torch.stack(features, dim=2), *on_board], dim=2)
        standing: Tensor = self.color_net_2(self.color_net(inputs))
        return standing

    def _logits(self, observation: dict[str, Tensor], halves: Tensor, standing: Tensor) -> Tensor:
        batch, colors, cells, features = halves.shape
        weights = self.direct(standing).reshape(batch * colors, features, HEADS)
        direct = torch.bmm(halves.reshape(batch * colors, cells, features), weights)
        hidden = torch.relu(self.cell_net(halves) + self.shift(standing)[:, :, None])
        heads = direct.reshape(batch, colors, cells, HEADS) + self.heads(hidden)
        score, summed, most, most_against = (SHARPNESS * heads).unbind(dim=3)  # each [batch, C, N]
        covering = summed.mean(dim=1) + most.amax(dim=1) - most_against.amax(dim=1)
        score = score + covering[:, None]
        rack = observation["rack"]  # [batch, K, 2, C]
        by_half = torch.bmm(rack.flatten(1, 2), score).reshape(-1, 2 * cells)  # [batch * K, 2N]
        placed = (by_half @ self.half_sums).reshape(batch, self.rules.rack, -1)
        terms = SHARPNESS * self.tile_net(standing)  # [batch, C, 2]
        of_tile = torch.stack([rack.sum(dim=2), rack.prod(dim=2)], dim=3)  # [batch, K, C, 2]
        tile = (of_tile * terms[:, None]).sum(dim=(2, 3))
        swapping = SHARPNESS * self.swap_net(standing.mean(dim=1))
        return torch.cat([(placed + tile[:, :, None]).flatten(1), swapping], dim=1)

    def _values(self, observation: dict[str, Tensor], standing: Tensor) -> Tensor:
        own, others = (markers.sort(dim=1).values for markers in _markers(observation))
        free_share = observation["free"].mean(dim=1, keepdim=True)
        in_hand = observation["rack"].sum(dim=(1, 2)).sort(dim=1).values / self.rules.rack
        lead = own - others
        numbers = [
            own,
            others,
            lead,
            lead.cumsum(dim=1),
            lead * (1 - free_share),
            in_hand,
            free_share,
            free_share * free_share,
        ]
        whole = [standing.mean(dim=1), standing.amax(dim=1)]
        turn = [observation[name] for name in ("phase", "pending_bonus", "has_placed")]
        value: Tensor = self.value_net(torch.cat([*numbers, *whole, *turn], dim=1))[:, 0]
        return value

    @torch.no_grad()
    def _initialize_as_denial(self, value_head: nn.Linear) -> None:
        """Set the direct weights in place to those of the policy "denial", and everything else close to zero."""
        for layer in (self.direct, self.tile_net, self.swap_net, value_head):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.heads.weight.mul_(0.1 / SHARPNESS)
        self.swap_net.bias.copy_(torch.tensor([1.0, -1.0]))  # always swap, never decline
        weights, colors = DenialPolicy().weights(self.rules), self.rules.colors
        _, _, _, own_gain, others_gain, opened, opened_to_others = self.direct.bias.reshape(HALF_FEATURES, HEADS)
        own_gain += torch.tensor([8, -colors * weights.forgone_total, 0, weights.forgone_max])
        others_gain += torch.tensor([0, colors * weights.denied_total, weights.denied_max, 0])
        opened[0], opened_to_others[0] = weights.opened, -weights.opened_to_others
        steps = torch.tensor([1, 1, 1, GAIN_STEP, GAIN_STEP, OPENED_STEP, OPENED_STEP])
        units = steps * torch.tensor(SCALES) / (TEMPERATURE * SHARPNESS)
        self.direct.bias.reshape(HALF_FEATURES, HEADS).mul_(units[:, None])


class Mixing(nn.Module):
    """A layer from [batch, C, inputs] to [batch, C, outputs] over each color and the mean over all colors."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.mean = nn.Linear(inputs, outputs, bias=False)

    def forward(self, colors: Tensor) -> Tensor:
        """Compute [batch, C, outputs]."""
        return torch.relu(self.own(colors) + self.mean(colors.mean(dim=1, keepdim=True)))


def _markers(observation: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """Return the own markers and the best other ones, each [batch, C], as shares of the track."""
    markers = observation["markers"] / TRACK_END
    return markers[:, 0], markers[:, 1:].amax(dim=1)
