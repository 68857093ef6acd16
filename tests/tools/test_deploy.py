"""Files for review: complete, valid for the programs that read them, and never written into the system."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from runtime.processes.phases import STOP_BUDGET_S, Exit
from runtime.realtime import IO_NICE, LIMITS_FILE, PRIORITY
from tools.deploy.write import SYSTEM, DeployRefused, write_all


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_all(tmp_path / "review", user="lab")
    return tmp_path / "review"


def unit(folder: Path) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(folder / "flexor@.service")
    return parser


def test_three_files_and_for_each_the_command_that_installs_it(tmp_path: Path) -> None:
    done = write_all(tmp_path, user="lab")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(d.path.name for d in done)
    for file in done:
        assert str(file.path) in file.command and file.installs_to in file.command
        assert "${" not in file.path.read_text()


def test_writing_twice_is_the_same_as_once_and_foreign_files_are_kept(folder: Path) -> None:
    write_all(folder, user="lab")
    mine = folder / "flexor.conf"
    mine.write_text("# changed by hand\n")
    rule = folder / "72-flexor.rules"
    rule.unlink()
    with pytest.raises(DeployRefused, match="differs"):
        write_all(folder, user="lab")
    assert mine.read_text() == "# changed by hand\n" and not rule.exists()


@pytest.mark.parametrize("place", SYSTEM)
def test_the_system_itself_is_refused(place: str, tmp_path: Path) -> None:
    before = set(Path(place).iterdir()) if Path(place).is_dir() else set()
    with pytest.raises(DeployRefused):
        write_all(Path(place) / "flexor-test")
    link = tmp_path / "link"
    link.symlink_to(place)
    with pytest.raises(DeployRefused):
        write_all(link)
    if place not in ("/proc", "/dev", "/run"):
        assert (set(Path(place).iterdir()) if Path(place).is_dir() else set()) == before


def test_the_unit_gives_rights_but_makes_nothing_real_time_by_itself(folder: Path) -> None:
    service = unit(folder)["Service"]
    assert service["Type"] == "notify" and float(service["WatchdogSec"]) > 0
    assert int(service["LimitRTPRIO"]) >= PRIORITY and service["LimitMEMLOCK"] == "infinity"
    assert service["LimitRTTIME"] == "infinity" and int(service["LimitNICE"]) <= IO_NICE
    assert "CPUSchedulingPolicy" not in service
    assert "--" not in service["ExecStart"]  # no motion: the hand starts disarmed


def test_the_unit_leaves_time_for_the_stop_sequence_and_never_restarts_after_a_fault(folder: Path) -> None:
    service = unit(folder)["Service"]
    assert float(service["TimeoutStopSec"]) > 2 * STOP_BUDGET_S
    kept_down = {int(code) for code in service["RestartPreventExitStatus"].split()}
    assert {Exit.USAGE, Exit.FAULT, Exit.NOT_RELEASED} <= kept_down


def test_the_limits_cover_the_loop_and_go_where_the_runtime_says(folder: Path) -> None:
    lines = [line.split() for line in (folder / "flexor.conf").read_text().splitlines() if line[:1] == "@"]
    limits = {words[2]: words[3] for words in lines}
    assert int(limits["rtprio"]) >= PRIORITY and limits["memlock"] == "unlimited"
    assert int(limits["nice"]) <= IO_NICE
    assert LIMITS_FILE.endswith("/flexor.conf")


def test_the_rule_opens_ports_to_a_group_and_not_to_the_world(folder: Path) -> None:
    lines = [x for x in (folder / "72-flexor.rules").read_text().splitlines() if x and x[0] != "#"]
    for line in lines:
        for part in re.split(r",\s+", line):
            assert re.fullmatch(r'[A-Z]+(\{\w+\})?\s*(==|=|\+=)\s*"[^"]*"', part), part
        assert "0666" not in line
    assert any('ATTR{latency_timer}="1"' in line for line in lines)


def test_the_service_manager_accepts_the_unit(folder: Path) -> None:
    checker = shutil.which("systemd-analyze")
    if checker is None:
        pytest.skip("no systemd-analyze on this machine")
    good = folder / "flexor@hasy.service"
    text = (folder / "flexor@.service").read_text()
    good.write_text(re.sub(r"ExecStart=\S+", f"ExecStart={shutil.which('true')}", text))
    seen = subprocess.run([checker, "verify", str(good)], capture_output=True, text=True, timeout=60)
    assert str(good) not in seen.stderr
    bad = folder / "flexor@bad.service"
    bad.write_text(good.read_text().replace("WatchdogSec=10", "WatchdogSec=soon"))
    seen = subprocess.run([checker, "verify", str(bad)], capture_output=True, text=True, timeout=60)
    assert str(bad) in seen.stderr
