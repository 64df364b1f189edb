"""Random numbers by key and counter, and sets as bits."""

import numpy as np
import pytest

from genial_env.core import bitsets, chance


def test_the_generator_is_splitmix64() -> None:
    """The first outputs for seed 1234567, as published with the reference code."""
    published = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert chance.bits(1234567, np.arange(5)).tolist() == published


def test_below_is_even_and_in_range() -> None:
    random = chance.bits(3, np.arange(60_000))
    for limit in (1, 2, 7, 120):
        numbers = chance.below(random, np.full(60_000, limit))
        found = np.bincount(numbers, minlength=limit)
        assert len(found) == limit
        assert abs(found - 60_000 / limit).max() < 5 * np.sqrt(60_000 / limit)


def test_streams_of_seats_and_purposes_are_apart() -> None:
    seeds = chance.game_seeds(0, 1000)
    keys = np.stack([chance.seat_keys(seeds, purpose, 4) for purpose in chance.Purpose])
    assert len(np.unique(keys)) == keys.size
    assert seeds.max() < 2**53


def test_game_seeds_do_not_depend_on_how_many_are_asked_for() -> None:
    assert chance.game_seeds(5, 10)[7:].tolist() == chance.game_seeds(5, 3, start=7).tolist()


@pytest.mark.parametrize("n", [5, 64, 84, 480, 684, 924])
def test_bitsets(n: int) -> None:
    rng = np.random.default_rng(n)
    flags = rng.random((50, n)) < rng.random((50, 1))
    flags[0], flags[1] = False, True
    sets = bitsets.pack(flags)
    assert (bitsets.unpack(sets, n) == flags).all()
    assert (bitsets.count(sets) == flags.sum(axis=1)).all()
    assert (bitsets.any_left(sets) == flags.any(axis=1)).all()
    number = rng.integers(0, n, 50)
    assert (bitsets.contains(sets, np.arange(50), number) == flags[np.arange(50), number]).all()
    some = flags.any(axis=1)
    nth = rng.integers(0, flags[some].sum(axis=1))
    expected = [np.flatnonzero(row)[k] for row, k in zip(flags[some], nth, strict=True)]
    assert bitsets.nth(sets[some], nth).tolist() == expected


def test_choose_takes_every_member_equally_often() -> None:
    flags = np.zeros((30_000, 200), dtype=bool)
    flags[:, [3, 64, 70, 199]] = True
    found = np.bincount(bitsets.choose(bitsets.pack(flags), chance.bits(0, np.arange(30_000))), minlength=200)
    assert found[[3, 64, 70, 199]].sum() == 30_000
    assert abs(found[[3, 64, 70, 199]] - 7500).max() < 5 * np.sqrt(7500)
