"""Fingerprints of agents: what their play depends on besides their text, as hashes of files.

A tournament keeps them, so that games of an agent whose code or weights have changed in between are not taken for those
of one agent.
"""

import ast
import hashlib
import os
import shutil
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from genial_env._util.validators import STRING, mapping_of
from genial_env._util.version import __version__
from genial_env.core.rules import Rules
from genial_env.engines.protocol import is_engine, split_command
from genial_env.policies.registry import parse_agent
from genial_env.policies.roster import ROSTER
from genial_env.policies.weight_files import find_shipped

__all__ = ["FINGERPRINT", "Fingerprint", "describe_change", "fingerprint"]

Fingerprint = dict[str, str]
"""For each thing that an agent depends on, its version or the hash of its content."""

FINGERPRINT = mapping_of(STRING)
"""The validator of stored fingerprints."""

PACKAGE = "genial_env"
INSTALLED = ("site-packages", "dist-packages")


def fingerprint(agent: str, rules: Rules) -> Fingerprint:
    """Return what an agent depends on.

    An engine depends on its program and on the files among its arguments.

    An agent of the package depends on the package's version and on the shipped weights for the rules. An agent
    ``module:factory`` depends on the source of the module and of what it imports from beside it: from the same
    directory of ``sys.path``, or, for installed modules, from the same package. Both depend on the files that their
    settings name, and on what the agents depend on that their settings name. Nothing is imported.

    Args:
        agent: as :func:`genial_env.make_policy` reads it.
        rules: the rules of the games.
    """
    if is_engine(agent):
        program, *arguments = split_command(agent)
        paths = [shutil.which(program) or program, *arguments]
        return {f"file {path}": _hash(Path(path)) for path in paths if _is_file(path)}
    name, settings = parse_agent(agent)
    found: Fingerprint = {}
    for text in _texts({**_DEFAULT_AGENTS.get(name, {}), **settings}):
        if _is_file(text):
            found[f"file {text}"] = _hash(Path(text))
        if _is_agent(text):
            found |= fingerprint(text, rules)
    if name not in ROSTER:
        return found | _sources(name.partition(":")[0])
    found[PACKAGE] = __version__
    kind = _KINDS.get(name)
    if kind is not None and settings.get("weights") is None:
        try:
            path = find_shipped(kind, rules)
        except ValueError:  # there are none: the agent says so when it plays
            return found
        found[f"weights {path.name}"] = _hash(path)
    return found


_KINDS = {"value": "value", "value_search": "value", "exploit_search": "value", "ppo": "ppo"}
"""The kind of the shipped weights of each agent of the roster that has some."""

_DEFAULT_AGENTS = {"exploit_search": {"agent": "value"}}
"""The defaults of settings that name an agent with weights, for each agent of the roster that has such settings."""


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in the value of a setting, which may be nested."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts((*value, *value.values()))
    elif isinstance(value, list | tuple | set):
        for part in value:
            yield from _texts(part)


def _is_agent(text: str) -> bool:
    """Return whether a setting's text names an agent: one of the package, ``module:factory`` or an engine."""
    try:
        name, _ = parse_agent(text)
        return name in ROSTER or (bool(split_command(text)) if is_engine(text) else ":" in name)
    except ValueError:
        return False


def describe_change(before: Fingerprint, now: Fingerprint) -> str | None:
    """Return what differs between two fingerprints of an agent, for a message; None if nothing does."""
    changes = [
        *(f"{name} has changed" for name in before if name in now and before[name] != now[name]),
        *(f"{name} is no longer used" for name in before if name not in now),
        *(f"{name} is new" for name in now if name not in before),
    ]
    return "; ".join(changes) or None


def _sources(module: str) -> Fingerprint:
    """Return the hashes of a module's source and of what it imports from beside it; nothing if there is no file."""
    if module == "__main__":
        main = getattr(sys.modules["__main__"], "__file__", None)
        if main is None or not _is_file(main):
            return {}
        root, start = Path(main).resolve().parent, [Path(main).resolve()]
    else:
        root_of = _find_root(module.partition(".")[0])
        if root_of is None:
            return {}
        root, start = root_of, _files(root_of, module)
    only = module.partition(".")[0] if set(INSTALLED) & set(root.parts) else None
    todo, seen = start, set[Path]()
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            for imported in _imports(path, root):
                if imported.partition(".")[0] == (only or imported.partition(".")[0]) != PACKAGE:
                    todo += _files(root, imported)
    return {f"source {path.relative_to(root).as_posix()}": _hash(path) for path in sorted(seen)}


def _find_root(top: str) -> Path | None:
    """Return the directory in which a module or package without dots lies; None if it is not found as source."""
    spec = PathFinder.find_spec(top)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        locations = list(spec.submodule_search_locations or ()) if spec is not None else []  # without __init__.py
        return Path(locations[0]).resolve().parent if locations else None
    origin = Path(spec.origin).resolve()
    return origin.parents[1] if spec.submodule_search_locations else origin.parent


def _files(root: Path, module: str) -> list[Path]:
    """Return the source files of a module below a directory: its own and those of the packages that hold it."""
    found, where = [], root
    for part in module.split("."):
        found += [path for path in (where / f"{part}.py", where / part / "__init__.py") if path.is_file()]
        where /= part
    return found


def _imports(path: Path, root: Path) -> list[str]:
    """Return the names that a source file imports, which may be modules; none if it cannot be parsed."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return []
    package = path.relative_to(root).parent.parts  # of both a module and an __init__.py
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            found += [base] * bool(base) + [".".join(filter(None, [base, name.name])) for name in node.names]
    return found


def _is_file(name: str) -> bool:
    try:
        return os.path.isfile(name)
    except ValueError:  # such as a zero byte in it
        return False


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
