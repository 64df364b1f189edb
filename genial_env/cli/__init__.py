"""The `genial` command."""

import os
import sys

from genial_env._util.shutdown import handle_signals
from genial_env.cli import arena, engine, exploit, export, games, mcp, play, position, puzzles, web  # noqa: F401  they define the commands
from genial_env.cli.common import UserError, app
from genial_env.cli.console import flush_output, prepare_streams, print_error, report_closed_output
from genial_env.errors import AgentError

__all__ = ["app", "main"]


def main() -> None:
    """Run the command and exit.

    A mistake of the user gives a message of one line and status 2, an error of the system a message of one line and
    status 1, and so does an agent of the user that fails outside of tournaments. A closed output pipe gives status 1
    without a message.
    """
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # so that module:factory finds agents there
    prepare_streams()
    sys.exit(flush_output(_status()))


def _status() -> int:
    """Run the command and return its exit status."""
    try:
        with handle_signals("genial"):
            _run()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except UserError as error:
        print_error(str(error))
        return 2
    except AgentError as error:  # of an agent of the user, where nobody counts a forfeit
        print_error(str(error))
        return 1
    except BrokenPipeError as error:
        return report_closed_output(error)
    return 0


def _run() -> None:
    """Run the command; an error of standard output ends it."""
    try:
        app()
    except OSError as error:
        if error.filename is None and not isinstance(error, BrokenPipeError):  # it is known for errors of other files
            sys.exit(report_closed_output(error))
        raise
