"""Compiled implementation of :class:`genial_env.policies.value_net.ValueNet`, which computes the same numbers.

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
    COMPARED,
    LANES,
    allocate,
    differences,
    greater_of,
    greatest,
    load,
    lowest,
    multiply_add,
    narrow,
    nearest,
    positive,
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
from genial_env.policies import value_net
from genial_env.policies.afterstates.layout import Features
from genial_env.policies.portable_exp import COEFFICIENTS, LEAST, LOG2_E, LOG_2
from genial_env.policies.value_net import ValueNet


class Net(NamedTuple):
    """The weights of a network: matrices rounded for exact products, and biases.

    The number of units of each layer, and that of the outcomes K, are padded with zeros to multiples of LANES.
    """

    of_features: Array  # float64 the rows of the matrices of color, kind and game features
    rows: Array  # [W, 3] int64 of a feature: where its row begins and ends there, and where its sums begin in Layers
    layer_2: Array  # [first, second] float64
    kind_2: Array  # [kind, second] float64
    pooled: Array  # [second, third] float64
    layer_4: Array  # [third, fourth] float64
    out: Array  # [fourth, H K] float64
    bias_game: Array  # [first + kind + third] float32, like all others: bias_1, bias_kind, zeros
    bias_2: Array
    bias_3: Array
    bias_4: Array
    bias_out: Array  # [H K], padded with -inf
    weights: Array  # [K] float32 the utility of an outcome
    head_weights: Array  # [H] float32 the weight of a head in the utility


class Layers(NamedTuple):
    """Scratch buffers of one thread for one network: the numbers of the layers for one afterstate, padded like Net.

    The products of the features are kept from one afterstate to the next, so the buffers must not be used with another
    network.
    """

    seen: Array  # [W] int16 the features of the last afterstate, at first 0
    sums: Array  # float64 their products: of colors [C, first + kind], kinds [M, kind], the game [first + kind + third]
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


def make_layers(net: ValueNet) -> Arrays:
    """Allocate the scratch buffers of one thread."""
    w, colors = Net(*net_arrays(net)), net.rules.colors
    (first, second), kind = w.layer_2.shape, len(w.kind_2)
    most = max(first, kind, second, len(w.bias_3), len(w.bias_4), len(w.bias_out))
    return Layers(
        seen=allocate(len(w.rows), np.int16),
        sums=allocate(int(w.rows[-1, 2]) + len(w.bias_game)),
        rounded_first=allocate((colors, first)),
        rounded_shown=allocate((colors, kind)),
        rounded=allocate(most),
        product=allocate(max(colors * second, most)),
        other_product=allocate((colors, second)),
        of_game=allocate(len(w.bias_game), np.float32),
        to_kinds=allocate((colors, kind), np.float32),
        first=allocate((colors, first), np.float32),
        shown=allocate((colors, kind), np.float32),
        whole=allocate(most, np.float32),
    )


_padded_nets: weakref.WeakKeyDictionary[ValueNet, Arrays] = weakref.WeakKeyDictionary()


def net_arrays(net: ValueNet) -> Arrays:
    """Return the weights of a network as a plain tuple (:class:`Net`), padded at the first call."""
    if net not in _padded_nets:
        _padded_nets[net] = tuple(_pad_net(net))
    return _padded_nets[net]


def _pad_net(net: ValueNet) -> Net:
    """Return the weights of a network, padded."""
    w, m = net.arrays, net.matrices
    first, kind, third = (len(w[name]) for name in ("bias_1", "bias_kind", "bias_3"))
    to_game, heads = (first, kind, third), (net.outcomes.classes,) * net.outcomes.heads
    of_features = _pad(m["color"], (first, kind)), _pad(m["kind"]), _pad(m["game"], to_game)
    no_bias = np.zeros(third, np.float32)
    weights, head_weights = net.outcomes.weights
    return Net(
        of_features=_aligned(np.concatenate([matrix.ravel() for matrix in of_features])),
        rows=_rows(of_features, (net.rules.colors, tables(net.rules).n_kinds, 1)),
        **{name: _pad(_pad(m[name].T).T) for name in ("layer_2", "kind_2", "pooled", "layer_4")},
        out=_pad(_pad(m["out"].T).T, heads),
        bias_game=_pad(np.concatenate([w["bias_1"], w["bias_kind"], no_bias]), to_game),
        **{name: _pad(w[name]) for name in ("bias_2", "bias_3", "bias_4")},
        bias_out=_pad(w["bias_out"], heads, -np.inf),
        weights=weights,
        head_weights=head_weights,
    )


def _pad(array: NDArray[Any], parts: tuple[int, ...] | None = None, number: float = 0) -> NDArray[Any]:
    """Return an array whose last axis, or each of its parts of some sizes, is padded with a number."""
    pieces = [array] if parts is None else np.split(array, np.cumsum(parts)[:-1], axis=-1)
    filled = []
    for piece in pieces:
        padding = [(0, 0)] * (array.ndim - 1) + [(0, -piece.shape[-1] % LANES)]
        filled.append(np.pad(piece, padding, constant_values=number))
    return _aligned(np.concatenate(filled, axis=-1))


def _aligned(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of an array that begins with a line of the cache."""
    result = allocate(array.shape, array.dtype)
    result[...] = array
    return result


