"""Experiments: one runnable module a question.

A program whose libraries are not installed ends with one line that says how to install them.
"""

import sys
from types import TracebackType

from genial_env._util.extras import install_hint

__all__: list[str] = []

EXTRAS = {
    **dict.fromkeys(("torch", "tyro", "stable_baselines3", "sb3_contrib", "pydantic", "yaml", "scipy"), "train"),
    **dict.fromkeys(("choix", "joblib", "matplotlib"), "arena"),
    **dict.fromkeys(("cmaes", "optuna"), "tune"),
    "httpx": "dev",
    "minari": "minari",
    "momaland": "bench",
    "numba": "fast",
    "ray": "rllib",
}
"""The extra that installs a library."""


def tell_what_is_missing(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an error that ends a program: how to install a library that is missing, or what Python prints."""
    missing = error.name.partition(".")[0] if isinstance(error, ModuleNotFoundError) and error.name else ""
    if missing in EXTRAS:
        print(f"this experiment needs {missing}: {install_hint(EXTRAS[missing])}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


sys.excepthook = tell_what_is_missing
