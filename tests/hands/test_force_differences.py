"""Sensors of the difference of two tendons' forces: what they tell, what they do not, what a file may say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from estimators.difference_rows import meet_differences
from estimators.memory import new_memory
from guard.hall_checks import check_difference
from guard.memory import GUARD_MEMORY
from hand.assembly.assemble import model_of, names_of
from hand.file import HandFileError, parse_hand
from hand.review.sight import gaps, sights_of
from hand.review.suspicions import suspicions
from mechanics.sources import tension_source
from mechanics.springs import elongation_of_lever, lever_of_count
from runtime.session import RunResult, run_lockstep
from signals.compiled import law
from signals.faults import Cause
from signals.records import MEASUREMENT, STATE, new
from tests.rigs.differing import KEYS, beside_a_sensor, difference, pairs_of, with_differences
from tests.rigs.mutations import TEXTS, lines_told

HAND = "orca_v2"
TEXT = with_differences(HAND)
HANDED = parse_hand(TEXT, "hand.toml")
NOISE_N = 400.0 / 2**12 * np.sqrt(1.0 + 1.0 / 12.0)
"""A count of noise, rounded, of 400 N over 12 bits."""


def run_of(folder: Path, text: str, seconds: float = 3.0, **choices: Any) -> RunResult:
    """``open_close`` of a hand file's text."""
    file = folder / "hand.toml"
    file.write_text(text)
    return run_lockstep(str(file), motion="open_close", seconds=seconds, every=1, **choices)


def errors_of(run: RunResult) -> tuple[float, np.ndarray]:
    """Rms of the joint angles [deg], of each pair's difference of tensions [N]."""
    n = int(run.hand.model["n_tendons"][0])
    wrong = (run.frames["state"]["tension_n"] - run.frames["truth"]["tension_n"])[:, :n].astype(float)
    apart = wrong[:, 0::2] - wrong[:, 1::2]
    return run.report["estimate_error_deg"]["rms"], np.sqrt((apart**2).mean(axis=0))


def test_they_tell_loads_and_joints_whatever_the_friction_of_the_drives(tmp_path: Path) -> None:
    """A fifth more friction than the file says: currents are wrong by it, the sensors are not."""
    found = {}
    for name, text in (("currents", TEXTS[HAND]), ("differences", TEXT)):
        more = re.sub(
            r"(?m)^(gamma_[23]_\w+) = ([\d.]+)", lambda g: f"{g[1]} = {1.2 * float(g[2]):.6g}", text
        )
        plant = tmp_path / f"{name}.toml"
        plant.write_text(more)
        run = run_of(tmp_path, text, plant=str(plant))
        assert run.report["faults"] == []
        found[name] = errors_of(run)
    assert found["differences"][0] < 0.2 * found["currents"][0] < 0.1
    assert found["differences"][1].max() < 1.3 * NOISE_N < 0.3 * found["currents"][1].max()


@pytest.mark.parametrize("wiring", ["dynamixel", "collector"])
def test_their_counts_come_over_the_wire_in_the_channel_of_a_tendon(tmp_path: Path, wiring: str) -> None:
    run = run_of(tmp_path, TEXT, seconds=1.0, wiring=wiring)
    assert run.report["faults"] == []
    z, m = run.frames["measurement"], run.hand.model[0]
    at = np.flatnonzero(m["difference_to"][: int(m["n_tendons"])] >= 0)
    assert (z["hall_status"][-50:, at] == 0).all()
    apart = (z["hall_count"][-50:, at] - m["difference_zero_count"][at]) / m["difference_counts_n"][at]
    told = run.frames["state"]["tension_n"][-50:, :34]
    np.testing.assert_allclose(told[:, 0::2] - told[:, 1::2], apart, atol=0.02)


