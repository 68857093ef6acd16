"""The steps of a commissioning: in order, each with what was found before, not made twice, nothing lost."""

from __future__ import annotations

import json
import math

import pytest
import tomlkit
from typer.testing import CliRunner

from calibration import commission
from calibration.compare import rows_of
from calibration.found import Found
from calibration.motion_run import Faulted
from calibration.part import BAD, GOOD, Part
from hand.file.loader import load_hand
from tools.commands.commission import app
from tools.commands.measuring import measured


class Bench:
    """Procedures that find at once what they are told to, and note what they were given."""

    def __init__(self, hand="finger_bench"):
        self.made, self.verdicts, self.friction_seen = [], dict.fromkeys(commission.ALL_STEPS, GOOD), {}
        self.raises, self.hand = "", hand

    def found(self, step, hand, options):
        if step == self.raises:
            raise Faulted(f"{step}: a tendon broke")
        self.made.append(step)
        self.friction_seen[step] = float(hand.model[0]["friction_gamma_2_nm"][0])
        assert options.plant == self.hand  # the simulated hand does not learn of what was found
        key, value = ("gamma_2_nm", 0.7) if step == "drives" else ("zero_rad", 0.25)
        nan = math.nan
        part = Part("m_index_1", key, value, nan, nan, "1", self.verdicts[step], f"{step} says so")
        lines = (
            ""
            if step not in ("drives", "zero")
            else f'[identified.m_index_1]\n{key} = {value}\norigin = "%s"\n'
        )
        told = [f"{step} left something out"]
        return Found([part], 5.0, [], {}, lambda origin: lines % origin if lines else "", told)

    def identified(self, kind, hand, options, motors, watch):
        return self.found(kind, hand, options)

    def calibrated(self, kind, hand, options, tendons, watch):
        return self.found(kind, hand, options)


@pytest.fixture
def bench(monkeypatch):
    bench = Bench()
    monkeypatch.setattr(commission, "identified", bench.identified)
    monkeypatch.setattr(commission, "calibrated", bench.calibrated)
    return bench


def _run(folder, *words):
    done = CliRunner().invoke(app, ["finger_bench", "--lockstep", "--json", "--out", str(folder), *words])
    return done.exit_code, json.loads(done.stdout) if done.stdout else None, done


def test_each_step_measures_with_what_the_ones_before_have_found(bench, tmp_path):
    code, result, done = _run(tmp_path / "c")
    assert code == 0, done.exception
    assert bench.made == list(commission.STEPS) and result["simulated_s"] == 5.0 * len(commission.STEPS)
    before = float(load_hand("finger_bench").friction.gamma_2_nm)
    assert bench.friction_seen == dict.fromkeys(commission.STEPS, 0.7) | {"drives": before}
    assert result["notices"] == [f"{step} left something out" for step in commission.STEPS]
    patch = tomlkit.parse((tmp_path / "c" / "patch.toml").read_text())["identified"]["m_index_1"]
    assert patch["gamma_2_nm"] == 0.7 and patch["zero_rad"] == 0.25


