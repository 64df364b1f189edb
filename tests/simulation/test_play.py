"""Views, the package's own policies, and games between policies."""

import numpy as np
import pytest

import genial_env
from genial_env import IllegalAction, Rules, State, View, play, playouts, view
from genial_env.core import kernel
from genial_env.core.bitsets import pack
from genial_env.core.chance import bits
from genial_env.core.state import Phase
from genial_env.encodings import ENCODINGS, make_encoding
from genial_env.policies.concave import ConcavePolicy
from genial_env.policies.greedy import GreedyPolicy
from genial_env.policies.marker_gains import effective_points
from genial_env.policies.registry import make_policy
from genial_env.policies.uniform import RandomPolicy, pick_uniformly
from tests.positions import board_with, every_rules, markers, random_play, same

pytestmark = pytest.mark.usefixtures("each_backend")

ALL = every_rules


@ALL
def test_views_show_what_a_seat_may_know(rules: Rules) -> None:
    state = random_play(rules, games=8, seed=0, steps=15)
    for seat in range(rules.players):
        seen = view(state, seat)
        assert (seen.board == state.board).all()
        assert (seen.rack == state.racks[:, seat]).all()
        assert (seen.scores[:, 0] == state.scores[:, seat % rules.tracks]).all()
        assert (seen.scores[:, -1] == state.scores[:, (seat - 1) % rules.tracks]).all()
        others = np.delete(state.racks, seat, axis=1).reshape(8, -1)
        assert (seen.unseen == state.bag + kernel.count_kinds(others, seen.tables.n_kinds)).all()
        own_turn = state.to_play == seat
        assert (seen.mask() == kernel.legal(state) * own_turn[:, None]).all()
        assert ((seen.to_play == 0) == own_turn).all()
        assert (seen.rack_sizes[:, 0] == (seen.rack >= 0).sum(axis=1)).all()


@ALL
def test_what_is_hidden_changes_neither_views_nor_choices(rules: Rules) -> None:
    """Tiles permuted between the bag and the others' racks."""
    state = random_play(rules, games=30, seed=1, steps=11)
    hidden = state.copy()
    rng = np.random.default_rng(0)
    for row in range(len(state)):
        mover = int(state.to_play[row])
        others = [seat for seat in range(rules.players) if seat != mover]
        held = state.racks[row, others]
        pool = np.concatenate([np.repeat(np.arange(len(state.bag[row])), state.bag[row]), held[held >= 0]])
        rng.shuffle(pool)
        count = (held >= 0).sum()
        held[held >= 0] = pool[:count]
        hidden.racks[row, others] = held
        hidden.bag[row] = np.bincount(pool[count:], minlength=len(state.bag[row]))
    live = np.flatnonzero(~state.over)
    one, other = view(state, rows=live), view(hidden, rows=live)
    for name, value in vars(one).items():
        assert np.array_equal(value, getattr(other, name)), name
    for policy in (RandomPolicy(), GreedyPolicy()):
        random = bits(9, live)
        assert (policy(one, random) == policy(other, random)).all()


@ALL
def test_no_games_at_all_are_fine(rules: Rules) -> None:
    """Empty batches go through everything, as they do when the last game of a batch has ended."""
    state, none = kernel.deal(rules, [3]), np.array([], dtype=np.int64)
    seen = view(state, rows=none)
    assert seen.mask().shape == kernel.legal(state, none).shape == (0, seen.tables.n_actions)
    for policy in (RandomPolicy(), GreedyPolicy()):
        kernel.apply(state, policy(seen, none.astype(np.uint64)), none)
    for encoding in ENCODINGS:
        fields = make_encoding(encoding).fields(rules)
        arrays = make_encoding(encoding).encode(seen)
        assert {name: array.shape for name, array in arrays.items()} == {n: (0, *f.shape) for n, f in fields.items()}


@ALL
def test_views_are_copies(rules: Rules) -> None:
    state = random_play(rules, games=4, seed=2, steps=6)
    before, seen = state.copy(), view(state)
    for value in vars(seen).values():
        if isinstance(value, np.ndarray):
            value[...] = 1
    assert all(np.array_equal(value, before.arrays()[name]) for name, value in state.arrays().items())


