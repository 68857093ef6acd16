"""Habits of numba's compiler that cost a start its time and give nothing here.

What is compiled stays the same: each is work that is done again with the same result, or for nobody.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, Final
from weakref import WeakKeyDictionary

import llvmlite.binding as llvm
import numba.core.runtime._nrt_python as nrt
import numpy as np
from numba.core import environment, event, ir, targetconfig, types
from numba.core.annotations.type_annotations import TypeAnnotation
from numba.core.cpu import CPUContext
from numba.core.types.functions import BaseFunction
from numba.core.typing import typeof
from numba.core.typing.context import Context
from numba.np import numpy_support

_CALLS: Final[WeakKeyDictionary[Any, dict[Any, Any]]] = WeakKeyDictionary()
_VAR, _INST, _MANY, _NAMED, _NONE = range(5)
_SORTS: Final[dict[type, int]] = {}
_RECORDS: Final[dict[tuple[Any, bool], Any]] = {}


def _values(self: Any) -> dict[str, Any]:
    """Half a million times: an option's default is asked for anew."""
    kind = type(self)
    if "_defaults" not in kind.__dict__:
        kind._defaults = {name: option.default for name, option in kind.options.items()}
    return {**kind._defaults, **self._values}


def _record_repr(self: Any) -> str:
    """21,000 times, of types with hundreds of fields."""
    kept = self.__dict__.get("_kept_repr")
    if kept is None:
        kept = self.__dict__["_kept_repr"] = _NUMBAS["repr"](self)
    return str(kept)


def _call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """The sum of two floats goes through all that numba knows about sums, arrays and dates included."""
    if kws:
        return _NUMBAS["call_type"](self, context, args, kws)
    known = _CALLS.get(self)
    if known is None:
        known = _CALLS[self] = {}
    found = known.get((context, args))
    if found is None:
        found = known[context, args] = _NUMBAS["call_type"](self, context, args, kws)
    return found


def _sort_of(kind: type) -> int:
    for sort, kinds in ((_VAR, ir.Var), (_INST, ir.Inst), (_MANY, (list, tuple)), (_NAMED, dict)):
        if issubclass(kind, kinds):
            return sort
    return _NONE


def _list_vars(self: Any, value: Any) -> list[Any]:
    """Variables inside a value; what sort of thing it is, is asked once per class."""
    kind = type(value)
    sort = _SORTS.get(kind)
    if sort is None:
        sort = _SORTS[kind] = _sort_of(kind)
    if sort == _NONE:
        return []
    if sort == _VAR:
        return [value]
    if sort == _INST:
        return list(value.list_vars())
    return [var for v in (value if sort == _MANY else value.values()) for var in _list_vars(self, v)]


def _again(name: str) -> Any:
    """Thirty modules imported again before every function; what has come to their registries counts."""

    def call(self: Any) -> None:
        if "_flexor_loaded" not in self.__dict__:
            _NUMBAS[name](self)
            self._flexor_loaded = True
        else:
            for registry in tuple(self._registries):
                self.install_registry(registry)

    return call


def _record_of(dtype: Any) -> Any:
    """The type of a record is made anew, field by field, to find that it is known."""
    key = dtype, dtype.isalignedstruct  # layouts of both sorts count as equal
    if key not in _RECORDS:
        _RECORDS[key] = _NUMBAS["record"](dtype)
    return _RECORDS[key]


def _array_type(value: Any, purpose: Any) -> Any:
    """Whether an array is a masked one is asked of a module that nobody else wants."""
    if "numpy.ma" in sys.modules:
        return _NUMBAS["array"](value, purpose)
    record = numpy_support.from_dtype(value.dtype)
    layout = numpy_support.map_layout(value)
    return types.Array(record, value.ndim, layout, readonly=not value.flags.writeable)


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """Numba's code inside a law names its module, where nothing is looked up: only a compiler needs it."""
    if not module.startswith("numba.") or module in sys.modules:
        return _NUMBAS["environment"](module, constants, name)
    kind: Any = environment.Environment
    found = kind._memo.get(name)
    if found is None:
        found = kind._memo[name] = kind({"__name__": module})
        found.consts[:], found.env_name = constants, name
    return found


@cache
def name_helpers() -> None:
    """Tell LLVM what numba's runtime is made of: all that compiled code asks for.

    Numba itself loads what it knows of types and functions first: a tenth of a start, for the compiler alone.
    """
    helpers: dict[str, int] = nrt.c_helpers
    for name, address in helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


def _nobody(*_args: Any, **_more: Any) -> None:
    """Nobody listens."""


_NUMBAS: Final[dict[str, Any]] = {
    "repr": types.Record.__repr__,
    "record": numpy_support.from_struct_dtype,
    "array": typeof.typeof_impl.dispatch(np.ndarray),
    "environment": environment._rebuild_env,
    "call_type": BaseFunction.get_call_type,
    "target": CPUContext.load_additional_registries,
    "typing": Context.load_additional_registries,
}


def break_habits() -> None:
    """Put ours in the place of numba's."""
    for owner, name, ours in (
        (types.Record, "__repr__", _record_repr),
        (numpy_support, "from_struct_dtype", _record_of),
        (environment, "_rebuild_env", _environment),
        (targetconfig.TargetConfig, "values", _values),
        (BaseFunction, "get_call_type", _call_type),
        (ir.Inst, "_rec_list_vars", _list_vars),
        (CPUContext, "load_additional_registries", _again("target")),
        (Context, "load_additional_registries", _again("typing")),
        (TypeAnnotation, "__str__", lambda _: ""),  # the source with its types, kept with every function
        (event, "start_event", _nobody),
        (event, "end_event", _nobody),
    ):
        setattr(owner, name, ours)
    typeof.typeof_impl.register(np.ndarray)(_array_type)
