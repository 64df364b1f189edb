"""What is read from a request: its JSON object, the name of its game, and the values of its query."""

import re

from starlette.requests import Request

from genial_env._util.strict_json import JSONError, decode_text, parse_object
from genial_env.web._request_checks import Refused, invalid, read_body
from genial_env.web._serialize import JsonObject

MAX_BODY_BYTES = 100_000
"""The most bytes of a request that is not a file of records. The record of one game is much shorter."""


async def parse_body(request: Request) -> JsonObject:
    """Return the JSON object of a request.

    Raises:
        Refused: if the body is anything else.
    """
    body = await read_body(request, MAX_BODY_BYTES)
    try:
        return parse_object(decode_text(body))
    except JSONError as error:
        raise Refused(400, str(error), "invalid_request") from error


def game_name(request: Request) -> str:
    name: str = request.path_params["name"]
    return name


def parse_seat(request: Request) -> int | None:
    sent = request.query_params.get("seat")
    if sent is None:
        return None
    if sent not in ("0", "1", "2", "3"):
        raise invalid("seat", "a number from 0 to 3", sent)
    return int(sent)


def parse_turn(request: Request) -> JsonObject:
    """Return ``{"turn": 3}`` for ``?turn=3``, else ``{}``."""
    sent = request.query_params.get("turn")
    if sent is None:
        return {}
    if not re.fullmatch("[0-9]{1,9}", sent):
        raise invalid("turn", "a whole number", sent)
    return {"turn": int(sent)}
