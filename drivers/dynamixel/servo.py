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

CHECKED: Final = ("hardware_error", "torque_enable", "bus_watchdog", "operating_mode", "present_temperature")
"""Registers of the slow block, one byte each, gathered by the servo's indirect addresses."""
REBOOT_PINGS: Final = 200
HAL_MODES: Final = {MotorMode.CURRENT: "current", MotorMode.POSITION: "current_position"}
HARDWARE_ERRORS: Final = {
    0: "input voltage",
    2: "overheating",
    3: "encoder",
    4: "electrical shock",
    5: "overload",
}
"""Bits of the hardware error register (not checked on a servo)."""


class Servo:
    """What the driver keeps of one servo."""

    __slots__ = ("device", "firmware", "index", "label", "limit_counts", "mode", "model", "port", "setup")

    def __init__(self, device: DynamixelDevice, index: int, model: ServoModel, port: ServoPort) -> None:
        self.device, self.index, self.model, self.port = device, index, model, port
        self.label = f"motor {device.motor} (id {device.id})"
        self.firmware = 0
        self.setup: MotorSetup | None = None
        self.mode = MotorMode.OFF
        self.limit_counts = 0

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
        mode = HAL_MODES.get(setup.mode)
        if mode is None or mode not in model.modes:
            legal = sorted(m.name for m, name in HAL_MODES.items() if name in model.modes)
            raise ConfigureError(self.label, "mode", setup.mode.name, "not offered", f"legal: {legal}")
        self.setup = setup
        self.identify()
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
        self.limit_counts = int(setup.current_limit_a / model.current_lsb_a)
        self._set("current_limit", self.limit_counts)
        yield
        if setup.temperature_limit_degc is not None:
            self._set("temperature_limit", int(setup.temperature_limit_degc))
            yield
        if setup.speed_limit_rad_s is not None:
            turns = setup.speed_limit_rad_s * self.device.gear_ratio
            self._set("velocity_limit", int(turns / model.speed_lsb_rad_s))
            yield
        yield from self._map_slow_block()
        counts = self.port.read(self.id, model.registers["present_position"], self.label)
        motors.resolve(self.index, counts / model.counts_per_turn)
        yield

    def _map_slow_block(self) -> Iterator[None]:
        slot = self.model.registers["operating_mode"].model_copy(
            update={"address": self.model.indirect_address, "size": 2}
        )
        for i, name in enumerate(CHECKED):
            register = slot.model_copy(update={"address": self.model.indirect_address + 2 * i})
            address = self.model.registers[name].address
            self.port.set(self.id, register, address, self.label, f"indirect address of {name}")
            yield

    def enable_steps(self, watchdog_ms: int) -> Iterator[None]:
        """Torque on with a goal of nothing, then the servo's own watchdog."""
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
