"""The lean distribution and the packed buffers against sb3-contrib's own."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer, MaskableRolloutBuffer
from sb3_contrib.common.maskable.distributions import MaskableCategorical

from agents.ppo.masked import (
    LeanMaskedCategorical,
    LeanMultiInputPolicy,
    LeanPolicy,
    PackedMaskDictRolloutBuffer,
    PackedMaskRolloutBuffer,
)

torch.set_num_threads(1)  # two test processes on two cores are several times as slow with more


def lean_of(logits: torch.Tensor, masks: Any) -> LeanMaskedCategorical:
    lean = LeanMaskedCategorical(logits.shape[1]).proba_distribution(logits)
    lean.apply_masking(masks)
    return lean


@pytest.mark.parametrize("spread", [0.1, 3.0, 30.0])
@pytest.mark.parametrize("masked", [True, False])
def test_lean_distribution_equals_sb3_contribs(spread: float, masked: bool) -> None:
    """Log-probabilities, entropies, modes and gradients."""
    generator = torch.Generator().manual_seed(0)
    logits = (spread * torch.randn(40, 300, generator=generator)).requires_grad_()
    masks = torch.rand(40, 300, generator=generator) < 0.2 if masked else None
    if masks is not None:
        masks[:, 7] = True
    lean, reference = lean_of(logits, masks), MaskableCategorical(logits=logits, masks=masks)
    actions = reference.sample()
    assert torch.allclose(lean.log_prob(actions), reference.log_prob(actions), atol=1e-5, rtol=1e-5)
    assert torch.allclose(lean.entropy(), reference.entropy(), atol=1e-4)
    assert (lean.mode() == reference.probs.argmax(dim=1)).all()
    weights = torch.randn(2, 40, generator=generator)
    grads = [
        torch.autograd.grad((weights[0] * d.log_prob(actions) + weights[1] * d.entropy()).sum(), logits)[0]
        for d in (lean, reference)
    ]
    assert torch.allclose(*grads, atol=1e-5)


def test_lean_distribution_samples_what_it_says() -> None:
    torch.manual_seed(0)
    logits = torch.tensor([[0.0, 1.0, 2.0, 3.0, 9.0]]).repeat(60_000, 1)
    found = torch.bincount(
        lean_of(logits, np.tile([True, False, True, True, False], (60_000, 1))).sample(), minlength=5
    )
    weights = torch.tensor([1.0, 0.0, 7.389, 20.086, 0.0])
    assert torch.allclose(found / 60_000, weights / weights.sum(), atol=0.01)
    assert found[1] == found[4] == 0


def test_lean_distribution_with_extreme_logits() -> None:
    logits = torch.tensor([[-1e30, 1e30, 0.0], [1e6, -1e6, 5.0]], requires_grad=True)
    lean = lean_of(logits, torch.tensor([[True, False, True], [False, True, True]]))
    assert lean.sample().tolist() == [2, 2]
    (lean.log_prob(torch.tensor([2, 2])) + lean.entropy()).sum().backward()
    assert torch.isfinite(logits.grad).all()


def test_masks_can_be_changed_and_taken_off() -> None:
    lean = lean_of(torch.tensor([[3.0, 2.0, 1.0]]), np.array([[False, False, True]]))
    assert lean.mode().tolist() == [2]
    lean.apply_masking(np.array([[False, True, True]]))
    assert lean.mode().tolist() == [1]
    lean.apply_masking(None)
    assert lean.mode().tolist() == [0]
    assert lean.actions_from_params(torch.tensor([[0.0, 5.0, 1.0]]), deterministic=True).tolist() == [1]


DICT = spaces.Dict({"a": spaces.Box(0, 255, (3, 2), np.uint8), "b": spaces.Box(-1, 1, (4,), np.float32)})
BOX = spaces.Box(0, 255, (5,), np.uint8)


@pytest.mark.parametrize(
    ("ours", "theirs", "observed"),
    [
        (PackedMaskRolloutBuffer, MaskableRolloutBuffer, BOX),
        (PackedMaskDictRolloutBuffer, MaskableDictRolloutBuffer, DICT),
    ],
)
@pytest.mark.parametrize(
    "space", [spaces.Discrete(13), spaces.MultiDiscrete([3, 8]), spaces.MultiBinary(5)], ids=lambda s: type(s).__name__
)
def test_packed_buffers_yield_what_sb3_contribs_do(ours: Any, theirs: Any, observed: Any, space: Any) -> None:
    """Twice over, as a buffer is used again; masks as bool instead of float."""
    rng = np.random.default_rng(0)
    observed.seed(0)
    space.seed(0)
    buffers = [kind(6, observed, space, "cpu", 0.9, 0.99, n_envs=3) for kind in (ours, theirs)]
    for _ in range(2):
        for buffer in buffers:
            buffer.reset()
        for step in range(6):
            fill(buffers, observed, space, rng, masked=step != 2)
        for buffer in buffers:
            buffer.compute_returns_and_advantage(torch.ones(3), np.zeros(3))
        batches = []
        for buffer in buffers:
            np.random.seed(1)  # noqa: NPY002  what Stable-Baselines3 draws from
            batches.append(list(buffer.get(5)))
        for one, other in zip(*batches, strict=True):
            for name in one._fields:
                compare(getattr(one, name), getattr(other, name))
            assert one.action_masks.dtype == torch.bool
    assert buffers[0].action_masks.nbytes * 8 <= buffers[1].action_masks.nbytes


def fill(buffers: list[Any], observed: Any, space: Any, rng: np.random.Generator, masked: bool) -> None:
    """The same step in each."""
    seen = [observed.sample() for _ in range(3)]
    batch = (
        {n: np.stack([o[n] for o in seen]) for n in seen[0]} if isinstance(observed, spaces.Dict) else np.stack(seen)
    )
    actions = np.stack([np.reshape(space.sample(), -1) for _ in range(3)])
    masks = rng.random((3, buffers[0].mask_dims)) < 0.5 if masked else None
    numbers = rng.normal(size=(2, 3)), rng.random(3) < 0.2
    for buffer in buffers:
        values, log_probs = torch.as_tensor(numbers[0]).float()
        buffer.add(batch, actions, numbers[0][1], numbers[1], values, log_probs, action_masks=masks)


def compare(one: Any, other: Any) -> None:
    if isinstance(one, dict):
        for name in other:
            compare(one[name], other[name])
    elif other.dtype == torch.float32 and one.dtype == torch.bool:
        assert torch.equal(one.float(), other)
    else:
        assert one.dtype == other.dtype
        assert torch.equal(one, other)


class Corridor(gym.Env[Any, Any]):
    """Only the actions of one half may be played, and one of them pays."""

    action_space = spaces.Discrete(40)

    def __init__(self, observed: spaces.Space[Any]) -> None:
        self.observation_space = observed

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action < 20
        return self.observation_space.sample(), float(action == 3), True, False, {}

    def action_masks(self) -> np.ndarray:
        return np.arange(40) < 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "buffer", "observed"),
    [(LeanPolicy, PackedMaskRolloutBuffer, BOX), (LeanMultiInputPolicy, PackedMaskDictRolloutBuffer, DICT)],
)
def test_learning_with_both(policy: Any, buffer: Any, observed: Any, tmp_path: Any) -> None:
    model = MaskablePPO(
        policy, Corridor(observed), n_steps=128, learning_rate=3e-3, rollout_buffer_class=buffer, seed=0, device="cpu"
    )
    model.learn(1500)
    model.save(tmp_path / "model.zip")
    again = MaskablePPO.load(tmp_path / "model.zip", device="cpu")
    seen = observed.sample()
    assert again.predict(seen, deterministic=True, action_masks=np.arange(40) < 20)[0] == 3


def test_other_actions_are_refused() -> None:
    class Two(Corridor):
        action_space = spaces.MultiDiscrete([2, 20])  # type: ignore[assignment]

    with pytest.raises(TypeError, match="for Discrete actions, not MultiDiscrete"):
        MaskablePPO(LeanPolicy, Two(BOX), device="cpu")
    with pytest.raises(ValueError, match="masks are for Discrete, MultiDiscrete and flat MultiBinary actions, not Box"):
        PackedMaskRolloutBuffer(2, BOX, spaces.Box(0, 1, (2,)), "cpu")
