"""The network of agents/ppo/halves_net.py as a policy of sb3-contrib's MaskablePPO."""

from agents.ppo.halves_net import HalvesNet
from agents.ppo.net_policy import NetPolicy

__all__ = ["HalvesPolicy"]


class HalvesPolicy(NetPolicy):
    """:class:`~agents.ppo.halves_net.HalvesNet` as a policy."""

    net_class = HalvesNet
