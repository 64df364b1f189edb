"""Checks for your own vector environments, encodings and policies.

Each function raises an AssertionError that says what is wrong, and returns nothing if all is correct. Gymnasium and
PettingZoo have checks for single environments. Gymnasium has no check for vector environments, so
:func:`check_vector_env` works for any of them.
"""

import copy
from collections.abc import Callable
from dataclasses import fields
from itertools import islice
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from genial_env.core import kernel
from genial_env.core.chance import bits
from genial_env.core.determinization import determinize
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import View, view
from genial_env.encodings import AnyEncoding, make_encoding
from genial_env.policies.base import Policy
from genial_env.policies.registry import make_policy

__all__ = ["check_encoding", "check_policy", "check_vector_env"]

Choose = Callable[[Any, dict[str, Any]], Any]
"""A function of observations and infos that returns a batch of actions."""


def check_vector_env(env: Any, choose: Choose | None = None, steps: int = 100) -> None:
    """Check that a vector environment does what Gymnasium's documentation says.

    The check covers spaces, types and shapes, seeds, infos and their masks, and the declared autoreset mode. It also
    checks that the environment does not change arrays that it has returned.

    Args:
        env: the VectorEnv. It is reset and stepped, and left open.
        choose: returns the actions; None: they are sampled from the action space, by ``info["action_mask"]`` if there
            is one.
        steps: the number of steps. Resets are checked only if episodes end within them.

    Raises:
        AssertionError: if the check fails.
    """
    n = env.num_envs
    _require(isinstance(n, int) and n > 0, f"num_envs must be a positive int, not {n!r}")
    for name in ("observation_space", "action_space"):
        single, whole = getattr(env, f"single_{name}"), getattr(env, name)
        _require(batch_space(single, n) == whole, f"{name} must be batch_space(single_{name}, {n}), not {whole}")
    mode = env.metadata.get("autoreset_mode")
    declared = isinstance(mode, AutoresetMode)
    _require(declared, f"metadata['autoreset_mode'] must be a gymnasium.vector.AutoresetMode, not {mode!r}")
    picker = _Picker(env, choose)
    first, again = (_rollout(env, picker, 7, min(steps, 20)) for _ in range(2))
    _require(
        _is_equal(first, again), "the same seed and actions must give the same observations, rewards, ends and infos"
    )
    listed = [7 + i for i in range(n)]
    by_list, by_number = env.reset(seed=listed), env.reset(seed=7)
    _require(_is_equal(by_list, by_number), "seed=7 must be the same as a list [7, 8, ...] with one seed for each")
    if n > 1:
        swapped = env.reset(seed=[listed[1], listed[0], *listed[2:]])
        moved = _is_equal(_row(swapped[0], 0), _row(by_number[0], 1))
        _require(moved, "an environment's seed must follow it: swapped seeds must swap the observations")
    _check_steps(env, picker, mode, steps)


class _Picker:
    """Chooses actions; after a restart, the same ones again."""

    def __init__(self, env: VectorEnv[Any, Any, Any], choose: Choose | None) -> None:
        self._env, self._choose = env, choose

    def restart(self) -> None:
        self._env.single_action_space.seed(0)

    def __call__(self, observation: Any, info: dict[str, Any]) -> Any:
        if self._choose is not None:
            return self._choose(observation, info)
        space, masks = self._env.single_action_space, info.get("action_mask")
        if masks is None:
            return np.array([space.sample() for _ in range(self._env.num_envs)])
        return np.array([space.sample(mask) for mask in masks])


def _rollout(env: VectorEnv[Any, Any, Any], picker: _Picker, seed: int, steps: int) -> list[Any]:
    picker.restart()
    observation, info = env.reset(seed=seed)
    seen: list[Any] = [(copy.deepcopy(observation), copy.deepcopy(info))]
    for _ in range(steps):
        observation, *rest, info = env.step(picker(observation, info))
        seen.append(copy.deepcopy((observation, *rest, info)))
        if env.metadata["autoreset_mode"] == AutoresetMode.DISABLED and (rest[1] | rest[2]).any():
            break
    return seen


