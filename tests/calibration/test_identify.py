"""From a simulated hand that differs from its file to a file that fits it: one run through the real loop."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from calibration.drive_fit import DriveFit, Estimate
from calibration.identify import SURE_MOST, parts_of, patch_of, sure_share
from calibration.slack_stops import slack_zeros, with_zeros
from hand.assembly.mismatch import draw_mismatch
from hand.file.loader import load_hand
from hand.options import RunOptions
from mechanics.friction import motor_friction_nm
from runtime.session import run_lockstep
from runtime.setup import read_hand
from tests.calibration.plants import written
from tools.commands.apply import app as apply_app
from tools.commands.identify import app

SEED = 11
MOTORS = ("m_index_1", "m_index_6")


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A file with 30 % less friction than it should have, and no ripple."""
    document = tomlkit.parse(Path(load_hand("finger_bench").path).read_text())
    for key in ("gamma_2_nm", "gamma_3_nms_rad"):
        document["friction"][key] = 0.7 * float(document["friction"][key])
    for row in document["ripple"]:
        row["amplitude_nm"] = 0.0
    path = tmp_path_factory.mktemp("hand") / "plain.toml"
    path.write_text(tomlkit.dumps(document))
    return path


@pytest.fixture(scope="module")
def run(plain):
    """Result and folder of a run; the hand is the shipped one, drawn."""
    out = plain.parent / "drives"
    words = ["drives", *MOTORS, "--hand", str(plain), "--plant", "finger_bench", "--mismatch", str(SEED)]
    done = CliRunner().invoke(app, [*words, "--lockstep", "--json", "--out", str(out)])
    assert done.exit_code in (0, 1), done.exception
    return json.loads(done.stdout), out


def truth(plain):
    """Model of the plant, and by motor what its torques are in the drive's own unit."""
    hand = read_hand(RunOptions(hand="finger_bench"))
    plant = draw_mismatch(hand.model, SEED, hand.file.tolerances)[0]
    own = read_hand(RunOptions(hand=str(plain))).model[0]
    count = len(hand.names.motors)
    scale = own["motor_torque_constant_nm_a"][:count] / plant["motor_torque_constant_nm_a"][:count]
    return plant, scale, hand.names


def test_true_values_lie_in_the_intervals(plain, run):
    plant, scale, names = truth(plain)
    fields = {
        "gamma_2_nm": "friction_gamma_2_nm", "gamma_3_nms_rad": "friction_gamma_3_nms_rad",
        "motor_inertia_kg_m2": "motor_inertia_kg_m2",
    }  # fmt: skip
    checked = 0
    for result in (run[0],):
        for part in result["parts"]:
            i = names.motors.index(part["name"])
            if part["parameter"] in fields:
                true = plant[fields[part["parameter"]]][i] * scale[i]
                assert part["low"] <= true <= part["high"], part
                checked += 1
            elif part["parameter"].startswith("ripple."):
                shaft, order = part["parameter"].split(".")[1].split("_")
                rows = zip(plant["ripple_order"], plant["ripple_is_input"], strict=True)
                k = [(int(o), bool(n)) for o, n in rows].index((int(order), shaft == "input"))
                amplitude, phase = (
                    plant["ripple_amplitude_nm"][i, k] * scale[i],
                    plant["ripple_phase_rad"][i, k],
                )
                if part["unit"] == "deg":
                    away = (part["value"] - math.degrees(phase) + 180.0) % 360.0 - 180.0
                    assert abs(away) <= max(part["high"] - part["value"], 5.0), part
                else:
                    plateau = 0.5 * math.pi * plant["friction_gamma_2_nm"][i]
                    assert abs(part["value"] - amplitude) <= 0.05 * plateau, part
                checked += 1
    assert checked >= 2 * (2 + 1 + 6)


