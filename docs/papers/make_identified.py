"""Redraws figures 3.3 to 3.6 and 4.10 of the hand paper from identification runs, and what they say of new motion.

python docs/papers/make_identified.py          # about a minute

A drawn finger is measured by a controller whose file has 30 % too little friction and no ripple. The figures
are of what it measured and found, the dashed lines of the drawn finger. The table in ``docs/calibration.md``
is of motion that was not used for the fit.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from calibration import guides
from calibration.campaign import SHARE, assumed_file
from calibration.drive_fit import DriveFit
from calibration.found import Found
from calibration.free_turning import Measured, measure
from calibration.guide_rows import equations
from calibration.identify import fits_of, patch_of
from calibration.patching import merged
from docs.figures import panels, save, use_style
from hand.assembly.mismatch import draw_mismatch
from hand.file.loader import load_hand
from hand.hand import Hand
from hand.options import RunOptions
from mechanics.friction import motor_friction_nm
from runtime.session import run_lockstep
from runtime.setup import read_hand
from signals.layout import FloatArray

HERE: Final = Path(__file__).parent
PAGE: Final = HERE.parent / "calibration.md"
BEGIN: Final = "On motion that was not used for the fit"
"""From here to its end the page is made."""
NAME, SEED, MOTOR = "finger_bench", 3, 2
ORIGIN: Final = "identified: 2026-11-29 figures"
SMOOTH: Final = 30
"""Cycles of a mean: the position loop's own chatter is far above what joints feel."""
FINE: Final = 9
"""The same where the ripple of a fast turn is to be seen."""
MOTIONS: Final = {
    "0.3 rad/s, winding in": "ramp = { rate = 0.3 }",
    "1 rad/s, paying out": "ramp = { rate = -1.0 }",
    "sine of 1 rad at 0.3 Hz": "sine = { mean = 0.0, amplitude = 1.0, frequency_hz = 0.3 }",
}
BLUE, ORANGE, GREEN, RED, PALE = "#1f5fa8", "#d9822b", "#2f8f5b", "#b3404a", "#b9c2cf"
use_style(1.2)


