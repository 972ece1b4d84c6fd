"""Sixteen numbers at a time, which stay in the vector registers: kinds of numbers and what is done.

`Whole`, `Real` and `Truth` are vectors inside compiled functions only. They add, multiply and
compare lane by lane; machines with narrower registers take them in parts.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin

compiled: Any = intrinsic
LANES = 16
BIT, INT, LONG, DOUBLE = ir.IntType(1), ir.IntType(32), ir.IntType(64), ir.DoubleType()
INTS, LONGS, DOUBLES = (ir.VectorType(kind, LANES) for kind in (INT, LONG, DOUBLE))


class Lanes(types.Type):
    """A vector of such numbers."""

    def __init__(self, name: str, element: Any) -> None:
        self.element = element
        super().__init__(name=name)


@register_default(Lanes)
class _InRegisters(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.VectorType(kind.element, LANES))  # type: ignore[no-untyped-call]


WHOLE, REAL, TRUTH = Lanes("Whole", INT), Lanes("Real", DOUBLE), Lanes("Truth", BIT)


def _operator(symbol: Any, result: Any, kinds: Any, emit: Callable[..., Any]) -> None:
    @infer_global(symbol)  # type: ignore[no-untyped-call]
    class _Typed(ConcreteTemplate):
        key = symbol
        cases = [signature(result, *kinds)]  # type: ignore[no-untyped-call]  # noqa: RUF012

    lower = lower_builtin(symbol, *kinds)  # type: ignore[no-untyped-call]
    lower(lambda context, builder, sig, args: emit(builder, *args))


for _symbol, _real, _whole in (
    (operator.add, ir.IRBuilder.fadd, ir.IRBuilder.add),
    (operator.sub, ir.IRBuilder.fsub, ir.IRBuilder.sub),
    (operator.mul, ir.IRBuilder.fmul, ir.IRBuilder.mul),
):
    _operator(_symbol, REAL, (REAL, REAL), _real)
    _operator(_symbol, WHOLE, (WHOLE, WHOLE), _whole)
_operator(operator.truediv, REAL, (REAL, REAL), ir.IRBuilder.fdiv)
_operator(operator.and_, TRUTH, (TRUTH, TRUTH), ir.IRBuilder.and_)
for _symbol, _sign in ((operator.lt, "<"), (operator.le, "<="), (operator.ge, ">="),
                       (operator.ne, "!=")):  # fmt: skip
    _operator(_symbol, TRUTH, (REAL, REAL),
              lambda builder, a, b, sign=_sign: builder.fcmp_ordered(sign, a, b))  # fmt: skip
    _operator(_symbol, TRUTH, (WHOLE, WHOLE),
              lambda builder, a, b, sign=_sign: builder.icmp_signed(sign, a, b))  # fmt: skip


def _all(builder: Any, vector: Any, value: Any) -> Any:
    none = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(none, value, ir.Constant(INT, 0))
    return builder.shuffle_vector(one, none, ir.Constant(INTS, [0] * LANES))


def _data(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    data = cgutils.create_struct_proxy(kind)(context, builder, array).data  # type: ignore[no-untyped-call]
    return builder.gep(data, [place])


def _load(builder: Any, pointer: Any, vector: Any) -> Any:
    value = builder.load(builder.bitcast(pointer, vector.as_pointer()))
    value.align = 4 if vector is INTS else 8
    return value


def _store(builder: Any, value: Any, pointer: Any, vector: Any) -> None:
    to = builder.bitcast(pointer, vector.as_pointer())
    builder.store(value, to).align = 4 if vector is INTS else 8


def _reduce(builder: Any, name: str, value: Any) -> Any:
    kind = ir.FunctionType(INT, [INTS])
    function = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
        builder.module, kind, f"llvm.vector.reduce.{name}.v{LANES}i32"
    )
    return builder.sext(builder.call(function, [value]), LONG)


@compiled
def whole(typing: Any, value: Any) -> Any:
    """The same whole number in every lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _all(builder, INTS, builder.trunc(args[0], INT))

    return WHOLE(types.int64), generate


