"""Laws called by the address of their machine code, from a law that was compiled without them.

A law inside a law is compiled anew with its caller (``signals.inner``): half a minute for a tick, and other
fused multiply-adds. By address it is the code that Python calls too: the same results, bit by bit.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.extending import intrinsic
from numba.core.typing.templates import Signature


def entry_of(law: Any, signature: Signature) -> int:
    """Address of a law's machine code, compiled or loaded now; valid as long as the law lives.

    Args:
        law: the law.
        signature: its types, as numba writes them: ``types.int64(types.int64, types.float64)``.

    Raises:
        TypeError: the law returns something else.
    """
    law.compile(signature.args)
    compiled = law.overloads[signature.args]
    found = compiled.signature.return_type
    if found != signature.return_type:
        raise TypeError(f"{law.__name__} returns {found}, not {signature.return_type}")
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def call_of(signature: Signature) -> Any:
    """What calls such an address inside a law: ``call(address, (argument, ...))``."""
    unpack: Any = cgutils.unpack_tuple

    def call(_typing: Any, _address: Any, given: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            convention, result = context.call_conv, signature.return_type
            kind = convention.get_function_type(result, signature.args)
            callee = builder.inttoptr(args[0], kind.as_pointer())
            values = zip(unpack(builder, args[1]), given, signature.args, strict=True)
            wanted = [context.cast(builder, *value) for value in values]
            _, out = convention.call_function(builder, callee, result, signature.args, wanted)
            return out

        return signature.return_type(types.int64, given), generate

    return intrinsic(call)