def test_one_beside_a_sensor_tells_a_tendon_without(tmp_path: Path) -> None:
    hand = parse_hand(beside_a_sensor(), "hand.toml")
    assert not hand.sees("t4") and hand.sees("t1")
    (sight,) = sights_of(hand)
    assert sight.tension == "sensors, force differences" and "joints" in sight.can
    run = run_of(tmp_path, beside_a_sensor(), seconds=2.0)
    assert tension_source(run.hand.model[0], 3) == "force difference"
    assert run.report["faults"] == [] and run.report["estimate_error_deg"]["rms"] < 0.2
    wrong = (run.frames["state"]["tension_n"] - run.frames["truth"]["tension_n"])[300:, 3]
    assert np.sqrt((wrong.astype(float) ** 2).mean()) < 0.5


@pytest.mark.parametrize("ours", [True, False])
def test_both_stretch_by_what_is_missing_and_their_sum_stays(ours: bool) -> None:
    """The law by itself: the difference is met, what both have in common is left."""
    model, memory, z, state = model_of(parse_hand(TEXT, "x")), new_memory(), new(MEASUREMENT), new(STATE)
    m, mem = model[0], memory[0]
    a, b = 0, 1
    mem["hall_count"] = m["hall_rest_count"]
    z["hall_fine_count"] = m["difference_zero_count"]
    if ours:
        z["hall_fine_count"][0, a] += 7.0 * m["difference_counts_n"][a]
    else:
        z["hall_status"][0, a] = 1

    def stretched() -> tuple[list[float], list[float]]:
        pairs = [elongation_of_lever(m, t, lever_of_count(m, t, mem["hall_count"][t])) for t in (a, b)]
        return [p[0] for p in pairs], [p[1] for p in pairs]

    before_n, before_m = stretched()
    meet_differences(m, z[0], mem, state[0])
    after_n, after_m = stretched()
    if ours:
        assert after_n[0] - after_n[1] == pytest.approx(7.0, rel=1e-6)
        assert sum(after_m) == pytest.approx(sum(before_m), rel=1e-9)
        assert mem["differs"][[a, b]].tolist() == [1, 1]
    else:  # silent: nothing changes, and the currents may speak
        assert (after_n, after_m) == (before_n, before_m) and not mem["differs"][[a, b]].any()
        assert state["finger_status"][0, m["tendon_finger"][a]] != 0


@pytest.mark.parametrize("fault", ["hall-stuck", "hall-saturated"])
def test_a_sensor_that_fails_is_named(tmp_path: Path, fault: str) -> None:
    part = "index_mcp_flex"
    run = run_of(tmp_path, TEXT, seconds=3.5, faults=(f"{fault}:{part}@2",))
    (told,) = run.report["faults"]
    assert (told["cause"], told["part"]) == (fault.replace("-", "_").upper(), part) and told["time_s"] < 2.5


@law
def watch(model, memory, measurement, state, t, counts, wound_rad):  # type: ignore[no-untyped-def]
    """Go through samples of the count of tendon ``t`` whose motor winds from sample to sample."""
    z, s, mem = measurement[0], state[0], memory[0]
    for count in counts:
        z.hall_count[t], z.hall_time_ns[t] = count, z.hall_time_ns[t] + 1_000_000
        s.motor_angle_rad[model[0].tendon_motor[t]] += wound_rad
        check_difference(model[0], mem, z, s, t)
        mem.last_count[t], mem.started = count, 1


