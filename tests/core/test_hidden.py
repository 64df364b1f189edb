"""Hidden information: nobody is told what he may not know, and what he may know determines what is possible."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import genial_env
from genial_env import Rules, State, View, determinize, view
from genial_env.core import kernel
from genial_env.core.chance import bits
from genial_env.core.determinization import hidden_tiles
from genial_env.core.state import EMPTY, LEVELS, Phase
from genial_env.encodings import ENCODINGS, make_encoding
from genial_env.policies.decisions import decide
from genial_env.policies.registry import make_policy
from genial_env.policies.roster import COMPILED
from tests.positions import STANDARD, VARIANTS, board_with, every_rules, random_actions, random_play

pytestmark = pytest.mark.usefixtures("each_backend")

ALL = every_rules


def same_view(one: View, other: View) -> bool:
    names = [f.name for f in fields(View) if f.name != "rules"]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def swapping_play(rules: Rules, games: int, seed: int, steps: int) -> State:
    """Random play in which every swap that is offered is made."""
    state, rng = kernel.deal(rules, np.arange(seed, seed + games)), np.random.default_rng(seed)
    for _ in range(steps):
        live = np.flatnonzero(~state.over)
        actions = random_actions(state, live, rng)
        if rules.has_swap:
            actions = np.where(kernel.may_swap(state, live), state.tables.swap_action, actions)
        kernel.apply(state, actions, live)
    return state


@ALL
@pytest.mark.parametrize("steps", [0, 3, 15, 40])
def test_determinized_states_show_the_same_view(rules: Rules, steps: int) -> None:
    for play in (random_play, swapping_play):
        state = play(rules, games=30, seed=steps, steps=steps)
        for seat in range(rules.players):
            seen = view(state, seat)
            for rng in (np.random.default_rng(0), bits(3, np.arange(30))):
                possible = determinize(seen, rng)
                assert same_view(view(possible, seat), seen)
                held = kernel.count_kinds(possible.racks.reshape(30, -1), possible.tables.n_kinds)
                before = kernel.count_kinds(state.racks.reshape(30, -1), possible.tables.n_kinds)
                assert (possible.bag + held == state.bag + before).all()
                assert ((possible.racks != EMPTY).sum(axis=2) == (state.racks != EMPTY).sum(axis=2)).all()
                assert (possible.end == state.end).all()
                assert (possible.open == state.open).all()
                assert (possible.symbols_touched == state.symbols_touched).all()
                assert (possible.key != state.key).all()


def test_determinized_games_can_be_played() -> None:
    for rules in STANDARD:
        state = random_play(rules, games=20, seed=0, steps=12)
        possible = determinize(view(state), np.random.default_rng(1))
        rng = np.random.default_rng(2)
        while not possible.over.all():
            live = np.flatnonzero(~possible.over)
            kernel.apply(possible, random_actions(possible, live, rng), live)


def test_a_determinization_depends_on_its_own_bits_only() -> None:
    state = random_play(Rules(4, "2009"), games=12, seed=0, steps=20)
    seen, random = view(state), bits(1, np.arange(12))
    together = determinize(seen, random)
    for row in range(12):
        alone = determinize(seen.select(np.array([row])), random[[row]])
        assert all(np.array_equal(array[0], together.arrays()[name][row]) for name, array in alone.arrays().items())


def hidden_permuted(state: State, seat: np.ndarray, rng: np.random.Generator) -> State:
    """The same games with everything changed that the seat of each may not know: tiles, and the luck to come."""
    changed = determinize(view(state, seat), rng)
    changed.decisions[:] = state.decisions
    return changed


@ALL
def test_no_observation_mask_or_choice_depends_on_what_is_hidden(rules: Rules) -> None:
    rng = np.random.default_rng(0)
    for steps in (1, 11, 30):
        state = swapping_play(rules, games=25, seed=1, steps=steps)
        for seat in range(rules.players):
            changed = hidden_permuted(state, np.full(25, seat), rng)
            one, other = view(state, seat), view(changed, seat)
            assert (one.mask() == other.mask()).all()
            for name in ENCODINGS:
                first, second = (make_encoding(name).encode(seen) for seen in (one, other))
                assert all(np.array_equal(array, second[field]) for field, array in first.items())
            assert genial_env.describe(one) == genial_env.describe(other)
        live = np.flatnonzero(~state.over)
        mover = state.to_play[live]
        changed = hidden_permuted(state.select(live), mover, rng)
        for name in COMPILED:
            random, policy = bits(9, live), make_policy(name)
            chosen = policy(view(state, rows=live), random)
            assert (chosen == policy(view(changed), random)).all()
            assert (chosen == decide(policy, state, live, random)).all()
            assert (chosen == decide(policy, changed, np.arange(len(live)), random)).all()


# What swaps tell


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([r for r in STANDARD + VARIANTS if r.has_swap]), st.integers(0, 10_000), st.integers(1, 60))
def test_the_true_racks_are_always_possible(rules: Rules, seed: int, steps: int) -> None:
    """Whoever looks: each return left at least one tile in the bag besides those in the slots filled before it."""
    state = swapping_play(rules, games=8, seed=seed, steps=steps)
    rows = np.arange(len(state))[:, None, None]
    for seat in range(rules.players):
        hidden = hidden_tiles(view(state, seat))
        others = (seat + np.arange(1, rules.players)) % rules.players
        ages = state.returned[:, others].sum(axis=3, dtype=np.int64)
        order = np.argsort(-ages, axis=2, kind="stable")
        held = state.racks[rows, others[:, None], order].reshape(len(state), -1)
        holds = (held[:, :, None] == np.arange(state.tables.n_kinds))[..., None]
        older = hidden.returned[..., None] > np.arange(LEVELS)
        assert ((holds & older).sum(axis=1) < hidden.levels).all(where=older.any(axis=1))


def swap_position(rules: Rules, own: list[int], swapped: list[int]) -> State:
    """Seat 0 has just laid its tile and may swap the rack `swapped`; seat 1 holds `own`."""
    racks = np.full((1, rules.players, rules.rack), EMPTY)
    racks[0, 0, : len(swapped)] = swapped
    racks[0, 1, : len(own)] = own
    scores = np.full((1, rules.tracks, rules.colors), 5)
    scores[0, :, 0] = 0
    board = board_with(rules, {})
    return kernel.position(rules, board, racks=racks, scores=scores, phase=Phase.SWAP, seeds=1)


def test_a_rack_drawn_in_a_swap_holds_none_of_the_tiles_set_aside() -> None:
    """All tiles of a kind are put back: so whoever drew before them cannot hold one."""
    rules = Rules(2, side=4, colors=3, rack=3)
    kinds = tables_kinds(rules)
    green = kinds["GG"]
    state = swap_position(rules, own=[0, 0, 0], swapped=[green, green, kinds["BG"]])
    state.bag[0, green] = 0  # the others are on the board
    kernel.apply(state, [state.tables.swap_action])
    assert state.bag[0, green] == 2
    seen = view(state, 1)
    assert seen.returned[0, 1, :, green].tolist() == [2, 2, 2]
    many = seen.select(np.zeros(2000, dtype=np.int64))
    assert (determinize(many, np.random.default_rng(0)).racks[:, 0] != green).all()
    # Seat 1 plays and draws, then seat 0: its new tile may be green, the two older ones may not.
    state.bag[0] = 0
    state.bag[0, green] = 2
    for _ in range(2):
        mask = kernel.legal(state)[0]
        kernel.apply(state, [int(np.flatnonzero(mask[: state.tables.swap_action])[0])])
        if state.phase[0] == Phase.SWAP:
            kernel.apply(state, [state.tables.decline_action])
    drawn = int((state.racks[0, 0] == green).sum())
    assert drawn == 1


def tables_kinds(rules: Rules) -> dict[str, int]:
    names = {
        genial_env.core.actions.tile_name(rules, kind): kind for kind in range(rules.colors * (rules.colors + 1) // 2)
    }
    return names | {name[::-1]: kind for name, kind in names.items()}


def chi_square(found: np.ndarray, expected: np.ndarray) -> float:
    return float(((found - expected) ** 2 / expected).sum())


def limit(degrees: int) -> float:
    """Exceeded with a probability of about 0.0002 where all is well."""
    return degrees + 4 * np.sqrt(2 * degrees)


def test_determinized_racks_are_those_that_real_play_deals() -> None:
    """Games in which nobody's choice depends on a rack (first slot, first placement, no swap): what seat 1 then holds
    is distributed, kind by kind, as the determinizations of what seat 0 sees.
    """
    rules, games = Rules(2, side=4, colors=3, rack=3), 4000
    state = kernel.deal(rules, np.arange(games))
    for _ in range(5):
        live = np.flatnonzero(~state.over)
        mask = kernel.legal(state, live)
        actions = np.where(kernel.may_swap(state, live), state.tables.decline_action, mask.argmax(axis=1))
        kernel.apply(state, actions, live)
    live = np.flatnonzero(~state.over & (state.phase != Phase.SWAP))
    seen = view(state, 0, live)
    true = kernel.count_kinds(state.racks[live, 1], state.tables.n_kinds).sum(axis=0)
    rounds = 20
    dealt = np.zeros(state.tables.n_kinds)
    for number in range(rounds):
        possible = determinize(seen, np.random.default_rng(number))
        dealt += kernel.count_kinds(possible.racks[:, 1], state.tables.n_kinds).sum(axis=0) / rounds
    assert chi_square(true, dealt) < limit(len(dealt) - 1)


def test_luck_to_come_is_new_and_differs() -> None:
    seen = view(kernel.deal(Rules(), 0)).select(np.zeros(50, dtype=np.int64))
    possible = determinize(seen, np.random.default_rng(0))
    assert len({key.tobytes() for key in possible.key}) == 50
    assert len({rack.tobytes() for rack in possible.racks[:, 1]}) == 50


def test_what_is_no_randomness() -> None:
    seen = view(kernel.deal(Rules(), [0, 1]))
    for rng in (3, None, np.zeros(2), np.zeros(3, dtype=np.uint64)):
        with pytest.raises(
            TypeError, match=r"rng must be a numpy Generator or uint64 random bits of shape \(2,\), not"
        ):
            determinize(seen, rng)  # type: ignore[arg-type]


def test_an_impossible_view_is_refused() -> None:
    seen = view(kernel.deal(Rules(), 0))
    seen.unseen[:] = 0
    with pytest.raises(ValueError, match="no state agrees with the view of game 0"):
        determinize(seen, np.random.default_rng(0))


# For a person


def test_describe() -> None:
    state = random_play(Rules(3), games=2, seed=0, steps=9)
    text = genial_env.describe(view(state, 1))
    first, second = text.split("\n\n\n")
    assert "seat 1" in first
    assert first != second
    assert "rack 0  ?? ?? ?? ?? ?? ??" in first
    own = next(line for line in first.splitlines() if line.startswith("rack 1"))
    assert "?" not in own
    assert "unseen" in first
    assert "\x1b" not in text
