"""Habits of numba's compiler that cost a start its time and give nothing here.

What is compiled stays the same: each is work that is done again with the same result, or for nobody.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any, Final
from weakref import WeakKeyDictionary

import llvmlite.binding as llvm
import numba.core.runtime._nrt_python as nrt
import numpy as np
from numba.core import (
    analysis,
    config,
    environment,
    errors,
    event,
    ir,
    lowering,
    postproc,
    targetconfig,
    transforms,
    typeinfer,
    types,
)
from numba.core.annotations.type_annotations import TypeAnnotation
from numba.core.base import OverloadSelector
from numba.core.codegen import CPUCodeLibrary
from numba.core.cpu import CPUContext
from numba.core.runtime.context import NRTContext
from numba.core.types.functions import BaseFunction
from numba.core.typing import typeof
from numba.core.typing.context import Context
from numba.np import numpy_support

_CALLS: Final[WeakKeyDictionary[Any, dict[Any, Any]]] = WeakKeyDictionary()
_VAR, _INST, _MANY, _NAMED, _NONE = range(5)
_SORTS: Final[dict[type, int]] = {}
_RECORDS: Final[dict[tuple[Any, bool], Any]] = {}
_COUNTED: Final[dict[Any, bool]] = {}
_ERRORS: Final[Any] = errors
_LITERAL: Final[Any] = types.literal
_CANONICAL: Final[Any] = transforms.canonicalize_cfg
_LIFETIME: Final[Any] = postproc.VariableLifetime
_LIVING: Final[Any] = analysis.compute_live_variables


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


def _list_vars(_self: Any, value: Any) -> list[Any]:
    """Variables inside a value; what sort of thing it is, is asked once per class."""
    found: list[Any] = []
    _collect((value,), found)
    return found


def _collect(values: Iterable[Any], found: list[Any]) -> None:
    for value in values:
        kind = type(value)
        sort = _SORTS.get(kind)
        if sort is None:
            sort = _SORTS[kind] = _sort_of(kind)
        if sort == _VAR:
            found.append(value)
        elif sort == _INST:
            found += value.list_vars()
        elif sort != _NONE:
            _collect(value if sort == _MANY else value.values(), found)


class _ErrorContext:
    """What an error is told of its place; there are eighty thousand places and no error."""

    __slots__ = ("_about", "_args", "_more")

    def __init__(self, about: str, *args: Any, **more: Any) -> None:
        self._about, self._args, self._more = about, args, more

    def __enter__(self) -> None:
        loc = self._more.get("loc")
        if loc is not None and not loc.filename.startswith(_ERRORS._numba_path):
            _ERRORS.loc_info.update(self._more)

    def __exit__(self, _kind: Any, error: Any, _trace: Any) -> None:
        if isinstance(error, errors.NumbaError):
            error.add_context(_ERRORS._format_msg(self._about, self._args, self._more))


def _meminfos(self: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Numbers and records are not counted; every one was taken apart to see that."""
    counted = _COUNTED.get(kind)
    if counted is None:
        counted = _COUNTED[kind] = self._context.data_model_manager[kind].contains_nrt_meminfo()
    return _NUMBAS["meminfos"](self, builder, kind, value) if counted else []


def _held(context: Any) -> int:
    """How much the registries of a context hold."""
    return sum(len(held) for registry in context._registries for held in vars(registry).values())


def _refresh(name: str) -> Any:
    """Before every function, and after every question without an answer, forty modules are asked for news."""

    def call(self: Any) -> None:
        contexts = self, getattr(self, "typing_context", self)
        if self.__dict__.get("_flexor_held") != [*map(_held, contexts)]:
            _NUMBAS[name](self)
            self._flexor_held = [*map(_held, contexts)]

    return call


def _find(self: Any, sig: Any) -> Any:
    """What has no answer is asked again for every field that is read, and told in full."""
    found = self._cache.get(sig)
    if found is None:
        try:
            found = self._find(sig)
        except errors.NumbaNotImplementedError as error:
            found = error.with_traceback(None)
        self._cache[sig] = found  # emptied when there is more to choose from
    if isinstance(found, Exception):
        raise _ERRORS.NumbaNotImplementedError(*found.args)
    return found


