"""A MaskablePPO policy with the game's structure.

A flat network must learn every placement by itself. Here one small network, shared by all colors and cells, scores each
(cell, color): what a half of that color would be worth there. A tile's placement is the sum of its two halves; so the
logit of (slot, placement) is

    score[first cell, first color] + score[second cell, second color] + tile term of the slot

and what is learned on one cell in one color is known everywhere.
"""

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from agents.ppo.masked import LeanMaskedCategorical
from genial_env import Rules
from genial_env.core.hexgrid import cells
from genial_env.core.rules import TRACK_END
from genial_env.core.tables import tables

CELL_FEATURES = 3
"""Per (cell, color): the points there, those that move the own marker, those that would move the next seat's."""

COLOR_FEATURES = 8
"""Per color, see :meth:`StructuredNet._color_features`."""


class StructuredNet(nn.Module):
    """Observations of the encoding "planes" to logits [batch, A] and values [batch].

    Args:
        rules: the rules that the observations are of; individual mode, 2 to 4 seats.
        width: hidden units of the shared networks.
    """

    def __init__(self, rules: Rules, width: int = 24) -> None:
        super().__init__()
        if rules.mode != "individual":
            raise ValueError(f"the structured policy knows single tracks only, not mode {rules.mode!r}")
        t = tables(rules)
        self.rules = rules
        row_and_column = cells(rules.side)[:, ::-1] + rules.side - 1
        on_grid = row_and_column @ np.array([2 * rules.side - 1, 1])
        self.register_buffer("on_grid", torch.as_tensor(on_grid), persistent=False)
        self.register_buffer("ends", torch.as_tensor(t.placements.T.copy()), persistent=False)  # [2, E]
        self.color_net = nn.Sequential(nn.Linear(COLOR_FEATURES, width), nn.ReLU(), nn.Linear(width, width))
        self.cell_net = nn.Linear(CELL_FEATURES, width)
        self.score_net = nn.Linear(width, 2)  # what a half scores here, and what covering the cell denies
        self.points_weight = nn.Parameter(torch.tensor(1.0))  # begins as a soft greedy policy, and learns from there
        self.tile_net = nn.Linear(width, 1)
        self.swap_net = nn.Linear(width, 2)
        self.value_net = nn.Sequential(
            nn.Linear(6 * rules.colors + 2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)
        )

    def forward(self, observation: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Logits [batch, A] and values [batch]."""
        free, points, own, other = self._read(observation)
        colors = self._color_features(observation, free, own, other)
        return self._logits(observation, free, points, own, other, colors), self._values(own, other, free, colors)

    def values(self, observation: dict[str, Tensor]) -> Tensor:
        """[batch]."""
        free, _, own, other = self._read(observation)
        return self._values(own, other, free, self._color_features(observation, free, own, other))

    def _read(self, observation: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Free cells [batch, N], points map [batch, C, N], own markers and the best other's [batch, C]."""
        board = observation["board"].flatten(2).index_select(2, self.on_grid)
        markers = observation["markers"]
        return board[:, 1], board[:, -self.rules.colors :], markers[:, 0], markers[:, 1:].amax(dim=1)

    def _color_features(self, observation: dict[str, Tensor], free: Tensor, own: Tensor, other: Tensor) -> Tensor:
        """[batch, C, features]: the markers, their distances to the lowest, halves in hand, room on the board."""
        own, other = own / TRACK_END, other / TRACK_END
        in_hand = observation["rack"].sum(dim=(1, 2)) / self.rules.rack
        room = (free.mean(dim=1, keepdim=True)).expand_as(own)
        lowest, others_lowest = own.amin(dim=1, keepdim=True), other.amin(dim=1, keepdim=True)
        features = [own, other, own - lowest, other - others_lowest, (own == lowest).float(), in_hand, room, own * room]
        return torch.stack(features, dim=2)

    def _logits(
        self, observation: dict[str, Tensor], free: Tensor, points: Tensor, own: Tensor, other: Tensor, colors: Tensor
    ) -> Tensor:
        batch, n_colors, n_cells = points.shape
        color_hidden = self.color_net(colors)  # [batch, C, width]
        useful = torch.minimum(points, (TRACK_END - own)[:, :, None])
        denied = torch.minimum(points, (TRACK_END - other)[:, :, None])
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
        room = free.mean(dim=1, keepdim=True)
        lead = own_sorted - other_sorted
        in_hand = colors[:, :, 5]
        inputs = [own_sorted, other_sorted, lead, lead.cumsum(dim=1), lead * (1 - room), in_hand, room, room * room]
        value: Tensor = self.value_net(torch.cat(inputs, dim=1))[:, 0]
        return value


class StructuredPolicy(MaskableActorCriticPolicy):
    """:class:`StructuredNet` with a lean masked distribution, as MaskablePPO's policy.

    A subclass may have another network, called as this one and with its arguments.

    Args:
        rules_arguments: of :class:`~genial_env.core.rules.Rules`, as its ``to_dict`` gives them.
        width: hidden units of the shared networks.
    """

    net_class: type[nn.Module] = StructuredNet

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        rules_arguments: dict[str, Any],
        width: int = 24,
        **kwargs: Any,
    ) -> None:
        self._net_arguments = {"rules_arguments": rules_arguments, "width": width}
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        rules = Rules.from_dict(self._net_arguments["rules_arguments"])
        self.net = self.net_class(rules, self._net_arguments["width"])
        self.action_dist = LeanMaskedCategorical(int(self.action_space.n))
        self.features_extractor = self.pi_features_extractor = self.vf_features_extractor = nn.Identity()
        self.optimizer = self.optimizer_class(self.net.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | self._net_arguments

    def forward(
        self, obs: Any, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions [batch], values [batch, 1] and log-probabilities [batch]."""
        logits, values = self.net(_floats(obs))
        distribution = self._masked(logits, action_masks)
        actions = distribution.get_actions(deterministic=deterministic)
        return actions, values[:, None], distribution.log_prob(actions)

    def evaluate_actions(
        self, obs: Any, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Values [batch, 1], log-probabilities and entropies [batch]."""
        logits, values = self.net(_floats(obs))
        distribution = self._masked(logits, action_masks)
        return values[:, None], distribution.log_prob(actions), distribution.entropy()

    def get_distribution(self, obs: Any, action_masks: np.ndarray | None = None) -> LeanMaskedCategorical:
        """The distribution over actions."""
        return self._masked(self.net(_floats(obs))[0], action_masks)

    def predict_values(self, obs: Any) -> Tensor:
        """[batch, 1]."""
        return self.net.values(_floats(obs))[:, None]

    def _masked(self, logits: Tensor, action_masks: Any) -> LeanMaskedCategorical:
        distribution = LeanMaskedCategorical(logits.shape[1]).proba_distribution(logits)
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution


def _floats(observation: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.float() for name, value in observation.items()}
