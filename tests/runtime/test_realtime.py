"""Rights that are refused (field report B69): asked, granted, cost and the exact line to add."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys

import pytest

from runtime import realtime
from runtime.realtime import Granted, Lack, RightsRefused, request_rights


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


class Libc:
    """The two calls that lock memory, of a kernel that allows or refuses them."""

    def __init__(self, above_limit: bool, locks: bool) -> None:
        self.above_limit, self.locks, self.asked = above_limit, locks, 0

    def mlock2(self, _address, size, _flags):
        assert size.value > 8192 * 1024, "a size within the limit says nothing"
        return 0 if self.above_limit else -1

    def mlockall(self, _flags):
        self.asked += 1
        return 0 if self.locks else -1


@pytest.mark.parametrize("user", [0, 1000])
@pytest.mark.parametrize(("above", "locks"), [(False, True), (True, False), (True, True)])
def test_memory_is_locked_where_the_kernel_allows_it_and_no_users_number_counts(
    monkeypatch, user, above, locks
):
    """Under a limit in force locking makes later allocations fail: rather not locked than a dead process."""
    monkeypatch.setattr(realtime.os, "geteuid", lambda: user)
    monkeypatch.setattr(realtime.resource, "setrlimit", _refuse)
    monkeypatch.setattr(realtime.resource, "getrlimit", lambda _which: (8192 * 1024, 8192 * 1024))
    granted, libc = Granted(), Libc(above, locks)
    realtime._lock_memory(granted, libc)
    assert libc.asked == above
    assert granted.locked == (above and locks)
    assert len(granted.lacks) == (not granted.locked)
    for lack in granted.lacks:
        assert "memlock unlimited" in lack.fix and "8192 kB" in lack.what
        assert ("--ulimit memlock=-1" in lack.fix) == (user == 0)


def test_a_soft_limit_is_raised_as_far_as_the_hard_one(monkeypatch):
    limits = {"now": (65536, resource.RLIM_INFINITY)}
    monkeypatch.setattr(realtime.resource, "getrlimit", lambda _which: limits["now"])
    monkeypatch.setattr(realtime.resource, "setrlimit", lambda _which, pair: limits.update(now=pair))
    granted, libc = Granted(), Libc(above_limit=False, locks=True)
    realtime._lock_memory(granted, libc)
    assert granted.locked and limits["now"][0] == resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("words", "lacking"),
    [("SMP PREEMPT_RT Mon", False), ("SMP PREEMPT_DYNAMIC Mon", True), ("SMP PREEMPT Mon", True)],
)
def test_the_kernel_is_told_by_its_version_where_sys_says_nothing(monkeypatch, tmp_path, words, lacking):
    from runtime.host import machine as doctors

    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/version").write_text(f"Linux version 6.12.9 (x) #1 {words}")
    (tmp_path / "proc/cmdline").write_text("quiet preempt=none")
    whole = doctors.Machine
    monkeypatch.setattr(doctors, "Machine", lambda: whole(root=tmp_path))
    granted = Granted()
    realtime._kernel(granted)
    assert bool(granted.lacks) == lacking
    if lacking:
        assert "PREEMPT_RT" in granted.lacks[0].what
        assert ("preempt=full" in granted.lacks[0].fix) == ("DYNAMIC" in words)


def test_the_io_process_leaves_the_core_of_the_loop_alone(monkeypatch):
    moved = []
    monkeypatch.setattr(realtime.os, "setpriority", lambda *_: None)
    monkeypatch.setattr(realtime, "AUTOGROUP", "/nowhere/at/all")
    monkeypatch.setattr(realtime.os, "sched_setaffinity", lambda _pid, cpus: moved.append(cpus))
    monkeypatch.setattr(realtime, "_read", lambda _path: "")
    for ours in ({0}, {0, 1}, {2, 5, 7}):
        monkeypatch.setattr(realtime.os, "sched_getaffinity", lambda _pid, ours=ours: ours)
        realtime.prefer_io()
    assert moved == [{0}, {2, 5}]
    monkeypatch.setattr(realtime, "_read", lambda _path: "2")
    realtime.prefer_io()
    assert moved[-1] == {5, 7}


def test_the_io_process_goes_before_other_work_or_says_why_not(monkeypatch, tmp_path):
    asked, session = [], tmp_path / "autogroup"
    monkeypatch.setattr(realtime, "AUTOGROUP", str(session))
    monkeypatch.setattr(realtime.os, "sched_getaffinity", lambda _pid: {0})
    monkeypatch.setattr(realtime.os, "setpriority", lambda *words: asked.append(words))
    assert realtime.prefer_io() is None
    assert asked == [(os.PRIO_PROCESS, 0, realtime.IO_NICE)] and realtime.IO_NICE < 0
    assert session.read_text() == str(realtime.IO_NICE), "nice is nothing between two sessions"
    monkeypatch.setattr(realtime.os, "setpriority", _refuse)
    lack = realtime.prefer_io()
    assert lack is not None and f"nice {realtime.IO_NICE}" in lack.fix and "heartbeat" in lack.cost


def test_shorter_turns_change_neither_niceness_nor_class():
    """The call that sets a turn sets both too: who uses ``nice`` or ``chrt`` means it."""
    script = """
import os
from runtime import realtime
realtime.AUTOGROUP = "/nowhere/at/all"
os.nice(3)
own = os.getpriority(os.PRIO_PROCESS, 0)
os.setpriority = lambda *_: None
realtime.go_before_others(-10)
print(os.getpriority(os.PRIO_PROCESS, 0) == own)
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
realtime.go_before_others(-10)
print(os.sched_getscheduler(0) == os.SCHED_BATCH)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


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


def _few_rights():
    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (8 << 20, 8 << 20))


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv of util-linux")
def test_a_process_without_the_privileges_gets_every_refusal_and_goes_on():
    code = (
        "from runtime.realtime import request_rights\n"
        "g = request_rights(); print(g.sentence()); [print(l) for l in g.lacks]\n"
        "x = [bytearray(1 << 20) for _ in range(64)]; print('goes on')"
    )
    drop = (
        ["setpriv", "--bounding-set", "-sys_nice,-ipc_lock,-sys_resource", "--inh-caps", "-all"]
        if os.geteuid() == 0
        else []
    )
    done = subprocess.run(
        [*drop, sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": "."},
        preexec_fn=_few_rights,
    )
    assert "memory not locked" in done.stdout
    assert done.stdout.strip().endswith("goes on"), done.stderr
    assert "rtprio 90" in done.stdout and "memlock unlimited" in done.stdout


@pytest.mark.parametrize(("priority", "locked"), [(0, True), (80, False), (0, False)])
def test_a_run_may_insist_on_its_rights(priority, locked):
    lack = Lack("priority refused", "it costs", "a line to add")
    with pytest.raises(RightsRefused, match="priority refused: it costs. To fix: a line to add"):
        Granted(priority=priority, locked=locked, lacks=[lack]).require()
    Granted(priority=80, locked=True, lacks=[lack]).require()  # a lesser lack is a warning


def test_the_priority_is_below_the_kernels_own():
    assert 1 <= realtime.PRIORITY < 99


def test_every_lack_says_what_why_and_how():
    text = str(Lack("x refused", "costs y", "do z"))
    assert text == "x refused: costs y. To fix: do z"
    assert callable(request_rights)
