"""How an emulated hand is wired: emulators for all its motors, sensors and axes, and the bus file that fits.

``collector``: one board. ``dynamixel``: chains of eight servos and a Hall bridge. ``odrive``: CAN buses of
three axes and a Hall bridge. Servos and axes drive the spools directly, currents mean the same on every
wiring. Others add a wiring by an entry point in the group ``flexor.wirings`` whose value is a ``Wire``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from drivers.dynamixel.models import BAUD_CODES, ServoModel, models, servo_model
from signals import plugins
from signals.choices import WrongChoice
from signals.names import HandNames
from signals.plugins import PluginError
from sim.emulators.canbus import CanBus, Node
from sim.emulators.chain import ChainEmulator
from sim.emulators.collector import CollectorEmulator
from sim.emulators.hallstream import HallBridgeEmulator
from sim.emulators.loop import Clock, Emulator
from sim.emulators.odrive import ENDPOINTS, EmulatedAxis
from sim.emulators.pty_line import PtyLine
from sim.emulators.servo import EmulatedServo
from sim.emulators.side import DeviceSide
from sim.emulators.socketcand import BusServer

PER_BUS: Final = {"dynamixel": 8, "odrive": 3}
"""Eight servos at 4 Mbaud answer 1500 times a second. An axis at 1 kHz takes 0.27 ms of every ms of its
bus (feedback and set-point): three fill 81 %, a fourth 108 %."""
RATE_HZ: Final = {"dynamixel": 1000, "odrive": 1000}
"""Control rate that a faster hand should run at behind these wires; a collector carries any."""
TENSION_GAIN_SHARE: Final = 1.0 / 3.0
"""Share of the hand's proportional tension gain for a run behind slow wires. The greatest gain goes with the
inverse of the time from sample to torque. These wires need 1.5 ms, which the hand files' gain stands; but
their bus processes are no real-time ones, and a busy computer lets them wait for some ms. Pauses of up to 3
ms (servos) or 2 ms (axes) are what that gain stands; a third of it stands 12 ms.
"""
SERVO_MODEL: Final = "xm430-w210"
"""Servo of the emulation where none is chosen."""
BAUD: Final = 4_000_000
TORQUE_CONSTANT_NM_A: Final = 0.05
GEAR_RATIO: Final = 100.0
"""Turns of a servo or axis per turn of its spool: their encoders sit in front of the gear."""
FEEDBACK_MS: Final = 1
POT_ZERO_COUNT, POT_RAD_COUNT = 8192.0, 2.0e-4


@dataclass(slots=True)
class Wiring:
    """Emulators, how to reach them, and the same as a bus file."""

    emulators: list[Emulator] = field(default_factory=list)
    endpoints: list[str] = field(default_factory=list)
    text: str = ""
    rate_hz: int | None = None
    """Fastest control rate of a hand behind these wires; None: they carry any."""
    realtime: bool = False
    """Its bus process may run at real-time priority: no pty, whose bytes an ordinary kernel worker moves."""
    tension_gain_share: float = 1.0
    """Share of ``gains.tension_kp_nm_n`` for ``flexor run --set`` of a hand that is slowed down."""

    def run_words(self, tension_kp_nm_n: float, own_hz: float) -> list[str]:
        """What ``flexor run`` needs besides the bus file; nothing for a hand made for no faster wires.

        Args:
            tension_kp_nm_n: the hand's proportional tension gain.
            own_hz: its own control rate.
        """
        if self.rate_hz is None or own_hz <= self.rate_hz:
            return []
        gain = self.tension_gain_share * tension_kp_nm_n
        return ["--rate", str(self.rate_hz), "--set", f"gains.tension_kp_nm_n={gain:.3g}"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where emulated devices can be reached."""

    folder: Path
    """Where serial lines get their names."""
    host: str = "127.0.0.1"
    """Address of a board or bus server."""
    port: int = 0
    """Its port; 0 takes a free one."""
    clock: Clock = time.monotonic_ns
    """Monotonic nanoseconds, of serial lines and CAN buses."""
    servo: str = SERVO_MODEL
    """Model of the emulated servos."""
    line: Callable[[Path], PtyLine] | None = None
    """Makes the devices' ends of serial lines; None: ptys."""


