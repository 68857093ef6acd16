"""Every cause that can latch a fault, as one row: whom it stops, what its part is, what it blinds, its words.

Reports, events, the client (by ``meta``), the judge of trials, the guard's reaction and the documentation
read the row. Nobody reads a meaning from a name, or from the order of the numbers.

Columns of ``_ROWS``: cause | scope | space of its part | blinds | sentence | hint. In a sentence ``{name}`` is
the part, ``{value}`` and ``{limit}`` are its figures. A cause of the hand blinds no finger.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

import numpy as np

from signals.names import ForeignCause, HandNames, Space


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
    HALL_NOT_FINITE = 26
    HALL_TOO_OLD = 27
    MOTOR_LOST = 30
    MOTOR_TOO_FAST = 31
    MOTOR_TOO_HOT = 32
    MOTOR_RESET = 33
    MOTOR_BLOCKED = 34
    ENCODER_FAULT = 35
    FRICTION_GROWN = 36
    ENCODER_STUCK = 37
    MOTOR_HELD = 38
    JOINT_OUT_OF_RANGE = 40
    JOINT_CONTRADICTED = 41
    JOINT_SENSOR_LOST = 42
    JOINT_SENSOR_STUCK = 43
    JOINT_SENSOR_JUMP = 44
    JOINT_SENSOR_NOISY = 45
    WRIST_SENSOR = 50
    WRIST_LOST = 51
    WRIST_JUMP = 52
    SUSTAINED_OVERRUN = 60
    OPERATOR_STOP = 61
    FRICTION_ENERGY = 62
    IO_LOST = 63
    FOREIGN_1 = 100
    """Of the first detector in the hand file that is not ours; its row stands there (``row_of``)."""
    FOREIGN_2 = 101
    FOREIGN_3 = 102
    FOREIGN_4 = 103
    FOREIGN_5 = 104
    FOREIGN_6 = 105
    FOREIGN_7 = 106
    FOREIGN_8 = 107


FOREIGN: Final = tuple(Cause(code) for code in range(Cause.FOREIGN_1, Cause.FOREIGN_8 + 1))
"""Causes of detectors that are not ours, in the order of the hand file."""


class Scope(StrEnum):
    """Whom a cause stops."""

    FINGER = "finger"
    HAND = "hand"
    SENSOR = "sensor"
    """The sensor alone: it is left out until the hand is armed anew, and nothing stops."""


class Blinds(IntEnum):
    """By what a finger in fault may not be led any more."""

    NOTHING = 0
    """Its sensors are sound: it may hold its place."""
    FINGER = 1
    """Its place is not known; the tension of each tendon is."""
    HALL = 2
    """Nor is the tension of the tendon that the part is the Hall sensor of."""
    MOTOR = 3
    """Its place is not known, and the motor that is the part is not driven."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What there is to say about a cause."""

    scope: Scope
    space: Space
    blinds: Blinds
    sentence: str
    hint: str


