"""Vectors of 8 numbers for compiled functions, which become the vector instructions of the processor.

The loops of a network are short. A compiler spends more time on the checks before and after them than in them: whether
arrays overlap, and which numbers are left over. So these functions name the vectors themselves, over arrays that are
padded to a multiple of :data:`LANES`. A processor with shorter vectors uses several of them.

`+`, `-` and `*` of two vectors round each number as Python does; only :func:`multiply_add` may fuse. There are no
checks of bounds. A place in an array is a number of the flattened array, which must be contiguous.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable
from numpy.typing import DTypeLike, NDArray

LANES = 8
"""The numbers of a vector."""

COMPARED = 32
"""The integers that are compared at once."""


class Vector(types.Type):
    """The type of a vector of 8 numbers."""

    def __init__(self, element: Any) -> None:
        self.element = element
        super().__init__(name=f"Vector({element})")


DOUBLES, FLOATS = Vector(types.float64), Vector(types.float32)

_SHAPES = {
    DOUBLES.name: ir.VectorType(ir.DoubleType(), LANES),
    FLOATS.name: ir.VectorType(ir.FloatType(), LANES),
}
_WORDS, _BITS = ir.VectorType(ir.IntType(32), LANES), ir.VectorType(ir.IntType(64), LANES)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, vector: Vector) -> None:
        super().__init__(manager, vector, _SHAPES[vector.name])  # type: ignore[no-untyped-call]


def allocate(shape: tuple[int, ...] | int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return an array of zeros that begins with a line of the processor's cache, so that vectors do not cross lines."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + size].view(dtype).reshape(shape)


_LINE = 64
"""The bytes of a line of the cache."""


def _constant(shape: Any, number: float) -> Any:
    """Return a vector that holds a number in all places."""
    return ir.Constant(shape, [number] * LANES)


def _spread(builder: Any, number: Any) -> Any:
    """Return a vector that holds a computed number in all places."""
    shape = ir.VectorType(number.type, LANES)
    first = builder.insert_element(ir.Constant(shape, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, ir.Constant(shape, ir.Undefined), ir.Constant(_WORDS, [0] * LANES))


def _greater(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _place(context: Any, builder: Any, array: Any, value: Any, at: Any) -> Any:
    """Return the pointer to a number of an array."""
    if array.layout != "C":
        raise TypeError(f"{array} is not contiguous")
    return builder.gep(context.make_array(array)(context, builder, value).data, [at])


def _size_of(array: Any) -> int:
    """Return the bytes of a number of an array, by which its addresses are aligned."""
    return int(array.dtype.bitwidth) // 8


def _call(builder: Any, name: str, arguments: Any) -> Any:
    """Call a function that LLVM provides for vectors of float64."""
    shape = _SHAPES[DOUBLES.name]
    function = ir.FunctionType(shape, [shape] * len(arguments))
    return builder.call(builder.module.declare_intrinsic(f"llvm.{name}.v{LANES}f64", (), function), arguments)


_Generate = Callable[[Any, Any, Any, Any], Any]
_Typed = tuple[Any, _Generate]


# What numba compiles: each function returns the types of a call, and what generates its code


def _load(typing: Any, array: Any, at: Any) -> _Typed:
    """Return the vector at a place of an array of float64 or float32."""
    vector = Vector(array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, array, *arguments)
        return builder.load(builder.bitcast(place, _SHAPES[vector.name].as_pointer()), align=_size_of(array))

    return vector(array, types.int64), generate


def _differences(typing: Any, a: Any, b: Any, at: Any) -> _Typed:
    """Return the set, in the bits of an int64, of the places among COMPARED ones where two arrays of int16 differ."""
    if not a.dtype == b.dtype == types.int16:
        raise TypeError(f"{a} and {b} are not arrays of int16")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integers = ir.VectorType(ir.IntType(16), COMPARED)
        both = []
        for array, value in zip((a, b), arguments, strict=False):
            place = _place(context, builder, array, value, arguments[2])
            both.append(builder.load(builder.bitcast(place, integers.as_pointer()), align=_size_of(array)))
        bits = builder.bitcast(builder.icmp_unsigned("!=", *both), ir.IntType(COMPARED))
        return builder.zext(bits, ir.IntType(64))

    return types.int64(a, b, types.int64), generate


def _positive(typing: Any, array: Any, at: Any) -> _Typed:
    """Return the set, in the bits of an int64, of the places in the vector of an array that hold more than 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        shape = _SHAPES[Vector(array.dtype).name]
        place = builder.bitcast(_place(context, builder, array, *arguments), shape.as_pointer())
        are_positive = builder.fcmp_ordered(">", builder.load(place, align=_size_of(array)), _constant(shape, 0.0))
        return builder.zext(builder.bitcast(are_positive, ir.IntType(LANES)), ir.IntType(64))

    return types.int64(array, types.int64), generate


