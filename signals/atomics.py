"""Ordered loads, stores and copies on raw addresses, for memory that two processes share.

A sequence lock needs three things that plain numpy does not promise on every processor: the reader sees
the sequence before the payload (acquire), the writer publishes the payload before the sequence (release),
and nothing in between is moved across a fence. Addresses are integers (``array.ctypes.data``).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from signals.compiled import law

WORD = ir.IntType(64)


def _load_acquire(_typing: Any, _address: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], WORD.as_pointer())
        return builder.load_atomic(pointer, "acquire", 8)

    return types.uint64(types.uintp), generate


def _store_release(_typing: Any, _address: Any, _value: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], WORD.as_pointer())
        builder.store_atomic(args[1], pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(types.uintp, types.uint64), generate


def _fence(_typing: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


def _copy_bytes(_typing: Any, _target: Any, _source: Any, _count: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        target, source = (builder.inttoptr(a, byte) for a in args[:2])
        copy: Any = cgutils.raw_memcpy
        copy(builder, target, source, args[2], 1)
        return context.get_dummy_value()

    return types.void(types.uintp, types.uintp, types.uintp), generate


def _touch_stack(_typing: Any, size: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        byte = ir.IntType(8)
        room = builder.alloca(byte, args[0])
        module = builder.module
        name = f"llvm.memset.p0{'' if room.type.is_opaque else 'i8'}.i64"
        kinds = [room.type, byte, WORD, ir.IntType(1)]
        declare: Any = cgutils.get_or_insert_function
        fill = declare(module, ir.FunctionType(ir.VoidType(), kinds), name)
        # volatile: nobody reads it, and it must happen all the same
        builder.call(fill, [room, ir.Constant(byte, 0), args[0], ir.Constant(ir.IntType(1), 1)])
        return context.get_dummy_value()

    return types.void(types.int64), generate


load_acquire: Any = intrinsic(_load_acquire)
"""Read the 8-byte word at an address; later reads stay behind it."""
store_release: Any = intrinsic(_store_release)
"""Write an 8-byte word at an address; earlier writes stay before it."""
fence: Any = intrinsic(_fence)
"""Full fence: no load or store moves across it."""
copy_bytes: Any = intrinsic(_copy_bytes)
"""Copy ``count`` bytes from one address to another; the areas must not overlap."""
_touch: Any = intrinsic(_touch_stack)


@law
def touch_stack(size: int) -> None:
    """Write ``size`` bytes of the stack below the caller, so that later calls find its pages there."""
    _touch(size)