def test_a_run_leaves_result_patch_page_and_raw_data(run):
    result, out = run
    assert result["command"] == "identify drives" and result["simulated_s"] == pytest.approx(112.0)
    plain = [part for part in result["parts"] if not part["parameter"].startswith("ripple.")]
    assert {part["verdict"] for part in plain} == {"good"} and len(plain) == 5 * len(MOTORS)
    assert (out / "patch.toml").read_text().count("\n[identified.m_") >= 1
    page = (out / "report.html").read_text()
    said = page.partition("</style>")[2]
    assert said.index("verdict") < said.index("<h2>Parts") < said.index("<pre>") and "image/png" in said
    raw = pyarrow.parquet.read_table(out / "raw" / "phase_0.parquet")
    wanted = ["time_s", *(f"{key}/{motor}" for key in ("angle_rad", "current_a") for motor in MOTORS)]
    assert raw.column_names == wanted and raw.schema.metadata[b"flexor.command"] == b"identify drives"
    assert np.all(np.diff(raw["time_s"]) > 0.0) and raw.num_rows > 1000


def test_on_motion_that_was_not_fitted_the_feedforward_now_fits(plain, run, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text(plain.read_text())
    done = CliRunner().invoke(apply_app, [str(run[1]), "--to", str(mine)])
    assert done.exit_code == 0, done.exception
    motion = tmp_path / "turn.toml"
    motion.write_text(
        'description = "x"\ntendons_off = ["index_1"]\nmodes = { index = "motor_position" }\n'
        '[[tracks]]\nkind = "motor_rad"\nnames = ["m_index_1"]\nramp = { rate = 0.3 }\n'
    )
    errors, waves = [], []
    for hand in (plain, mine):
        turned = run_lockstep(
            str(hand), motion=str(motion), seconds=6.0, every=1, plant="finger_bench", mismatch=SEED,
            seed=5, overrides={"gains.ripple_gain": 1.0, "gains.friction_gain": 1.0},
        )  # fmt: skip
        assert turned.report["faults"] == []
        used = turned.seconds > 2.0
        state, measured = turned.frames["state"][used], turned.frames["measurement"][used]
        fed = state["friction_torque_nm"][:, 0] + state["ripple_torque_nm"][:, 0]
        wanted = measured["motor_current_a"][:, 0] * turned.hand.model["motor_torque_constant_nm_a"][0, 0]
        # the position loop's own chatter, far above what joints feel, is no error of the feedforward
        missing = np.convolve(wanted - fed, np.full(30, 1.0 / 30.0), mode="valid")
        errors.append(float(np.sqrt(np.mean(missing**2))))
        turn = 100.0 * np.convolve(measured["motor_angle_rad"][:, 0], np.full(30, 1.0 / 30.0), mode="valid")
        waves.append(abs(np.mean((missing - missing.mean()) * np.exp(-1j * turn))))
    assert errors[0] > 3.0 * errors[1] and waves[0] > 10.0 * waves[1], (errors, waves)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["frictoin"], "did you mean 'friction'"),
        (["friction", "m_index_99"], "is no motor, no tendon and no finger of finger_bench"),
        (["friction", "--bus", "x.toml"], "--tendons-off"),
    ],
)
def test_what_is_wrong_is_said_before_anything_moves(words, told):
    found = CliRunner().invoke(app, words)
    assert found.exit_code != 0 and told in str(found.exception)


