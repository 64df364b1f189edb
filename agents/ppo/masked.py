"""What MaskablePPO needs for very wide action spaces: a lean masked distribution, policies with it, and rollout buffers
that keep masks as bits; and one that saves its model at once. Nothing here knows the game.

    MaskablePPO(LeanPolicy, env, rollout_buffer_class=PackedMaskRolloutBuffer)                       # one array
    MaskablePPO(LeanMultiInputPolicy, env, rollout_buffer_class=PackedMaskDictRolloutBuffer)         # a dict of them

sb3-contrib's own distribution masks logits with -1e8, whose exp underflows slowly, and samples with
``torch.multinomial``; at thousands of actions that takes nearly nine tenths of the training time. Its buffer keeps a
float32 for every entry of a mask, 32 times a bit. `experiments/ppo_speed.py` measures both.
"""

from collections.abc import Iterator
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

# The distribution


class LeanMaskedCategorical(MaskableDistribution):
    """A categorical distribution over the entries that a mask allows, for sb3-contrib's policies.

    Made by ``proba_distribution(logits)`` and ``apply_masking(masks)``; without masks every entry is allowed. Equal to
    sb3-contrib's to rounding, but that entries masked out have no chance at all, and that gradients are written out, by
    which backward takes a quarter of the time.

    Args:
        action_dim: A, how many actions there are.
    """

    logits: Tensor  # [batch, A]

    def __init__(self, action_dim: int) -> None:
        super().__init__()
        self.action_dim = action_dim

    def proba_distribution_net(self, latent_dim: int) -> nn.Module:
        """The layer from a policy's last hidden one to logits."""
        return nn.Linear(latent_dim, self.action_dim)

    def proba_distribution(self, action_logits: Tensor) -> "LeanMaskedCategorical":
        """In place: take new logits, finite, [batch, A]."""
        self.logits = action_logits.reshape(-1, self.action_dim)
        self._facts: _Facts | None = None
        self._masks: MaybeMasks = None
        return self

    def apply_masking(self, masks: MaybeMasks) -> None:
        """In place: allow the entries that `masks` [batch, A] marks, each row at least one; None allows all."""
        self._facts, self._masks = None, masks

    def log_prob(self, actions: Tensor) -> Tensor:
        """[batch]: of these actions, which must be allowed."""
        found: Tensor = _LogProb.apply(self.logits, self.facts, actions.long().reshape(-1, 1))
        return found

    def entropy(self) -> Tensor:
        """[batch]."""
        found: Tensor = _Entropy.apply(self.logits, self.facts)
        return found

    def sample(self) -> Tensor:
        """[batch]: by inverting the cumulative distribution; only allowed entries, whatever the rounding."""
        upto = self.facts.probs.double().cumsum(dim=1)
        total = upto[:, -1:]
        luck = torch.rand(len(upto), 1, dtype=torch.float64, device=upto.device)
        below_total = torch.nextafter(total, torch.zeros_like(total))
        return torch.searchsorted(upto, (luck * total).minimum(below_total), right=True)[:, 0]

    def mode(self) -> Tensor:
        """[batch]: the likeliest allowed entry."""
        return self.facts.probs.argmax(dim=1)

    def actions_from_params(self, action_logits: Tensor, deterministic: bool = False) -> Tensor:
        """Actions straight from logits."""
        return self.proba_distribution(action_logits).get_actions(deterministic=deterministic)

    def log_prob_from_params(self, action_logits: Tensor) -> tuple[Tensor, Tensor]:
        """Actions and their log-probabilities straight from logits."""
        actions = self.actions_from_params(action_logits)
        return actions, self.log_prob(actions)

    @property
    def facts(self) -> "_Facts":
        """What everything else is worked out from, itself once."""
        if self._facts is None:
            self._facts = _Facts(self.logits.detach(), self._masks)
        return self._facts


NEGLIGIBLE = 1e-20
"""Lower chances are taken as 0. Their products would soon be denormal, and processors take a hundred times as long over
these: sharp policies have many.
"""


class _Facts:
    """Numbers of a masked softmax, without gradients.

    Attributes:
        probs: [batch, A], exactly 0 where not allowed or negligible.
        shifted: [batch, A] logits less the greatest allowed one of their row; what stands where not allowed is finite.
        log_total: [batch, 1] log of the sum of exp(shifted) over the allowed.
    """

    def __init__(self, logits: Tensor, masks: MaybeMasks) -> None:
        masked = logits
        if masks is not None:
            allowed = torch.as_tensor(masks, device=logits.device).reshape(logits.shape).to(logits.dtype)
            # -inf or inf by the mask: a minimum with them takes a quarter of what masked_fill does, and softmax no
            # longer over -inf than over anything else, while exp does.
            masked = torch.minimum(logits, allowed.sub_(0.5).mul_(torch.inf))
        self.shifted = logits - masked.amax(dim=1, keepdim=True)
        self.probs = torch.threshold_(torch.softmax(masked, dim=1), NEGLIGIBLE, 0.0)
        self.log_total = -self.probs.amax(dim=1, keepdim=True).log()

    def entropy(self) -> Tensor:
        """[batch]."""
        return self.log_total[:, 0] - (self.probs * self.shifted).sum(dim=1)


