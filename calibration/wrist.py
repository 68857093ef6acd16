"""``calibrate wrist``: zeros of the sensors of a wrist with two axes, by the tendons that run through it.

The wrist goes slowly to and fro over most of its range, in pitch and then in yaw, while the fingers hold;
last it goes along its diagonals, which nothing is fitted to. The lengths of tendons through the wrist are
curved over its angles, and where the curve has its vertex is neutral (``calibration.wrist_fit``). A zero of
some degrees contradicts the fingers, and the guard ends the sweep (WRIST_SENSOR): what was seen until then
tells the zero well enough to make the sweep again with it.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from calibration.eligible import must_have_wrist
from calibration.found import Found
from calibration.geometry import fingers_for
from calibration.geometry_poses import lengths_of
from calibration.motion_run import Means, Told, Watch, must_be_sound, run_motion
from calibration.part import OPEN, Part
from calibration.patching import merged
from calibration.tendon_means import FIELDS
from calibration.winding_plan import TAIL_S
from calibration.wrist_fit import Known, Swept, fit_zeros, left_m
from calibration.wrist_page import MOST_DEG, Picture, Zeros, beyond_file, parts_of, patch_of, sections
from hand.assembly.straight import straight_jacobian
from hand.hand import Hand
from hand.options import RunOptions
from mechanics.wrist import wrist_jacobian, wrist_lengths
from reports.parquet import by_part
from runtime.setup import read_hand
from signals.faults import Cause
from signals.layout import FloatArray

RANGE_SHARE: Final = 0.8
"""Of the wrist's range that is swept: the rest is for a zero that is not known yet."""
DIAGONAL_SHARE: Final = 0.6
"""Of the sweep, of both angles at once."""
SPEED_SHARE: Final = 0.5
SPEEDS_DEG_S: Final = (20.0, 10.0)
"""Of the palm's pitch and yaw, or ``SPEED_SHARE`` of what the axes may."""
LEAD_S: Final = 1.0
REST_S: Final = 0.2
SWEEPS: Final = 2
TRIES: Final = 5
LEAST_S: Final = 0.5
"""Of a sweep that the guard has ended: less tells nothing."""
EVERY: Final = 5
"""Blocks from sample to sample."""
SPOOL_LEFT: Final = 0.005
"""Standard deviation of a measured spool, relative (``calibration.geometry``)."""
PER_MOVE: Final = 1
"""Independent samples of each move: what guides and loops leave is alike all along it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A motion of the wrist: when the sweep of each axis ends, its length [s], moves of the sweeps."""

    text: str
    ends_s: tuple[float, float]
    seconds: float
    moves: int

    @property
    def fitted_s(self) -> float:
        """When the sweeps end and the diagonals begin."""
        return self.ends_s[1]


def plan_of(hand: Hand, tendons: list[int]) -> Plan:
    """Pitch to and fro, yaw to and fro, both diagonals; fingers of other tendons are off."""
    wrist, m = hand.file.wrist, hand.model[0]
    assert wrist is not None
    ends = [[RANGE_SHARE * end for end in each] for each in (wrist.pitch_range_deg, wrist.yaw_range_deg)]
    most = SPEED_SHARE * np.degrees(m["axis_speed_max_rad_s"][:2])
    speeds = [min(speed, float(each)) for speed, each in zip(SPEEDS_DEG_S, most, strict=True)]
    times, angles = [0.0, LEAD_S], [(0.0, 0.0), (0.0, 0.0)]

    def go(to: tuple[float, float]) -> None:
        ways = [abs(b - a) / v for a, b, v in zip(angles[-1], to, speeds, strict=True)]
        times.append(round(times[-1] + REST_S + max(ways), 4))
        angles.append(to)

    ends_s = []
    for axis in (0, 1):
        for end in [*ends[axis][::-1]] * SWEEPS:
            go((end, 0.0) if axis == 0 else (0.0, end))
        go((0.0, 0.0))
        ends_s.append(times[-1])
    moves = len(times) - 2
    corners = [(p, y) for p in (0, 1) for y in (0, 1)]
    for p, y in (corners[3], corners[0], corners[1], corners[2]):
        go((DIAGONAL_SHARE * ends[0][p], DIAGONAL_SHARE * ends[1][y]))
    go((0.0, 0.0))
    mine = {int(m["tendon_finger"][t]) for t in tendons}
    off = [f'{name} = "off"' for f, name in enumerate(hand.names.fingers) if f not in mine]
    lines = ['description = "The wrist over its range."', 'mode = "joint_impedance"']
    lines += ["[modes]", *off] if off else []
    for kind, values in zip(("palm_pitch_deg", "palm_yaw_deg"), zip(*angles, strict=True), strict=True):
        lines += ["[[tracks]]", f'kind = "{kind}"']
        lines += [f"points = {{ times_s = {times}, values = {[round(v, 6) for v in values]} }}"]
    return Plan("\n".join(lines) + "\n", (ends_s[0], ends_s[1]), times[-1] + TAIL_S, moves)


def known_of(hand: Hand, tendons: list[int], moves: int) -> Known:
    """What the hand file says of wrist, lever arms, spools and forces."""
    m, spread = hand.model[0], hand.file.tolerances
    many = len(m["wrist_neutral_length_m"])

    def ways(angles_rad: FloatArray) -> tuple[FloatArray, FloatArray]:
        lengths, slopes = np.zeros((len(angles_rad), many)), np.zeros((len(angles_rad), many, 2))
        for k, (q71, q73) in enumerate(angles_rad):
            wrist_lengths(m, float(q71), float(q73), lengths[k])
            wrist_jacobian(m, float(q71), float(q73), slopes[k])
        return lengths[:, tendons], slopes[:, tendons]

    found = [hand.file.measured(hand.names.tendons[t]).spool_radius_m is not None for t in tendons]
    return Known(
        ways=ways,
        neutral_rad=m["wrist_neutral_rad"][:2].astype(np.float64),
        P_tj_m=straight_jacobian(hand.model)[tendons, : int(m["n_joints"])],
        spool_sd=np.where(found, SPOOL_LEFT, spread.pulley_radius),
        force_sd=math.hypot(spread.torque_constant, spread.pulley_radius),
        independent=PER_MOVE * moves,
    )


