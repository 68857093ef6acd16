"""A stepped wall clock in running processes (field report B02): motion goes on, one record for each step.

The clock of the computer is not touched: a library loaded before the C library adds an offset, kept in a
file, to CLOCK_REALTIME of every process of the run.
"""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

import flexor
from benchmarks import native
from signals.modes import MachineState
from telemetry.record.reader import read_log

pytestmark = [
    pytest.mark.realtime,
    pytest.mark.skipif(native.compiler() is None, reason="needs a C compiler"),
]

SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static const volatile int64_t *offset_ns;
static int (*real)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void)
{
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int file = open(getenv("WALL_OFFSET"), O_RDONLY);
    void *page = mmap(NULL, 8, PROT_READ, MAP_SHARED, file, 0);
    offset_ns = page == MAP_FAILED ? NULL : page;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int status = real(clock, t);
    if (!status && offset_ns && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t ns = t->tv_sec * INT64_C(1000000000) + t->tv_nsec + *offset_ns;
        t->tv_sec = ns / INT64_C(1000000000), t->tv_nsec = ns % INT64_C(1000000000);
    }
    return status;
}

time_t time(time_t *out)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return out ? *out = t.tv_sec : t.tv_sec;
}

int gettimeofday(struct timeval *out, void *zone)
{
    struct timespec t;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &t);
    out->tv_sec = t.tv_sec, out->tv_usec = t.tv_nsec / 1000;
    return 0;
}
"""


class WallClockOfARun:
    """Offset of the wall clock that the processes of a run see."""

    def __init__(self, folder: Path) -> None:
        source, library, offset = folder / "wall.c", folder / "wall.so", folder / "offset"
        source.write_text(SOURCE)
        cc = native.compiler()
        assert cc is not None
        subprocess.run(
            [cc, "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-ldl"], check=True, timeout=60
        )
        offset.write_bytes(bytes(8))
        with offset.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), 8)
        self.environ = {"LD_PRELOAD": str(library), "WALL_OFFSET": str(offset)}
        self._offset_ns = 0

    def step(self, seconds: float) -> None:
        """Set it forth or back, at once."""
        self._offset_ns += round(seconds * 1e9)
        self._page[:] = self._offset_ns.to_bytes(8, "little", signed=True)


@pytest.mark.long
def test_a_stepped_wall_clock_changes_nothing_but_one_record_a_step(start, port_base, tmp_path):
    wall = WallClockOfARun(tmp_path)
    late_client = ("--set", "limits.command_age_ms=1000")  # a client may be late on a busy computer
    run = start("--for", "120", "--record", *late_client, cwd=tmp_path, **wall.environ)
    run.wait_until_running()
    with flexor.Hand(port_base=port_base, timeout_s=5.0) as hand, hand.control("test") as control:
        control.activate()
        first = hand.view().pos["index_pip"]
        for k, steps in enumerate([(-3600.0,), (3600.0,), (-0.05,) * 10]):
            for step in steps:
                wall.step(step)
                time.sleep(0.01)
            control.move({"index_pip": first + 0.2 * (k + 1)}, seconds=0.6)  # a client goes on through it
            control.sleep(0.7)
            assert hand.view().pos["index_pip"] == pytest.approx(first + 0.2 * (k + 1), abs=0.05)
    os.kill(run.pid, signal.SIGINT)
    code, report, err = run.end()
    assert code == 130 and "zero torque confirmed" in err, err
    assert report["faults"] == []
    log = read_log(tmp_path / report["log"])
    told = [event["text"] for event in log.events if event["kind"] == "clock"]
    sizes = [float(text.split(" by ")[1].split(" s")[0]) for text in told]
    assert sizes[:2] == pytest.approx([-3600.0, 3600.0], abs=0.02), told
    # steps between two looks of a second are one record, with their sum
    assert len(sizes) in (3, 4) and sum(sizes[2:]) == pytest.approx(-0.5, abs=0.02), told
    served = log.frames["timing"]["cycle"] < report["cycles"]
    state, timing = log.frames["state"][served], log.frames["timing"][served]
    assert (state["machine"] != int(MachineState.FAULT)).all()
    assert (np.diff(timing["deadline_ns"]) > 0).all() and (np.diff(state["time_ns"]) > 0).all()
    assert state["dt_s"].max() <= 0.1 and state["dt_s"].min() >= 0.5 / 3000.0 - 1e-9
    assert timing["cycle"][-1] + 1 + timing["missed"][-1] == report["cycles"] + report["missed"]
