"""The doctor on machines made of files: one sound, and for every check at least one that is not."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reports.finding import fail, good
from runtime.host.kernel import preemption_mode
from runtime.host.machine import cpu_list
from tools.doctor import Finding, Level, Machine, examine, storage
from tools.doctor.examine import CHECKS

ROOT = Path(__file__).parents[2]
ME = os.getuid()
CPU = "sys/devices/system/cpu"
CLOCK = "sys/devices/system/clocksource/clocksource0"
MINE = "Name:\tflexor\nUid:\t{0}\t{0}\t{0}\t{0}\nCapEff:\t{1:016x}\nCpus_allowed_list:\t{2}\n"
LIMITS = (
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max nice priority         30                   30                             \n"
    "Max locked memory         {0}            {0}            bytes     \n"
    "Max realtime priority     {1}                    {1}                              \n"
    "Max realtime timeout      {2}            {3}            us        \n"
)
SOUND: dict[str, str] = {
    "proc/version": "Linux version 6.12.9-rt (x) #1 SMP PREEMPT_RT Mon",
    "proc/cmdline": "quiet isolcpus=3",
    "proc/cpuinfo": "processor : 0\nflags\t\t: fpu tsc avx2\n",
    "proc/meminfo": "MemTotal:  8000000 kB\nMemAvailable:  4000000 kB\n",
    "proc/stat": "cpu  10 0 10 980 0 0 0 0 0 0\n",
    "proc/self/status": MINE.format(1000, 0, "0-3"),
    "proc/self/limits": LIMITS.format("unlimited", 90, "unlimited", "unlimited"),
    "proc/self/cgroup": "0::/user.slice\n",
    "proc/1/cgroup": "0::/init.scope\n",
    "proc/1/comm": "systemd\n",
    "proc/sys/kernel/osrelease": "6.12.9-rt\n",
    "proc/sys/kernel/sched_rt_runtime_us": "950000\n",
    "proc/sys/kernel/sched_rt_period_us": "1000000\n",
    "etc/os-release": 'ID=debian\nVERSION_ID="12"\n',
    "etc/group": "root:x:0:\n",
    f"{CLOCK}/current_clocksource": "tsc\n",
    f"{CLOCK}/available_clocksource": "tsc hpet acpi_pm\n",
    f"{CPU}/online": "0-3\n",
    f"{CPU}/isolated": "3\n",
    f"{CPU}/cpu3/cpufreq/scaling_governor": "performance\n",
    f"{CPU}/cpu3/topology/thread_siblings_list": "3\n",
    f"{CPU}/cpuidle/current_driver": "intel_idle\n",
    "dev/cpu_dma_latency": "",
    "dev/ttyUSB0": "",
    "dev/shm/.keep": "",
    "sys/bus/usb-serial/devices/ttyUSB0/latency_timer": "1\n",
    "sys/class/net/can0/type": "280\n",
    "sys/class/net/can0/flags": "0x40c1\n",
    "sys/class/net/eth0/type": "1\n",
    "sys/class/net/eth0/flags": "0x1002\n",
}
Changes = Mapping[str, str | None]


def machine(root: Path, changes: Changes | None = None, **choices: Any) -> Machine:
    """The sound machine with some files changed (text) or missing (None)."""
    tree: dict[str, str | None] = {**SOUND, **(changes or {})}
    for name, text in tree.items():
        if text is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
    for name in ("tick_at", "leave", "wait_until", "advance_at"):
        _warm(root / "cache", name)
    defaults: dict[str, Any] = {
        "space": lambda _: (10**12, 2 * 10**12),
        "access": lambda path, _: True,
        "synchronised": lambda: True,
        "holder": lambda _: None,
        "folder": root,
        "cache": root / "cache",
    }
    return Machine(root=root, **{**defaults, **choices})


def _warm(cache: Path, law: str) -> None:
    from importlib.util import find_spec

    from signals.compiled import closure_hash
    from signals.kept import sealed
    from tools.doctor.storage import LAWS

    spec = find_spec(LAWS[law])
    assert spec is not None and spec.origin is not None, f"{LAWS[law]} has moved; the doctor looks for it"
    source = Path(spec.origin)
    folder = cache / closure_hash(source)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{source.stem}.{law}-10.py311.nbi").write_bytes(sealed(b"index"))


def troubles(findings: list[Finding]) -> list[Finding]:
    return [f for f in findings if f.level is not Level.PASS]


def test_a_sound_machine_passes_every_check(tmp_path: Path) -> None:
    findings = examine(machine(tmp_path))
    assert troubles(findings) == []
    assert len({f.check for f in findings}) == len(CHECKS)


def refuse(name: str) -> dict[str, Any]:
    return {"access": lambda path, _: path.name != name}


def version(words: str, **more: str | None) -> dict[str, str | None]:
    return {"proc/version": f"Linux version 6.12.9 (x) #1 SMP {words} Mon", **more}


DYNAMIC = version("PREEMPT_DYNAMIC")
CONFIG = "boot/config-6.12.9-rt"
LIVE = "sys/kernel/debug/sched/preempt"
GROUP = "sys/fs/cgroup/cpu,cpuacct/user/cpu.rt_runtime_us"


def space(shm: int = 10**12, others: int = 10**12) -> dict[str, Any]:
    return {"space": lambda path: (shm if path.name == "shm" else others, 10**12)}


CASES: list[tuple[str, Level, str, Changes, dict[str, Any]]] = [
    ("kernel preemption", Level.FAIL, "preempt=full", {**DYNAMIC, "proc/cmdline": "preempt=none"}, {}),
    ("kernel preemption", Level.FAIL, "linux-image", version("Mon", **{CONFIG: "CONFIG_PREEMPT_NONE=y"}), {}),
    ("kernel preemption", Level.WARN, "linux-image-rt", version("PREEMPT"), {}),
    ("kernel preemption", Level.WARN, "debugfs", DYNAMIC, {}),
    ("real-time throttling", Level.WARN, "sysctl", {"proc/sys/kernel/sched_rt_runtime_us": "-1"}, {}),
    ("real-time throttling", Level.FAIL, "sysctl", {"proc/sys/kernel/sched_rt_runtime_us": "300000"}, {}),
    ("real-time throttling", Level.FAIL, "cpu.rt_runtime_us",
     {"proc/self/cgroup": "2:cpu,cpuacct:/user\n", GROUP: "0"}, {}),
    ("clock source", Level.WARN, "echo tsc", {f"{CLOCK}/current_clocksource": "hpet"}, {}),
    ("clock source", Level.WARN, "dmesg",
     {f"{CLOCK}/current_clocksource": "acpi_pm", f"{CLOCK}/available_clocksource": "acpi_pm"}, {}),
    ("clock source", Level.FAIL, "echo tsc", {f"{CLOCK}/current_clocksource": "jiffies"}, {}),
    ("cores", Level.FAIL, "cpuset", {"proc/self/status": MINE.format(1000, 0, "2")}, {}),
    ("isolated cores", Level.WARN, "isolcpus=managed_irq,domain,3", {f"{CPU}/isolated": "\n"}, {}),
    ("clock governor", Level.WARN, "performance", {f"{CPU}/cpu3/cpufreq/scaling_governor": "powersave"}, {}),
    ("SMT siblings", Level.WARN, "cpu1/online", {f"{CPU}/cpu3/topology/thread_siblings_list": "1,3"}, {}),
    ("sleep states", Level.WARN, "--fix", {}, refuse("cpu_dma_latency")),
    ("rtprio limit", Level.FAIL, "rtprio 90",
     {"proc/self/limits": LIMITS.format("unlimited", 0, "unlimited", "unlimited")}, {}),
    ("memlock limit", Level.FAIL, "memlock unlimited",
     {"proc/self/limits": LIMITS.format(8388608, 90, "unlimited", "unlimited")}, {}),
    ("nice limit", Level.WARN, "nice -10",
     {"proc/self/limits": SOUND["proc/self/limits"].replace("30  ", "29  ")}, {}),
    ("RTTIME limit", Level.WARN, "LimitRTTIME=infinity",
     {"proc/self/limits": LIMITS.format("unlimited", 90, 200000, 200000)}, {}),
    ("virtual machine", Level.WARN, "real machine", {"proc/cpuinfo": "flags : fpu hypervisor\n"}, {}),
    ("time synchronisation", Level.WARN, "set-ntp", {}, {"synchronised": lambda: False}),
    ("time synchronisation", Level.WARN, "set-ntp", {}, {"synchronised": lambda: None}),
    ("adapter latency", Level.WARN, "echo 1 | sudo tee /sys/bus",
     {"sys/bus/usb-serial/devices/ttyUSB0/latency_timer": "16"}, {}),
    ("port permissions", Level.FAIL, "--fix", {}, refuse("ttyUSB0")),
    ("port locks", Level.FAIL, "kill 4242", {"proc/4242/comm": "other"}, {"holder": lambda _: 4242}),
    ("port probing", Level.WARN, "modem-manager", {"proc/77/comm": "ModemManager"}, {}),
    ("CAN interfaces", Level.FAIL, "ip link set can0 up", {"sys/class/net/can0/flags": "0x40c0"}, {}),
    ("disk", Level.FAIL, "--out", {}, space(others=10**7)),
    ("disk", Level.WARN, "--out", {}, space(others=10**10)),
    ("shared memory", Level.FAIL, "remount", {}, space(shm=10**6)),
    ("shared memory", Level.FAIL, "remount", {}, refuse("shm")),
    ("black box", Level.WARN, "--black-box-mb 197", {"proc/meminfo": "MemAvailable: 1250304 kB\n"}, {}),
    ("compile cache", Level.WARN, "--lockstep", {}, {"cache": Path("no/such/cache")}),
    ("compile cache", Level.FAIL, "FLEXOR_CACHE_DIR", {}, refuse("cache")),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[f"{c[0]}-{c[1].name}-{i}" for i, c in enumerate(CASES)])
def test_one_thing_broken_is_one_finding_with_its_fix(
    case: tuple[str, Level, str, Changes, dict[str, Any]], tmp_path: Path
) -> None:
    check, level, fix, changes, choices = case
    found = troubles(examine(machine(tmp_path, changes, **choices)))
    assert [(f.check, f.level) for f in found] == [(check, level)]
    assert fix in found[0].fix and found[0].cost and found[0].fact


def test_every_check_is_broken_by_some_case(tmp_path: Path) -> None:
    both_ways = {c[0] for c in CASES} | {"container", "packages"}  # packages: tests/extending
    assert both_ways == {f.check for f in examine(machine(tmp_path))}


@pytest.mark.parametrize(
    "mark", [{".dockerenv": ""}, {"run/.containerenv": ""}, {"proc/1/cgroup": "0::/kubepods/x\n"}]
)
def test_a_container_without_rights_is_named_with_the_line_that_gives_them(
    mark: dict[str, str], tmp_path: Path
) -> None:
    limits = {"proc/self/limits": LIMITS.format("unlimited", 0, "unlimited", "unlimited")}
    found = {f.check: f for f in examine(machine(tmp_path, {**mark, **limits}))}
    assert found["container"].level is Level.WARN and "--ulimit rtprio=90" in found["container"].fix
    with_rights = {f.check: f for f in examine(machine(tmp_path, {**mark, **SOUND}))}
    assert with_rights["container"].level is Level.PASS


def test_capabilities_stand_for_limits(tmp_path: Path) -> None:
    poor = {"proc/self/limits": LIMITS.format(65536, 0, "unlimited", "unlimited")}
    nice, lock = 1 << 23, 1 << 14
    for caps, failing in (
        (0, {"rtprio limit", "memlock limit"}),
        (nice, {"memlock limit"}),
        (nice | lock, set()),
    ):
        tree = {**poor, "proc/self/status": MINE.format(0, caps, "0-3")}
        assert {f.check for f in troubles(examine(machine(tmp_path, tree)))} == failing
    # root of a user namespace has the bits, and the kernel asks for those of the machine
    inside = {**poor, "proc/self/status": MINE.format(0, nice | lock, "0-3")}
    inside["proc/self/uid_map"] = "         0       1000          1\n"
    refused = {f.check for f in troubles(examine(machine(tmp_path, inside)))}
    assert refused == {"rtprio limit", "memlock limit"}
    inside["proc/self/uid_map"] = "         0          0 4294967295\n"
    assert not troubles(examine(machine(tmp_path, inside)))


def test_a_port_open_elsewhere_without_a_lock_is_found(tmp_path: Path) -> None:
    built = machine(tmp_path, {"proc/911/comm": "screen"})
    (tmp_path / "proc/911/fd").mkdir()
    (tmp_path / "proc/911/fd/5").symlink_to("/dev/ttyUSB0")
    (found,) = troubles(examine(built))
    assert found.check == "port locks" and "911 (screen)" in found.fact


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({**DYNAMIC, LIVE: "none (voluntary) full lazy"}, ("voluntary", "live")),
        ({**DYNAMIC, LIVE: "none voluntary (full)", "proc/cmdline": "preempt=none"}, ("full", "live")),
        ({**DYNAMIC, "proc/cmdline": "a preempt=none b preempt=lazy"}, ("lazy", "boot option")),
        ({**DYNAMIC, CONFIG: "CONFIG_PREEMPT_BUILD=y\nCONFIG_PREEMPT_VOLUNTARY=y\n"},
         ("voluntary", "kernel's default")),
        ({**DYNAMIC, CONFIG: "# CONFIG_PREEMPT is not set\nCONFIG_PREEMPT_LAZY=y\n"},
         ("lazy", "kernel's default")),
        ({**DYNAMIC, "sys/kernel/realtime": "1"}, ("rt", "kernel build")),
        (version("PREEMPT RT"), ("rt", "kernel build")),
        (version("PREEMPT"), ("full", "kernel build")),
        (DYNAMIC, ("unknown", "no live mode")),
    ],
)  # fmt: skip
def test_the_live_mode_outranks_boot_option_and_default(
    files: Changes, expected: tuple[str, str], tmp_path: Path
) -> None:
    mode, source = preemption_mode(machine(tmp_path, files))
    assert mode == expected[0] and source.startswith(expected[1])


def test_the_kernels_own_configuration_is_read_compressed(tmp_path: Path) -> None:
    built = machine(tmp_path, DYNAMIC)
    (tmp_path / "proc/config.gz").write_bytes(gzip.compress(b"CONFIG_PREEMPT_NONE=y\n"))
    assert preemption_mode(built)[0] == "none"


@pytest.mark.parametrize("content", [b"", b"index", bytes(100)])
def test_a_damaged_index_is_no_warm_cache(content: bytes, tmp_path: Path) -> None:
    sound = machine(tmp_path)
    assert storage.compile_cache(sound).level is Level.PASS
    for index in (tmp_path / "cache").rglob("*.nbi"):
        index.write_bytes(content)
    found = storage.compile_cache(sound)
    assert found.level is Level.WARN and "tick_at" in found.fact


@pytest.mark.parametrize("junk", ["", "\x00\xff", "nonsense", "-", "1e999", "(", "9" * 400])
def test_no_file_content_breaks_the_doctor(junk: str, tmp_path: Path) -> None:
    findings = examine(machine(tmp_path, dict.fromkeys(SOUND, junk)))
    assert len({f.check for f in findings}) >= len(CHECKS)


def test_an_empty_machine_does_not_break_the_doctor(tmp_path: Path) -> None:
    bare = Machine(root=tmp_path / "bare", folder=tmp_path, cache=tmp_path, holder=lambda _: None)
    assert examine(bare)


def test_a_broken_check_is_a_finding_and_the_others_still_speak(tmp_path: Path) -> None:
    def broken(_: Machine) -> Finding:
        raise RuntimeError("odd")

    found = examine(machine(tmp_path), (broken, *CHECKS))
    assert len(found) == len(examine(machine(tmp_path))) + 1
    assert found[0].level is Level.WARN and "RuntimeError: odd" in found[0].fact


def test_cost_and_fix_belong_to_troubles_alone() -> None:
    with pytest.raises(ValueError, match="cost and fix"):
        fail("x", "fact", "cost", "")
    with pytest.raises(ValueError, match="cost and fix"):
        Finding("x", Level.PASS, "fact", "cost", "fix")
    assert good("x", "fact").fix == ""


def test_cpu_lists_read_as_the_kernel_writes_them() -> None:
    assert cpu_list("0-2,5") == [0, 1, 2, 5]
    assert cpu_list("7") == [7] and cpu_list("") == [] and cpu_list("\n") == []


def run_doctor(*words: str) -> subprocess.CompletedProcess[str]:
    code = "import typer; from tools.commands.doctor import doctor; typer.run(doctor)"
    return subprocess.run([sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True)


def test_the_command_tells_its_result_by_exit_code_and_json(tmp_path: Path) -> None:
    done = run_doctor("--json", "--fix", str(tmp_path / "review"))
    out = json.loads(done.stdout)
    assert done.returncode == (1 if out["counts"]["fail"] else 0)
    assert sum(out["counts"].values()) == len(out["findings"])
    assert sorted(Path(p).name for p in out["written"]) == [
        "72-flexor.rules",
        "flexor.conf",
        "flexor@.service",
    ]
    refused = run_doctor("--fix", "/etc/udev/rules.d")
    assert refused.returncode == 2 and "belongs to the system" in refused.stderr


def test_the_room_it_asks_for_is_what_the_largest_hand_takes() -> None:
    from hand.options import RunOptions
    from runtime.setup import read_hand
    from telemetry.columns import Columns, counts_of
    from telemetry.record.recorder import RESERVE
    from telemetry.shm.segment import Segment
    from tools.doctor.storage import BOX_MB, RECORDING_BYTES_S, RESERVE_BYTES, RING_BYTES

    hand = read_hand(RunOptions(hand="hasy"))
    row = Columns(counts_of(hand.model)).dtype.itemsize
    assert row * hand.rate_hz <= RECORDING_BYTES_S <= 2 * row * hand.rate_hz
    assert RESERVE_BYTES == RESERVE and RunOptions().black_box_mb == BOX_MB
    segment = Segment.create(hand.rate_hz)
    try:
        assert segment.slots.nbytes + segment.header.nbytes <= RING_BYTES
    finally:
        segment.unlink()