def test_zeros_of_slack_levers_are_found_before_the_drives_turn(tmp_path):
    """With these zeros tendons that are off would look taut, and the finger would be in fault."""
    away = dict(zip(range(8), (40.0, -40.0, 25.0, -25.0, 15.0, -15.0, 0.0, 2.0), strict=True))

    def zeros(document):
        for t, counts in away.items():
            document["tendons"][t]["hall_zero_count"] = 2048.0 + counts
        document["origin"]["tendons"]["hall_zero_count"] = "assumed: drawn"

    options = RunOptions(hand="finger_bench", plant=written(tmp_path, zeros), lockstep=True, seed=3)
    hand = read_hand(options)
    found = slack_zeros(hand, options, list(range(8)))
    assert set(found) == {f"index_{t + 1}" for t, counts in away.items() if abs(counts) > 10.0}
    for t, counts in away.items():
        assert found.get(f"index_{t + 1}", 2048.0) == pytest.approx(2048.0 + counts, abs=2.1)
    with with_zeros(hand, options, found) as (known, chosen):
        assert known.model[0]["hall_zero_count"][0] == pytest.approx(found["index_1"], abs=0.01)
        assert chosen.plant == options.plant
        assert slack_zeros(known, chosen, list(range(8))) == {}


def test_a_friction_too_steep_to_tell_is_not_good_and_not_in_the_patch():
    """Coarse angles leave it open from some value on: a fit may end anywhere beyond."""
    steep = Estimate("gamma_1_s_rad", 1.6e6, 1.59e6, 1.61e6, "s/rad")
    plain = [Estimate("gamma_2_nm", 0.02, 0.0199, 0.0201, "N m"),
             Estimate("gamma_3_nms_rad", 0.01, 0.0099, 0.0101, "N m s/rad")]  # fmt: skip
    fits = {"wrist": DriveFit((steep, *plain), 1e-3, 0.999, 0.0)}
    assert [part.verdict for part in parts_of("friction", fits)] == ["not good", "good", "good", "open"]
    patch = tomlkit.parse(patch_of("friction", fits, "identified: 2026-11-29 run a"))
    assert set(patch["identified"]["wrist"]) == {"gamma_2_nm", "gamma_3_nms_rad", "origin"}


def friction_fit(*halves: float) -> DriveFit:
    """A drive whose gamma_1, gamma_2 and gamma_3 are known to these shares."""
    values = (
        ("gamma_1_s_rad", 10.0, "s/rad"),
        ("gamma_2_nm", 0.56, "N m"),
        ("gamma_3_nms_rad", 0.036, "N m s/rad"),
    )
    estimates = tuple(
        Estimate(name, value, value * (1.0 - half), value * (1.0 + half), unit)
        for (name, value, unit), half in zip(values, halves, strict=True)
    )
    return DriveFit(estimates, 1e-3, 0.999, 0.0)


HALF = st.floats(0.0, 0.2)
WITHIN = st.floats(-1.0, 1.0)


@given(st.tuples(HALF, HALF, HALF), st.tuples(WITHIN, WITHIN, WITHIN), st.floats(-14.0, 14.0))
def test_the_sure_share_is_never_more_than_the_friction_wherever_it_lies_in_its_intervals(
    halves: tuple[float, ...], within: tuple[float, ...], speed: float
) -> None:
    fit = friction_fit(*halves)
    found = [estimate.value for estimate in fit.estimates]
    true = [value * (1.0 + half * x) for value, half, x in zip(found, halves, within, strict=True)]
    share, _ = sure_share(fit)
    assert share <= SURE_MOST
    assert share * abs(motor_friction_nm(speed, *found)) <= abs(motor_friction_nm(speed, *true)) * (
        1.0 + 1e-9
    )


def test_the_sure_share_is_a_part_and_a_line_of_the_patch() -> None:
    part = parts_of("friction", {"m": friction_fit(0.02, 0.04, 0.03)})[-1]
    assert (part.parameter, part.unit, part.verdict) == ("force_friction_gain", "1", "good")
    assert (part.low, part.value, part.high) == pytest.approx((0.94 / 1.06, 0.94, 1.0)), "of the true one"
    assert part.high <= 1.0
    patch = tomlkit.parse(
        patch_of("friction", {"m": friction_fit(0.02, 0.04, 0.03)}, "identified: 2026-11-29 a")
    )
    assert patch["identified"]["m"]["force_friction_gain"] == pytest.approx(0.94)
