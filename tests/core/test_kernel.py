"""Properties of the kernel: what holds in every game, whatever is played."""

from typing import Any

import numpy as np
import pytest

from genial_env import IllegalAction, Rules, State
from genial_env.core import kernel, ranking
from genial_env.core.actions import Place, decode, encode
from genial_env.core.state import End, Phase
from genial_env.core.tables import tables
from tests.positions import board_with, every_rules, random_actions, random_play, same

pytestmark = pytest.mark.usefixtures("each_backend")

ALL = every_rules


@ALL
def test_tiles_are_conserved_and_markers_never_fall(rules: Rules) -> None:
    """On the board, in the racks and in the bag there are always all tiles; markers go up to the top at most."""
    state, rng = kernel.deal(rules, np.arange(20)), np.random.default_rng(1)
    laid = np.zeros((20, tables(rules).n_kinds), dtype=int)
    while not state.over.all():
        live = np.flatnonzero(~state.over)
        actions = random_actions(state, live, rng)
        placing = actions < state.tables.swap_action
        slots = actions[placing] // state.tables.n_placements
        np.add.at(laid, (live[placing], kernel.own_racks(state, live)[placing, slots]), 1)
        before = state.scores.copy()
        kernel.apply(state, actions, live)
        held = kernel.count_kinds(state.racks.reshape(20, -1), state.tables.n_kinds)
        assert (laid + held + state.bag == state.tables.full_bag).all()
        assert (before <= state.scores).all()
        assert (state.scores <= rules.top).all()
        tiled = (state.board >= 0).sum(axis=1) - len(state.tables.start_symbols)
        assert (tiled == 2 * laid.sum(axis=1)).all()


@ALL
def test_a_live_game_has_an_action_and_a_finished_one_none(rules: Rules) -> None:
    state, rng = kernel.deal(rules, np.arange(20)), np.random.default_rng(2)
    for _ in range(400):
        masks = kernel.legal(state)
        assert (masks.any(axis=1) == ~state.over).all()
        live = np.flatnonzero(~state.over)
        if not live.size:
            return
        kernel.apply(state, random_actions(state, live, rng), live)
    pytest.fail("games did not end")


def test_live_games_are_those_not_over_until_all_are() -> None:
    state, rng = random_play(Rules(2, side=3), games=12, seed=3, steps=5), np.random.default_rng(4)
    for live in kernel.live_games(state):
        assert live.tolist() == np.flatnonzero(~state.over).tolist()
        kernel.apply(state, random_actions(state, live, rng), live)
    assert state.over.all()
    assert list(kernel.live_games(state)) == []


@ALL
def test_kept_arrays_follow_from_the_board(rules: Rules) -> None:
    for steps in (5, 20, 60):
        state = random_play(rules, games=15, seed=steps, steps=steps)
        again = kernel.position(rules, state.board, scores=state.scores)
        assert (state.points == again.points).all()
        assert (state.open == again.open).all()
        assert (state.symbols_touched == again.symbols_touched).all()


@ALL
def test_a_batch_equals_each_game_alone(rules: Rules) -> None:
    """Also in another order and among others."""
    seeds = np.array([7, 1, 2**64 - 1, 5, 0, 1], dtype=np.uint64)
    together, alone = kernel.deal(rules, seeds), [kernel.deal(rules, [seed]) for seed in seeds.tolist()]
    rng = np.random.default_rng(3)
    while not together.over.all():
        live = rng.permutation(np.flatnonzero(~together.over))[:4]
        actions = random_actions(together, live, rng)
        for row, action in zip(live.tolist(), actions.tolist(), strict=True):
            kernel.apply(alone[row], [action])
        kernel.apply(together, actions, live)
    assert all(same(together.select(np.array([row])), game) for row, game in enumerate(alone))


def test_redeal_starts_anew_in_place() -> None:
    state = random_play(Rules(3), games=6, seed=0, steps=30)
    others = state.select(np.array([0, 2, 4]))
    kernel.redeal(state, np.array([1, 3, 5]), [11, 12, 13])
    assert same(state.select(np.array([1, 3, 5])), kernel.deal(Rules(3), [11, 12, 13]))
    assert same(state.select(np.array([0, 2, 4])), others)


