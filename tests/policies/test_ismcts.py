"""The tree search: it is a policy, it is the same by either backend, its settings work, and it sees what it must."""

from typing import Any

import numpy as np
import pytest

from genial_env import Rules, State, View, play, use_backend, view
from genial_env.core import kernel
from genial_env.core.actions import tile_kind
from genial_env.core.chance import bits
from genial_env.core.state import End
from genial_env.policies import ismcts
from genial_env.policies.concave import ConcavePolicy
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.heuristic import HeuristicPolicy
from genial_env.policies.ismcts import ISMCTS, compute_payoffs
from genial_env.policies.ismcts_tree import Tree, TreeSettings
from genial_env.testing import check_policy
from tests.conftest import needs_numba
from tests.positions import board_with, every, markers, random_play

SMALL = Rules(side=4, colors=4, rack=3)
SOLO = Rules(1, "2004", "solo")
TEAMS = Rules(4, "2004", "team")
SEED = np.uint64(7)


def middle(rules: Rules, steps: int = 12, seed: int = 3) -> View:
    """What the seat to play sees in the middle of a game."""
    return view(random_play(rules, games=1, seed=seed, steps=steps))


FEW_COLORS = Rules(3, "2009", side=4, colors=4)


@every("rules", [Rules(), Rules(3), Rules(4), TEAMS, SOLO, Rules(2, "2009"), SMALL, FEW_COLORS], [SOLO, TEAMS, SMALL])
def test_it_is_a_policy(rules: Rules) -> None:
    check_policy(ISMCTS(playouts=12, batch_size=6), rules)


@needs_numba
@pytest.mark.parametrize("rules", [Rules(), Rules(3, "2009"), TEAMS, SOLO, SMALL], ids=str)
def test_both_backends_grow_the_same_tree(rules: Rules) -> None:
    agent = ISMCTS(playouts=70, batch_size=32)
    for steps in (2, 15):
        trees = []
        for backend in ("numpy", "numba"):
            with use_backend(backend):
                trees.append(agent.search(middle(rules, steps), SEED))
        one, other = trees
        assert (one.root_moves == other.root_moves).all()
        assert (one.visits == other.visits).all()
        assert (one.values == other.values).all()
        assert one.size == other.size


def test_every_playout_is_counted() -> None:
    tree = ISMCTS(playouts=150, batch_size=64).search(middle(Rules()), SEED)
    assert tree.visits.sum() == 150
    assert (tree.values[tree.visits > 0] <= 1).all()
    assert len(set(tree.root_moves.tolist())) == len(tree.root_moves)
    assert len(tree.root_moves) == 168  # there are more


