"""Luck of draws: what could have been drawn, what it was worth, and that its mean is zero."""

from typing import Any

import numpy as np
import pytest

from genial_env import RecordError, Rules, play, use_backend
from genial_env.analysis.draws import Draws, draws_of_actions, draws_of_deals
from genial_env.analysis.full_states import compute_full_features, full_inputs
from genial_env.analysis.luck import DEAL, can_measure_luck, compute_luck, luck_of_draws, measure_luck
from genial_env.analysis.state_value import FullStateNet, read_full_state_net
from genial_env.core import kernel
from genial_env.core.state import EMPTY
from genial_env.policies.value_net import Widths
from genial_env.records import replay_many, truncate
from tests.positions import every, every_rules

SHIPPED = [Rules(), Rules(3), Rules(4), Rules(4, "2009", "team"), Rules(1, "2009", "solo")]


def games(rules: Rules, number: int = 1, agent: str = "random", seed: int = 3) -> list[dict[str, Any]]:
    records = play([agent] * rules.players, rules, number, seed, record=True).records
    assert records is not None
    return records


def some_net(rules: Rules, seed: int = 0) -> FullStateNet:
    """A network of random weights, whose predictions differ between tiles."""
    rng = np.random.default_rng(seed)
    shapes = FullStateNet.layout(rules, Widths(6, 5, 6, 6, 5))
    arrays = {name: rng.normal(0.01, 0.02, shape).astype(np.float32) for name, shape in shapes.items()}
    return FullStateNet(rules, arrays)


def drawn(rules: Rules, number: int = 1) -> Draws:
    """The draws of some games."""
    found = replay_many(games(rules, number))
    drew = np.flatnonzero((found.draws != EMPTY).any(axis=1))
    return Draws.concat(
        [
            *draws_of_deals(found.dealt),
            draws_of_actions(found.states.select(drew), found.actions[drew], found.draws[drew]),
        ]
    )


@every_rules
def test_draws_lead_from_one_position_to_the_next(rules: Rules) -> None:
    found, t = replay_many(games(rules)), kernel.deal(rules, 0).tables
    swaps = 0
    for row in range(len(found.actions) - 1):
        draws = draws_of_actions(
            *(found.states.select(np.array([row])), found.actions[row : row + 1], found.draws[row : row + 1])
        )
        tiles, seat = draws.tiles, draws.seat
        for kinds in draws.kinds.T[draws.kinds[0] != EMPTY]:
            assert tiles.bag[0, kinds[0]] > 0
            tiles.move(np.zeros(1, dtype=np.int64), seat, kinds)
        then = found.states.select(np.array([row + 1]))
        racks = [np.bincount(rack[rack >= 0], minlength=t.n_kinds) for rack in then.racks[0]]
        np.testing.assert_array_equal(tiles.racks[0], racks)
        swapped = rules.has_swap and found.actions[row] == t.swap_action
        aside = found.states.racks[row, seat[0]] if swapped else np.empty(0, dtype=np.int64)
        np.testing.assert_array_equal(tiles.bag[0] + np.bincount(aside[aside >= 0], minlength=t.n_kinds), then.bag[0])
        swaps += int(swapped)
    assert len(found.actions)


@every_rules
def test_the_mean_luck_of_a_draw_is_zero(rules: Rules) -> None:
    draws, net, most = drawn(rules).select(np.arange(0, 6)), some_net(rules), 0.0
    for row in range(len(draws)):
        one = draws.select(np.array([row]))
        bag = one.tiles.bag[0]
        kinds = np.flatnonzero(bag)
        others = one.select(np.zeros(len(kinds), dtype=np.int64))
        others.kinds[:] = EMPTY
        others.kinds[:, 0] = kinds
        luck = luck_of_draws(others, net)[:, 0]
        np.testing.assert_allclose(bag[kinds] @ luck / bag.sum(), 0, atol=1e-12)
        most = max(most, float(np.abs(luck).max()))
        if rules.tracks > 1:
            np.testing.assert_allclose(luck.sum(axis=1), 0, atol=1e-12)
    assert most > 0


