"""Compiled laws in plain Python, for a process that calls them seldom and shall not wait for a compiler."""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any


@cache
def plain(law: Any) -> Any:
    """The law as Python wrote it, with every law that it calls; takes any object that has its fields."""
    source: Any = law.py_func
    known = dict(source.__globals__)
    for name in source.__code__.co_names:
        if hasattr(known.get(name), "py_func"):
            known[name] = plain(known[name])
    return FunctionType(source.__code__, known, source.__name__, source.__defaults__, source.__closure__)