def _maybe_literal(value: Any) -> Any:
    """What is none is found by an exception, of a long sentence."""
    return _LITERAL(value) if type(value) in types.Literal.ctor_map else None


def _post_process(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """Who lives where is computed after each of nine passes; the last needs it, and generators do."""
    ir_now = self.func_ir
    if ir_now.is_generator:
        _NUMBAS["post_process"](self, emit_dels, extend_lifetimes)
        return
    ir_now.blocks = _CANONICAL(ir_now.blocks)
    ir_now.variable_lifetime = _LIFETIME(ir_now.blocks)  # computes when it is asked
    ir_now.block_entry_vars = {}
    ir_now.generator_info = None
    if emit_dels:
        self._insert_var_dels(extend_lifetimes=extend_lifetimes)


def _entry_vars(self: Any, block: Any) -> Any:
    """Object mode alone asks who lives where a block begins."""
    known = self.block_entry_vars
    if block not in known:
        life = self.variable_lifetime
        found = _LIVING(life.cfg, self.blocks, life.usedefs.defmap, life.deadmaps.combined)
        known |= {each: found[offset] for offset, each in self.blocks.items()}
    return known[block]


def _optimize_functions(self: Any, module: Any) -> None:
    """Of the functions of a module four in five are declarations, with nothing to optimise."""
    module.data_layout = self._codegen._data_layout
    for function in module.functions:
        if not function.is_declaration:
            passes, builder = self._codegen._function_pass_manager()
            passes.run(function, builder)


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
    try:
        record = numpy_support.from_dtype(value.dtype)
    except errors.NumbaNotImplementedError:
        return _NUMBAS["array"](value, purpose)  # to be refused in numba's words
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


# numba keeps it by name with all that it compiles, a user's own functions too: by the name of its own
_environment.__module__, _environment.__qualname__ = environment.__name__, environment._rebuild_env.__name__


@cache
def name_helpers() -> None:
    """Tell LLVM what numba's runtime is made of: all that compiled code asks for.

    Numba itself loads what it knows of types and functions first: a tenth of a start, for the compiler alone.
    """
    if getattr(config, "NRT_STATS"):  # noqa: B009 - made of the environment when numba is imported
        nrt.memsys_enable_stats()
    helpers: dict[str, int] = nrt.c_helpers
    for name, address in helpers.items():
        llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
    import_module("numba.cpython.hashing")  # names what tables and sets are hashed with


def _nobody(*_args: Any, **_more: Any) -> None:
    """Nobody listens."""


_NUMBAS: Final[dict[str, Any]] = {
    "repr": types.Record.__repr__,
    "record": numpy_support.from_struct_dtype,
    "array": typeof.typeof_impl.dispatch(np.ndarray),
    "environment": environment._rebuild_env,
    "call_type": BaseFunction.get_call_type,
    "target": CPUContext.refresh,
    "typing": Context.refresh,
    "meminfos": NRTContext.get_meminfos,
    "post_process": postproc.PostProcessor.run,
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
        (CPUContext, "refresh", _refresh("target")),
        (Context, "refresh", _refresh("typing")),
        (OverloadSelector, "find", _find),
        (types, "maybe_literal", _maybe_literal),
        (errors, "new_error_context", _ErrorContext),
        (lowering, "new_error_context", _ErrorContext),
        (typeinfer, "new_error_context", _ErrorContext),
        (NRTContext, "get_meminfos", _meminfos),
        (postproc.PostProcessor, "run", _post_process),
        (ir.FunctionIR, "get_block_entry_vars", _entry_vars),
        (CPUCodeLibrary, "_optimize_functions", _optimize_functions),
        (type(errors.termcolor()), "_markup", lambda _, text, *_more: text),  # thousands that nobody reads
        (TypeAnnotation, "__str__", lambda _: ""),  # the source with its types, kept with every function
        (event, "start_event", _nobody),
        (event, "end_event", _nobody),
    ):
        setattr(owner, name, ours)
    typeof.typeof_impl.register(np.ndarray)(_array_type)
