"""Parts of sb3-contrib's MaskablePPO for thousands of actions, independent of this game.

A faster masked distribution, policies that use it, rollout buffers that keep masks as bits, and a MaskablePPO whose
``save`` is atomic::

    MaskablePPO(LeanPolicy, env, rollout_buffer_class=PackedMaskRolloutBuffer)              # array observations
    MaskablePPO(LeanMultiInputPolicy, env, rollout_buffer_class=PackedMaskDictRolloutBuffer)  # dict observations

sb3-contrib's own distribution masks logits with -1e8, whose exp underflows slowly, and samples with
``torch.multinomial``. Its buffer keeps a float32 for every entry of a mask, 32 times as much as a bit.
`experiments/ppo_speed.py` measures both.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import (
    MaskableDictRolloutBuffer,
    MaskableDictRolloutBufferSamples,
    MaskableRolloutBuffer,
    MaskableRolloutBufferSamples,
)
from sb3_contrib.common.maskable.distributions import MaskableDistribution, MaybeMasks
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy, MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.buffers import DictRolloutBuffer, RolloutBuffer
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from genial_env._util.files import replace_path

__all__ = [
    "AtomicSaveMaskablePPO",
    "LeanMaskedCategorical",
    "LeanMultiInputPolicy",
    "LeanPolicy",
    "PackedMaskDictRolloutBuffer",
    "PackedMaskRolloutBuffer",
    "count_actions",
]

# The distribution


class LeanMaskedCategorical(MaskableDistribution):
    """A categorical distribution over the actions that a mask allows, for sb3-contrib's policies.

    Call ``proba_distribution(logits)`` and then ``apply_masking(masks)``. Without masks every action is allowed. Equal
    to sb3-contrib's distribution up to rounding, except that masked actions have probability exactly 0. Gradients are
    explicit formulas, which makes the backward pass several times as fast.

    Args:
        action_dim: A, the number of actions.
    """

    logits: Tensor  # [batch, A]

    def __init__(self, action_dim: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # sb3-contrib's has no type hints
        self.action_dim = action_dim

    def proba_distribution_net(self, latent_dim: int) -> nn.Module:
        """Create the layer from a policy's last hidden layer to logits."""
        return nn.Linear(latent_dim, self.action_dim)

    def proba_distribution(self, action_logits: Tensor) -> "LeanMaskedCategorical":
        """Set the logits [batch, A] in place; they must be finite."""
        self.logits = action_logits.reshape(-1, self.action_dim)
        self._cached_softmax: _MaskedSoftmax | None = None
        self._masks: MaybeMasks = None
        return self

    def apply_masking(self, masks: MaybeMasks) -> None:
        """Set the masks [batch, A] in place: True allows an action, at least one in each row. None allows all."""
        self._cached_softmax, self._masks = None, masks

    def log_prob(self, actions: Tensor) -> Tensor:
        """Compute the log-probabilities [batch] of allowed actions."""
        found: Tensor = _LogProb.apply(  # type: ignore[no-untyped-call]  # torch's has no type hints
            self.logits, self._softmax, actions.long().reshape(-1, 1)
        )
        return found

    def entropy(self) -> Tensor:
        """Compute the entropies [batch]."""
        found: Tensor = _Entropy.apply(  # type: ignore[no-untyped-call]  # torch's has no type hints
            self.logits, self._softmax
        )
        return found

    def sample(self) -> Tensor:
        """Sample actions [batch] by inverting the cumulative distribution; only allowed ones, whatever the rounding."""
        cumulative = self._softmax.probs.double().cumsum(dim=1)
        total = cumulative[:, -1:]
        uniform = torch.rand(len(cumulative), 1, dtype=torch.float64, device=cumulative.device)
        below_total = torch.nextafter(total, torch.zeros_like(total))
        return torch.searchsorted(cumulative, (uniform * total).minimum(below_total), right=True)[:, 0]

    def mode(self) -> Tensor:
        """Return the most likely allowed actions [batch]."""
        return self._softmax.probs.argmax(dim=1)

    def actions_from_params(self, action_logits: Tensor, deterministic: bool = False) -> Tensor:
        """Choose actions from logits."""
        return self.proba_distribution(action_logits).get_actions(deterministic=deterministic)

    def log_prob_from_params(self, action_logits: Tensor) -> tuple[Tensor, Tensor]:
        """Sample actions from logits; return them with their log-probabilities."""
        actions = self.actions_from_params(action_logits)
        return actions, self.log_prob(actions)

    @property
    def _softmax(self) -> "_MaskedSoftmax":
        """The masked softmax, computed once."""
        if self._cached_softmax is None:
            self._cached_softmax = _MaskedSoftmax(self.logits.detach(), self._masks)
        return self._cached_softmax


