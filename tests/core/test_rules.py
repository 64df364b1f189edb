"""What may be asked for, and what is refused and how."""

import pickle

import numpy as np
import pytest

from genial_env import Rules
from genial_env.core.scalar import arrived, facts_of, furthest, next_stop
from genial_env.core.tables import tables


@pytest.mark.parametrize(
    ("rules", "side", "cells", "free", "placements", "both_free", "actions"),
    [
        (Rules(2), 6, 91, 85, 480, 444, 2882),
        (Rules(1, "2004", "solo"), 6, 91, 85, 480, 444, 480),
        (Rules(3), 7, 127, 121, 684, 612, 4106),
        (Rules(4), 8, 169, 163, 924, 852, 5546),
        (Rules(4, "2009", "team"), 8, 169, 163, 924, 852, 5546),
    ],
)
def test_printed_sizes(
    rules: Rules, side: int, cells: int, free: int, placements: int, both_free: int, actions: int
) -> None:
    t = tables(rules)
    blocked = [any(cell in t.start_symbols for cell in pair) for pair in t.placements]
    assert (rules.side, t.n_cells, t.n_cells - len(t.start_symbols), t.n_placements) == (side, cells, free, placements)
    assert (blocked.count(False), t.n_actions, int(t.full_bag.sum())) == (both_free, actions, 120)


@pytest.mark.parametrize(("players", "touching"), [(2, 9), (3, 17), (4, 24)])
def test_first_turn_placements_of_each_printed_symbol(players: int, touching: int) -> None:
    t = tables(Rules(players))
    free = ~(t.placements[:, :, None] == t.start_symbols).any(axis=(1, 2))
    for color in range(6):
        assert ((t.placement_near >> color & 1).astype(bool) & free).sum() == 2 * touching
    assert all(bin(near).count("1") <= 1 for near in t.placement_near[free])


def test_printed_symbols_stay_on_the_inner_corners() -> None:
    for players in (2, 3, 4):
        t = tables(Rules(players))
        assert t.cells[t.start_symbols].tolist() == [[0, -5], [5, -5], [5, 0], [0, 5], [-5, 5], [-5, 0]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"edition": "2010"}, "unknown edition '2010': the editions are '2004', '2009' or '2025'"),
        ({"mode": "duel"}, "unknown mode 'duel'"),
        ({"players": 4, "mode": "team"}, "edition '2025' has no mode 'team': '2004' or '2009' have it"),
        ({"players": 1, "mode": "solo"}, "edition '2025' has no mode 'solo'"),
        ({"players": 1}, "for 1 take mode 'solo'"),
        ({"players": 2, "edition": "2004", "mode": "team"}, "mode 'team' is for 4 players, not 2"),
        ({"players": 5}, "players must be 1 to 4, not 5"),
        ({"side": 2}, "side must be 3 to 10, not 2"),
        ({"colors": 7}, "colors must be 2 to 6, not 7"),
        ({"rack": 1}, "rack must be 2 to 6, not 1"),
        ({"players": 1, "edition": "2004", "mode": "solo", "rack": 6}, "rack .in solo. must be 1, not 6"),
        ({"tile_sets": 0}, "tile_sets must be 1 to 12"),
        ({"side": 10}, "the bag could run out"),
        (
            {"players": 1, "edition": "2009", "mode": "solo", "one_bonus_a_tile": True},
            "one_bonus_a_tile must be False in solo, which has no bonus placements",
        ),
    ],
)
def test_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Rules(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("arguments", [{"players": 2.0}, {"side": "6"}, {"colors": True}])
def test_wrong_type(arguments: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="must be a whole number"):
        Rules(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1, 0, None, "yes", 1.0, [True]])
def test_an_option_is_true_or_false(value: object) -> None:
    with pytest.raises(TypeError, match="one_bonus_a_tile must be True or False, not "):
        Rules(one_bonus_a_tile=value)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one_bonus_a_tile must be True or False, not "):
        Rules.from_dict({"one_bonus_a_tile": value})


def test_bonuses_a_tile() -> None:
    assert [rules.bonuses_a_tile for rules in (Rules(), Rules(one_bonus_a_tile=True), Rules(1, "2004", "solo"))] == [
        2,
        1,
        0,
    ]
    assert Rules(one_bonus_a_tile=np.bool_(True)).one_bonus_a_tile is True
    assert Rules(one_bonus_a_tile=True).to_dict() == {
        "players": 2,
        "edition": "2025",
        "mode": "individual",
        "one_bonus_a_tile": True,
    }
    assert Rules(one_bonus_a_tile=True) != Rules()
    assert str(Rules(one_bonus_a_tile=True)).endswith("one_bonus_a_tile=True)")


def test_dict_names_only_what_is_not_as_printed() -> None:
    assert Rules().to_dict() == {"players": 2, "edition": "2025", "mode": "individual"}
    varied = Rules(3, "2009", side=5, tile_sets=2)
    assert varied.to_dict() == {"players": 3, "edition": "2009", "mode": "individual", "side": 5, "tile_sets": 2}
    assert Rules.from_dict(varied.to_dict()) == varied
    with pytest.raises(ValueError, match="unknown rule 'seats'"):
        Rules.from_dict({"seats": 2})


def test_rules_are_values() -> None:
    assert Rules() == Rules(2, side=6)
    assert hash(Rules()) == hash(Rules(2, side=6))
    assert pickle.loads(pickle.dumps(Rules(4))) == Rules(4)


def test_few_colors_leave_the_other_corners_free() -> None:
    t = tables(Rules(2, side=4, colors=3))
    assert t.cells[t.start_symbols].tolist() == [[0, -3], [3, -3], [3, 0]]
    assert int(t.full_bag.sum()) == 3 * 6 + 3 * 5


@pytest.mark.parametrize("rules", [Rules(2), Rules(4, "2009", "team"), Rules(1, "2004", "solo")], ids=str)
def test_markers_move_no_further_than_their_next_stop(rules: Rules) -> None:
    t, facts = tables(rules), facts_of(rules)
    for before in range(rules.top + 1):
        stop = min((stop for stop in rules.stops if stop > before), default=rules.top)
        assert t.next_stop[before] == t.furthest[before] == next_stop(facts, before) == furthest(facts, before) == stop
        for after in range(before, stop + 1):
            expected = before < after == stop
            assert t.arrived(np.array([before]), np.array([after])).tolist() == [expected]
            assert arrived(facts, before, after) == expected
