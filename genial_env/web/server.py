"""The server as a process runs it: uvicorn, set as this application needs it."""

import socket

import uvicorn
from starlette.types import ASGIApp


def listening(app: ASGIApp, host: str, port: int) -> tuple[uvicorn.Server, socket.socket]:
    """A server that is ready to run, and the socket it is to run on, which listens already.

    Args:
        app: what answers.
        host: the address to listen at.
        port: the port; 0 for a free one.

    Raises:
        OSError: where nothing can listen there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.create_server((host, port), family=family)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio sets it for sockets of its own making only
    settings = uvicorn.Config(
        app,
        log_level="warning",
        ws="none",
        lifespan="off",
        server_header=False,
        proxy_headers=False,  # no header says from where a request comes
    )
    return uvicorn.Server(settings), sock
