"""Compiled implementation of :class:`genial_env.policies.value.ValueNet`, which computes the same numbers.

The products are exact (:mod:`genial_env.policies.exact_products`), so their sums may be added up in any order, and
multiplications and additions may be fused.
"""

import threading
from typing import Any, NamedTuple

import numpy as np

from genial_env._compiled.handover import facts, share
from genial_env._compiled.jit import Entry, helper
from genial_env._compiled.primitives import Array, Arrays, fill
from genial_env.core.arrays import Floats32
from genial_env.core.rules import Rules
from genial_env.core.scalar import Facts
from genial_env.core.tables import tables
from genial_env.policies import value
from genial_env.policies.afterstates import Features, color_features, game_features, kind_features
from genial_env.policies.portable_exp import COEFFICIENTS, LEAST, LOG2_E, LOG_2
from genial_env.policies.value import ValueNet


class Net(NamedTuple):
    """The weights of a network: matrices rounded for exact products, and biases."""

    color: Array  # [F, first + kind] float64
    kind: Array  # [D, kind] float64
    game: Array  # [whole, first + kind + third] float64
    layer_2: Array  # [first, second] float64
    kind_2: Array  # [kind, second] float64
    pooled: Array  # [second, third] float64
    layer_4: Array  # [third, fourth] float64
    out: Array  # [fourth, H * K] float64
    bias_1: Array  # float32, like all others
    bias_kind: Array
    bias_2: Array
    bias_3: Array
    bias_4: Array
    bias_out: Array
    weights: Array  # [K] float32 the utility of an outcome
    head_weights: Array  # [H] float32 the weight of a head in the utility


class Layers(NamedTuple):
    """Scratch buffers of one thread: the numbers of the layers for one afterstate."""

    input: Array  # [most] float64
    used: Array  # [most] int64 the numbers of the input that are not 0
    product: Array  # [most] float64
    of_game: Array  # [first + kind + third] float32
    to_kinds: Array  # [C, kind] float32
    first: Array  # [C, first] float32
    shown: Array  # [C, kind] float32
    second: Array  # [second] float32
    pooled: Array  # [second] float32
    third: Array  # [third] float32
    fourth: Array  # [fourth] float32


def make_layers(net: ValueNet) -> Arrays:
    """Allocate the scratch buffers of one thread."""
    w, colors = net.arrays, net.rules.colors
    first, kind, second, third, fourth = (
        len(w[name]) for name in ("bias_1", "bias_kind", "bias_2", "bias_3", "bias_4")
    )
    most = max(*(max(matrix.shape) for matrix in net.matrices.values()), colors * first)
    return Layers(
        input=np.empty(most),
        used=np.empty(most, np.int64),
        product=np.empty(most),
        of_game=np.empty(first + kind + third, np.float32),
        to_kinds=np.empty((colors, kind), np.float32),
        first=np.empty((colors, first), np.float32),
        shown=np.empty((colors, kind), np.float32),
        second=np.empty(second, np.float32),
        pooled=np.empty(second, np.float32),
        third=np.empty(third, np.float32),
        fourth=np.empty(fourth, np.float32),
    )


def net_arrays(net: ValueNet) -> Arrays:
    """Return the weights of a network as a plain tuple."""
    names = [name for name in Net._fields if name in net.matrices]
    biases = [name for name in Net._fields if name.startswith("bias")]
    weights = net.outcomes.weights
    return (*(net.matrices[name] for name in names), *(net.arrays[name] for name in biases), *weights)


@helper(fastmath={"contract"})
def multiply(layers: Layers, size: int, matrix: Array) -> None:
    """Write the product of the first `size` numbers of `input` and a matrix [k, m] to `product` [m]."""
    source, used, out = layers.input, layers.used, layers.product[: matrix.shape[1]]
    n_used = 0
    for i in range(size):
        used[n_used] = i
        n_used += source[i] != 0
    for j in range(len(out)):
        out[j] = 0
    n = 0
    while n + 4 <= n_used:
        i, j, k, m = used[n], used[n + 1], used[n + 2], used[n + 3]
        a, b, c, d = source[i], source[j], source[k], source[m]
        row_a, row_b, row_c, row_d = matrix[i], matrix[j], matrix[k], matrix[m]
        for at in range(len(out)):
            out[at] += (a * row_a[at] + b * row_b[at]) + (c * row_c[at] + d * row_d[at])
        n += 4
    while n < n_used:
        a, row_a = source[used[n]], matrix[used[n]]
        for at in range(len(out)):
            out[at] += a * row_a[at]
        n += 1


@helper
def take_integers(layers: Layers, numbers: Array) -> None:
    """Write integers to `input`."""
    for i in range(len(numbers)):
        layers.input[i] = numbers[i]