def _rows(matrices: tuple[NDArray[Any], ...], counts: tuple[int, ...]) -> NDArray[np.int64]:
    """Return `Net.rows`, given the matrices of color, kind and game features, and how many times each is applied."""
    rows, begin, to = [], 0, 0
    for (size, width), count in zip((matrix.shape for matrix in matrices), counts, strict=True):
        for _ in range(count):
            rows += [(begin + feature * width, begin + (feature + 1) * width, to) for feature in range(size)]
            to += width
        begin += size * width
    return np.array(rows)


@helper
def multiply_positive(source: Array, row: int, matrix: Array, out: Array) -> None:
    """Write the product of a row of `source` [rows, k] and a matrix [k, m] to the same row of `out` [rows, m].

    The row's zeros cost nothing; of a layer, about half of the numbers are 0.
    """
    size, width = matrix.shape
    first, to = row * size, row * width
    for column in range(0, width, LANES):
        store(out, to + column, zeros())
    for part in range(0, size, 64):
        found = np.int64(0)
        for i in range(part, min(part + 64, size), LANES):
            found |= positive(source, first + i) << (i - part)
        column = 0
        while column + 6 * LANES <= width and (width - column) % (4 * LANES) != 0:  # the more sums, the less waiting
            at = to + column
            a, b, c = load(out, at), load(out, at + LANES), load(out, at + 2 * LANES)
            d, e, f = load(out, at + 3 * LANES), load(out, at + 4 * LANES), load(out, at + 5 * LANES)
            left = found
            while left != 0:
                i = part + lowest(left)
                left &= left - 1
                number, place = spread_from(source, first + i), i * width + column
                a = multiply_add(number, load(matrix, place), a)
                b = multiply_add(number, load(matrix, place + LANES), b)
                c = multiply_add(number, load(matrix, place + 2 * LANES), c)
                d = multiply_add(number, load(matrix, place + 3 * LANES), d)
                e = multiply_add(number, load(matrix, place + 4 * LANES), e)
                f = multiply_add(number, load(matrix, place + 5 * LANES), f)
            store(out, at, a)
            store(out, at + LANES, b)
            store(out, at + 2 * LANES, c)
            store(out, at + 3 * LANES, d)
            store(out, at + 4 * LANES, e)
            store(out, at + 5 * LANES, f)
            column += 6 * LANES
        while column + 4 * LANES <= width:
            at = to + column
            a, b, c, d = load(out, at), load(out, at + LANES), load(out, at + 2 * LANES), load(out, at + 3 * LANES)
            left = found
            while left != 0:
                i = part + lowest(left)
                left &= left - 1
                number, place = spread_from(source, first + i), i * width + column
                a = multiply_add(number, load(matrix, place), a)
                b = multiply_add(number, load(matrix, place + LANES), b)
                c = multiply_add(number, load(matrix, place + 2 * LANES), c)
                d = multiply_add(number, load(matrix, place + 3 * LANES), d)
            store(out, at, a)
            store(out, at + LANES, b)
            store(out, at + 2 * LANES, c)
            store(out, at + 3 * LANES, d)
            column += 4 * LANES
        while column < width:
            a, left = load(out, to + column), found
            while left != 0:
                i = part + lowest(left)
                left &= left - 1
                a = multiply_add(spread_from(source, first + i), load(matrix, i * width + column), a)
            store(out, to + column, a)
            column += LANES


@helper
def round_rows(numbers: Array, size: int, most: Any, out: Array) -> None:
    """Write float32 numbers up to `most`, rounded as ``exact_products.multiply`` does, to `out` [size]."""
    shift = spread_number(power_above(most))
    for i in range(0, size, LANES):
        store(out, i, widen(load(numbers, i) + shift - shift))


@helper
def predict_one(t: Facts, net: Net, layers: Layers, features: Array, out: Array) -> None:
    """Write the predicted outcomes of an afterstate with features [W] int16 to out [H, K] (:func:`layers_for`)."""
    multiply_features(net, layers, features)
    describe_game(net, layers)
    describe_colors(t, net, layers)
    describe_kinds(t, net, layers)
    pool_colors(t, net, layers)
    multiply_positive(layers.rounded, 0, net.pooled, layers.product)
    take_layer(layers, net.bias_3, len(layers.of_game) - len(net.bias_3))
    multiply_positive(layers.rounded, 0, net.layer_4, layers.product)
    take_layer(layers, net.bias_4, -1)
    multiply_positive(layers.rounded, 0, net.out, layers.product)
    for i in range(0, len(net.bias_out), LANES):
        store(layers.whole, i, narrow(load(layers.product, i)) + load(net.bias_out, i))
    softmax(layers.whole, out)


