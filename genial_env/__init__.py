"""The board game Génial!/Ingenious as a reinforcement-learning environment for 1 to 4 seats.

Importing it registers the Gymnasium ids ``genial_env/Genial-v0``, ``genial_env/GenialMO-v0``,
``genial_env/GenialSolo-v0`` and ``genial_env/GenialMini-v0``, and ``genial_env/genial_v0`` in PettingZoo's registry
where it has one.
"""

from genial_env import backends, envs
from genial_env._util.version import __version__ as __version__
from genial_env.backends import Backend, use_backend
from genial_env.core import kernel, symmetry
from genial_env.core.determinization import determinize
from genial_env.core.ranking import ranks
from genial_env.core.rules import Rules
from genial_env.core.state import State
from genial_env.core.views import View, view
from genial_env.errors import IllegalAction, RecordError
from genial_env.policies.base import Policy
from genial_env.policies.registry import make_policy
from genial_env.render.ansi import describe
from genial_env.simulation import Playouts, Results, play, playouts


def _import_compiled() -> object:
    """Import the compiled implementations, which need numba."""
    from genial_env import _compiled

    return _compiled


backends.set_compiled_package(_import_compiled)

__all__ = [
    "Backend",
    "IllegalAction",
    "Playouts",
    "Policy",
    "RecordError",
    "Results",
    "Rules",
    "State",
    "View",
    "describe",
    "determinize",
    "envs",
    "kernel",
    "make_policy",
    "play",
    "playouts",
    "ranks",
    "symmetry",
    "use_backend",
    "view",
]
