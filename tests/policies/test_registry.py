"""What users may write where a policy is named."""

import gymnasium as gym
import pytest

import genial_env  # noqa: F401  registers the environments
from genial_env import Rules, play
from genial_env.policies.concave import ConcavePolicy
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.registry import expand, known_names, make_policy, split_names
from genial_env.policies.roster import COMPILED, LADDER, ROSTER
from genial_env.testing import check_policy


def test_names_modules_and_settings() -> None:
    assert isinstance(make_policy("greedy"), GreedyPolicy)
    concave = make_policy("concave(temperature=5)")
    assert isinstance(concave, ConcavePolicy)
    assert concave.temperature == 5
    assert make_policy("tests.strange_agents:make").name == "made(0, 1.0)"
    assert make_policy(" tests.strange_agents:make(seat=-2, temperature=0.5) ").name == "made(-2, 0.5)"
    policy = GreedyPolicy()
    assert make_policy(policy) is policy


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("nobody", "unknown agent 'nobody': the agents are random, greedy"),
        ("", "name or module:factory"),
        ("greedy(", "name or module:factory"),
        ("greedy greedy", "name or module:factory"),
        ("concave(5)", "settings"),
        ("concave(temperature=five)", "settings"),
        ("concave(temperature=open('x'))", "settings"),
        ("concave(**{})", "settings"),
        ("concave(temperature=5)(temperature=6)", "settings"),
        ("concave(temperature=5) + max(1)", "settings"),
        ("concave(heat=5)", "heat"),
        ("concave(temperature=-5)", "temperature must be 0.001 to 1000000, not -5"),
        ("concave(temperature=1e400)", "temperature must be finite and 0.001 to 1000000, not inf"),
        ("concave(temperature='5')", "temperature must be a number, not '5' (str)"),
        (
            "denial(weights='abc')",
            "weights must be genial_env.policies.heuristic.HalfWeights, which only code can give, not 'abc'",
        ),
        ("denial(shape=-1)", "shape must be 0.01 to 10, not -1"),
        ("denial(arrival=1.5)", "arrival must be a whole number, not 1.5"),
        ("denial(arrival=51)", "arrival must be 0 to 50, not 51"),
        ("search(playouts='many')", "playouts must be a whole number, not 'many'"),
        ("search(budget_s=1e400)", "budget_s must be finite and above 0, not inf"),
        ("search(prior='random')", "prior must be a HeuristicPolicy"),
        ("value(prior=3)", "prior must be a HeuristicPolicy"),
        ("value_search(prior='random')", "prior must be a HeuristicPolicy"),
        ("search(playout=5)", "playout"),
        ("ismcts(exploration=1e400)", "exploration must be finite and at least 0, not inf"),
        ("value(candidates=10**9)", "settings"),
        ("value(candidates=1000000000)", "candidates must be 1 to 10000"),
        ("value(weights=5)", "weights must be a file"),
        ("search(playout_count=5)", "there is no setting 'playout_count'; its settings are playouts, budget_s,"),
        ("greedy(depth=2)", "there is no setting 'depth'; it has no settings"),
        ("search(playouts=abc)", "each a number, True, False, None or text in quotation marks"),
        ("value_search(turns=0)", "turns must be 1 to 10000, not 0"),
        ("value_search(trust=-1)", "trust must be 0 to 10000, not -1"),
        ("ppo(temperature='hot')", "temperature must be a number, not 'hot' (str)"),
        ("ppo(name=5)", "name"),
        ("no_such_module:make", "cannot import 'no_such_module'"),
        ("tests.strange_agents:none", "no factory 'none'"),
        ("tests.strange_agents:NOTHING", "no factory 'NOTHING'"),
    ],
)
def test_what_cannot_be_read_is_said(words: str, told: str) -> None:
    with pytest.raises(ValueError, match="agent") as caught:
        make_policy(words)
    assert told in str(caught.value)


def test_a_factory_must_make_a_policy() -> None:
    with pytest.raises(TypeError, match="callable with a name"):
        make_policy("builtins:dict")
    with pytest.raises(TypeError, match="callable with a name"):
        make_policy(3)  # type: ignore[arg-type]


def test_lists_of_agents() -> None:
    assert split_names("greedy, concave(temperature=5),a:b(c=(1, 2), d=3) ,") == [
        "greedy",
        "concave(temperature=5)",
        "a:b(c=(1, 2), d=3)",
    ]
    assert split_names("") == split_names(" , ,") == []
    assert expand("greedy,ladder") == ["greedy", *(name for name in LADDER if name != "greedy")]
    assert known_names() == list(ROSTER)


QUOTED = """c:d(e='it\\'s), "x"')"""
"""An agent with both quotation marks, one of them behind a backslash, and a bracket between them."""


@pytest.mark.parametrize(
    "agents",
    [
        ["exploit_search(playouts=5, agent='search(playouts=10)')", "greedy"],
        ["exploit_search(agent=\"search(prior='denial(shape=1, arrival=2)')\", playouts=5)", "greedy"],
        [f"a:b(agent={QUOTED!r})", "greedy"],
        ["value(weights='odd), name(')", "my_agents:make(c=(1, [2, 3]), d='(')", "greedy"],
        ["engine:'./my agent, 2' --name=\"a, (b\"", "greedy"],
        ["Paul O'Brien", "Mary O'Brien"],
    ],
    ids=str,
)
def test_brackets_and_quotation_marks_keep_agents_together(agents: list[str]) -> None:
    assert split_names(", ".join(agents)) == agents
    assert split_names(",".join(agents[::-1])) == agents[::-1]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("concave(temperature=5, greedy", 0),
        ("greedy, search(playout='denial), greedy", 1),
        ("greedy), random", 0),
        ("search(playouts=(3), greedy", 0),
        ("engine:'./my agent, greedy", 0),
    ],
)
def test_what_is_not_closed_is_refused(text: str, part: int) -> None:
    with pytest.raises(ValueError, match=r"an agent is written name or module:factory|No closing quotation"):
        make_policy(expand(text)[part])


def test_names_work_wherever_a_policy_is_named() -> None:
    assert play(["lexicographic", "genial_env.policies.points:PointsPolicy"], games=2).agents == [
        "lexicographic",
        "points",
    ]
    env = gym.make("genial_env/Genial-v0", opponents="points")
    env.reset(seed=0)
    env.close()


@pytest.mark.parametrize("name", [name for name in LADDER if name not in COMPILED])  # the others: test_vector.py
@pytest.mark.parametrize(
    "rules",
    [
        Rules(),
        Rules(3, "2009"),
        Rules(4),
        Rules(4, "2004", "team"),
        Rules(1, "2004", "solo"),
        Rules(side=4, colors=4, rack=3),
    ],
    ids=str,
)
def test_scripted_agents_are_policies_under_all_rules(name: str, rules: Rules) -> None:
    check_policy(name, rules)
