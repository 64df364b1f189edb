"""What a result was made by and on, for every file of results."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import genial_env
from genial_env._util.validators import STRING, integer, json_object, mapping_of, optional
from genial_env.backends import Backend

LIBRARIES = ("gymnasium", "pettingzoo", "choix", "torch", "stable-baselines3", "sb3-contrib")


def provenance(backend: Backend) -> dict[str, Any]:
    """Date, commit, versions, the backend that plays, and the machine."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "backend": f"{backend.name}, {backend.threads} threads" if backend.threads > 1 else backend.name,
        "machine": machine(),
        "libraries": {name: _version(name) for name in LIBRARIES},
    }


PROVENANCE = json_object(
    date=STRING,
    commit=optional(STRING),
    backend=STRING,
    machine=json_object(
        cpu=STRING, cores=optional(integer(1)), python=STRING, numpy=STRING, numba=STRING, genial_env=STRING
    ),
    libraries=mapping_of(optional(STRING)),
)
"""What :func:`provenance` gives, as it is stored."""


def machine() -> dict[str, Any]:
    """What figures are taken on."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "numba": _version("numba") or "none",
        "genial_env": genial_env.__version__,
    }


def commit() -> str | None:
    """The commit of the clone that the package lies in, with a plus where files have changed; None outside one."""
    where = Path(genial_env.__file__).parents[1]
    if not (where / ".git").exists():
        return None
    try:
        found = _git(where, "rev-parse", "HEAD")
        return f"{found}+" if _git(where, "status", "--porcelain", "--untracked-files=no") else found
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(where: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=where, capture_output=True, text=True, check=True).stdout.strip()


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
