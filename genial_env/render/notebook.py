"""Show states, views and game records in a notebook."""

import sys
from html import escape

import numpy as np

from genial_env.core.determinization import determinize
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import View
from genial_env.records import Record
from genial_env.render.film import draw_record
from genial_env.render.sentences import describe_event
from genial_env.render.svg import position_svg

__all__ = ["is_running", "record_html", "show", "state_svg", "view_svg"]


def is_running() -> bool:
    """Return whether this process is the kernel of a notebook, which can show drawings."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return hasattr(found, "kernel")


def show(drawing: str) -> None:
    """Show a drawing in the output of the running cell, in place of what was there."""
    from IPython.display import SVG, clear_output, display

    clear_output(wait=True)
    display(SVG(drawing))


def state_svg(state: State) -> str:
    """Return the drawing of the first game of a state, with all racks, and the number of games if there are several."""
    return position_svg(state, caption=_count_games(len(state)))


def view_svg(view: View) -> str:
    """Return the drawing of the first game of a view, with the seat's own rack and the tiles that it has not seen."""
    one = view.select(np.array([0]))
    state = determinize(one, np.zeros(1, dtype=np.uint64))  # equal to the view in all that is drawn
    seen, unseen = _count_games(len(view)), one.unseen[0].tolist()
    return position_svg(state, seat=int(one.seat[0]), unseen=unseen, caption=seen)


def record_html(record: Record) -> str:
    """Return the last position, the end and the events of a record as HTML; of an invalid record its fault."""
    try:
        drawn = draw_record(record)
    except ValueError as error:
        return f"<p>a game record that does not replay: {escape(str(error))}</p>"
    rules = Rules.from_dict(record["rules"])
    rows = "".join(f"<li>{escape(describe_event(rules, event))}</li>" for event in record["events"])
    ended = f"{record['end']}; ranks {' '.join(map(str, record['ranks']))}; seed {record['seed']}"
    return (
        f"{drawn}<p>{escape(ended)}</p>"
        f'<details><summary>{len(record["events"])} events</summary><ol start="0">{rows}</ol></details>'
    )


def _count_games(games: int) -> str:
    return f"the first of {games:,} games" if games > 1 else ""


State._repr_svg_ = state_svg  # type: ignore[attr-defined]  # attached here, as the core does not import drawings
View._repr_svg_ = view_svg  # type: ignore[attr-defined]
Record._repr_html_ = record_html  # type: ignore[attr-defined]