@helper
def take_rounded(layers: Layers, numbers: Array, shift: Any) -> None:
    """Write numbers, rounded as ``exact_products.multiply`` does, to `input`."""
    for i in range(len(numbers)):
        layers.input[i] = np.float32(np.float32(numbers[i] + shift) - shift)


@helper
def most_of(numbers: Array, most: Any) -> Any:
    """Return the greatest of some numbers and another one."""
    for i in range(len(numbers)):
        most = max(most, numbers[i])
    return most


@helper
def shift_for(most: Any) -> Any:
    """Return the power of two that numbers up to `most` are rounded with."""
    power = np.float32(1)
    if most > 0:
        while power <= most:
            power = np.float32(power * np.float32(2))
        while power > most * np.float32(2):
            power = np.float32(power * np.float32(0.5))
    return power


@helper
def rectify(numbers: Array) -> None:
    """Replace negative numbers by 0, in place."""
    for i in range(len(numbers)):
        numbers[i] = max(numbers[i], np.float32(0))


@helper
def predict_one(t: Facts, net: Net, layers: Layers, features: Array, out: Array) -> None:
    """Write the predicted outcomes of an afterstate with features [W] to out [H, K]."""
    describe_game(t, net, layers, features)
    describe_colors(t, net, layers, features)
    describe_kinds(t, net, layers, features)
    pool_colors(t, net, layers)
    third, to_third = layers.third, layers.of_game[len(net.bias_1) + len(net.bias_kind) :]
    take_rounded(layers, layers.pooled, shift_for(most_of(layers.pooled, np.float32(0))))
    multiply(layers, len(layers.pooled), net.pooled)
    for i in range(len(third)):
        third[i] = np.float32(np.float32(np.float32(layers.product[i]) + net.bias_3[i]) + to_third[i])
    rectify(third)
    take_rounded(layers, third, shift_for(most_of(third, np.float32(0))))
    multiply(layers, len(third), net.layer_4)
    fourth = layers.fourth
    for i in range(len(fourth)):
        fourth[i] = np.float32(np.float32(layers.product[i]) + net.bias_4[i])
    rectify(fourth)
    take_rounded(layers, fourth, shift_for(most_of(fourth, np.float32(0))))
    multiply(layers, len(fourth), net.out)
    n_outcomes = out.shape[1]
    for head in range(out.shape[0]):
        row = out[head]
        for k in range(n_outcomes):
            at = head * n_outcomes + k
            row[k] = np.float32(np.float32(layers.product[at]) + net.bias_out[at])
        softmax(row)


@helper
def describe_game(t: Facts, net: Net, layers: Layers, features: Array) -> None:
    """Write what the features of the game add to the layers to `of_game`."""
    size = net.game.shape[0]
    take_integers(layers, features[len(features) - size :])
    multiply(layers, size, net.game)
    for i in range(len(layers.of_game)):
        layers.of_game[i] = layers.product[i]
    n_first, n_kind = len(net.bias_1), len(net.bias_kind)
    for i in range(n_first):
        layers.of_game[i] = np.float32(layers.of_game[i] + net.bias_1[i])
    for i in range(n_kind):
        layers.of_game[n_first + i] = np.float32(layers.of_game[n_first + i] + net.bias_kind[i])


@helper
def describe_colors(t: Facts, net: Net, layers: Layers, features: Array) -> None:
    """Write the first layer of all colors to `first`, and what colors add to the layer of kinds to `to_kinds`."""
    per_color, n_first, n_kind = net.color.shape[0], len(net.bias_1), len(net.bias_kind)
    for color in range(t.n_colors):
        take_integers(layers, features[color * per_color : (color + 1) * per_color])
        multiply(layers, per_color, net.color)
        first = layers.first[color]
        for i in range(n_first):
            first[i] = np.float32(np.float32(layers.product[i]) + layers.of_game[i])
        rectify(first)
        for i in range(n_kind):
            layers.to_kinds[color, i] = layers.product[n_first + i]


@helper
def describe_kinds(t: Facts, net: Net, layers: Layers, features: Array) -> None:
    """Add up the layer of the kinds that show each color in `shown`."""
    per_kind, n_kind, n_first = net.kind.shape[0], len(net.bias_kind), len(net.bias_1)
    start = t.n_colors * net.color.shape[0]
    for color in range(t.n_colors):
        fill(layers.shown[color], np.float32(0))
    for kind in range(t.n_kinds):
        a, b = np.int64(t.kinds[kind, 0]), np.int64(t.kinds[kind, 1])
        take_integers(layers, features[start + kind * per_kind : start + (kind + 1) * per_kind])
        multiply(layers, per_kind, net.kind)
        shown_a, shown_b = layers.shown[a], layers.shown[b]
        from_a, from_b, of_game = layers.to_kinds[a], layers.to_kinds[b], layers.of_game[n_first:]
        for i in range(n_kind):
            number = np.float32(np.float32(layers.product[i]) + np.float32(from_a[i] + from_b[i]))
            number = max(np.float32(number + of_game[i]), np.float32(0))
            shown_a[i] = np.float32(shown_a[i] + number)
            if a != b:
                shown_b[i] = np.float32(shown_b[i] + number)


