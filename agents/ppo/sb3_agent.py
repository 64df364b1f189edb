"""A trained sb3-contrib model as a policy, for example for ``play``, ``opponents=`` and pools of past selves."""

import copy
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Discrete
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from agents.ppo.masked import LeanMaskedCategorical
from genial_env.core.arrays import Bits, Ints
from genial_env.core.views import View
from genial_env.encodings import AnyEncoding, make_encoding
from genial_env.policies.halves import draw_by_weights

__all__ = ["SB3Agent"]


class SB3Agent:
    """An agent that plays a MaskablePPO model.

    Args:
        model: the model, or the file that it was saved in.
        name: the name in tables and records.
        encoding: the encoding that the model was trained with.
        frozen: whether the agent plays a copy of the network as it is now. Otherwise it plays what the model has
            learned at any time.
        deterministic: whether the most likely action is played. Otherwise actions are drawn by their probabilities,
            with the random bits that every policy gets.

    Raises:
        ValueError: for a model with factored actions.
    """

    def __init__(
        self,
        model: MaskablePPO | str | PathLike[str],
        name: str = "ppo",
        encoding: AnyEncoding = "planes",
        *,
        frozen: bool = False,
        deterministic: bool = True,
    ) -> None:
        self.name = name
        loaded = model if isinstance(model, MaskablePPO) else MaskablePPO.load(Path(model), device="cpu")
        if not isinstance(loaded.action_space, Discrete):
            raise ValueError(f"the model must choose among single actions (action='flat'), not {loaded.action_space}")
        self._policy = _copy_policy(loaded) if frozen else loaded.policy
        self._encoding, self._deterministic = make_encoding(encoding), deterministic

    def __call__(self, view: View, random: Bits) -> Ints:
        """Choose an action in each game."""
        arrays, mask = self._encoding.encode(view), view.mask()
        if self._deterministic:
            actions, _ = self._policy.predict(arrays.get("", arrays), deterministic=True, action_masks=mask)
            return np.asarray(actions, dtype=np.int64)
        self._policy.set_training_mode(False)
        observation, _ = self._policy.obs_to_tensor(arrays.get("", arrays))
        with torch.no_grad():
            found = self._policy.get_distribution(observation, action_masks=mask)
        inner: Any = found if isinstance(found, LeanMaskedCategorical) else found.distribution
        logits = np.where(mask, inner.logits.double().cpu().numpy(), -np.inf)
        return draw_by_weights(np.exp(logits - logits.max(axis=1, keepdims=True)), random)


def _copy_policy(model: MaskablePPO) -> MaskableActorCriticPolicy:
    """Return a copy of a model's network, made as SB3 makes it when a model is loaded."""
    with torch.random.fork_rng():  # its first weights are drawn at random
        copied = model.policy_class(
            model.observation_space, model.action_space, lambda _: 0.0, **copy.deepcopy(model.policy_kwargs)
        ).to(model.device)
    copied.load_state_dict(model.policy.state_dict())
    copied.requires_grad_(False)
    assert isinstance(copied, MaskableActorCriticPolicy)
    return copied
