"""``identify friction|inertia|ripple``: from measured drives to parts with verdicts and a patch."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from calibration.drive_fit import WAVE_FLOOR, DriveFit, Estimate, Harmonic, fit_drive
from calibration.drive_page import sections
from calibration.eligible import motors_for
from calibration.found import Found
from calibration.free_turning import Measured, measure
from calibration.motion_run import Watch
from calibration.part import BAD, GOOD, OPEN, Part
from calibration.slack_stops import lines_of, slack_zeros, with_zeros
from hand.hand import Hand
from hand.options import RunOptions

KINDS: Final = ("friction", "inertia", "ripple", "drives")
"""``drives``: all three from one run."""
SHARE_GOOD: Final = 0.05
"""Half of an interval, as a share of the value (of a harmonic: of the friction's plateau), that is good."""
PHASE_GOOD_DEG: Final = 5.0
LEAST_RIPPLE: Final = 1.2 * WAVE_FLOOR / math.radians(PHASE_GOOD_DEG)
"""A harmonic below this share of the friction's plateau (1.4 %) needs no phase: the method leaves about as
much of it open as the bound allows."""
EXPLAINED_GOOD: Final = 0.98
STEEPEST_S_RAD: Final = 1e3
"""Beyond it friction turns within less than any angle's difference tells, and all larger values fit."""
SURE_MOST: Final = 0.95
"""Share of a friction that is certain at most: by how much it changes from day to day no interval says."""
_PARAMETERS: Final = {
    "friction": ("gamma_1_s_rad", "gamma_2_nm", "gamma_3_nms_rad"),
    "inertia": ("motor_inertia_kg_m2",),
}


def identified(kind: str, hand: Hand, options: RunOptions, motors: list[int], watch: Watch) -> Found:
    """Measure the drives of these motors, whose tendons are off.

    Raises:
        motion_run.Faulted: the hand went into fault.
    """
    motors, rest = motors_for(kind, hand, motors)
    if not motors:
        return Found(rest, 0.0, [], {})
    zeros = slack_zeros(hand, options, motors)
    with with_zeros(hand, options, zeros) as (known, chosen):
        measured = measure(known, chosen, motors, watch)
    fits = fits_of(hand, measured, motors)
    constants = [float(hand.model[0]["motor_torque_constant_nm_a"][i]) for i in motors]
    parts, pages = parts_of(kind, fits), sections(fits, measured, constants)
    raw = measured.tables(list(fits))
    notices = [f"{part.name}: {part.text}" for part in rest]
    notices += [f"{name}: by its slack stop hall_zero_count is {zero:.0f}" for name, zero in zeros.items()]

    def patch(origin: str) -> str:
        return patch_of(kind, fits, origin) + "\n" + lines_of(zeros, origin)

    return Found(parts, measured.seconds, pages, raw, patch, notices)


def harmonics_of(hand: Hand) -> tuple[Harmonic, ...]:
    """Harmonics to look for: those of the hand file, and the motor's first two and the output's first."""
    m = hand.model[0]
    known = [
        Harmonic(bool(m["ripple_is_input"][k]), int(m["ripple_order"][k])) for k in range(int(m["n_ripples"]))
    ]
    usual = [Harmonic(True, 1), Harmonic(True, 2), Harmonic(False, 1)]
    return tuple(dict.fromkeys([*known, *usual]))


def fits_of(hand: Hand, measured: Measured, motors: list[int]) -> dict[str, DriveFit]:
    """Motor name -> what was found about its drive."""
    m, found = hand.model[0], {}
    for k, i in enumerate(motors):
        stretches = measured.turning(k, float(m["motor_torque_constant_nm_a"][i]))
        start = float(m["friction_gamma_1_s_rad"][i])
        step = float(m["encoder_step_rad"][i])
        found[hand.names.motors[i]] = fit_drive(
            stretches, harmonics_of(hand), float(m["gear_ratio"][i]), start, step
        )
    return found


def parts_of(kind: str, fits: dict[str, DriveFit]) -> list[Part]:
    """Rows of one kind of parameters."""
    return [part for name, fit in fits.items() for part in _parts(kind, name, fit)]


def _parts(kind: str, name: str, fit: DriveFit) -> list[Part]:
    plateau = 0.5 * np.pi * fit.of("gamma_2_nm").value
    trouble = ""
    if fit.explained < EXPLAINED_GOOD:
        trouble = f"only {100 * fit.explained:.1f} % of the torque is explained: is the tendon off its spool?"
    wanted = ("friction", "inertia", "ripple") if kind == "drives" else (kind,)
    chosen = [fit.of(parameter) for each in wanted for parameter in _PARAMETERS.get(each, ())]
    if "ripple" in wanted:
        chosen += [e for e in fit.estimates if e.name.startswith("ripple.")]
    rows = []
    for estimate in chosen:
        text = trouble or _doubt(estimate, fit, plateau)
        verdict = BAD if text else GOOD
        rows.append(
            Part(
                name, estimate.name, estimate.value, estimate.low, estimate.high, estimate.unit, verdict,
                text or f"{estimate.value:.4g} {estimate.unit}, +- {estimate.high - estimate.value:.2g}",
            )
        )  # fmt: skip
        if estimate.name == "gamma_3_nms_rad":
            rows.append(_sure_part(name, fit, all(row.verdict == GOOD for row in rows)))
    return rows


def sure_share(fit: DriveFit) -> tuple[float, float]:
    """(Share of a drive's friction that is at no speed more than the true one, half interval of that one).

    A wrong gamma_1 changes the arctangent by its own share at most, near rest; of two terms with one sign the
    sum is no more wrong than the worse.
    """
    turning, plateau, viscous = (
        (e.high - e.value) / abs(e.value) for e in map(fit.of, _PARAMETERS["friction"])
    )
    half = max(turning + plateau, viscous)
    return min(SURE_MOST, 1.0 - half), half


def _sure_part(name: str, fit: DriveFit, good: bool) -> Part:
    """``force_friction_gain``; its interval is what it may be of the true friction."""
    key = "force_friction_gain"
    if not good:
        text = "its friction is not known well enough: as much as the hand file says"
        return Part.bare(name, key, "1", OPEN, text)
    share, half = sure_share(fit)
    text = f"{share:.3g} of the friction, known to {100 * half:.1f} %, is certain not to be too much"
    return Part(name, key, share, share / (1.0 + half), share / (1.0 - half), "1", GOOD, text)


def _doubt(estimate: Estimate, fit: DriveFit, plateau: float) -> str:
    """What is wrong with a parameter; empty: nothing."""
    half = estimate.high - estimate.value
    if estimate.name.endswith(".phase_deg"):
        amplitude = fit.of(estimate.name.replace(".phase_deg", ".amplitude_nm"))
        if amplitude.value > LEAST_RIPPLE * plateau and half > PHASE_GOOD_DEG:
            return f"phase known to {half:.1f} deg only; legal: {PHASE_GOOD_DEG:g}; turn slower and longer"
    elif estimate.name.endswith(".amplitude_nm"):
        if half > SHARE_GOOD * plateau:
            return f"amplitude known to {half:.2g} N m only; turn slower and longer"
    elif estimate.name == "gamma_1_s_rad" and estimate.value > STEEPEST_S_RAD:
        return f"friction turns within {1.0 / estimate.value:.1g} rad/s: too steep for these angles to tell"
    elif estimate.value <= 0.0:
        return f"{estimate.value:.3g} {estimate.unit} cannot be: is the current's sign right?"
    elif half > SHARE_GOOD * estimate.value:
        return f"known to {100 * half / estimate.value:.0f} % only; legal: {100 * SHARE_GOOD:g} %"
    return ""


def patch_of(kind: str, fits: dict[str, DriveFit], origin: str) -> str:
    """The hand-file fragment that ``apply`` merges: what is good, motor by motor."""
    lines: list[str] = []
    for name, fit in fits.items():
        rows = _parts(kind, name, fit)
        ripples = [row for row in rows if row.parameter.startswith("ripple.")]
        plain = [row for row in rows if row not in ripples and row.verdict == GOOD]
        sound = bool(ripples) and all(row.verdict == GOOD for row in ripples)
        if not plain and not sound:
            continue
        lines += [f"[identified.{name}]", *(f"{row.parameter} = {row.value:.6g}" for row in plain)]
        lines += [f'origin = "{origin}"', ""]
        if sound:
            lines += _ripple_rows(name, fit)
    return "\n".join(lines)


def _ripple_rows(name: str, fit: DriveFit) -> list[str]:
    plateau, lines = 0.5 * np.pi * fit.of("gamma_2_nm").value, []
    for estimate in fit.estimates:
        if not estimate.name.endswith(".amplitude_nm"):
            continue
        shaft, _, order = estimate.name.removeprefix("ripple.").removesuffix(".amplitude_nm").partition("_")
        phase = fit.of(f"ripple.{shaft}_{order}.phase_deg").value
        value = estimate.value if estimate.value > WAVE_FLOOR * plateau else 0.0
        lines += [f"[[identified.{name}.ripple]]", f'shaft = "{shaft}"', f"order = {order}",
                  f"amplitude_nm = {value:.6g}", f"phase_deg = {phase:.6g}", ""]  # fmt: skip
    return lines
