"""Servos, axes and Hall channels as fast as they go; the measuring half of ``benchmarks/wires.py``."""

from __future__ import annotations

import multiprocessing as mp
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from drivers.dynamixel.device import DynamixelBus  # noqa: E402
from drivers.dynamixel.models import BAUD_CODES, servo_model  # noqa: E402
from drivers.dynamixel.settings import DynamixelDevice, DynamixelSettings  # noqa: E402
from drivers.hal import MotorSetup  # noqa: E402
from drivers.hallbridge.device import HallBridgeBus  # noqa: E402
from drivers.hallbridge.settings import HallBridgeSettings  # noqa: E402
from drivers.odrive.device import OdriveBus  # noqa: E402
from drivers.odrive.settings import OdriveDevice, OdriveSettings  # noqa: E402
from signals.clock import now_ns  # noqa: E402
from signals.names import HandNames  # noqa: E402
from signals.records import COMMAND, MEASUREMENT, new  # noqa: E402
from sim.emulators.canbus import CanBus  # noqa: E402
from sim.emulators.chain import ChainEmulator  # noqa: E402
from sim.emulators.hallstream import HallBridgeEmulator  # noqa: E402
from sim.emulators.loop import EmulatorLoop  # noqa: E402
from sim.emulators.odrive import EmulatedAxis  # noqa: E402
from sim.emulators.servo import EmulatedServo  # noqa: E402
from sim.emulators.side import SpringSide  # noqa: E402
from sim.emulators.socketcand import BusServer  # noqa: E402
from sim.emulators.wire import can_bits  # noqa: E402


def names(n: int) -> HandNames:
    motors, tendons = tuple(f"m{i}" for i in range(n)), tuple(f"t{i}" for i in range(n))
    return HandNames(hand="bench", motors=motors, tendons=tendons, joints=(), fingers=(), axes=("a", "b"))


def first_core(priority: int) -> None:
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:1])
    if priority:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))


def shown(values_ns: list[int]) -> dict[str, float]:
    us = np.array(values_ns) / 1e3
    return {f"p{q:g}": round(float(np.percentile(us, q)), 1) for q in (50, 90, 99, 99.9, 100)}


def patiently(open_bus: Any, seconds: float = 40.0) -> Any:
    """Open a bus whose peer process may still be starting."""
    end = time.monotonic() + seconds
    while True:
        try:
            return open_bus()
        except RuntimeError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


# --- throughput -------------------------------------------------------------------------------------


def servos(link: str, n: int, priority: int) -> None:
    first_core(priority)
    side, model = SpringSide(n), servo_model("xm430-w210")
    chain = [EmulatedServo(i + 1, model, side, i) for i in range(n)]
    for servo in chain:
        servo.put("baud", BAUD_CODES[4_000_000])
    EmulatorLoop([ChainEmulator(chain, side, Path(link))], spin_ns=150_000).run()


def dynamixel(seconds: float, realtime: bool, spin_us: int = 60) -> dict[str, Any]:
    n, priority = 8, 50 if realtime else 0
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "servos"
        peer = mp.get_context("spawn").Process(target=servos, args=(str(link), n, priority), daemon=True)
        peer.start()
        _wait_for(link)
        devices = tuple(DynamixelDevice(id=i + 1, model="xm430-w210", motor=f"m{i}") for i in range(n))
        bus = DynamixelBus(
            DynamixelSettings(
                name="servos",
                family="dynamixel",
                port=str(link),
                baud=4_000_000,
                adapter_latency_us=0,
                reply_margin_us=5000,
                spin_us=spin_us,
                watchdog_ms=500,
                device=devices,
            ),
            names(n),
        )
        bus.configure(tuple(MotorSetup(index=i, name=f"m{i}", current_limit_a=1.0) for i in range(n)))
        bus.activate()
        at_priority(priority)
        found = _drive(bus, n, seconds)
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        peer.terminate()
    return {"what": "8 servos at 4 Mbaud" + (", real-time priority" if realtime else "")} | found


