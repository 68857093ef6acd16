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

WORD = ir.IntType(64)


@intrinsic  # type: ignore[untyped-decorator]
def load_acquire(_typing: Any, _address: Any) -> Any:
    """Read the 8-byte word at an address; later reads stay behind it."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], WORD.as_pointer())
        return builder.load_atomic(pointer, "acquire", 8)

    return types.uint64(types.uintp), generate


@intrinsic  # type: ignore[untyped-decorator]
def store_release(_typing: Any, _address: Any, _value: Any) -> Any:
    """Write an 8-byte word at an address; earlier writes stay before it."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        pointer = builder.inttoptr(args[0], WORD.as_pointer())
        builder.store_atomic(args[1], pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(types.uintp, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def fence(_typing: Any) -> Any:
    """Full fence: no load or store moves across it."""

    def generate(context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic  # type: ignore[untyped-decorator]
def copy_bytes(_typing: Any, _target: Any, _source: Any, _count: Any) -> Any:
    """Copy ``count`` bytes from one address to another; the areas must not overlap."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        target, source = (builder.inttoptr(a, byte) for a in args[:2])
        cgutils.raw_memcpy(builder, target, source, args[2], 1)
        return context.get_dummy_value()

    return types.void(types.uintp, types.uintp, types.uintp), generate
