"""Everything that one run needs inside the control process, put together from its options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from drivers.hal import Bus
from hand.file.homing import NOT_ON_A_BUS, POSES
from hand.hand import Hand, read_tendon_hand
from hand.mechanism_file import is_mechanism_hand
from hand.motion.load import Motion, load_motion
from hand.options import OptionError, RunOptions
from hand.stages import DEFAULT, Stages, make_detectors, make_stages
from runtime.backends import at_rest, at_rest_on_wire, bus_names, motor_setups, open_bus
from runtime.backends import sim_bus as sim_bus
from runtime.goals import GoalSource
from runtime.keyframes import Keyframes, Remembered, room
from runtime.pipeline import Pipeline
from signals.goal import default_goal
from signals.modes import MachineState
from signals.records import RecordArray, new_frame
from sim.options import Fault
from telemetry.shm.channel import Channel
from telemetry.shm.segment import Segment


@dataclass(slots=True)
class Rig:
    """A hand with bus, stages, goals and pipeline, ready to be homed and run."""

    hand: Hand
    options: RunOptions
    bus: Bus
    backend: str
    stages: Stages
    goals: GoalSource
    frame: RecordArray
    views: dict[str, RecordArray]
    pipeline: Pipeline
    motion: Motion | None
    has_truth: bool = True

    @property
    def remembered(self) -> Remembered:
        """What its tick remembers from one cycle to the next."""
        return Remembered(self.hand.model, self.stages, self.views)

    def leave_keyframe(self, cycle: int) -> None:
        """Leave what the tick remembers after a cycle, where somebody may ask for it."""
        if self.pipeline.keyframes is not None:
            self.pipeline.keyframes.leave(cycle)

    def in_fault(self) -> bool:
        """A finger or the whole hand is in fault now."""
        state = self.views["state"][0]
        fingers = state["finger_state"][: len(self.hand.names.fingers)]
        return bool(state["machine"] == MachineState.FAULT or (fingers == MachineState.FAULT).any())


HOLD_S = 10.0
"""Length of a lockstep run that has neither ``--for`` nor a motion with an end."""


def read_hand(options: RunOptions) -> Hand:
    """Read the hand file with its overrides and choices.

    Raises:
        ValueError: the file or an override is refused, or an option does not fit; says where and why.
        drivers.errors.DriverError: the bus file is refused.
    """
    if is_mechanism_hand(options.hand):
        from runtime.limb_hand import read_as_hand  # with all mechanisms: a sixth of a second

        hand = read_as_hand(options)
    else:
        hand = read_tendon_hand(options)
    hand.names = replace(hand.names, buses=bus_names(options, hand.names))
    pose = hand.homing_pose
    if options.bus is not None and pose in NOT_ON_A_BUS:
        line, legal = (
            hand.file.line_of(("homing", "pose")),
            ", ".join(p for p in POSES if p not in NOT_ON_A_BUS),
        )
        text = f'{hand.file.path}:{line}: homing.pose: found "{pose}" with --bus; {NOT_ON_A_BUS[pose]}'
        raise OptionError(f"{text}; legal with a bus: {legal}")
    if options.seconds is not None and round(options.seconds * hand.rate_hz) < 1:
        raise OptionError(
            f"--for is {options.seconds:g} s, which is no cycle; one lasts {1e3 / hand.rate_hz:.3g} ms"
        )
    if hand.mechanism is None:
        for text in options.faults:
            _check_fault(text, hand, options)
    return hand


def _check_fault(text: str, hand: Hand, options: RunOptions) -> None:
    """Refuse a fault that could never be seen."""
    fault = Fault.parse(text, hand.names)
    if options.seconds is not None and fault.time_s >= options.seconds:
        raise OptionError(f"--fault {text} comes after the end of the run, --for {options.seconds:g}")
    if (word := fault.kind.name.partition("_")[0]) not in ("HALL", "JOINT"):
        return
    space = "joint" if word == "JOINT" else "tendon"
    at = hand.file.joint_sensor_at if word == "JOINT" else hand.file.channel_at
    measured = [name for name in hand.names.of(space) if at(name) is not None]
    if hand.names.of(space)[fault.index] not in measured:
        has = f"a {space} with one: {', '.join(measured)}"
        legal = has if measured else "other kinds; this hand has none at all"
        raise OptionError(f"--fault {text}: this {space} has no sensor that could fail; legal: {legal}")


def with_length(options: RunOptions, hand: Hand) -> RunOptions:
    """The same options with a length: without one, a lockstep run makes its motion once, or holds 10 s."""
    if options.seconds is not None or not options.lockstep:
        return options
    motion = _motion(options, hand)
    duration_s = motion.duration_s if motion is not None else 0.0
    return replace(options, seconds=duration_s if duration_s > 0.0 else HOLD_S)


def _motion(options: RunOptions, hand: Hand) -> Motion | None:
    if options.motion is None:
        return None
    where = options.motion if hand.mechanism is None else hand.mechanism.motion(options.motion)
    return load_motion(where, hand.names, hand.model)


def check(options: RunOptions, hand: Hand) -> None:
    """Refuse what a run would refuse - motion, faults, stages, bus file - without opening or moving anything.

    Raises:
        ValueError: saying what is wrong.
        drivers.errors.DriverError: the bus file is refused.
    """
    if options.bus is not None:
        from runtime.busprocess.hardware import check_bus_file

        check_bus_file(options.bus, hand.names)
    build(options.without_bus(), replace(hand, model=hand.model.copy()), Channel.local(2))


def build(
    options: RunOptions, hand: Hand, channel: Channel, *, segment: Segment | None = None, start: bool = True
) -> Rig:
    """Put a run together; nothing moves yet.

    Args:
        options: the run's options.
        hand: ``read_hand`` of these options.
        channel: where frames are left.
        segment: shared memory whose mailbox brings client goals.
        start: arm and activate by itself.

    Raises:
        ValueError: motion, fault or foreign stage is refused.
    """
    frame, views = new_frame()
    motion = _motion(options, hand)
    if motion is not None:
        motion.bind(views["state"])
    bus, backend, has_truth = open_bus(hand, options, views["truth"], motion)
    if hand.mechanism is None:
        own = hand.file.estimator or DEFAULT, hand.file.controller or DEFAULT
        stages = make_stages(*own, make_detectors(hand.names))
    else:
        stages = hand.mechanism.stages(views["measurement"])
    first = default_goal(hand.model, options.pretension_n)
    goals = GoalSource(views["goal"], views["state"], first, motion=motion, segment=segment, start=start)
    pipeline = Pipeline(
        model=hand.model,
        bus=bus,
        stages=stages,
        goals=goals,
        frame=frame,
        views=views,
        channel=channel,
        realtime=not options.lockstep,
    )
    if segment is not None and room(segment):
        pipeline.keyframes = Keyframes(segment, Remembered(hand.model, stages, views))
    return Rig(hand, options, bus, backend, stages, goals, frame, views, pipeline, motion, has_truth)


def prepare(rig: Rig, start_ns: int, beat: Callable[[], None] = lambda: None) -> None:
    """Configure and activate the bus and home at the start pose (straight or sensed, at rest, zero command).

    Args:
        rig: what to prepare.
        start_ns: monotonic time of the first cycle; the homing exchanges lie before it.
        beat: called between the steps (heartbeat); what it raises goes through.

    Raises:
        drivers.errors.DriverError: the bus refuses.
        estimators.homing.HomingError: a channel delivers no number, a joint's sensor no place of its joint.
    """
    from estimators.tick import home, sensed_pose

    beat()
    rig.bus.configure(motor_setups(rig.hand))
    beat()
    if not rig.options.readonly:
        rig.bus.activate()
    beat()
    command = rig.views["command"]
    if rig.options.bus is None:
        measurements = at_rest(rig.bus, command, rig.hand.rate_hz, start_ns)
    else:
        measurements = at_rest_on_wire(rig.bus, command, rig.hand, beat)
    pose, model, joints = rig.hand.homing_pose, rig.hand.model, rig.hand.names.joints
    if rig.options.bus is not None and pose == "absolute":
        return  # the offsets are the model's: straight at motor angle 0
    sensed = pose == "joint_sensors"
    home(model, measurements, sensed_pose(model, measurements, joints) if sensed else np.zeros(len(joints)))
