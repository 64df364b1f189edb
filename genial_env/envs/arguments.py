"""Keyword arguments of environments: which ones there are, and what is said of others."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from genial_env.core.rules import Rules

SIZES = ("side", "colors", "rack", "tile_sets")
"""The rules that environments take by name, besides players, edition and mode."""


def make_rules(environment: Callable[..., Any], players: int, edition: str, mode: str, sizes: dict[str, Any]) -> Rules:
    """Make the rules of an environment from its arguments.

    Args:
        environment: its class, for the message.
        players: as in :class:`~genial_env.core.rules.Rules`.
        edition: as there.
        mode: as there.
        sizes: all keyword arguments that the class does not name itself.

    Raises:
        TypeError: for one that is no size of the rules, naming it, the environment, and what it takes.
        ValueError: for rules that cannot be played.
    """
    check_arguments(environment.__name__, sizes, SIZES, lambda: arguments_of(environment))
    return Rules(players, edition, mode, **sizes)


def check_arguments(
    environment: str, given: Iterable[str], known: Sequence[str], listed: Callable[[], Sequence[str]] | None = None
) -> None:
    """Refuse arguments that an environment does not take.

    Args:
        environment: what the message calls it.
        given: the names of the arguments.
        known: the names that are fine.
        listed: makes the names that the message lists; left out, those that are fine.

    Raises:
        TypeError: naming the first such argument, the environment, and what it takes.
    """
    for name in given:
        if name not in known:
            takes = known if listed is None else listed()
            close = get_close_matches(name, takes, 1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise TypeError(f"{environment} takes no argument {name!r}{hint}: it takes {', '.join(takes)}")


def arguments_of(environment: Callable[..., Any], without: Sequence[str] = ()) -> list[str]:
    """The names of an environment's arguments, the sizes of the rules in place of ``**sizes``."""
    parameters = inspect.signature(environment).parameters.values()
    named = [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
    return [name for name in (*named, *SIZES) if name not in without]


def as_plain_seed(seed: Any) -> Any:
    """A numpy integer as a Python int, which is what Gymnasium takes for a seed; everything else as it is."""
    return int(seed) if isinstance(seed, np.integer) else seed