@helper
def pool_colors(t: Facts, net: Net, layers: Layers) -> None:
    """Add up the second layer of the colors in `pooled`."""
    most, most_shown = np.float32(0), np.float32(0)
    for color in range(t.n_colors):
        most = most_of(layers.first[color], most)
        most_shown = most_of(layers.shown[color], most_shown)
    shift, shift_shown = shift_for(most), shift_for(most_shown)
    pooled, second = layers.pooled, layers.second
    fill(pooled, np.float32(0))
    for color in range(t.n_colors):
        take_rounded(layers, layers.first[color], shift)
        multiply(layers, net.layer_2.shape[0], net.layer_2)
        for i in range(len(second)):
            second[i] = np.float32(np.float32(layers.product[i]) + net.bias_2[i])
        take_rounded(layers, layers.shown[color], shift_shown)
        multiply(layers, net.kind_2.shape[0], net.kind_2)
        for i in range(len(second)):
            number = max(np.float32(second[i] + np.float32(layers.product[i])), np.float32(0))
            pooled[i] = np.float32(pooled[i] + number)


@helper
def softmax(row: Array) -> None:
    """Turn logits into a distribution, in place, as ``_softmax`` does."""
    most = row[0]
    for k in range(1, len(row)):
        most = max(most, row[k])
    total = np.float32(0)
    for k in range(len(row)):
        row[k] = exp(np.float32(row[k] - most))
        total = np.float32(total + row[k]) if k > 0 else row[k]
    for k in range(len(row)):
        row[k] = np.float32(row[k] / total)


@helper
def exp(x: Any) -> Any:
    """Return e to the power of x (:mod:`genial_env.policies.portable_exp`)."""
    wide = max(np.float64(x), LEAST)
    twos = np.rint(wide * LOG2_E)
    rest = wide - twos * LOG_2
    power = COEFFICIENTS[7]
    power = power * rest + COEFFICIENTS[6]
    power = power * rest + COEFFICIENTS[5]
    power = power * rest + COEFFICIENTS[4]
    power = power * rest + COEFFICIENTS[3]
    power = power * rest + COEFFICIENTS[2]
    power = power * rest + COEFFICIENTS[1]
    power = power * rest + COEFFICIENTS[0]
    scale = 1.0
    for _ in range(-np.int64(twos)):
        scale *= 0.5
    return np.float32(power * scale)


@helper
def utility_of(net: Net, chances: Array) -> Any:
    """Return the utility of outcomes [H, K] (:meth:`genial_env.policies.value.Outcomes.utility`)."""
    total = np.float32(0)
    for head in range(len(net.head_weights)):
        row = chances[head]
        of_head = np.float32(row[0] * net.weights[0])
        for k in range(1, len(net.weights)):
            of_head = np.float32(of_head + np.float32(row[k] * net.weights[k]))
        of_head = np.float32(of_head * net.head_weights[head])
        total = np.float32(total + of_head) if head > 0 else of_head
    return total


@Entry
def predict_rows(facts: Arrays, net: Arrays, layers: Arrays, features: Array, out: Array, lo: int, hi: int) -> None:
    """Write the predicted outcomes of afterstates [n] with features [n, W] to out [n, H, K]."""
    t, w, r = Facts(*facts), Net(*net), Layers(*layers)
    for i in range(lo, hi):
        predict_one(t, w, r, features[i], out[i])


class _Layers(threading.local):
    def __init__(self) -> None:
        self.by_sizes: dict[Any, Arrays] = {}


_layers = _Layers()


def layers_for(net: ValueNet) -> Arrays:
    """Return the scratch buffers of this thread for networks of these sizes, which are allocated at the first call."""
    sizes = net.rules, tuple(array.shape for array in net.arrays.values())
    if sizes not in _layers.by_sizes:
        _layers.by_sizes[sizes] = tuple(make_layers(net))
    return _layers.by_sizes[sizes]


@value.predict.compiled
def predict(threads: int, net: ValueNet, features: Features) -> Floats32:
    """Compute it in compiled code."""
    out = np.empty((len(features), net.outcomes.heads, net.outcomes.classes), dtype=np.float32)
    fixed, weights, rows = facts(net.rules), net_arrays(net), np.ascontiguousarray(features)
    share(threads, len(rows), lambda lo, hi: predict_rows(fixed, weights, layers_for(net), rows, out, lo, hi), 64)
    return out
