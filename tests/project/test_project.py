"""The structure of the project: layers, import cycles, public names, what importing costs, what is built from what."""

import ast
import importlib
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import genial_env
from tests.paths import ROOT

PACKAGE = ROOT / "genial_env"
FOLDERS = ("genial_env", "agents", "experiments")

LAYERS = [
    ["_util", "errors"],
    ["backends"],
    ["core"],
    ["records", "encodings", "notation"],
    ["engines"],
    ["policies"],
    ["simulation", "render"],
    ["table", "analysis", "bench", "_compiled"],
    ["envs"],
    ["genial_v0", "testing", "warmup"],
    ["arena", "web"],
    ["text"],
    ["cli"],
    ["__main__"],
]
"""The folders and modules of the package from the lowest layer up. Each may import from lower layers and itself."""

OPTIONAL = {
    "gymnasium": {"envs", "genial_v0", "testing"},
    "pettingzoo": {"envs", "genial_v0", "testing"},
    "stable_baselines3": {"envs", "testing"},
    "pyspiel": {"envs"},
    "ray": {"envs", "arena"},
    "starlette": {"web"},
    "uvicorn": {"web"},
    "mcp": {"text"},
    "matplotlib": {"arena"},
    "numba": {"_compiled"},
    "pyarrow": {"records"},
    "minari": {"envs"},
    "h5py": {"envs"},
    "pandas": set(),
    "torch": set(),
    "agents": set(),
    "experiments": set(),
    "tests": set(),
}
"""Where in the package a library, or a folder beside the package, may be imported."""

PUBLIC_FOLDERS = (
    "core",
    "encodings",
    "notation",
    "engines",
    "policies",
    "records",
    "analysis",
    "arena",
    "envs",
    "render",
    "web",
)


def modules(folder: str) -> dict[str, Path]:
    """The modules of a folder by their dotted names."""
    found = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = {name: path for folder in FOLDERS for name, path in modules(folder).items()}
IN_PACKAGE = sorted(name for name in MODULES if name.startswith("genial_env."))


def imports(path: Path) -> Iterator[str]:
    """Every imported module or name, dotted, at any place of a file."""
    pending: list[ast.AST] = [ast.parse(path.read_text())]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            pending.extend(ast.iter_child_nodes(node))


def imported_modules(name: str) -> set[str]:
    """The modules of this repository that a module imports."""
    found = set()
    for target in imports(MODULES[name]):
        module = target if target in MODULES else target.rpartition(".")[0]
        if module in MODULES:
            found.add(module)
    return found - {name}


def area(name: str) -> str:
    """The first part of a dotted name behind the package's."""
    return name.split(".")[1]


@pytest.mark.parametrize("name", IN_PACKAGE)
def test_imports_lead_to_lower_layers(name: str) -> None:
    layer = {member: number for number, members in enumerate(LAYERS) for member in members}
    for other in imported_modules(name):
        assert other != "genial_env", f"{name} must import from the module that defines a name, not from the package"
        if area(other) != area(name):
            assert layer[area(other)] < layer[area(name)], f"{name} may not import {other}"


def test_there_are_no_import_cycles() -> None:
    try:
        TopologicalSorter({name: imported_modules(name) for name in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(f"import cycle: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("name", IN_PACKAGE)
def test_libraries_are_imported_in_their_places_only(name: str) -> None:
    for library in {target.partition(".")[0] for target in imports(MODULES[name])} & OPTIONAL.keys():
        assert area(name) in OPTIONAL[library], f"{name} may not import {library}"


def is_public(name: str) -> bool:
    """Whether no part of a dotted name begins with an underscore."""
    return not any(part.startswith("_") for part in name.split("."))


@pytest.mark.parametrize(
    "name", [name for name in IN_PACKAGE if is_public(name) and not name.startswith("genial_env.cli")]
)
def test_public_modules_list_their_names(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as error:  # of an optional library that is not installed
        pytest.skip(str(error))
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    if not own and not hasattr(module, "__all__"):
        return  # the docstring of a folder
    assert len(module.__all__) == len(set(module.__all__))  # the linter keeps the order
    assert all(hasattr(module, public) for public in module.__all__)
    assert module.__doc__


def test_names_of_the_package() -> None:
    assert genial_env.__all__ == sorted(genial_env.__all__)
    assert all(hasattr(genial_env, name) for name in genial_env.__all__)
    submodules = {p.stem for p in PACKAGE.glob("*.py")} | {p.name for p in PACKAGE.iterdir() if p.is_dir()}
    public = {name for name in vars(genial_env) if not name.startswith("_")}
    assert public - submodules == set(genial_env.__all__) - submodules


def test_importing_is_light() -> None:
    heavy = [
        "torch",
        "matplotlib",
        "numba",
        "stable_baselines3",
        "typer",
        "rich",
        "starlette",
        "uvicorn",
        "safetensors",
    ]
    code = f"import sys, genial_env; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_image_is_built_from_all_that_the_wheel_needs() -> None:
    """The Dockerfile copies the files and folders that pyproject.toml names."""
    steps = [line.split() for line in (ROOT / "Dockerfile").read_text().splitlines()]
    copied = [Path(source) for step in steps if step[:1] == ["COPY"] for source in step[1:-1]]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel, readme = project["tool"]["hatch"]["build"]["targets"]["wheel"], project["tool"]["hatch"]["metadata"]["hooks"]
    needed = ["pyproject.toml", *project["project"]["license-files"], *wheel["packages"], *wheel["force-include"]]
    needed += [fragment["path"] for fragment in readme["fancy-pypi-readme"]["fragments"]]
    for name in needed:
        assert (ROOT / name).exists(), name
        assert any(Path(name).is_relative_to(source) for source in copied), name
