"""Eight doubles at a time: butterflies and copies that stay in the vector registers."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

WIDE = 8
VECTOR = ir.VectorType(ir.DoubleType(), WIDE)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    data = cgutils.create_struct_proxy(kind)(context, builder, array).data  # type: ignore[no-untyped-call]
    return builder.bitcast(builder.gep(data, [place]), VECTOR.as_pointer())


@intrinsic
def cross_sixteen(typing: Any, array: Any, place: Any, run: Any) -> Any:
    """Sums and differences along four axes of two categories, of sixteen vectors `run` apart."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values, at, step = args
        places = [
            _pointer(
                context,
                builder,
                signature.args[0],
                values,
                builder.add(at, builder.mul(step, ir.Constant(step.type, i))),
            )
            for i in range(16)
        ]
        held = []
        for place in places:
            vector = builder.load(place)
            vector.align = 8
            held.append(vector)
        for apart in (1, 2, 4, 8):
            for i in range(16):
                if not i & apart:
                    a, b = held[i], held[i + apart]
                    held[i], held[i + apart] = builder.fadd(a, b), builder.fsub(a, b)
        for place, vector in zip(places, held, strict=True):
            builder.store(vector, place).align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate


@intrinsic
def copy_eight(typing: Any, source: Any, start: Any, target: Any, place: Any) -> Any:
    """Eight numbers from one flat array to another."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = builder.load(_pointer(context, builder, signature.args[0], args[0], args[1]))
        vector.align = 8
        to = _pointer(context, builder, signature.args[2], args[2], args[3])
        builder.store(vector, to).align = 8
        return context.get_dummy_value()

    return types.void(source, types.intp, target, types.intp), generate
