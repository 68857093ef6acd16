"""The three stages of a tick by name: ours, or a foreign callable over the same records.

A foreign estimator or controller is any callable with the signature of ours, compiled or plain Python,
named ``module:function`` in the hand file. Its module may hold ``MEMORY``, the dtype of its memory record.
The guard is always ours and always last.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, invalidate_caches
from types import ModuleType
from typing import Any

import numpy as np

from signals.records import RecordArray

Law = Callable[..., Any]
DEFAULT = "flexor"
"""Name of our own estimator and controller."""


class StageError(ValueError):
    """A stage that the hand file names cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """Estimator, controller and guard with their memory records, each of shape (1,)."""

    estimate: Law
    estimator_memory: RecordArray
    control: Law
    controller_memory: RecordArray
    guard: Law
    guard_memory: RecordArray
    foreign: bool
    """Estimator or controller is not ours."""


def _imported(name: str) -> ModuleType:
    """A module; the current folder is searched too, last, and for this import alone."""
    here = os.getcwd()
    sys.path.append(here)
    invalidate_caches()
    try:
        return import_module(name)
    finally:
        sys.path.pop(len(sys.path) - 1 - sys.path[::-1].index(here))


def _foreign(kind: str, name: str) -> tuple[Law, RecordArray]:
    module_name, colon, function_name = name.partition(":")
    if not colon:
        raise StageError(f"{kind} {name!r}: write {DEFAULT!r} for ours or 'module:function' for your own")
    try:
        module = _imported(module_name)
    except ImportError as error:
        raise StageError(
            f"{kind} {name!r}: cannot import {module_name!r} ({error}); "
            "run from its folder or put that folder into PYTHONPATH"
        ) from None
    function = getattr(module, function_name, None)
    if not callable(function):
        names = ", ".join(n for n, v in vars(module).items() if callable(v) and not n.startswith("_"))
        raise StageError(f"{kind} {name!r}: {module_name} has no such function (it has: {names})")
    memory = np.zeros(1, dtype=getattr(module, "MEMORY", np.dtype([("nothing", "f8")], align=True)))
    return function, memory


def make_stages(estimator: str = DEFAULT, controller: str = DEFAULT) -> Stages:
    """Stages with fresh memories.

    Args:
        estimator: ``flexor`` or ``module:function``.
        controller: ``flexor`` or ``module:function``.

    Raises:
        StageError: naming what cannot be imported and what to do.
    """
    from controllers.guard import GUARD_MEMORY, guard
    from controllers.tick import CONTROLLER_MEMORY, control
    from estimators.tick import ESTIMATOR_MEMORY, estimate

    estimate_law: Law = estimate
    control_law: Law = control
    estimator_memory = np.zeros(1, dtype=ESTIMATOR_MEMORY)
    controller_memory = np.zeros(1, dtype=CONTROLLER_MEMORY)
    if estimator != DEFAULT:
        estimate_law, estimator_memory = _foreign("estimator", estimator)
    if controller != DEFAULT:
        control_law, controller_memory = _foreign("controller", controller)
    return Stages(
        estimate=estimate_law,
        estimator_memory=estimator_memory,
        control=control_law,
        controller_memory=controller_memory,
        guard=guard,
        guard_memory=np.zeros(1, dtype=GUARD_MEMORY),
        foreign=(estimator, controller) != (DEFAULT, DEFAULT),
    )
