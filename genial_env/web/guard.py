"""What is asked of every request before anything else sees it, and what every answer carries."""

import ipaddress
import json
import logging
from collections.abc import Iterable
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""On every answer. The page is of this server alone: nothing inline, nothing from elsewhere, in nobody's frame."""

log = logging.getLogger(__name__)

READING = ("GET", "HEAD")
"""Methods that change nothing."""


class Refused(Exception):
    """A request that is answered with an error.

    Args:
        status: of HTTP.
        message: what was expected and what came, for the person at the page.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message

    def answer(self) -> JSONResponse:
        """As the page reads it."""
        return JSONResponse({"error": self.message}, self.status)


class Guard:
    """Lets a request through that is meant for this server, and, if it changes something, comes from its own page.

    A page from elsewhere can make a browser send requests here. Its name may even be made to lead to this machine (DNS
    rebinding): so only hosts are let through that nobody else can have, addresses in numbers, "localhost", and the
    names that the server was started with.

    Args:
        app: what is guarded.
        hosts: further names by which the server is known.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._hosts = {"localhost", *hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            self._check(scope)
        except Refused as refusal:
            await refusal.answer()(scope, receive, send_guarded)
            return
        try:
            await self._app(scope, receive, send_guarded)
        except ClientDisconnect:
            pass  # nobody is there to be answered
        except Exception:  # answered by now: raised further, it would only end the browser's connection
            log.exception("%s of %s went wrong", scope["method"], scope["path"])

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_own(host):
            raise Refused(403, f"this server answers to its own addresses only, not to {host[:80]!r}")
        origin = headers.get("origin")
        if scope["method"] not in READING and origin != f"{scope['scheme']}://{host}":
            found = "nothing" if origin is None else repr(origin[:80])
            raise Refused(403, f"changes are taken from the page of this server only: its origin, not {found}")

    def _is_own(self, host: str) -> bool:
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return name.lower() in self._hosts
        return True


async def read_body(request: Request, most: int) -> bytes:
    """What was sent with a request.

    Args:
        request: the request.
        most: bytes, at most.

    Raises:
        Refused: for more.
    """
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise Refused(413, f"expected at most {in_words(most)}, found more")
    return bytes(body)


def in_words(size: int) -> str:
    """Bytes as people say them."""
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1000} kB"


def shortened(value: Any) -> str:
    """What was sent, as a message shows it."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= 80 else f"{text[:77]}..."