def _check_steps(env: VectorEnv[Any, Any, Any], picker: _Picker, mode: AutoresetMode, steps: int) -> None:
    n = env.num_envs
    picker.restart()
    given: Any = env.reset(seed=11)
    observation, info = given
    _check_observation(env, observation, "reset")
    _check_infos(info, n, "reset")
    ended = np.zeros(n, dtype=np.bool_)
    for step in range(steps):
        where = f"step {step}"
        then, before = copy.deepcopy(given), given
        given = env.step(picker(observation, info))
        _require(_is_equal(before, then), f"{where}: arrays handed out before have changed: hand out copies")
        observation, rewards, terminations, truncations, info = given
        _check_observation(env, observation, where)
        _check_infos(info, n, where)
        _require(
            isinstance(rewards, np.ndarray) and rewards.dtype.kind == "f" and rewards.shape[:1] == (n,),
            f"{where}: rewards must be floats with {n} entries, not {rewards!r}",
        )
        for name, flags in (("terminations", terminations), ("truncations", truncations)):
            _require(
                isinstance(flags, np.ndarray) and flags.dtype == np.bool_ and flags.shape == (n,),
                f"{where}: {name} must be {n} bools, not {flags!r}",
            )
        done = terminations | truncations
        if mode == AutoresetMode.NEXT_STEP:
            _require(not done[ended].any(), f"{where}: NEXT_STEP: an environment ended in the step that resets it")
            _require(not rewards[ended].any(), f"{where}: NEXT_STEP: a reward in the step that resets an environment")
        if mode == AutoresetMode.SAME_STEP:
            _check_final(env, done, info, where)
        ended = done if mode == AutoresetMode.NEXT_STEP else np.zeros(n, dtype=np.bool_)
        if mode == AutoresetMode.DISABLED and done.any():
            then = copy.deepcopy(given)
            observation, fresh = env.reset(options={"reset_mask": done.copy()})
            _require(_is_equal(given, then), f"{where}: a reset has changed arrays handed out before: hand out copies")
            for row in np.flatnonzero(~done).tolist():
                same = _is_equal(_row(observation, row), _row(then[0], row))
                _require(same, f"{where}: DISABLED: resetting others changed the observation of environment {row}")
            _check_infos(fresh, n, where)
            info = _merged(info, fresh, done)
            given = observation, info


def _check_observation(env: VectorEnv[Any, Any, Any], observation: Any, where: str) -> None:
    _require(env.observation_space.contains(observation), f"{where}: the observation is not in observation_space")


def _check_infos(info: Any, n: int, where: str) -> None:
    """Check that each info has a mask beside it, and that both have an entry for each environment."""
    _require(isinstance(info, dict), f"{where}: infos must be a dict, not {type(info).__name__}")
    for name, value in info.items():
        if name.startswith("_"):
            continue
        mask = info.get(f"_{name}")
        _require(
            isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (n,),
            f"{where}: info[{name!r}] needs info['_{name}'] beside it, {n} bools, not {mask!r}",
        )
        if isinstance(value, dict):
            _check_infos(value, n, where)
        else:
            _require(len(value) == n, f"{where}: info[{name!r}] must have {n} entries, not {len(value)}")


def _check_final(env: VectorEnv[Any, Any, Any], done: NDArray[np.bool_], info: dict[str, Any], where: str) -> None:
    if not done.any():
        _require("final_obs" not in info, f"{where}: SAME_STEP: final_obs though no environment has ended")
        return
    for name in ("final_obs", "final_info"):
        _require(name in info, f"{where}: SAME_STEP: an environment ended and info has no {name!r}")
        _require((info[f"_{name}"] == done).all(), f"{where}: SAME_STEP: info['_{name}'] must say which have ended")
    for row in np.flatnonzero(done).tolist():
        fits = env.single_observation_space.contains(info["final_obs"][row])
        _require(fits, f"{where}: SAME_STEP: final_obs of environment {row} is not in single_observation_space")


def _merged(info: dict[str, Any], fresh: dict[str, Any], rows: NDArray[np.bool_]) -> dict[str, Any]:
    """Return infos in which the rows of environments that were reset have their new values."""
    merged = dict(info)
    for name, value in fresh.items():
        if name in info and isinstance(value, np.ndarray):
            merged[name] = info[name].copy()
            merged[name][rows] = value[rows]
    return merged


