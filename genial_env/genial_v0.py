"""The PettingZoo environments, imported in PettingZoo's way: ``from genial_env import genial_v0``.

======================  ==============================================================================================
``env()``               AEC, one decision at a time; an illegal action terminates all agents
``raw_env()``           AEC; an illegal action raises
``parallel_env()``      parallel, all agents step at every decision; an illegal action terminates all agents
``raw_parallel_env()``  parallel; an illegal action raises
======================  ==============================================================================================

The game is turn-based, so AEC is its natural form. If a library needs a parallel environment, use the one of this
module instead of PettingZoo's conversions. ``aec_to_parallel`` refuses the AEC environment, because an agent may step
several times in a turn. ``turn_based_aec_to_parallel`` gives the same game, but slower. ``parallel_to_aec`` would make
all agents step before one of their actions is played.

PettingZoo has a registry from version 1.27 on. Importing ``genial_env`` registers ``env`` and ``parallel_env`` there:
``pettingzoo.make("aec", "genial_env/genial_v0", players=3)``, and the same with ``"parallel"``.
"""

from genial_env.envs.aec import GenialAECEnv as raw_env  # noqa: N813  PettingZoo's name for it
from genial_env.envs.aec import env
from genial_env.envs.parallel import GenialParallelEnv as raw_parallel_env  # noqa: N813
from genial_env.envs.parallel import parallel_env

__all__ = ["env", "parallel_env", "raw_env", "raw_parallel_env"]
