"""Whatever ends a commissioning, whenever: the hand file loads, nothing saved is lost, the command goes on.

Each case ends it at one of the moments at which it writes: killed (nothing is tidied up), by Ctrl-C, or by a
disk that is full from then on.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from calibration import commission
from calibration.patching import apply, history
from calibration.run_folder import PATCH, RESULT, load
from hand.file.loader import load_hand
from tests.calibration.test_commission import Bench
from tools.commands.commission import app

KILLED = 9
MOMENTS = 160
"""More than a commissioning has, counting from its start and through applying it."""


class Moments:
    """Counts what goes to the disk; at the ``last`` it does what ends the command."""

    def __init__(self, last: int, end: Callable[[], None]) -> None:
        self.count, self.last, self.end = 0, last, end

    def pass_one(self) -> None:
        self.count += 1
        if self.count >= self.last:
            self.end()


def _watched(monkeypatch: pytest.MonkeyPatch, moments: Moments) -> None:
    """Every file that is opened to be written, and every one that takes its place."""
    opened, replaced = io.open, os.replace

    def open_it(file: Any, mode: str = "r", *words: Any, **more: Any) -> Any:
        if "w" in mode or "x" in mode or "a" in mode:
            moments.pass_one()
            return _Half(opened(file, mode, *words, **more), moments)
        return opened(file, mode, *words, **more)

    def replace_it(a: Any, b: Any, **more: Any) -> None:
        moments.pass_one()
        replaced(a, b, **more)

    monkeypatch.setattr(io, "open", open_it)
    monkeypatch.setattr(builtins, "open", open_it)
    monkeypatch.setattr(os, "replace", replace_it)


class _Half:
    """A file of which half is written when the moment comes."""

    def __init__(self, file: Any, moments: Moments) -> None:
        self._file, self._moments = file, moments

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _Half:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def write(self, words: Any) -> int:
        half = len(words) // 2
        self._file.write(words[:half])
        self._file.flush()
        self._moments.pass_one()
        return int(half + self._file.write(words[half:]))


def _commission(folder: Path) -> int:
    return CliRunner().invoke(app, ["finger_bench", "--lockstep", "--json", "--out", str(folder)]).exit_code


def _all(folder: Path, mine: Path) -> None:
    _commission(folder)
    if (folder / PATCH).exists():
        apply(mine, (folder / PATCH).read_text(), "run a")


def _in_a_child(work: Callable[[], None]) -> int:
    """Exit status of a process that does it; its end takes nothing back."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.WEXITSTATUS(os.waitpid(child, 0)[1])


def _full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _ctrl_c() -> None:
    raise KeyboardInterrupt


def _killed() -> None:
    os._exit(KILLED)


CASES = [
    *(pytest.param(k, _killed, id=f"killed-{k}") for k in range(1, MOMENTS)),
    *(pytest.param(k, _ctrl_c, id=f"ctrl-c-{k}") for k in range(1, MOMENTS, 4)),
    *(pytest.param(k, _full, id=f"disk-full-{k}") for k in range(2, MOMENTS, 4)),
]


@pytest.mark.parametrize(("moment", "end"), CASES)
@pytest.mark.sample(6)
def test_a_commissioning_that_is_ended_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, moment: int, end: Callable[[], None]
) -> None:
    bench, folder, mine = Bench(), tmp_path / "c", tmp_path / "mine.toml"
    monkeypatch.setattr(commission, "identified", bench.identified)
    monkeypatch.setattr(commission, "calibrated", bench.calibrated)
    original = Path(load_hand("finger_bench").path).read_text()
    mine.write_text(original)

    def work() -> None:
        with pytest.MonkeyPatch.context() as patch:
            _watched(patch, Moments(moment, end))
            _all(folder, mine)

    _in_a_child(work)
    load_hand(str(mine))  # as it was, or with everything in it
    saved = [step for step in commission.STEPS if (folder / step / RESULT).exists()]
    for step in saved:
        assert load(folder / step)["parts"][0]["text"] == f"{step} says so"
        assert (folder / step / PATCH).exists()
    changes = history(mine)
    assert all((tmp_path / "mine.toml.history" / change.before).read_text() == original for change in changes)
    assert _commission(folder) == 0
    assert bench.made == [step for step in commission.STEPS if step not in saved], "what was saved stays"
    known = load_hand(str(folder / commission.HAND)).identified["m_index_1"]
    assert (known.gamma_2_nm, known.zero_rad) == (0.7, 0.25)
    apply(mine, (folder / PATCH).read_text(), "run a")
    assert load_hand(str(mine)).identified["m_index_1"].gamma_2_nm == 0.7


def test_the_moments_cover_a_whole_commissioning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bench, mine, moments = Bench(), tmp_path / "mine.toml", Moments(10_000, _killed)
    monkeypatch.setattr(commission, "identified", bench.identified)
    monkeypatch.setattr(commission, "calibrated", bench.calibrated)
    mine.write_text(Path(load_hand("finger_bench").path).read_text())
    with pytest.MonkeyPatch.context() as patch:
        _watched(patch, moments)
        _all(tmp_path / "c", mine)
    assert 6 * len(commission.STEPS) < moments.count < MOMENTS


@pytest.mark.parametrize("step", commission.STEPS)
def test_the_command_says_what_is_new(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, step: str) -> None:
    bench, folder = Bench(), tmp_path / "c"
    bench.raises = step
    monkeypatch.setattr(commission, "identified", bench.identified)
    monkeypatch.setattr(commission, "calibrated", bench.calibrated)
    words = ["finger_bench", "--lockstep", "--json", "--out", str(folder)]
    done = CliRunner().invoke(app, words)
    at = commission.STEPS.index(step)
    made, rest = commission.STEPS[:at], commission.STEPS[at:]
    assert done.exit_code == 3 and f"new in {folder}: {', '.join(made) or 'nothing'}" in done.stderr
    assert f"still to be made: {', '.join(rest)}" in done.stderr
    if made:
        again = CliRunner().invoke(app, words)
        assert f"from before: {', '.join(made)}" in again.stderr and "nothing" in again.stderr
