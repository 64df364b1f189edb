"""The command that serves the game to browsers."""

import ipaddress
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from genial_env.cli.common import UserError, app, complain
from genial_env.ending import Ending


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen at; 127.0.0.1 is this machine alone.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen at; 0 takes a free one.")] = 8000,
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
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}") from error
    try:
        server, sock = listening(make_app(folder, [host.lower()]), host, port)
    except (OSError, OverflowError) as error:
        raise UserError(f"cannot listen at {host}, port {port}: {error}") from error
    if not _is_loopback(host):
        complain(f"everybody who reaches {host} can play here, and what is sent can be read on the way")
    shown = f"[{host}]" if ":" in host else host
    print(f"Play at http://{shown}:{sock.getsockname()[1]}/ (games are kept in {folder}; Ctrl-C ends)", flush=True)
    with suppress(KeyboardInterrupt, Ending):  # the server has ended as it was asked to
        server.run([sock])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
