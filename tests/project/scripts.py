"""Import the scripts of docs/, which are not part of a package."""

import importlib.util
from types import ModuleType

from tests.paths import ROOT


def load_script(name: str) -> ModuleType:
    """Import a script of docs/ by its name without ".py"."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
