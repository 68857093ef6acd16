"""A mechanism ready to run: equations, scenarios, and how it looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from mechanics.dynamics.inputs import Inputs
from mechanics.dynamics.integrate import Scheme
from mechanics.dynamics.simulate import Run, simulate
from mechanics.dynamics.systems import Kind, System
from signals.choices import WrongChoice
from signals.layout import FloatArray
from signals.names import UnknownName
from sim.mechanisms.tables import Change, MechanismTable, Scenario

Segment = tuple[str, FloatArray]
"""Name of a part and its line, shape (k, 3) [m]."""
Segments = Callable[[FloatArray], list[Segment]]
Outputs = Mapping[str, Callable[[FloatArray], FloatArray]]
ROWS = 1000
"""Recorded rows of a run, about."""


@dataclass(frozen=True, slots=True, eq=False)
class Mechanism:
    """A checked mechanism."""

    name: str
    description: str
    kind: str
    system: System
    scenarios: Mapping[str, Scenario]
    segments: Segments
    """Lines of all parts for given coordinates."""
    rest_z: float = 0.0
    """Start of the further state."""
    outputs: Outputs = field(default_factory=dict)
    """Further results over the coordinates: name with unit -> law on rows (k, n), giving (k,)."""

    @classmethod
    def of(
        cls,
        file: MechanismTable,
        system: System,
        segments: Segments,
        *,
        scenarios: Mapping[str, Scenario] | None = None,
        rest_z: float = 0.0,
        outputs: Outputs | None = None,
    ) -> Mechanism:
        """The mechanism of a file; ``scenarios`` if they are not as they stand there."""
        name, about, runs = file.name, file.description, file.scenario if scenarios is None else scenarios
        return cls(name, about, file.kind, system, runs, segments, rest_z, outputs or {})

    def scenario(self, name: str | None) -> tuple[str, Scenario]:
        """A scenario by name, or the first; raises ``UnknownName``."""
        names = tuple(self.scenarios)
        chosen = names[0] if name is None else name
        if chosen not in names:
            raise UnknownName("scenario", chosen, names)
        return chosen, self.scenarios[chosen]

    def run(
        self,
        scenario: str | None = None,
        *,
        integrator: str | None = None,
        duration_s: float | None = None,
        step_s: float | None = None,
        rows: int = ROWS,
    ) -> Run:
        """Run a scenario, or a variation of it.

        Raises:
            UnknownName: a scenario, coordinate or body that the mechanism does not have.
            ValueError: a duration, step or change that cannot be.
        """
        _, s = self.scenario(scenario)
        scheme = Scheme[(integrator or s.integrator).upper().replace("-", "_")]
        duration = s.duration_s if duration_s is None else duration_s
        step = s.step_s if step_s is None else step_s
        before = change_joints(self.system, s.joints)
        try:
            return simulate(
                self.system,
                duration,
                step,
                scheme=scheme,
                q=vector(self.system, s.start_rad, s.start_m),
                qd=vector(self.system, s.speed_rad_s, s.speed_m_s),
                z=self.rest_z,
                inputs=inputs_of(self.system, s),
                record_every=max(1, int(round(duration / step)) // rows),
            )
        finally:
            restore_joints(self.system, before)


def coordinate(system: System, name: str, slider: bool | None = None) -> int:
    """Index of a coordinate; raises ``UnknownName``, or ``ValueError`` for a slider that is a hinge."""
    if name not in system.dofs:
        raise UnknownName("coordinate", name, system.dofs)
    index = system.dofs.index(name)
    if slider is not None and system.sliders[index] != slider:
        kinds = ("hinge: give rad, rad/s, N m", "slider: give m, m/s, N")
        raise WrongChoice(f"scenario: {name!r} is a {kinds[system.sliders[index]]}")
    return index


def vector(
    system: System, hinges: Mapping[str, float], sliders: Mapping[str, float] | None = None
) -> FloatArray:
    """Values by coordinate as an array, shape (n,), 0 where nothing is said."""
    out = np.zeros(system.n_dofs)
    for slider, values in ((False, hinges), (True, sliders or {})):
        for name, value in values.items():
            out[coordinate(system, name, slider)] = value
    return out


def inputs_of(system: System, s: Scenario) -> Inputs:
    """Torques, muscle and loads of a scenario on one common time axis."""
    columns: dict[int, tuple[FloatArray, FloatArray]] = {}
    for slider, profiles in ((False, s.torque_nm), (True, s.force_n)):
        for name, profile in profiles.items():
            table = np.array(profile)
            columns[coordinate(system, name, slider)] = (table[:, 0], table[:, 1])
    if s.muscle is not None:
        if not system.extra:
            raise WrongChoice("scenario: muscle is given, but this mechanism has none; use torque_nm")
        table = np.array(s.muscle)
        columns[system.n_dofs] = (table[:, 0], table[:, 1])
    loaded: list[int] = []
    for load in s.loads:
        if load.body not in system.frames:
            raise UnknownName("body", load.body, system.frames)
        frame = system.frames.index(load.body)
        if frame in loaded:
            raise WrongChoice(f"scenario: two loads on body {load.body!r}; give one")
        loaded.append(frame)
        wrench = np.array([*load.force_n, *load.moment_nm])
        for k in range(6):
            columns[system.n_inputs + 6 * (len(loaded) - 1) + k] = pulse(load.from_s, load.to_s, wrench[k])
    times = np.unique(np.concatenate([[0.0], *(c[0] for c in columns.values())]))
    values = np.zeros((times.shape[0], system.n_inputs + 6 * len(loaded)))
    for column, (when, what) in columns.items():
        values[:, column] = np.interp(times, when, what)
    return Inputs(times, values, tuple(loaded))


def pulse(from_s: float, to_s: float | None, height: float) -> tuple[FloatArray, FloatArray]:
    """Times and values of a load that comes and goes within 0.1 ms."""
    edge = 1e-4
    times, values = [0.0], [height if from_s <= 0.0 else 0.0]
    if from_s > 0.0:
        times += [from_s, from_s + edge]
        values += [0.0, height]
    if to_s is not None:
        times += [max(to_s, times[-1] + edge), max(to_s, times[-1] + edge) + edge]
        values += [height, 0.0]
    return np.array(times), np.array(values)


JOINT_FIELDS = {
    Kind.TREE: (0, "stiffness", "damping", "rest"),
    Kind.CARPAL: (2, "stiffness_nm_rad", "damping_nms_rad", "rest_rad"),
    Kind.FINGER: (3, "stiffness_nm_rad", "joint_damping_nms_rad", "rest_rad"),
    Kind.ARM: (4, "stiffness_nm_rad", "damping_nms_rad", "rest_rad"),
}
"""Where each kind of system keeps its joint springs and dampers: record, then fields."""


def change_joints(system: System, changes: Mapping[str, Change]) -> list[FloatArray]:
    """Set springs and dampers of a scenario; returns what was there."""
    part, *names = JOINT_FIELDS[system.kind]
    record = system.parts[part][0]
    before = [record[name].copy() for name in names]
    for joint, change in changes.items():
        d = coordinate(system, joint)
        wanted = (change.stiffness_nm_rad, change.damping_nms_rad, change.rest_rad)
        for name, value in zip(names, wanted, strict=True):
            if value is not None:
                record[name][d] = value
    return before


def restore_joints(system: System, before: list[FloatArray]) -> None:
    """Put springs and dampers back."""
    part, *names = JOINT_FIELDS[system.kind]
    for name, values in zip(names, before, strict=True):
        system.parts[part][0][name] = values