NEGLIGIBLE = 1e-20
"""Lower probabilities are set to 0. Their products would soon be denormal numbers, which are very slow to compute with,
and sharp policies have many of them.
"""


class _MaskedSoftmax:
    """A masked softmax, without gradients.

    Attributes:
        probs: [batch, A] probabilities, exactly 0 for actions that are masked or negligible.
        shifted: [batch, A] logits minus the greatest allowed logit of their row; finite also where masked.
        log_total: [batch, 1] logarithm of the sum of exp(shifted) over allowed actions.
    """

    def __init__(self, logits: Tensor, masks: MaybeMasks) -> None:
        masked = logits
        if masks is not None:
            allowed = torch.as_tensor(masks, device=logits.device).reshape(logits.shape).to(logits.dtype)
            # The minimum with inf (allowed) or -inf (masked) is several times as fast as masked_fill. Softmax, unlike
            # exp, is as fast over -inf as over other numbers.
            masked = torch.minimum(logits, allowed.sub_(0.5).mul_(torch.inf))
        self.shifted = logits - masked.amax(dim=1, keepdim=True)
        self.probs = torch.threshold_(torch.softmax(masked, dim=1), NEGLIGIBLE, 0.0)
        self.log_total = -self.probs.amax(dim=1, keepdim=True).log()

    def entropy(self) -> Tensor:
        """Compute the entropies [batch]."""
        return self.log_total[:, 0] - (self.probs * self.shifted).sum(dim=1)


class _LogProb(torch.autograd.Function):
    """log p(a) as a function of logits, with the gradient onehot(a) - p."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, softmax: _MaskedSoftmax, actions: Tensor) -> Tensor:
        ctx.softmax, ctx.actions = softmax, actions
        found: Tensor = (softmax.shifted.gather(1, actions) - softmax.log_total)[:, 0]
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, above: Tensor) -> tuple[Tensor, None, None]:
        gradient: Tensor = ctx.softmax.probs * -above[:, None]
        return gradient.scatter_add_(1, ctx.actions, above[:, None]), None, None


class _Entropy(torch.autograd.Function):
    """The entropy H as a function of logits, with the gradient -p (log p + H)."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, softmax: _MaskedSoftmax) -> Tensor:
        ctx.softmax, ctx.entropy = softmax, softmax.entropy()
        found: Tensor = ctx.entropy.clone()  # the returned tensor refers to ctx: kept in ctx, it would never be freed
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, above: Tensor) -> tuple[Tensor, None]:
        softmax = ctx.softmax
        surprise: Tensor = softmax.shifted + (ctx.entropy[:, None] - softmax.log_total)
        return surprise.mul_(softmax.probs).mul_(-above[:, None]), None


# Policies


class LeanPolicy(MaskableActorCriticPolicy):
    """sb3-contrib's "MlpPolicy" with this distribution; discrete actions only."""

    def _build(self, lr_schedule: Schedule) -> None:
        self.action_dist = LeanMaskedCategorical(count_actions(self.action_space))
        super()._build(lr_schedule)

    def _get_action_dist_from_latent(self, latent_pi: Tensor) -> MaskableDistribution:
        return self.action_dist.proba_distribution(self.action_net(latent_pi))


class LeanMultiInputPolicy(LeanPolicy, MaskableMultiInputActorCriticPolicy):
    """sb3-contrib's "MultiInputPolicy" with this distribution; discrete actions only."""


def count_actions(space: spaces.Space[Any]) -> int:
    """Return the number of actions of a Discrete space.

    Raises:
        TypeError: for another space.
    """
    if not isinstance(space, spaces.Discrete):
        raise TypeError(f"the lean distribution is for Discrete actions, not {space}")
    return int(space.n)