@every_rules
def test_the_parts_add_up(rules: Rules) -> None:
    (record,) = games(rules)
    found = measure_luck(record, some_net(rules).arrays)
    np.testing.assert_allclose(np.add(np.add(found.expected, found.luck), found.skill), found.result)
    np.testing.assert_allclose(np.sum([draw.luck for draw in found.draws], axis=0), found.luck)
    deals = [draw for draw in found.draws if draw.event == DEAL]
    assert [draw.seat for draw in deals] == list(range(rules.players))
    assert [list(draw.tiles) for draw in deals] == record["deal"]
    named = [event for event in record["events"] if event[0] == "draw"]
    for draw in found.draws[rules.players :]:
        event = record["events"][draw.event]
        assert event[1] == draw.seat
        assert list(draw.tiles) == event[2 if event[0] == "draw" else 4]
    assert sum(record["events"][draw.event][0] == "draw" for draw in found.draws[rules.players :]) == len(named)
    assert found.to_dict()["luck"] == list(found.luck)


@pytest.mark.parametrize("rules", [Rules(), Rules(3, "2009"), Rules(1, "2009", "solo")], ids=str)
def test_alike_alone_and_in_a_batch_and_on_both_backends(rules: Rules) -> None:
    records, net = games(rules, 5), some_net(rules)
    together = compute_luck(records, net)
    alone = np.concatenate([compute_luck([record], net) for record in records])
    np.testing.assert_array_equal(together, alone)
    for backend in ("numpy", "numba"):
        with use_backend(backend):
            np.testing.assert_array_equal(compute_luck(records, net), together)


@every_rules
def test_features_say_what_is_in_the_racks(rules: Rules) -> None:
    draws = drawn(rules)
    at, tiles, t = np.arange(len(draws)), draws.tiles, draws.before.tables
    clockwise = tiles.racks[at[:, None], t.seats_from[draws.seat]]
    features = compute_full_features(draws.describe(), at, clockwise, tiles.bag)
    inputs = full_inputs(rules)
    assert features.shape == (len(draws), inputs.width(rules))
    _, kinds, _ = inputs.split(rules, features)
    np.testing.assert_array_equal(kinds[:, :, 0], tiles.bag)
    np.testing.assert_array_equal(kinds[:, :, 1 + rules.tracks :].transpose(0, 2, 1), clockwise)


def test_an_unfinished_game_has_no_result() -> None:
    (record,) = games(Rules())
    short = truncate(record, 2)
    with pytest.raises(ValueError, match="the game is not finished"):
        measure_luck(short, some_net(Rules()).arrays)
    assert compute_luck([short], some_net(Rules())).shape == (1, 2)


def test_what_is_no_record_is_refused() -> None:
    (record,) = games(Rules())
    with pytest.raises(RecordError, match=r"^game 1: deal: expected a list of 2"):
        compute_luck([record, record | {"deal": [["rr"]]}], some_net(Rules()))
    with pytest.raises(RecordError, match=r"^game 1: .*scores"):
        compute_luck([record, record | {"scores": [[0] * 6, [0] * 6]}], some_net(Rules()))
    with pytest.raises(ValueError, match="same rules, got 2"):
        compute_luck([record, *games(Rules(3))], some_net(Rules()))


@every("rules", SHIPPED, [Rules(), Rules(1, "2009", "solo")])
def test_shipped_networks_explain_something(rules: Rules) -> None:
    """The luck of games of "greedy" has a mean of zero and goes with the result."""
    assert can_measure_luck(rules)
    played = play(["greedy"] * rules.players, rules, 150, 5, record=True)
    luck = compute_luck(played.records or [], read_full_state_net(rules))[:, 0]
    results = played.scores[:, 0].min(axis=1) if rules.tracks == 1 else -played.ranks[:, 0]
    assert abs(luck.mean()) < 4 * luck.std() / np.sqrt(len(luck))
    assert np.corrcoef(luck, results)[0, 1] > 0.1
