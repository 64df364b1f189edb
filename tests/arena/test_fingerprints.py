"""What an agent depends on is kept, and games of an agent that has changed are not merged."""

import json
from pathlib import Path

import pytest

from genial_env import Rules
from genial_env._util.version import __version__
from genial_env.arena.fingerprints import describe_change, fingerprint
from genial_env.arena.isolation import Isolation
from genial_env.arena.store import SETTINGS, Settings, Store
from genial_env.arena.tournament import run

RULES = Rules(side=4, colors=4, rack=3)

SOURCES = {
    "mine_agents/__init__.py": "",
    "mine_agents/makers.py": "import numpy\nfrom . import helper\nimport mine_other\nmake = helper.make\n",
    "mine_agents/helper.py": "from genial_env import make_policy as of\ndef make(file=None):\n  return of('greedy')\n",
    "mine_agents/unused.py": "",
    "mine_other.py": "",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in SOURCES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_sources_are_those_beside_the_module(folder: Path) -> None:
    found = fingerprint("mine_agents.makers:make", RULES)
    assert set(found) == {f"source {name}" for name in SOURCES if "unused" not in name}
    (folder / "mine_agents" / "unused.py").write_text("1")
    assert fingerprint("mine_agents.makers:make", RULES) == found
    (folder / "mine_agents" / "helper.py").write_text("(")  # it cannot be parsed
    changed = fingerprint("mine_agents.makers:make", RULES)
    assert describe_change(found, changed) == "source mine_agents/helper.py has changed"
    assert describe_change(found, found) is None
    assert describe_change({"file a": "1"}, {"file b": "1"}) == "file a is no longer used; file b is new"
    assert fingerprint("nowhere.at.all:make", RULES) == {}
    assert fingerprint("math:sqrt", RULES) == {}
    installed = fingerprint("choix:ilsr_pairwise", RULES)
    assert "source choix/__init__.py" in installed
    assert all(name.startswith("source choix/") for name in installed)


def test_agents_of_the_package(folder: Path) -> None:
    assert fingerprint("greedy", RULES) == {"genial_env": __version__}
    shipped = fingerprint("value", Rules())
    assert set(shipped) == {"genial_env", "weights value-2.safetensors"}
    assert shipped == fingerprint("value_search(playouts=3)", Rules())
    assert set(fingerprint("value", Rules(2, side=6))) <= set(shipped)
    weights = folder / "w.safetensors"
    weights.write_bytes(b"1")
    agent = f"ppo(weights={str(weights)!r})"
    before = fingerprint(agent, Rules())
    assert set(before) == {"genial_env", f"file {weights}"}
    weights.write_bytes(b"2")
    assert describe_change(before, fingerprint(agent, Rules())) == f"file {weights} has changed"


def test_agents_that_settings_name(folder: Path) -> None:
    value = fingerprint("value", Rules())
    assert fingerprint("exploit_search", Rules()) == value
    assert fingerprint("exploit_search(agent='greedy')", Rules()) == value
    assert fingerprint("search(playout='value', playouts=3)", Rules()) == value
    assert fingerprint("search(prior='denial(shape=1)')", Rules()) == {"genial_env": __version__}
    weights = folder / "w.safetensors"
    weights.write_bytes(b"1")
    with_file = fingerprint(f"exploit_search(weights={str(weights)!r})", Rules())
    assert set(with_file) == {*value, f"file {weights}"}  # the agent is "value" with its shipped weights
    inner = "mine_agents.makers:make(file='" + str(weights) + "')"
    nested = fingerprint(f"exploit_search(agent={inner!r})", Rules())
    assert nested == value | fingerprint(inner, Rules())
    listed = fingerprint("mine_agents.makers:make(agents=['ppo', {'first': 'value'}], at='12:30')", Rules())
    assert {"weights ppo-2.safetensors", "weights value-2.safetensors", "source mine_other.py"} <= set(listed)
    sources = {f"source {name}" for name in SOURCES if "unused" not in name}
    assert set(fingerprint("mine_agents.makers:make(file='engine:', at=':x', name=\"it's\")", Rules())) == sources
    weights.write_bytes(b"2")
    now = fingerprint(f"exploit_search(agent={inner!r})", Rules())
    assert describe_change(nested, now) == f"file {weights} has changed"


def test_games_of_a_changed_agent_are_not_merged(folder: Path) -> None:
    net, out = folder / "net.zip", folder / "t"
    net.write_bytes(b"first")
    agent = f"mine_agents.makers:make(file={str(net)!r})"
    settings = Settings((agent, "random"), RULES, groups=2)
    alone = Isolation(on=False)
    run(settings, out, isolation=alone)
    session = json.loads((out / SETTINGS).read_text())["sessions"][0]
    assert session["agents"]["random"] == {"genial_env": __version__}
    assert f"file {net}" in session["agents"][agent]
    more = Settings((agent, "random"), RULES, groups=3)
    net.write_bytes(b"second")
    assert len(run(settings, out, isolation=alone).games) == 4  # nothing is left to play
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(ValueError, match=r"net\.zip has changed\. .* take another directory"):
        run(more, out, isolation=alone)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    net.write_bytes(b"first")
    assert len(run(more, out, isolation=alone).games) == 6
    found = json.loads((out / SETTINGS).read_text())
    for each in found["sessions"]:
        each.pop("agents")  # as former versions wrote them
    (out / SETTINGS).write_text(json.dumps(found))
    assert len(Store(out).games) == 6
