"""How optional libraries are installed: the hint that follows from how the package was installed."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from genial_env._util.strict_json import parse_object

__all__ = ["install_hint"]

NAME = "genial-env"


def install_hint(extra: str) -> str:
    """Return the command that installs an extra of the package, from where the package itself was installed.

    Args:
        extra: the name of the extra.
    """
    origin = _read_origin()
    url = origin.get("url")
    if not isinstance(url, str):
        return _from_folder(_CLONE, extra) if origin.get("missing") else f"pip install {quote(f'{NAME}[{extra}]')}"
    if origin.get("dir_info", {}).get("editable"):
        return _from_folder(Path(url2pathname(urlsplit(url).path)), extra)
    vcs = origin.get("vcs_info")
    if vcs is not None:
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    return f"pip install {quote(f'{NAME}[{extra}] @ {url}')}"


_CLONE = Path(__file__).parents[2]
"""The folder that holds the package: a clone of the repository, if the package is imported without being installed."""


def _from_folder(folder: Path, extra: str) -> str:
    """Return the command for a clone; its path is left out if it is the working directory."""
    where = "." if folder == Path.cwd() else folder
    return f"pip install -e {quote(f'{where}[{extra}]')}"


def _read_origin() -> dict[str, Any]:
    """Return what pip has stored about the origin of the package (PEP 610): {} if it came from an index."""
    try:
        text = distribution(NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        return {"missing": True}
    return {} if text is None else parse_object(text)
