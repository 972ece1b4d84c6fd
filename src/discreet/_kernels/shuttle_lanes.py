"""Sums of whole records as vector instructions: LANES lower ends, then LANES upper ends.

Values stay in registers, what changed is one mask of lanes (numba's own loops add it up lane by
lane), and a record that does not change is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 32
THREES = 27  # nodes of a record with three digits of two parts and their sum
WORD = ir.IntType(64)


class _Records:
    """The records of an array of (records, 2, LANES) whole numbers, while code is generated."""

    def __init__(self, context: Any, builder: Any, kind: Any, array: Any) -> None:
        self.builder = builder
        self.vector = ir.VectorType(ir.IntType(kind.dtype.bitwidth), LANES)
        self.align = kind.dtype.bitwidth // 8
        data = cgutils.create_struct_proxy(kind)(context, builder, array).data  # type: ignore[no-untyped-call]
        self.start = builder.bitcast(data, self.vector.as_pointer())
        self.least, self.most = self._named("umin"), self._named("umax")
        self.less = self._named("usub.sat")  # not below zero

    def _named(self, name: str) -> Callable[[Any, Any], Any]:
        kind = ir.FunctionType(self.vector, [self.vector, self.vector])
        full = f"llvm.{name}.v{LANES}i{self.vector.element.width}"
        function = cgutils.get_or_insert_function(self.builder.module, kind, full)  # type: ignore[no-untyped-call]
        return lambda one, other: self.builder.call(function, [one, other])

    def places(self, record: Any) -> tuple[Any, Any]:
        first = self.builder.mul(record, ir.Constant(record.type, 2))
        second = self.builder.add(first, ir.Constant(record.type, 1))
        return self.builder.gep(self.start, [first]), self.builder.gep(self.start, [second])

    def load(self, places: tuple[Any, Any]) -> tuple[Any, Any]:
        ends = self.builder.load(places[0]), self.builder.load(places[1])
        ends[0].align = ends[1].align = self.align
        return ends

    def store(self, places: tuple[Any, Any], ends: tuple[Any, Any]) -> None:
        for place, end in zip(places, ends, strict=True):
            self.builder.store(end, place).align = self.align

    def differ(self, old: tuple[Any, Any], new: tuple[Any, Any]) -> Any:
        low, high = (self.builder.icmp_unsigned("!=", a, b) for a, b in zip(old, new, strict=True))
        lanes = self.builder.bitcast(self.builder.or_(low, high), ir.IntType(LANES))
        return self.builder.icmp_unsigned("!=", lanes, ir.Constant(lanes.type, 0))

    def shuffled(self, ends: Any, lanes: list[int]) -> Any:
        order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), lanes)
        return self.builder.shuffle_vector(ends, ir.Constant(ends.type, ir.Undefined), order)

    def chosen(self, lanes: Iterable[bool], ends: Any, otherwise: Any) -> Any:
        mask = ir.Constant(ir.VectorType(ir.IntType(1), LANES), list(map(int, lanes)))
        return self.builder.select(mask, ends, otherwise)


def _pair(store: bool) -> Callable[..., Any]:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        records = _Records(context, builder, signature.args[0], args[0])
        least, most, less, plus = records.least, records.most, records.less, builder.add
        places = [records.places(record) for record in args[1:]]
        old = [records.load(place) for place in places]
        (la, ua), (lb, ub), (lp, up) = old
        lp, up = most(lp, plus(la, lb)), least(up, plus(ua, ub))
        new = [
            (most(la, less(lp, ub)), least(ua, less(up, lb))),
            (most(lb, less(lp, ua)), least(ub, less(up, la))),
            (lp, up),
        ]
        bits = ir.Constant(WORD, 0)
        for bit, (place, before, after) in enumerate(zip(places, old, new, strict=True)):
            differs = records.differ(before, after)
            if store:
                with builder.if_then(differs):
                    records.store(place, after)
            shifted = builder.shl(builder.zext(differs, WORD), ir.Constant(WORD, bit))
            bits = builder.or_(bits, shifted)
        return bits

    return generate


@intrinsic
def settle_pair(typing: Any, data: Any, a: Any, b: Any, p: Any) -> Any:
    """A record p that is the sum of a and b; bits 1, 2, 4 say which of a, b, p changed."""
    return types.int64(data, types.intp, types.intp, types.intp), _pair(store=True)


@intrinsic
def pair_changes(typing: Any, data: Any, a: Any, b: Any, p: Any) -> Any:
    """What `settle_pair` would change, and nothing is stored."""
    return types.int64(data, types.intp, types.intp, types.intp), _pair(store=False)


@intrinsic
def settle_threes(typing: Any, data: Any, record: Any) -> Any:
    """One pass over the THREES sums inside a record, digit after digit; did it change?

    Along a digit every lane sees the two others of its sum: first the sum takes in its parts, then
    each part the sum and the other part.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        records = _Records(context, builder, signature.args[0], args[0])
        least, most, less, plus = records.least, records.most, records.less, builder.add
        place = records.places(args[1])
        old = low, high = records.load(place)
        for step in (1, 3, 9):
            digit = [lane // step % 3 if lane < THREES else -1 for lane in range(LANES)]
            one = [lane + (step, -step, -2 * step, 0)[digit[lane]] for lane in range(LANES)]
            two = [lane + (2 * step, step, -step, 0)[digit[lane]] for lane in range(LANES)]
            one_low, one_high = records.shuffled(low, one), records.shuffled(high, one)
            sum_low = plus(one_low, records.shuffled(low, two))
            sum_high = plus(one_high, records.shuffled(high, two))
            sums, parts = [d == 2 for d in digit], [d in (0, 1) for d in digit]
            low = records.chosen(sums, most(low, sum_low), low)
            high = records.chosen(sums, least(high, sum_high), high)
            up_low, up_high = records.shuffled(low, two), records.shuffled(high, two)
            low, high = (
                records.chosen(parts, most(low, less(up_low, one_high)), low),
                records.chosen(parts, least(high, less(up_high, one_low)), high),
            )
        differs = records.differ(old, (low, high))
        with builder.if_then(differs):
            records.store(place, (low, high))
        return differs

    return types.boolean(data, types.intp), generate
