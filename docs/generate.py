"""Generate the parts of the pages that follow from the code: pictures, and tables of arrays, encodings and actions.

    python docs/generate.py

writes the pictures to docs/images and replaces the tables in the pages. Each table stands between two comments,
``<!-- generated: NAME -->`` and ``<!-- end -->``. A test compares pictures and tables with the code.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from genial_env import Rules
from genial_env.core.hexgrid import DIRECTIONS
from genial_env.core.specs import Limit, Spec, dtypes_of, limit
from genial_env.core.state import STATE_SPECS, State
from genial_env.core.tables import tables
from genial_env.core.views import VIEW_SPECS, View
from genial_env.encodings import ENCODINGS
from genial_env.encodings.planes import PLANE_SPECS
from genial_env.envs.central import central_fields, central_length
from genial_env.records.columns import COLUMNS

SEATS = {
    "2 seats": Rules(2),
    "3 seats": Rules(3),
    "4 seats": Rules(4),
    "team": Rules(4, "2009", "team"),
    "solo": Rules(1, "2009", "solo"),
}


def array_table(declaring: type, specs: Mapping[str, Spec], games: str) -> str:
    """Return the declared arrays of a class with shape, dtype, range and content, as a Markdown table.

    Args:
        declaring: the class.
        specs: its declarations.
        games: the letter of the axis of the games.
    """
    dtypes = dtypes_of(declaring)
    lines = [_row(["array", "shape", "dtype", "range", "content"]), _row(["---"] * 5)]
    for name, spec in specs.items():
        shape = f"[{', '.join([games, *spec.axes])}]"
        lines.append(_row([f"`{name}`", shape, dtypes[name].name, _range(spec.low, spec.high), spec.content]))
    return "\n".join(lines)


def _range(low: int, high: Limit | None) -> str:
    """Return a range for all seat counts, such as "0 to 18, 36"."""
    if high is None:
        return ""
    highest = sorted({limit(high, rules) for rules in SEATS.values()} - {low})
    if highest[-1] >= 2**31:
        return f"from {low}"
    return f"{low} to {', '.join(map(str, highest))}"


def column_table() -> str:
    """Return the columns of tables of decisions as a Markdown table."""
    lines = [_row(["column", "type", "content"]), _row(["---"] * 3)]
    for column in COLUMNS:
        names = [f"`{name}`" for name in column.names]
        shown = ", ".join(names) if len(names) <= 4 else f"{names[0]} … {names[-1]}"
        lines.append(_row([shown, column.type, column.meaning]))
    return "\n".join(lines)


def content_table() -> str:
    """Return what the fields of the encoding "planes" hold, as a Markdown table."""
    rows = [_row([f"`{name}`", spec.content]) for name, spec in PLANE_SPECS.items()]
    return "\n".join([_row(["field", "content"]), _row(["---"] * 2), *rows])


def encoding_table(name: str) -> str:
    """Return every field with dtype, range, and shape for all seat counts, as a Markdown table."""
    coder = ENCODINGS[name]()
    by_seats = {title: coder.fields(rules) for title, rules in SEATS.items()}
    lines = [_row(["field", "dtype", "range", *SEATS]), _row(["---"] * (3 + len(SEATS)))]
    for field in by_seats["2 seats"]:
        known = [fields[field] for fields in by_seats.values() if field in fields]
        highest = {f"{f.high:g}" for f in known}
        span = f"{known[0].low:g} to {', '.join(sorted(highest, key=float))}"
        shapes = [_shape(fields[field].shape) if field in fields else "–" for fields in by_seats.values()]
        lines.append(_row([f"`{field}`" if field else "the array", np.dtype(known[0].dtype).name, span, *shapes]))
    return "\n".join(lines)


def central_table() -> str:
    """Return every part of the central state with its maximum, and shape for all seat counts, as a Markdown table."""
    by_seats = {title: central_fields(rules) for title, rules in SEATS.items() if title != "solo"}
    lines = [_row(["part", "divided by", *by_seats]), _row(["---"] * (2 + len(by_seats)))]
    for part in by_seats["2 seats"]:
        highest = sorted({fields[part].high for fields in by_seats.values()})
        limits = ", ".join(f"{high:g}" for high in highest)
        lines.append(_row([f"`{part}`", limits, *(_shape(fields[part].shape) for fields in by_seats.values())]))
    lengths = [f"({central_length(SEATS[title]):,},)" for title in by_seats]
    return "\n".join([*lines, _row(["together", "", *lengths])])


def action_table() -> str:
    """Return the numbers of the action ids for all seat counts, as a Markdown table."""
    lines = [_row(["", *SEATS]), _row(["---"] * (1 + len(SEATS)))]
    all_tables = [tables(rules) for rules in SEATS.values()]
    swaps = [rules.has_swap for rules in SEATS.values()]
    rows = {
        "slots K": [str(rules.rack) for rules in SEATS.values()],
        "placements E": [f"{t.n_placements:,}" for t in all_tables],
        "swap": [f"{t.swap_action:,}" if has else "–" for t, has in zip(all_tables, swaps, strict=True)],
        "decline": [f"{t.decline_action:,}" if has else "–" for t, has in zip(all_tables, swaps, strict=True)],
        "actions A": [f"{t.n_actions:,}" for t in all_tables],
    }
    return "\n".join([*lines, *(_row([title, *cells]) for title, cells in rows.items())])


def numbering_svg() -> str:
    """Draw the top of the two-seat board: cell numbers, the directions, and the placements from one cell."""
    t, size = tables(Rules()), 42.0
    rows = 4
    width, height = 960, 370

    def center(cell: int) -> tuple[float, float]:
        q, r = t.cells[cell].tolist()
        return 345 + size * 3**0.5 * (q + r / 2), 56 + size * 1.5 * (r + 5)

    parts = []
    shown = [cell for cell in range(t.n_cells) if t.cells[cell, 1] < rows - 5]
    start_symbols = dict(
        zip(t.start_symbols.tolist(), ("#d63031", "#279e50", "#2d74da", "#f08c1e", "#e0c020", "#8e44ad"), strict=True)
    )
    origin = int(t.cell_index[1, -4])
    for cell in shown:
        x, y = center(cell)
        angles = np.deg2rad(np.arange(30, 390, 60))
        points = " ".join(f"{x + size * np.cos(a):.1f},{y + size * np.sin(a):.1f}" for a in angles)
        fill = start_symbols.get(cell, "#fff3c4" if cell == origin else "#ffffff")
        parts.append(f'<polygon points="{points}" fill="{fill}" stroke="#777" stroke-width="1.2"/>')
        color = "#ffffff" if cell in start_symbols else "#222"
        parts.append(_text(x, y - 8, str(cell), color, 14, bold=True))
        q, r = t.cells[cell].tolist()
        parts.append(_text(x, y + 9, f"{q},{r}", color, 10))
    for direction in range(6):
        placement = int(t.placement_of[origin, direction])
        (x, y), (u, v) = center(origin), center(int(t.neighbours[origin, direction]))
        near, far, label = ((x + (u - x) * f, y + (v - y) * f) for f in (0.42, 0.62, 0.5))
        parts.append(
            f'<line x1="{near[0]:.1f}" y1="{near[1]:.1f}" x2="{far[0]:.1f}" y2="{far[1]:.1f}" stroke="#b00020" '
            'stroke-width="2.5" marker-end="url(#tip)"/>'
        )
        parts.append(_badge(*label, str(placement)))
    x, y = 850.0, 150.0
    names = ("right", "up-right", "up-left", "left", "down-left", "down-right")
    for number, (q, r) in enumerate(DIRECTIONS):
        dx, dy = 3**0.5 * (q + r / 2), 1.5 * r
        parts.append(
            f'<line x1="{x + 12 * dx:.1f}" y1="{y + 12 * dy:.1f}" x2="{x + 26 * dx:.1f}" y2="{y + 26 * dy:.1f}" '
            'stroke="#222" stroke-width="2" marker-end="url(#dark)"/>'
        )
        parts.append(_text(x + 40 * dx, y + 42 * dy, f"{number} {names[number]}", "#222", 12))
    parts.append(_text(850, 46, "directions, in order", "#222", 13, bold=True))
    parts.append(_text(370, 330, "Cell numbers in row order, with (q, r). Red: the oriented placements", "#222", 14))
    parts.append(_text(370, 352, f"whose first cell is {origin}, numbered by (first cell, direction).", "#222", 14))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" role="img" aria-label="Numbering of cells, directions and placements">\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n'
        '<defs><marker id="tip" markerWidth="5" markerHeight="5" refX="3" refY="2.5" orient="auto">'
        '<path d="M0,0 L5,2.5 L0,5 z" fill="#b00020"/></marker>'
        '<marker id="dark" markerWidth="5" markerHeight="5" refX="3" refY="2.5" orient="auto">'
        '<path d="M0,0 L5,2.5 L0,5 z" fill="#222"/></marker></defs>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def grid_svg() -> str:
    """Draw the cells of a board of side 3 on the grid of the encoding "planes"."""
    side, size, left, top = 3, 52, 64, 34
    t, width = tables(Rules(side=side, colors=3, rack=2)), 2 * side - 1
    numbers = {(r + side - 1, q + side - 1): number for number, (q, r) in enumerate(t.cells.tolist())}
    parts = []
    for row in range(width):
        for column in range(width):
            x, y = left + column * size, top + row * size
            fill = "#ffffff" if (row, column) in numbers else "#d8dce3"
            parts.append(f'<rect x="{x}" y="{y}" width="{size}" height="{size}" fill="{fill}" stroke="#777"/>')
            number = numbers.get((row, column), "")
            parts.append(_text(x + size / 2, y + size / 2 + 6, str(number), "#222", 16, bold=True))
    for index in range(width):
        middle = (index + 0.5) * size
        parts.append(_text(left + middle, top - 10, f"q = {index - side + 1}", "#222", 12))
        parts.append(_text(left - 32, top + middle + 4, f"r = {index - side + 1}", "#222", 12))
    total = width * size + 12
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + total} {top + total}" width="{left + total}" '
        f'height="{top + total}" font-family="sans-serif" role="img" aria-label="Cells on the axial grid">\n'
        f'<rect width="{left + total}" height="{top + total}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _badge(x: float, y: float, text: str) -> str:
    box = f'<rect x="{x - 11:.1f}" y="{y - 8:.1f}" width="22" height="15" rx="4" fill="#ffffff" stroke="#b00020"/>'
    return box + _text(x, y + 4, text, "#b00020", 11, bold=True)


def _text(x: float, y: float, text: str, color: str, size: int, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{color}" text-anchor="middle"{weight}>{text}</text>'


def _shape(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(f"{n:,}" for n in shape) + (",)" if len(shape) == 1 else ")")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "actions.md": {"actions": action_table},
    "encodings.md": {
        **{name: (lambda name=name: encoding_table(name)) for name in ENCODINGS},
        "content of planes": content_table,
        "central": central_table,
    },
    "hidden.md": {"view": lambda: array_table(View, VIEW_SPECS, "G")},
    "tables.md": {"columns": column_table},
    "state.md": {"state": lambda: array_table(State, STATE_SPECS, "B")},
}
"""How to compute the tables of each page, by name."""

PICTURES: dict[str, Callable[[], str]] = {"numbering.svg": numbering_svg, "grid.svg": grid_svg}


def fill_page(page: str, text: str) -> str:
    """Return the text of a page with its tables replaced by those of the code.

    Raises:
        ValueError: if the page lacks one of its tables.
    """
    for name, compute in TABLES[page].items():
        pattern = rf"(<!-- generated: {name} -->\n).*?(\n<!-- end -->)"
        table = compute().replace("\\", r"\\")
        text, found = re.subn(pattern, rf"\g<1>\n{table}\n\g<2>", text, flags=re.DOTALL)
        if found != 1:
            raise ValueError(f"{page} must have one table {name!r}, not {found}")
    return text


if __name__ == "__main__":
    docs = Path(__file__).parent
    for title, draw in PICTURES.items():
        (docs / "images" / title).write_text(draw(), encoding="utf-8", newline="\n")
    for page in TABLES:
        text = (docs / page).read_text(encoding="utf-8")
        (docs / page).write_text(fill_page(page, text), encoding="utf-8", newline="\n")
