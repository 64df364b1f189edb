"""Provenance of stored results: date, commit, versions, compute backend and machine."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from genial_env._util.validators import STRING, Validator, integer, json_object, mapping_of, optional
from genial_env._util.version import __version__
from genial_env.backends import Backend

__all__ = [
    "LIBRARIES",
    "PROVENANCE",
    "commit",
    "machine",
    "provenance",
    "provenance_check",
]

LIBRARIES = ("gymnasium", "pettingzoo", "choix", "torch", "stable-baselines3", "sb3-contrib")


def provenance(backend: Backend) -> dict[str, Any]:
    """Return date, commit, versions, compute backend and machine."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "backend": f"{backend.name}, {backend.threads} threads" if backend.threads > 1 else backend.name,
        "machine": machine(),
        "libraries": {name: _version(name) for name in LIBRARIES},
    }


def provenance_check(**optional_keys: Validator) -> Validator:
    """Return the validator of stored results of :func:`provenance`, which may have further keys."""
    return json_object(
        optional_keys=optional_keys,
        date=STRING,
        commit=optional(STRING),
        backend=STRING,
        machine=json_object(
            cpu=STRING, cores=optional(integer(1)), python=STRING, numpy=STRING, numba=STRING, genial_env=STRING
        ),
        libraries=mapping_of(optional(STRING)),
    )


PROVENANCE = provenance_check()
"""The validator of stored results of :func:`provenance`."""


def machine() -> dict[str, Any]:
    """Return the processor and the versions that measurements depend on."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8").splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "numba": _version("numba") or "none",
        "genial_env": __version__,
    }


def commit() -> str | None:
    """Return the commit of the package's clone, with a plus if files have changed; None if there is no clone."""
    where = Path(__file__).parents[2]
    if not (where / ".git").exists():
        return None
    try:
        found = _git(where, "rev-parse", "HEAD")
        return f"{found}+" if _git(where, "status", "--porcelain", "--untracked-files=no") else found
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(where: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=where, capture_output=True, text=True, check=True).stdout.strip()


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
