"""Compiled implementation of :class:`genial_env.policies.value.ValueNet`, which computes the same numbers.

The products are exact (:mod:`genial_env.policies.exact_products`), so their sums may be added up in any order, and
multiplications and additions may be fused.
"""

import threading
import weakref
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from genial_env._compiled.handover import facts, share
from genial_env._compiled.jit import Entry, helper
from genial_env._compiled.primitives import Array, Arrays
from genial_env._compiled.vectors import (
    LANES,
    allocate,
    greater_of,
    greatest,
    load,
    load_integers,
    multiply_add,
    narrow,
    nearest,
    power_above,
    spread_from,
    spread_number,
    store,
    two_to_the,
    widen,
    zeros,
)
from genial_env.core.arrays import Floats32
from genial_env.core.scalar import Facts
from genial_env.core.tables import tables
from genial_env.policies import value
from genial_env.policies.afterstates import Features, width
from genial_env.policies.portable_exp import COEFFICIENTS, LEAST, LOG2_E, LOG_2
from genial_env.policies.value import ValueNet


class Net(NamedTuple):
    """The weights of a network: matrices rounded for exact products, and biases.

    The number of units of each layer, and that of the outcomes H * K, are padded with zeros to multiples of LANES.
    """

    color: Array  # [F, first + kind] float64
    kind: Array  # [D, kind] float64
    game: Array  # [whole, first + kind + third] float64
    layer_2: Array  # [first, second] float64
    kind_2: Array  # [kind, second] float64
    pooled: Array  # [second, third] float64
    layer_4: Array  # [third, fourth] float64
    out: Array  # [fourth, H * K] float64
    bias_game: Array  # [first + kind + third] float32, like all others: bias_1, bias_kind, zeros
    bias_2: Array
    bias_3: Array
    bias_4: Array
    bias_out: Array
    weights: Array  # [K] float32 the utility of an outcome
    head_weights: Array  # [H] float32 the weight of a head in the utility


class Layers(NamedTuple):
    """Scratch buffers of one thread: the numbers of the layers for one afterstate, padded like those of Net.

    Arrays of rows that are multiplied hold some more rows, as :func:`multiply_rows` reads and writes ROWS at a time.
    """

    input: Array  # [W] float64 the features
    rounded_first: Array  # [C, first] float64 `first` and `shown`, rounded for exact products
    rounded_shown: Array  # [C, kind] float64
    rounded: Array  # [most units of a layer] float64 a layer of the whole, rounded
    product: Array  # float64 of any product
    other_product: Array  # [C, second] float64
    of_game: Array  # [first + kind + third] float32 what the features of the game add
    to_kinds: Array  # [C, kind] float32 what a color adds to its kinds
    first: Array  # [C, first] float32
    shown: Array  # [C, kind] float32 the sums of the kinds that show a color
    whole: Array  # [most units of a layer] float32 a layer of the whole


ROWS = 6
"""Rows of a product computed together: with vectors of 8 numbers, their sums fill most registers of the processor."""


def make_layers(net: ValueNet) -> Arrays:
    """Allocate the scratch buffers of one thread."""
    w, colors, kinds = Net(*net_arrays(net)), net.rules.colors, tables(net.rules).n_kinds
    (first, second), kind = w.layer_2.shape, len(w.kind_2)
    more = ROWS - 1
    most = max(len(array) for array in w)
    rows = max((colors + more) * max(w.color.shape[1], second), (kinds + more) * kind, most)
    return Layers(
        input=allocate(width(net.rules) + more * max(len(w.color), len(w.kind))),
        rounded_first=allocate((colors + more, first)),
        rounded_shown=allocate((colors + more, kind)),
        rounded=allocate(most),
        product=allocate(rows),
        other_product=allocate((colors + more) * second),
        of_game=allocate(w.game.shape[1], np.float32),
        to_kinds=allocate((colors, kind), np.float32),
        first=allocate((colors, first), np.float32),
        shown=allocate((colors, kind), np.float32),
        whole=allocate(most, np.float32),
    )