@dataclass(frozen=True, slots=True)
class Drive:
    """A drive that was measured: its hand, the simulated one, courses, fit, texts of the file before and after."""

    hand: Hand
    plant: np.void
    measured: Measured
    fit: DriveFit
    before: str
    after: str

    def course(self, phase: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """(time, angle, speed, torque) of a phase, without inertia."""
        turning = self.measured.turning(
            MOTOR, float(self.hand.model[0]["motor_torque_constant_nm_a"][MOTOR])
        )[phase]
        time, angle = turning.time_s, _smooth(turning.angle_rad, FINE)
        speed = np.gradient(angle, time)
        inertia = self.fit.of("motor_inertia_kg_m2").value
        torque = _smooth(turning.torque_nm, FINE) - inertia * _smooth(np.gradient(speed, time), FINE)
        inside = slice(3 * FINE, -3 * FINE)
        return time[inside], angle[inside], speed[inside], torque[inside]

    def friction(self, speed: FloatArray) -> FloatArray:
        """Eq. (3.8) with what was found."""
        g1, g2, g3 = (self.fit.of(key).value for key in ("gamma_1_s_rad", "gamma_2_nm", "gamma_3_nms_rad"))
        return np.asarray(g2 * np.arctan(g1 * speed) + g3 * speed)


def _smooth(values: FloatArray, cycles: int) -> FloatArray:
    return np.convolve(values, np.full(cycles, 1.0 / cycles), mode="same")


def options_of(folder: Path, text: str) -> RunOptions:
    """Of a run of the drawn finger with a controller's file."""
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return RunOptions(hand=str(path), plant=NAME, mismatch=SEED, seed=SEED, lockstep=True)


def identified_drive(folder: Path) -> Drive:
    """Turn the motors of the drawn finger and fit them, from the assumed file."""
    shipped = load_hand(NAME)
    before = assumed_file(Path(shipped.path).read_text(encoding="utf-8"))
    options = options_of(folder, before)
    hand, other = read_hand(options), read_hand(RunOptions(hand=NAME))
    plant = draw_mismatch(other.model, SEED, other.file.tolerances)[0]
    every = list(range(len(hand.names.motors)))
    measured = measure(hand, options, every)
    fits = fits_of(hand, measured, every)
    after = merged(before, patch_of("drives", fits, ORIGIN))[0]
    return Drive(hand, plant, measured, fits[hand.names.motors[MOTOR]], before, after)


def friction_curve(drive: Drive) -> None:
    """Figure 3.3: speeds of an identification run, and the friction that was found in it."""
    figure, axes = panels(2)
    unit = float(
        drive.hand.model[0]["motor_torque_constant_nm_a"][MOTOR]
        / drive.plant["motor_torque_constant_nm_a"][MOTOR]
    )
    w = np.linspace(-1.9, 1.9, 600)
    for phase, colour, label in ((1, BLUE, "faster sine"), (0, GREEN, "slow sine")):
        time, _, speed, torque = drive.course(phase)
        axes[0].plot(time - time[0], speed, color=colour, label=label)
        axes[1].plot(speed[::20], torque[::20], ".", color=PALE if phase else colour, markersize=1.2)
    axes[1].plot(w, drive.friction(w), color=RED, label="found, eq. (3.8)")
    keys = ("friction_gamma_1_s_rad", "friction_gamma_2_nm", "friction_gamma_3_nms_rad")
    g1, g2, g3 = (float(drive.plant[key][MOTOR]) for key in keys)
    true = np.array([unit * motor_friction_nm(float(x), g1, g2, g3) for x in w])
    axes[1].plot(w, true, "--", color="black", linewidth=0.8, label="drawn finger")
    axes[1].plot(w, SHARE * np.array([motor_friction_nm(float(x), 10.0, 0.5586, 0.0356) for x in w]), ":",
                 color=ORANGE, label="file before")  # fmt: skip
    axes[0].set(title="3.3a: speeds of the run", xlabel="time [s]", ylabel="speed [rad/s]", xlim=(0.0, 80.0))
    axes[1].set(title="3.3b: torque over speed", xlabel="speed [rad/s]", ylabel="N m", xlim=(-1.9, 1.9))
    for axis in axes:
        axis.legend()
    save(figure, "hand_3_3")


def ripples(drive: Drive) -> None:
    """Figures 3.4 and 3.5: what friction does not explain, over the angle and by its orders."""
    figure, axes = panels(2)
    for phase, colour, label in ((1, ORANGE, "faster, twice to and fro"), (0, BLUE, "slow, to and fro")):
        _, angle, speed, torque = drive.course(phase)
        used = np.abs(speed) > 0.1
        left = np.where(used, torque - drive.friction(speed), np.nan)
        for axis in axes:
            axis.plot(angle, left, color=colour, linewidth=0.6, label=label)
    found = np.linspace(0.6, 0.8, 800)
    axes[1].plot(found, wave(drive, found), color=RED, linewidth=1.2, label="harmonics found")
    axes[0].set(
        title="3.4a: torque less friction, over the motor angle", xlabel="motor angle [rad]", ylabel="N m"
    )
    axes[1].set(title="3.4b: closer", xlabel="motor angle [rad]", xlim=(0.6, 0.8), ylim=(-0.3, 0.3))
    axes[1].legend(loc="upper right", fontsize=7)
    save(figure, "hand_3_4")
    figure, axes = panels(2)
    gear = float(drive.hand.model[0]["gear_ratio"][MOTOR])
    for phase, colour in ((0, BLUE), (1, ORANGE)):
        time, angle, speed, torque = drive.course(phase)
        forward = np.flatnonzero(
            (speed > 0.5 * speed.max()) & (time < time[0] + 1.0 / (0.0125 if phase == 0 else 0.1))
        )
        run = max(np.split(forward, np.flatnonzero(np.diff(forward) > 1) + 1), key=len)
        left = torque[run] - drive.friction(speed[run])
        label = f"{speed[run].mean():.2g} rad/s"
        axes[0].plot(time[run] - time[run][0], left, color=colour, linewidth=0.8, label=label)
        orders, lines = spectrum(angle[run] * gear / (2.0 * np.pi), left)
        axes[1].plot(orders, lines, color=colour, linewidth=1.0, label=label)
    axes[0].set(title="3.5a: the same at two speeds", xlabel="time [s]", ylabel="N m", xlim=(0.0, 2.0))
    axes[1].set(title="3.5b: its lines, by turns of the input shaft", xlabel="order", xlim=(0.0, 4.0))
    for axis in axes:
        axis.legend(loc="upper right")
    save(figure, "hand_3_5")


def wave(drive: Drive, angle: FloatArray) -> FloatArray:
    """Low harmonics that were found, over the angle."""
    gear, found = float(drive.hand.model[0]["gear_ratio"][MOTOR]), np.zeros_like(angle)
    for estimate in drive.fit.estimates:
        if not estimate.name.endswith(".amplitude_nm"):
            continue
        shaft, _, order = estimate.name.split(".")[1].partition("_")
        phase = np.radians(drive.fit.of(estimate.name.replace("amplitude_nm", "phase_deg")).value)
        turns = int(order) * (gear if shaft == "input" else 1.0)
        if int(order) <= 2:
            found += estimate.value * np.sin(turns * angle + phase)
    return found


def spectrum(turns: FloatArray, torque: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(orders, amplitudes) of a torque over turns, without its mean."""
    even = np.linspace(turns[0], turns[-1], len(turns))
    course = np.interp(even, turns, torque)
    window = np.hanning(len(even))
    lines = np.abs(np.fft.rfft((course - course.mean()) * window)) * 2.0 / window.sum()
    return np.fft.rfftfreq(len(even), even[1] - even[0]), lines


@dataclass(frozen=True, slots=True)
class Missing:
    """Torque that the feedforward does not give, in newtons of the tendon, over turns of the input shaft."""

    time_s: FloatArray
    turns: FloatArray
    force_n: FloatArray

    @property
    def rms_n(self) -> float:
        """Of all of it."""
        return float(np.sqrt(np.mean(self.force_n**2)))

    @property
    def first_n(self) -> float:
        """Amplitude of the first harmonic of the input shaft."""
        left = self.force_n - self.force_n.mean()
        return float(2.0 * abs(np.mean(left * np.exp(-2j * np.pi * self.turns))))


def missing(drive: Drive, folder: Path, text: str, track: str) -> Missing:
    """Run a motion with a controller's file; what its feedforward of friction and ripple leaves to the loop."""
    name = drive.hand.names.motors[MOTOR]
    motion = folder / "turn.toml"
    motion.write_text(
        f'description = "x"\ntendons_off = ["{drive.hand.names.tendons[MOTOR]}"]\n'
        'modes = { index = "motor_position" }\n'
        f'[[tracks]]\nkind = "motor_rad"\nnames = ["{name}"]\n{track}\n',
        encoding="utf-8",
    )
    options = options_of(folder, text)
    done = run_lockstep(
        options.hand, motion=str(motion), seconds=6.0, every=1, plant=NAME, mismatch=SEED, seed=SEED + 2,
        overrides={"gains.ripple_gain": 1.0, "gains.friction_gain": 1.0},
    )  # fmt: skip
    used, m = done.seconds > 2.0, done.hand.model[0]
    state, sensors = done.frames["state"][used], done.frames["measurement"][used]
    fed = state["friction_torque_nm"][:, MOTOR] + state["ripple_torque_nm"][:, MOTOR]
    wanted = sensors["motor_current_a"][:, MOTOR] * m["motor_torque_constant_nm_a"][MOTOR]
    angle, time = sensors["motor_angle_rad"][:, MOTOR].astype(np.float64), done.seconds[used]
    # what turns the rotor and what friction does around rest are not the feedforward's to give
    speed = np.gradient(_smooth(angle, SMOOTH), time)
    steady = (
        (np.abs(speed) > 0.2) & (np.arange(len(time)) > SMOOTH) & (np.arange(len(time)) < len(time) - SMOOTH)
    )
    left = _smooth(wanted - fed, SMOOTH) - float(drive.plant["motor_inertia_kg_m2"][MOTOR]) * np.gradient(
        speed, time
    )
    turns = angle * float(m["gear_ratio"][MOTOR]) / (2.0 * np.pi)
    force = left / float(m["spool_radius_m"][MOTOR])
    return Missing(time[steady], turns[steady], np.asarray(force[steady]))


def held_out(drive: Drive, folder: Path) -> dict[str, tuple[Missing, Missing]]:
    """Motion -> what is left before and after."""
    return {
        name: (missing(drive, folder, drive.before, track), missing(drive, folder, drive.after, track))
        for name, track in MOTIONS.items()
    }


def compensated(found: dict[str, tuple[Missing, Missing]]) -> None:
    """Figure 3.6: what is left to the position loop on a motion that was not fitted."""
    figure, axes = panels(2)
    pair = found["1 rad/s, paying out"]
    for each, colour, label in zip(pair, (ORANGE, BLUE), ("file before", "identified"), strict=True):
        axes[0].plot(each.time_s, each.force_n, color=colour, linewidth=0.8, label=label)
        axes[1].plot(*spectrum(-each.turns, each.force_n), color=colour, linewidth=1.0, label=label)
    axes[0].set(title="3.6a: what the feedforward leaves, 1 rad/s", xlabel="time [s]", ylabel="N at the tendon",
                xlim=(2.0, 2.8))  # fmt: skip
    axes[1].set(title="3.6b: its lines, by turns of the input shaft", xlabel="order", xlim=(0.0, 4.0))
    axes[1].legend(loc="upper right")
    save(figure, "hand_3_6")


def guide_losses(drive: Drive, folder: Path) -> None:
    """Figure 4.10: friction of the guides over the tension, from joints swept both ways at two tensions."""
    options = options_of(folder, drive.after)
    hand, kept, sets = read_hand(options), [], []

    def rows_kept(*words: Any) -> Any:
        kept.append(equations(*words))
        sets.append(words[3])
        return kept[-1]

    made = guides.equations
    guides.equations = rows_kept
    try:
        found: Found = guides.found_guides(
            hand, options, list(range(len(hand.names.tendons))), lambda _: None
        )
    finally:
        guides.equations = made
    figure, axes = panels(2, height=3.6)
    joint = hand.names.joints[sets[-1][0]]
    mine = [row for row in kept[-1] if row.joint == 0]
    for row in mine:
        high = float(np.abs(row.columns).sum(axis=1).mean()) > 0.5 * max(
            float(np.abs(r.columns).sum(axis=1).mean()) for r in mine
        )
        even = 0.5 * (row.torque_nm[row.sign > 0].mean() + row.torque_nm[row.sign < 0].mean())
        axes[0].plot(np.degrees(row.angle_rad), 1e3 * (row.torque_nm - even), ".", markersize=1.5,
                     color=RED if high else BLUE)  # fmt: skip
    axes[0].set(title=f"4.10a: {joint}, swept; red: high tension", xlabel="joint angle [deg]",
                ylabel="tensions' torque less its mean [mN m]")  # fmt: skip
    tension = np.linspace(0.0, 80.0, 20)
    losses = [part for part in found.parts if part.parameter == "guide_loss_frac"]
    for part, colour in zip(losses, (BLUE, ORANGE, GREEN, RED), strict=True):
        own = [hand.names.tendons.index(name) for name in part.name.split()]
        axes[1].plot(tension, part.value * tension, color=colour, label=part.name)
        axes[1].fill_between(tension, part.low * tension, part.high * tension, color=colour, alpha=0.2)
        axes[1].plot(
            tension,
            float(drive.plant["guide_loss_frac"][own].mean()) * tension,
            "--",
            color="black",
            linewidth=0.7,
        )
    axes[1].set(title="4.10b: friction of the guides", xlabel="tension [N]", ylabel="lost [N]")
    axes[1].legend(loc="upper left")
    save(figure, "hand_4_10")


def part(found: dict[str, tuple[Missing, Missing]]) -> str:
    """The last part of the page."""
    rows = [
        f"| {name} | {a.rms_n:.1f} | {b.rms_n:.2f} | {a.rms_n / b.rms_n:.0f} | {a.first_n:.2f} | {b.first_n:.3f} "
        f"| {a.first_n / b.first_n:.0f} |"
        for name, (a, b) in found.items()
    ]
    return "\n".join(
        [
            f"{BEGIN}, what the feedforward of friction and ripple leaves to the loop, in newtons at",
            f"the tendon. The file before has {100 * (1 - SHARE):.0f} % too little friction and no ripple; the finger is drawn"
            " (`python docs/papers/make_identified.py`).",
            "",
            "| motion | before [N rms] | after | times | first harmonic before [N] | after | times |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


def page(text: str, found: dict[str, tuple[Missing, Missing]]) -> str:
    """The page with that part anew."""
    return text[: text.index(BEGIN)] + part(found)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        drive = identified_drive(folder)
        friction_curve(drive)
        ripples(drive)
        found = held_out(drive, folder)
        compensated(found)
        guide_losses(drive, folder)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