def _bare(bus: Any, request: bytes, reply_bytes: int, seconds: float) -> float:
    """Cycles per second of write and read on the same line with the same waits, and nothing else."""
    port, count, begun = bus._port, 0, time.monotonic()
    wire_ns = port.wire_ns(len(request) + reply_bytes)
    while time.monotonic() - begun < seconds:
        port.serial.write(request)
        now, got = now_ns(), 0
        while got < reply_bytes and now_ns() < now + 50_000_000:
            got += len(port.serial.read(now + 50_000_000, now + wire_ns - port.spin_ns))
        count += 1
    return count / (time.monotonic() - begun)


def _drive(bus: Any, n: int, seconds: float) -> dict[str, Any]:
    """Slices of 0.1 s in turn: the driver as fast as it goes, and the bare loop with the same bytes.

    Shares are of the limit that the wire's bits set; a quiet slice says what the driver costs, the median
    what this computer makes of it, the ratio to the bare loop how much of that is ours.
    """
    command, measurement = new(COMMAND), new(MEASUREMENT)
    bus.exchange(command, measurement, now_ns())
    command["motor_mode"][0, :n], command["motor_current_a"][0, :n] = 1, 0.1
    bus.exchange(command, measurement, now_ns())
    everybody = np.ones(n, dtype=np.bool_)
    read, reply_bytes, _ = bus._chain.requests(everybody)
    request = bus._chain.goals(command, everybody, everybody, np.zeros(n, dtype=np.uint32)) + read
    limit = bus.capabilities.rate_max_hz
    ours: list[float] = []
    bare: list[float] = []
    bad = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begun, count = time.monotonic(), 0
        while time.monotonic() - begun < 0.1:
            bad += bus.exchange(command, measurement, now_ns()) != 0
            count += 1
        ours.append(count / (time.monotonic() - begun))
        bare.append(_bare(bus, request, reply_bytes, 0.1))
    bus.deactivate()
    bus.close()
    return {
        "limit_hz": round(limit, 1),
        "share": {k: round(float(v) / limit, 3) for k, v in _spread(ours).items()},
        "share_of_bare_loop": {k: round(float(v) / limit, 3) for k, v in _spread(bare).items()},
        "ratio_to_bare_loop": {k: round(float(v), 3) for k, v in _spread(np.array(ours) / bare).items()},
        "exchanges_with_a_status": bad,
    }


def _spread(values: Any) -> dict[str, float]:
    return {"median": float(np.median(values)), "best": float(np.max(values))}


def _wait_for(path: Path) -> None:
    end = time.monotonic() + 20.0
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.05)


def at_priority(priority: int) -> None:
    if priority:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))


AXIS_WATCHDOG_S = 0.5


def axes(port: int, buses: int, per_bus: int, feedback_ms: int, priority: int) -> None:
    first_core(priority)
    side = SpringSide(buses * per_bus, least_ns=500_000)
    start = time.monotonic_ns()
    found = {
        f"can{b}": CanBus(
            nodes=[
                EmulatedAxis(
                    i + 1,
                    side,
                    b * per_bus + i,
                    feedback_ms=feedback_ms,
                    slow_ms=0,
                    start_ns=start + i * feedback_ms * 1_000_000 // per_bus,
                    watchdog_s=AXIS_WATCHDOG_S,
                )
                for i in range(per_bus)
            ]
        )
        for b in range(buses)
    }
    EmulatorLoop([BusServer(found, port=port)]).run()


def one_bus(
    port: int, b: int, per_bus: int, feedback_ms: int, seconds: float, priority: int, out: Any
) -> None:
    settings = OdriveSettings(
        name=f"can{b}",
        family="odrive",
        interface="socketcand",
        channel=f"can{b}",
        host="127.0.0.1",
        port=port,
        feedback_ms=feedback_ms,
        watchdog_ms=1e3 * AXIS_WATCHDOG_S,
        device=tuple(
            OdriveDevice(node=i + 1, motor=f"m{b * per_bus + i}", torque_constant_nm_a=0.05)
            for i in range(per_bus)
        ),
    )
    bus = patiently(lambda: OdriveBus(settings, names(64)))
    first = b * per_bus
    bus.configure(
        tuple(MotorSetup(index=first + i, name=f"m{first + i}", current_limit_a=1.0) for i in range(per_bus))
    )
    bus.activate()
    command, measurement = new(COMMAND), new(MEASUREMENT)
    bus.exchange(command, measurement, now_ns())
    command["motor_mode"][0, :64], command["motor_current_a"][0, :64] = 1, 0.1
    at_priority(priority)
    frames, begun, cycles = bus._port.counts.frames, time.monotonic(), 0
    while time.monotonic() - begun < seconds:
        bus.exchange(command, measurement, now_ns())
        cycles += 1
    took = time.monotonic() - begun
    received = bus._port.counts.frames - frames
    out.put((b, cycles / took, (received + cycles * per_bus) / took))
    bus.deactivate()
    bus.close()