Wire = Callable[[DeviceSide, HandNames, Site], Wiring]
"""(hand, its names, site) -> emulated devices and their bus file."""


def wiring_names() -> tuple[str, ...]:
    """Every wiring: ours and those of other people's packages."""
    return (*WIRINGS, *(p.name for p in plugins.offered(plugins.WIRINGS) if p.name not in WIRINGS))


def wire(kind: str, side: DeviceSide, names: HandNames, site: Site) -> Wiring:
    """Wire a hand.

    Args:
        kind: one of ``wiring_names()``.
        side: the hand.
        names: its names.
        site: where.

    Raises:
        ValueError: no such wiring or servo, or a package that offers it is broken.
    """
    made: object = wire_of(kind)(side, names, site)
    if not isinstance(made, Wiring):
        raise PluginError(f"wiring {kind!r}: it gives {made!r}, no sim.emulators.wiring.Wiring")
    return made


def wire_of(kind: str) -> Wire:
    """What wires a hand so; raises as ``wire``."""
    plugin = plugins.named(plugins.WIRINGS, kind, WIRINGS)
    if plugin is not None:
        return plugins.called(plugin)
    if kind not in WIRINGS:
        raise WrongChoice(f"no wiring {kind!r} (legal: {', '.join(wiring_names())})")
    return WIRINGS[kind]


def _collector(side: DeviceSide, names: HandNames, site: Site) -> Wiring:
    board = CollectorEmulator(
        side,
        len(names.motors),
        len(names.tendons),
        len(names.axes),
        host=site.host,
        port=site.port,
        clock=site.clock,
    )
    text = f'[[bus]]\nname = "collector"\nfamily = "collector"\nhost = "{board.host}"\nport = {board.port}\n'
    halls = [t if t in names.sensed_tendons else "" for t in names.tendons]
    text += f"slots = [{_quoted(names.motors)}]\nhall_slots = [{_quoted(halls)}]\n"
    wiring = Wiring([board], [f"collector udp://{board.host}:{board.port}"], text, realtime=True)
    if not names.sensed_joints:
        return wiring
    return _with_hall_bridge(wiring, side, replace(names, tendons=(), hall_channels=(), axes=()), site)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _servo(name: str) -> ServoModel:
    """A model that can drive a hand: one with a current mode."""
    model = servo_model(name)
    if "current" not in model.modes:
        legal = ", ".join(m.name for m in models().values() if "current" in m.modes)
        raise WrongChoice(f"servo {name!r} has no current mode, which a hand needs (legal: {legal})")
    return model


def _dynamixel(side: DeviceSide, names: HandNames, site: Site) -> Wiring:
    wiring, model, many = slow("dynamixel"), _servo(site.servo), PER_BUS["dynamixel"]
    for first in range(0, len(names.motors), many):
        motors = range(first, min(first + many, len(names.motors)))
        servos = [EmulatedServo(i - first + 1, model, side, i, gear_ratio=GEAR_RATIO) for i in motors]
        for servo in servos:
            servo.put("baud", BAUD_CODES[BAUD])
        line = site.folder / f"servos{first // many}"
        wiring.emulators.append(ChainEmulator(servos, side, line, clock=site.clock, line=site.line))
        wiring.endpoints.append(f"dynamixel {line} at {BAUD} baud, ids 1 to {len(servos)}")
        wiring.text += (
            f'[[bus]]\nname = "{line.name}"\nfamily = "dynamixel"\nport = "{line}"\nbaud = {BAUD}\n'
        )
        wiring.text += "adapter_latency_us = 0\nreply_margin_us = 50000\nwatchdog_ms = 100\n"
        for i, servo in zip(motors, servos, strict=True):
            wiring.text += f'[[bus.device]]\nid = {servo.id}\nmodel = "{model.name}"\n'
            wiring.text += f'motor = "{names.motors[i]}"\ngear_ratio = {GEAR_RATIO}\n'
    return _with_hall_bridge(wiring, side, names, site)


