"""Rows of a matrix as vectors that stay in registers, for compiled loops.

Numba keeps `total[c] += weight * row[c]` in memory: for all it knows, the arrays overlap. A value
of the type `Lanes` is an LLVM vector instead: any number of lanes, on any processor, cut by LLVM
into as many registers as it takes. Five times as fast, measured with AVX-512.
"""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import intrinsic, register_model

_FUSED = ("contract",)  # a product and a sum may become one instruction
_POSITION = ir.IntType(32)


class Lanes(types.Type):  # type: ignore[misc]
    """So many numbers of one type, side by side."""

    def __init__(self, dtype: Any, width: int) -> None:
        self.dtype, self.width = dtype, width
        super().__init__(f"Lanes({dtype}, {width})")


@register_model(Lanes)
class _LanesModel(PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager, lanes):  # type: ignore[no-untyped-def]
        number = manager.lookup(lanes.dtype).get_data_type()
        super().__init__(manager, lanes, ir.VectorType(number, lanes.width))


def _place(context: Any, builder: Any, kind: Any, lanes: Lanes, array: Any, row: Any) -> Any:
    start = context.make_array(kind)(context, builder, array).data
    first = builder.gep(start, [builder.mul(row, ir.Constant(row.type, lanes.width))])
    return builder.bitcast(first, context.get_data_type(lanes).as_pointer())


def _spread(builder: Any, number: Any, vector: Any) -> Any:
    unset = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(unset, number, ir.Constant(_POSITION, 0))
    mask = ir.Constant(ir.VectorType(_POSITION, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, unset, mask)


def _n_bytes(dtype: Any) -> int:
    return int(dtype.bitwidth) // 8


@intrinsic(prefer_literal=True)
def load(_context, array, row, width):  # type: ignore[no-untyped-def]
    """Row `row` of a C-contiguous matrix with `width` columns, which must be a constant."""
    lanes = Lanes(array.dtype, width.literal_value)

    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = _place(context, builder, signature.args[0], lanes, *arguments[:2])
        return builder.load(place, align=_n_bytes(lanes.dtype))

    return lanes(array, types.intp, width), build


@intrinsic
def store(_context, array, row, value):  # type: ignore[no-untyped-def]
    """Overwrite row `row` of a C-contiguous matrix with as many columns as there are lanes."""

    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place = _place(context, builder, signature.args[0], value, *arguments[:2])
        builder.store(arguments[2], place, align=_n_bytes(value.dtype))
        return context.get_dummy_value()

    return types.void(array, types.intp, value), build


@intrinsic
def scaled(_context, factor, value):  # type: ignore[no-untyped-def]
    """factor · value, for a number and lanes."""

    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        number, lanes = arguments
        return builder.fmul(_spread(builder, number, lanes.type), lanes)

    return value(value.dtype, value), build


@intrinsic
def plus(_context, total, factor, value):  # type: ignore[no-untyped-def]
    """total + factor · value, for lanes, a number and lanes."""

    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        before, number, lanes = arguments
        product = builder.fmul(_spread(builder, number, lanes.type), lanes, flags=_FUSED)
        return builder.fadd(before, product, flags=_FUSED)

    return total(total, total.dtype, total), build


@intrinsic
def plus_square(_context, total, value):  # type: ignore[no-untyped-def]
    """total + value², for lanes."""

    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        square = builder.fmul(arguments[1], arguments[1], flags=_FUSED)
        return builder.fadd(arguments[0], square, flags=_FUSED)

    return total(total, total), build


@intrinsic
def narrow(_context, value):  # type: ignore[no-untyped-def]
    """Lanes of float64, rounded to float32."""
    rounded = Lanes(types.float32, value.width)

    def build(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.fptrunc(arguments[0], context.get_data_type(rounded))

    return rounded(value), build
