"""How requests are answered: JSON, the lines of a review, refusals; and how an answer is held back."""

import asyncio
import json
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from genial_env.web._record_requests import ReviewStream
from genial_env.web._request_checks import Refused
from genial_env.web._serialize import JsonObject
from genial_env.web._work_queue import TaskCancelled


class JsonAnswer(JSONResponse):
    """JSON in ASCII, so that every name of an agent can be sent."""

    def render(self, content: Any) -> bytes:
        """Return the bytes of the JSON."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class ReviewAnswer(StreamingResponse):
    """The lines of a review. The work is cancelled if the client leaves, also before the first line."""

    def __init__(self, stream: ReviewStream) -> None:
        super().__init__(stream.lines(), media_type="application/x-ndjson")
        self._task = stream.task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines. Some versions of uvicorn tell only those who receive that the client has left."""
        sending = asyncio.create_task(self.stream_response(send))
        leaving = asyncio.create_task(_wait_for_disconnect(receive))
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._task.cancel()
            leaving.cancel()
            sending.cancel()
        with suppress(asyncio.CancelledError, OSError):  # the client has left
            await sending


def as_response(answer: JsonObject | Response) -> Response:
    """Return a JSON object as a response; a response stays as it is."""
    return answer if isinstance(answer, Response) else JsonAnswer(answer)


async def wait_for(event: Coroutine[Any, Any, None], request: Request, seconds: float | None = None) -> None:
    """Wait until an event has come, some seconds have passed, or the client has left."""
    if seconds == 0:
        event.close()
        return
    waits = [asyncio.create_task(event), asyncio.create_task(_wait_for_disconnect(request.receive))]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


async def _wait_for_disconnect(receive: Receive) -> None:
    """Wait until the client has left; ignore what it sends meanwhile."""
    while (await receive())["type"] != "http.disconnect":
        pass


# Errors


async def _answer_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return JsonAnswer(error.to_dict(), error.status)


async def _answer_cancelled(request: Request, error: Exception) -> Response:
    message = "this was cancelled: the game has gone on, was removed, or the server is ending"
    return Refused(409, message, "cancelled").answer()


async def _answer_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = f"{request.method} of this address: {error.detail.lower()}"
    return Refused(error.status_code, message, "no_such_page").answer()


async def _answer_internal_error(request: Request, error: Exception) -> Response:
    return Refused(500, "something went wrong in the server; its log says what", "internal_error").answer()


ERRORS = {
    Refused: _answer_refusal,
    TaskCancelled: _answer_cancelled,
    HTTPException: _answer_http_error,
    Exception: _answer_internal_error,
}
"""How an exception is answered, by its class."""