def test_random_is_uniform_over_the_mask() -> None:
    """A bonus decision of 2009: a few placements and declining (chi-square)."""
    rules = Rules(2, "2009", side=3, colors=3, rack=3)
    state = kernel.position(rules, board_with(rules, {(0, 0): 0, (1, 0): 1, (0, 1): 2, (-1, 0): 0}), scores=5)
    state.racks[0, 0] = [0, -1, 3]
    state.phase[0], state.pending_bonus[0] = Phase.BONUS, 1
    n = 40_000
    seen = view(state, rows=np.zeros(n, dtype=np.int64))
    chosen = np.bincount(RandomPolicy()(seen, bits(1, np.arange(n))), minlength=seen.tables.n_actions)
    mask = seen.mask()[0]
    assert chosen[~mask].sum() == 0
    expected = n / mask.sum()
    degrees = mask.sum() - 1
    assert ((chosen[mask] - expected) ** 2 / expected).sum() < degrees + 4 * np.sqrt(2 * degrees)


def best_by_hand(seen: View) -> set[int]:
    """The greedy actions, counted for every placement of the mask."""
    t, own = seen.tables, seen.scores[0, 0].astype(int)
    actions = np.flatnonzero(seen.mask()[0, : t.swap_action])
    slots, placements = np.divmod(actions, t.n_placements)
    points = np.zeros((len(actions), seen.rules.colors), dtype=int)
    for half in (0, 1):
        colors = t.kinds[seen.rack[0, slots], half]
        points[np.arange(len(actions)), colors] += seen.points[0, t.placements[placements, half], colors]
    room = [next((stop for stop in seen.rules.stops if stop > marker), marker) - marker for marker in own]
    values = np.minimum(points, room).sum(axis=1)
    return set(actions[values == values.max()].tolist())


@ALL
def test_greedy_takes_the_most_points_that_move_a_marker(rules: Rules) -> None:
    state = kernel.deal(rules, np.arange(12))
    policy, counter = GreedyPolicy(), 0
    while not state.over.all():
        live = np.flatnonzero(~state.over)
        actions = policy(view(state, rows=live), bits(counter, live))
        for row, action in list(zip(live.tolist(), actions.tolist(), strict=True))[:3]:
            seen = view(state, rows=np.array([row]))
            expected = {seen.tables.swap_action} if state.phase[row] == Phase.SWAP else best_by_hand(seen)
            assert action in expected
        kernel.apply(state, actions, live)
        counter += 1


def test_greedy_counts_a_double_once_up_to_the_stop() -> None:
    rules = Rules()
    board = board_with(rules, {(-1, 0): 0, (-2, 0): 1, (0, -1): 0, (1, -1): 0, (2, 0): 0, (3, 0): 1})
    state = kernel.position(
        rules, board, scores=[[markers(rules, {"R": 16}), [0] * 6]], racks=[[[0] * 4 + [-1] * 2, [-1] * 6]]
    )
    assert effective_points(view(state)).max() == 2


def test_equal_choices_are_drawn_by_lot() -> None:
    state = kernel.deal(Rules(), 0)
    seen = view(state, rows=np.zeros(3000, dtype=np.int64))
    chosen = GreedyPolicy()(seen, bits(0, np.arange(3000)))
    assert set(chosen.tolist()) == best_by_hand(view(state))


@ALL
def test_play(rules: Rules) -> None:
    """A game is the same in a batch of any size, and whoever else is played."""
    agents = ["greedy", "random", "greedy", "random"][: rules.players]
    whole = play(agents, rules, games=8, seed=4, record=True)
    parts = play(agents, rules, games=8, seed=4, batch=3, record=True)
    assert whole.records == parts.records
    assert (whole.scores == parts.scores).all()
    assert (whole.ranks == genial_env.ranks(whole.scores)).all()
    assert play(agents, rules, games=3, seed=4, record=True).records == whole.records[:3]


def test_greedy_beats_random() -> None:
    results = play(["random", "greedy"], games=200, seed=1)
    assert (results.ranks[:, 1] == 1).mean() > 0.95