def _lowest(typing: Any, bits: Any) -> _Typed:
    """Return the number of the lowest one in an int64 that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


def _store(typing: Any, array: Any, at: Any, vector: Any) -> _Typed:
    """Write a vector to a place of an array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, array, *arguments[:2])
        shape = _SHAPES[vector.name].as_pointer()
        builder.store(arguments[2], builder.bitcast(place, shape), align=_size_of(array))
        return context.get_dummy_value()

    return types.none(array, types.int64, vector), generate


def _spread_from(typing: Any, array: Any, at: Any) -> _Typed:
    """Return a vector that holds one number of an array in all places."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _spread(builder, builder.load(_place(context, builder, array, *arguments)))

    return Vector(array.dtype)(array, types.int64), generate


def _spread_number(typing: Any, number: Any) -> _Typed:
    """Return a vector that holds a number in all places."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _spread(builder, arguments[0])

    return Vector(number)(number), generate


def _zeros(typing: Any) -> _Typed:
    """Return a vector of float64 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _constant(_SHAPES[DOUBLES.name], 0.0)

    return DOUBLES(), generate


def _multiply_add(typing: Any, a: Any, b: Any, c: Any) -> _Typed:
    """Return a * b + c of vectors of float64, fused if the processor can. The caller knows that nothing is rounded."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _call(builder, "fmuladd", arguments)

    return DOUBLES(DOUBLES, DOUBLES, DOUBLES), generate


def _narrow(typing: Any, vector: Any) -> _Typed:
    """Return a vector of float64 rounded to float32."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fptrunc(arguments[0], _SHAPES[FLOATS.name])

    return FLOATS(DOUBLES), generate


def _widen(typing: Any, vector: Any) -> _Typed:
    """Return a vector of float32 as float64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fpext(arguments[0], _SHAPES[DOUBLES.name])

    return DOUBLES(FLOATS), generate


def _greater_of(typing: Any, a: Any, b: Any) -> _Typed:
    """Return the greater number of two vectors in each place; there must be no nan."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _greater(builder, *arguments)

    return a(a, a), generate


def _greatest(typing: Any, vector: Any) -> _Typed:
    """Return the greatest number of a vector."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        (numbers,) = arguments
        for distance in (4, 2, 1):
            order = ir.Constant(_WORDS, [(lane + distance) % LANES for lane in range(LANES)])
            numbers = _greater(builder, numbers, builder.shuffle_vector(numbers, numbers, order))
        return builder.extract_element(numbers, ir.Constant(ir.IntType(32), 0))

    return vector.element(vector), generate


def _nearest(typing: Any, vector: Any) -> _Typed:
    """Return the nearest integers of a vector of float64, the even one of two."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _call(builder, "rint", arguments)

    return DOUBLES(DOUBLES), generate


def _two_to_the(typing: Any, vector: Any) -> _Typed:
    """Return 2 to the power of each number of a vector of float64, which holds integers from -1022 to 1023."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = builder.fptosi(arguments[0], _WORDS)
        raised = builder.sext(builder.add(words, _constant(_WORDS, 1023)), _BITS)
        return builder.bitcast(builder.shl(raised, _constant(_BITS, 52)), _SHAPES[DOUBLES.name])

    return DOUBLES(DOUBLES), generate


def _power_above(typing: Any, number: Any) -> _Typed:
    """Return the least power of two above a float32 that is not negative; of those from 2**-126 up."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(32)
        exponent = builder.lshr(builder.bitcast(arguments[0], word), ir.Constant(word, 23))
        raised = builder.add(exponent, ir.Constant(word, 1))
        return builder.bitcast(builder.shl(raised, ir.Constant(word, 23)), ir.FloatType())

    return types.float32(types.float32), generate


load: Any = intrinsic(_load)
differences: Any = intrinsic(_differences)
positive: Any = intrinsic(_positive)
lowest: Any = intrinsic(_lowest)
store: Any = intrinsic(_store)
spread_from: Any = intrinsic(_spread_from)
spread_number: Any = intrinsic(_spread_number)
zeros: Any = intrinsic(_zeros)
multiply_add: Any = intrinsic(_multiply_add)
narrow: Any = intrinsic(_narrow)
widen: Any = intrinsic(_widen)
greater_of: Any = intrinsic(_greater_of)
greatest: Any = intrinsic(_greatest)
nearest: Any = intrinsic(_nearest)
two_to_the: Any = intrinsic(_two_to_the)
power_above: Any = intrinsic(_power_above)


def _add_operator(symbol: Any, method: str) -> None:
    """Make numba compile an operator of two vectors of the same type."""

    def type_operator(context: Any) -> Any:
        return lambda a, b: a if isinstance(a, Vector) and a == b else None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return getattr(builder, method)(*arguments)

    type_callable(symbol)(type_operator)
    lower_builtin(symbol, Vector, Vector)(generate)  # type: ignore[no-untyped-call]


for _symbol, _method in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _add_operator(_symbol, _method)
