"""The networks' matrix products are the same, bit for bit, whatever else is in the batch."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from genial_env import Rules, view
from genial_env.core.arrays import Ints
from genial_env.policies import ppo
from genial_env.policies.afterstates import width
from genial_env.policies.exact_products import multiply, round_columns
from genial_env.policies.halves import Halves
from genial_env.policies.halves_net import logits
from genial_env.policies.value import Nets
from genial_env.policies.weight_files import read
from tests.positions import FORMER_PPO, random_play

SHAPES = [((), 1, 5), ((), 24, 64), ((6,), 64, 48), ((), 100, 9), ((2, 3), 33, 17)]


def parts(n: int) -> list[Ints]:
    """Batches that put items at many offsets beside many others."""
    order = np.random.default_rng(1).permutation(n)
    return [np.arange(i, i + size) for size in (1, 2, 5, 13, 48) for i in range(0, n - size, 7)] + [order]


@pytest.mark.parametrize(("inner", "k", "m"), SHAPES, ids=str)
@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_an_item_does_not_depend_on_the_batch(inner: tuple[int, ...], k: int, m: int, scale: float) -> None:
    rng = np.random.default_rng(k)
    items = np.abs(rng.normal(size=(97, *inner, k))).astype(np.float32) * np.float32(scale)
    items[3], items[4, ..., :1] = 0, 1e5 * scale
    matrix = round_columns(rng.normal(size=(k, m)).astype(np.float32))
    together = multiply(items.copy(), matrix)
    assert together.shape == (97, *inner, m)
    assert together.dtype == np.float32
    for rows in parts(97):
        assert np.array_equal(multiply(items[rows], matrix), together[rows])


def test_results_are_kept_when_scratch_arrays_are_used_again() -> None:
    rng = np.random.default_rng(0)
    matrix = round_columns(rng.normal(size=(64, 48)).astype(np.float32))
    items = np.abs(rng.normal(size=(6000, 64))).astype(np.float32)  # more numbers than a scratch array holds
    together = multiply(items.copy(), matrix)
    rows = [slice(0, 50), slice(50, 2000), slice(2000, 6000)]
    parts = [multiply(items[some].copy(), matrix) for some in rows]
    with ThreadPoolExecutor(4) as pool:
        in_threads = list(pool.map(lambda some: multiply(items[some].copy(), matrix), rows * 4))
    assert np.array_equal(np.concatenate(parts), together)
    for number, product in enumerate(in_threads):
        assert np.array_equal(product, parts[number % len(rows)])


def test_the_order_of_the_sum_makes_no_difference() -> None:
    rng = np.random.default_rng(0)
    items = (10 ** rng.uniform(-6, 6, size=(50, 64))).astype(np.float32)
    matrix = round_columns((rng.normal(size=(64, 30)) * 10 ** rng.uniform(-6, 6, size=(64, 1))).astype(np.float32))
    for _ in range(5):
        order = rng.permutation(64)
        shuffled = multiply(np.ascontiguousarray(items[:, order]), np.ascontiguousarray(matrix[order]))
        assert np.array_equal(shuffled, multiply(items.copy(), matrix))


def test_products_are_as_accurate_as_float32() -> None:
    rng = np.random.default_rng(0)
    items = np.abs(rng.normal(size=(200, 64))).astype(np.float32)
    matrix = rng.normal(size=(64, 48)).astype(np.float32)
    exact = items.astype(np.float64) @ matrix.astype(np.float64)
    error = np.abs(multiply(items.copy(), round_columns(matrix)) - exact).max()
    assert error < 2 * np.abs(items @ matrix - exact).max()


def test_integers_are_not_rounded() -> None:
    numbers = np.random.default_rng(0).integers(-(2**15), 2**15, size=(40, 60)).astype(np.int16)
    matrix = np.eye(60, dtype=np.float32)
    assert np.array_equal(multiply(numbers, round_columns(matrix, np.int16)), numbers)


@pytest.mark.parametrize("rules", [Rules(), Rules(4), Rules(1, "2009", "solo")], ids=str)
def test_the_value_network_judges_an_afterstate_alike_in_every_batch(rules: Rules) -> None:
    net = Nets().of(rules)
    features = np.random.default_rng(0).integers(0, 60, size=(300, width(rules))).astype(np.int16)
    chances = net(features)
    utility, expected = net.outcomes.utility(chances), net.outcomes.expected(chances)[0]
    for rows in parts(300):
        some = net(features[rows])
        assert np.array_equal(some, chances[rows])
        assert np.array_equal(net.outcomes.utility(some), utility[rows])
        assert np.array_equal(net.outcomes.expected(some)[0], expected[rows])


def test_the_network_of_halves_judges_a_game_alike_in_every_batch() -> None:
    rules = Rules()
    arrays, _ = read(FORMER_PPO, ppo.KIND, rules, ppo.layout)
    seen = view(random_play(rules, games=60, seed=3, steps=12))
    together = logits(arrays, seen.tables, Halves().encode(seen))
    for rows in parts(60):
        alone = logits(arrays, seen.tables, Halves().encode(seen.select(rows)))
        assert np.array_equal(alone, together[rows])
