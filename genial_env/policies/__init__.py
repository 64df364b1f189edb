"""The agents of the package: policies that play a seat, and the names by which they are made.

The scripted policies can be imported from here. Agents that search or that use a trained network have modules of their
own, which are imported when their name is first used (:mod:`genial_env.policies.roster`).
"""

from genial_env.policies.base import Plan, PlannedPolicy, Policy
from genial_env.policies.concave import ConcavePolicy
from genial_env.policies.decisions import act, choice_keys, decide
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.heuristic import HalfWeights, HeuristicPolicy
from genial_env.policies.lexicographic import Lexicographic
from genial_env.policies.points import PointsPolicy
from genial_env.policies.registry import make_known_policy, make_policy, prepare
from genial_env.policies.roster import COMPILED, LADDER, ROSTER
from genial_env.policies.uniform import RandomPolicy

__all__ = [
    "COMPILED",
    "LADDER",
    "ROSTER",
    "ConcavePolicy",
    "DenialPolicy",
    "GreedyPolicy",
    "HalfWeights",
    "HeuristicPolicy",
    "Lexicographic",
    "Plan",
    "PlannedPolicy",
    "PointsPolicy",
    "Policy",
    "RandomPolicy",
    "act",
    "choice_keys",
    "decide",
    "make_known_policy",
    "make_policy",
    "prepare",
]
