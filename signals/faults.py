"""Every cause that can latch a fault: number, name, scope, what it means, what to do next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Cause(IntEnum):
    """Numbers are part of the wire and of the logs: never reuse one."""

    NONE = 0
    NOT_FINITE_MEASUREMENT = 1
    NOT_FINITE_COMMAND = 2
    MEASUREMENT_TOO_OLD = 3
    COMMAND_TOO_OLD = 4
    BUS_LOST = 5
    TENSION_LOST = 10
    TENDON_BROKEN = 11
    TENDON_SLACK = 12
    TENSION_TOO_HIGH = 13
    HALL_STUCK = 20
    HALL_SATURATED = 21
    HALL_GLITCH = 22
    HALL_DRIFT = 23
    RESIDUAL_TOO_LARGE = 24
    HALL_LOST = 25
    MOTOR_LOST = 30
    MOTOR_TOO_FAST = 31
    MOTOR_TOO_HOT = 32
    MOTOR_RESET = 33
    MOTOR_BLOCKED = 34
    ENCODER_FAULT = 35
    FRICTION_GROWN = 36
    ENCODER_STUCK = 37
    JOINT_OUT_OF_RANGE = 40
    WRIST_SENSOR = 50
    WRIST_LOST = 51
    WRIST_JUMP = 52
    SUSTAINED_OVERRUN = 60
    OPERATOR_STOP = 61
    FRICTION_ENERGY = 62
    IO_LOST = 63


@dataclass(frozen=True, slots=True)
class CauseText:
    """How a cause reads: ``{name}`` is the part, ``{value}`` and ``{limit}`` its figures."""

    scope: str
    sentence: str
    hint: str


CAUSES: dict[Cause, CauseText] = {
    Cause.NOT_FINITE_MEASUREMENT: CauseText(
        "finger",
        "{name}: the driver delivered a value that is not a number",
        "check the cable and the driver's log, then re-arm",
    ),
    Cause.NOT_FINITE_COMMAND: CauseText(
        "finger",
        "{name}: the controller asked for a torque that is not a number",
        "look at the goal and the controller's gains; record the run and report it",
    ),
    Cause.MEASUREMENT_TOO_OLD: CauseText(
        "finger",
        "{name}: newest measurement is {value:.1f} ms old, limit {limit:.1f} ms",
        "check the bus load and the cable (flexor doctor)",
    ),
    Cause.COMMAND_TOO_OLD: CauseText(
        "hand",
        "newest goal is {value:.0f} ms old, limit {limit:.0f} ms",
        "the client stopped sending; send goals again, then activate",
    ),
    Cause.BUS_LOST: CauseText(
        "hand",
        "the bus did not answer for {value:.1f} ms",
        "check power and cable of the hand, then re-arm",
    ),
    Cause.TENSION_LOST: CauseText(
        "finger",
        "{name}: lever at its slack stop while {limit:.1f} N are wanted",
        "look at the tendon: broken, off its pulley or unwound",
    ),
    Cause.TENDON_BROKEN: CauseText(
        "finger",
        "{name}: still slack after winding {value:.1f} mm: broken",
        "replace the tendon, then calibrate it",
    ),
    Cause.TENDON_SLACK: CauseText(
        "finger",
        "{name}: slack, tension came back after winding {value:.1f} mm",
        "re-tension the finger",
    ),
    Cause.TENSION_TOO_HIGH: CauseText(
        "finger",
        "{name}: tension {value:.0f} N, limit {limit:.0f} N",
        "look for an obstacle; lower the goal or the pretension",
    ),
    Cause.HALL_STUCK: CauseText(
        "finger",
        "{name}: Hall count unchanged while its motor wound {value:.2f} mm",
        "check the Hall sensor's cable and magnet",
    ),
    Cause.HALL_SATURATED: CauseText(
        "finger",
        "{name}: Hall count {value:.0f} at the end of its range",
        "check the magnet's place; calibrate the sensor",
    ),
    Cause.HALL_GLITCH: CauseText(
        "finger",
        "{name}: Hall count jumps by {value:.0f} counts, possible are {limit:.0f}",
        "check the Hall sensor's cable and shielding",
    ),
    Cause.HALL_DRIFT: CauseText(
        "finger",
        "{name}: length residual drifted to {value:.2f} mm",
        "calibrate the finger",
    ),
    Cause.RESIDUAL_TOO_LARGE: CauseText(
        "finger",
        "{name}: tendon lengths contradict each other by {value:.2f} mm, limit {limit:.2f} mm",
        "a tendon slipped or jumped its pulley; look at the named pair",
    ),
    Cause.HALL_LOST: CauseText(
        "finger", "{name}: Hall sensor does not answer", "check its cable and supply, then re-arm"
    ),
    Cause.MOTOR_LOST: CauseText(
        "finger", "{name}: motor does not answer", "check its power and cable, then re-arm"
    ),
    Cause.MOTOR_TOO_FAST: CauseText(
        "finger",
        "{name}: {value:.1f} rad/s, limit {limit:.1f} rad/s",
        "look for a broken tendon or a wrong goal",
    ),
    Cause.MOTOR_TOO_HOT: CauseText(
        "finger",
        "{name}: winding {value:.0f} degC, limit {limit:.0f} degC",
        "let it cool; lower pretension or duty",
    ),
    Cause.MOTOR_RESET: CauseText(
        "finger",
        "{name}: motor came back in another state (reset or other mode)",
        "check its supply; configure again and home before re-arming",
    ),
    Cause.MOTOR_BLOCKED: CauseText(
        "finger",
        "{name}: {value:.2f} A without motion",
        "look for an obstacle or a broken gear",
    ),
    Cause.ENCODER_FAULT: CauseText(
        "finger",
        "{name}: angle jumps by {value:.3f} rad in a cycle, possible are {limit:.3f}",
        "check the encoder's cable; home the motor",
    ),
    Cause.ENCODER_STUCK: CauseText(
        "finger",
        "{name}: angle stands still for {value:.0f} ms while its tendon moves",
        "check the encoder's cable; home the motor",
    ),
    Cause.FRICTION_GROWN: CauseText(
        "finger",
        "{name}: friction {value:.1f} times its commissioned value",
        "look at guides and gear; identify friction again",
    ),
    Cause.JOINT_OUT_OF_RANGE: CauseText(
        "finger",
        "{name}: {value:.1f} deg, limit {limit:.1f} deg",
        "move the finger back by hand, check the calibration",
    ),
    Cause.WRIST_SENSOR: CauseText(
        "hand",
        "{name}: residuals of all fingers point to a wrist angle off by {value:.1f} deg",
        "check the potentiometer, then home the wrist",
    ),
    Cause.WRIST_LOST: CauseText(
        "hand", "{name}: wrist axis does not answer", "check the wrist drive, then re-arm"
    ),
    Cause.WRIST_JUMP: CauseText(
        "hand",
        "{name}: angle jumps by {value:.1f} deg in a cycle, possible are {limit:.1f} deg",
        "check the potentiometer, then home the wrist",
    ),
    Cause.SUSTAINED_OVERRUN: CauseText(
        "hand",
        "{value:.0f} of the last {limit:.0f} cycles were late",
        "flexor doctor; lower the rate or free the core",
    ),
    Cause.OPERATOR_STOP: CauseText("hand", "stopped by the operator", "re-arm when ready"),
    Cause.FRICTION_ENERGY: CauseText(
        "finger",
        "{name}: friction compensation put {value:.2f} J into a finger at rest",
        "lower controller.friction_gain",
    ),
    Cause.IO_LOST: CauseText(
        "hand", "the io process died {value:.1f} s ago", "see its log; goals are not received"
    ),
}
