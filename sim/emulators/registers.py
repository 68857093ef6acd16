"""Which writes a servo refuses, and with which error: ranges of its control table (e-Manual, X series)."""

from __future__ import annotations

from typing import Final

from drivers.dynamixel.codec import ID_MAX, ErrorCode
from drivers.dynamixel.models import BAUD_CODES, MODE_CODES, ServoModel

EEPROM_END: Final = 64
TABLE_BYTES: Final = 1024
READ_ONLY: Final = frozenset(
    {
        "model_number",
        "firmware",
        "hardware_error",
        "realtime_tick",
        "moving",
        "moving_status",
        "present_current",
        "present_velocity",
        "present_position",
        "present_voltage",
        "present_temperature",
    }
)
RANGES: Final = {
    "id": (0, ID_MAX),
    "baud": (0, max(BAUD_CODES.values())),
    "return_delay": (0, 254),
    "secondary_id": (0, 255),
    "temperature_limit": (0, 100),
    "velocity_limit": (0, 2047),
    "drive_mode": (0, 15),
    "moving_threshold": (0, 1023),
    "max_position_limit": (0, 4095),
    "min_position_limit": (0, 4095),
    "homing_offset": (-1_044_479, 1_044_479),
    "torque_enable": (0, 1),
    "status_return_level": (0, 2),
    "bus_watchdog": (0, 127),
}
"""Register -> least and greatest legal value, the same on every model."""
TURNS_MAX: Final = 256
"""Turns both ways that a goal may be away in the extended modes."""
GOALS: Final = ("goal_pwm", "goal_current", "goal_velocity", "goal_position")


def value_in(model: ServoModel, table: bytes | bytearray, name: str) -> int:
    """Value of a register in a control table."""
    r = model.registers[name]
    return r.decode(bytes(table[r.address : r.address + r.size]))


def refused(
    model: ServoModel, before: bytearray, after: bytearray, span: tuple[int, int], modes: frozenset[int]
) -> ErrorCode:
    """Error of a write, ``NONE`` if a servo takes it.

    Args:
        model: its model.
        before: its control table.
        after: the same with the write carried out.
        span: first address of the write, and the first behind it.
        modes: operating modes that it can take.
    """
    first, end = span
    if end > TABLE_BYTES:
        return ErrorCode.RANGE
    touched = {n: r for n, r in model.registers.items() if first < r.address + r.size and r.address < end}
    if any(n in READ_ONLY for n in touched) or (
        first < EEPROM_END and value_in(model, before, "torque_enable")
    ):
        return ErrorCode.ACCESS
    if any(r.address < first or r.address + r.size > end for r in touched.values()):
        return ErrorCode.LENGTH
    values = {n: value_in(model, after, n) for n in touched}
    if value_in(model, before, "bus_watchdog") < 0 and any(n in GOALS for n in values):
        return ErrorCode.RANGE
    if any(n in RANGES and not RANGES[n][0] <= v <= RANGES[n][1] for n, v in values.items()):
        return ErrorCode.RANGE
    if "operating_mode" in values and values["operating_mode"] not in modes:
        return ErrorCode.RANGE
    top = model.current_limit_max
    if top is not None and values.get("current_limit", 0) > top:
        return ErrorCode.RANGE
    if not _slots_legal(model, after, first, end):
        return ErrorCode.RANGE
    if abs(values.get("goal_current", 0)) > value_in(model, after, "current_limit"):
        return ErrorCode.LIMIT
    if "goal_position" in values and not _goal_legal(model, after, values["goal_position"]):
        return ErrorCode.LIMIT
    return _torque_refused(model, after, values, modes)


def _slots_legal(model: ServoModel, after: bytearray, first: int, end: int) -> bool:
    """Indirect addresses point behind the EEPROM, and not behind the indirect data."""
    top = model.indirect_data + model.indirect_slots
    for i in range(model.indirect_slots):
        slot = model.slot(i)
        if first < slot.address + slot.size and slot.address < end:
            target = slot.decode(bytes(after[slot.address : slot.address + slot.size]))
            if not EEPROM_END <= target < top:
                return False
    return True


def _goal_legal(model: ServoModel, after: bytearray, counts: int) -> bool:
    """A turn within the position limits in position mode, 256 turns both ways in the extended ones."""
    if value_in(model, after, "operating_mode") == MODE_CODES["position"]:
        low, high = (value_in(model, after, f"{end}_position_limit") for end in ("min", "max"))
        return low <= counts <= high
    return abs(counts) <= TURNS_MAX * model.counts_per_turn


def _torque_refused(
    model: ServoModel, after: bytearray, values: dict[str, int], modes: frozenset[int]
) -> ErrorCode:
    """Torque is not switched on with a latched error, nor in a mode in which nothing would move."""
    if not values.get("torque_enable"):
        return ErrorCode.NONE
    if value_in(model, after, "hardware_error"):
        return ErrorCode.ACCESS
    if value_in(model, after, "operating_mode") not in modes:
        return ErrorCode.RESULT_FAIL
    return ErrorCode.NONE