@helper
def multiply_features(net: Net, layers: Layers, features: Array) -> None:
    """Bring `sums` up to date with features [W]: add what each feature that has changed contributes now.

    The afterstates of a decision have most features in common. Each sum on the way is one of features, some old and
    some new, and so is as exact as any other.
    """
    seen, sums, weights = layers.seen, layers.sums, net.of_features
    for part in range(0, len(features), COMPARED):
        start = min(part, len(features) - COMPARED)  # the last parts may overlap; there are more features than that
        changed = differences(features, seen, start)
        while changed != 0:
            feature = start + lowest(changed)
            changed &= changed - 1
            change = spread_number(np.float64(np.int64(features[feature]) - np.int64(seen[feature])))
            seen[feature] = features[feature]
            at, end, to = net.rows[feature, 0], net.rows[feature, 1], net.rows[feature, 2]
            while at < end:
                store(sums, to, multiply_add(change, load(weights, at), load(sums, to)))
                at += LANES
                to += LANES


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
def describe_game(net: Net, layers: Layers) -> None:
    """Write what the features of the game add to the layers to `of_game`."""
    size = len(net.bias_game)
    start = len(layers.sums) - size
    for i in range(0, size, LANES):
        store(layers.of_game, i, narrow(load(layers.sums, start + i)) + load(net.bias_game, i))


@helper
def describe_colors(t: Facts, net: Net, layers: Layers) -> None:
    """Compute the first layer of all colors, to `rounded_first`, and what colors add to the layer of kinds."""
    n_first, n_kind, place = len(net.layer_2), len(net.kind_2), 0
    least = narrow(zeros())
    most = least
    for color in range(t.n_colors):
        for i in range(0, n_first, LANES):
            numbers = greater_of(narrow(load(layers.sums, place)) + load(layers.of_game, i), least)
            most = greater_of(numbers, most)
            store(layers.first, color * n_first + i, numbers)
            place += LANES
        for i in range(0, n_kind, LANES):
            store(layers.to_kinds, color * n_kind + i, narrow(load(layers.sums, place)))
            place += LANES
    round_rows(layers.first, t.n_colors * n_first, greatest(most), layers.rounded_first)


@helper
def describe_kinds(t: Facts, net: Net, layers: Layers) -> None:
    """Add up the layer of the kinds that show each color, to `rounded_shown`."""
    n_kind, n_first, shown = len(net.kind_2), len(net.layer_2), layers.shown
    least = narrow(zeros())
    for i in range(0, t.n_colors * n_kind, LANES):
        store(shown, i, least)
    place = t.n_colors * (n_first + n_kind)
    for kind in range(t.n_kinds):
        a, b = np.int64(t.kinds[kind, 0]) * n_kind, np.int64(t.kinds[kind, 1]) * n_kind
        for i in range(0, n_kind, LANES):
            of_colors = load(layers.to_kinds, a + i) + load(layers.to_kinds, b + i)
            numbers = narrow(load(layers.sums, place)) + of_colors + load(layers.of_game, n_first + i)
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
    for color in range(t.n_colors):
        multiply_positive(layers.rounded_first, color, net.layer_2, layers.product)
        multiply_positive(layers.rounded_shown, color, net.kind_2, layers.other_product)
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
    """Write the distributions of logits [H, K], each padded with the least numbers, to out [H, K] as ``_softmax`` does.

    The logits are overwritten.
    """
    n_heads, n_outcomes = out.shape
    width, at = -(-n_outcomes // LANES) * LANES, 0
    for _ in range(n_heads):
        most = load(logits, at)
        for i in range(at + LANES, at + width, LANES):
            most = greater_of(load(logits, i), most)
        most = spread_number(greatest(most))
        for i in range(at, at + width, LANES):
            store(logits, i, exp(load(logits, i) - most))
        at += width
    for head in range(n_heads):
        powers, shares = logits[head * width : (head + 1) * width], out[head]
        total = powers[0]
        for k in range(1, n_outcomes):
            total = np.float32(total + powers[k])
        for k in range(n_outcomes):
            shares[k] = np.float32(powers[k] / total)


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
    """Return the utility of outcomes [H, K] (:meth:`genial_env.policies.value_net.Outcomes.utility`)."""
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
        self.by_net: weakref.WeakKeyDictionary[ValueNet, Arrays] = weakref.WeakKeyDictionary()


_layers = _Layers()


def layers_for(net: ValueNet) -> Arrays:
    """Return the scratch buffers of this thread for a network, which are allocated at the first call."""
    kept = _layers.by_net
    if net not in kept:
        kept[net] = tuple(make_layers(net))
    return kept[net]


@value_net.predict.compiled
def predict(threads: int, net: ValueNet, features: Features) -> Floats32:
    """Compute it in compiled code."""
    out = np.empty((len(features), net.outcomes.heads, net.outcomes.classes), dtype=np.float32)
    fixed, weights, rows = facts(net.rules), net_arrays(net), np.ascontiguousarray(features)
    share(threads, len(rows), lambda lo, hi: predict_rows(fixed, weights, layers_for(net), rows, out, lo, hi), 64)
    return out