_padded_nets: weakref.WeakKeyDictionary[ValueNet, Arrays] = weakref.WeakKeyDictionary()


def net_arrays(net: ValueNet) -> Arrays:
    """Return the weights of a network as a plain tuple."""
    if net not in _padded_nets:
        _padded_nets[net] = tuple(_pad_net(net))
    return _padded_nets[net]


def _pad_net(net: ValueNet) -> Net:
    """Return the weights of a network, padded."""
    w, m = net.arrays, net.matrices
    first, kind, third = (len(w[name]) for name in ("bias_1", "bias_kind", "bias_3"))
    to_colors, to_game = (first, kind), (first, kind, third)
    no_bias = np.zeros(third, np.float32)
    weights, head_weights = net.outcomes.weights
    return Net(
        color=_pad(m["color"], to_colors),
        kind=_pad(m["kind"], (kind,)),
        game=_pad(m["game"], to_game),
        **{name: _pad(_pad(m[name].T).T) for name in ("layer_2", "kind_2", "pooled", "layer_4", "out")},
        bias_game=_pad(np.concatenate([w["bias_1"], w["bias_kind"], no_bias]), to_game),
        **{name: _pad(w[name]) for name in ("bias_2", "bias_3", "bias_4", "bias_out")},
        weights=weights,
        head_weights=head_weights,
    )


def _pad(array: NDArray[Any], parts: tuple[int, ...] | None = None) -> NDArray[Any]:
    """Return an array whose last axis, or each of its parts of some sizes, is padded with zeros."""
    pieces = [array] if parts is None else np.split(array, np.cumsum(parts)[:-1], axis=-1)
    no_padding = [(0, 0)] * (array.ndim - 1)
    filled = np.concatenate([np.pad(piece, [*no_padding, (0, -piece.shape[-1] % LANES)]) for piece in pieces], axis=-1)
    result = allocate(filled.shape, filled.dtype)
    result[...] = filled
    return result


@helper
def multiply_rows(source: Array, at: int, rows: int, matrix: Array, out: Array) -> None:
    """Write the product of rows [rows, k] of `source`, from a place on, and a matrix [k, m] to `out` [rows, m].

    Some more rows are read and written, up to a multiple of ROWS.
    """
    size, width = matrix.shape
    for row in range(0, rows, ROWS):
        start = at + row * size
        for column in range(0, width, LANES):
            a, b, c, d, e, f = zeros(), zeros(), zeros(), zeros(), zeros(), zeros()
            place = column
            for i in range(start, start + size):
                numbers = load(matrix, place)
                a = multiply_add(spread_from(source, i), numbers, a)
                b = multiply_add(spread_from(source, i + size), numbers, b)
                c = multiply_add(spread_from(source, i + 2 * size), numbers, c)
                d = multiply_add(spread_from(source, i + 3 * size), numbers, d)
                e = multiply_add(spread_from(source, i + 4 * size), numbers, e)
                f = multiply_add(spread_from(source, i + 5 * size), numbers, f)
                place += width
            place = row * width + column
            store(out, place, a)
            store(out, place + width, b)
            store(out, place + 2 * width, c)
            store(out, place + 3 * width, d)
            store(out, place + 4 * width, e)
            store(out, place + 5 * width, f)


@helper
def multiply_one(source: Array, at: int, matrix: Array, out: Array) -> None:
    """Write the product of a row [k] of `source`, from a place on, and a matrix [k, m] to `out` [m]."""
    size, width = matrix.shape
    column = 0
    while column + 4 * LANES <= width:
        a, b, c, d = zeros(), zeros(), zeros(), zeros()
        place = column
        for i in range(at, at + size):
            number = spread_from(source, i)
            a = multiply_add(number, load(matrix, place), a)
            b = multiply_add(number, load(matrix, place + LANES), b)
            c = multiply_add(number, load(matrix, place + 2 * LANES), c)
            d = multiply_add(number, load(matrix, place + 3 * LANES), d)
            place += width
        store(out, column, a)
        store(out, column + LANES, b)
        store(out, column + 2 * LANES, c)
        store(out, column + 3 * LANES, d)
        column += 4 * LANES
    while column < width:
        a, place = zeros(), column
        for i in range(at, at + size):
            a = multiply_add(spread_from(source, i), load(matrix, place), a)
            place += width
        store(out, column, a)
        column += LANES