def test_a_wrist_is_measured_after_all_that_it_needs_and_before_the_zeros(bench, tmp_path):
    bench.hand = "hasy"
    words = ["hasy", "--lockstep", "--json", "--out", str(tmp_path / "c")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.exception
    assert bench.made == [step for step in commission.ALL_STEPS if step != commission.PAIRS]
    assert bench.made[-3:] == ["guides", "wrist", "zero"]


def test_the_same_command_goes_on_where_it_was_stopped(bench, tmp_path):
    bench.raises = "wiring"
    code, _, done = _run(tmp_path / "c")
    assert code == 3 and "a tendon broke" in done.stderr and str(tmp_path / "c") in done.stderr
    bench.raises = ""
    code, result, _ = _run(tmp_path / "c")
    assert code == 0 and bench.made == list(commission.STEPS)
    assert result["notices"][0].startswith("drives: was good on")
    assert load_hand(str(tmp_path / "c" / "hand.toml")).identified["m_index_1"].zero_rad == 0.25


def test_no_zeros_while_the_connections_are_not_right(bench, tmp_path):
    bench.verdicts["wiring"] = BAD
    code, result, _ = _run(tmp_path / "c")
    assert code == 1 and bench.made == ["drives", "wiring"]
    assert [part["verdict"] for part in result["parts"]] == ["good", "not good", *["open"] * 5]
    bench.verdicts["wiring"] = GOOD
    assert _run(tmp_path / "c")[0] == 0 and bench.made == [
        "drives",
        *commission.STEPS[1:2],
        *commission.STEPS[1:],
    ]


def test_no_zeros_while_a_tendon_is_not_in_its_band(bench, tmp_path):
    bench.verdicts["tension"] = BAD
    code, result, _ = _run(tmp_path / "c")
    assert code == 1 and bench.made == ["drives", "wiring", "tension"]
    assert [part["verdict"] for part in result["parts"]] == ["good", "good", "not good", *["open"] * 4]


def test_a_folder_of_another_hand_is_refused(bench, tmp_path):
    assert _run(tmp_path / "c")[0] == 0
    other = tmp_path / "other.toml"
    text = (tmp_path / "c" / "hand.toml").read_text()
    other.write_text(text.replace("pretension_n = 20.0", "pretension_n = 19.0"))
    words = [str(other), "--lockstep", "--json", "--out", str(tmp_path / "c")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code != 0 and "a folder of its own" in str(done.exception)


def test_what_was_found_is_not_lost_between_a_step_and_the_hand_file(bench, tmp_path, monkeypatch):
    store = commission.store

    def stopped(*words):
        store(*words)
        raise KeyboardInterrupt

    monkeypatch.setattr(commission, "store", stopped)
    assert _run(tmp_path / "c")[0] != 0 and bench.made == ["drives"]
    monkeypatch.setattr(commission, "store", store)
    assert _run(tmp_path / "c")[0] == 0 and bench.made == list(commission.STEPS)
    assert bench.friction_seen["wiring"] == 0.7
    assert load_hand(str(tmp_path / "c" / "hand.toml")).identified["m_index_1"].gamma_2_nm == 0.7


BUS = '[[bus]]\nname = "board"\nfamily = "collector"\nhost = "127.0.0.1"\nport = 5\n'
EMULATED = 'truth = "flexor-of-a-plant"\n' + BUS


@pytest.mark.parametrize("changed", [{"bus": BUS}, {"bus": EMULATED}, {"mismatch": 3}])
def test_a_folder_that_was_stopped_on_another_hand_is_refused(bench, tmp_path, changed):
    bench.raises = "wiring"
    assert _run(tmp_path / "c")[0] == 3
    options = commission.RunOptions(hand="finger_bench", lockstep=True)
    hand = commission.read_hand(options)
    with pytest.raises(commission.WrongChoice, match="a folder of its own"):
        commission._same_subject(tmp_path / "c", hand, _on(tmp_path, options, changed))
    assert bench.made == ["drives"]


@pytest.mark.parametrize(
    ("first", "then"), [(BUS, EMULATED), (EMULATED, BUS), (BUS, BUS), (EMULATED, EMULATED)]
)
def test_what_was_measured_on_an_emulation_is_not_taken_for_the_hardware(tmp_path, first, then):
    options = commission.RunOptions(hand="finger_bench", lockstep=True)
    hand = commission.read_hand(options)
    commission._same_subject(tmp_path, hand, _on(tmp_path, options, {"bus": first}))
    if first == then:
        commission._same_subject(tmp_path, hand, _on(tmp_path, options, {"bus": then}))
        return
    with pytest.raises(commission.WrongChoice, match="a folder of its own"):
        commission._same_subject(tmp_path, hand, _on(tmp_path, options, {"bus": then}))


def _on(folder, options, changed):
    """The options with something else; of a bus file the text is given."""
    if "bus" in changed:
        (folder / "bus.toml").write_text(changed["bus"])
        changed = {"bus": str(folder / "bus.toml"), "lockstep": False}
    return commission.replace(options, **changed)


def test_what_has_no_interval_is_not_compared(bench, tmp_path):
    assert _run(tmp_path / "c")[0] == 0
    _, result, _ = _run(tmp_path / "c")
    rows = rows_of(result, result)
    assert len(rows) == len(result["parts"]) > 0
    assert all(row["change"] is None and not row["changed"] for row in rows)


def test_a_folder_that_cannot_be_made_is_refused_before_anything_moves(tmp_path):
    (tmp_path / "file").touch()
    hand = commission.read_hand(commission.RunOptions(hand="finger_bench", lockstep=True))
    with pytest.raises(commission.WrongChoice, match="no folder there"):
        measured("identify", hand, tmp_path / "file", True, lambda _: pytest.fail("it moved"))