def with_zeros(hand: Hand, zeros_deg: FloatArray) -> str:
    """Text of the hand's file with these zeros."""
    lines = [
        f'[identified.{name}]\nsensor_zero_deg = {zero:.9g}\norigin = "assumed: while it is measured"\n'
        for name, zero in zip(hand.names.axes, zeros_deg, strict=True)
    ]
    return merged(hand.text, "\n".join(lines))[0]


@dataclass(frozen=True, slots=True)
class _Run:
    """One sweep: its samples with their times, the zeros that were known, what the guard said of it."""

    time_s: FloatArray
    swept: Swept
    known_deg: FloatArray
    faults: list[Told]
    seconds: float


def _sweep(hand: Hand, options: RunOptions, tendons: list[int], zeros_deg: FloatArray, watch: Watch) -> _Run:
    """Sweep the wrist with zeros.

    Raises:
        Faulted: a fault that is not the sensor's zero.
    """
    plan, means = plan_of(hand, tendons), Means(*FIELDS, ("measurement", "axis_angle_rad"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "zeros.toml"
        path.write_text(with_zeros(hand, zeros_deg), encoding="utf-8")
        plant = options.plant if options.bus is not None or options.plant else options.hand
        chosen = replace(options, hand=str(path), plant=plant)
        faults = run_motion(read_hand(chosen), chosen, plan.text, plan.seconds, means, watch)
    if faults and faults[0].cause != Cause.WRIST_SENSOR.name:
        must_be_sound(faults)
    time, found = means.time_s, lengths_of(hand, means, tendons)
    used = np.flatnonzero((time >= LEAD_S) & (time < min(means.fault_s, plan.seconds - TAIL_S)))[::EVERY]
    radii = hand.model[0]["spool_radius_m"][tendons]
    shown = means.of("axis_angle_rad")[:, : len(hand.names.axes)]
    swept = Swept(shown, found.elongation_m, radii * found.motor_rad, found.stretch_m)
    seconds = min(plan.seconds, max(float(time[-1]), 0.0))
    return _Run(time[used], swept.at(used), zeros_deg, faults, seconds)


def found_wrist(hand: Hand, options: RunOptions, tendons: list[int], watch: Watch) -> Found:
    """Sweep the wrist until a sweep comes to its end; zeros of its sensors.

    Raises:
        motion_run.Faulted: the hand went into fault.
        WrongChoice: it has no wrist of two axes.
    """
    must_have_wrist(hand)
    mine, _, told = fingers_for(hand, tendons)
    if not mine:
        return Found([Part.bare("hand", "sensor_zero_deg", "deg", OPEN, t) for t in told], 0.0, [], {})
    plan, seconds, tries = plan_of(hand, mine), 0.0, 0
    known = known_of(hand, mine, plan.moves)
    zeros_deg, before_deg = (np.degrees(hand.file.axis_zeros_rad) for _ in range(2))
    while True:
        run = _sweep(hand, options, mine, zeros_deg, _after(watch, tries))
        seconds, tries = seconds + run.seconds, tries + 1
        if run.faults and (not len(run.time_s) or run.time_s[-1] < LEAD_S + LEAST_S):
            must_be_sound(run.faults)
        whole = run.swept.at(run.time_s < plan.fitted_s)
        fit = fit_zeros(whole, known)
        zeros_deg = run.known_deg + np.degrees(fit.zero_rad)
        far = np.abs(zeros_deg - before_deg).max() > 2.0 * MOST_DEG
        if not run.faults or tries == TRIES or far or beyond_file(zeros_deg):
            break
    held = run.swept.at(run.time_s >= plan.fitted_s)
    shift = np.radians(run.known_deg - before_deg)
    old = fit_zeros(_shifted(whole, shift), known, free=False)
    found = Zeros(
        before_deg=before_deg,
        zeros_deg=zeros_deg,
        fit=fit,
        whole=not run.faults,
        tries=tries,
        held_before_m=_rms(left_m(_shifted(held, shift), known, old.x)),
        held_after_m=_rms(left_m(held, known, fit.x)),
    )
    left = left_m(run.swept, known, fit.x)
    raw = {"sweep": {"time_s": run.time_s} | by_part("shown_rad", hand.names.axes, run.swept.shown_rad)}
    raw["sweep"] |= by_part("left_m", [f"row_{k}" for k in range(left.shape[1])], left)
    parts = parts_of(hand, found)
    pages = sections(hand, found, Picture(run.time_s, run.swept, known, plan.ends_s))
    return Found(parts, seconds, pages, raw, lambda origin: patch_of(parts, origin), told)


def _after(watch: Watch, sweeps: int) -> Watch:
    """Whom to tell the share done when nobody knows whether another sweep will follow."""
    return lambda share: watch((sweeps + share) / (sweeps + 1))


def _shifted(swept: Swept, by_rad: FloatArray) -> Swept:
    """Samples with other readings of the sensors."""
    return replace(swept, shown_rad=swept.shown_rad + by_rad)


def _rms(left: FloatArray) -> float:
    return float(np.sqrt(np.mean(left**2))) if left.size else math.nan
