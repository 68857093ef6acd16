"""The stages of a tick by name: ours, or a foreign callable over the same records.

A foreign estimator or controller is any callable with the signature of ours, compiled or plain Python,
named ``module:function`` in the hand file. Its module may hold ``MEMORY``, the dtype of its memory record.
The guard is always ours and always last. Foreign detectors look after it, at copies: all that one can do is
latch its own cause, and the guard reacts to that in the next cycle.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, invalidate_caches
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from guard.latch import FINDING, SPACES, latch_findings
from signals.faults import FOREIGN
from signals.foreign import note, place_of, place_of_code, place_of_import, sentence
from signals.names import HandNames
from signals.records import COMMAND, MEASUREMENT, MODEL, STATE, RecordArray

Law = Callable[..., Any]
DEFAULT = "flexor"
"""Name of our own estimator and controller."""
ESTIMATOR_ARGUMENTS: Final = ("model", "measurement", "memory", "state")
CONTROLLER_ARGUMENTS: Final = ("model", "goal", "memory", "state", "command")
DETECTOR_ARGUMENTS: Final = ("model", "measurement", "memory", "state", "command", "findings")


class StageError(ValueError):
    """A stage that the hand file names cannot be used, or raised something."""


@dataclass(frozen=True, slots=True)
class ForeignDetector:
    """A detector of somebody else, with its memory, its findings and what it may latch."""

    detect: Law
    memory: RecordArray
    findings: NDArray[Any]
    """``FINDING``, one for each part of its space."""
    space: int
    cause: int
    model: RecordArray
    """Its own copy: half of what a cycle would have to copy does not change in a run."""


class ForeignDetectors:
    """Calls foreign detectors with copies of the records; latches what they find.

    Args:
        detectors: in the order of the hand file.
    """

    def __init__(self, detectors: tuple[ForeignDetector, ...] = ()) -> None:
        self._detectors = detectors
        self._copies = tuple(np.zeros(1, dtype=kind) for kind in (MEASUREMENT, STATE, COMMAND))
        self._bytes = tuple(copy.view(np.uint8) for copy in self._copies)
        self._begun = False

    def __len__(self) -> int:
        return len(self._detectors)

    def look(
        self, model: RecordArray, measurement: RecordArray, state: RecordArray, command: RecordArray
    ) -> None:
        """One cycle; only the causes in ``state`` change.

        Args:
            model: ``signals.records.MODEL``, shape (1,).
            measurement: ``signals.records.MEASUREMENT``, shape (1,).
            state: ``signals.records.STATE``, shape (1,), as the guard has left it.
            command: ``signals.records.COMMAND``, shape (1,), as it goes to the wire.

        Raises:
            StageError: a detector raised something; names it, its file and line.
        """
        if not self._begun:
            self._begun = True
            for d in self._detectors:
                d.model[:] = model  # homed by now
        for d in self._detectors:
            for target, source in zip(self._bytes, (measurement, state, command), strict=True):
                target[:] = source.view(np.uint8)
            d.findings["found"] = 0
            shown = self._copies
            d.detect(d.model, shown[0], d.memory, shown[1], shown[2], d.findings)
            if d.findings["found"].any():
                latch_findings(model, state, d.findings, d.space, d.cause)


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
    """Estimator, controller or a detector is not ours."""
    detectors: ForeignDetectors = ForeignDetectors()


def _imported(name: str) -> ModuleType:
    """A module; the current folder is searched too, last, and for this import alone."""
    here = os.getcwd()
    sys.path.append(here)
    invalidate_caches()
    try:
        return import_module(name)
    finally:
        sys.path.pop(len(sys.path) - 1 - sys.path[::-1].index(here))


def _module_of(what: str, name: str) -> ModuleType:
    try:
        return _imported(name)
    except (Exception, SystemExit) as error:  # their code: it may raise anything
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise StageError(
                f"{what}: cannot import {name!r} ({error}); run from its folder or put that folder into "
                "PYTHONPATH"
            ) from None
        raise StageError(sentence(what, error, place_of_import(error))) from error


def _foreign(kind: str, name: str, arguments: tuple[str, ...]) -> tuple[Law, RecordArray]:
    what = f"{kind} {name!r}"
    module_name, colon, function_name = name.partition(":")
    if not colon:
        raise StageError(f"{what}: write {DEFAULT!r} for ours or 'module:function' for your own")
    module = _module_of(what, module_name)
    function = getattr(module, function_name, None)
    if not callable(function):
        names = ", ".join(n for n, v in vars(module).items() if callable(v) and not n.startswith("_"))
        raise StageError(f"{what}: {module_name} has no such function (it has: {names})")
    _check_arguments(what, function, arguments)
    kept = getattr(module, "MEMORY", np.dtype([("nothing", "f8")], align=True))
    if not isinstance(kept, np.dtype):
        raise StageError(f"{what}: MEMORY in {module.__file__} is {kept!r}; legal: a numpy.dtype")
    return _named(what, function, note(what, module), kept), np.zeros(1, dtype=kept)


def _check_arguments(what: str, function: Law, arguments: tuple[str, ...]) -> None:
    try:
        taken = signature(getattr(function, "py_func", function))
    except (TypeError, ValueError):  # built in C: it will say so itself
        return
    try:
        taken.bind(*arguments)
    except TypeError:
        place = place_of_code(function)
        where = f"{place[0]}:{place[1]}: " if place is not None else ""
        legal = ", ".join(arguments)
        raise StageError(f"{what}: {where}takes {taken}; legal: ({legal})") from None


def _named(what: str, function: Law, root: Path | None, memory: np.dtype[Any]) -> Law:
    """The same law; whatever it raises names it, its file and line."""

    def law(*records: RecordArray) -> None:
        try:
            function(*records)
        except (Exception, SystemExit) as error:
            place = place_of(error, root) if root is not None else None
            told = sentence(what, error, place or place_of_code(function), memory)
            raise StageError(told) from error

    return law


def make_detectors(names: HandNames) -> ForeignDetectors:
    """The foreign detectors of a hand, with fresh memories.

    Raises:
        StageError: naming what cannot be imported and what to do.
    """
    made = []
    for cause, foreign in zip(FOREIGN, names.foreign, strict=False):
        function, memory = _foreign("detector", foreign.function, DETECTOR_ARGUMENTS)
        findings = np.zeros(len(names.of(foreign.space)), dtype=FINDING)
        space = SPACES.index(foreign.space)
        own = np.zeros(1, dtype=MODEL)
        made.append(ForeignDetector(function, memory, findings, space, int(cause), own))
    return ForeignDetectors(tuple(made))


def make_stages(
    estimator: str = DEFAULT, controller: str = DEFAULT, detectors: ForeignDetectors | None = None
) -> Stages:
    """Stages with fresh memories.

    Args:
        estimator: ``flexor`` or ``module:function``.
        controller: ``flexor`` or ``module:function``.
        detectors: those of the hand file that are not ours.

    Raises:
        StageError: naming what cannot be imported and what to do.
    """
    from controllers.tick import CONTROLLER_MEMORY, control
    from estimators.tick import ESTIMATOR_MEMORY, estimate
    from guard.guard import GUARD_MEMORY, guard

    estimate_law: Law = estimate
    control_law: Law = control
    estimator_memory = np.zeros(1, dtype=ESTIMATOR_MEMORY)
    controller_memory = np.zeros(1, dtype=CONTROLLER_MEMORY)
    if estimator != DEFAULT:
        estimate_law, estimator_memory = _foreign("estimator", estimator, ESTIMATOR_ARGUMENTS)
    if controller != DEFAULT:
        control_law, controller_memory = _foreign("controller", controller, CONTROLLER_ARGUMENTS)
    return Stages(
        estimate=estimate_law,
        estimator_memory=estimator_memory,
        control=control_law,
        controller_memory=controller_memory,
        guard=guard,
        guard_memory=np.zeros(1, dtype=GUARD_MEMORY),
        foreign=(estimator, controller) != (DEFAULT, DEFAULT) or bool(detectors),
        detectors=detectors or ForeignDetectors(),
    )
