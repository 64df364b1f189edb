"""One whole game of every edition, mode and seat count, and of a variant, kept as a record.

A change of the rules, of the luck or of the record format shows here first. After an intended one,
``python -m tests.core.test_golden`` writes the games anew.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from genial_env import Rules, play
from genial_env.core import kernel
from genial_env.records import Recorder, verify
from tests.positions import STANDARD

pytestmark = pytest.mark.usefixtures("each_backend")

FOLDER = Path(__file__).with_name("golden")
GAMES = [*STANDARD, Rules(2, side=4, colors=4, rack=3)]


def path_of(rules: Rules) -> Path:
    variant = "" if rules in STANDARD else "-variant"
    return FOLDER / f"{rules.mode}-{rules.players}-{rules.edition}{variant}.json"


def played(rules: Rules) -> str:
    """The record of a game between greedy seats and random ones, an event a line."""
    agents = ["greedy", "random", "greedy", "greedy"][: rules.players]
    records = play(agents, rules, games=1, seed=2004, record=True).records or []
    record = dict(records[0])
    events = ",\n  ".join(json.dumps(event) for event in record.pop("events"))
    return json.dumps(record)[:-1] + f', "events": [\n  {events}\n]}}\n'


@pytest.mark.parametrize("rules", GAMES, ids=str)
def test_golden_game(rules: Rules) -> None:
    assert path_of(rules).read_text() == played(rules)


def test_golden_games_replay_from_their_seeds() -> None:
    """Whoever chose and however: the records hold, and their seeds deal what they say."""
    records = [json.loads(path_of(rules).read_text()) for rules in GAMES]
    assert list(verify(records)) == [None] * len(GAMES)
    for rules, record in zip(GAMES, records, strict=True):
        dealt = Recorder(kernel.deal(rules, record["seed"]), record["agents"], np.array([record["seed"]]))
        assert dealt.records()[0]["deal"] == record["deal"]


def test_no_golden_game_too_many() -> None:
    assert {path_of(rules) for rules in GAMES} == set(FOLDER.glob("*.json"))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for golden in GAMES:
        path_of(golden).write_text(played(golden))
