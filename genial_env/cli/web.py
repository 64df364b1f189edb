"""The command that serves the game to browsers."""

import ipaddress
import os
import secrets
import socket
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated

import typer

from genial_env._util.extras import install_hint
from genial_env._util.shutdown import Terminated
from genial_env.cli.common import UserError, integer_between
from genial_env.cli.common import app as commands
from genial_env.cli.console import print_error

SWITCH_S = 0.0005
"""The interpreter's switch interval in seconds.

It is shorter than Python's default of 0.005, so that threads of agents delay the answers to requests less.
"""


EXIT_S = 3.0
"""The longest time in seconds from the moment when everything is saved to the end of the process."""

CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""The characters of an invitation code: without I and O, which look like 1 and 0. Each has 5 bits."""


@commands.command()
def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; 127.0.0.1 is reached from this machine only.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 for a free one.", callback=integer_between(0, 65535))
    ] = 8000,
    data: Annotated[
        Path | None, typer.Option(help="Folder in which games are saved; default: a folder of this user.")
    ] = None,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="A further name by which browsers may call this server; may be repeated.")
    ] = None,
    invitation: Annotated[
        str | None,
        typer.Option(
            help="Code that browsers must enter to begin games. Default: none on this machine; with another --host, "
            "a new one is printed.",
            envvar="GENIAL_ENV_INVITATION",
        ),
    ] = None,
    keep_days: Annotated[
        int, typer.Option(help="Days after which games of a browser that did not come back are removed.", min=1)
    ] = 365,
) -> None:
    """Play and review games in the browser (extra serve). Prints the address of the server; Ctrl-C ends it."""
    try:
        import platformdirs

        from genial_env.web import Limits, make_app
        from genial_env.web.limits import DAY
        from genial_env.web.server import create_server
    except ImportError as error:
        raise UserError(f"serving needs more libraries: {install_hint('serve')} ({error})") from error
    folder = data or platformdirs.user_data_path("genial_env", appauthor=False) / "games"
    names = [host.lower(), *_own_names(host), *(name.lower() for name in allowed_host or ())]
    if invitation is None and not _is_loopback(host):
        invitation = _make_invitation()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        limits = Limits(max_age_s=keep_days * DAY)
        app = make_app(folder, names, limits, invitation=invitation, warm_up=True)
    except OSError as error:  # another server uses the folder, or it cannot be written
        raise UserError(f"{folder}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(str(error)) from error
    sys.setswitchinterval(SWITCH_S)
    with closing(app):
        try:
            server, sock = create_server(app, host, port)
        except (OSError, OverflowError) as error:
            raise UserError(f"cannot listen on {host}, port {port}: {error}") from error
        _print_address(host, sock.getsockname()[1], folder, invitation)
        threading.Thread(target=_exit_when_saved, args=(server.saved,), daemon=True).start()
        with suppress(KeyboardInterrupt, Terminated):  # the server has ended
            server.run([sock])
    if app.busy:  # everything is saved; the normal end of Python can crash while threads run compiled code
        _exit()


def _print_address(host: str, port: int, folder: Path, invitation: str | None) -> None:
    """Print the address of the server, and how guests are invited."""
    reached = _find_address(host)
    shown = f"[{reached}]" if ":" in reached else reached
    address = f"http://{shown}:{port}/"
    print(f"Play at {address} (games are saved in {folder}; Ctrl-C ends the server)", flush=True)
    if invitation is not None:
        print(f"Invitation code: {invitation}", flush=True)
        print(f"Link for guests: {address}#/invitation/{invitation}", flush=True)
    if not _is_loopback(host):
        print_error(f"everybody who can reach {host} and knows the code can play, and the connection is not encrypted")


def _make_invitation() -> str:
    """Return a new invitation code of 40 random bits."""
    letters = "".join(secrets.choice(CODE_LETTERS) for _ in range(8))
    return f"{letters[:4]}-{letters[4:]}"


def _exit_when_saved(saved: threading.Event) -> None:
    """End the process if it does not end by itself: a request may be in a thread that cannot be ended."""
    saved.wait()
    time.sleep(EXIT_S)
    _exit()


def _exit() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


ALL_ADDRESSES = ("0.0.0.0", "::")
"""The values of `--host` that stand for all addresses of this machine."""


def _own_names(host: str) -> list[str]:
    """Return the names by which guests may call this machine, if the server listens on all its addresses."""
    name = socket.gethostname().lower()
    return [name, f"{name.partition('.')[0]}.local"] if host in ALL_ADDRESSES else []


def _find_address(host: str) -> str:
    """Return an address for guests: of all addresses of this machine the one from which it reaches others."""
    if host not in ALL_ADDRESSES:
        return host
    family, elsewhere = (socket.AF_INET6, "2001:db8::1") if ":" in host else (socket.AF_INET, "192.0.2.1")
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect((elsewhere, 9))  # sends nothing; the address is one of those for documentation
        except OSError:  # there is no network
            return "::1" if ":" in host else "127.0.0.1"
        return str(sock.getsockname()[0])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
