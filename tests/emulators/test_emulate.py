"""flexor emulate as a process: endpoints, bus file, clean end - and the whole product over the wire."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from drivers.places import parsed
from drivers.scanning import scan
from hand.file.busfile import load_bus_file

FLEXOR = (sys.executable, "-m", "tools.cli")
ROOT = Path(__file__).parents[2]


@contextmanager
def emulation(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """``flexor emulate`` until its bus file is there."""
    bus_file = folder / "bus.toml"
    process = subprocess.Popen(
        [*FLEXOR, "emulate", *words, "--bus-file", str(bus_file), "--for", "300"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # the tests may run under nohup
    )
    try:
        end = time.monotonic() + 180.0
        while not bus_file.exists() and time.monotonic() < end and process.poll() is None:
            time.sleep(0.1)
        yield process, bus_file
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP])
def test_an_emulation_is_reachable_and_leaves_nothing_behind(tmp_path: Path, end: signal.Signals) -> None:
    with emulation(tmp_path, "finger_bench") as (process, bus_file):
        assert process.stdout is not None
        endpoint = process.stdout.readline().split("udp://")[1].strip()
        file = load_bus_file(str(bus_file))
        assert Path("/dev/shm", file.truth).exists()
        (finding,) = scan(parsed(f"udp:{endpoint}"), listen=False)
        assert "8 motors, 8 Hall channels, 0 axes" in finding.detail
        for _ in range(20):  # `timeout` sends two: to the process and to its group
            os.kill(process.pid, end)
        assert process.wait(10.0) == 0
        assert not bus_file.exists() and not Path("/dev/shm", file.truth).exists()


@pytest.mark.long  # board and plant at 3 kHz need a whole core of a usual machine
@pytest.mark.realtime
@pytest.mark.parametrize("hand", ["finger_bench", "hasy"])
def test_the_hand_runs_over_the_wire_at_its_own_rate(hand: str, tmp_path: Path, port_base: int) -> None:
    """The 38-motor hand at 3 kHz over UDP, board and plant in another process."""
    with emulation(tmp_path, hand) as (process, bus_file):
        if os.geteuid() == 0:
            subprocess.run(["chrt", "-a", "-f", "-p", "60", str(process.pid)], check=True)
            subprocess.run(["taskset", "-a", "-c", "-p", "0", str(process.pid)], check=True)
        words = ["--bus", str(bus_file), "--motion", "open_close", "--for", "5", "--json"]
        words += ["--port-base", str(port_base)]
        done = subprocess.run([*FLEXOR, "run", hand, *words], capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads(done.stdout)
        assert report["backend"] == "collector" and report["faults"] == []
        assert report["estimate_error_deg"]["rms"] <= 0.4
        assert report["tracking_error_deg"]["rms"] <= 1.5


@pytest.mark.long
@pytest.mark.realtime
def test_the_printed_command_moves_a_hand_behind_servos(tmp_path: Path, port_base: int) -> None:
    """Servos and a Hall bridge on ptys, bus processes, real clocks.

    What the guard may say is that samples were a tenth of a second old: then the computer let emulator or
    bus process wait for so long, and the run is tried again.
    """
    for _ in range(3):
        with emulation(tmp_path, "finger_bench", "--wiring", "dynamixel") as (process, bus_file):
            assert process.stdout is not None
            printed = [process.stdout.readline() for _ in range(3)][-1]
            assert printed.startswith("bus file ")
            words = printed.split("; flexor ")[1].split()
            words += ["--motion", "open_close", "--for", "3", "--json", "--port-base", str(port_base)]
            done = subprocess.run([*FLEXOR, *words], capture_output=True, text=True, cwd=ROOT)
        report = json.loads(done.stdout)
        causes = {fault["cause"] for fault in report["faults"]}
        if not causes or not causes <= {"MEASUREMENT_TOO_OLD", "HALL_TOO_OLD"}:
            break
    assert done.returncode == 0 and not causes, done.stdout + done.stderr
    assert report["backend"] == "dynamixel+hall-bridge"
    assert report["tracking_error_deg"]["rms"] <= 3.0 and report["tension_n"]["max"] > 10.0
