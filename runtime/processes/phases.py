"""What processes tell each other through the shared block, and how a run ends."""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Phase(IntEnum):
    """Where a child process stands."""

    STARTING = 0
    WARMING = 1
    READY = 2
    """Compiled, with its rights; nothing is switched on yet."""
    PREPARING = 3
    """Devices are configured, switched on and homed: seconds on a slow bus."""
    RUNNING = 4
    STOPPING = 5
    DONE = 6
    FAILED = 7


class Stop(IntEnum):
    """What the control process is asked to do; larger is more urgent."""

    NONE = 0
    GENTLE = 1
    """Stop sequence: let the hand go in order, then zero torque."""
    NOW = 2
    """Zero torque at once."""


class Released(IntEnum):
    """What is known of the motors' torque."""

    NEVER_ON = -1
    """They were never switched on (what a new block of shared memory holds)."""
    NO = 0
    """Zero torque was sent; the devices did not confirm it."""
    CONFIRMED = 1
    """Zero torque, read back from the devices."""
    UNKNOWN = 2
    """They are on, or were when the control process was last seen."""


class Exit(IntEnum):
    """Exit codes of ``flexor run`` (docs/running.md)."""

    GOOD = 0
    FAILED = 1
    """Something unexpected; the message says what."""
    USAGE = 2
    """An option, a file or a name is wrong."""
    FAULT = 3
    """The run ended with the whole hand in fault."""
    IO_LOST = 4
    """The io process died."""
    CONTROL_LOST = 5
    """The control process died."""
    PORT_BUSY = 6
    """A port is in use."""
    NOT_RELEASED = 7
    """The devices did not confirm zero torque."""
    NOT_STARTED = 8
    """The hand did not become active; the message says what holds it back."""


BEAT_LOST_NS: Final = 2_000_000_000
"""Age of io's heartbeat at which it counts as lost. Goals age by themselves, much earlier (command_age_ms);
a dead io process is noticed by the supervisor within 20 ms."""
START_UP_STOP_S: Final = 1.0
"""Time that io gets to close its files when a run is stopped before the hand was started."""
CONTROL_SILENT_S: Final = 5.0
"""Age of control's heartbeat at which it is killed while it runs or stops: a callback that hangs."""
PREPARE_S: Final = 60.0
"""The same while the bus is set up: one call of a driver may take long, and gives no sign of life."""
COMPILE_S: Final = 300.0
"""Time for one step of a cold start that the service manager is asked for."""
STOP_BUDGET_S: Final = 2.0
"""Longest time from a stop request to zero torque; then the process is killed."""
STOP_SEQUENCE_S: Final = 0.5
"""Time that the guard's reaction gets before the torque is set to zero."""
