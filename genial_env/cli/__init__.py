"""The `genial` command."""

import os
import sys

from genial_env._util.shutdown import handle_signals
from genial_env.cli import arena, games, people, web  # noqa: F401  what they define are commands
from genial_env.cli.common import UserError, app
from genial_env.cli.console import complain, finish, gone, prepare_streams

__all__ = ["app", "main"]


def main() -> None:
    """Run the command and exit.

    What the user did wrong is one line and status 2; what the system refused is one line and status 1. A reader of the
    output that has gone is status 1 without a line.
    """
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # agents of one's own, as module:factory
    prepare_streams()
    sys.exit(finish(_status()))


def _status() -> int:
    """Run the command; returns its exit status."""
    try:
        with handle_signals("genial"):
            _run()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except UserError as error:
        complain(str(error))
        return 2
    except BrokenPipeError as error:
        return gone(error)
    return 0


def _run() -> None:
    """Run the command; errors of standard output end it."""
    try:
        app()
    except OSError as error:
        if error.filename is None and not isinstance(error, BrokenPipeError):  # of files that were opened it is known
            sys.exit(gone(error))
        raise