class _LogProb(torch.autograd.Function):
    """log p(a) of logits, with the gradient onehot(a) - p."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, facts: _Facts, actions: Tensor) -> Tensor:
        ctx.facts, ctx.actions = facts, actions
        return (facts.shifted.gather(1, actions) - facts.log_total)[:, 0]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, above: Tensor) -> tuple[Tensor, None, None]:
        gradient = ctx.facts.probs * -above[:, None]
        return gradient.scatter_add_(1, ctx.actions, above[:, None]), None, None


class _Entropy(torch.autograd.Function):
    """H of logits, with the gradient -p (log p + H)."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, facts: _Facts) -> Tensor:
        ctx.facts, ctx.entropy = facts, facts.entropy()
        return ctx.entropy.clone()  # what is returned would keep itself alive, were it kept here

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, above: Tensor) -> tuple[Tensor, None]:
        facts = ctx.facts
        surprise = facts.shifted + (ctx.entropy[:, None] - facts.log_total)
        return surprise.mul_(facts.probs).mul_(-above[:, None]), None


# Policies with it


class LeanPolicy(MaskableActorCriticPolicy):
    """sb3-contrib's "MlpPolicy" with the lean distribution; discrete actions only."""

    def _build(self, lr_schedule: Schedule) -> None:
        self.action_dist = LeanMaskedCategorical(_n_actions(self.action_space))
        super()._build(lr_schedule)

    def _get_action_dist_from_latent(self, latent_pi: Tensor) -> MaskableDistribution:
        return self.action_dist.proba_distribution(self.action_net(latent_pi))


class LeanMultiInputPolicy(LeanPolicy, MaskableMultiInputActorCriticPolicy):
    """sb3-contrib's "MultiInputPolicy" with the lean distribution; discrete actions only."""


def _n_actions(space: spaces.Space[Any]) -> int:
    if not isinstance(space, spaces.Discrete):
        raise TypeError(f"the lean distribution is for Discrete actions, not {space}")
    return int(space.n)


# Buffers


class _PackedMasks(RolloutBuffer):
    """Keeps `action_masks` as uint8 [steps, envs, bytes], 8 entries a byte; yields them as bool [batch, entries]."""

    action_masks: np.ndarray

    def reset(self) -> None:
        """In place: forget everything."""
        self.mask_dims = _mask_entries(self.action_space)
        everything = np.packbits(np.ones(self.mask_dims, dtype=np.bool_))
        self.action_masks = np.tile(everything, (self.buffer_size, self.n_envs, 1))
        self._reset_the_rest()

    def add(self, *args: Any, action_masks: np.ndarray | None = None, **kwargs: Any) -> None:
        """In place: keep a step of all environments; without masks every action counts as allowed."""
        if action_masks is not None:
            masks = action_masks.reshape(self.n_envs, self.mask_dims)
            self.action_masks[self.pos] = np.packbits(masks.astype(np.bool_, copy=False), axis=1)
        super().add(*args, **kwargs)

    def _reset_the_rest(self) -> None:
        raise NotImplementedError

    def _unpacked(self, rows: np.ndarray) -> Tensor:
        bits = np.unpackbits(self.action_masks[rows], axis=1, count=self.mask_dims)
        return torch.as_tensor(bits.view(np.bool_), device=self.device)

    def _numbers(self, rows: np.ndarray) -> Iterator[Tensor]:
        """Actions, values, log-probabilities, advantages and returns of some rows."""
        yield self.to_torch(self.actions[rows])
        for array in (self.values, self.log_probs, self.advantages, self.returns):
            yield self.to_torch(array[rows].flatten())


class PackedMaskRolloutBuffer(_PackedMasks, MaskableRolloutBuffer):
    """sb3-contrib's MaskableRolloutBuffer in little: masks are kept as bits, and yielded as bool."""

    def _reset_the_rest(self) -> None:
        RolloutBuffer.reset(self)

    def _get_samples(self, batch_inds: np.ndarray, env: Any = None) -> MaskableRolloutBufferSamples:
        observations = self.to_torch(self.observations[batch_inds])
        return MaskableRolloutBufferSamples(observations, *self._numbers(batch_inds), self._unpacked(batch_inds))


class PackedMaskDictRolloutBuffer(_PackedMasks, MaskableDictRolloutBuffer):
    """sb3-contrib's MaskableDictRolloutBuffer in little: masks are kept as bits, and yielded as bool."""

    def _reset_the_rest(self) -> None:
        DictRolloutBuffer.reset(self)

    def _get_samples(self, batch_inds: np.ndarray, env: Any = None) -> MaskableDictRolloutBufferSamples:
        observations = {name: self.to_torch(array[batch_inds]) for name, array in self.observations.items()}
        return MaskableDictRolloutBufferSamples(observations, *self._numbers(batch_inds), self._unpacked(batch_inds))


def _mask_entries(space: spaces.Space[Any]) -> int:
    """How many entries a mask has."""
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return int(sum(space.nvec))
    if isinstance(space, spaces.MultiBinary) and isinstance(space.n, int):
        return 2 * space.n
    raise ValueError(f"masks are for Discrete, MultiDiscrete and flat MultiBinary actions, not {space}")


class SavedAtOnce(MaskablePPO):
    """MaskablePPO whose saved model takes the place of an older one when it is whole, callbacks' best models too."""

    def save(self, path: Any, *args: Any, **settings: Any) -> None:
        """Save the model as a zip file, whose name ends in ".zip"; see MaskablePPO."""
        found = Path(path)
        with replace_path(found if found.suffix else found.with_suffix(".zip")) as beside:
            super().save(beside, *args, **settings)
