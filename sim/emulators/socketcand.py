"""A bus server that speaks the socketcand protocol: python-can reaches emulated buses through it.

Text messages in angle brackets: ``< hi >`` from the server, then ``< open NAME >`` and ``< rawmode >``, each
answered by ``< ok >``; ``< send ID LENGTH BYTES >`` from the guest, ``< frame ID TIME BYTES >`` and ``< error
CLASS TIME >`` to it. One server offers several buses, one guest sees one bus.
"""

from __future__ import annotations

import contextlib
import re
import socket
import time
from dataclasses import dataclass, field
from typing import Final

from drivers.odrive.codec import Frame
from sim.emulators.canbus import CanBus
from sim.emulators.loop import NEVER, Clock

BUS_OFF_CLASS: Final = 0x20000040
MESSAGE: Final = re.compile(r"<\s*([a-z]+)\s*([^<>]*?)\s*>")
OUT_MAX: Final = 1 << 20
"""Bytes that wait for a guest that does not read; then it is let go."""
GARBAGE_MAX: Final = 4096
CHUNK: Final = 65536
QUIET_NS: Final = 20_000_000
IDS: Final = range(1 << 11)
"""Classic ids; three hexadecimal digits hold more."""
DATA_MAX: Final = 8


@dataclass(slots=True, eq=False)
class Guest:
    """One client."""

    socket: socket.socket
    text: str = ""
    bus: str = ""
    raw: bool = False
    quiet_until_ns: int = 0
    """python-can takes the answer to rawmode only if nothing follows it in the same segment."""
    out: list[str] = field(default_factory=list)
    told_off: bool = False


class BusServer:
    """Serves emulated buses.

    Args:
        buses: by name.
        host: address.
        port: TCP port; 0 takes a free one.
        clock: monotonic nanoseconds.
    """

    def __init__(
        self,
        buses: dict[str, CanBus],
        host: str = "127.0.0.1",
        port: int = 0,
        clock: Clock = time.monotonic_ns,
    ) -> None:
        self.buses, self._clock = buses, clock
        self._listener = socket.create_server((host, port))
        self._listener.setblocking(False)
        self.host, self.port = self._listener.getsockname()[:2]
        self._guests: dict[int, Guest] = {}

    def descriptors(self) -> list[int]:
        """Listener and guests."""
        return [self._listener.fileno(), *self._guests] if self._listener.fileno() >= 0 else []

    def due_ns(self) -> int:
        """Next event on any bus."""
        return min((b.due_ns() for b in self.buses.values()), default=NEVER)

    def on_time(self, now_ns: int) -> None:
        """Let the buses run and tell the guests."""
        for name, bus in self.buses.items():
            ended = bus.run(now_ns) if bus.due_ns() <= now_ns else []
            if ended or bus.faults.bus_off:
                self._tell(name, bus, ended, now_ns)
        self._flush()

    def readable(self, descriptor: int, now_ns: int) -> None:
        """A new guest, or words of one."""
        guest = self._guests.get(descriptor)
        if guest is None:
            with contextlib.suppress(OSError):
                client, _ = self._listener.accept()
                client.setblocking(False)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._guests[client.fileno()] = Guest(client, out=["< hi >"])
            self._flush()
            return
        try:
            data = guest.socket.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._leave(descriptor)
            return
        self._heard(guest, data.decode("ascii", "replace"), now_ns)
        self.on_time(now_ns)

    def kick(self) -> None:
        """Fault hook: every guest loses its connection."""
        for descriptor in list(self._guests):
            self._leave(descriptor)

    def close(self) -> None:
        """Close everything."""
        self.kick()
        self._listener.close()

    def _leave(self, descriptor: int) -> None:
        self._guests.pop(descriptor).socket.close()

    def _heard(self, guest: Guest, text: str, now_ns: int) -> None:
        guest.text += text
        end = 0
        for found in MESSAGE.finditer(guest.text):
            end = found.end()
            self._message(guest, found.group(1), found.group(2), now_ns)
        guest.text = guest.text[end:][-GARBAGE_MAX:]

    def _message(self, guest: Guest, verb: str, rest: str, now_ns: int) -> None:
        if verb == "send" and guest.raw:
            words = rest.split()
            with contextlib.suppress(ValueError, IndexError):
                data = bytes(int(w, 16) for w in words[2 : 2 + int(words[1], 16)])
                frame, bus = Frame(int(words[0], 16), data), self.buses[guest.bus]
                legal = len(words[0]) == 3 and frame.id in IDS and len(data) <= DATA_MAX
                if legal and not bus.faults.bus_off:
                    bus.put(frame, guest, now_ns)
        elif verb == "open" and rest in self.buses:
            guest.bus = rest
            guest.out.append("< ok >")
        elif verb == "rawmode" and guest.bus:
            guest.raw, guest.quiet_until_ns = True, now_ns + QUIET_NS
            guest.out.append("< ok >")
        elif verb != "send":
            guest.out.append("< error unknown command >")

    def _tell(self, name: str, bus: CanBus, ended: list[tuple[Frame, object]], now_ns: int) -> None:
        guests = [g for g in self._guests.values() if g.raw and g.bus == name and g.quiet_until_ns <= now_ns]
        stamp = f"{now_ns * 1e-9:.6f}"
        for guest in guests:
            if bus.faults.bus_off != guest.told_off:
                guest.told_off = bus.faults.bus_off
                if bus.faults.bus_off:
                    guest.out.append(f"< error {BUS_OFF_CLASS:08X} {stamp} >")
        for frame, sender in ended:
            text = f"< frame {frame.id:03X} {stamp} {frame.data.hex().upper()} >"
            for guest in guests:
                if guest is not sender:
                    guest.out.append(text)

    def bus_off(self, name: str) -> None:
        """Fault hook: a bus goes off; its guests see one error frame."""
        bus = self.buses[name]
        bus.faults.bus_off = True
        bus.clear()
        self._tell(name, bus, [], self._clock())
        self._flush()

    def _flush(self) -> None:
        for descriptor, guest in list(self._guests.items()):
            if not guest.out:
                continue
            data = "".join(guest.out).encode("ascii")
            guest.out.clear()
            try:
                sent = guest.socket.send(data)
                if sent < len(data):
                    guest.out.append(data[sent:].decode("ascii"))
            except BlockingIOError:
                guest.out.append(data.decode("ascii"))
            except OSError:
                guest.out.clear()
                self._leave(descriptor)
            if sum(map(len, guest.out)) > OUT_MAX:
                self._leave(descriptor)  # it does not read; a bus remembers nothing for it