def test_a_seat_draws_the_same_luck_whoever_plays() -> None:
    """Duplicate deals: the racks before the first move are equal, and so is the first draw while the bag is."""
    one, other = (
        play([a, b], games=10, seed=2, record=True).records for a, b in (("random", "greedy"), ("greedy", "random"))
    )
    assert [game["deal"] for game in one] == [game["deal"] for game in other]
    assert [game["events"][1] for game in one] == [game["events"][1] for game in other]


class Stubborn:
    """Always plays action 0."""

    name = "stubborn"

    def __call__(self, view: View, random: np.ndarray) -> np.ndarray:
        return np.zeros(len(view), dtype=np.int64)


def test_play_refuses() -> None:
    with pytest.raises(ValueError, match="unknown agent 'gredy': the agents are random, greedy"):
        play(["gredy", "random"])
    with pytest.raises(ValueError, match="2 seats need 2 policies, not 1"):
        play(["random"])
    with pytest.raises(ValueError, match="games must be at least 1, not 0"):
        play(["random", "random"], games=0)
    with pytest.raises(TypeError, match=r"expected a list of agents, .*, not 'greedy'"):
        play("greedy", games=2)
    with pytest.raises(TypeError, match="a callable with a name"):
        make_policy(3)  # type: ignore[arg-type]
    with pytest.raises(IllegalAction, match="illegal action 0"):
        play([Stubborn(), "random"])


def test_pick_uniformly_needs_no_mask() -> None:
    state: State = random_play(Rules(), games=50, seed=0, steps=20)
    live = np.flatnonzero(~state.over)
    seen = view(state, rows=live)
    chosen = pick_uniformly(
        seen.tables, seen.slots, pack(seen.placements), seen.may_swap, seen.may_decline, bits(0, live)
    )
    assert seen.mask()[np.arange(len(live)), chosen].all()


class TestPlayouts:
    def test_they_start_from_the_position_and_leave_it(self) -> None:
        state = random_play(Rules(), games=5, seed=0, steps=30)
        before = state.copy()
        found = playouts(state, "greedy", 7, seed=1)
        assert same(before, state)
        assert found.scores.shape == (5, 7, 2, 6)
        assert found.ranks.shape == (5, 7, 2)
        assert (found.scores >= state.scores[:, None]).all()
        assert (found.decisions > 0).all()

    def test_they_differ_in_luck_and_follow_from_the_seed(self) -> None:
        state = kernel.deal(Rules(), [0])
        found = playouts(state, "concave", 50, seed=1)
        assert len({scores.tobytes() for scores in found.scores[0]}) == 50
        assert (found.scores == playouts(state, "concave", 50, seed=1, batch=3).scores).all()
        assert (found.scores != playouts(state, "concave", 50, seed=2).scores).any()

    def test_a_game_over_stays_as_it_is(self) -> None:
        state = random_play(Rules(), games=3, seed=0, steps=200)
        found = playouts(state, "random", 2)
        assert (found.scores == state.scores[:, None]).all()
        assert not found.decisions.any()

    def test_policies_one_a_seat_and_of_ones_own(self) -> None:
        state = kernel.deal(Rules(), range(40))
        found = playouts(state, ["denial", "random"], 5)
        assert (found.ranks[:, :, 0] == 1).mean() > 0.97
        assert playouts(state, [ConcavePolicy(4.0), _first_action], 1).scores.shape == (40, 1, 2, 6)

    def test_what_they_cannot_take(self) -> None:
        state = kernel.deal(Rules(), [0])
        for arguments, said in (
            ({"policy": "strong", "n": 1}, "unknown agent 'strong': the agents are random, greedy, concave, denial"),
            ({"policy": ["random"], "n": 1}, "2 seats need 2 policies, not 1"),
            ({"policy": "random", "n": 0}, "n must be at least 1, not 0"),
            ({"policy": "random", "n": 1, "batch": 0}, "batch must be at least 1, not 0"),
            ({"policy": "random", "n": 1, "backend": "cuda"}, "unknown backend 'cuda': the backends are numpy, numba"),
        ):
            with pytest.raises(ValueError, match=said):
                playouts(state, **arguments)


class _FirstAction:
    name = "first"

    def __call__(self, view: View, random: np.ndarray) -> np.ndarray:
        return view.mask().argmax(axis=1)


_first_action = _FirstAction()