@helper
def round_rows(numbers: Array, size: int, most: Any, out: Array) -> None:
    """Write float32 numbers up to `most`, rounded as ``exact_products.multiply`` does, to `out` [size]."""
    shift = spread_number(power_above(most))
    for i in range(0, size, LANES):
        store(out, i, widen(load(numbers, i) + shift - shift))


@helper
def predict_one(t: Facts, net: Net, layers: Layers, features: Array, out: Array) -> None:
    """Write the predicted outcomes of an afterstate with features [W] to out [H, K]."""
    read(layers.input, features)
    describe_game(net, layers, len(features))
    describe_colors(t, net, layers)
    describe_kinds(t, net, layers)
    pool_colors(t, net, layers)
    multiply_one(layers.rounded, 0, net.pooled, layers.product)
    take_layer(layers, net.bias_3, len(layers.of_game) - len(net.bias_3))
    multiply_one(layers.rounded, 0, net.layer_4, layers.product)
    take_layer(layers, net.bias_4, -1)
    multiply_one(layers.rounded, 0, net.out, layers.product)
    for i in range(0, len(net.bias_out), LANES):
        store(layers.whole, i, narrow(load(layers.product, i)) + load(net.bias_out, i))
    softmax(layers.whole, out)


@helper
def read(input: Array, features: Array) -> None:
    """Write the features to `input`."""
    whole = len(features) - len(features) % LANES
    for i in range(0, whole, LANES):
        store(input, i, load_integers(features, i))
    for i in range(whole, len(features)):
        input[i] = features[i]


@helper
def take_layer(layers: Layers, bias: Array, of_game: int) -> None:
    """Compute a layer of the whole from `product` and a bias [m], and from `of_game` unless its place there is -1.

    It is written to `rounded`.
    """
    product, whole, most = layers.product, layers.whole, narrow(zeros())
    least = most
    for i in range(0, len(bias), LANES):
        numbers = narrow(load(product, i)) + load(bias, i)
        if of_game >= 0:
            numbers = numbers + load(layers.of_game, of_game + i)
        numbers = greater_of(numbers, least)
        most = greater_of(numbers, most)
        store(whole, i, numbers)
    round_rows(whole, len(bias), greatest(most), layers.rounded)


@helper
def describe_game(net: Net, layers: Layers, n_features: int) -> None:
    """Write what the features of the game add to the layers to `of_game`."""
    multiply_one(layers.input, n_features - len(net.game), net.game, layers.product)
    for i in range(0, len(net.bias_game), LANES):
        store(layers.of_game, i, narrow(load(layers.product, i)) + load(net.bias_game, i))


@helper
def describe_colors(t: Facts, net: Net, layers: Layers) -> None:
    """Compute the first layer of all colors, to `rounded_first`, and what colors add to the layer of kinds."""
    n_first, n_kind, place = len(net.layer_2), len(net.kind_2), 0
    multiply_rows(layers.input, 0, t.n_colors, net.color, layers.product)
    least = narrow(zeros())
    most = least
    for color in range(t.n_colors):
        for i in range(0, n_first, LANES):
            numbers = greater_of(narrow(load(layers.product, place)) + load(layers.of_game, i), least)
            most = greater_of(numbers, most)
            store(layers.first, color * n_first + i, numbers)
            place += LANES
        for i in range(0, n_kind, LANES):
            store(layers.to_kinds, color * n_kind + i, narrow(load(layers.product, place)))
            place += LANES
    round_rows(layers.first, t.n_colors * n_first, greatest(most), layers.rounded_first)


