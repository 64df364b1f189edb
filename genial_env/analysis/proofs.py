"""What proves a puzzle: a sentence for each way of proof. Each way has a code, so that other languages can word it."""

import re
from string import Formatter
from typing import NamedTuple

__all__ = ["SENTENCES", "Proof", "read_proof", "write_proof"]


def _enumerated(how: str, unit: str = "rank utility") -> str:
    return (
        f"With at most {{left:d}} placements left {how}: of {{legal:d}} legal actions the best are worth "
        f"{{best:+.4f}}, the next {{second:+.4f}} ({unit})."
    )


SENTENCES = {
    "solo": _enumerated("every placement and every draw to the end of the game were enumerated", "lowest marker"),
    "win": _enumerated(
        "the best win within the turn whatever others hold, and the rest count over all deals of {unseen:d} tiles"
    ),
    "hands": _enumerated(
        "all own chains, all hands that the opponent may hold of {unseen:d} tiles, its best reply against each, "
        "all draws and the own last tile were enumerated"
    ),
    "replies": _enumerated(
        "all own chains, and the next seat's best last reply over all deals of {unseen:d} tiles, were enumerated"
    ),
    "rollouts": (
        "The judge played {judged:d} of {legal:d} legal actions on in {deals:d} deals of the hidden tiles: the best is "
        "worth {best:+.3f}, the next {second:+.3f} (rank utility), with a standard error of the difference of "
        "{error:.3f}."
    ),
}
"""The sentence of each way of proof, by its code, with the places and formats of its numbers."""


class Proof(NamedTuple):
    """A proof: its code, and the numbers of its sentence by name."""

    code: str
    values: dict[str, float]


def write_proof(code: str, **values: float) -> str:
    """Return the sentence of a proof.

    Args:
        code: a key of :data:`SENTENCES`.
        values: the numbers that the sentence names.

    Raises:
        KeyError: if there is no such code, or a number is missing.
    """
    return SENTENCES[code].format(**values)


def read_proof(text: str) -> Proof | None:
    """Return the proof that a sentence describes; None if no sentence of :data:`SENTENCES` has its form."""
    for code, pattern in _PATTERNS.items():
        if found := pattern.fullmatch(text):
            named = found.groupdict().items()
            return Proof(code, {name: float(value) if "." in value else int(value) for name, value in named})
    return None


def _to_pattern(sentence: str) -> re.Pattern[str]:
    """Return a pattern that the sentence matches with any numbers."""
    parts = []
    for words, name, form, _ in Formatter().parse(sentence):
        parts.append(re.escape(words))
        if name is not None:
            number = r"\d+" if form == "d" else r"[+-]?\d+\.\d+"
            parts.append(f"(?P<{name}>{number})")
    return re.compile("".join(parts))


_PATTERNS = {code: _to_pattern(sentence) for code, sentence in SENTENCES.items()}
