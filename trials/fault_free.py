"""False alarms: drawn hands move without any fault; every latched cause is one too many."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reports.faults import FaultWatch
from signals.modes import MachineState
from signals.records import RecordArray
from trials.scene import SETTLE_S, Scene


@dataclass(slots=True, kw_only=True)
class QuietRun:
    """What a fault-free run was and what it showed.

    Attributes:
        motion: name of the motion.
        mismatch: seed of the drawn hand.
        seconds: simulated time.
        alarms: latched causes as sentences.
        tension_n: least and greatest true tension once the motion was under way.
        residual_m: greatest residual of each finger.
        wrist_error_rad: greatest apparent error of each wrist axis.
        contact_n: greatest contact force.
    """

    motion: str
    mismatch: int
    seconds: float = 0.0
    alarms: list[dict[str, Any]] = field(default_factory=list)
    tension_n: tuple[float, float] = (np.inf, 0.0)
    residual_m: list[float] = field(default_factory=list)
    wrist_error_rad: list[float] = field(default_factory=list)
    contact_n: float = 0.0


def quiet_run(scene: Scene, seconds: float, mismatch: int) -> QuietRun:
    """Run a fresh scene for a time from its start pose and collect what was latched.

    Args:
        scene: a scene that was not started yet.
        seconds: simulated time [s], start included.
        mismatch: seed that its plant was drawn with.
    """
    counts, names = scene.counts, scene.hand.names
    motion = scene.rig.motion
    run = QuietRun(motion=motion.name if motion else "", mismatch=mismatch, seconds=seconds)
    watch = FaultWatch(names)
    worst = np.zeros(counts["finger"])
    wrist = np.zeros(counts["axis"])
    settled = scene.cycles_of(SETTLE_S)

    def see(frames: RecordArray) -> None:
        watch.look(frames)
        state, truth = frames["state"], frames["truth"]
        np.maximum(worst, state["finger_residual_m"][:, : counts["finger"]].max(axis=0), out=worst)
        np.maximum(wrist, abs(state["wrist_error_rad"][:, : counts["axis"]]).max(axis=0), out=wrist)
        run.contact_n = max(run.contact_n, float(truth["contact_force_n"][:, : counts["finger"]].max()))
        if int(frames["timing"]["cycle"][0]) >= settled:
            tension = truth["tension_n"][:, : counts["tendon"]]
            low, high = run.tension_n
            run.tension_n = (min(low, float(tension.min())), max(high, float(tension.max())))

    scene.run(scene.cycles_of(seconds), see)
    run.residual_m, run.wrist_error_rad = worst.tolist(), wrist.tolist()
    run.alarms = [fault.as_dict() for fault in watch.all]
    machine = int(scene.rig.views["state"]["machine"][0])
    if not run.alarms and machine != MachineState.ACTIVE:
        run.alarms = [
            {"cause": "NOT_ACTIVE", "text": f"hand is {MachineState(machine).name.lower()} at the end"}
        ]
    return run


def by_motion(runs: list[QuietRun], motions: tuple[str, ...]) -> list[str]:
    """Lines of a table: figures of the runs of each motion."""
    width = max(len(m) for m in motions)
    lines = [f"  {'motion':<{width}}  runs  alarms  tension N        residual mm  contact N"]
    for motion in motions:
        own = [r for r in runs if r.motion == motion]
        if own:
            low, high = min(r.tension_n[0] for r in own), max(r.tension_n[1] for r in own)
            residual = 1e3 * max(max(r.residual_m) for r in own)
            alarms = sum(bool(r.alarms) for r in own)
            contact = max(r.contact_n for r in own)
            lines.append(
                f"  {motion:<{width}}  {len(own):4d}  {alarms:6d}  {low:6.1f} to {high:6.1f}"
                f"  {residual:11.2f}  {contact:9.1f}"
            )
    return lines
