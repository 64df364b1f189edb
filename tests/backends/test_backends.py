"""The compiled backend plays the same games as numpy, bit for bit, and everything works without numba."""

from typing import Any

import numpy as np
import pytest

from genial_env import Backend, IllegalAction, Rules, State, play, playouts, use_backend, view
from genial_env.core import kernel
from genial_env.core.chance import bits, game_seeds
from genial_env.core.state import Phase
from genial_env.core.views import View
from genial_env.policies.afterstates.choices import rank_placements
from genial_env.policies.base import NONE
from genial_env.policies.decisions import choice_keys, decide
from genial_env.policies.denial import DenialPolicy
from genial_env.policies.heuristic import HalfWeights, HeuristicPolicy
from genial_env.policies.registry import make_policy
from genial_env.policies.roster import COMPILED
from tests.conftest import needs_numba
from tests.positions import ONE_BONUS, STANDARD, VARIANTS, every, every_rules, near_stops, random_play, same

ALL = STANDARD + VARIANTS
POLICIES = [*COMPILED, "convex"]


class Convex(HeuristicPolicy):
    """Worths as no sensible policy has them: a double can be worth more than its halves."""

    name = "convex"

    def weights(self, rules: Rules) -> HalfWeights:
        return HalfWeights(-3, 1, 20, -11, 2, 5)

    def marker_values(self, rules: Rules) -> np.ndarray:
        return (np.arange(rules.top + 1) ** 2 % 97).astype(np.int16)


def policy(name: str) -> Any:
    return Convex() if name == "convex" else name


