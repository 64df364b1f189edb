"""A Griffe extension: turns Sphinx roles in docstrings into cross-references between the API pages."""

import re
from typing import Any

from griffe import Extension, GriffeLoader, Module, NameResolutionError, Object

ROLE = re.compile(r":(?:py:)?(?:mod|class|func|meth|data|attr|exc|obj):`(~?)([\w.]+)`")


class SphinxRoles(Extension):
    """Replaces the roles in all docstrings of a package by Markdown cross-references.

    A name that the API pages do not show, because it is private or has no docstring, becomes code without a link.
    """

    def on_package(self, *, pkg: Module, loader: GriffeLoader, **_: Any) -> None:
        """Rewrite the docstrings of all objects of a package in place."""
        pending: list[Object] = [pkg]
        while pending:
            scope = pending.pop()
            if scope.docstring is not None:
                scope.docstring.value = link_roles(scope.docstring.value, scope, loader)
            pending.extend(member for member in scope.members.values() if isinstance(member, Object))


def link_roles(text: str, scope: Object, loader: GriffeLoader) -> str:
    """Return a docstring with each role replaced.

    Args:
        text: the docstring.
        scope: the object that the docstring belongs to; names are resolved in its scope.
        loader: what has loaded the package.
    """

    def link(found: re.Match[str]) -> str:
        is_short, name = found.groups()
        shown = f"`{name.rsplit('.', 1)[-1] if is_short else name}`"
        target = resolve(name, scope)
        return f"[{shown}][{target}]" if is_shown(target, loader) else shown

    return ROLE.sub(link, text)


def resolve(name: str, scope: Object) -> str:
    """Return the full path of a name; the name itself if it cannot be resolved."""
    if name.startswith("genial_env."):
        return name
    first, _, rest = name.partition(".")
    try:
        return scope.resolve(first) + (f".{rest}" if rest else "")
    except NameResolutionError:
        return name


def is_shown(path: str, loader: GriffeLoader) -> bool:
    """Return whether the API pages show the object of a full path."""
    if any(part.startswith("_") for part in path.split(".")):
        return False
    try:
        found = loader.modules_collection[path]
    except KeyError:
        return False
    return bool(found.is_public and found.has_docstring)
