"""Wires against their limits: ``benchmarks/wires.py collector|dynamixel|odrive|hall [--seconds S]``.

collector: round trip of the 38-motor board and of a bare Python UDP echo with datagrams of the same size, in
turn in the same loop; ``--netns`` puts both peers into a network namespace of their own. dynamixel, odrive,
hall: exchanges (samples) per second over what the wire can carry, with the emulator in a process of its own
that charges every bit. Needs a quiet machine; prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing as mp
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from drivers.collector import codec  # noqa: E402
from drivers.collector.device import CollectorBus  # noqa: E402
from drivers.collector.settings import CollectorSettings  # noqa: E402
from drivers.dynamixel.device import DynamixelBus  # noqa: E402
from drivers.dynamixel.models import BAUD_CODES, servo_model  # noqa: E402
from drivers.dynamixel.settings import DynamixelDevice, DynamixelSettings  # noqa: E402
from drivers.hal import MotorSetup  # noqa: E402
from drivers.hallbridge.device import HallBridgeBus  # noqa: E402
from drivers.hallbridge.settings import HallBridgeSettings  # noqa: E402
from drivers.odrive.device import OdriveBus  # noqa: E402
from drivers.odrive.settings import OdriveDevice, OdriveSettings  # noqa: E402
from runtime.clock import new_timespec, now_ns, wait_until  # noqa: E402
from runtime.realtime import quiet, request_rights  # noqa: E402
from signals.names import HandNames  # noqa: E402
from signals.records import COMMAND, MEASUREMENT, new  # noqa: E402
from sim.emulators.canbus import CanBus  # noqa: E402
from sim.emulators.chain import ChainEmulator  # noqa: E402
from sim.emulators.collector import CollectorEmulator  # noqa: E402
from sim.emulators.hallstream import HallBridgeEmulator  # noqa: E402
from sim.emulators.loop import EmulatorLoop  # noqa: E402
from sim.emulators.odrive import EmulatedAxis  # noqa: E402
from sim.emulators.servo import EmulatedServo  # noqa: E402
from sim.emulators.side import BenchSide  # noqa: E402
from sim.emulators.socketcand import BusServer  # noqa: E402
from sim.emulators.wire import can_bits  # noqa: E402

NAMESPACE, HERE, THERE = "flexor-bench", "10.77.38.1", "10.77.38.2"


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


# --- collector --------------------------------------------------------------------------------------


def board(host: str, port: int) -> None:
    """Peer process: the emulated board."""
    first_core(60)
    side = BenchSide(38, 38, 2)
    emulator = CollectorEmulator(side, 38, 38, 2, host=host, port=port)
    EmulatorLoop([emulator]).run()


def echo(host: str, port: int) -> None:
    """Peer process: what the plainest Python program would do."""
    first_core(60)
    answer = bytes(codec.sample_bytes(38))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        plain.bind((host, port))
        while True:
            _, address = plain.recvfrom(2048)
            plain.sendto(answer, address)


@contextmanager
def namespace(wanted: bool) -> Any:
    if not wanted:
        yield "127.0.0.1"
        return
    steps = [
        f"ip netns add {NAMESPACE}",
        f"ip link add flexor0 type veth peer name flexor1 netns {NAMESPACE}",
        f"ip addr add {HERE}/24 dev flexor0",
        "ip link set flexor0 up",
        f"ip -n {NAMESPACE} addr add {THERE}/24 dev flexor1",
        f"ip -n {NAMESPACE} link set flexor1 up",
        f"ip -n {NAMESPACE} link set lo up",
    ]
    try:
        for step in steps:
            subprocess.run(step.split(), check=True)
        yield THERE
    finally:
        subprocess.run(["ip", "netns", "del", NAMESPACE], check=False)
        subprocess.run(["ip", "link", "del", "flexor0"], check=False, stderr=subprocess.DEVNULL)


def collector(seconds: float, in_netns: bool) -> dict[str, Any]:
    with namespace(in_netns) as host:
        enter = ["ip", "netns", "exec", NAMESPACE] if in_netns else []
        peers = [
            subprocess.Popen([*enter, sys.executable, __file__, "peer", kind, host, str(port)])
            for kind, port in (("board", 40381), ("echo", 40382))
        ]
        try:
            return _round_trips(host, seconds, in_netns)
        finally:
            for peer in peers:
                peer.kill()
                peer.wait()


def _round_trips(host: str, seconds: float, in_netns: bool) -> dict[str, Any]:
    hand = names(38)
    settings = CollectorSettings(
        name="board", family="collector", host=host, port=40381, reply_timeout_us=5000, watchdog_ms=100.0
    )
    bus = patiently(lambda: CollectorBus(settings, hand))
    bus.configure(tuple(MotorSetup(index=i, name=n, current_limit_a=2.0) for i, n in enumerate(hand.motors)))
    bus.activate()
    plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    plain.connect((host, 40382))
    plain.settimeout(0.05)
    question, buffer = bytes(codec.command_bytes(38)), bytearray(2048)
    command, measurement, scratch = new(COMMAND), new(MEASUREMENT), new_timespec()
    ours: list[int] = []
    theirs: list[int] = []
    wire: list[int] = []
    lost = 0
    rights = request_rights()
    with quiet():
        due = now_ns()
        for k in range(round(seconds * 3000)):
            due += 333_333
            if due < now_ns():
                due = now_ns() + 333_333
            if k == 200:  # at rest first: the start may have tripped the board's watchdog
                command["motor_mode"], command["motor_current_a"][0, :38] = 1, 0.2
            begun = wait_until(due, 0, scratch)
            if k % 2:
                status = bus.exchange(command, measurement, begun)
                ours.append(now_ns() - begun)
                wire.append(bus.round_trip_ns)
                lost += status != 0
            else:
                plain.send(question)
                try:
                    plain.recv_into(buffer)
                except TimeoutError:
                    pass
                theirs.append(now_ns() - begun)
    ages = now_ns() - measurement["motor_time_ns"][0, :38]
    bus.deactivate()
    bus.close()
    return {
        "what": "collector, 38 motors" + (", two network namespaces" if in_netns else ", loopback"),
        "exchange_us": shown(ours),
        "bare_echo_us": shown(theirs),
        "ratio_p99": round(float(np.percentile(ours, 99) / np.percentile(theirs, 99)), 2),
        "ratio_p50": round(float(np.percentile(ours, 50) / np.percentile(theirs, 50)), 2),
        "exchanges_with_a_status": lost,
        "exchanges": len(ours),
        "oldest_channel_us": round(float(ages.max()) / 1e3),
        "rights": rights.sentence(),
    }


# --- throughput -------------------------------------------------------------------------------------


def servos(link: str, n: int, priority: int) -> None:
    first_core(priority)
    side, model = BenchSide(n), servo_model("xm430-w210")
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
    read, _, reply_bytes = bus._chain.requests(everybody)
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


def axes(port: int, buses: int, per_bus: int, feedback_ms: int, priority: int) -> None:
    first_core(priority)
    side = BenchSide(buses * per_bus, least_ns=500_000)
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
        watchdog_ms=500.0,
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


def odrive(seconds: float, realtime: bool) -> dict[str, Any]:
    buses, per_bus, port, feedback_ms = 5, 8, 40384, 2
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


def hall_peer(link: str, n: int, samples: int, priority: int) -> None:
    first_core(priority)
    emulator = HallBridgeEmulator(BenchSide(n, n), list(range(n)), Path(link), samples=samples)
    EmulatorLoop([emulator]).run()


def hall(seconds: float, realtime: bool) -> dict[str, Any]:
    n, priority = 24, 50 if realtime else 0
    result: dict[str, Any] = {"what": "24 Hall channels at 3 kHz"}
    for samples in (1, 8):
        with tempfile.TemporaryDirectory() as folder:
            link = Path(folder) / "hall"
            peer = mp.get_context("spawn").Process(
                target=hall_peer, args=(str(link), n, samples, priority), daemon=True
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
            frames, lost = bus.counts.frames, bus.counts.lost
            cpu, begun = time.process_time(), time.monotonic()
            ages = []
            while time.monotonic() - begun < seconds:
                bus.exchange(command, measurement, now_ns())
                ages.append(now_ns() - int(measurement["hall_time_ns"][0, 0]))
            took = time.monotonic() - begun
            result[f"{samples} samples a frame"] = {
                "samples_hz": round((bus.counts.frames - frames) * samples / took, 1),
                "lost_frames": bus.counts.lost - lost,
                "core_share": round((time.process_time() - cpu) / took, 3),
                "age_us": shown(ages),
            }
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            bus.close()
            peer.terminate()
    return result


def main() -> None:
    if sys.argv[1:2] == ["peer"]:
        kind, host, port = sys.argv[2:5]
        if kind == "board":
            board(host, int(port))
        echo(host, int(port))
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["collector", "dynamixel", "odrive", "hall"])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--netns", action="store_true")
    parser.add_argument("--realtime", action="store_true", help="driver and emulator at SCHED_FIFO")
    words = parser.parse_args()
    if words.what == "collector":
        found = collector(words.seconds, words.netns)
    else:
        measure = {"dynamixel": dynamixel, "odrive": odrive, "hall": hall}[words.what]
        found = measure(words.seconds, words.realtime)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
