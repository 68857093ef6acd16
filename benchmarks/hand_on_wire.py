"""The product over the wire: ``hand_on_wire.py [HAND] [--netns] [--seconds S] [--port-base P] [--seed K]``.

``flexor emulate HAND`` and ``flexor run HAND --bus FILE``, then the same in lockstep with the plant in the
process; with ``--netns`` the emulated board lives in a network namespace of its own. One JSON object: errors
of the joints both ways, faults, missed cycles, duration of the exchanges. Needs root for priorities and
namespaces, and a machine that is quiet enough for 3 kHz.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.wires import NAMESPACE, namespace  # noqa: E402

FLEXOR = (sys.executable, "-m", "tools.cli")
PORT = 40_385
NAMES = ("estimate_error_deg", "tracking_error_deg")


@contextmanager
def emulated(hand: str, host: str, in_netns: bool, folder: Path) -> Any:
    """``flexor emulate`` at real-time priority on the first core, until its bus file is there."""
    file = folder / "bus.toml"
    words = ["ip", "netns", "exec", NAMESPACE] if in_netns else []
    if os.geteuid() == 0:
        words += ["taskset", "-c", str(min(os.sched_getaffinity(0))), "chrt", "-f", "60"]
    words += [*FLEXOR, "emulate", hand, "--host", host, "--port", str(PORT), "--bus-file", str(file)]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 120.0
        while not file.exists() and time.monotonic() < end and process.poll() is None:
            time.sleep(0.1)
        yield file
    finally:
        process.terminate()
        try:
            process.wait(10.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def run(hand: str, seconds: float, port_base: int, *more: str) -> dict[str, Any]:
    """Report of one run."""
    words = [*FLEXOR, "run", hand, "--motion", "open_close", "--for", str(seconds), "--json"]
    words += ["--port-base", str(port_base), *more]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if not done.stdout.strip():
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def told(report: dict[str, Any]) -> dict[str, Any]:
    """What is compared."""
    out = {name: round(report[name]["rms"], 4) for name in NAMES}
    return out | {k: report[k] for k in ("cycles", "missed")} | {"faults": len(report["faults"])}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("hand", nargs="?", default="hasy")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--netns", action="store_true")
    parser.add_argument("--seed", type=int, default=0, help="of the sensors' noise in the process")
    parser.add_argument("--port-base", type=int, default=5700)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, namespace(words.netns) as host:
        with emulated(words.hand, host, words.netns, Path(folder)) as file:
            wire = run(words.hand, words.seconds, words.port_base, "--bus", str(file))
    inside = run(words.hand, words.seconds, words.port_base, "--lockstep", "--seed", str(words.seed))
    found = {
        "over the wire": told(wire),
        "in the process": told(inside),
        "exchange_us": wire["stages_us"]["exchange"],
    }
    where = "two network namespaces" if words.netns else "loopback"
    print(json.dumps({"what": f"{words.hand} behind its board, {where}"} | found))


if __name__ == "__main__":
    main()
