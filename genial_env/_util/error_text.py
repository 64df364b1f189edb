"""Messages of errors in other programs and in users' code, as one printable line of limited length."""

from genial_env._util.shutdown import Terminated

MAX_REASON_LENGTH = 500
"""The most characters of an error message that are kept."""


def describe_error(error: BaseException) -> str:
    """Return a description of an agent's exception: one printable line of limited length."""
    name = type(error).__name__
    try:
        text = f"{name}: {error}"
    except Terminated:
        raise
    except BaseException as another:
        text = f"{name}, whose message cannot be read ({type(another).__name__})"
    return printable(text)


def printable(text: str) -> str:
    """Return text with line ends, control characters and lone surrogates escaped. Long text is shortened."""
    text = text if len(text) <= MAX_REASON_LENGTH else f"{text[:MAX_REASON_LENGTH]}..."
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
