"""The door of the repository installs what a command needs, once, and no more."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TELLS = '#!/bin/sh\necho "$(basename "$0") ${{FLEXOR_HAND:+of $FLEXOR_HAND: }}$*" >> "{log}"\n'


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose environment is there, and whose programs only note how they were called."""
    for name in ("dev", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "flexor", "ruff", "mypy", "lint-imports"):
        (programs / name).write_text(TELLS.format(log=tmp_path / "log"), encoding="utf-8")
        (programs / name).chmod(0o755)
    return tmp_path


def calls(clone: Path, *words: str, path: str = "/usr/bin:/bin") -> list[str]:
    """What ``./dev`` with these words called."""
    log = clone / "log"
    log.unlink(missing_ok=True)
    subprocess.run(["./dev", *words], cwd=clone, env={**os.environ, "PATH": path}, check=True, timeout=30)
    return log.read_text(encoding="utf-8").splitlines()


def installs(lines: list[str]) -> list[str]:
    return [line for line in lines if " install " in line]


def test_a_run_installs_no_test_tools_and_the_second_run_nothing(clone: Path) -> None:
    (done,) = installs(calls(clone, "run"))
    assert done.endswith("-e .") and "-c constraints.txt" in done
    assert installs(calls(clone, "run")) == []


@pytest.mark.parametrize(
    "words", [("run", "hasy", "--out", "here"), ("flexor", "design"), ("bench", "kernel")]
)
def test_what_draws_is_installed_where_a_picture_may_be_drawn(clone: Path, words: tuple[str, ...]) -> None:
    calls(clone, "run")
    (done,) = installs(calls(clone, *words))
    assert done.endswith("-e .[report]")
    assert installs(calls(clone, *words)) == installs(calls(clone, "run")) == []


def test_an_installation_that_fails_says_what_pip_said(clone: Path) -> None:
    """pip says which versions contradict each other only where it may talk."""
    says = '#!/bin/sh\ncase " $* " in *" --quiet "*) ;; *) echo "a depends on b>=2";; esac\nexit 1\n'
    (clone / ".venv" / "bin" / "python").write_text(says, encoding="utf-8")
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["./dev", "run"], cwd=clone, env=environment, capture_output=True, timeout=30)
    assert done.returncode == 2 and b"a depends on b>=2" in done.stderr and b"install.log" in done.stderr


@pytest.mark.parametrize("part", ["not realtime", "realtime"])
def test_a_failure_of_either_part_is_the_failure_of_the_whole(clone: Path, part: str) -> None:
    calls(clone, "lint")
    python = clone / ".venv" / "bin" / "python"
    python.write_text(
        f'{python.read_text(encoding="utf-8")}case "$*" in *"-m {part}") exit 1 ;; esac\n', encoding="utf-8"
    )
    for _ in ("one part after the other", "both at once"):
        with pytest.raises(subprocess.CalledProcessError):
            calls(clone, "test")


def test_before_the_first_whole_run_tests_without_clocks_come_first(clone: Path) -> None:
    parts = [line.partition(" -m ")[2] for line in calls(clone, "test") if "pytest" in line]
    assert [part.rpartition("-m ")[2] for part in parts] == ["not realtime", "realtime"]


def test_who_ends_the_tests_ends_both_parts(clone: Path) -> None:
    calls(clone, "test")
    pid = clone / "pid"
    (clone / ".venv" / "bin" / "python").write_text(
        f'#!/bin/sh\ncase "$*" in *"-m not realtime") echo $$ > "{pid}.new"; mv "{pid}.new" "{pid}" ;; esac\n'
        "exec sleep 60\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    running = subprocess.Popen(["./dev", "test"], cwd=clone, env=environment, start_new_session=True)
    end_s = time.monotonic() + 20.0
    while not pid.exists() and time.monotonic() < end_s:
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGTERM)  # an interrupt may be ignored here, as behind a shell
    assert running.wait(20.0) == 143
    beside = Path(f"/proc/{pid.read_text(encoding='utf-8').strip()}")
    while beside.exists() and time.monotonic() < end_s:
        time.sleep(0.02)
    assert not beside.exists()


@pytest.mark.parametrize(
    "words", [("run", "hasy", "--view"), ("flexor", "view"), ("flexor", "run", "--view")]
)
def test_the_page_is_installed_by_whoever_asks_for_it_and_once(clone: Path, words: tuple[str, ...]) -> None:
    calls(clone, "run")
    (done,) = installs(calls(clone, *words))
    assert done.endswith("-e .[report,view]")
    assert installs(calls(clone, *words)) == installs(calls(clone, "run")) == []


def test_a_run_without_words_is_the_whole_hand_moving_with_the_page_where_it_is_asked_for(
    clone: Path,
) -> None:
    assert calls(clone, "run")[-1] == "flexor of hasy: run --motion open_close --for 10"
    assert calls(clone, "run", "--view")[-1] == "flexor of hasy: run --view --motion open_close --for 600"
    assert calls(clone, "run", "finger_bench", "--view")[-1] == "flexor run finger_bench --view"


@pytest.mark.parametrize(
    ("words", "then"),
    [
        ("--for 1", "--for 1 --motion open_close"),
        ("--for=1 --lockstep", "--for=1 --lockstep --motion open_close"),
        ("--motion grasp", "--motion grasp --for 10"),
        ("--fault tendon-break:index_4@2", "--fault tendon-break:index_4@2 --for 10"),
        ("--bus my_bus.toml", "--bus my_bus.toml"),
        ("--help", "--help"),
    ],
)
def test_options_without_a_hand_are_for_the_reference_hand(clone: Path, words: str, then: str) -> None:
    assert calls(clone, "run", *words.split())[-1] == f"flexor of hasy: run {then}"


def test_the_site_is_built_strictly_with_what_it_needs_alone(clone: Path) -> None:
    lines = calls(clone, "docs")
    assert [line.rpartition(" ")[2] for line in installs(lines)] == [".[docs]"]
    assert "mkdocs build --strict" in lines[-1]
    assert installs(calls(clone, "docs")) == []


def test_what_the_tests_need_is_enough_for_a_run_and_for_the_site(clone: Path) -> None:
    (done,) = installs(calls(clone, "lint"))
    assert done.endswith("-e .[report,view,docs,test]")
    assert (
        installs(calls(clone, "run"))
        == installs(calls(clone, "lint"))
        == installs(calls(clone, "docs"))
        == []
    )


@pytest.mark.parametrize("file", ["pyproject.toml", "constraints.txt"])
def test_another_list_of_packages_is_installed_again(clone: Path, file: str) -> None:
    calls(clone, "run")
    with (clone / file).open("a", encoding="utf-8") as text:
        text.write("# changed\n")
    assert len(installs(calls(clone, "run"))) == 1


@pytest.mark.parametrize("works", [True, False])
def test_uv_is_used_where_it_is_and_pip_where_it_fails(clone: Path, tmp_path: Path, works: bool) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "uv").write_text(TELLS.format(log=clone / "log") + f"exit {int(not works)}\n", encoding="utf-8")
    (tools / "uv").chmod(0o755)
    done = installs(calls(clone, "run", path=f"{tools}:/usr/bin:/bin"))
    assert [line.split()[0] for line in done] == (["uv"] if works else ["uv", "python"])
