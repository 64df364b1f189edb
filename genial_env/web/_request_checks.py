"""Checks of every request before the application sees it, and security headers on every answer."""

import ipaddress
import json
import logging
from collections.abc import Iterable
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from genial_env.render.replay_page import script_digest

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Headers of every answer. The page loads nothing from other servers, has nothing inline, and cannot be framed."""

FRAMED = "/embed"
"""The address of the one page that pages of other sites may frame. It has no session and sends nothing."""

_FRAMED_HEADERS = {
    **{name: value for name, value in HEADERS.items() if name != "x-frame-options"},
    "content-security-policy": f"default-src 'none'; script-src '{script_digest()}'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors *",
    "cross-origin-resource-policy": "cross-origin",
}

log = logging.getLogger(__name__)

SAFE_METHODS = ("GET", "HEAD")
"""Methods that change nothing."""


class Refused(Exception):
    """A request that is answered with an error.

    Args:
        status: the HTTP status.
        message: what was expected and what was found, in English.
        code: what was refused, for programs. Codes do not change; the languages of the page other than English have
            their own sentence for each.
        values: what the sentence of a code is about, by name.
    """

    def __init__(self, status: int, message: str, code: str, **values: Any) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.values = status, message, code, values

    def to_dict(self) -> dict[str, Any]:
        """Return what is sent: the message, its code and its values."""
        return {"error": self.message, "code": self.code, "values": self.values}

    def answer(self) -> JSONResponse:
        """Return the answer as the page reads it."""
        return JSONResponse(self.to_dict(), self.status)


def invalid(field: str, expected: str, found: Any) -> Refused:
    """Return the refusal of a request in which a field is not what was expected."""
    return Refused(400, f"{field}: expected {expected}, found {shorten(found)}", "invalid_request", field=field)


class RequestChecks:
    """An ASGI middleware that refuses requests for other hosts, and changes that another page sends.

    A page of another site can make a browser send requests to this server. Its host name can even be made to point to
    this machine (DNS rebinding). So only host names are accepted that nobody else can have: numeric addresses,
    "localhost", and the names that the server was started with.

    Args:
        app: the application.
        hosts: further names of the server.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = ()) -> None:
        self._app = app
        self._hosts = {"localhost", *hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request with an error, or pass it to the application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_FRAMED_HEADERS if scope["path"] == FRAMED else HEADERS)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            self._check(scope)
        except Refused as refusal:
            await refusal.answer()(scope, receive, send_with_headers)
            return
        try:
            await self._app(scope, receive, send_with_headers)
        except ClientDisconnect:
            pass  # there is nobody to answer
        except Exception:  # it is answered already: raised again it would only close the connection
            log.exception("%s of %s went wrong", scope["method"], scope["path"])

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_own(host):
            message = (
                f"this server answers to its own addresses only, not to {host[:80]!r}: another site may have pointed "
                "that name here. Call the server by its numeric address, or start it with --allowed-host and the name"
            )
            raise Refused(403, message, "foreign_host", host=host[:80])
        origin = headers.get("origin")
        if scope["method"] not in SAFE_METHODS and origin != f"{scope['scheme']}://{host}":
            found = "nothing" if origin is None else repr(origin[:80])
            message = f"changes are taken from the page of this server only: its origin, not {found}"
            raise Refused(403, message, "foreign_page")

    def _is_own(self, host: str) -> bool:
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return name.lower() in self._hosts
        return True


async def read_body(request: Request, max_bytes: int) -> bytes:
    """Return the body of a request.

    Raises:
        Refused: if it has more bytes than allowed.
    """
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > max_bytes:
            raise Refused(413, f"expected at most {format_size(max_bytes)}, found more", "too_large", bytes=max_bytes)
    return bytes(body)


def format_size(size: int) -> str:
    """Return a number of bytes as "5 MB" or "100 kB"."""
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1000} kB"


def shorten(value: Any) -> str:
    """Return what was sent as JSON of at most 80 characters, for a message."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= 80 else f"{text[:77]}..."
