"""What the environments with a learning seat are made from: their common arguments, checked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from genial_env.core.rules import Rules
from genial_env.encodings import Encoding, make_encoding
from genial_env.envs.action_formats import ActionFormat, make_action_format
from genial_env.envs.arguments import LEARNER_DEFAULTS, LearnerArguments, make_rules
from genial_env.envs.opponents import Opponents, check_seat
from genial_env.envs.rewards import Scheme, check_scheme
from genial_env.render import RENDER_MODES, check_mode

__all__ = ["INTERRUPTED", "LearnerSettings", "read_arguments", "should_raise"]

INTERRUPTED = "the last step or reset was interrupted, so opponents may not have played: call reset() first"
"""The message of the RuntimeError for a step after one that an exception has interrupted."""


@dataclass(frozen=True)
class LearnerSettings:
    """The arguments of an environment with a learning seat, checked."""

    rules: Rules
    opponents: Opponents
    seat: int | None
    """The learning seat; None: drawn for each game."""
    encoding: Encoding
    scheme: Scheme
    """The reward scheme."""
    raises: bool
    """Whether an illegal action raises; if not, it ends the episode."""
    action_format: ActionFormat
    render_mode: str | None


def read_arguments(
    environment: Callable[..., Any],
    players: int,
    edition: str,
    mode: str,
    arguments: LearnerArguments,
    render_modes: Sequence[str] = RENDER_MODES,
) -> LearnerSettings:
    """Check the common arguments of environments with a learning seat.

    Args:
        environment: the class of the environment, for messages.
        players: as in :class:`~genial_env.core.rules.Rules`, like `edition` and `mode`.
        edition: see `players`.
        mode: see `players`.
        arguments: the keyword arguments; missing ones have their defaults.
        render_modes: the render modes of the environment.

    Raises:
        TypeError: for an unknown argument, or one of a wrong type.
        ValueError: for arguments that do not fit the rules, or that do not describe a game.
    """
    given: dict[str, Any] = {**LEARNER_DEFAULTS, **arguments}
    opponents, seat, encoding, reward, illegal_action, action, render_mode = (given.pop(name) for name in _NAMES)
    check_mode(render_mode, render_modes)
    rules = make_rules(environment, players, edition, mode, given)
    return LearnerSettings(
        rules=rules,
        opponents=Opponents(opponents, rules),
        seat=check_seat(seat, rules),
        encoding=make_encoding(encoding),
        scheme=check_scheme(rules, reward),
        raises=should_raise(illegal_action),
        action_format=make_action_format(action, rules),
        render_mode=render_mode,
    )


_NAMES = ("opponents", "seat", "encoding", "reward", "illegal_action", "action", "render_mode")
"""The arguments that are not rules of the game."""


def should_raise(illegal_action: str) -> bool:
    """Return whether illegal actions raise, by the argument `illegal_action`.

    Raises:
        ValueError: if it is neither "end" nor "raise".
    """
    if illegal_action not in ("end", "raise"):
        raise ValueError(f"illegal_action must be 'end' or 'raise', not {illegal_action!r}")
    return illegal_action == "raise"
