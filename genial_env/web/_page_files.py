"""The files of the page, from the package: no other file can be requested."""

import json
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from genial_env.render import theme
from genial_env.render.replay_page import replay_html
from genial_env.web._request_checks import Refused

MEDIA_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
}

DRAWINGS = Path(__file__).parents[2] / "docs" / "images" / "rules"
"""The drawings of the rules in a clone of the repository. A wheel has them in `static/rules`."""


@lru_cache(maxsize=1)
def page_files() -> dict[str, bytes]:
    """Return the files of the page by name. No other file can be requested."""
    folder = resources.files("genial_env.web") / "static"
    drawings = _read_folder(DRAWINGS, "rules/") if DRAWINGS.is_dir() else ()
    return {
        **dict(drawings),
        **dict(_read_folder(folder)),
        "theme.css": _theme_css().encode(),
        "manifest.webmanifest": _manifest(),
    }


def _read_folder(folder: Traversable, before: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files of a folder and of its folders; `before` stands before each name."""
    for file in folder.iterdir():
        if file.is_dir():
            yield from _read_folder(file, f"{before}{file.name}/")
        elif Path(file.name).suffix in MEDIA_TYPES:
            yield before + file.name, file.read_bytes()


async def send_file(request: Request) -> Response:
    """Send a file of the page; without a name, the page itself.

    Raises:
        Refused: if there is no such file.
    """
    name = request.path_params.get("name", "index.html")
    if name not in page_files():
        raise Refused(404, "there is no such page here", "no_such_page")
    return Response(page_files()[name], media_type=MEDIA_TYPES[Path(name).suffix])


async def send_worker(request: Request) -> Response:
    """Send the service worker. It must lie above all that it answers for."""
    return Response(page_files()["worker.js"], media_type=MEDIA_TYPES[".js"])


async def send_replay_page(request: Request) -> Response:
    """Send the page that shows a game packed into its address; any page may frame it."""
    return Response(replay_html(None), media_type="text/html")


def _theme_css() -> str:
    """Return the colors of the drawings as CSS variables, for the page's style sheet, each for light and dark mode."""
    colors = {
        "paper": theme.PAPER,
        "ink": theme.INK,
        "free": theme.FREE,
        "edge": theme.FREE_EDGE,
        "tile": theme.TILE,
        "mark": theme.MARK,
    }
    values = {
        name: f"light-dark({color}, {theme.NIGHT[name]})" if name in theme.NIGHT else color
        for name, color in colors.items()
    }
    return f":root {{ {' '.join(f'--{name}: {value};' for name, value in values.items())} }}\n"


def _manifest() -> bytes:
    """Return the manifest by which a browser installs the page as an application."""
    icon = {"src": "/static/icon.svg", "sizes": "any", "type": "image/svg+xml"}
    colors = {"background_color": theme.PAPER, "theme_color": theme.PAPER}
    name = "Génial!"
    data = {"name": name, "short_name": name, "start_url": "/", "display": "standalone", "icons": [icon], **colors}
    return json.dumps(data).encode()