@helper
def describe_kinds(t: Facts, net: Net, layers: Layers) -> None:
    """Add up the layer of the kinds that show each color, to `rounded_shown`."""
    n_kind, n_first, shown = len(net.kind_2), len(net.layer_2), layers.shown
    multiply_rows(layers.input, t.n_colors * len(net.color), t.n_kinds, net.kind, layers.product)
    least = narrow(zeros())
    for i in range(0, t.n_colors * n_kind, LANES):
        store(shown, i, least)
    place = 0
    for kind in range(t.n_kinds):
        a, b = np.int64(t.kinds[kind, 0]) * n_kind, np.int64(t.kinds[kind, 1]) * n_kind
        for i in range(0, n_kind, LANES):
            of_colors = load(layers.to_kinds, a + i) + load(layers.to_kinds, b + i)
            numbers = narrow(load(layers.product, place)) + of_colors + load(layers.of_game, n_first + i)
            numbers = greater_of(numbers, least)
            store(shown, a + i, load(shown, a + i) + numbers)
            if a != b:
                store(shown, b + i, load(shown, b + i) + numbers)
            place += LANES
    most = least
    for i in range(0, t.n_colors * n_kind, LANES):
        most = greater_of(load(shown, i), most)
    round_rows(shown, t.n_colors * n_kind, greatest(most), layers.rounded_shown)


@helper
def pool_colors(t: Facts, net: Net, layers: Layers) -> None:
    """Add up the second layer of the colors, to `rounded`."""
    n_second = len(net.bias_2)
    multiply_rows(layers.rounded_first, 0, t.n_colors, net.layer_2, layers.product)
    multiply_rows(layers.rounded_shown, 0, t.n_colors, net.kind_2, layers.other_product)
    least = narrow(zeros())
    most = least
    for i in range(0, n_second, LANES):
        bias, pooled, place = load(net.bias_2, i), least, i
        for _ in range(t.n_colors):
            numbers = narrow(load(layers.product, place)) + bias + narrow(load(layers.other_product, place))
            pooled = pooled + greater_of(numbers, least)
            place += n_second
        most = greater_of(pooled, most)
        store(layers.whole, i, pooled)
    round_rows(layers.whole, n_second, greatest(most), layers.rounded)


@helper
def softmax(logits: Array, out: Array) -> None:
    """Write the distributions of logits [H * K] to out [H, K], as ``_softmax`` does; overwrite the logits."""
    n_heads, n_outcomes = out.shape
    for head in range(n_heads):
        row = logits[head * n_outcomes : (head + 1) * n_outcomes]
        most = row[0]
        for k in range(1, n_outcomes):
            most = max(most, row[k])
        for k in range(n_outcomes):
            row[k] = np.float32(row[k] - most)
    for i in range(0, n_heads * n_outcomes, LANES):
        store(logits, i, exp(load(logits, i)))
    for head in range(n_heads):
        row, shares = logits[head * n_outcomes : (head + 1) * n_outcomes], out[head]
        total = row[0]
        for k in range(1, n_outcomes):
            total = np.float32(total + row[k])
        for k in range(n_outcomes):
            shares[k] = np.float32(row[k] / total)


@helper
def exp(numbers: Any) -> Any:
    """Return e to the power of a vector of float32 (:mod:`genial_env.policies.portable_exp`)."""
    wide = greater_of(widen(numbers), spread_number(LEAST))
    twos = nearest(wide * spread_number(LOG2_E))
    rest = wide - twos * spread_number(LOG_2)
    power = spread_number(COEFFICIENTS[7])
    power = power * rest + spread_number(COEFFICIENTS[6])
    power = power * rest + spread_number(COEFFICIENTS[5])
    power = power * rest + spread_number(COEFFICIENTS[4])
    power = power * rest + spread_number(COEFFICIENTS[3])
    power = power * rest + spread_number(COEFFICIENTS[2])
    power = power * rest + spread_number(COEFFICIENTS[1])
    power = power * rest + spread_number(COEFFICIENTS[0])
    return narrow(power * two_to_the(twos))


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
