"""Encodings: nothing that a seat may know is lost, nothing more is in them, and they are what the docs say."""

from dataclasses import fields
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from genial_env import Rules, View, view
from genial_env.core import kernel
from genial_env.encodings import ENCODINGS, Field, make_encoding
from genial_env.envs.single import GenialEnv
from tests.core.test_hidden import swapping_play
from tests.positions import every_rules, random_play

pytestmark = pytest.mark.usefixtures("each_backend")

ALL = every_rules


@pytest.mark.parametrize("encoding", ENCODINGS)
@ALL
def test_the_view_can_be_read_back(rules: Rules, encoding: str) -> None:
    """All of it but which seat is looking, which no encoding tells."""
    coder = ENCODINGS[encoding]()
    for play, steps in ((random_play, 0), (random_play, 9), (swapping_play, 25), (swapping_play, 70)):
        state = play(rules, games=5, seed=steps, steps=steps)
        for seat in range(rules.players):
            seen = view(state, seat)
            arrays = coder.encode(seen)
            for name, field in coder.fields(rules).items():
                assert arrays[name].shape == (5, *field.shape)
                assert arrays[name].dtype == field.dtype
                assert field.low <= arrays[name].min() <= arrays[name].max() <= field.high
            read = coder.decode(rules, arrays)
            for f in fields(View):
                if f.name not in ("rules", "seat"):
                    assert np.array_equal(getattr(seen, f.name), getattr(read, f.name)), f.name


@pytest.mark.parametrize("encoding", ENCODINGS)
@ALL
def test_encodings_are_relative_to_the_seat(rules: Rules, encoding: str) -> None:
    """Another seat in the same position encodes alike: seats turned by one, nothing changes."""
    state = random_play(rules, games=6, seed=0, steps=8)
    turned = state.copy()
    for name in ("racks", "has_placed", "returned"):
        setattr(turned, name, np.roll(getattr(state, name), 1, axis=1))
    turned.scores = np.roll(state.scores, 1, axis=1)
    turned.to_play = (state.to_play + 1) % rules.players
    coder = ENCODINGS[encoding]()
    for seat in range(rules.players):
        one = coder.encode(view(state, seat))
        other = coder.encode(view(turned, (seat + 1) % rules.players))
        assert all(np.array_equal(array, other[name]) for name, array in one.items())


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_game_is_encoded_alike_alone_and_in_a_batch(encoding: str) -> None:
    state = random_play(Rules(3), games=9, seed=2, steps=12)
    coder = make_encoding(encoding)
    whole = coder.encode(view(state))
    for row in range(9):
        alone = coder.encode(view(state, rows=np.array([row])))
        assert all(np.array_equal(array[0], whole[name][row]) for name, array in alone.items())


def test_tokens_by_the_table() -> None:
    """Row by row, one game by hand."""
    state = random_play(Rules(), games=1, seed=0, steps=6)
    seen = view(state)
    t = seen.tables
    tokens = make_encoding("tokens").encode(seen)[""][0].astype(int)
    assert np.bincount(tokens[:, 0]).tolist() == [0, 91, 6, 12, 21, 2, 1]
    by_type = [tokens[tokens[:, 0] == kind, 1:] for kind in range(7)]
    for n, row in enumerate(by_type[1]):
        assert row[:3].tolist() == [*(t.cells[n] + 5), seen.board[0, n] + 1]
        assert row[3:9].tolist() == seen.points[0, n].tolist()
    for slot, row in enumerate(by_type[2]):
        assert row[:3].tolist() == [slot, *(t.kinds[seen.rack[0, slot]] + 1)]
    assert by_type[3][7, :3].tolist() == [1, 1, seen.scores[0, 1, 1]]
    assert by_type[4][4, :3].tolist() == [0, 4, seen.unseen[0, 4]]
    assert by_type[5][0, :4].tolist() == [0, 6, 1, 1]
    assert by_type[6][0, :2].tolist() == [0, 0]


# Your own


class Lowest:
    """Everybody's lowest marker."""

    def fields(self, rules: Rules) -> dict[str, Field]:
        return {"": Field((rules.tracks,), rules.top)}

    def encode(self, view: View) -> dict[str, np.ndarray]:
        return {"": view.scores.min(axis=2).astype(np.uint8)}


def lowest(view: View) -> np.ndarray:
    return view.scores.min(axis=2).astype(np.int16)


def several(view: View) -> dict[str, np.ndarray]:
    return {"markers": view.scores / np.float32(18), "rack": view.rack.copy()}


@pytest.mark.filterwarnings("ignore:.*A Box observation space (min|max)imum value is")  # a function's are unknown
@pytest.mark.parametrize("encoding", [Lowest(), lowest, several], ids=["class", "function", "function of dicts"])
def test_your_own_encoding(encoding: Any) -> None:
    env = GenialEnv(encoding=encoding)
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    check_env(gym.make("genial_env/Genial-v0", encoding=encoding).unwrapped)


def test_spaces_of_functions() -> None:
    dicts = make_encoding(several).fields(Rules(3))
    assert dicts["markers"] == Field((3, 6), np.inf, np.float32, -np.inf)
    assert dicts["rack"] == Field((6,), 127.0, np.int8, -128.0)


@pytest.mark.parametrize(
    ("encoding", "error", "said"),
    [
        ("plane", ValueError, "unknown encoding 'plane': the encodings are planes, flat, tokens"),
        (3, TypeError, "an encoding is a name, a function, or has fields"),
        (lambda view: [1, 2], TypeError, "the encoding must be a numpy array, not list"),
        (lambda view: {"a": view.board[0]}, ValueError, r"field 'a' must have one entry a game.*not \(91,\)"),
        (lambda view: view.scores.astype(str), TypeError, "must hold whole numbers or floats"),
    ],
    ids=["unknown name", "number", "no array", "no axis of games", "text"],
)
def test_what_is_no_encoding(encoding: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        make_encoding(encoding).fields(Rules())


def test_encodings_give_new_arrays() -> None:
    state = kernel.deal(Rules(), range(3))
    before = state.copy()
    for name in ENCODINGS:
        seen = view(state)
        for array in make_encoding(name).encode(seen).values():
            array[...] = 1
        assert all(np.array_equal(getattr(seen, f.name), getattr(view(before), f.name)) for f in fields(View)[1:])
