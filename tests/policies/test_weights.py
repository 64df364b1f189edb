"""The shipped weights: each file plays what its name says, well, and without torch."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from genial_env import Rules, make_policy, play
from genial_env.policies import weight_files

SHIPPED = sorted(weight_files.FOLDER.glob("*.safetensors"))
PLAYING = [path for path in SHIPPED if not path.stem.startswith("luck-")]
"""The files of agents; the others measure luck (tests/analysis/test_luck.py)."""


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_it_is_found_for_its_rules(path: Path) -> None:
    about = weight_files.read_metadata(path)
    rules = Rules.from_dict(json.loads(about["rules"]))
    assert weight_files.find_shipped(about["kind"], rules) == path
    assert path.stat().st_size < 500_000


@pytest.mark.parametrize("path", PLAYING, ids=lambda path: path.stem)
def test_it_plays_what_its_name_says(path: Path) -> None:
    about = weight_files.read_metadata(path)
    rules = Rules.from_dict(json.loads(about["rules"]))
    agent = make_policy(about["kind"])
    others = ["random"] * (rules.players - 1)
    results = play([agent, *others], rules, games=4, seed=1)
    if rules.tracks > 1:
        assert (results.ranks[:, 0] == 1).all()
    else:
        assert results.scores.min(axis=2).mean() > 10


def test_playing_needs_no_torch() -> None:
    code = """
import sys
from genial_env import play
play(["value", "ppo"], games=1)
play(["value_search(playouts=8, candidates=2, replies=2)", "random"], games=1)
print([name for name in ("torch", "stable_baselines3") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