def odrive(seconds: float, realtime: bool, buses: int = 5) -> dict[str, Any]:
    per_bus, port, feedback_ms = 8, 40384, 2
    above, below = (51, 50) if realtime else (0, 0)
    context = mp.get_context("spawn")
    peer = context.Process(target=axes, args=(port, buses, per_bus, feedback_ms, above), daemon=True)
    peer.start()
    out = context.Queue()
    drivers = [
        context.Process(target=one_bus, args=(port, b, per_bus, feedback_ms, seconds, below, out))
        for b in range(buses)
    ]
    for d in drivers:
        d.start()
    found = sorted(out.get(timeout=60 + seconds) for _ in drivers)
    peer.terminate()
    bits = can_bits(8)
    frames = [f for _, _, f in found]
    return {
        "what": f"{buses} CAN buses x {per_bus} axes, feedback every {feedback_ms} ms",
        "cycles_hz": [round(r, 1) for _, r, _ in found],
        "limit_hz": round(1e6 / (2 * per_bus * bits), 1),
        "wire_share": [round(f * bits / 1e6, 3) for f in frames],
        "share": round(min(r for _, r, _ in found) / (1e6 / (2 * per_bus * bits)), 3),
    }


def hall_peer(link: str, n: int, samples: int, priority: int, never_sent: Any) -> None:
    first_core(priority)
    emulator = HallBridgeEmulator(SpringSide(n, n), list(range(n)), Path(link), samples=samples)
    loop = EmulatorLoop([emulator])
    while True:
        loop.step()
        never_sent[:] = emulator.skipped, emulator.line.overflows


def hall(seconds: float, realtime: bool) -> dict[str, Any]:
    n, priority = 24, 50 if realtime else 0
    result: dict[str, Any] = {"what": "24 Hall channels at 3 kHz"}
    for samples in (1, 8):
        with tempfile.TemporaryDirectory() as folder:
            link = Path(folder) / "hall"
            context = mp.get_context("spawn")
            never_sent = context.Array("q", 2)
            peer = context.Process(
                target=hall_peer, args=(str(link), n, samples, priority, never_sent), daemon=True
            )
            peer.start()
            _wait_for(link)
            settings = HallBridgeSettings(
                name="hall", family="hall-bridge", port=str(link), channels=names(n).tendons, lost_ms=1000.0
            )
            bus = HallBridgeBus(settings, names(n))
            bus.activate()
            measurement, command = new(MEASUREMENT), new(COMMAND)
            bus.exchange(command, measurement, now_ns())
            at_priority(priority)
            frames, lost, before = bus.counts.frames, bus.counts.lost, never_sent[:]
            cpu, begun = time.process_time(), time.monotonic()
            ages = []
            while time.monotonic() - begun < seconds:
                bus.exchange(command, measurement, now_ns())
                ages.append(now_ns() - int(measurement["hall_time_ns"][0, 0]))
            took = time.monotonic() - begun
            result[f"{samples} samples a frame"] = {
                "samples_hz": round((bus.counts.frames - frames) * samples / took, 1),
                "lost_frames": bus.counts.lost - lost,
                "skipped_by_the_emulator": never_sent[0] - before[0],
                "refused_by_its_full_pty": never_sent[1] - before[1],
                "core_share": round((time.process_time() - cpu) / took, 3),
                "age_us": shown(ages),
            }
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            bus.close()
            peer.terminate()
    return result
