"""The network of agents/ppo/halves_net.py as sb3-contrib's MaskablePPO wants it."""

from agents.ppo.halves_net import HalvesNet
from agents.ppo.structured import StructuredPolicy


class HalvesPolicy(StructuredPolicy):
    """:class:`~agents.ppo.halves_net.HalvesNet` as MaskablePPO's policy."""

    net_class = HalvesNet
