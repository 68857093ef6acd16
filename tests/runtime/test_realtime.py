"""Rights that are refused (field report B69): asked, granted, cost and the exact line to add."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys

import pytest

from runtime import realtime
from runtime.realtime import Granted, Lack, request_rights


def _refuse(*_args, **_kwargs):
    raise PermissionError(1, "Operation not permitted")


def test_without_rtprio_it_runs_and_says_what_it_costs_and_how_to_get_it(monkeypatch):
    monkeypatch.setattr(realtime.os, "sched_setscheduler", _refuse)
    granted = Granted()
    realtime._priority(granted)
    (lack,) = granted.lacks
    assert granted.priority == 0
    assert "rtprio 90" in lack.fix and "/etc/security/limits.d/flexor.conf" in lack.fix
    assert "normal priority" in granted.sentence() and "SCHED_FIFO 80" in granted.sentence()


def test_a_finite_memlock_limit_means_unlocked_memory_not_a_dead_process(monkeypatch):
    monkeypatch.setattr(realtime.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(realtime.resource, "getrlimit", lambda _which: (8192 * 1024, 8192 * 1024))

    class Libc:
        def mlockall(self, _flags):
            raise AssertionError("locking under a finite limit makes later allocations fail")

    granted = Granted()
    realtime._lock_memory(granted, Libc())
    assert not granted.locked
    assert "memlock unlimited" in granted.lacks[0].fix


def test_a_finite_real_time_cpu_limit_is_lifted_or_told(monkeypatch):
    limits = {"value": (200_000, 200_000)}
    monkeypatch.setattr(
        realtime.resource,
        "getrlimit",
        lambda which: limits["value"] if which == resource.RLIMIT_RTTIME else (0, 0),
    )
    monkeypatch.setattr(realtime.resource, "setrlimit", _refuse)
    monkeypatch.setattr(realtime.os, "sched_setscheduler", _refuse)
    granted = Granted()
    realtime._priority(granted)
    assert "LimitRTTIME=infinity" in granted.lacks[0].fix
    assert "0.2 s" in granted.lacks[0].what


def test_one_core_is_told(monkeypatch):
    monkeypatch.setattr(realtime.os, "sched_getaffinity", lambda _pid: {0})
    monkeypatch.setattr(realtime, "_read", lambda _path: "")
    granted = Granted()
    realtime._pin(granted)
    assert granted.cpu is None and "two cores" in granted.lacks[0].fix


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv of util-linux")
def test_a_process_without_the_privileges_gets_every_refusal_and_goes_on():
    code = (
        "from runtime.realtime import request_rights\n"
        "g = request_rights(); print(g.sentence()); [print(l) for l in g.lacks]; print('goes on')"
    )
    drop = (
        ["setpriv", "--bounding-set", "-sys_nice,-ipc_lock", "--inh-caps", "-all"]
        if os.geteuid() == 0
        else []
    )
    done = subprocess.run(
        [*drop, sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": "."},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0)),
    )
    assert done.stdout.strip().endswith("goes on"), done.stderr
    assert "rtprio 90" in done.stdout and "memlock unlimited" in done.stdout


def test_the_priority_is_below_the_kernels_own():
    assert 1 <= realtime.PRIORITY < 99


def test_every_lack_says_what_why_and_how():
    text = str(Lack("x refused", "costs y", "do z"))
    assert text == "x refused: costs y. To fix: do z"
    assert callable(request_rights)
