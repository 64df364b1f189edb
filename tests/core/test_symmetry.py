"""The symmetries: play and turn, or turn and play, is the same; for states, views, encodings, masks and actions."""

from dataclasses import fields

import numpy as np
import pytest

from genial_env import Rules, State, View
from genial_env.core import hexgrid, kernel, symmetry
from genial_env.core.state import STATE_SPECS
from genial_env.core.tables import tables
from genial_env.core.views import view
from genial_env.encodings import ENCODINGS, augment, make_encoding
from genial_env.policies.marker_gains import effective_points
from tests.positions import EVERYDAY, STANDARD, VARIANTS, every, random_actions, random_play, same

pytestmark = pytest.mark.usefixtures("each_backend")

ALL = every("rules", [r for r in STANDARD + VARIANTS if r.edition != "2025"], EVERYDAY)


def same_view(one: View, other: View, but: tuple[str, ...] = ()) -> bool:
    names = [f.name for f in fields(View) if f.name not in ("rules", *but)]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def test_tables() -> None:
    assert symmetry.board_symmetries(Rules()).shape == (12, 91)
    assert (symmetry.board_symmetries(Rules()) == hexgrid.symmetries(6)).all()
    colors = symmetry.color_permutations(Rules())
    assert colors.shape == (720, 6)
    assert len({tuple(row) for row in colors.tolist()}) == 720
    assert (colors[0] == np.arange(6)).all()
    assert len(symmetry.board_symmetries(Rules(colors=2, side=4, rack=2, tile_sets=2))) == 2
    assert len(symmetry.board_symmetries(Rules(colors=3, side=4, rack=2))) == 2
    every = symmetry.symmetries(Rules(), keep_start_symbols=False)
    assert len(every.board_number) == len(every.colors) == 12 * 720
    for rules in STANDARD + VARIANTS:
        t = tables(rules)
        kept = symmetry.symmetries(rules)
        board = np.full((len(kept.colors), t.n_cells), -1, dtype=np.int8)
        board[:, t.start_symbols] = np.arange(rules.colors)
        assert (kept._array(board, STATE_SPECS["board"]) == board).all()


def drawn_by(state: State, actions: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """[G, K]: the tiles that these actions will draw, found by trying."""
    trial, seat = state.copy(), state.to_play[rows]
    kernel.apply(trial, actions, rows)
    draws = np.full((len(rows), state.rules.rack), -1)
    for i, row in enumerate(rows.tolist()):
        before, after = state.racks[row, seat[i]].copy(), trial.racks[row, seat[i]]
        if actions[i] == state.tables.swap_action:
            before[:] = -1
        elif actions[i] < state.tables.swap_action:
            before[actions[i] // state.tables.n_placements] = -1
        new = after[(before < 0) & (after >= 0)]
        draws[i, : len(new)] = new
    return draws


@ALL
@pytest.mark.parametrize("keep_start_symbols", [False, True], ids=["any", "printed kept"])
def test_symmetries_commute_with_the_rules(rules: Rules, keep_start_symbols: bool) -> None:
    """Turn and play, or play and turn: the same, draws included, a symmetry of its own for each game."""
    rng = np.random.default_rng(1)
    games = 12 if keep_start_symbols else 6
    state = kernel.deal(rules, np.arange(games))
    s = symmetry.random_symmetries(rules, games, rng, keep_start_symbols)
    if keep_start_symbols:  # every one of them
        s = symmetry.symmetries(rules)
        repeated = np.arange(games) % len(s.board_number)
        s = symmetry.Symmetry(rules, s.board_number[repeated], s.colors[repeated])
    image = s.state(state)
    while not state.over.all():
        live = np.flatnonzero(~state.over)
        some = symmetry.Symmetry(rules, s.board_number[live], s.colors[live])
        actions = random_actions(state, live, rng)
        assert (kernel.legal(image, live) == some.mask(kernel.legal(state, live))).all()
        moved = some.actions(actions, kernel.own_racks(state, live))
        draws = drawn_by(state, actions, live)
        kinds = np.append(some.kinds, np.full((len(live), 1), -1), axis=1)
        points = kernel.gained(state, actions, live)
        assert (kernel.gained(image, moved, live) == symmetry._moved(points, some.colors)).all()
        kernel.apply(state, actions, live)
        kernel.apply(image, moved, live, draws=np.take_along_axis(kinds, draws, axis=1))
        assert same(s.state(state), image)
        for seat in range(rules.players):
            assert same_view(s.view(view(state, seat)), view(image, seat))


@ALL
def test_inverses_and_one_for_all(rules: Rules) -> None:
    state = random_play(rules, games=8, seed=0, steps=15)
    rng = np.random.default_rng(0)
    s = symmetry.random_symmetries(rules, 8, rng)
    assert same(s.inverse.state(s.state(state)), state)
    seen = view(state)
    assert same_view(s.inverse.view(s.view(seen)), seen)
    actions = random_actions(state, np.arange(8), rng)
    assert (s.inverse.actions(s.actions(actions, seen.rack), s.view(seen).rack) == actions).all()
    one = symmetry.random_symmetries(rules, 1, rng)
    each = symmetry.Symmetry(rules, np.repeat(one.board_number, 8), np.repeat(one.colors, 8, axis=0))
    assert same(one.state(state), each.state(state))
    assert same_view(one.view(seen), each.view(seen))
    assert (one.actions(actions, seen.rack) == each.actions(actions, seen.rack)).all()
    assert (one.mask(seen.mask()) == each.mask(seen.mask())).all()


@pytest.mark.parametrize("encoding", ENCODINGS)
@ALL
def test_augmented_data_is_the_image(rules: Rules, encoding: str) -> None:
    state = random_play(rules, games=20, seed=3, steps=9)
    seen, coder = view(state), make_encoding(encoding)
    rng = np.random.default_rng(5)
    actions = random_actions(state, np.arange(20), rng)
    arrays = coder.encode(seen)
    before = {name: array.copy() for name, array in arrays.items()}
    masks = seen.mask().view(np.int8)
    images, moved_masks, moved = augment(
        rules, encoding, arrays.get("", arrays), masks, actions, np.random.default_rng(7)
    )
    images = images if isinstance(images, dict) else {"": images}
    s = symmetry.random_symmetries(rules, 20, np.random.default_rng(7))
    image = s.view(seen)
    assert all(np.array_equal(array, images[name]) for name, array in coder.encode(image).items())
    assert all(np.array_equal(array, before[name]) for name, array in arrays.items())
    assert (moved_masks == image.mask()).all()
    assert moved_masks.dtype == np.int8
    live = ~state.over
    assert moved_masks[np.arange(20), moved][live].all()
    placing = live & (actions < seen.tables.swap_action)
    worth, moved_worth = effective_points(seen).reshape(20, -1), effective_points(image).reshape(20, -1)
    assert (worth[placing, actions[placing]] == moved_worth[placing, moved[placing]]).all()


def test_augment_needs_an_encoding_that_decodes() -> None:
    with pytest.raises(TypeError, match="augment needs an encoding with decode"):
        augment(Rules(), lambda view: view.board, np.zeros(1), np.zeros(1), np.zeros(1), np.random.default_rng())
