"""One emulated Dynamixel servo: control table, protections, turn count - what the protocol shows of it."""

from __future__ import annotations

import math
import struct
from typing import Final

from drivers.dynamixel.codec import ALERT, ErrorCode
from drivers.dynamixel.models import MODE_CODES, ServoModel
from signals.modes import MotorMode
from sim.emulators.registers import EEPROM_END, GOALS, TABLE_BYTES, refused, value_in
from sim.emulators.side import DeviceSide

WATCHDOG_NS: Final = 20_000_000
OVERLOAD, OVERHEAT, VOLTAGE = 1 << 5, 1 << 2, 1 << 0
PRESENT: Final = struct.Struct("<hii")
"""Current, velocity, position: registers 126 to 135."""
CURRENT: Final = int(MotorMode.CURRENT)
WORD: Final = struct.Struct("<H")
GOAL_CURRENT: Final = struct.Struct("<h")
POSITIONS: Final = ("position", "extended_position", "current_position")
REVERSE: Final = 1
"""Bit of the drive mode: angles, speeds and currents count the other way."""
CURRENT_LIMIT: Final = 1750
"""Factory current limit of a model that publishes no greatest one [counts]."""
DEFAULTS: Final = {
    "baud": 1,
    "secondary_id": 255,
    "return_delay": 250,
    "operating_mode": 3,
    "temperature_limit": 70,
    "shutdown": 0b110100,
    "status_return_level": 2,
    "velocity_limit": 400,
    "present_voltage": 120,
    "moving_threshold": 10,
    "max_position_limit": 4095,
}


