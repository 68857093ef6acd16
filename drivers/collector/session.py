"""Who may command a collector board: description, set-up with read-back, release."""

from __future__ import annotations

import os
from typing import Final

import numpy as np

from drivers.collector import codec
from drivers.collector.codec import Description, Header, Kind, SampleFlag, SetupAnswer, SetupResult
from drivers.collector.laws import fixed
from drivers.collector.port import UdpPort
from drivers.errors import BusBusy, BusLost, ConfigureError, ReplyTimeout, WrongDevice
from drivers.hal import MotorSetup
from signals.layout import IntArray

ASK_S: Final = 1.0
RELEASE_S: Final = 0.5


class Session:
    """Our claim on one board.

    Args:
        port: the way to it.
        name: name of the bus, for messages.
        watchdog_us: time after which the board goes to zero torque by itself.
    """

    def __init__(self, port: UdpPort, name: str, watchdog_us: int) -> None:
        self._port, self._name, self.watchdog_us = port, name, watchdog_us
        self.number = int.from_bytes(os.urandom(4), "little") | 1
        self.about = self.described()
        self.limits = np.zeros(self.about.slots, dtype=codec.LIMIT_SLOT)
        self.boot = self.about.boot
        self.datagram = b""
        """The set-up as it goes over the wire; empty before ``configure``."""

    def described(self) -> Description:
        """Ask the board what it is.

        Raises:
            BusLost: nobody answers.
            WrongDevice: it speaks another protocol.
        """
        try:
            header, body = self._port.ask(codec.plain(Header(kind=Kind.HELLO)), Kind.DESCRIBE, ASK_S)
        except ReplyTimeout:
            reason = f"no collector answers at {self._port.place}"
            raise BusLost(self._name, reason, "check power, cable and address") from None
        about = codec.described(body) if header.kind == Kind.DESCRIBE else None
        if about is None or about.version != codec.VERSION:
            found = "something else" if about is None else f"protocol {about.version}"
            raise WrongDevice(self._name, f"collector protocol {codec.VERSION}", found)
        return about

    def configure(self, setups: tuple[MotorSetup, ...], motors: IntArray) -> None:
        """Write the limits of every motor, compare what the board took.

        Args:
            setups: limits per motor.
            motors: motor of every slot, shape (slots,).
        """
        for setup in setups:
            limit = self.limits[self._slot(setup, motors)]
            limit["current"] = fixed(setup.current_limit_a, 1.0 / codec.CURRENT_LSB_A, 32767.0)
            degc = setup.temperature_limit_degc
            limit["temperature"] = codec.NO_LIMIT if degc is None else int(degc / codec.TEMPERATURE_LSB_DEGC)
            speed = setup.speed_limit_rad_s
            limit["speed"] = 0 if speed is None else int(speed / codec.SPEED_LSB_RAD_S)
        header = Header(kind=Kind.SETUP, slots=self.about.slots, session=self.number)
        self.datagram = codec.setup(header, self.watchdog_us, self.limits)
        answer = self.taken_up()
        for setup in setups:
            slot = self._slot(setup, motors)
            if answer.limits[slot] != self.limits[slot]:
                setting = "limits (current, temperature, speed) in wire units"
                wanted, found = self.limits[slot].item(), answer.limits[slot].item()
                raise ConfigureError(f"motor {setup.name}", setting, wanted, found)

    def _slot(self, setup: MotorSetup, motors: IntArray) -> int:
        found = np.nonzero(motors == setup.index)[0]
        if found.size == 0:
            raise ConfigureError(f"motor {setup.name}", "slot", "one of the board's slots", None)
        return int(found[0])

    def taken_up(self) -> SetupAnswer:
        """Send the set-up until the board confirms it.

        Raises:
            BusBusy: naming the computer that holds the board.
            ConfigureError: the board took something else.
            ReplyTimeout: it did not answer.
        """
        header, body = self._port.ask(self.datagram, Kind.SETUP_ACK, ASK_S)
        answer = codec.setup_answer(header, body)
        if answer is None:
            raise ConfigureError(self._name, "set-up", "an answer", "a malformed one")
        if answer.result == SetupResult.HELD:
            raise BusBusy(self._name, holder=f"{answer.holder[0]}:{answer.holder[1]}")
        good = answer.result == SetupResult.OK
        if answer.result == SetupResult.OUT_OF_RANGE or (good and answer.watchdog_us != self.watchdog_us):
            hint = f"legal are {self.about.watchdog_min_us} to {self.about.watchdog_max_us} us"
            raise ConfigureError(self._name, "watchdog_us", self.watchdog_us, answer.watchdog_us, hint)
        if not good:
            raise ConfigureError(self._name, "set-up", "OK", answer.result.name)
        self.boot = answer.boot
        return answer

    def check_same(self) -> None:
        """Whether the board that answers now is still the one of the start; raises WrongDevice if not."""
        about = self.described()
        if (about.serial, about.slots) != (self.about.serial, self.about.slots):
            raise WrongDevice(self._name, f"serial {self.about.serial}", f"serial {about.serial}")

    def explain_silence(self, commands: int) -> None:
        """No command was answered, not even late: by a board that is gone, or by one that drops commands.

        Raises:
            BusLost: always; WrongDevice if it is another board.
        """
        self.check_same()
        text = f"the board answers HELLO, but none of {commands} commands"
        hint = (
            "a board forgets the newest seq with every SETUP, else all commands of the next computer are old"
        )
        raise BusLost(self._name, text, f"{hint} (docs/collector_protocol.md)")

    def release(self) -> bool:
        """Give the board back; True if it confirmed zero torque."""
        try:
            header = Header(kind=Kind.RELEASE, session=self.number)
            answer, _ = self._port.ask(codec.plain(header), Kind.RELEASED, RELEASE_S, tries=10)
        except ReplyTimeout:
            return False
        return answer.kind == Kind.RELEASED and not answer.flags & SampleFlag.ARMED
