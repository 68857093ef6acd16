"""Enumerations of the records: machine state, finger modes, requests, statuses, clips."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class MachineState(IntEnum):
    """State of the hand (docs/state_machine.md)."""

    OFF = 0
    READY = 1
    HOLDING = 2
    ACTIVE = 3
    FAULT = 4


class Mode(IntEnum):
    """What a finger is asked for."""

    OFF = 0
    MOTOR_POSITION = 1
    MOTOR_TORQUE = 2
    TENDON_FORCE = 3
    JOINT_TORQUE = 4
    JOINT_IMPEDANCE = 5


class MotorMode(IntEnum):
    """What a motor is asked for at the HAL."""

    OFF = 0
    CURRENT = 1
    POSITION = 2


class DriveCommand(IntEnum):
    """What a drive takes as its command."""

    CURRENT = 0
    POSITION = 1
    """An angle; the device uses what current it needs."""
    CURRENT_POSITION = 2
    """An angle, and the greatest current that may be used for it."""


def mode_of(command: int) -> MotorMode:
    """Mode in which a drive is asked for something, by what it takes (``DriveCommand``)."""
    return MotorMode.CURRENT if command == DriveCommand.CURRENT else MotorMode.POSITION


class DriveReport(IntFlag):
    """What a drive reports."""

    ANGLE = 1
    SPEED = 2
    CURRENT = 4
    TEMPERATURE = 8


class Request(IntEnum):
    """One-shot requests of an operator; a new ``request_seq`` makes one count."""

    NONE = 0
    ARM = 1
    ACTIVATE = 2
    STOP = 3
    REARM = 4
    OFF = 5


class ChannelStatus(IntFlag):
    """Status bits of one measured channel; 0 is good."""

    OK = 0
    MISSING = 1
    STALE = 2
    DEVICE_ERROR = 4
    OUT_OF_RANGE = 8
    NOT_FINITE = 16
    RESET = 32
    WRONG_MODE = 64
    HELD = 128
    """Its driver gives it no torque until its command has been at rest: it was silent, or the computer was.
    It was not reset."""


class EncoderReference(IntEnum):
    """What a motor's angle is worth as the phase of its ripple."""

    ABSOLUTE = 0
    """The same after every power-up."""
    UNTIL_RESET = 1
    """Relative, but referenced: good until the motor resets."""
    NONE = 2
    """Relative, and not referenced: the phase is unknown from the start."""


class JointSource(IntEnum):
    """What tells the angle of a joint."""

    TENDONS = 0
    """Sensors of its tendons, with the angles of their motors."""
    MOTORS = 1
    """Angles and currents of its motors alone."""
    SENSOR = 2
    """A sensor of its own, beside what tendons and motors tell."""
    SPRINGS = 3
    """Its finger's lines, shared out by springs: not where something holds the finger."""


class BusStatus(IntFlag):
    """Status of one exchange; 0 is good."""

    OK = 0
    PARTIAL = 1
    TIMEOUT = 2
    CORRUPT = 4
    LOST = 8
    LATE = 16
    READ_ONLY = 32


class Clip(IntFlag):
    """Why the guard changed a motor's command."""

    NONE = 0
    TORQUE = 1
    CURRENT = 2
    RATE = 4
    TENSION_MAX = 8
    TENSION_MIN = 16
    SPEED = 32
    JOINT_RANGE = 64
    TEMPERATURE = 128
    STATE = 256
    NOT_FINITE = 512


class TendonKind(IntEnum):
    """Law of a tendon's length inside the finger."""

    PULLEYS = 0
    INSERTION_POINTS = 1


class FingerKind(IntEnum):
    """How the joints of a finger are found from tendon lengths."""

    LINEAR = 0
    TENSEGRITY_BASE = 1
    CURVED = 2
    """Some of its lever arms depend on the angle."""
    SPRUNG = 3
    """Fewer lines than joints: the springs at its joints decide what the lines leave open."""


class Reaction(IntEnum):
    """What a finger does after one of its faults is latched."""

    RELEASE = 0
    """Tension falls to the least value by the tension rate, then the motors are off."""
    HOLD = 1
    """Holds the measured pose with its tensions."""
    FREEZE = 2
    """Motors stand where they are."""


class SensorLevel(IntEnum):
    """How much of the real sensors the plant imitates."""

    IDEAL = 0
    QUANTISED = 1
    FULL = 2


class FaultKind(IntEnum):
    """Faults that can be injected into the plant."""

    NONE = 0
    TENDON_BREAK = 1
    HALL_STUCK = 2
    MOTOR_LOST = 3
    NAN = 4
    WRIST_OFFSET = 5
    TENDON_SLACK = 6
    HALL_OFFSET = 7
    HALL_NOISE = 8
    HALL_SATURATED = 9
    HALL_GLITCH = 10
    HALL_WRAP = 11
    TENDON_SLIP = 12
    FRICTION_GROWTH = 13
    ENCODER_STUCK = 14
    ENCODER_JUMP = 15
    MOTOR_RESET = 16
    MOTOR_HOT = 17
    TENDON_OFF = 18
    """Tendon taken off its spool before the run (constant_speed); not a fault of the hand."""
    JOINT_STUCK = 19
    JOINT_JUMP = 20
    JOINT_NOISE = 21
    JOINT_SILENT = 22