class EmulatedServo:
    """One servo on a chain.

    It takes the operating modes in which the hand behind it moves: current, and those of positions where that
    can (``side.positions``). The others are refused, as is torque in one of them. Homing offset and reverse
    mode are part of every position, the goal current bounds the current of mode 5, the current limit that of
    modes 3 and 4.

    Args:
        device_id: its id.
        model: its model.
        side: the hand behind it.
        motor: its motor's index there.
        direction: sign of the device's angle.
        gear_ratio: turns of the device per turn of the spool.
        firmware: what it reports; below the model's first one it knows no fast reads.
    """

    def __init__(
        self,
        device_id: int,
        model: ServoModel,
        side: DeviceSide,
        motor: int,
        direction: int = 1,
        gear_ratio: float = 1.0,
        firmware: int = 50,
    ) -> None:
        self.model, self.side, self.motor = model, side, motor
        self._turns_per_rad = direction * gear_ratio / (2.0 * math.pi)
        self._direction = direction
        shown, told = side.measurement, side.command
        self._angle_rad, self._speed_rad_s = shown["motor_angle_rad"][0], shown["motor_speed_rad_s"][0]
        self._current_a, self._degc = shown["motor_current_a"][0], shown["motor_temperature_degc"][0]
        self._told_mode, self._told_a = told["motor_mode"][0], told["motor_current_a"][0]
        """Views of the side's records, shape (motors,): found once, not by name in every cycle."""
        self.table = bytearray(TABLE_BYTES)
        registers = model.registers
        self._present = registers["present_current"].address
        self._temperature = registers["present_temperature"].address
        self._tick = registers["realtime_tick"].address
        self._id_at, self._fed_at = registers["id"].address, registers["bus_watchdog"].address
        self._goal_current, self._limit = (
            registers["goal_current"].address,
            registers["current_limit"].address,
        )
        self._torque, self._mode = registers["torque_enable"].address, registers["operating_mode"].address
        self._baud_at = registers["baud"].address
        self._error = registers["hardware_error"].address
        self._counts_a = 1.0 / model.current_lsb_a if model.current_lsb_a else 0.0
        self._speed_counts = self._turns_per_rad * 2.0 * math.pi / model.speed_lsb_rad_s
        self._moving = registers["moving"].address
        offered = ("current", *POSITIONS) if side.positions else ("current",)
        self._modes = frozenset(MODE_CODES[m] for m in offered if m in model.modes)
        self._fed_ns = 0
        self._turn_offset = 0.0
        self.silent = False
        """Fault hook: hears and answers nothing."""
        self.mute = False
        """Fault hook: hears and obeys, answers nothing."""
        self.reboots = 0
        for name, value in DEFAULTS.items():
            self.put(name, value)
        self.put("current_limit", model.current_limit_max or CURRENT_LIMIT)
        self.put("firmware", firmware)
        self.put("id", device_id)
        self.put("model_number", model.model_number)
        self._remember_settings()
        self._power_up()

    @property
    def id(self) -> int:
        """Id register."""
        return self.table[self._id_at]

    @property
    def shadow(self) -> int:
        """Second id that it obeys without an answer; beyond the greatest id: none."""
        return self.get("secondary_id")

    @property
    def fast_reads(self) -> bool:
        """Whether its firmware knows the fast reads."""
        first = self.model.fast_sync_read_firmware
        return first is not None and self.get("firmware") >= first

    @property
    def baud(self) -> int:
        """Baud register."""
        return self.table[self._baud_at]

    def get(self, name: str) -> int:
        """Value of a register."""
        return value_in(self.model, self.table, name)

    def put(self, name: str, value: int) -> None:
        """Set a register without any rule."""
        r = self.model.registers[name]
        self.table[r.address : r.address + r.size] = r.encode(value)

    def _power_up(self) -> None:
        self.table[EEPROM_END:] = bytes(TABLE_BYTES - EEPROM_END)
        self.put("status_return_level", 2)
        for slot in range(self.model.indirect_slots):
            at, target = self.model.indirect_address + 2 * slot, self.model.indirect_data + slot
            self.table[at : at + 2] = target.to_bytes(2, "little")
        self._let_go()

    def _remember_settings(self) -> None:
        """What every cycle needs of the EEPROM."""
        self._sign = -1 if self.get("drive_mode") & REVERSE else 1
        self._homing_counts, self._still_counts = self.get("homing_offset"), self.get("moving_threshold")

    def reboot(self) -> None:
        """Restart: RAM back to defaults, torque off, whole turns forgotten."""
        self.reboots += 1
        self._power_up()
        turns = float(self.side.measurement["motor_angle_rad"][0, self.motor]) * self._turns_per_rad
        self._turn_offset = -math.floor(turns)

    def trip(self, bits: int) -> None:
        """Latch a hardware error and go to zero torque."""
        self.put("hardware_error", self.get("hardware_error") | bits)
        self.put("torque_enable", 0)
        self._let_go()

    def _let_go(self) -> None:
        self.side.command["motor_mode"][0, self.motor] = MotorMode.OFF
        self.side.command["motor_current_a"][0, self.motor] = 0.0

    # --- time and the hand ----------------------------------------------------------------------------------

    def fed(self, now_ns: int) -> None:
        """A packet was seen on the bus."""
        self._fed_ns = now_ns

    def watch(self, now_ns: int) -> None:
        """Its own bus watchdog."""
        limit = self.table[self._fed_at]
        if 0 < limit < 128 and self.get("torque_enable") and now_ns - self._fed_ns > limit * WATCHDOG_NS:
            self.put("bus_watchdog", -1)
            if self.model.watchdog_doubt is None:
                self._halt(now_ns)

    def _halt(self, now_ns: int) -> None:
        """What a tripped watchdog does: no current in current mode, else brake and hold where it stands."""
        if MODE_CODES["current"] == self.get("operating_mode"):
            self._let_go()
            return
        self.sense(now_ns)
        self.put("goal_position", self.get("present_position"))
        self._pass_on()

    def sense(self, now_ns: int) -> None:
        """Bring the present values up to date."""
        i, sign = self.motor, self._sign
        turns = self._angle_rad.item(i) * self._turns_per_rad + self._turn_offset
        speed = _counts(sign * self._speed_rad_s.item(i) * self._speed_counts, 1 << 31)
        PRESENT.pack_into(
            self.table,
            self._present,
            _counts(sign * self._current_a.item(i) * self._direction * self._counts_a, 1 << 15),
            speed,
            _counts(sign * turns * self.model.counts_per_turn, 1 << 31) + self._homing_counts,
        )
        self.table[self._moving] = abs(speed) > self._still_counts
        self.table[self._temperature] = max(0, _counts(self._degc.item(i), 1 << 8))
        WORD.pack_into(self.table, self._tick, now_ns // 1_000_000 % 32768)

    def _act(self) -> None:
        """Pass the goals on to the hand."""
        if self.get("bus_watchdog") < 0 and self.get("torque_enable"):
            return  # as its watchdog left it: goals are read-only
        self._pass_on()

    def _pass_on(self) -> None:
        if not self.get("torque_enable"):
            self._let_go()
            return
        c, i, mode = self.side.command[0], self.motor, self.get("operating_mode")
        lsb_a, direction = self.model.current_lsb_a, self._sign * self._direction
        most_a = (
            self.get("goal_current" if mode == MODE_CODES["current_position"] else "current_limit") * lsb_a
        )
        if mode == 0:
            c["motor_mode"][i] = MotorMode.CURRENT
            c["motor_current_a"][i] = self.get("goal_current") * lsb_a * direction
        elif most_a > 0.0 or not lsb_a:
            counts = self._sign * (self.get("goal_position") - self._homing_counts)
            turns = counts / self.model.counts_per_turn - self._turn_offset
            c["motor_mode"][i], c["motor_angle_rad"][i] = MotorMode.POSITION, turns / self._turns_per_rad
            c["motor_current_a"][i] = abs(most_a)
        else:
            self._let_go()

    # --- registers over the bus
    # -------------------------------------------------------------------------------

    def read(self, address: int, length: int) -> bytes | None:
        """Registers as they are read, indirect data resolved; None beyond the end of the table."""
        if address + length > TABLE_BYTES:
            return None
        if address + length <= self.model.indirect_data:
            return bytes(self.table[address : address + length])
        return bytes(self.table[self._resolved(a)] for a in range(address, address + length))

    def _resolved(self, address: int) -> int:
        slot = address - self.model.indirect_data
        if 0 <= slot < self.model.indirect_slots:
            at = self.model.indirect_address + 2 * slot
            target = self.table[at] | self.table[at + 1] << 8
            return target if target < TABLE_BYTES else address
        return address

    def write(self, address: int, data: bytes) -> ErrorCode:
        """Write registers by the rules of ``sim.emulators.registers``; a refused write changes nothing."""
        if address == self._goal_current and len(data) == 2 and self._quick(data):
            return ErrorCode.NONE
        span, after = (address, address + len(data)), bytearray(self.table)
        after[address : address + len(data)] = data
        error = refused(self.model, self.table, after, span, self._modes)
        if error:
            return error
        mode_before, torque_before = self.get("operating_mode"), self.get("torque_enable")
        self.table = after
        if address < EEPROM_END:
            self._remember_settings()
        if self.get("operating_mode") != mode_before:
            for goal in GOALS:
                self.put(goal, 0)
        if self.get("torque_enable") and not torque_before:
            self.sense(self._fed_ns)
            self.put("goal_position", self.get("present_position"))
        self._act()
        return ErrorCode.NONE

    def _quick(self, data: bytes) -> bool:
        """The write of every cycle: a goal current within the limit, torque on, current mode."""
        t, (counts,) = self.table, GOAL_CURRENT.unpack(data)
        ready = t[self._torque] and not t[self._mode] and t[self._fed_at] < 128
        if not ready or abs(counts) > WORD.unpack_from(t, self._limit)[0]:
            return False
        t[self._goal_current : self._goal_current + 2] = data
        self._told_mode[self.motor] = CURRENT
        self._told_a[self.motor] = counts * self.model.current_lsb_a * self._sign * self._direction
        return True

    @property
    def alert(self) -> int:
        """Alert bit of the error byte."""
        return ALERT if self.table[self._error] else 0


def _counts(value: float, top: int) -> int:
    """Nearest integer from -top to top - 1; NaN becomes 0."""
    if value != value:
        return 0
    return round(max(-top, min(top - 1, value)))
