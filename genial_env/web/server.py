"""uvicorn with the settings of this application, and with deadlines for clients.

uvicorn has a time limit between requests only. It waits without limit for the rest of a request, and for clients that
do not read their answers, and it accepts any number of connections. hypercorn 0.18 has time limits for headers and
bodies, but none for clients that do not read, nor for the number of connections. So :class:`Connection` adds them.
"""

import asyncio
import socket
import struct
import threading
from types import FrameType
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from genial_env.web._app import App

__all__ = ["Connection", "Server", "create_server"]

BACKLOG = 64
"""Connections that may wait in the operating system until they are accepted."""

MAX_CONNECTIONS = 600
"""The most connections at a time, a browser has up to 6. A further one is answered with status 503 and closed."""

IDLE_S = 5
"""The most seconds between two requests of a connection."""

CHECK_S = 1.0
"""The seconds between two checks of a connection's deadlines."""

DEADLINES_S = {"headers": 10.0, "body": 60.0, "writing": 30.0}
"""The most seconds in each stage of a connection (:meth:`Connection.stage`).

The time for the headers begins with the connection or the last answer. In the stage "writing" it begins anew whenever
the client reads something. An answer that is held back for an agent has no deadline here.
"""

ENDING_S = 2.0
"""How many seconds the end waits for answers in progress."""

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class Connection(H11Protocol):
    """uvicorn's HTTP protocol, with deadlines and at most :data:`MAX_CONNECTIONS` connections."""

    _watch: asyncio.TimerHandle | None = None
    _stage: tuple[Any, ...] = ()
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or answer that there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.write(_FULL)
            transport.close()
        self._check_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop checking deadlines."""
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def stage(self) -> str:
        """Return what the connection waits for.

        Returns:
            "headers" or "body" of a request, "writing" an answer that the client does not read, or the application's
            "answer".
        """
        if self.transport.get_write_buffer_size():
            return "writing"
        cycle = cast(RequestResponseCycle | None, self.cycle)
        if cycle is None or cycle.response_complete:
            return "headers"
        return "body" if cycle.more_body else "answer"

    def abort(self) -> None:
        """Close the connection now; the operating system too discards what was not read."""
        sock = self.transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _check_deadline(self) -> None:
        """Close the connection if it has been in a stage for too long; else check again later."""
        stage = self.stage()
        found = (stage, self.cycle, self.transport.get_write_buffer_size())
        if found != self._stage:
            self._stage, self._since = found, self.loop.time()
        elif self.loop.time() - self._since > DEADLINES_S.get(stage, float("inf")):
            self.abort()
            return
        self._watch = self.loop.call_later(CHECK_S, self._check_deadline)


class Server(uvicorn.Server):
    """uvicorn's server, which ends at once: it waits only for answers in progress."""

    def __init__(self, app: App, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._app = app
        self.saved = threading.Event()
        """Set when the server is ending and everything is saved. Threads may still be at work, for nobody."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End at the first signal; ignore later ones, at which uvicorn would break off the orderly end."""
        if not self.should_exit:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: cancel all tasks, send the answers in progress, close the connections."""
        await asyncio.to_thread(self._app.close)
        self.saved.set()
        for connection in self._connections("headers", "body"):
            connection.abort()
        asyncio.get_running_loop().call_later(ENDING_S, self._abort)
        await super().shutdown(sockets)

    def _abort(self) -> None:
        for connection in self._connections("headers", "body", "writing", "answer"):
            connection.abort()

    def _connections(self, *stages: str) -> list[Connection]:
        found = cast(set[Connection], self.server_state.connections)
        return [each for each in found if each.stage() in stages]


def create_server(app: App, host: str, port: int) -> tuple[Server, socket.socket]:
    """Return a server that is ready to run, and its socket, which listens already.

    Args:
        app: the application.
        host: the address to listen on.
        port: the port; 0 for a free one.

    Raises:
        OSError: if nobody can listen there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.create_server((host, port), family=family, backlog=BACKLOG)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio does so only for sockets that it makes
    settings = uvicorn.Config(
        app,
        http=Connection,
        log_level="error",  # mistakes of clients are answered, not logged
        ws="none",
        lifespan="on",
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_S,
        server_header=False,
        proxy_headers=False,  # do not trust headers about the client's address
    )
    return Server(app, settings), sock
