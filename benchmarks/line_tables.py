"""Line tables in the code that numba makes, so that an address tells its law; the code stays the same.

Numba's own ``debug`` would keep laws from being inlined and count other code than what runs. Here it writes
line tables alone: an instruction that was inlined knows by what chain of laws. ``install`` comes before the
first law is imported, and the process needs a compile cache of its own.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Final

from numba.core import codegen, cpu, debuginfo
from numba.core.errors import NumbaDebugInfoWarning

objects: Final[dict[str, bytes]] = {}
"""Object code of every library by its name, since ``install``."""


class LineTables(debuginfo.DIBuilder):
    """Numba's debug information without its variables: lines and what was inlined where."""

    def __init__(self, module: Any, filepath: str, cgctx: Any, directives_only: bool) -> None:
        super().__init__(module, filepath, cgctx, False)  # type: ignore[no-untyped-call]

    @property
    def emission_kind(self) -> str:
        """What LLVM writes; numba's own choice is passed over."""
        return "LineTablesOnly"

    @emission_kind.setter
    def emission_kind(self, chosen: str) -> None:
        pass

    def mark_variable(self, *_: Any, **__: Any) -> None:
        """No variables: they would need memory that the counted code does not."""


def install() -> None:
    """From now on every law is compiled with line tables, and its object code is kept."""
    warnings.simplefilter("ignore", NumbaDebugInfoWarning)
    cpu.CPUContext.DIBuilder = LineTables
    options_type: Any = cpu.CPUTargetOptions
    library_type: Any = codegen.CPUCodeLibrary
    finalize, set_object = options_type.finalize, library_type._set_compiled_object

    def with_lines(self: Any, flags: Any, options: Any) -> None:
        flags.debuginfo, flags.dbg_directives_only = True, True  # else numba marks each law noinline
        flags.dbg_extend_lifetimes = flags.boundscheck = False
        finalize(self, flags, options)

    def keep(self: Any, value: bytes) -> None:
        objects[self.name] = value
        set_object(self, value)

    options_type.finalize, library_type._set_compiled_object = with_lines, keep


def write_object(law: Any, path: Path) -> None:
    """Object code of a compiled law into ``path``, the name and address of its function beside it."""
    compiled = law.overloads[law.signatures[0]]
    name = compiled.fndesc.llvm_func_name
    address = compiled.library._codegen._engine.get_function_address(name)
    path.write_bytes(objects[compiled.library.name])
    path.with_suffix(".address").write_text(f"{name} {address}\n", encoding="utf-8")