def check_encoding(encoding: AnyEncoding, rules: Rules | None = None) -> None:
    """Check an encoding.

    Its arrays must have the shapes, dtypes and ranges of its fields, and be new at every call. A game must be encoded
    the same alone and in a batch.

    Args:
        encoding: a name, an :class:`~genial_env.encodings.Encoding`, or a function of views.
        rules: the rules of the games to encode; None: the standard game.

    Raises:
        AssertionError: if the check fails.
    """
    rules = Rules() if rules is None else rules
    coder = make_encoding(encoding)
    wanted = coder.fields(rules)
    for steps in (0, 5, 17, 60):
        seen = view(_random_play(rules, 8, steps), 0)
        before = seen.select(np.arange(len(seen)))
        arrays = coder.encode(seen)
        _require(_is_same_view(seen, before), "encode() must not write into the view")
        _require(set(arrays) == set(wanted), f"encode() must give the fields {sorted(wanted)}, not {sorted(arrays)}")
        for name, field in wanted.items():
            array = arrays[name]
            _require(
                isinstance(array, np.ndarray) and array.dtype == field.dtype and array.shape == (8, *field.shape),
                f"field {name!r} must be {np.dtype(field.dtype)} of shape {(8, *field.shape)}, "
                f"not {getattr(array, 'dtype', type(array))} of shape {getattr(array, 'shape', None)}",
            )
            fits = array.size == 0 or (field.low <= array.min() and array.max() <= field.high)
            _require(fits, f"field {name!r} must lie between {field.low} and {field.high}")
        for row in range(8):
            alone = coder.encode(seen.select(np.array([row])))
            same = all(np.array_equal(alone[name][0], arrays[name][row]) for name in wanted)
            _require(same, f"game {row} is encoded differently alone and in a batch")
        for array in arrays.values():
            array[...] = 0
        _require(_is_same_view(seen, before), "encode() must give new arrays, not the view's own")


def check_policy(policy: str | Policy, rules: Rules | None = None) -> None:
    """Check a policy.

    It must choose legal actions, and take all its randomness from the random bits. It must choose the same alone and in
    a batch, and use nothing but the view. It must not write to the view.

    Args:
        policy: a name or a policy.
        rules: the rules of the games to play; None: the standard game.

    Raises:
        AssertionError: if the check fails.
    """
    rules = Rules() if rules is None else rules
    player = make_policy(policy)
    for steps in (0, 3, 17, 30):
        state = _random_play(rules, 8, steps)
        live = np.flatnonzero(~state.over)
        seen, random = view(state, rows=live), bits(steps, live)
        if not live.size:
            continue
        before = seen.select(np.arange(len(seen)))
        actions = kernel.as_actions(player(seen, random), len(live))
        _require(_is_same_view(seen, before), f"{player.name} wrote into the view")
        inside = (actions >= 0) & (actions < seen.tables.n_actions)
        _require(bool(inside.all()), f"{player.name} chose actions that do not exist: {actions[~inside]}")
        legal = seen.mask()[np.arange(len(live)), actions]
        _require(bool(legal.all()), f"{player.name} chose actions that its mask excludes: {actions[~legal]}")
        again = player(seen, random)
        _require(
            np.array_equal(actions, again), f"{player.name} must take all its randomness from the bits it is given"
        )
        for row in range(len(live)):
            alone = player(seen.select(np.array([row])), random[[row]])
            _require(int(alone[0]) == int(actions[row]), f"{player.name} chooses differently alone and in a batch")
        other = view(determinize(seen, bits(99, live)), seen.seat)
        _require(
            np.array_equal(actions, player(other, random)),
            f"{player.name}'s choice depends on something that its view does not show",
        )


def _random_play(rules: Rules, games: int, steps: int) -> State:
    state, rng = kernel.deal(rules, np.arange(games)), np.random.default_rng(steps)
    for live in islice(kernel.live_games(state), steps):
        masks = kernel.legal(state, live)
        kernel.apply(state, np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1), live)
    return state


def _is_same_view(one: View, other: View) -> bool:
    names = [f.name for f in fields(View) if f.name != "rules"]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def _row(observation: Any, row: int) -> Any:
    """Return the observation of one environment of a batch."""
    if isinstance(observation, dict):
        return {name: _row(value, row) for name, value in observation.items()}
    return tuple(_row(part, row) for part in observation) if isinstance(observation, tuple) else observation[row]


def _is_equal(one: Any, other: Any) -> bool:
    """Return whether two nested structures are equal in types, shapes, dtypes and values."""
    if isinstance(one, dict):
        return isinstance(other, dict) and set(one) == set(other) and all(_is_equal(one[k], other[k]) for k in one)
    if isinstance(one, np.ndarray) and one.dtype == object:
        return isinstance(other, np.ndarray) and _is_equal(list(one), list(other))
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(_is_equal, one, other))
    return bool(one == other)


def _require(fine: bool, message: str) -> None:
    if not fine:
        raise AssertionError(message)
