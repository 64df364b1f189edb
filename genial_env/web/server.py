"""The server as a process runs it: uvicorn, set as this application needs it, and with deadlines for its clients.

uvicorn has a time limit between requests only: it waits for ever for the rest of a request that has begun, and for
clients that do not take what they are sent, and it takes any number of connections. hypercorn 0.18 has time limits for
headers and bodies, but took 600 connections and kept one that took nothing of an answer (measured). So every connection
looks after itself here: :class:`Connection`.
"""

import asyncio
import socket
import struct
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from genial_env.web.app import App

BACKLOG = 64
"""Connections that the operating system may hold before they are taken."""

MOST_CONNECTIONS = 256
"""At a time; one more is told so and closed."""

IDLE_S = 5
"""Between two requests of a connection."""

LOOKS_S = 1.0
"""Between two looks of a connection after its deadlines."""

DEADLINES_S = {"headers": 10.0, "body": 60.0, "writing": 30.0}
"""How long a client may take to send a request's headers (from the connection, or the last answer, on), then its body,
and to take any of an answer. An answer that is held back for an agent has no deadline here.
"""

ENDING_S = 2.0
"""How long the end waits for answers that are on their way."""

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class Connection(H11Protocol):
    """uvicorn's protocol for HTTP, with deadlines and no more connections than :data:`MOST_CONNECTIONS`."""

    _watch: asyncio.TimerHandle | None = None
    _stage: tuple[Any, ...] = ()
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or tell that there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.write(_FULL)
            transport.close()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop looking."""
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def stage(self) -> str:
        """What is waited for: the "headers" or "body" of a request, the client's "writing" down of an answer, or the
        application's "answer".
        """
        if self.transport.get_write_buffer_size():
            return "writing"
        cycle = cast(RequestResponseCycle | None, self.cycle)
        if cycle is None or cycle.response_complete:
            return "headers"
        return "body" if cycle.more_body else "answer"

    def abort(self) -> None:
        """End the connection now; the operating system too keeps nothing that was not taken."""
        sock = self.transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _look(self) -> None:
        """End the connection where the client has been in a stage for too long; look again later."""
        stage = self.stage()
        found = (stage, self.cycle, self.transport.get_write_buffer_size())
        if found != self._stage:
            self._stage, self._since = found, self.loop.time()
        elif self.loop.time() - self._since > DEADLINES_S.get(stage, float("inf")):
            self.abort()
            return
        self._watch = self.loop.call_later(LOOKS_S, self._look)


class Server(uvicorn.Server):
    """uvicorn's server, which ends at once: nobody is waited for who is not being answered."""

    def __init__(self, app: App, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: break off what agents think, send the answers that are due, close."""
        await asyncio.to_thread(self._app.close)
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


def listening(app: App, host: str, port: int) -> tuple[Server, socket.socket]:
    """A server that is ready to run, and the socket it is to run on, which listens already.

    Args:
        app: what answers.
        host: the address to listen at.
        port: the port; 0 for a free one.

    Raises:
        OSError: where nothing can listen there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.create_server((host, port), family=family, backlog=BACKLOG)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio sets it for sockets of its own making only
    settings = uvicorn.Config(
        app,
        http=Connection,
        log_level="error",  # what clients do wrong is answered, and not the log's business
        ws="none",
        lifespan="on",
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_S,
        server_header=False,
        proxy_headers=False,  # no header says from where a request comes
    )
    return Server(app, settings), sock