# Buffers


class _PackedMasks(RolloutBuffer):
    """Keeps `action_masks` as uint8 [steps, envs, bytes], 8 entries in a byte; yields them as bool [batch, entries]."""

    action_masks: np.ndarray

    def reset(self) -> None:
        """Clear the buffer in place."""
        self.mask_dims = _count_mask_entries(self.action_space)
        all_allowed = np.packbits(np.ones(self.mask_dims, dtype=np.bool_))
        self.action_masks = np.tile(all_allowed, (self.buffer_size, self.n_envs, 1))
        self._reset_base()

    def add(self, *args: Any, action_masks: np.ndarray | None = None, **kwargs: Any) -> None:
        """Add a step of all environments in place. Without masks every action counts as allowed."""
        if action_masks is not None:
            masks = action_masks.reshape(self.n_envs, self.mask_dims)
            self.action_masks[self.pos] = np.packbits(masks.astype(np.bool_, copy=False), axis=1)
        super().add(*args, **kwargs)

    def _reset_base(self) -> None:
        raise NotImplementedError

    def _unpack_masks(self, rows: np.ndarray) -> Tensor:
        bits = np.unpackbits(self.action_masks[rows], axis=1, count=self.mask_dims)
        return torch.as_tensor(bits.view(np.bool_), device=self.device)

    def _select_numbers(self, rows: np.ndarray) -> dict[str, Tensor]:
        """Select actions, values, log-probabilities, advantages and returns of some rows."""
        return {
            "actions": self.to_torch(self.actions[rows]),
            "old_values": self.to_torch(self.values[rows].flatten()),
            "old_log_prob": self.to_torch(self.log_probs[rows].flatten()),
            "advantages": self.to_torch(self.advantages[rows].flatten()),
            "returns": self.to_torch(self.returns[rows].flatten()),
        }


class PackedMaskRolloutBuffer(_PackedMasks, MaskableRolloutBuffer):
    """sb3-contrib's MaskableRolloutBuffer with masks that are kept as bits and yielded as bool."""

    def _reset_base(self) -> None:
        RolloutBuffer.reset(self)

    def _get_samples(  # type: ignore[override]  # sb3-contrib's own buffer returns this type too
        self, batch_inds: np.ndarray, env: Any = None
    ) -> MaskableRolloutBufferSamples:
        observations, masks = self.to_torch(self.observations[batch_inds]), self._unpack_masks(batch_inds)
        return MaskableRolloutBufferSamples(observations, action_masks=masks, **self._select_numbers(batch_inds))


class PackedMaskDictRolloutBuffer(_PackedMasks, MaskableDictRolloutBuffer):
    """sb3-contrib's MaskableDictRolloutBuffer with masks that are kept as bits and yielded as bool."""

    def _reset_base(self) -> None:
        DictRolloutBuffer.reset(self)

    def _get_samples(  # type: ignore[override]  # sb3-contrib's own buffer returns this type too
        self, batch_inds: np.ndarray, env: Any = None
    ) -> MaskableDictRolloutBufferSamples:
        observations = {name: self.to_torch(array[batch_inds]) for name, array in self.observations.items()}
        masks = self._unpack_masks(batch_inds)
        return MaskableDictRolloutBufferSamples(observations, action_masks=masks, **self._select_numbers(batch_inds))


def _count_mask_entries(space: spaces.Space[Any]) -> int:
    """Return the number of entries of a mask."""
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return int(sum(space.nvec))
    if isinstance(space, spaces.MultiBinary) and isinstance(space.n, int):
        return 2 * space.n
    raise ValueError(f"masks are for Discrete, MultiDiscrete and flat MultiBinary actions, not {space}")


class AtomicSaveMaskablePPO(MaskablePPO):
    """MaskablePPO whose :meth:`save` replaces an older file only once the new one is complete."""

    def save(self, path: Any, *args: Any, **settings: Any) -> None:
        """Save the model as a zip file, with the suffix ".zip" unless the path has one; see MaskablePPO."""
        target = Path(path)
        with replace_path(target if target.suffix else target.with_suffix(".zip")) as beside:
            super().save(beside, *args, **settings)
