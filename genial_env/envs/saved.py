"""Checks of saved states of environments. A state is checked as a whole before any part of it is restored."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.render.svg import Move

__all__ = ["check_games", "check_names", "check_saved"]

_PLAIN = (bool, int, float, str, bytes, np.generic, np.ndarray, np.random.Generator, Move)
"""The types of plain values in a saved state."""

_NEEDS_NO_CHECK = (type(None), bool, int, str, np.random.Generator)
"""Types of values that need no check beyond their type; the environments check ranges themselves."""


def check_saved(saved: Any, own: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Check that a saved state has the same names as an environment, and values of the same types and shapes.

    Args:
        saved: what ``get_state`` returned.
        own: the current values of the environment, by name; None: a value of any plain type is accepted.
        what: a name of the saved state, for the message.

    Returns:
        A copy of the dict.

    Raises:
        TypeError: if it is not a dict, or a value has another type.
        ValueError: for other names, arrays of other shapes, or games under other rules.
    """
    check_names(saved, list(own), what)
    for name, value in own.items():
        if type(saved[name]) is not type(value) or type(value) not in _NEEDS_NO_CHECK:
            _check_like(saved[name], value, f"{what}: {name}")
    return dict(saved)


def check_names(saved: Any, names: list[str], what: str) -> None:
    """Check that a part of a saved state is a dict with these keys.

    Raises:
        TypeError: if it is not a dict.
        ValueError: for other keys.
    """
    if not isinstance(saved, dict):
        raise TypeError(f"{what} must be a dict as get_state() gives it, not {type(saved).__name__}")
    if set(saved) != set(names):
        raise ValueError(f"{what} must have the keys {', '.join(names)}, not {', '.join(map(str, saved)) or 'none'}")


def check_games(state: Any, rules: Rules, n_games: int, what: str) -> None:
    """Check that a value is a State of `n_games` games under these rules, with all its arrays.

    Raises:
        TypeError, ValueError: if it is not.
    """
    if not isinstance(state, State):
        raise TypeError(f"{what} must be a State, not {type(state).__name__}")
    if state.rules is not rules and state.rules != rules:
        raise ValueError(f"{what} must be under the rules of the environment, {rules}, not {state.rules}")
    state.check_layout()
    if len(state) != n_games:
        raise ValueError(f"{what} must have {n_games} games, not {len(state)}")


def _check_like(value: Any, own: Any, what: str) -> None:
    if isinstance(own, State):
        check_games(value, own.rules, len(own), what)
    elif hasattr(own, "check_saved"):
        own.check_saved(value, what)
    elif isinstance(own, np.ndarray) and value is not None:
        if not isinstance(value, np.ndarray) or (value.dtype, value.shape) != (own.dtype, own.shape):
            found = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
            raise ValueError(f"{what} must be an array {own.dtype} {own.shape}, not {found}")
    elif own is not None and value is not None and _kind(value) is not _kind(own):
        raise TypeError(f"{what} must be {_kind(own).__name__}, not {type(value).__name__}")
    elif not _is_plain(value):
        raise TypeError(f"{what} must be a number, text, an array, or a container of them, not {value!r}")


def _kind(value: Any) -> type:
    return type(value.item()) if isinstance(value, np.generic) else type(value)


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(name, str | int) and _is_plain(each) for name, each in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, _PLAIN)
