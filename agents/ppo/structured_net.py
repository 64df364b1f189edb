"""A network with the game's structure, shared by all colors and cells, and its policy for MaskablePPO.

An unstructured network must learn every placement by itself. Here one small network scores every (cell, color): the
value of a half of that color on that cell. A tile's placement is the sum of its two halves:

    logit[slot, placement] = score[first cell, first color] + score[second cell, second color] + tile term of the slot

So what is learned on one cell in one color applies to all of them.
"""

import numpy as np
import torch
from torch import Tensor, nn

from agents.ppo.actor_critic import ActorCriticNet
from agents.ppo.net_policy import NetPolicy
from genial_env import Rules
from genial_env.core.hexgrid import cells
from genial_env.core.rules import TRACK_END
from genial_env.core.tables import tables

__all__ = ["StructuredNet", "StructuredPolicy"]

CELL_FEATURES = 3
"""Features of a (cell, color): the points there, and how far they move the own marker and the best other one."""

COLOR_FEATURES = 8
"""Features of a color, see :meth:`StructuredNet._color_features`."""


class StructuredNet(ActorCriticNet):
    """A network over observations of the encoding "planes".

    Args:
        rules: the rules of the observations; mode "individual", 2 to 4 seats.
        width: number of hidden units of the shared networks.

    Raises:
        ValueError: for another mode.
    """

    on_grid: Tensor
    ends: Tensor

    def __init__(self, rules: Rules, width: int = 24) -> None:
        super().__init__(rules, width)
        if rules.mode != "individual":
            raise ValueError(f"the structured network is for mode 'individual', not {rules.mode!r}")
        t = tables(rules)
        self.rules = rules
        row_and_column = cells(rules.side)[:, ::-1] + rules.side - 1
        on_grid = row_and_column @ np.array([2 * rules.side - 1, 1])
        self.register_buffer("on_grid", torch.as_tensor(on_grid), persistent=False)
        self.register_buffer("ends", torch.as_tensor(t.placements.T.copy()), persistent=False)  # [2, E]
        self.color_net = nn.Sequential(nn.Linear(COLOR_FEATURES, width), nn.ReLU(), nn.Linear(width, width))
        self.cell_net = nn.Linear(CELL_FEATURES, width)
        self.score_net = nn.Linear(width, 2)  # the score of a half here, and what covering the cell denies
        self.points_weight = nn.Parameter(torch.tensor(1.0))  # the initial policy is a soft greedy one
        self.tile_net = nn.Linear(width, 1)
        self.swap_net = nn.Linear(width, 2)
        self.value_net = nn.Sequential(
            nn.Linear(6 * rules.colors + 2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)
        )

    def forward(self, observation: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Compute logits [batch, A] and values [batch]."""
        free, points, own, other = self._read(observation)
        colors = self._color_features(observation, free, own, other)
        return self._logits(observation, free, points, own, other, colors), self._values(own, other, free, colors)

    def values(self, observation: dict[str, Tensor]) -> Tensor:
        """Compute values [batch]."""
        free, _, own, other = self._read(observation)
        return self._values(own, other, free, self._color_features(observation, free, own, other))

    def _read(self, observation: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Read the free cells [batch, N], the points [batch, C, N], and the own and best other markers [batch, C]."""
        board = observation["board"].flatten(2).index_select(2, self.on_grid)
        markers = observation["markers"]
        return board[:, 1], board[:, -self.rules.colors :], markers[:, 0], markers[:, 1:].amax(dim=1)

    def _color_features(self, observation: dict[str, Tensor], free: Tensor, own: Tensor, other: Tensor) -> Tensor:
        """Compute [batch, C, features]: markers, their distances to the lowest, halves in hand, share of free cells."""
        own, other = own / TRACK_END, other / TRACK_END
        in_hand = observation["rack"].sum(dim=(1, 2)) / self.rules.rack
        free_share = (free.mean(dim=1, keepdim=True)).expand_as(own)
        lowest, others_lowest = own.amin(dim=1, keepdim=True), other.amin(dim=1, keepdim=True)
        features = [
            own,
            other,
            own - lowest,
            other - others_lowest,
            (own == lowest).float(),
            in_hand,
            free_share,
            own * free_share,
        ]
        return torch.stack(features, dim=2)

    def _logits(
        self, observation: dict[str, Tensor], free: Tensor, points: Tensor, own: Tensor, other: Tensor, colors: Tensor
    ) -> Tensor:
        batch, n_colors, n_cells = points.shape
        color_hidden = self.color_net(colors)  # [batch, C, width]
        useful = torch.minimum(points, (self.rules.top - own)[:, :, None])
        denied = torch.minimum(points, (self.rules.top - other)[:, :, None])
        cell_features = torch.stack([points, useful, denied], dim=3) / 3.0
        hidden = torch.relu(self.cell_net(cell_features) + color_hidden[:, :, None, :])
        score, denial = self.score_net(hidden).unbind(dim=3)  # [batch, C, N]
        score = score + denial.sum(dim=1, keepdim=True) / n_colors + self.points_weight * useful
        rack = observation["rack"].flatten(1, 2)  # [batch, 2K, C]
        by_half = (
            torch.bmm(rack, score).reshape(batch, self.rules.rack, 2, n_cells).permute(2, 3, 0, 1)
        )  # [2, N, batch, K]
        placed = by_half[0].index_select(0, self.ends[0]) + by_half[1].index_select(0, self.ends[1])  # [E, batch, K]
        tile = torch.bmm(rack, self.tile_net(color_hidden)).reshape(batch, self.rules.rack, 2).sum(dim=2)
        placings = placed.permute(1, 2, 0) + tile[:, :, None]
        return torch.cat([placings.flatten(1), self.swap_net(color_hidden.mean(dim=1))], dim=1)

    def _values(self, own: Tensor, other: Tensor, free: Tensor, colors: Tensor) -> Tensor:
        own_sorted, other_sorted = own.sort(dim=1).values / TRACK_END, other.sort(dim=1).values / TRACK_END
        free_share = free.mean(dim=1, keepdim=True)
        lead = own_sorted - other_sorted
        in_hand = colors[:, :, 5]
        inputs = [
            own_sorted,
            other_sorted,
            lead,
            lead.cumsum(dim=1),
            lead * (1 - free_share),
            in_hand,
            free_share,
            free_share * free_share,
        ]
        value: Tensor = self.value_net(torch.cat(inputs, dim=1))[:, 0]
        return value


class StructuredPolicy(NetPolicy):
    """:class:`StructuredNet` as a policy of MaskablePPO."""

    net_class = StructuredNet
