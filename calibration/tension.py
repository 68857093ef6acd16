r"""Tendons to their band of tension: each settles, and how much slack had to be taken in is told.

The connections are looked at first, for a tendon that is wound the other way round would be loosened by what
is meant to tighten it. Then every tendon of these fingers is asked for its pretension, by the loop that holds
it in use; the other fingers are off. A tendon counts as settled from when on the mean of ``WINDOW_S`` stays
in the band and moves by no more than ``STILL_SHARE`` of it from window to window.

The slack is told by the length of the tendon, at the start and with the hand straight,

.. math:: s = R (\theta_0 - \theta_{file}), \quad \theta_0 = \theta - (e - e_0) / R

against the hand file's ``zero_rad``; without one, against the start of the run, s is what was wound in. The
first is a trend: run after run it shows a tendon that creeps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from calibration.finding import Finding
from calibration.listening import See
from calibration.motion_run import Means, Watch, run_motion
from calibration.wiring import Wiring, look, told
from hand.hand import Hand
from hand.options import RunOptions
from signals.layout import FloatArray

BAND_SHARE: Final = 0.1
"""Half of the band, as a share of the pretension."""
STILL_SHARE: Final = 0.02
"""Of the pretension, by which a settled tendon may move from one window to the next."""
WINDOW_S: Final = 0.25
WINDOWS: Final = 8
TAIL_S: Final = 0.3
FIELDS: Final = (("state", "tension_n"), ("state", "motor_angle_rad"))


@dataclass(frozen=True, slots=True)
class Tensioned:
    """What was found; tendons in the order of ``tendons``.

    Attributes:
        wiring: what was looked at before; with a finding nothing was tensioned.
        tendons: their indices.
        time_s: middle of each window since the motion began, shape (windows,).
        tension_n: mean of each window, shape (windows, tendons).
        spread_n: twice the standard deviation of the blocks in the last window, shape (tendons,).
        wound_m: path taken in from the start to the end, shape (tendons,).
        faults: of the run.
        seconds: of motion.
    """

    wiring: Wiring
    tendons: tuple[int, ...]
    time_s: FloatArray
    tension_n: FloatArray
    spread_n: FloatArray
    wound_m: FloatArray
    faults: tuple[Finding, ...]
    seconds: float


def band_n(hand: Hand, t: int) -> tuple[float, float]:
    """Lower and upper end of a tendon's band [N]."""
    m = hand.model[0]
    wanted = float(m["pretension_n"][m["tendon_finger"][t]])
    return (1.0 - BAND_SHARE) * wanted, (1.0 + BAND_SHARE) * wanted


def settled_s(time_s: FloatArray, tension_n: FloatArray, low_n: float, high_n: float) -> float:
    """Time from when on a tendon is settled; not a number if it is not at the end.

    Args:
        time_s: of windows, shape (windows,).
        tension_n: means of the windows, shape (windows,).
        low_n: lower end of the band.
        high_n: upper end of the band.
    """
    inside = (tension_n >= low_n) & (tension_n <= high_n)
    most = STILL_SHARE * 0.5 * (low_n + high_n)
    still = np.concatenate([[False], np.abs(np.diff(tension_n)) <= most])
    wrong = np.flatnonzero(~(inside & still))
    first = int(wrong[-1]) + 1 if len(wrong) else 0
    return float(time_s[first]) if first < len(time_s) else float("nan")


def motion_of(hand: Hand, tendons: list[int]) -> str:
    """Text of the motion: these tendons' fingers at their pretension, the others off."""
    m = hand.model[0]
    mine = {int(m["tendon_finger"][t]) for t in tendons}
    modes = [f'{name} = "off"' for f, name in enumerate(hand.names.fingers) if f not in mine]
    lines = ['description = "Tendons at their pretension."', 'mode = "tendon_force"', "tracks = []"]
    return "\n".join([*lines, *(["[modes]", *modes] if modes else [])]) + "\n"


def without_zeros(hand: Hand, tendons: list[int]) -> Hand:
    """The hand with no ``zero_rad`` of these tendons' motors: a tendon that was repaired has a new one."""
    motors = {hand.names.motors[int(hand.model[0]["tendon_motor"][t])] for t in tendons}
    kept = {
        name: each.model_copy(update={"zero_rad": None}) if name in motors else each
        for name, each in hand.file.identified.items()
    }
    return replace(hand, file=hand.file.model_copy(update={"identified": kept}))


def tension(
    hand: Hand,
    options: RunOptions,
    tendons: list[int],
    watch: Watch = lambda _: None,
    see: See | None = None,
) -> Tensioned:
    """Look at the connections of these tendons, then bring them into their band.

    Args:
        hand: the hand, read.
        options: hand, bus, seed, ... of the runs.
        tendons: their indices.
        watch: told the share done.
        see: is shown the tensions on their way.

    Raises:
        Faulted: the run ended early without a fault that has a name.
    """
    wired = look(without_zeros(hand, tendons), options, tendons, lambda x: watch(0.5 * x))
    none, n = np.zeros(0), len(tendons)
    if wired.findings:
        return Tensioned(wired, tuple(tendons), none, np.zeros((0, n)), none, none, (), wired.seconds)
    means, seconds = Means(*FIELDS), WINDOWS * WINDOW_S
    motion = motion_of(hand, tendons)
    faults = run_motion(hand, options, motion, seconds + TAIL_S, means, lambda x: watch(0.5 + 0.5 * x), see)
    edges = np.linspace(0.0, seconds - WINDOW_S, WINDOWS, dtype=np.float64)
    tensions = np.array([means.between("tension_n", a, a + WINDOW_S)[tendons] for a in edges])
    last = (means.time_s >= edges[-1]) & (means.time_s < edges[-1] + WINDOW_S)
    blocks = means.of("tension_n")[last][:, tendons]
    spread = 2.0 * blocks.std(axis=0) if len(blocks) else np.full(n, np.nan)  # over before its last window
    m = hand.model[0]
    turned = means.of("motor_angle_rad")
    away = means.between("motor_angle_rad", float(edges[-1]), float(edges[-1]) + WINDOW_S) - turned[0]
    wound = away[m["tendon_motor"][tendons]] * m["spool_radius_m"][tendons]
    return Tensioned(
        wired, tuple(tendons), edges + 0.5 * WINDOW_S, tensions, spread, wound,
        tuple(told(hand, faults, [])), wired.seconds + seconds + TAIL_S,
    )  # fmt: skip


def slack_m(hand: Hand, found: Tensioned, k: int) -> tuple[float, bool]:
    """Slack of the k-th tendon [m], and whether it is against the hand file's ``zero_rad``."""
    m, t = hand.model[0], found.tendons[k]
    stored = hand.file.identified.get(hand.names.motors[int(m["tendon_motor"][t])])
    if stored is None or stored.zero_rad is None:
        return float(found.wound_m[k]), False
    return float((found.wiring.zeros_rad[t] - stored.zero_rad) * m["spool_radius_m"][t]), True
