"""Read the moves that people and language models write, prose around them included.

Understood are, in any case: tiles as letters (RO, R-O) or by color names (red-orange); cells by name (D4) or as (q, r);
a color with each cell ("red on D4, orange on D5"); slots ("slot 2"); swap, keep, decline and pass; action ids; and the
objects of :func:`genial_env.notation.structs.action_from_json`. If there are several moves, one in square brackets
counts, else one in a JSON object, else the last one.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from genial_env.core.actions import cell_name
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import Phase
from genial_env.core.tables import tables
from genial_env.core.views import View
from genial_env.errors import IllegalAction
from genial_env.notation.moves import read_decision
from genial_env.notation.structs import action_from_json
from genial_env.text.observation import COLOR_NAMES, summarize_legal

__all__ = ["MOST_CHARACTERS", "UnreadableAction", "parse_action"]

MOST_CHARACTERS = 100_000
"""The longest text that is read; of a longer one the end is read."""

_WORDS = {
    **dict.fromkeys(("swap", "exchange", "redraw"), "swap"),
    **dict.fromkeys(("keep", "decline", "pass", "skip"), "keep"),
}
_NAMES = dict(zip(COLOR_NAMES, COLOR_LETTERS, strict=True)) | {"violet": "P"}
_ENGLISH = {"or", "go", "by"}
"""Words that are also two color letters: they are tiles only in capitals, or right before a cell."""

_TOKEN = re.compile(
    rf"""
    \(\s*(?P<q>-?\d{{1,2}})\s*,\s*(?P<r>-?\d{{1,2}})\s*\)
    | \b(?:slot|tile)\s*(?:number|no\.?)?\s*\#?\s*(?P<slot>\d)\b
    | \b(?P<name>{"|".join(_NAMES)})\b
    | \b(?P<word>{"|".join(_WORDS)})\b
    | \b(?P<cell>[a-z]-?\d{{1,2}})\b
    | \b(?P<tile>[{COLOR_LETTERS}]\s?[-/+&]?\s?[{COLOR_LETTERS}])\b
    | \b(?P<letter>[{COLOR_LETTERS}])\b
    """,
    re.IGNORECASE | re.VERBOSE,
)

_PATTERNS = ("tcc", "scc", "nncc", "ncnc", "cncn", "cct")
"""The orders of tile (t), slot (s), color (n) and cell (c) that make a placement."""


class UnreadableAction(ValueError):
    """Raised for text in which no move is found. The message says what would be legal."""


class _Token(NamedTuple):
    kind: str  # t tile, s slot, n color, c cell, w word
    value: str


def parse_action(view: View, text: str) -> int:
    """Return the action id of a move in a text.

    Args:
        view: one game, seen by the seat to play.
        text: what a person or a language model has written.

    Raises:
        UnreadableAction: if there is no move in it.
        IllegalAction: if its move is not legal now. Both messages say why, and what would be legal in short.
    """
    text = text[-MOST_CHARACTERS:]
    try:
        action = _find_action(view, text)
    except IllegalAction as error:
        raise IllegalAction(f"{error}; {summarize_legal(view)}") from None
    if action is None:
        raise UnreadableAction(f"no move is found in {_shorten(text)}; {summarize_legal(view)}")
    return action


def _find_action(view: View, text: str) -> int | None:
    """Return the action of the first part of the text that has a move; None if there is none."""
    for part in re.findall(r"\[([^\[\]]*)\]", text)[::-1]:
        if (action := _read(view, part)) is not None:
            return action
    for part in re.findall(r"\{[^{}]*\}", text)[::-1]:
        if (action := _read_object(view, part)) is not None:
            return action
    return _read(view, text)


def _read_object(view: View, text: str) -> int | None:
    """Return the action of a JSON object: one of the notation, or one with a key `move` or `action`."""
    try:
        data = json.loads(text)
    except ValueError:
        return None
    for key in ("move", "action"):
        if isinstance(found := data.get(key), str | int):
            return _read(view, str(found))
    if "type" not in data:
        return None
    return _check(view, _illegal_if_wrong(action_from_json, view, data))


def _read(view: View, text: str) -> int | None:
    """Return the action of the last move in a text that fits the decision; None if there is none."""
    if re.fullmatch(r"\s*\d{1,6}\s*", text):
        return _check(view, int(text))
    found = list(_find_moves(_tokenize(view.rules, text)))
    words = [move for move in found if len(move) == 1]
    placements = [move for move in found if len(move) == 3]
    if view.phase[0] == Phase.BONUS and view.may_decline[0]:
        chosen = found
    else:
        chosen = (words or placements) if view.phase[0] == Phase.SWAP else (placements or words)
    if not chosen:
        return None
    return _illegal_if_wrong(read_decision, view, chosen[-1])


def _tokenize(rules: Rules, text: str) -> list[_Token]:
    """Return the parts of a text that can belong to a move."""
    found = []
    for match in _TOKEN.finditer(text):
        kind, value = str(match.lastgroup), str(match[match.lastgroup or 0])
        if kind == "r":
            found.append(_Token("c", _name_axial(rules, int(match["q"]), int(match["r"]))))
        elif kind == "name":
            found.append(_Token("n", _NAMES[value.lower()]))
        elif kind == "word":
            found.append(_Token("w", _WORDS[value.lower()]))
        elif kind == "tile":
            follows = re.match(r"[^\w(]*(?:[a-zA-Z]-?\d{1,2}\b|\()", text[match.end() :])
            if value.lower() not in _ENGLISH or value.isupper() or follows:
                found.append(_Token("t", re.sub("[^A-Z]", "", value.upper())))
        elif kind == "letter":
            found.append(_Token("n", value.upper()))
        else:
            found.append(_Token(kind[0], value.replace("-", "").upper()))
    return found


def _name_axial(rules: Rules, q: int, r: int) -> str:
    on_board = (q, r) in tables(rules).cell_index
    return cell_name(rules, (q, r)) if on_board else f"({q}, {r})"


def _find_moves(tokens: list[_Token]) -> Iterator[list[str]]:
    """Yield the moves as words for :func:`genial_env.notation.moves.read_decision`, in their order."""
    kinds, at = "".join(token.kind for token in tokens), 0
    while at < len(tokens):
        pattern = next((each for each in _PATTERNS if kinds.startswith(each, at)), None)
        if tokens[at].kind == "w":
            yield [tokens[at].value]
        elif pattern is not None:
            part = [token.value for token in tokens[at : at + len(pattern)]]
            colors = [value for kind, value in zip(pattern, part, strict=True) if kind in "tsn"]
            yield ["".join(colors), *(value for kind, value in zip(pattern, part, strict=True) if kind == "c")]
            at += len(pattern) - 1
        at += 1


def _illegal_if_wrong(read: Any, view: View, what: Any) -> int:
    """Return what a reader returns; its ValueError becomes an IllegalAction that names the move."""
    try:
        action: int = read(view, what)
    except ValueError as error:
        move = " ".join(what) if isinstance(what, list) else json.dumps(what)
        raise IllegalAction(f"{move} is not legal: {error}") from None
    return action


def _check(view: View, action: int) -> int:
    mask = view.mask()[0]
    if not (0 <= action < len(mask) and mask[action]):
        raise IllegalAction(f"action {action} is not legal")
    return action


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 80 else f"{text[:40]} ... {text[-35:]}")
