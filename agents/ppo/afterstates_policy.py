"""The network of agents/ppo/afterstates_net.py as a policy of sb3-contrib's MaskablePPO."""

from typing import Any

from agents.ppo.afterstates_net import DEFAULT_WIDTHS, AfterstatesNet
from agents.ppo.net_policy import NetPolicy
from genial_env import Rules
from genial_env.policies.value_net import Widths

__all__ = ["AfterstatesPolicy"]


class AfterstatesPolicy(NetPolicy):
    """:class:`~agents.ppo.afterstates_net.AfterstatesNet` as a policy.

    Args:
        args: as for NetPolicy.
        widths: numbers of hidden units of the actor.
        kwargs: as for NetPolicy.
    """

    net_class = AfterstatesNet

    def __init__(self, *args: Any, widths: tuple[int, ...] = DEFAULT_WIDTHS, **kwargs: Any) -> None:
        self._widths = Widths(*widths)
        super().__init__(*args, **kwargs)

    def _make_net(self, rules: Rules, width: int) -> AfterstatesNet:
        return AfterstatesNet(rules, width, self._widths)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return super()._get_constructor_parameters() | {"widths": tuple(self._widths)}