@needs_numba
@every_rules
def test_a_hundred_thousand_games(rules: Rules) -> None:
    """5,000 random games of each of twenty sets of rules, every array of the states compared after every decision."""
    seeds = game_seeds(7, -(-100_000 // len(ALL)))
    keys = choice_keys(seeds, rules.players)
    one, other = kernel.deal(rules, seeds, backend="numpy"), kernel.deal(rules, seeds, backend="numba")
    random = make_policy("random")
    live = np.arange(len(seeds))
    while live.size:
        luck = bits(keys[live, one.to_play[live]], one.decisions[live])
        actions = decide.numpy(random, one, live, luck)
        kernel.apply(one, actions, live, backend="numpy")
        assert (decide.on("numba")(random, other, live, luck) == actions).all()
        kernel.apply(other, actions, live, backend="numba")
        assert same(one, other)
        live = live[~one.over[live]]


@needs_numba
@pytest.mark.parametrize("name", POLICIES)
@every_rules
def test_policies_choose_alike(rules: Rules, name: str) -> None:
    """In games among all of them, so that each meets the others' positions."""
    roster = [policy(other) for other in (name, *POLICIES)][: rules.players]
    found = [play(roster, rules, 30, seed=3, backend=backend) for backend in ("numpy", "numba")]
    for field in ("scores", "ranks", "decisions"):
        assert (getattr(found[0], field) == getattr(found[1], field)).all()


@needs_numba
@pytest.mark.parametrize("steps", [0, 14])
@pytest.mark.parametrize("rules", [Rules(), Rules(one_bonus_a_tile=True), ONE_BONUS], ids=str)
def test_markers_about_to_arrive_are_valued_alike(rules: Rules, steps: int) -> None:
    """By policies that count arrivals, in the first turn too; and by the order in which searches try placements."""
    state = near_stops(rules, games=300, seed=steps, steps=steps)
    state = state.select(np.flatnonzero(state.phase <= Phase.BONUS))
    seen, everything = view(state), np.arange(len(state))
    for counted in (0, 20, 50):
        chooser = DenialPolicy(arrival=counted)
        found = [decide.on(backend)(chooser, state, everything, bits(7, everything)) for backend in ("numpy", "numba")]
        assert (found[0] == found[1]).all()
        orders = [np.full((len(state), 40), NONE) for _ in range(2)]
        for backend, order in zip(("numpy", "numba"), orders, strict=True):
            rank_placements.on(backend)(seen, chooser, order)
        assert (orders[0] == orders[1]).all()


@needs_numba
@every_rules
def test_views_observations_and_masks_are_alike(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    from genial_env._compiled import handover

    monkeypatch.setattr(handover, "FEWEST", 1)
    for steps in (0, 7, 30, 200):
        state = random_play(rules, games=40, seed=steps, steps=steps)
        assert same(State.from_arrays(rules, state.arrays()), state)
        for seat in range(rules.players):
            with use_backend("numpy"):
                seen = view(state, seat)
                expected = {**vars(seen), "mask": seen.mask(), **_encoded(seen)}
            for backend in ("numba", Backend("numba", 3)):
                with use_backend(backend):
                    seen = view(state, seat)
                    found = {**vars(seen), "mask": seen.mask(), **_encoded(seen)}
                for name, array in expected.items():
                    if name != "rules":
                        assert array.dtype == found[name].dtype, name
                        assert np.array_equal(array, found[name]), name


def _encoded(seen: View) -> dict[str, Any]:
    from genial_env.encodings import ENCODINGS

    return {
        f"{name} {field}": array
        for name, encoding in ENCODINGS.items()
        for field, array in encoding().encode(seen).items()
    }


@needs_numba
@every("threads", [1, 2, 3, 8], [3])
def test_threads_change_nothing(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from genial_env._compiled import handover

    monkeypatch.setattr(handover, "FEWEST", 1)
    rules, backend = Rules(3, "2009"), Backend("numba", threads)
    state = random_play(rules, games=101, seed=1, steps=20)
    expected = playouts(state, "denial", 3, seed=5, backend="numpy")
    found = playouts(state, "denial", 3, seed=5, backend=backend, batch=37)
    assert (expected.scores == found.scores).all()
    assert (expected.decisions == found.decisions).all()
    one, other = state.copy(), state.copy()
    live = np.flatnonzero(~state.over)
    actions = kernel.legal(state, live, backend="numpy").argmax(axis=1)
    assert (kernel.is_legal(state, actions, live, backend=backend)).all()
    kernel.apply(one, actions, live, backend="numpy")
    kernel.apply(other, actions, live, backend=backend)
    assert same(one, other)
    live = np.flatnonzero(~other.over)
    actions = kernel.legal(other, live, backend="numpy").argmax(axis=1)
    actions[[40, 70]] = -1
    with pytest.raises(IllegalAction, match=f"in game {live[40]}"):
        kernel.apply(other, actions, live, backend=backend)
    kernel.redeal(one, np.arange(5, 60), np.arange(55), backend="numpy")
    kernel.redeal(other, np.arange(5, 60), np.arange(55), backend=backend)
    assert same(one, other)


@needs_numba
def test_errors_are_alike_and_change_nothing() -> None:
    state = random_play(Rules(), games=4, seed=0, steps=60)
    state = State.concat([kernel.deal(Rules(), [0, 1]), state])
    for action in (-1, 0, 2880, 2881, 2882, 10**12):
        actions, said = np.full(len(state), action), []
        for backend in ("numpy", "numba"):
            before = state.copy()
            with pytest.raises(IllegalAction) as error:
                kernel.apply(state, actions, backend=backend)
            assert same(before, state)
            said.append(str(error.value))
        assert said[0] == said[1]
    for rows in ([0, 9], [-1], [0.5], [[0]]):
        for backend in ("numpy", "numba"):
            with pytest.raises(IndexError, match="rows must"):
                kernel.legal(state, np.array(rows), backend=backend)
            with pytest.raises(IndexError, match="rows must"):
                view(state, rows=np.array(rows), backend=backend)
    for backend in ("numpy", "numba"):
        with pytest.raises(ValueError, match="seats run from 0 to 1, not 2 to 2"):
            view(state, 2, backend=backend)
        with pytest.raises(ValueError, match=r"shape \(6,\), not \(2,\)"):
            kernel.is_legal(state, np.zeros(2, dtype=int), np.arange(6), backend=backend)
        with pytest.raises(ValueError, match=r"boards must have the shape \(B, 91\), not \(6, 90\)"):
            kernel.recount_points(Rules(), state.board[:, 1:], backend=backend)
        with pytest.raises(ValueError, match="one for each of 2 rows, not 3"):
            kernel.redeal(state, np.arange(2), [1, 2, 3], backend=backend)
        with pytest.raises(ValueError, match="out must be a C-contiguous bool array"):
            kernel.legal(state, out=np.zeros((6, 2881), dtype=bool), backend=backend)


@needs_numba
def test_a_game_in_which_nothing_can_be_played() -> None:
    """Only a position that was set up so is one."""
    state = kernel.position(Rules(), kernel.undealt(Rules()).board, racks=-1)
    for backend in ("numpy", "numba"):
        for name in ("random", "concave"):
            with pytest.raises(IllegalAction):
                playouts(state, name, 2, backend=backend)


def test_plans_of_policies_are_checked() -> None:
    with pytest.raises(ValueError, match=r"temperature must be 0\.001 to 1000000, not 0"):
        DenialPolicy(0)
    with pytest.raises(ValueError, match=r"shape must be 0\.01 to 10, not 0"):
        DenialPolicy(shape=0)
    with pytest.raises(ValueError, match="arrival must be 0 to 50, not 51"):
        DenialPolicy(arrival=51)

    class Short(HeuristicPolicy):
        name = "short"

        def marker_values(self, rules: Rules) -> np.ndarray:
            return np.zeros(3, dtype=np.int16)

    with pytest.raises(ValueError, match=r"marker values must be int16 \(19,\), not int16 \(3,\)"):
        Short().plan(Rules())
