"""The `genial` command."""

import os
import sys

from genial_env.cli import arena, games, people, web  # noqa: F401  what they define are commands
from genial_env.cli.common import UserError, app, complain
from genial_env.ending import orderly

__all__ = ["app", "main"]


def main() -> None:
    """Run the command; what the user did wrong is one line and status 2."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # agents of one's own, as module:factory
    try:
        with orderly("genial"):
            app()
    except UserError as error:
        complain(str(error))
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone: nothing is left to say