@compiled
def real(typing: Any, value: Any) -> Any:
    """The same number in every lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _all(builder, DOUBLES, args[0])

    return REAL(types.float64), generate


@compiled
def exactly(typing: Any, numbers: Any) -> Any:
    """Whole numbers as real ones."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sitofp(args[0], DOUBLES)

    return REAL(WHOLE), generate


@compiled
def cut(typing: Any, numbers: Any) -> Any:
    """Real numbers without what is behind the point."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fptosi(args[0], INTS)

    return WHOLE(REAL), generate


@compiled
def take(typing: Any, array: Any, place: Any) -> Any:
    """Sixteen numbers of a flat array of int32 or float64."""
    kind, vector = (WHOLE, INTS) if array.dtype == types.int32 else (REAL, DOUBLES)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _load(builder, _data(context, builder, signature.args[0], *args), vector)

    return kind(array, types.intp), generate


@compiled
def give(typing: Any, array: Any, place: Any, numbers: Any) -> Any:
    """Write them there."""
    vector = INTS if array.dtype == types.int32 else DOUBLES

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to = _data(context, builder, signature.args[0], args[0], args[1])
        _store(builder, args[2], to, vector)
        return context.get_dummy_value()

    return types.void(array, types.intp, numbers), generate


@compiled
def where(typing: Any, truth: Any, yes: Any, no: Any) -> Any:
    """`yes` in the lanes where it is true, else `no`."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(*args)

    return yes(TRUTH, yes, no), generate


@compiled
def largest(typing: Any, numbers: Any) -> Any:
    """Of the whole numbers in all lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _reduce(builder, "smax", args[0])

    return types.int64(WHOLE), generate


@compiled
def how_many(typing: Any, truth: Any) -> Any:
    """In how many lanes is it true?"""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _reduce(builder, "add", builder.zext(args[0], INTS))

    return types.int64(TRUTH), generate


@compiled
def look_up(typing: Any, array: Any, first: Any, places: Any) -> Any:
    """Each lane's own number of an array of float64, `places` from `first` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        start = _data(context, builder, signature.args[0], args[0], args[1])
        found = ir.Constant(DOUBLES, ir.Undefined)
        for lane in range(LANES):
            here = ir.Constant(INT, lane)
            place = builder.zext(builder.extract_element(args[2], here), LONG)
            found = builder.insert_element(found, builder.load(builder.gep(start, [place])), here)
        return found

    return REAL(array, types.intp, WHOLE), generate


@compiled
def uniform(typing: Any, seeds: Any) -> Any:
    """Random numbers in [0, 1): xoshiro256+, a generator a lane (Blackman & Vigna 2021).

    `seeds` are four words a lane, sixteen of each in a row.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def every(value: int) -> Any:
            return _all(builder, LONGS, ir.Constant(LONG, value))

        at = [
            _data(context, builder, signature.args[0], args[0], ir.Constant(LONG, k * LANES))
            for k in range(4)
        ]
        a, b, c, d = (_load(builder, place, LONGS) for place in at)
        bits = builder.or_(builder.lshr(builder.add(a, d), every(12)), every(1023 << 52))
        shifted = builder.shl(b, every(17))
        c, d = builder.xor(c, a), builder.xor(d, b)
        b, a = builder.xor(b, c), builder.xor(a, d)
        c = builder.xor(c, shifted)
        d = builder.or_(builder.shl(d, every(45)), builder.lshr(d, every(19)))
        for value, place in zip((a, b, c, d), at, strict=True):
            _store(builder, value, place, LONGS)
        one = _all(builder, DOUBLES, ir.Constant(DOUBLE, 1.0))
        return builder.fsub(builder.bitcast(bits, DOUBLES), one)

    return REAL(seeds), generate
