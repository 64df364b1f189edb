"""Requests for what is shared: pictures of positions, films of games, and a page with a replay."""

from collections.abc import Callable
from typing import Any

import numpy as np
from starlette.responses import Response

from genial_env.core.state import State
from genial_env.records import replay_decisions
from genial_env.render import pixels
from genial_env.render.film import draw_record, last_move
from genial_env.render.replay_page import replay_html
from genial_env.render.svg import position_svg
from genial_env.web._analysis_requests import read_position
from genial_env.web._record_requests import parse_record
from genial_env.web._request_checks import Refused, invalid
from genial_env.web._serialize import JsonObject

PICTURE_WIDTH, FILM_WIDTH = 1200, 640
"""The widths of pictures and films in pixels."""

FRAME_S = 0.9
"""How long a film shows each placement."""


def draw_picture(sent: JsonObject) -> Response:
    """Return a PNG file of a position.

    Args:
        sent: ``{"position": text}``, or ``{"record": line, "step": 3}`` for the position after three decisions of a
            recorded game, its last tile marked.

    Raises:
        Refused: if the position or the record is not valid, the step is out of range, or the extra `render` is not
            installed on the server.
    """
    if "record" in sent:
        record = _read_record(sent)
        events = _event_of_step(record, sent.get("step"))
        drawing = draw_record(record, events)
    else:
        state, known = read_position(sent)
        drawing = position_svg(state, seat=known)
    return _answer(lambda: pixels.png(drawing, PICTURE_WIDTH), "image/png")


def draw_film(sent: JsonObject) -> Response:
    """Return a GIF file of the placements of the recorded game ``{"record": line}``.

    Raises:
        Refused: if the record is not valid, or the extra `render` is not installed on the server.
    """
    record = _read_record(sent)
    placed = [number for number, event in enumerate(record["events"], 1) if event[0] == "place"]
    drawings = [
        position_svg(state, names=record["agents"], move=last_move(record, number))
        for number, state in zip([0, *placed], _states_after(record, placed), strict=True)
    ]
    return _answer(lambda: pixels.gif(drawings, FRAME_S, FILM_WIDTH), "image/gif")


def make_replay_page(sent: JsonObject) -> Response:
    """Return a page of its own with the recorded game ``{"record": line}``, which needs no server.

    Raises:
        Refused: if the record is not valid.
    """
    return Response(replay_html(_read_record(sent)), media_type="text/html")


def _states_after(record: dict[str, Any], placed: list[int]) -> list[State]:
    """Return the initial position, and the position after the turn of each placement."""
    found = replay_decisions(record)
    events = found.events.tolist()
    after = [found.states.select(np.array([row])) for row in range(1, len(events))] + [found.final]
    by_event = dict(zip((event + 1 for event in events), after, strict=True))
    return [found.dealt, *(by_event[number] for number in placed)]


def _read_record(sent: JsonObject) -> dict[str, Any]:
    line = sent.get("record")
    if not isinstance(line, str):
        raise invalid("record", "the text of a record", line)
    return parse_record(line.encode("utf-8", "surrogatepass"))


def _event_of_step(record: dict[str, Any], step: Any) -> int:
    """Return the number of events up to a decision, its draw included."""
    starts = [number for number, event in enumerate(record["events"]) if event[0] != "draw"]
    if type(step) is not int or not 0 <= step <= len(starts):
        raise invalid("step", f"a whole number from 0 to {len(starts)}", step)
    return [*starts, len(record["events"])][step]


def _answer(make: Callable[[], bytes], media_type: str) -> Response:
    try:
        return Response(make(), media_type=media_type)
    except ImportError as error:
        raise Refused(501, f"this server cannot make pictures: {error}", "no_pictures", reason=str(error)) from error
