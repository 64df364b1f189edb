"""How states, views and game records show themselves in a notebook."""

import sys
from html import escape

import numpy as np

from genial_env.core.determinization import determinize
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import View
from genial_env.records import Record
from genial_env.render.film import drawing
from genial_env.render.sentences import event_words
from genial_env.render.svg import position_svg


def runs() -> bool:
    """Whether this is a notebook's kernel, which can show drawings."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return hasattr(found, "kernel")


def show(drawing: str) -> None:
    """Show a drawing in the cell that runs, in place of the one that was shown there before."""
    from IPython.display import SVG, clear_output, display

    clear_output(wait=True)
    display(SVG(drawing))


def state_svg(state: State) -> str:
    """The first game of a state, with all racks; and how many there are, where there are more."""
    return position_svg(state, caption=_of_how_many(len(state)))


def view_svg(view: View) -> str:
    """The first game of a view, with no rack but the own one, and the tiles that the seat has not seen."""
    one = view.select(np.array([0]))
    state = determinize(one, np.zeros(1, dtype=np.uint64))  # shows no more than the view does
    seen, unseen = _of_how_many(len(view)), one.unseen[0].tolist()
    return position_svg(state, seat=int(one.seat[0]), unseen=unseen, caption=seen)


def record_html(record: Record) -> str:
    """The last position of a record, how the game ended, and the list of its events; a faulty one says its fault."""
    try:
        drawn = drawing(record)
    except ValueError as error:
        return f"<p>a game record that does not replay: {escape(str(error))}</p>"
    rules = Rules.from_dict(record["rules"])
    rows = "".join(f"<li>{escape(event_words(rules, event))}</li>" for event in record["events"])
    ended = f"{record['end']}; ranks {' '.join(map(str, record['ranks']))}; seed {record['seed']}"
    return (
        f"{drawn}<p>{escape(ended)}</p>"
        f'<details><summary>{len(record["events"])} events</summary><ol start="0">{rows}</ol></details>'
    )


def _of_how_many(games: int) -> str:
    return f"the first of {games:,} games" if games > 1 else ""


State._repr_svg_ = state_svg  # type: ignore[attr-defined]  # put on from above: states know of no drawings
View._repr_svg_ = view_svg  # type: ignore[attr-defined]
Record._repr_html_ = record_html  # type: ignore[attr-defined]
