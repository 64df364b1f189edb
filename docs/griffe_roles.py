"""A Griffe extension that turns Sphinx roles in docstrings into cross-references between the API pages."""

import re
from typing import Any

from griffe import Extension, GriffeLoader, Module, NameResolutionError, Object

ROLE = re.compile(r":(?:py:)?(?:mod|class|func|meth|data|attr|exc|obj):`(~?)([\w.]+)`")


def link_roles(text: str, scope: Object) -> str:
    """Replace each role by a Markdown cross-reference; by code where the name is private or unknown.

    Args:
        text: a docstring.
        scope: the object that the docstring belongs to; names are resolved in its scope.
    """

    def link(found: re.Match[str]) -> str:
        is_short, name = found.groups()
        shown = f"`{name.rsplit('.', 1)[-1] if is_short else name}`"
        target = resolve(name, scope)
        return f"[{shown}][{target}]" if target else shown

    return ROLE.sub(link, text)


def resolve(name: str, scope: Object) -> str | None:
    """Return the full path of a public name of this package, None for others."""
    if not name.startswith("genial_env."):
        first, _, rest = name.partition(".")
        try:
            name = scope.resolve(first) + (f".{rest}" if rest else "")
        except NameResolutionError:
            return None
    is_public = not any(part.startswith("_") for part in name.split("."))
    return name if is_public and name.startswith("genial_env") else None


class SphinxRoles(Extension):
    """A Griffe extension that applies :func:`link_roles` to every docstring of a package."""

    def on_package(self, *, pkg: Module, loader: GriffeLoader, **_: Any) -> None:
        """Rewrite the docstrings of all objects in place."""
        pending: list[Object] = [pkg]
        while pending:
            scope = pending.pop()
            if scope.docstring is not None:
                scope.docstring.value = link_roles(scope.docstring.value, scope)
            pending.extend(member for member in scope.members.values() if isinstance(member, Object))
