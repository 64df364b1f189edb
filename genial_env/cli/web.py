"""The command that serves the game to browsers."""

import ipaddress
import os
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated

import typer

from genial_env._util.shutdown import Terminated
from genial_env.cli.common import UserError, within
from genial_env.cli.common import app as commands
from genial_env.cli.console import complain

SWITCH_S = 0.0005
"""How long a thread that thinks keeps the interpreter from those that answer; Python's usual 0.005 doubles the median
time of a light request (docs/play.md).
"""


@commands.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen at; 127.0.0.1 is this machine alone.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="The port to listen at; 0 takes a free one.", callback=within(0, 65535))
    ] = 8000,
    data: Annotated[
        Path | None, typer.Option(help="The folder that games are kept in; left out, one of this user's.")
    ] = None,
) -> None:
    """Play and review in the browser (extra serve): starts a server and prints its address. Ctrl-C ends it."""
    try:
        import platformdirs

        from genial_env.web import make_app
        from genial_env.web.server import listening
    except ImportError as error:
        raise UserError(f"serving needs more libraries: pip install 'genial-env[serve]' ({error})") from error
    folder = data or platformdirs.user_data_path("genial_env", appauthor=False) / "games"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        app = make_app(folder, [host.lower()])
    except OSError as error:  # another server has the folder, or nobody can write there
        raise UserError(f"{folder}: {error.strerror}") from error
    sys.setswitchinterval(SWITCH_S)
    with closing(app):
        try:
            server, sock = listening(app, host, port)
        except (OSError, OverflowError) as error:
            raise UserError(f"cannot listen at {host}, port {port}: {error}") from error
        if not _is_loopback(host):
            complain(f"everybody who reaches {host} can play here, and what is sent can be read on the way")
        shown = f"[{host}]" if ":" in host else host
        print(f"Play at http://{shown}:{sock.getsockname()[1]}/ (games are kept in {folder}; Ctrl-C ends)", flush=True)
        with suppress(KeyboardInterrupt, Terminated):  # the server has ended as it was asked to
            server.run([sock])
    if app.busy:  # everything is written; Python's own way to end can crash beside threads in compiled code
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
