"""The keyword arguments of environments: declared once, with their defaults, and checked."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, TypedDict, TypeVar

import numpy as np

from genial_env.core.rules import Rules
from genial_env.encodings import AnyEncoding
from genial_env.envs.opponents import AnyOpponents
from genial_env.envs.rewards import AnyReward

__all__ = [
    "LEARNER_DEFAULTS",
    "VARIANT_DEFAULTS",
    "LearnerArguments",
    "VariantArguments",
    "argument_names",
    "as_plain_seed",
    "check_arguments",
    "expand_signature",
    "make_rules",
]

F = TypeVar("F", bound=Callable[..., None])

VARIANT_DEFAULTS = {
    field.name: field.default for field in fields(Rules) if field.name not in ("players", "edition", "mode")
}
"""What makes a variant of a game: passed on to :class:`~genial_env.core.rules.Rules`, with the defaults."""


class VariantArguments(TypedDict, total=False):
    """What makes a variant of a game, as keyword arguments, explained in :class:`~genial_env.core.rules.Rules`."""

    side: int | None
    colors: int
    rack: int | None
    tile_sets: int
    one_bonus_a_tile: bool


class LearnerArguments(VariantArguments, total=False):
    """The keyword arguments that all environments with a learning seat take.

    The single environment, the vector environment and the Stable-Baselines3 environment share them. The defaults are
    in :data:`LEARNER_DEFAULTS`.

    - `opponents` ("random"): the policies of the other seats. A name, a :class:`~genial_env.policies.base.Policy`, a
      :class:`~genial_env.envs.opponents.Pool` of which one is drawn for each game, or a list with one of these for
      each other seat, clockwise from the learner.
    - `seat` (0): the learning seat, 0 to P - 1; "random" draws it for each game.
    - `encoding` ("planes"): the format of observations: "planes", "flat", "tokens", or your own, an
      :class:`~genial_env.encodings.Encoding` or a function of views.
    - `reward` (None): "rank", "margin", "lowest" or "vector" (:mod:`genial_env.envs.rewards`), or your own, a
      :data:`~genial_env.envs.rewards.RewardFunction`; None: "rank", in solo "lowest".
    - `illegal_action` ("end"): "end": an illegal action ends the episode with the worst reward, and leaves the game
      unchanged; "raise": it raises :class:`~genial_env.errors.IllegalAction`.
    - `action` ("flat"): the action format, "flat" or "factored" (:mod:`genial_env.envs.action_formats`).
    - `render_mode` (None): what ``render()`` returns: "ansi", "svg" or "rgb_array"; None: nothing. The single
      environment also knows "human".
    - `side` (None), `colors` (6), `rack` (None), `tile_sets` (1), `one_bonus_a_tile` (False): the variant of the game,
      as in :class:`~genial_env.core.rules.Rules`; None: the standard size.
    """

    opponents: AnyOpponents
    seat: int | str
    encoding: AnyEncoding
    reward: AnyReward
    illegal_action: str
    action: str
    render_mode: str | None


LEARNER_DEFAULTS: LearnerArguments = {
    "opponents": "random",
    "seat": 0,
    "encoding": "planes",
    "reward": None,
    "illegal_action": "end",
    "action": "flat",
    "render_mode": None,
    **VARIANT_DEFAULTS,  # type: ignore[typeddict-item]  # mypy reads no names from a comprehension
}
"""The defaults of :class:`LearnerArguments`."""


def expand_signature(defaults: Mapping[str, Any]) -> Callable[[F], F]:
    """Return a decorator that lists keyword arguments in the signature of a constructor instead of ``**arguments``.

    So :func:`inspect.signature`, ``help()`` and notebooks show every argument with its default. Type checkers read
    the names from the annotation ``**arguments: Unpack[...]``.

    Args:
        defaults: the default of each argument that ``**arguments`` may hold.
    """

    def decorate(constructor: F) -> F:
        signature = inspect.signature(constructor)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        first = [each for each in own if each.kind is not each.KEYWORD_ONLY]
        last = [each for each in own if each.kind is each.KEYWORD_ONLY]
        listed = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name]) for name in defaults]
        constructor.__signature__ = signature.replace(parameters=[*first, *listed, *last])  # type: ignore[attr-defined]
        return constructor

    return decorate


def make_rules(
    environment: Callable[..., Any], players: int, edition: str, mode: str, variant: Mapping[str, Any]
) -> Rules:
    """Make the rules of an environment from its arguments.

    Args:
        environment: the class of the environment, for the message.
        players: as in :class:`~genial_env.core.rules.Rules`, like `edition` and `mode`.
        edition: see `players`.
        mode: see `players`.
        variant: the other rules by name. An unknown name is an argument that the environment does not take.

    Raises:
        TypeError: for an unknown name; the message names it, the environment, and the arguments that it takes.
        ValueError: if the rules do not describe a game.
    """
    check_arguments(environment.__name__, variant, tuple(VARIANT_DEFAULTS), lambda: argument_names(environment))
    return Rules(players, edition, mode, **variant)


def check_arguments(
    environment: str, given: Iterable[str], known: Sequence[str], listed: Callable[[], Sequence[str]] | None = None
) -> None:
    """Raise a TypeError if an environment does not take an argument.

    Args:
        environment: the name of the environment, for the message.
        given: the names of the arguments.
        known: the names of the arguments that are taken.
        listed: returns the names that the message lists; None: `known`.

    Raises:
        TypeError: naming the first unknown argument, the environment, and the arguments that it takes.
    """
    for name in given:
        if name not in known:
            takes = known if listed is None else listed()
            close = get_close_matches(name, takes, 1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise TypeError(f"{environment} takes no argument {name!r}{hint}: it takes {', '.join(takes)}")


def argument_names(environment: Callable[..., Any], without: Sequence[str] = ()) -> list[str]:
    """Return the names of an environment's arguments, those of variants included.

    Args:
        environment: a class.
        without: names to leave out.
    """
    parameters = inspect.signature(environment).parameters.values()
    named = [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
    return [name for name in dict.fromkeys((*named, *VARIANT_DEFAULTS)) if name not in without]


def as_plain_seed(seed: Any) -> Any:
    """Return a numpy integer as a Python int, which Gymnasium takes for a seed, and anything else unchanged."""
    return int(seed) if isinstance(seed, np.integer) else seed
