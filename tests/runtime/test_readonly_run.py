"""``flexor run --bus FILE --readonly`` as a process: it watches, ends well and has written nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sim.emulators.collector import CollectorEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide

ROOT = Path(__file__).parents[2]


@pytest.mark.realtime
def test_flexor_run_readonly_ends_well_and_has_written_nothing(tmp_path: Path, port_base: int) -> None:
    side = SpringSide(8, 8)
    emulator = CollectorEmulator(side, 8, 8)
    file = tmp_path / "bus.toml"
    file.write_text(f'[[bus]]\nname = "board"\nfamily = "collector"\nport = {emulator.port}\n')
    file.write_text(file.read_text() + 'host = "127.0.0.1"\nreply_timeout_us = 100000\n')
    with EmulatorThread([emulator]):
        words = ["run", "finger_bench", "--bus", str(file), "--readonly"]
        words += ["--for", "1", "--json", "--port-base", str(port_base)]
        done = subprocess.run(
            [sys.executable, "-m", "tools.cli", *words],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=180,
        )
    assert done.returncode == 0, done.stderr
    assert "writes nothing" in done.stderr
    report = json.loads(done.stdout)
    assert report["backend"] == "collector" and report["cycles"] > 0
    assert emulator.commands == 0 and not side.command["motor_mode"].any()
