"""Inputs that once broke a promise, each from an exact state with its goals, judged by the plant's truth.

``python -m tests.safety.known_cases [NAME ...]`` prints what each of them does today. A state is restored by
the names of its fields: what a record did not have then keeps what today's own start of the same hand gave.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

from drivers.hal import Bus
from hand.hand import Hand
from signals.records import RecordArray
from telemetry.command.bounds import goal_bounds
from telemetry.command.requests import GOAL_FIELDS
from telemetry.shm.channel import Channel
from tests.safety.case_truth import Case, Truth, broken, causes_of, hand_of, stops_of
from trials.client import Client, CommandedScene
from trials.draw import Trial
from trials.record import Recorder
from trials.rules import KINDS
from trials.scene import SLOTS, Scene

STAGES: Final = ("estimator", "controller", "guard")
FOLDER: Final = Path(__file__).parent / "cases"
KEPT: Final = (
    "frame",
    "plant",
    "plant_model",
    "estimator_memory",
    "controller_memory",
    "guard_memory",
    "motion",
)
"""Records of a state. The model is the one that today's hand file and homing make; ``work`` is scratch."""
SENT_S: Final = 0.010
"""Between two goals of a client, as ``Control.sleep`` sends them."""


class _Blurred:
    """Between tick and bus: a measurement with values nobody should believe, for some cycles."""

    def __init__(self, bus: Any, act: dict[str, Any], counts: dict[str, int]) -> None:
        self._bus, self._field, self._left = bus, act["measurement"], int(act.get("cycles", 1))
        self._add, self._set = act.get("add", 0.0), act.get("set")
        self._parts = slice(None, counts["motor" if self._field.startswith("motor") else "tendon"])
        if act.get("parts") is not None:
            self._parts = act["parts"]  # type: ignore[assignment]

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        status = self._bus.exchange(command, measurement, now_ns)
        if self._left > 0:
            self._left -= 1
            values = measurement[self._field][0]
            values[self._parts] = values[self._parts] + self._add if self._set is None else self._set
        return int(status)


def all_cases() -> dict[str, Case]:
    """Every case by its name."""
    found = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
    return {
        c["name"]: Case(**{k: tuple(v) if isinstance(v, list) else v for k, v in c.items()}) for c in found
    }


def fresh(hand: Hand, motion: str | None) -> Scene:
    """A scene, homed and not started."""
    if motion is None:
        return CommandedScene(hand)
    return Scene(hand, motion, channel=Channel.local(SLOTS, window=round(hand.rate_hz)))


def save(scene: Scene, state: str) -> None:
    """Write the scene's state into a file of ``FOLDER``."""
    kept = {k: r for k, r in scene.records().items() if k in KEPT}
    np.savez_compressed(FOLDER / f"{state}.npz", cycle=np.int64(scene.cycle), **kept)


def restore(scene: Scene, state: str) -> None:
    """Run the scene to the cycle of a state, then overlay what the file has of it."""
    with np.load(FOLDER / f"{state}.npz", allow_pickle=False) as file:
        cycle = int(file["cycle"])
        scene.run(cycle - scene.cycle)
        for name, record in scene.records().items():
            if name in file.files:
                _overlay(record, file[name])
    scene.loop.progress.cycles = cycle


def _overlay(record: Any, stored: Any) -> None:
    """Fields of the same name and shape, at every depth."""
    for name in stored.dtype.names:
        if record.dtype.names is None or name not in record.dtype.names:
            continue
        if stored[name].dtype.names is not None:
            _overlay(record[name], stored[name])
        elif record[name].shape == stored[name].shape:
            record[name] = stored[name]


def _legal(client: Client, values: dict[str, Any], argument: str) -> dict[str, float]:
    """Values by name; ``*`` means all, ``min`` and ``max`` the legal ends."""
    hand, motor_now_rad = (
        client.scene.hand,
        client.scene.rig.views["measurement"]["motor_angle_rad"][0],
    )
    space = GOAL_FIELDS[argument][1]
    bounds = goal_bounds(hand.model)
    found = {}
    for name, value in values.items():
        for own in hand.names.of(space) if name == "*" else (name,):
            low, high = bounds.of(argument, hand.names.index(space, own), motor_now_rad)
            found[own] = float({"min": low, "max": high}.get(value, value))
    return found


def run_case(case: Case, record: Recorder | None = None) -> Truth:
    """Restore the case's state, do what it says in lockstep, and return the truth of every cycle."""
    hand = hand_of(case.hand)
    scene = fresh(hand, case.motion)
    restore(scene, case.state)
    recorder = record or Recorder(scene.counts)
    recorder.add(scene.rig.frame)
    begun_ns = int(scene.rig.views["state"]["time_ns"][0])
    first, client = scene.cycle, None
    if isinstance(scene, CommandedScene):
        scene.mailbox.step = lambda: scene.run(1, recorder.add)
        client = Client(scene).__enter__()
    waiting, args, sent = sorted(case.what, key=lambda a: float(a["at_s"])), {}, -(10**9)
    while (done := scene.cycle - first) < scene.cycles_of(case.seconds):
        while waiting and scene.cycles_of(waiting[0]["at_s"]) <= done:
            act = waiting.pop(0)
            if "mode" in act:
                assert client is not None
                client.ask("mode", fingers=act["mode"])
            if "goal" in act:
                assert client is not None
                for argument, values in act["goal"].items():
                    args.setdefault(argument, {}).update(_legal(client, values, argument))
                sent = -(10**9)
            if "fault" in act:
                trial = Trial(seed=0, motion=case.motion or "", mismatch=0, moment=0.0, **act["fault"])
                scene.bus.inject(scene.fault_of(trial, KINDS[trial.kind]))
            if "measurement" in act:
                scene.rig.pipeline.bus = _as_bus(_Blurred(scene.rig.pipeline.bus, act, scene.counts))
        if client is not None and args and done - sent >= scene.cycles_of(SENT_S):
            sent = done
            if not client.ask("goal", **args)["ok"]:
                args = {}
        until = min((scene.cycles_of(a["at_s"]) for a in waiting), default=10**9)
        until = min(until, sent + scene.cycles_of(SENT_S) if args else 10**9, scene.cycles_of(case.seconds))
        scene.run(max(until - (scene.cycle - first), 1), recorder.add)
    recording = recorder.recording(begun_ns)
    refused = client.refused if client else []
    return Truth(recording, hand.names, stops_of(hand, recording), causes_of(hand, scene), refused)


def _as_bus(blurred: Any) -> Bus:
    return blurred  # type: ignore[no-any-return]


def main(chosen: list[str]) -> None:
    """Print a line for each case."""
    width = max(map(len, all_cases()))
    print(
        f"{'case':<{width}}  most N  above 135 N  fastest stop                fastest joint           causes"
    )
    for case in all_cases().values():
        if chosen and case.name not in chosen:
            continue
        truth = run_case(case)
        stop, fast = truth.fastest_stop, truth.fastest_joint
        print(
            f"{case.name:<{width}}  {truth.greatest_n:6.0f}  {truth.above_ms():8.1f} ms"
            f"  {stop[0]:4.1f} rad/s {stop[1]:<16}  {fast[0]:4.1f} rad/s {fast[1]:<16}",
            ", ".join(f"{who} {cause.name} {part}" for who, (cause, part) in truth.causes.items()) or "-",
        )
        for text in truth.refused[:1]:
            print(f"    refused  {text}")
        for text in broken(case, truth):
            print(f"    BROKEN   {text}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
