"""The command that serves the game to browsers."""

import ipaddress
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from genial_env.cli.common import UserError, app, complain


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
        import uvicorn

        from genial_env.web import make_app
    except ImportError as error:
        raise UserError(f"serving needs more libraries: pip install 'genial-env[serve]' ({error})") from error
    folder = data or platformdirs.user_data_path("genial_env", appauthor=False) / "games"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}") from error
    if not _is_loopback(host):
        complain(f"everybody who reaches {host} can play here, and what is sent can be read on the way")
    serving = make_app(folder, [host.lower()])
    settings = uvicorn.Config(serving, host, port, log_level="warning", ws="none", lifespan="off", server_header=False)
    try:
        sock = settings.bind_socket()
    except SystemExit as ended:
        raise UserError(f"cannot listen at {host}, port {port}: is another server there?") from ended
    shown = f"[{host}]" if ":" in host else host
    print(f"Play at http://{shown}:{sock.getsockname()[1]}/ (games are kept in {folder}; Ctrl-C ends)", flush=True)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(settings).run([sock])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
