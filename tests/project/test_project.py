"""How the project hangs together: rooms, arrows, public names, what importing costs."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import genial_env
from tests.paths import ROOT

PACKAGE = ROOT / "genial_env"

FLOORS = [
    ["_util", "errors"],
    ["backends"],
    ["core"],
    ["records", "encodings"],
    ["policies"],
    ["simulation", "render"],
    ["table", "analysis", "bench", "_compiled"],
    ["envs"],
    ["genial_v0", "testing", "warmup"],
    ["arena", "web"],
    ["cli"],
    ["__main__"],
]
"""The rooms of the package from the ground up; a room may import those below its floor, and its own parts."""


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    """The rooms of the package that a file imports at any place in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "genial_env":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("genial_env."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("genial_env.")}
    return found


@pytest.mark.parametrize(
    "path",
    [p for p in sorted(PACKAGE.rglob("*.py")) if room_of(p) != "__init__"],
    ids=lambda p: str(p.relative_to(PACKAGE)),
)
def test_arrows_point_down(path: Path) -> None:
    floor = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
    room = room_of(path)
    for other in imported_rooms(path):
        if other != room:
            assert floor[other] < floor[room], f"{room} may not import {other}"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_who_may_know_the_environment_libraries(path: Path) -> None:
    roots = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
    assert not roots & {"agents", "experiments", "tests", "torch"}
    if path.name != "pictures.py":
        assert "matplotlib" not in roots
    if path.name != "tournament.py":  # Ray may run its processes
        assert "ray" not in roots or room_of(path) == "envs"
    if room_of(path) != "web":
        assert not roots & {"starlette", "uvicorn"}
    if room_of(path) not in ("envs", "genial_v0", "testing"):
        assert not roots & {"gymnasium", "pettingzoo", "stable_baselines3", "pyspiel"}


def test_public_names() -> None:
    assert all(hasattr(genial_env, name) for name in genial_env.__all__)
    assert genial_env.__all__ == sorted(genial_env.__all__)
    modules = {p.stem for p in PACKAGE.glob("*.py")} | {p.name for p in PACKAGE.iterdir() if p.is_dir()}
    public = {name for name in vars(genial_env) if not name.startswith("_")} - modules
    assert public == set(genial_env.__all__) - modules


def test_importing_is_light() -> None:
    heavy = ["torch", "matplotlib", "numba", "stable_baselines3", "typer", "rich", "starlette", "uvicorn"]
    code = f"import sys, genial_env; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