_ROWS: Final = """
NOT_FINITE_MEASUREMENT | finger | motor  | motor   | {name}: the driver delivered a value that is not a number | check the cable and the driver's log, then re-arm
NOT_FINITE_COMMAND     | finger | motor  | finger  | {name}: the controller asked for a torque that is not a number | look at the goal and the controller's gains; record the run and report it
MEASUREMENT_TOO_OLD    | finger | motor  | motor   | {name}: newest measurement is {value:.1f} ms old, limit {limit:.1f} ms | check the bus load and the cable (flexor doctor)
COMMAND_TOO_OLD        | hand   | hand   | -       | newest goal is {value:.0f} ms old, limit {limit:.0f} ms | the client stopped sending; send goals again, then activate
BUS_LOST               | hand   | bus    | -       | the bus did not answer for {value:.1f} ms | check power and cable of the hand, then re-arm
TENSION_LOST           | finger | tendon | finger  | {name}: slack while {limit:.1f} N are wanted | look at the tendon: broken, off its pulley or unwound
TENDON_BROKEN          | finger | tendon | finger  | {name}: still slack after winding {value:.1f} mm: broken | replace the tendon, then calibrate it
TENDON_SLACK           | finger | tendon | finger  | {name}: slack, tension came back after winding {value:.1f} mm | re-tension the finger
TENSION_TOO_HIGH       | finger | tendon | finger  | {name}: tension {value:.0f} N, limit {limit:.0f} N | look for an obstacle; lower the goal or the pretension
HALL_STUCK             | finger | hall   | hall    | {name}: sensor count unchanged while its motor wound {value:.2f} mm | check the sensor's cable, and a Hall sensor's magnet
HALL_SATURATED         | finger | hall   | hall    | {name}: sensor count {value:.0f} at the end of its range | check a Hall sensor's magnet, a load cell's span; calibrate the sensor
HALL_GLITCH            | finger | hall   | hall    | {name}: sensor count jumps by {value:.0f}, possible are {limit:.0f} | check the sensor's cable and shielding
HALL_DRIFT             | finger | hall   | finger  | {name}: length residual drifted to {value:.2f} mm | calibrate the finger
RESIDUAL_TOO_LARGE     | finger | tendon | finger  | {name}: tendon lengths contradict each other by {value:.2f} mm, limit {limit:.2f} mm | a tendon slipped or jumped its pulley; look at the named pair
HALL_LOST              | finger | hall   | hall    | {name}: sensor does not answer | check its cable and supply, then re-arm
HALL_NOT_FINITE        | finger | hall   | hall    | {name}: the driver delivered a sensor count that is not a number | check the sensor's cable and the driver's log, then re-arm
HALL_TOO_OLD           | finger | hall   | hall    | {name}: newest sensor count is {value:.1f} ms old, limit {limit:.1f} ms | check the bus load and the cable (flexor doctor)
MOTOR_LOST             | finger | motor  | motor   | {name}: motor does not answer | check its power and cable, then re-arm
MOTOR_TOO_FAST         | finger | motor  | motor   | {name}: {value:.1f} rad/s, limit {limit:.1f} rad/s | look for a broken tendon or a wrong goal
MOTOR_TOO_HOT          | finger | motor  | motor   | {name}: winding {value:.0f} degC, limit {limit:.0f} degC | let it cool; lower pretension or duty
MOTOR_RESET            | finger | motor  | motor   | {name}: motor came back in another state (reset or other mode) | check its supply; configure again and home before re-arming
MOTOR_HELD             | finger | motor  | motor   | {name}: its driver took its torque away, as the motor or this computer was silent for too long; it was not reset | look at what its bus said and at the computer (flexor doctor), then re-arm
MOTOR_BLOCKED          | finger | motor  | nothing | {name}: {value:.2f} A without motion | look for an obstacle or a broken gear
ENCODER_FAULT          | finger | motor  | motor   | {name}: angle jumps by {value:.3f} rad in a cycle, possible are {limit:.3f} | check the encoder's cable; home the motor
FRICTION_GROWN         | finger | motor  | motor   | {name}: friction {value:.1f} times its commissioned value | look at guides and gear; identify friction again
ENCODER_STUCK          | finger | motor  | motor   | {name}: angle stands still for {value:.0f} ms while its tendon moves | check the encoder's cable; home the motor
JOINT_OUT_OF_RANGE     | finger | joint  | nothing | {name}: {value:.1f} deg, limit {limit:.1f} deg | move the finger back by hand, check the calibration
JOINT_CONTRADICTED     | finger | joint  | finger  | {name}: its sensor and its motors disagree by {value:.1f} deg, limit {limit:.1f} deg | a tendon broke or slipped, or the sensor turned on its shaft; look at both
JOINT_SENSOR_LOST      | sensor | joint  | -       | {name}: its joint sensor does not answer; left out | check its cable and supply, then arm anew
JOINT_SENSOR_STUCK     | sensor | joint  | -       | {name}: its joint sensor stands still, {value:.1f} deg from what its motors tell; left out | check its magnet and cable, then arm anew
JOINT_SENSOR_JUMP      | sensor | joint  | -       | {name}: its joint sensor jumps, {value:.1f} deg from what its motors tell; left out | check its magnet and cable, then arm anew
JOINT_SENSOR_NOISY     | sensor | joint  | -       | {name}: its joint sensor is far noisier than the hand file says; left out | check its magnet's distance and its shielding, then arm anew
WRIST_SENSOR           | hand   | axis   | -       | {name}: residuals of all fingers point to a wrist angle off by {value:.1f} deg | check the potentiometer, then flexor calibrate wrist
WRIST_LOST             | hand   | axis   | -       | {name}: wrist axis does not answer | check the wrist drive, then re-arm
WRIST_JUMP             | hand   | axis   | -       | {name}: angle jumps by {value:.1f} deg in a cycle, possible are {limit:.1f} deg | check the potentiometer, then flexor calibrate wrist
SUSTAINED_OVERRUN      | hand   | hand   | -       | {value:.0f} of the last {limit:.0f} cycles were late | flexor doctor; lower the rate or free the core
OPERATOR_STOP          | hand   | hand   | -       | stopped by the operator | re-arm when ready
FRICTION_ENERGY        | finger | motor  | finger  | {name}: friction compensation put {value:.2f} J into a finger at rest | lower gains.friction_gain or gains.guide_gain
IO_LOST                | hand   | hand   | -       | the io process died {value:.1f} s ago | see its log; goals are not received
"""


