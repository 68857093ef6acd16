"""Runs the reference hand on the arm and on the carpal wrist, and alone: their figure, and the rows of the page.

python docs/papers/make_limbs.py          # about two minutes
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from docs.figures import plt, save, use_style
from hand.options import RunOptions
from reports.picture import COLOURS
from runtime.limb_hand import read_as_hand
from runtime.session import run_lockstep

HERE: Final = Path(__file__).parent
PAGE: Final = HERE / "prosthesis_arm.md"
LIMBS: Final = {
    "hand_on_arm": ("reach_and_close", ("shoulder_2", "elbow", "pronation", "index_pip")),
    "hand_on_carpal": ("nod_and_close", ("leg_1", "leg_2", "leg_3", "index_pip")),
}
"""Limb -> its motion and the joints that are drawn."""
ALONE: Final = "hasy"
FINGERS: Final = slice(0, 19)
SECONDS: Final = 10.0
SETTLED_S: Final = 1.0
"""Figures are of what comes after it."""
BEGIN, END = "| 10 s in lockstep", "\nBelow the same runs"
use_style(1.3)


class Followed(NamedTuple):
    """How a hand followed a motion: angles [deg] by time [s] and joint."""

    names: tuple[str, ...]
    rate_hz: float
    time_s: Any
    goal_deg: Any
    true_deg: Any

    def rms_deg(self, joints: slice) -> float:
        """Of goal - truth, once the hand has settled."""
        error = (self.goal_deg - self.true_deg)[self.time_s > SETTLED_S, joints]
        return float(np.sqrt(np.mean(error**2)))


def followed(limb: str) -> tuple[Followed, Followed]:
    """A limb's motion on the limb and by the hand alone.

    Raises:
        AssertionError: one of them went into fault.
    """
    hand = read_as_hand(RunOptions(hand=limb, lockstep=True))
    assert hand.mechanism is not None
    path, found = hand.mechanism.motion(LIMBS[limb][0]), []
    for who in (limb, ALONE):
        run = run_lockstep(who, motion=path, seconds=SECONDS, rate_hz=hand.rate_hz)
        assert run.report["faults"] == [], run.report["faults"]
        goal, truth = run.frames["state"]["ref_joint_angle_rad"], run.frames["truth"]["joint_angle_rad"]
        names = tuple(run.hand.names.joints)
        found.append(Followed(names, hand.rate_hz, run.seconds, np.degrees(goal), np.degrees(truth)))
    return found[0], found[1]


def part(found: dict[str, tuple[Followed, Followed]]) -> str:
    """The page's table."""
    (rate,) = {limb.rate_hz for limb, _ in found.values()}
    rows = [
        f"{BEGIN} at {rate:.0f} Hz, after {SETTLED_S:g} s | with | alone | carrier's joints |",
        "|---|---|---|---|",
    ]
    for name, (limb, alone) in found.items():
        rest = limb.rms_deg(slice(FINGERS.stop, None))
        rows.append(
            f"| `{name}`, `{LIMBS[name][0]}`: 19 finger joints, goal - truth, rms | {limb.rms_deg(FINGERS):.3f} deg "
            f"| {alone.rms_deg(FINGERS):.3f} deg | {rest:.3f} deg |"
        )
    return "\n".join(rows) + "\n"


def page(text: str, found: dict[str, tuple[Followed, Followed]]) -> str:
    """The page with that table anew."""
    return text[: text.index(BEGIN)] + part(found) + text[text.index(END) :]


def picture(found: dict[str, tuple[Followed, Followed]]) -> None:
    """Goals and truth of some joints, and the fingers' error on the limb and alone."""
    figure, axes = plt.subplots(2, len(found), figsize=(9.5, 5.0), constrained_layout=True, sharex="col")
    for (top, bottom), (name, both) in zip(axes.T, found.items(), strict=True):
        for run, label, colour in zip(both, (name, ALONE), COLOURS, strict=False):
            error = np.sqrt(np.mean((run.true_deg - run.goal_deg)[:, FINGERS] ** 2, axis=1))
            bottom.plot(run.time_s, error, color=colour, label=label, linewidth=0.9)
        limb = both[0]
        for joint, colour in zip(LIMBS[name][1], COLOURS, strict=False):
            j = limb.names.index(joint)
            top.plot(limb.time_s, limb.goal_deg[:, j], "--", color=colour, linewidth=0.8)
            top.plot(limb.time_s, limb.true_deg[:, j], color=colour, label=joint)
        top.set(title=f"{name}, {LIMBS[name][0]}", ylabel="joint angle [deg]")
        bottom.set(ylabel="fingers, goal - truth, rms [deg]", xlabel="time [s]")
        for axis in (top, bottom):
            axis.margins(x=0.0)
            axis.legend()
    save(figure, "limbs")


def main() -> None:
    found = {limb: followed(limb) for limb in LIMBS}
    picture(found)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
