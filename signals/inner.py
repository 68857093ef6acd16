"""Laws inside laws: compiled only as far as their caller needs.

Numba makes machine code of every function by itself: it links each one with all that it calls, optimises the
whole and emits it, at every level of the tree anew. A tick has some 400 laws, of which Python calls a dozen.
Here a law that is called by another law stays an unoptimised module, which the caller links; it is optimised
and emitted once, inside the law that Python calls. What Python calls directly, a test above all, is compiled
in full.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Final

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.registry import CPUDispatcher

_KIND: Final = "inner"
_LOCAL: Final = threading.local()
CacheMaker = Callable[[Callable[..., Any], str], Any]


class InnerLibrary(JITCodeLibrary):
    """Code of a law for its callers alone: linkable, never emitted."""

    def _optimize_final_module(self) -> None:
        """Its caller's optimisation does it."""

    def _finalize_final_module(self) -> None:
        module: Any = self
        module._finalize_dynamic_globals()
        module._verify_declare_only_symbols()
        self._final_module.__library = weakref.proxy(self)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Null: there is no machine code."""
        finalized: Any = self
        finalized._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """What the cache keeps: the module."""
        module: Any = self
        module._ensure_finalized()
        return self.name, _KIND, module._get_module_for_linking().as_bitcode()


_LIBRARY: Final[Any] = InnerLibrary


class _Kept(CPUDispatcher):
    """A dispatcher whose cache is looked for when something is compiled: a start loads two dozen of 600 laws.

    Args:
        py_func: the function.
        options: numba's options.
        cache: makes its cache from the function and an ending.
    """

    ending = ""
    is_inner = False

    def __init__(self, py_func: Callable[..., Any], options: dict[str, Any], cache: CacheMaker) -> None:
        self._maker, self._made = cache, None
        super().__init__(py_func, targetoptions=options)

    @property
    def _cache(self) -> Any:
        if self._made is None:
            self._made = self._maker(self.py_func, self.ending)
        return self._made

    @_cache.setter
    def _cache(self, _none: Any) -> None:
        """Numba's first one, which keeps nothing."""

    def compile(self, sig: Any) -> Any:
        """As numba's."""
        with _inner(self.is_inner):
            return super().compile(sig)


class InnerDispatcher(_Kept):
    """Compiles a law for its callers: libraries that are never emitted."""

    ending = ".inner"
    is_inner = True


class LawDispatcher(_Kept):
    """A law: called from Python it is machine code of its own, called from a law a part of that law's."""

    @cached_property
    def inner(self) -> Any:
        """What laws call; made for the first that does. Python does not, so there is no wrapper for it."""
        return InnerDispatcher(self.py_func, {**self.targetoptions, "no_cpython_wrapper": True}, self._maker)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """How a law calls this one."""
        return self.inner.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        """What a law calls."""
        return self.inner.get_overload(sig)


@contextmanager
def _inner(on: bool) -> Iterator[None]:
    before = getattr(_LOCAL, "inner", False)
    _LOCAL.inner = on
    try:
        yield
    finally:
        _LOCAL.inner = before


def _create_library(self: Any, name: str, **more: Any) -> Any:
    if getattr(_LOCAL, "inner", False):
        return _LIBRARY(self, name, **more)
    return _NUMBAS["create"](self, name, **more)


def _unserialize_library(self: Any, serialized: Any) -> Any:
    name, kind, data = serialized
    if kind != _KIND:
        with _inner(False):
            return _NUMBAS["unserialize"](self, serialized)
    library = _LIBRARY(self, name)
    library._final_module = llvm.parse_bitcode(data)
    library._finalize_final_module()
    return library


def _optimise(self: Any) -> None:
    """Laws that were linked in belong to this one alone: what is called from one place is inlined there."""
    for function in self._final_module.functions:
        if not function.is_declaration and function.linkage == llvm.Linkage.linkonce_odr:
            function.linkage = llvm.Linkage.internal
    _NUMBAS["optimise"](self)


def _set_env(self: Any, env_name: str, env: Any) -> None:
    if self._engine.get_global_value_address(env_name):
        _NUMBAS["set_env"](self, env_name, env)


_NUMBAS: Final[dict[str, Any]] = {
    "create": JITCPUCodegen.create_library,
    "unserialize": JITCPUCodegen.unserialize_library,
    "set_env": JITCPUCodegen.set_env,
    "optimise": JITCodeLibrary._optimize_final_module,
}
for _owner, _name, _ours in (
    (JITCPUCodegen, "create_library", _create_library),
    (JITCPUCodegen, "unserialize_library", _unserialize_library),
    (JITCPUCodegen, "set_env", _set_env),
    (JITCodeLibrary, "_optimize_final_module", _optimise),
):
    setattr(_owner, _name, _ours)