def _parse(line: str) -> tuple[Cause, Row]:
    name, scope, space, blinds, sentence, hint = (column.strip() for column in line.split("|"))
    blinded = Blinds.NOTHING if blinds == "-" else Blinds[blinds.upper()]
    row = Row(scope=Scope(scope), space=Space(space), blinds=blinded, sentence=sentence, hint=hint)
    return Cause[name], row


CAUSES: Final[dict[Cause, Row]] = dict(_parse(line) for line in _ROWS.strip().splitlines())
"""Cause -> its row, in the order of the text."""

BLINDS: Final = np.full(max(Cause) + 1, int(Blinds.FINGER))
"""Number of a finger's cause -> its ``Blinds``, for laws; what is none of a finger's is trusted least."""
BLINDS[Cause.NONE] = Blinds.NOTHING
for _cause, _row in CAUSES.items():
    if _row.scope == Scope.FINGER:
        BLINDS[_cause] = _row.blinds


def row_of(cause: Cause, names: HandNames) -> Row:
    """The row of a cause: ours, or that which the hand file gives a foreign detector."""
    if cause in CAUSES:
        return CAUSES[cause]
    found = _foreign(cause, names)
    if found is None:  # a log without its hand file
        words = "{name}: a detector of another package: {value:g}, limit {limit:g}"
        return Row(scope=Scope.FINGER, space=Space.FINGER, blinds=Blinds.FINGER, sentence=words, hint="")
    scope = Scope.HAND if found.space in (Space.AXIS, Space.HAND) else Scope.FINGER
    return Row(scope=scope, space=found.space, blinds=Blinds.FINGER, sentence=found.sentence, hint=found.hint)


def cause_name(cause: Cause, names: HandNames) -> str:
    """Name of a cause in reports, events and logs."""
    found = _foreign(cause, names)
    return cause.name if found is None else found.name


def _foreign(cause: Cause, names: HandNames) -> ForeignCause | None:
    return dict(zip(FOREIGN, names.foreign, strict=False)).get(cause)


def part_name(cause: Cause, names: HandNames, index: int) -> str:
    """Name of the part that a cause blames; -1 are all of its space: the buses of the hand, the hand."""
    if cause is Cause.NONE:
        return ""
    parts = names.of(row_of(cause, names).space)
    if index < 0:
        return ", ".join(parts)
    return parts[index] if index < len(parts) else ""


def blamed(cause: int, names: HandNames, index: int) -> str:
    """A cause and its part in a few words, as ``MOTOR_LOST of m_index_3``; empty for no cause."""
    if cause == Cause.NONE:
        return ""
    return f"{cause_name(Cause(cause), names)} of {part_name(Cause(cause), names, index)}"