def test_same_seed_gives_a_seat_the_same_first_rack_and_different_seeds_differ() -> None:
    racks = kernel.deal(Rules(4), np.arange(300)).racks
    assert len({rack.tobytes() for rack in racks}) == 300
    assert (racks == kernel.deal(Rules(4), np.arange(300)).racks).all()


def test_draws_follow_the_bag() -> None:
    """First tiles of many games: every kind in proportion to its number in the bag (chi-square, 20 degrees)."""
    first = kernel.deal(Rules(), np.arange(60_000)).racks[:, 0, 0]
    t = tables(Rules())
    expected = 60_000.0 * t.full_bag / t.full_bag.sum()
    found = np.bincount(first, minlength=t.n_kinds)
    assert ((found - expected) ** 2 / expected).sum() < 45.3  # exceeded with probability 0.001


# What implementations get wrong


def test_a_full_board_ends_the_game_inside_a_bonus_chain() -> None:
    rules = Rules()
    board = np.zeros(tables(rules).n_cells, dtype=np.int8)
    board[tables(rules).start_symbols] = np.arange(6)
    board[[tables(rules).cell_index[cell] for cell in ((0, 0), (1, 0))]] = -1
    racks = [[[0, 0, 0, 0, 0, 1], [1, 2, 3, 4, 5, 6]]]
    state = kernel.position(
        rules,
        board,
        racks=racks,
        scores=[[[17, 0, 0, 0, 0, 0], [0] * 6]],
        phase=Phase.BONUS,
        pending_bonus=2,
        any_tiles=True,
    )
    bag = state.bag.copy()
    kernel.apply(state, [encode(rules, Place(2, (0, 0), (1, 0)))])
    assert (state.phase[0], state.end[0], state.pending_bonus[0]) == (Phase.OVER, End.BOARD_FULL, 0)
    assert state.scores[0, 0, 0] == 18
    assert (state.bag == bag).all()
    assert state.racks[0, 0].tolist() == [0, 0, -1, 0, 0, 1]


@pytest.mark.parametrize("rules", [Rules(), Rules(4, "2004", "team"), Rules(1, "2009", "solo")], ids=str)
def test_all_markers_at_the_end_win_at_once(rules: Rules) -> None:
    board = board_with(rules, {(-1, 0): 0, (-2, 0): 1})
    scores = np.full((1, rules.tracks, 6), rules.top)
    scores[0, 0, 0] = rules.top - 1
    if rules.tracks > 1:
        scores[0, 1] = 7
    state = kernel.position(rules, board, racks=np.arange(rules.rack), scores=scores)
    kernel.apply(state, [encode(rules, Place(0, (0, 0), (1, 0)))])
    assert (state.phase[0], state.end[0]) == (Phase.OVER, End.ALL_AT_TOP)
    assert ranking.ranks(state.scores)[0].tolist() == [1, 2][: rules.tracks]


def chain(edition: str) -> State:
    """Seat 0 is about to earn two bonus placements with a red-green tile on (0, 0) and (1, 0)."""
    rules = Rules(2, edition)
    board = board_with(rules, {(-1, 0): 0, (-2, 0): 2, (2, 0): 1, (3, 0): 2})
    kinds = tables(rules).kind_of
    racks = [[[kinds[0, 1], kinds[2, 2], kinds[2, 3], kinds[3, 3], kinds[4, 4], kinds[2, 4]], [0, 1, 2, 3, 4, 5]]]
    return kernel.position(rules, board, racks=racks, scores=[[[17, 17, 5, 5, 5, 4], [0] * 6]])


def test_bonus_placements_add_up_and_nothing_is_drawn_before_they_are_done() -> None:
    state = chain("2025")
    for slot, cells, pending_bonus in ((0, ((0, 0), (1, 0)), 2), (1, ((0, 2), (0, 3)), 1), (2, ((3, 1), (3, 2)), 0)):
        assert state.to_play[0] == 0
        kernel.apply(state, [encode(state.rules, Place(slot, *cells))])
        assert state.pending_bonus[0] == pending_bonus
        assert (state.racks[0, 0] < 0).sum() == slot + 1
    assert state.phase[0] == Phase.SWAP  # purple is lowest, and what is left shows none
    kernel.apply(state, [state.tables.swap_action])
    assert (state.racks[0, 0] >= 0).all()  # three tiles set aside, six drawn
    assert (state.to_play[0], state.phase[0]) == (1, Phase.PLACE)