@pytest.mark.parametrize(("noise_count", "stuck"), [(1.0, True), (0.0, False)])
def test_a_count_that_stands_is_stuck_only_where_noise_would_have_changed_it(
    noise_count: float, stuck: bool
) -> None:
    """A load that rose, so that the count changed often, and now stays while the motor winds."""
    model, memory, measurement, state = model_of(HANDED), new(GUARD_MEMORY), new(MEASUREMENT), new(STATE)
    t = int(np.flatnonzero(model["difference_to"][0, : int(model["n_tendons"][0])] >= 0)[0])
    model["hall_noise_count"] = noise_count
    counts = np.r_[2048 + np.arange(600) * 2 // 5, np.full(400, 2288)]
    way_rad = 5e-6 / float(model["spool_radius_m"][0, t])
    watch(model, memory, measurement, state, t, counts, way_rad)
    found = int(state["finger_cause"][0, model["tendon_finger"][0, t]])
    assert found == (int(Cause.HALL_STUCK) if stuck else int(Cause.NONE))


def test_check_says_what_they_tell_and_what_not() -> None:
    hand = parse_hand(TEXT, "hand.toml")
    assert suspicions(hand) == ()
    for sight in sights_of(hand):
        assert sight.joints == sight.tension == "force differences" and "joints" in sight.can
        assert any("have in common" in text for text in sight.not_detected)
        assert not any("the friction of the drive hides it" in text for text in sight.not_detected)
    assert gaps(hand, ("joints",)) == [] and len(gaps(hand, ("tension",))) == len(hand.fingers)
    channels = dict(zip(names_of(hand).tendons, names_of(hand).hall_channels, strict=True))
    assert channels["wrist_flex"] == 1 and channels["wrist_extend"] == 0
    narrow = parse_hand(with_differences(HAND, KEYS.replace("400.0", "20.0")), "hand.toml")
    assert any("it sees differences up to" in str(s) for s in suspicions(narrow))


def test_where_only_some_pairs_have_one_the_others_go_by_currents() -> None:
    some = [pair for pair in pairs_of(HAND) if "index" in pair[0]]
    sights = {s.finger: s for s in sights_of(parse_hand(with_differences(HAND, KEYS, some), "x"))}
    assert sights["index"].joints == "force differences" and sights["thumb"].joints == "motor currents"


FIRST = difference("wrist_flex", "wrist_extend", 1)
REFUSED = {
    "itself": (
        TEXT.replace('against = "wrist_extend"', 'against = "wrist_flex"'),
        r"sensors\[0\]\.against: found \"wrist_flex\"; legal: another tendon of its finger",
    ),
    "another finger": (
        TEXT.replace('against = "wrist_extend"', 'against = "index_mcp_flex"'),
        r"sensors\[0\]\.against: .*legal: another tendon of its finger: wrist_extend",
    ),
    "no such tendon": (
        TEXT.replace('at = "wrist_flex"', 'at = "wrst_flex"'),
        r"sensors\[0\]\.at: found \"wrst_flex\".*wrist_flex",
    ),
    "twice": (
        TEXT.replace(FIRST, f"{FIRST}, {FIRST.replace('channel = 1', 'channel = 60')}"),
        r"sensors\[1\]\.at: found \"wrist_flex\" a second time",
    ),
    "a channel twice": (TEXT.replace("channel = 2,", "channel = 1,"), "every sensor channel once"),
    "a zero beyond the scale": (
        TEXT.replace("zero_count = 2048.0", "zero_count = 5000.0"),
        r"sensors\[0\]\.zero_count: .*less than 2\^bits",
    ),
    "a sensor that is not used": (
        beside_a_sensor()
        .replace('{ name = "t4", ', '{ name = "t4", hall_used = false, ')
        .replace("[origin.tendons]\n", '[origin.tendons]\nhall_used = "assumed"\n'),
        r"tendons\[3\]\.hall_used: .*legal: no hall_used: t4 has .* take its row out of sensors",
    ),
    "a sensor of its own": (
        beside_a_sensor().replace('at = "t4", against = "t1"', 'at = "t1", against = "t4"'),
        r"a force difference at t1, which has a sensor of its own",
    ),
}


@pytest.mark.parametrize("what", sorted(REFUSED))
def test_what_is_wrong_with_a_row_is_told(what: str) -> None:
    lines = lines_told(*REFUSED[what])
    assert lines and min(lines) > 0


def test_without_their_sensors_no_tension_may_be_fed_back_and_with_them_it_may() -> None:
    loop = re.compile(r"(?m)^tension_kp_nm_n = .*$")
    assert loop.search(TEXT)
    parse_hand(loop.sub("tension_kp_nm_n = 0.001", TEXT), "hand.toml")
    with pytest.raises(HandFileError, match="only their motors' currents tell"):
        parse_hand(loop.sub("tension_kp_nm_n = 0.001", TEXTS[HAND]), "hand.toml")
