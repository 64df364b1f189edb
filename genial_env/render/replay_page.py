"""A recorded game as a page of its own, to step through: one file that needs no server and loads nothing.

    Path("game.html").write_text(replay_html(record))
    IPython.display.HTML(replay_iframe(record))     # in a notebook

`replay.js` draws the game. It reads these data, which are written into the page, or packed into its address where a
server sends the page without a game.

==========  ============================================================================================
key         meaning
==========  ============================================================================================
`title`     the title of the page
`side`      cells along an edge of the board
`symbols`   the cells of the printed symbols, in the order of the colors
`colors`    the letters of the colors in play
`names`     the names of the seats
`tracks`    the seats of each track
`top`       the end of a track
`labels`    the words for back, next, play and the slider
`frames`    the positions: `board`, `scores`, `racks`, `marks` (the cells of the last tile), `words`
==========  ============================================================================================
"""

import base64
import hashlib
import json
from functools import lru_cache
from html import escape
from importlib import resources
from typing import Any

import numpy as np

from genial_env.core.actions import tile_name
from genial_env.core.rules import COLOR_LETTERS, Rules
from genial_env.core.state import EMPTY, FREE, State
from genial_env.core.tables import tables
from genial_env.records import replay_decisions
from genial_env.render import theme
from genial_env.render.sentences import describe_event

__all__ = ["replay_html", "replay_iframe", "script_digest"]

LABELS = ("Back", "Next", "Play", "Step")

_STYLE = """
body { margin: 0; padding: 0.5rem; font: 15px/1.4 system-ui, sans-serif; color: %(ink)s; background: %(paper)s; }
p { margin: 0 0 0.4rem; min-height: 2.8em; }
.game { display: grid; grid-template-columns: minmax(0, 3fr) minmax(9rem, 2fr); gap: 0.8rem; align-items: start; }
.board { width: 100%%; max-height: 78vh; }
h2 { font-size: 0.9rem; margin: 0.2rem 0; }
.marker { display: grid; grid-template-columns: 1.2rem 1fr 1.6rem; gap: 0.3rem; align-items: center; }
.bar { width: 100%%; height: 0.5rem; background: %(free)s; }
.count { text-align: right; }
.rack { display: flex; flex-wrap: wrap; gap: 0.2rem; margin: 0.2rem 0 0.6rem; }
.controls { display: flex; gap: 0.4rem; margin-top: 0.4rem; }
button { font: inherit; min-width: 3rem; min-height: 2.4rem; }
input { flex: 1; }
"""


def replay_html(record: dict[str, Any] | None) -> str:
    """Return a page to step through a recorded game, as HTML.

    Args:
        record: the record; None for a page that reads the game from its address.

    Raises:
        RecordError: if the record does not replay.
    """
    game = "null" if record is None else _to_json(_data(record))
    colors = {"ink": theme.INK, "paper": theme.PAPER, "free": theme.FREE}
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Génial!</title>'
        f"<style>{_STYLE % colors}</style></head><body>"
        f'<script type="application/json" id="paint">{_to_json(_paint())}</script>'
        f'<script type="application/json" id="game">{game}</script>'
        f"<script>{_script()}</script></body></html>"
    )


def replay_iframe(record: dict[str, Any], width: str = "100%", height: int = 560) -> str:
    """Return one tag that shows a recorded game in any page or notebook, as HTML.

    Args:
        record: the record.
        width: the width as in CSS.
        height: the height in pixels.

    Raises:
        RecordError: if the record does not replay.
    """
    style = f"border:0;width:{escape(width)};height:{int(height)}px"
    return f'<iframe style="{style}" title="Génial!" srcdoc="{escape(replay_html(record))}"></iframe>'


def script_digest() -> str:
    """Return the digest of the page's script, as a content security policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()


@lru_cache(maxsize=1)
def _script() -> str:
    return (resources.files("genial_env.render") / "replay.js").read_text("utf-8")


def _to_json(data: Any) -> str:
    """Return data as JSON that cannot end the element that it stands in."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _paint() -> dict[str, Any]:
    return {
        "colors": theme.COLORS,
        "symbols": theme.SYMBOLS,
        "tile": theme.TILE,
        "free": theme.FREE,
        "edge": theme.FREE_EDGE,
        "mark": theme.MARK,
    }


def _data(record: dict[str, Any]) -> dict[str, Any]:
    """Return what the page shows of a game: a position after each decision."""
    found = replay_decisions(record)
    rules: Rules = found.dealt.rules
    events = record["events"]
    starts = [*found.events.tolist(), len(events)]
    after = [found.states.select(np.array([row])) for row in range(1, len(found.events))]
    frames = [_frame(found.dealt, [], "")]
    for number, state in enumerate([*after, found.final][: len(found.events)]):
        happened = events[starts[number] : starts[number + 1]]
        words = "; ".join(describe_event(rules, event) for event in happened)
        cells = happened[0][5:7] if happened[0][0] == "place" else []
        index = tables(rules).cell_index
        frames.append(_frame(state, [index[q, r] for q, r in cells], words))
    return {
        "title": ", ".join(record["agents"]),
        "side": rules.side,
        "symbols": tables(rules).start_symbols.tolist(),
        "colors": COLOR_LETTERS[: rules.colors],
        "names": record["agents"],
        "tracks": [list(rules.seats_of(track)) for track in range(rules.tracks)],
        "top": rules.top,
        "labels": LABELS,
        "frames": frames,
    }


def _frame(state: State, marks: list[int], words: str) -> dict[str, Any]:
    racks = [[tile_name(state.rules, kind) for kind in rack if kind != EMPTY] for rack in state.racks[0].tolist()]
    board = "".join("." if color == FREE else COLOR_LETTERS[color] for color in state.board[0].tolist())
    return {"board": board, "scores": state.scores[0].tolist(), "racks": racks, "marks": marks, "words": words}