@pytest.mark.parametrize("edition", ["2004", "2009", "2025"])
def test_a_bonus_may_be_declined_in_2009_only(edition: str) -> None:
    state = chain(edition)
    kernel.apply(state, [encode(state.rules, Place(0, (0, 0), (1, 0)))])
    decline = state.tables.decline_action
    if edition == "2009":
        kernel.apply(state, [decline])
        assert (state.phase[0], state.pending_bonus[0]) == (Phase.BONUS, 1)
        kernel.apply(state, [decline])
        assert state.phase[0] == Phase.SWAP
    else:
        with pytest.raises(IllegalAction, match="a bonus placement must be made"):
            kernel.apply(state, [decline])


def test_swapped_tiles_go_back_only_after_the_draw() -> None:
    state = chain("2025")
    state.scores[0, 0, :2] = 5  # no bonus
    kinds = state.tables.kind_of
    state.bag[0] = 0
    state.bag[0, kinds[5, 5]] = 6
    aside = np.sort(state.racks[0, 0, 1:])
    kernel.apply(state, [encode(state.rules, Place(0, (0, 0), (1, 0)))])
    kernel.apply(state, [state.tables.swap_action])
    assert (state.racks[0, 0] == kinds[5, 5]).all()
    assert np.repeat(np.arange(state.tables.n_kinds), state.bag[0]).tolist() == aside.tolist()


def test_a_bonus_without_a_tile_lapses() -> None:
    rules = Rules(2, side=4, rack=2, tile_sets=2)
    board = board_with(rules, {(-1, 0): 0, (-2, 0): 1})
    state = kernel.position(rules, board, racks=[[[0, -1], [1, 1]]], scores=[[[17, 9, 9, 9, 9, 9], [0] * 6]])
    kernel.apply(state, [encode(rules, Place(0, (0, 0), (1, 0)))])
    assert (state.to_play[0], state.phase[0], state.pending_bonus[0]) == (1, Phase.PLACE, 0)
    assert (state.racks[0, 0] >= 0).all()


def test_the_first_turn_rule_is_per_seat_and_per_symbol() -> None:
    state = kernel.deal(Rules(), 0)
    t = state.tables
    near_red = next(int(e) for e in np.flatnonzero(kernel.legal(state)[0, : t.n_placements]) if t.placement_near[e] & 1)
    kernel.apply(state, [near_red])
    mask = kernel.legal(state)[0, : t.n_placements]
    assert not (t.placement_near[mask] & 1).any()
    assert (t.placement_near[mask] != 0).all()
    with pytest.raises(IllegalAction, match="first tile must lie next to a printed symbol"):
        kernel.apply(state, [encode(state.rules, Place(0, (0, 0), (1, 0)))])


def test_the_first_turn_rule_lapses_where_nothing_fits_it() -> None:
    rules = Rules(4, side=3, colors=2, rack=2, tile_sets=2)
    state = random_play(rules, games=200, seed=0, steps=3)
    lapsed = (state.symbols_touched == 3) & ~state.over
    assert lapsed.any()
    assert kernel.legal(state)[lapsed].any(axis=1).all()


# Errors


def refuse(state: State, action: Any, error: type[Exception], said: str) -> None:
    before = state.copy()
    with pytest.raises(error, match=said):
        kernel.apply(state, action)
    assert same(state, before)


def test_illegal_actions_say_what_where_who_and_why_and_change_nothing() -> None:
    state = kernel.deal(Rules(), [0, 1, 2])
    good = random_actions(state, np.arange(3), np.random.default_rng(0))
    refuse(
        state,
        [good[0], 5000, good[2]],
        IllegalAction,
        r"5000 \(no such action\) by seat 0 in game 1: actions run from 0",
    )
    refuse(state, [good[0], good[1], -1], IllegalAction, r"-1 \(no such action\) by seat 0 in game 2")
    refuse(state, [2880, *good[1:]], IllegalAction, r"2880 \(swap\) by seat 0 in game 0: no swap now")
    refuse(state, [2881, *good[1:]], IllegalAction, "the turn's tile must be laid")
    on_symbol = encode(Rules(), Place(0, (0, -5), (0, -4)))
    refuse(state, [on_symbol, *good[1:]], IllegalAction, r"slot 0 on \(0, -5\) \(0, -4\).*cell \(0, -5\) is not free")
    state.racks[0, 0, 3] = -1
    refuse(state, [encode(Rules(), Place(3, (0, 0), (1, 0))), *good[1:]], IllegalAction, "slot 3 is empty")


