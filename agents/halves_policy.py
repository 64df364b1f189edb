"""The network of agents/halves_net.py as sb3-contrib's MaskablePPO wants it."""

from agents.halves_net import HalvesNet
from agents.structured import StructuredPolicy


class HalvesPolicy(StructuredPolicy):
    """:class:`~agents.halves_net.HalvesNet` as MaskablePPO's policy."""

    net_class = HalvesNet
