"""The box without the box: real datagrams, its own watchdog, the simulated hand behind it."""

from __future__ import annotations

import socket
import time
from typing import Final

import numpy as np

from labbox import codec
from signals.modes import MotorMode
from signals.names import HandNames
from sim.emulators.loop import Clock
from sim.emulators.side import DeviceSide
from sim.emulators.wiring import Site, Wiring

STEP_NS: Final = 2_000_000
RATE_HZ: Final = 700


class BoxEmulator:
    """One box; see ``sim.emulators.loop.Emulator``.

    Args:
        side: the hand behind it.
        motors, halls: how many channels it has.
        host, port: where it listens; port 0 takes a free one.
        clock: monotonic nanoseconds.
    """

    def __init__(
        self,
        side: DeviceSide,
        motors: int,
        halls: int,
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Clock = time.monotonic_ns,
    ) -> None:
        self.side, self._motors, self._halls, self._clock = side, motors, halls, clock
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((host, port))
        self._socket.setblocking(False)
        self.host, self.port = self._socket.getsockname()
        self.deaf = False
        """Fault hook: hears nothing."""
        self.boot, self.tripped = 1, False
        self._fed_ns = self._stepped_ns = clock()

    def restart(self) -> None:
        """Fault hook: the box loses power and comes back."""
        self.boot, self.tripped = self.boot + 1, False
        self._let_go()

    def descriptors(self) -> list[int]:
        """The socket."""
        return [self._socket.fileno()]

    def readable(self, descriptor: int, now_ns: int) -> None:
        """Answer everything that waits."""
        while True:
            try:
                datagram, address = self._socket.recvfrom(codec.LONGEST)
            except OSError:
                return
            found = None if self.deaf else codec.requested(datagram)
            if found is None:
                continue
            seq, goals = found
            if not goals.shape[0]:  # a scan
                answer = codec.reply(seq, self.boot, self.tripped, codec.empty(0), np.zeros(0, "<u2"))
                self._socket.sendto(answer, address)
            elif goals.shape[0] == self._motors:
                self._take(goals["current_a"])
                self._socket.sendto(self._answer(seq), address)

    def due_ns(self) -> int:
        """Next step of the hand."""
        return self._stepped_ns + STEP_NS

    def on_time(self, now_ns: int) -> None:
        """Watchdog, and the hand's own motion."""
        if now_ns - self._fed_ns > codec.WATCHDOG_S * 1e9 and self._pulling():
            self.tripped = True
            self._let_go()
        self._step()

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _take(self, current_a: np.ndarray) -> None:
        self._fed_ns = self._clock()
        if not current_a.any():
            self.tripped = False
        told = self.side.command[0]
        on = not self.tripped
        told["motor_mode"][: self._motors] = np.where(current_a != 0.0, MotorMode.CURRENT, MotorMode.OFF) * on
        told["motor_current_a"][: self._motors] = current_a * on
        self._step()

    def _pulling(self) -> bool:
        return bool(self.side.command["motor_mode"].any())

    def _let_go(self) -> None:
        self.side.command["motor_mode"] = MotorMode.OFF
        self.side.command["motor_current_a"] = 0.0

    def _step(self) -> None:
        self._stepped_ns = self._clock()
        self.side.advance(self._stepped_ns)

    def _answer(self, seq: int) -> bytes:
        x, motors = self.side.measurement[0], codec.empty(self._motors)
        motors["angle_rad"] = x["motor_angle_rad"][: self._motors]
        motors["speed_rad_s"] = x["motor_speed_rad_s"][: self._motors]
        motors["current_a"] = x["motor_current_a"][: self._motors]
        halls = x["hall_count"][: self._halls].astype("<u2")
        return codec.reply(seq, self.boot, self.tripped, motors, halls)


def wire(side: DeviceSide, names: HandNames, site: Site) -> Wiring:
    """One box for all motors and Hall channels of a hand: ``flexor emulate HAND --wiring lab-box``."""
    if names.axes:
        raise ValueError("a lab box drives no wrist; legal: a hand without one")
    box = BoxEmulator(side, len(names.motors), len(names.tendons), site.host, site.port, site.clock)
    motors, halls = (", ".join(f'"{n}"' for n in many) for many in (names.motors, names.tendons))
    text = f'[[bus]]\nname = "box"\nfamily = "lab-box"\nhost = "{box.host}"\nport = {box.port}\n'
    text += f"motor = [{motors}]\nhall = [{halls}]\nreply_timeout_ms = 50.0\n"
    endpoints = [f"lab-box udp:{box.host}:{box.port}"]
    return Wiring([box], endpoints, text, rate_hz=RATE_HZ, tension_gain_share=1.0 / 3.0, realtime=True)
