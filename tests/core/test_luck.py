"""The random bits that policies get: nothing of the deal can be computed from them by inverting SplitMix64.

The generator is a bijection, and its inverse is known. Where keys are made by chaining it, three inverted steps lead
from a policy's bits to the game's seed, and with it to every rack and every draw to come.
"""

import hashlib
from collections.abc import Callable

import numpy as np
import pytest

from genial_env import Rules, play, playouts
from genial_env.arena.games import play_games
from genial_env.core import kernel
from genial_env.core.arrays import Bits
from genial_env.core.chance import MULTIPLIER_1, MULTIPLIER_2, STEP, Purpose, bits, game_seeds, seat_keys
from genial_env.core.views import View
from genial_env.envs.opponents import Pool, seating_bits
from genial_env.envs.single import GenialEnv
from genial_env.envs.vector import GenialVectorEnv
from genial_env.policies.decisions import choice_keys
from genial_env.policies.roster import ROSTER
from genial_env.policies.uniform import RandomPolicy
from genial_env.table import Table
from tests.conftest import needs_numba

SMALL = Rules(2, side=3, colors=3, rack=2)
MOST_DECISIONS = 64


# The attack


def _unshifted(x: Bits, by: int) -> Bits:
    """x, when ``x ^ x >> by`` is known."""
    found = x.copy()
    for _ in range(64 // by):
        found = x ^ found >> np.uint64(by)
    return found


def keys_behind(outputs: Bits, counter: int) -> Bits:
    """The keys whose output number `counter` these are."""
    x = _unshifted(outputs, 31) * np.uint64(pow(int(MULTIPLIER_2), -1, 2**64))
    x = _unshifted(x, 27) * np.uint64(pow(int(MULTIPLIER_1), -1, 2**64))
    return _unshifted(x, 30) - np.uint64((counter + 1) * int(STEP) % 2**64)


def everything_behind(outputs: Bits) -> Bits:
    """All that inverted steps may lead to from a policy's bits: keys of seats, of purposes, and seeds."""
    seat = np.concatenate([keys_behind(outputs, number) for number in range(MOST_DECISIONS)])
    purpose = np.concatenate([keys_behind(seat, number) for number in range(4)])
    seed = np.concatenate([keys_behind(purpose, number) for number in range(3)])
    return np.concatenate([outputs, seat, purpose, seed])


def secrets_of(seeds: Bits, players: int) -> Bits:
    """What a policy must not know: the seeds, and all keys of draws on the way to a draw."""
    return np.concatenate([seeds, bits(seeds, 0), seat_keys(seeds, Purpose.DRAWS, players).ravel()])


def test_the_attack_works_where_keys_are_chained() -> None:
    """From random numbers of draws, which nobody gets, and from choices as they were once made."""
    seeds = game_seeds(7, 20)
    for purpose in (0, 1):
        chained = bits(bits(seeds, purpose)[:, None], np.arange(2)[None, :])
        for seat, number in ((0, 0), (1, 13)):
            behind = everything_behind(bits(chained[:, seat], number))
            assert np.isin(seeds, behind).all()
            assert np.isin(chained[:, seat], behind).all()
    draws = seat_keys(seeds, Purpose.DRAWS, 2)
    assert np.isin(seeds, everything_behind(bits(draws[:, 1], 5))).all()
    assert kernel.deal(SMALL, seeds).key.tolist() == draws.tolist()


# What policies get


class Spy:
    """Plays at random, and keeps the bits that it gets."""

    name = "spy"

    def __init__(self) -> None:
        self.got: list[int] = []

    def __call__(self, view: View, random: Bits) -> np.ndarray:
        self.got += random.tolist()
        return RandomPolicy()(view, random)


def by_play(spy: Spy) -> Bits:
    return play([spy, "random"], SMALL, games=12, seed=3, record=True).seeds


def by_playouts(spy: Spy) -> Bits:
    playouts(kernel.deal(SMALL, [1, 2]), ["greedy", spy], n=6, seed=5)
    return np.concatenate([game_seeds(5, 12), np.array([1, 2, 5], dtype=np.uint64)])


def by_single_environment(spy: Spy) -> Bits:
    env = GenialEnv(side=3, colors=3, rack=2, opponents=Pool([spy, "random"]), seat="random")
    for seed in range(100, 108):
        _, info = env.reset(options={"game_seed": seed})
        over = False
        while not over:
            _, _, over, _, info = env.step(info["action_mask"].argmax())
    return np.arange(100, 108, dtype=np.uint64)


def by_vector_environment(spy: Spy) -> Bits:
    env = GenialVectorEnv(8, side=3, colors=3, rack=2, opponents=spy)
    _, info = env.reset(seed=1)
    seeds = env._games.seeds.copy()
    for _ in range(4):
        info = env.step(info["action_mask"].argmax(axis=1))[4]
    return np.concatenate([seeds, env._games.seeds])


def by_sb3(spy: Spy) -> Bits:
    sb3 = pytest.importorskip("genial_env.envs.sb3", reason="needs stable-baselines3")
    env = sb3.GenialVecEnv(8, side=3, colors=3, rack=2, opponents=spy)
    env.reset()
    seeds = env._games.seeds.copy()
    for _ in range(4):
        env.step(env.action_masks().argmax(axis=1))
    return np.concatenate([seeds, env._games.seeds])


def by_tournament(spy: Spy) -> Bits:
    seeds = game_seeds(9, 8)
    seated = np.array([[0, 1], [1, 0]] * 4)
    play_games([spy, RandomPolicy()], ["spy", "random"], seated, SMALL, np.arange(8), seeds, record=False)
    return seeds


def by_table(spy: Spy) -> Bits:
    table = Table(SMALL, ["spy", "greedy"], seed=77)
    while not table.over:
        table.advance()
    return np.array([77], dtype=np.uint64)


DOORS: list[Callable[[Spy], Bits]] = [
    by_play,
    by_playouts,
    by_single_environment,
    by_vector_environment,
    by_sb3,
    by_tournament,
    by_table,
]


@pytest.fixture
def spy(monkeypatch: pytest.MonkeyPatch) -> Spy:
    """A spy who can be named, too."""
    made = Spy()
    monkeypatch.setitem(ROSTER, "spy", lambda: made)
    return made


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.usefixtures("each_backend")
def test_bits_given_to_a_policy_lead_to_nothing(door: Callable[[Spy], Bits], spy: Spy) -> None:
    seeds = door(spy)
    got = np.array(spy.got, dtype=np.uint64)
    assert len(got) >= 3
    assert len(np.unique(got)) == len(got)
    behind = everything_behind(got)
    assert not np.isin(secrets_of(seeds, 2), behind).any()
    assert not np.isin(seating_bits(seeds, 2), behind).any()


def test_no_seed_dealt_from_what_is_behind_the_bits_gives_the_racks() -> None:
    """The same said by tiles: 40 games, and neither a rack nor a first draw comes out."""
    rules, seeds = Rules(), game_seeds(1, 40)
    state = kernel.deal(rules, seeds)
    first = bits(choice_keys(seeds, 2)[:, 0], 0)
    purpose = keys_behind(keys_behind(first, 0), 0)
    for guess in (keys_behind(purpose, 0), keys_behind(purpose, 1)):
        guessed = kernel.deal(rules, guess)
        assert not (guessed.racks == state.racks).all(axis=2).any()
        assert not np.isin(bits(guessed.key, guessed.drawn), bits(state.key, state.drawn)).any()


def test_own_bits_lead_to_the_own_stream_and_to_no_other() -> None:
    """What a policy can compute: its seat's key, and so its own bits to come; not the key of another seat."""
    seeds = game_seeds(2, 50)
    keys = choice_keys(seeds, 4)
    found = keys_behind(bits(keys[:, 2], 9), 9)
    assert (found == keys[:, 2]).all()
    assert not np.isin(keys[:, [0, 1, 3]], everything_behind(bits(keys[:, 2], 9))).any()


def test_openspiel_hands_out_no_bits_and_no_seed() -> None:
    """Its states draw by chance nodes: no key of theirs says anything of the draws."""
    pytest.importorskip("pyspiel", reason="needs open_spiel")
    from genial_env.envs import openspiel

    state = openspiel.GenialGame({"side": 3, "colors": 3, "rack": 2}).new_initial_state()
    rng = np.random.default_rng(0)
    while not state.is_terminal():
        assert not state.position.key.any()
        choices = [kind for kind, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
        state.apply_action(int(rng.choice(choices)))


# Streams


def test_keys_are_blake2b_of_the_seed() -> None:
    """Spelled out, as games must be the same on every machine."""
    seeds = np.array([0, 1, 2**63 + 5], dtype=np.uint64)
    for purpose, person, players in (
        (Purpose.CHOICES, b"genial choices", 2),
        (Purpose.CHOICES, b"genial choices", 4),
        (Purpose.SEATING, b"genial seating", 5),
    ):
        expected = []
        for seed in seeds.tolist():
            message = seed.to_bytes(8, "little")
            digest = hashlib.blake2b(message, digest_size=8 * players, person=person).digest()
            expected.append([int.from_bytes(digest[at : at + 8], "little") for at in range(0, 8 * players, 8)])
        found = seat_keys(seeds, purpose, players)
        assert (found.tolist(), found.dtype) == (expected, np.uint64)
    assert seat_keys(seeds[:0], Purpose.CHOICES, 3).shape == (0, 3)


@needs_numba
def test_streams_are_the_same_in_any_batch_and_on_both_backends() -> None:
    heard = []
    for backend, batch in (("numpy", 1), ("numpy", 7), ("numba", 3), ("numba", 20)):
        spy = Spy()
        play([spy, "greedy"], SMALL, games=20, seed=8, batch=batch, backend=backend)
        heard.append(sorted(spy.got))
    assert heard[0] == heard[1] == heard[2] == heard[3]
    seeds = game_seeds(8, 20)
    assert np.isin(bits(choice_keys(seeds, 2)[:, 0], 0), np.array(heard[0], dtype=np.uint64)).all()
