"""The PettingZoo environments, imported as PettingZoo's own are: ``from genial_env import genial_v0``.

======================  ==============================================================================================
``env()``               AEC, one decision at a time; an illegal action ends the game for all
``raw_env()``           AEC; an illegal action raises
``parallel_env()``      parallel, all agents stepping at every decision; an illegal action of the mover ends the game
``raw_parallel_env()``  parallel; an illegal action of the mover raises
======================  ==============================================================================================

The game is turn-based, so AEC is its natural form. Where a library wants a parallel environment, take that of this
module: PettingZoo's ``aec_to_parallel`` refuses the AEC one, as agents may step several times in a turn, and its
``turn_based_aec_to_parallel`` makes the same game of it in a longer way. Nor is ``parallel_to_aec`` needed: it makes
all agents step in turn before one of their actions is played.

Where PettingZoo has a registry (from 1.27 on), importing ``genial_env`` enters ``env`` and ``parallel_env`` as
``genial_env/genial_v0``: ``pettingzoo.make("aec", "genial_env/genial_v0", players=3)``, and with ``"parallel"``.
"""

from genial_env.envs.aec import GenialAECEnv as raw_env  # noqa: N813  PettingZoo's name for it
from genial_env.envs.aec import env
from genial_env.envs.parallel import GenialParallelEnv as raw_parallel_env  # noqa: N813
from genial_env.envs.parallel import parallel_env

__all__ = ["env", "parallel_env", "raw_env", "raw_parallel_env"]
