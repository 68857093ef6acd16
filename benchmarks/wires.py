"""Wires against their limits: ``benchmarks/wires.py collector|dynamixel|odrive|hall [--seconds S]``.

collector: round trip of the 38-motor board and of a bare Python UDP echo with datagrams of the same size, in
turn in the same loop; ``--netns`` puts both peers into a network namespace of their own. dynamixel, odrive,
hall: exchanges (samples) per second over what the wire can carry, with the emulator in a process of its own
that charges every bit. Needs a quiet machine; prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.throughput import dynamixel, first_core, hall, names, odrive, patiently, shown  # noqa: E402
from drivers.collector import codec  # noqa: E402
from drivers.collector.device import CollectorBus  # noqa: E402
from drivers.collector.settings import CollectorSettings  # noqa: E402
from drivers.hal import MotorSetup  # noqa: E402
from runtime.realtime import quiet, request_rights  # noqa: E402
from signals.clock import new_timespec, now_ns, wait_until  # noqa: E402
from signals.records import COMMAND, MEASUREMENT, new  # noqa: E402
from sim.emulators.collector import CollectorEmulator  # noqa: E402
from sim.emulators.loop import EmulatorLoop  # noqa: E402
from sim.emulators.side import SpringSide  # noqa: E402

NAMESPACE, HERE, THERE = "flexor-bench", "10.77.38.1", "10.77.38.2"


# --- collector --------------------------------------------------------------------------------------


def board(host: str, port: int) -> None:
    """Peer process: the emulated board."""
    first_core(60)
    side = SpringSide(38, 38, 2)
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
    parser.add_argument("--buses", type=int, default=5, choices=range(1, 6), help="odrive: CAN buses at once")
    words = parser.parse_args()
    if words.what == "collector":
        found = collector(words.seconds, words.netns)
    else:
        measures: dict[str, Callable[[float, bool], dict[str, Any]]]
        measures = {"dynamixel": dynamixel, "odrive": partial(odrive, buses=words.buses), "hall": hall}
        found = measures[words.what](words.seconds, words.realtime)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