def test_root_moves_are_all_there_are_and_no_two_the_same() -> None:
    """Twin tiles and the two ways to lay a double count once."""
    seen = middle(SMALL, steps=2)
    seen.rack[0] = [tile_kind(SMALL, "RR"), tile_kind(SMALL, "RG"), tile_kind(SMALL, "RG")]
    tree = Tree(seen, DenialPolicy(), TreeSettings())
    n = int(seen.placements.sum())
    assert len(tree.root_moves) == min(n + n // 2, 168)
    values = DenialPolicy().values(seen)[0]
    kind, placement = np.divmod(tree.root_moves, seen.tables.n_placements)
    in_order = values[(seen.rack[0] == kind[:, None]).argmax(axis=1), placement]
    assert (np.diff(in_order) <= 0).all()


def test_one_move_is_answered_at_once() -> None:
    rules = Rules(side=3, colors=2, rack=2)
    board = board_with(rules, {})
    free = np.flatnonzero(board < 0)
    pair = next(p for p in view(kernel.deal(rules, 0)).tables.placements if set(p) <= set(free))
    board[np.setdiff1d(free, pair)] = 0
    kinds = [tile_kind(rules, "RR"), tile_kind(rules, "RR")]
    seen = view(kernel.position(rules, board, racks=kinds, bag=np.full(3, 9), any_tiles=True))
    agent = ISMCTS(playouts=10**9)
    assert agent.search(seen, SEED).visits.sum() == 0
    assert seen.mask()[0, agent(seen, np.array([SEED]))[0]]


# Time


@pytest.mark.parametrize("budget_s", [1e-9, 0.15])
def test_a_budget_is_kept(budget_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock on which a descent takes a millisecond, and nothing else takes any time."""
    now, run_batch = 0.0, ISMCTS._run_batch

    def taking_time(agent: ISMCTS, tree: Any, seen: View, random: Any) -> None:
        nonlocal now
        run_batch(agent, tree, seen, random)
        now += 0.001 * len(random)

    monkeypatch.setattr(ISMCTS, "_run_batch", taking_time)
    monkeypatch.setattr(ismcts, "perf_counter", lambda: now)
    seen = middle(Rules())
    action = ISMCTS(budget_s=budget_s)(seen, bits(0, [0]))
    assert now == pytest.approx(budget_s, abs=0.008 if budget_s < 0.01 else 0.002)
    assert seen.mask()[0, action[0]]


def test_without_time_it_plays_what_its_prior_likes() -> None:
    seen = middle(Rules())
    tree = ISMCTS(budget_s=1e-9, prior=ConcavePolicy()).search(seen, SEED)
    assert tree.visits.sum() == 0
    slot = int((seen.rack[0] == tree.best_move() // seen.tables.n_placements).argmax())
    values = np.where(seen.slots[0][:, None] & seen.placements[0], ConcavePolicy().values(seen)[0], np.int32(-(10**6)))
    assert values[slot, tree.best_move() % seen.tables.n_placements] == values.max()


# Settings


@pytest.mark.parametrize(
    "setting",
    [
        {"exploration": 3.0},
        {"widening": 9.0},
        {"exponent": 0.9},
        {"prior_weight": 0.0},
        {"prior_visits": 0.0},
        {"depth": 1},
        {"batch_size": 16},
        {"margin": 1.0},
        {"prior": ConcavePolicy()},
        {"playout": "random"},
    ],
    ids=lambda setting: next(iter(setting)),
)
def test_a_setting_takes_effect(setting: dict[str, Any]) -> None:
    seen = middle(Rules(), steps=8)
    before, after = (ISMCTS(playouts=192, **settings).search(seen, SEED) for settings in ({}, setting))
    assert not np.array_equal(before.visits, after.visits) or before.size != after.size


def test_depth_one_has_no_tree() -> None:
    seen = middle(Rules(), steps=8)
    flat, deep = (ISMCTS(playouts=256, depth=depth).search(seen, SEED) for depth in (1, 3))
    tried = int((flat.visits > 0).sum())
    assert 1 + tried <= flat.size <= 1 + 2 * tried  # a move is followed by a swap or by the other seat
    assert deep.size > 1 + 2 * tried


def test_widening_bounds_what_is_considered() -> None:
    seen = middle(Rules(), steps=8)
    narrow = ISMCTS(playouts=128, widening=3, exponent=0).search(seen, SEED)
    assert (narrow.visits[:3] > 0).all()
    assert narrow.visits[3:].sum() == 0


# Play


class Blind(HeuristicPolicy):
    """Thinks all placements alike."""

    name = "blind"

    def marker_values(self, rules: Rules) -> np.ndarray:
        return np.zeros(rules.top + 1, dtype=np.int16)


def nearly_won(rules: Rules) -> State:
    """Red at 17, everything else at the top: any red point wins."""
    return kernel.position(
        rules,
        board_with(rules, {}),
        scores=np.stack([markers(rules, {"R": 17}, rest=18), markers(rules, {}, rest=17)])[None],
        racks=[[[tile_kind(rules, "RG")] * 3, [tile_kind(rules, "BO")] * 3]],
    )


def test_an_immediate_win_is_found() -> None:
    state = nearly_won(SMALL)
    agent = ISMCTS(playouts=600, prior=Blind(), widening=200)
    kernel.apply(state, agent(view(state), bits(0, [0])))
    assert state.end[0] == End.ALL_AT_TOP


def test_it_beats_random_players() -> None:
    agent = ISMCTS(playouts=16, batch_size=16)
    for seat, roster in enumerate(([agent, "random"], ["random", agent])):
        assert (play(roster, games=10, seed=1).ranks[:, seat] == 1).all()


# Payoffs


def test_payoffs_are_ranks_from_0_to_1() -> None:
    state = kernel.position(SMALL, board_with(SMALL, {}), scores=[[[1, 2, 3, 4], [4, 3, 2, 2]]])
    assert compute_payoffs(state).tolist() == [[0, 1]]
    shared = kernel.position(SMALL, board_with(SMALL, {}), scores=[[[1, 2, 3, 4], [4, 3, 2, 1]]])
    assert compute_payoffs(shared).tolist() == [[0.5, 0.5]]
    assert compute_payoffs(state, margin=1.0).sum() == pytest.approx(1)
    assert 0 < compute_payoffs(state, margin=1.0)[0, 0] < 0.5


def test_solo_is_paid_by_the_lowest_marker_first() -> None:
    boards = np.stack([board_with(SOLO, {})] * 3)
    scores = [[markers(SOLO, {"R": 3}, rest=36)], [markers(SOLO, {"R": 4}, rest=4)], [markers(SOLO, {"R": 4}, rest=5)]]
    worth = compute_payoffs(kernel.position(SOLO, boards, scores=scores, racks=0))[:, 0]
    assert 0 < worth[0] < worth[1] < worth[2] < 1


# Errors


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"playouts": 5, "budget_s": 1.0}, r"not both: 5 and 1\.0"),
        ({"playouts": 0}, "playouts must be 1 to 1000000000, not 0"),
        ({"budget_s": 0.0}, r"budget_s must be above 0, not 0\.0"),
        ({"budget_s": float("nan")}, "budget_s must be finite and above 0, not nan"),
        ({"playouts": 5, "exploration": -1}, "exploration must be at least 0, not -1"),
        ({"playouts": 5, "widening": 0}, "widening must be above 0, not 0"),
        ({"playouts": 5, "exponent": 1.5}, r"exponent must be 0 to 1, not 1\.5"),
        ({"playouts": 5, "prior_weight": -2}, "prior_weight must be at least 0, not -2"),
        ({"playouts": 5, "prior_visits": -1}, "prior_visits must be at least 0, not -1"),
        ({"playouts": 5, "depth": 0}, "depth must be 1 to 10000, not 0"),
        ({"playouts": 5, "margin": 2}, "margin must be 0 to 1, not 2"),
        ({"playouts": 5, "playout": "clever"}, "unknown agent 'clever'"),
    ],
)
def test_what_is_wrong_is_said(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ISMCTS(**wrong)


@pytest.mark.parametrize(("name", "value"), [("playouts", 2.5), ("batch_size", True), ("exploration", "1")])
def test_settings_of_another_type(name: str, value: object) -> None:
    with pytest.raises(TypeError, match=f"{name} must be a .*number, not {value!r}"):
        ISMCTS(**{name: value})  # type: ignore[arg-type]


def test_a_prior_must_put_values_on_placements() -> None:
    with pytest.raises(TypeError, match="prior must be a HeuristicPolicy or the name of one, not 'random'"):
        ISMCTS(playouts=5, prior="random")
