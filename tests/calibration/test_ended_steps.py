"""Cable out, or Ctrl-C, while a step of a commissioning moves the hand: told, nothing false kept, it goes on.

The step is the real one; those before and after it find at once what they are told to. The cable is out for
all runs from a moment on: no motor answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calibration import commission, motion_run
from calibration.eligible import WRIST
from calibration.pair_plan import PAIRS
from calibration.run_folder import PATCH, RESULT, load
from hand.file.loader import load_hand
from hand.options import RunOptions
from runtime.session import Session
from tests.calibration.test_commission import Bench
from tools.cli import main

MOMENTS_S = (0.6, 5.0, 12.0)
"""Of motion since the step began: in its first run, and in later ones."""
ENDS = ("cable out", "ctrl-c")


class Ended(Session):
    """Runs that are ended at a moment, counted from run to run."""

    how, left_s = "", 0.0

    def __init__(self, options: RunOptions, *words: Any) -> None:
        at_s = max(Ended.left_s, 0.0)
        if Ended.how == "cable out" and at_s < (options.seconds or 0.0):
            names = words[2].names
            options = replace(options, faults=tuple(f"motor-lost:{name}@{at_s}" for name in names.motors))
        super().__init__(options, *words)

    def run(self, seconds: float, watch: Any = None, proceed: Any = None) -> None:
        """As ever, until the moment has come."""
        last = Ended.left_s * self.hand.rate_hz
        Ended.left_s -= seconds

        def on() -> bool:
            if Ended.how == "ctrl-c" and self.loop.progress.cycles >= last:
                raise KeyboardInterrupt
            return bool(proceed())

        super().run(seconds, watch, on)


def _commission(hand: str, folder: Path) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["commission", hand, "--lockstep", "--json", "--out", str(folder)])
    return int(ended.value.code or 0)


@pytest.mark.sample(2)
@pytest.mark.parametrize("moment_s", MOMENTS_S)
@pytest.mark.parametrize("how", ENDS)
@pytest.mark.parametrize("step", commission.ALL_STEPS)
def test_a_step_that_is_ended_says_so_and_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    step: str,
    how: str,
    moment_s: float,
) -> None:
    hand = {PAIRS: "orca_v2", WRIST: "hasy"}.get(step, "finger_bench")
    bench, folder = Bench(hand), tmp_path / "c"
    steps = commission.steps_of(commission.read_hand(RunOptions(hand=hand)))[0]

    def real(procedure: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
        def make(kind: str, *words: Any) -> Any:
            return procedure(kind, *words) if kind == step else other(kind, *words)

        return make

    with monkeypatch.context() as patch:
        patch.setattr(motion_run, "Session", Ended)
        patch.setattr(Ended, "how", how)
        patch.setattr(Ended, "left_s", moment_s)
        patch.setattr(commission, "identified", real(commission.identified, bench.identified))
        patch.setattr(commission, "calibrated", real(commission.calibrated, bench.calibrated))
        code = _commission(hand, folder)
    said = capsys.readouterr()
    before = steps[: steps.index(step)]
    assert bench.made == list(before), "nothing comes after it"
    for each in before:
        assert load(folder / each)["parts"][0]["text"] == f"{each} says so"
    known = load_hand(str(folder / commission.HAND)).identified
    assert {name: each.gamma_2_nm for name, each in known.items()} == ({"m_index_1": 0.7} if before else {})
    if how == "ctrl-c":
        assert code == 130 and not (folder / step / RESULT).exists()
    elif code == 3:
        assert not (folder / step / RESULT).exists() and "error: " in said.err
    else:
        parts = load(folder / step)["parts"]
        assert code == 1 and any(part["verdict"] == "not good" for part in parts)
        assert not (folder / step / PATCH).read_text().strip()
    if code != 1:
        assert f"new in {folder}: {', '.join(before) or 'nothing'}" in said.err
        assert f"still to be made: {', '.join(steps[len(before) :])}" in said.err
    if step == PAIRS:
        return
    monkeypatch.setattr(commission, "identified", bench.identified)
    monkeypatch.setattr(commission, "calibrated", bench.calibrated)
    assert _commission(hand, folder) == 0 and bench.made == list(steps)
