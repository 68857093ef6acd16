"""One servo of a chain: identity, settings with read-back, whole turns - one transaction per step.

``setup_steps`` is a generator that yields after every transaction, so that a servo which comes back in the
middle of a run is set up again between the cycles of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from drivers.dynamixel import codec
from drivers.dynamixel.models import MODE_CODES, ServoModel, model_name
from drivers.dynamixel.port import ServoPort
from drivers.dynamixel.settings import WATCHDOG_STEP_MS, DynamixelDevice
from drivers.errors import ConfigureError, ReplyTimeout, WrongDevice
from drivers.hal import MotorSetup
from drivers.motors import MotorMap
from signals.modes import MotorMode

CHECKED: Final = ("hardware_error", "torque_enable", "bus_watchdog", "present_temperature")
"""Registers of the slow block, one byte each, gathered by the servo's indirect addresses. Those reach the RAM
alone: the operating mode is not among them, but it is locked while the torque is on."""
REBOOT_PINGS: Final = 200
HAL_MODES: Final = {
    MotorMode.CURRENT: ("current",),
    MotorMode.POSITION: ("current_position", "extended_position"),
}
"""Operating modes of the servo for a mode of the HAL, the best first."""
HARDWARE_ERRORS: Final = {
    0: "input voltage",
    2: "overheating",
    3: "encoder",
    4: "electrical shock",
    5: "overload",
}
"""Bits of the hardware error register (not checked on a servo)."""


def operating_mode(model: ServoModel, mode: MotorMode) -> str | None:
    """Operating mode of a model for a mode of the HAL; None: it has none."""
    return next((name for name in HAL_MODES.get(mode, ()) if name in model.modes), None)


class Servo:
    """What the driver keeps of one servo."""

    __slots__ = (
        "device",
        "firmware",
        "index",
        "label",
        "limit_counts",
        "mapped",
        "mode",
        "model",
        "port",
        "setup",
        "torque_on",
        "turns_lost",
        "was_reset",
    )

    def __init__(self, device: DynamixelDevice, index: int, model: ServoModel, port: ServoPort) -> None:
        self.device, self.index, self.model, self.port = device, index, model, port
        self.label = f"motor {device.motor} (id {device.id})"
        self.firmware = 0
        self.setup: MotorSetup | None = None
        self.mode = MotorMode.OFF
        self.limit_counts = 0
        self.mapped = False
        """Its indirect addresses are ours since the first set-up; a servo that lost power has others."""
        self.turns_lost = False
        """It was reset since its turns were chosen."""
        self.was_reset = False
        """Its newest set-up found that it had been reset."""
        self.torque_on = model.has_current
        """Torque is on while it is part of the cycle. One without currents cannot be told to pull nothing: it
        is on only while it is asked for an angle."""

    @property
    def id(self) -> int:
        """Address on the bus."""
        return self.device.id

    def identify(self) -> None:
        """Compare the model; raises WrongDevice, ReplyTimeout or DuplicateId."""
        number, self.firmware = self.port.ping(self.id, self.label)
        if number != self.model.model_number:
            wanted = f"{self.model.name} ({self.model.model_number})"
            raise WrongDevice(self.label, wanted, f"{model_name(number)} ({number})")

    def have_it_answer(self) -> None:
        """Have it answer writes and reads, not pings alone; raises ConfigureError."""
        self.port.have_it_answer(self.id, self.model.registers["status_return_level"], self.label)

    @property
    def fast(self) -> bool:
        """Whether it knows the fast reads."""
        first = self.model.fast_sync_read_firmware
        return first is not None and self.firmware >= first

    def _set(self, name: str, value: int) -> None:
        self.port.set(self.id, self.model.registers[name], value, self.label, name)

    def setup_steps(self, setup: MotorSetup, motors: MotorMap) -> Iterator[None]:
        """Everything that ``configure`` writes; torque is off afterwards and stays off."""
        model = self.model
        mode = operating_mode(model, setup.mode)
        if mode is None:
            legal = sorted(m.name for m in HAL_MODES if operating_mode(model, m) is not None)
            raise ConfigureError(self.label, "mode", setup.mode.name, "not offered", f"legal: {legal}")
        self.setup = setup
        self.identify()
        yield
        self.have_it_answer()
        yield
        self._look_for_reset()
        yield
        self._check_shadow()
        yield
        self._set("bus_watchdog", 0)
        yield
        self._set("torque_enable", 0)
        yield
        self._set("return_delay", 0)
        yield
        self._set("operating_mode", MODE_CODES[mode])
        self.mode = setup.mode
        yield
        if model.has_current:
            self._limit_current(setup.current_limit_a)
            yield
        if setup.temperature_limit_degc is not None:
            self._set("temperature_limit", int(setup.temperature_limit_degc))
            yield
        if setup.speed_limit_rad_s is not None:
            turns = setup.speed_limit_rad_s * self.device.gear_ratio
            self._set("velocity_limit", int(turns / model.speed_lsb_rad_s))
            yield
        yield from self._map_slow_block()
        self.mapped = True
        counts = self.port.read(self.id, model.registers["present_position"], self.label)
        motors.resolve(self.index, counts / model.counts_per_turn, self.turns_lost)
        self.turns_lost = False
        yield

    def _limit_current(self, limit_a: float) -> None:
        """Write the current limit; raises ConfigureError if the model cannot have it."""
        lsb_a, most = self.model.current_lsb_a, self.model.current_limit_max
        self.limit_counts = int(limit_a / lsb_a)
        if most is not None and self.limit_counts > most:
            found = f"at most {most * lsb_a:.3g}"
            raise ConfigureError(self.label, "current limit [A]", limit_a, found)
        self._set("current_limit", self.limit_counts)

    def _look_for_reset(self) -> None:
        """A servo without power forgets its indirect addresses, and its whole turns with them."""
        self.was_reset = self.turns_lost
        if self.mapped and not self.turns_lost:
            found = self.port.read(self.id, self.model.slot(0), self.label)
            self.turns_lost = self.was_reset = found != self.model.registers[CHECKED[0]].address

    def _check_shadow(self) -> None:
        """A servo with a second id obeys what is meant for another one."""
        found = self.port.read(self.id, self.model.registers["secondary_id"], self.label)
        if found <= codec.ID_MAX:
            hint = "it would follow that servo's goals; switch it off (255)"
            raise ConfigureError(self.label, "secondary_id", "none (253 to 255)", found, hint)

    def _map_slow_block(self) -> Iterator[None]:
        for i, name in enumerate(CHECKED):
            address = self.model.registers[name].address
            self.port.set(self.id, self.model.slot(i), address, self.label, f"indirect address of {name}")
            yield

    def enable_steps(self, watchdog_ms: int) -> Iterator[None]:
        """Torque on with a goal of nothing, then the servo's own watchdog."""
        self.torque_on = self.model.has_current
        if self.torque_on:
            self._set("goal_current", 0)
            yield
            self._set("torque_enable", 1)
            yield
        self._set("bus_watchdog", watchdog_ms // WATCHDOG_STEP_MS)
        yield

    def reboot_steps(self) -> Iterator[None]:
        """Restart the servo and wait until it answers again; its torque and whole turns are gone."""
        self.port.tell(codec.reboot(self.id))
        yield
        for _ in range(REBOOT_PINGS):
            if self.port.answers(self.id):
                return
            yield
        raise ReplyTimeout(self.label, REBOOT_PINGS * self.port.turnaround_ns * 1e-9)

    def hardware_error(self, bits: int) -> str:
        """The latched errors in words."""
        return ", ".join(t for b, t in HARDWARE_ERRORS.items() if bits >> b & 1) or f"bits {bits:#04x}"