def _odrive(side: DeviceSide, names: HandNames, site: Site) -> Wiring:
    buses: dict[str, CanBus] = {}
    start_ns = site.clock()
    tables, many = [], PER_BUS["odrive"]
    spread_ns = FEEDBACK_MS * 1_000_000 // many
    for first in range(0, len(names.motors), many):
        motors = range(first, min(first + many, len(names.motors)))
        nodes: list[Node] = [
            EmulatedAxis(
                i - first + 1,
                side,
                i,
                torque_constant_nm_a=TORQUE_CONSTANT_NM_A,
                gear_ratio=GEAR_RATIO,
                feedback_ms=FEEDBACK_MS,
                start_ns=start_ns + (i - first) * spread_ns,
            )
            for i in motors
        ]
        channel = f"can{first // many}"
        buses[channel] = CanBus(nodes=nodes)
        devices = "".join(
            f'[[bus.device]]\nnode = {i - first + 1}\nmotor = "{names.motors[i]}"\n'
            f"torque_constant_nm_a = {TORQUE_CONSTANT_NM_A}\ngear_ratio = {GEAR_RATIO}\n"
            for i in motors
        )
        tables.append((channel, devices))
    server = BusServer(buses, site.host, site.port, site.clock)
    by_name = {name: number for number, (name, _) in ENDPOINTS.items()}
    endpoints = ", ".join(f"{name} = {number}" for name, number in by_name.items())
    wiring = slow("odrive")
    wiring.emulators.append(server)
    for channel, devices in tables:
        wiring.endpoints.append(f"odrive socketcand://{server.host}:{server.port}/{channel}")
        wiring.text += (
            f'[[bus]]\nname = "{channel}"\nfamily = "odrive"\ninterface = "socketcand"\n'
            f'channel = "{channel}"\nhost = "{server.host}"\nport = {server.port}\n'
            f"feedback_ms = {FEEDBACK_MS}\nwatchdog_ms = 100.0\nendpoints = {{ {endpoints} }}\n{devices}"
        )
    return _with_hall_bridge(wiring, side, names, site)


def slow(kind: str) -> Wiring:
    """A wiring of slow wires, a kind of ``RATE_HZ``, still without devices."""
    return Wiring(rate_hz=RATE_HZ[kind], tension_gain_share=TENSION_GAIN_SHARE)


def _with_hall_bridge(wiring: Wiring, side: DeviceSide, names: HandNames, site: Site) -> Wiring:
    """The same with a Hall bridge for what the other devices do not read, if the hand has sensors at all."""
    tendons, joints, axes = names.sensed_tendons, names.sensed_joints, names.axes
    if not tendons and not axes and not joints:
        return wiring
    line, first = site.folder / "hall", len(tendons) + len(joints)
    pots = tuple((first + a, a, POT_ZERO_COUNT, POT_RAD_COUNT) for a in range(len(axes)))
    channels = [*(names.index("tendon", t) for t in tendons), *(-1 for _ in (*joints, *axes))]
    own = [*(-1 for _ in tendons), *(names.index("joint", j) for j in joints), *(-1 for _ in axes)]
    bridge = HallBridgeEmulator(
        side, channels, line, samples=4, axes=pots, joints=own, clock=site.clock, line=site.line
    )
    wiring.emulators.append(bridge)
    wiring.endpoints.append(f"hall-bridge {line}, {len(channels)} channels")
    listed = _quoted([*tendons, *("" for _ in (*joints, *axes))])
    wiring.text += f'[[bus]]\nname = "hall"\nfamily = "hall-bridge"\nport = "{line}"\nchannels = [{listed}]\n'
    if joints:
        shown = [*("" for _ in tendons), *joints, *("" for _ in axes)]
        wiring.text += f"joint_channels = [{_quoted(shown)}]\n"
    for (channel, *_), axis in zip(pots, names.axes, strict=True):
        wiring.text += f'[[bus.axis]]\nname = "{axis}"\nchannel = {channel}\n'
        wiring.text += f"zero_count = {POT_ZERO_COUNT}\nrad_count = {POT_RAD_COUNT}\n"
    return wiring


WIRINGS: Final[dict[str, Wire]] = {"collector": _collector, "dynamixel": _dynamixel, "odrive": _odrive}
"""Our own wirings."""
