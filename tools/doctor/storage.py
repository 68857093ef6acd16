"""Room: disk for recordings, memory for ring and black box, the cache of compiled laws."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from reports.finding import Finding, fail, good, warn
from runtime.host.machine import Machine

RESERVE_BYTES: Final = 200 * 1024 * 1024
"""What a recording leaves free: ``telemetry.record.recorder.RESERVE``."""
RECORDING_BYTES_S: Final = 38e6
"""Upper bound of a full-rate log of the largest hand at 3 kHz, before compression."""
ROOM_S: Final = 600.0
RING_BYTES: Final = 64 * 1024 * 1024
"""Shared memory of one run: half a second of frames, rounded up."""
BOX_MB: Final = 512
"""Memory of a run's black box: what ``--black-box-mb`` is if nobody says it."""
RUN_MB: Final = 1024
"""Memory of a run beside it."""
LAWS: Final = {
    "tick_at": "runtime.entries",
    "leave": "telemetry.shm.ring",
    "wait_until": "signals.clock",
    "advance_at": "sim.cycle",
}
"""Compiled entry points of a run -> their modules."""
_MB: Final = 2**20


def disk(machine: Machine) -> Finding:
    """Is there room for recordings?"""
    free, total = machine.space(machine.folder)
    minutes = max(free - RESERVE_BYTES, 0) / RECORDING_BYTES_S / 60
    place = machine.folder
    fact = f"{free / _MB:.0f} MB of {total / _MB:.0f} MB free in {place}: {minutes:.0f} min of full-rate log"
    fix = f"free some space (du -xh {place} | sort -h | tail), or record elsewhere: flexor run --out DIR"
    if free <= RESERVE_BYTES:
        return fail(
            "disk", fact, f"no recording starts below the reserve of {RESERVE_BYTES / _MB:.0f} MB", fix
        )
    if minutes * 60 < ROOM_S:
        return warn("disk", fact, "a long recording ends early, at the reserve", fix)
    return good("disk", fact)


def shared_memory(machine: Machine) -> Finding:
    """Is there room for the ring of frames?"""
    name = "shared memory"
    folder = machine.path("/dev/shm")
    fix = "sudo mount -o remount,size=256M /dev/shm (docker run --shm-size=256m)"
    if not folder.is_dir() or not machine.access(folder, os.W_OK):
        return fail(name, "/dev/shm is not writable", "the processes of a run cannot share frames", fix)
    free, _ = machine.space(folder)
    if free < RING_BYTES:
        fact = f"{free / _MB:.0f} MB free in /dev/shm, a run takes up to {RING_BYTES / _MB:.0f} MB"
        return fail(name, fact, "a run ends at its start with a message", fix)
    return good(name, f"{free / _MB:.0f} MB free in /dev/shm")


def black_box(machine: Machine) -> Finding:
    """Is there memory for the last seconds at full rate?"""
    name = "black box"
    text = machine.read("/proc/meminfo") or ""
    found = [int(line.split()[1]) for line in text.splitlines() if line.startswith("MemAvailable:")]
    keeps = f"a run keeps its last 20 s in at most {BOX_MB} MB of memory (--black-box-mb)"
    if not found:
        return good(name, f"{keeps}; how much is available is not known")
    free_mb = found[0] * 1024 / _MB
    fact = f"{keeps}; {free_mb:.0f} MB available"
    if free_mb < BOX_MB + RUN_MB:
        rest = max(0, int(free_mb) - RUN_MB)
        return warn(
            name,
            fact,
            f"beside a run of {RUN_MB} MB it may drive the machine into swap, and the loop out of its time",
            f"flexor run HAND --black-box-mb {rest} (0: none; it then keeps fewer seconds, and says so)",
        )
    return good(name, fact)


def _is_cached(root: Path, module: str, function: str) -> bool:
    from importlib.util import find_spec

    from signals.compiled import closure_hash
    from signals.kept import is_sound

    try:
        spec = find_spec(module)
    except ImportError:
        return False
    if spec is None or spec.origin is None:
        return False
    source = Path(spec.origin)
    folder = root / closure_hash(source)
    return any(is_sound(index) for index in folder.glob(f"{source.stem}.{function}-*.nbi"))


def compile_cache(machine: Machine) -> Finding:
    """Does a start compile first?"""
    from signals.compiled import cache_root

    name = "compile cache"
    root = machine.cache if machine.cache is not None else cache_root()
    home = next((p for p in (root, *root.parents) if p.exists()), root)
    if not home.is_dir() or not machine.access(home, os.W_OK):
        return fail(
            name,
            f"{root} is not writable",
            "every start compiles everything again: a minute or more",
            f"sudo chown -R $USER {home}, or set FLEXOR_CACHE_DIR to a folder of yours",
        )
    cold = [law for law, module in LAWS.items() if not _is_cached(root, module, law)]
    if cold:
        return warn(
            name,
            f"cold in {root} (missing: {', '.join(cold)})",
            "the next start compiles first: up to a minute",
            "flexor run finger_bench --lockstep --for 0.1",
        )
    return good(name, f"warm in {root}")
