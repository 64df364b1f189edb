"""The game as text: for language models, for people without a board, and for programs that talk.

Positions and moves become JSON or text and come back; :class:`TextGame` is a loop of two functions; and
:mod:`genial_env.text.mcp_server` offers a game to clients of the Model Context Protocol.
"""

from genial_env.notation.moves import format_decision
from genial_env.notation.structs import (
    action_from_json,
    action_to_json,
    rules_from_json,
    rules_to_json,
    state_from_json,
    state_to_json,
    view_from_json,
    view_to_json,
)
from genial_env.text.game import TextGame
from genial_env.text.lines import state_from_line, state_to_line, view_from_line, view_to_line
from genial_env.text.observation import describe_legal, describe_observation, describe_rules
from genial_env.text.parsing import UnreadableAction, parse_action

__all__ = [
    "TextGame",
    "UnreadableAction",
    "action_from_json",
    "action_to_json",
    "describe_legal",
    "describe_observation",
    "describe_rules",
    "format_decision",
    "parse_action",
    "rules_from_json",
    "rules_to_json",
    "state_from_json",
    "state_from_line",
    "state_to_json",
    "state_to_line",
    "view_from_json",
    "view_from_line",
    "view_to_json",
    "view_to_line",
]