def test_actions_of_the_wrong_type_or_shape() -> None:
    state = kernel.deal(Rules(), [0, 1])
    refuse(state, [0.0, 1.0], TypeError, "actions must be whole numbers, not float64")
    refuse(state, [None, None], TypeError, "actions must be whole numbers")
    refuse(state, [3], ValueError, r"shape \(2,\), not \(1,\)")


def test_a_finished_game_takes_no_action() -> None:
    state = random_play(Rules(), games=1, seed=0, steps=100)
    refuse(state, [0], IllegalAction, "the game is over")


def test_scripted_draws_are_checked() -> None:
    state = kernel.deal(Rules(), [0])
    action = int(np.flatnonzero(kernel.legal(state)[0])[0])

    def refused(draws: Any, error: type[Exception], said: str) -> None:
        before = state.copy()
        with pytest.raises(error, match=said):
            kernel.apply(state, [action], draws=draws)
        assert same(state, before)

    refused([[0.5] * 6], TypeError, "draws must be whole numbers")
    refused([[0]], ValueError, r"shape \(1, 6\), not \(1, 1\)")
    refused([[21, -1, -1, -1, -1, -1]], ValueError, "tile kinds from 0 to 20")
    refused([[-1, 0, -1, -1, -1, -1]], ValueError, "no tile kind may follow a -1")
    state.bag[0, 4] = 0
    refused([[4, -1, -1, -1, -1, -1]], ValueError, "the bag has not enough tiles of kind 4")
    kernel.apply(state, [action], draws=[[5, -1, -1, -1, -1, -1]])
    assert 5 in state.racks[0, 0]


@pytest.mark.parametrize(
    ("seeds", "error"), [(-1, ValueError), (2**64, ValueError), (0.5, TypeError), ("a", TypeError)]
)
def test_seeds_are_checked(seeds: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="a seed must"):
        kernel.deal(Rules(), seeds)


def test_positions_are_checked() -> None:
    board = board_with(Rules(), {})
    for arguments, said in (
        ({"board": [0, 1, 2]}, r"board must have the shape \(1, 91\), not \(1, 3\)"),
        ({"board": board + 1}, "board must lie between -1 and 5, not between 0 and 6"),
        ({"scores": 19}, "scores must lie between 0 and 18, not between 19 and 19"),
        ({"racks": 21}, "racks must lie between -1 and 20"),
        ({"to_play": 2}, "to_play must lie between 0 and 1"),
        ({"phase": 4}, "phase must lie between 0 and 3"),
        ({"pending_bonus": -1}, "pending_bonus must lie between 0 and"),
        ({"bag": [-1] * 21}, "bag must lie between 0 and 255"),
        ({"racks": 0}, "bag must lie between 0 and 255, not between -7"),
    ):
        with pytest.raises(ValueError, match=said):
            kernel.position(Rules(), **{"board": board, **arguments})


def test_action_words_and_ids() -> None:
    for rules in (Rules(), Rules(1, "2004", "solo"), Rules(2, side=3, colors=3, rack=2)):
        for action in range(tables(rules).n_actions):
            assert encode(rules, decode(rules, action)) == action
    with pytest.raises(ValueError, match="actions run from 0 to 2881, not 2882"):
        decode(Rules(), 2882)
    with pytest.raises(ValueError, match="rack slots run from 0 to 5"):
        encode(Rules(), Place(6, (0, 0), (1, 0)))
    with pytest.raises(ValueError, match="not on a board of side 6"):
        encode(Rules(), Place(0, (6, 0), (5, 0)))
    with pytest.raises(ValueError, match="not neighbours"):
        encode(Rules(), Place(0, (0, 0), (2, 0)))
