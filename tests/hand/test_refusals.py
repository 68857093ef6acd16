"""Files that are legal TOML with legal keys, but no hand: B35, B43 and what else a bench comes up with."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand.file import HandFileError, Problem, load_hand, parse_hand, shipped_hands
from hand.file.balance import nonnegative_least_squares, taut_pattern
from signals import sizes
from tests.rigs.mutations import TEXTS, refusal

BENCH, HASY = TEXTS["finger_bench"], TEXTS["hasy"]


def changed(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


def line_of(text: str, piece: str) -> int:
    return 1 + text[: text.index(piece)].count("\n")


def only(text: str) -> Problem:
    problems = refusal(text)
    assert len(problems) == 1, "\n".join(map(str, problems))
    return problems[0]


def tendon_line(name: str, text: str = BENCH) -> int:
    return line_of(text, f'name = "{name}"')


def test_shipped_hands_load_without_notices() -> None:
    for name in shipped_hands():
        assert load_hand(name).notices == ()


def test_all_problems_are_told_at_once_in_the_order_of_the_file() -> None:
    text = changed(
        BENCH,
        ("rate_hz = 3000.0", "rate_hz = 3e9"),
        ("gamma_1_s_rad = 10.0", "gamma1 = 10.0"),
        ('motor = "m_index_3"', 'motor = "m_index_4"'),
        ('reaction = "release"', 'reaction = "relax"'),
        ("[gains]", "[gain]"),
    )
    problems = refusal(text)
    assert [p.line for p in problems] == sorted(p.line for p in problems)
    told = " ".join(p.key for p in problems)
    for key in ("control.rate_hz", "friction.gamma1", "tendons[3].motor", "fingers.index.reaction", "gain"):
        assert key in told
    assert next(p for p in problems if p.key == "gain").nearest == "gains"
    text_of_all = str(HandFileError(problems))
    for problem in problems:
        assert f"hand.toml:{problem.line}: {problem.key}: found {problem.found}" in text_of_all


def test_a_doubled_motor_id_names_both_motors() -> None:
    problem = only(changed(BENCH, ("m_index_5 = 5", "m_index_5 = 2")))
    assert problem.key == "motors.m_index_5"
    assert f"motors.m_index_2 in line {line_of(BENCH, 'm_index_2 = 2')}" in problem.found


def test_an_id_of_the_wrist_drive_counts_too() -> None:
    problem = only(changed(HASY, ("motor_ids = [39,", "motor_ids = [38,")))
    assert problem.key == "wrist.drive.motor_ids[0]"
    assert "motors.m_hmc_1" in problem.found


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('name = "index_2"', 'name = "index_1"', "name"),
        ("hall_channel = 2", "hall_channel = 1", "hall_channel"),
        ('motor = "m_index_2"', 'motor = "m_index_1"', "motor"),
    ],
)
def test_a_doubled_tendon_sensor_or_winder_names_both_tendons(old: str, new: str, key: str) -> None:
    problems = refusal(changed(BENCH, (old, new)))
    problem = next(p for p in problems if p.key == f"tendons[1].{key}")
    assert problem.line == tendon_line("index_1") + 1
    assert f"tendons[0].{key} in line {tendon_line('index_1')}" in problem.found


def test_a_doubled_joint_name_names_both_joints() -> None:
    problems = refusal(changed(HASY, ('name = "middle_pip", role', 'name = "index_pip", role')))
    problem = next(p for p in problems if p.key == "fingers.middle.joints[2].name")
    assert "fingers.index.joints[2].name" in problem.found


def test_a_doubled_finger_is_refused_with_both_lines() -> None:
    problems = refusal(changed(HASY, ("[fingers.ring]", "[fingers.middle]")))
    assert any(
        p.key == "fingers.middle" and f"line {line_of(HASY, '[fingers.middle]')}" in p.found for p in problems
    )


def test_a_rank_deficient_coupling_names_its_rows_and_the_motion_that_nothing_sees() -> None:
    text = re.sub(r"index_abduction = -?0.0065, ", "", BENCH)
    text = text.replace("index_flexion = ", "index_abduction = 0.001, index_flexion = ")
    sign = re.compile(r"index_abduction = 0.001, index_flexion = (-?)")
    text = sign.sub(lambda m: f"index_abduction = {m[1]}0.001, index_flexion = {m[1]}", text)
    problem = only(text)
    assert problem.key == "fingers.index"
    assert "rank 3" in problem.found
    assert all(f"index_{k}" in problem.found for k in range(1, 9))
    assert "index_abduction" in problem.found and "index_dip" not in problem.found.split("motion")[1]


def test_a_joint_without_tendon_is_named() -> None:
    text = re.sub(r", index_dip = -?0.0045", "", BENCH)
    problem = only(text)
    assert problem.key == "fingers.index.joints[3]"
    assert "no tendon moves index_dip" in problem.found


def test_rows_without_antagonist_are_refused() -> None:
    text = BENCH.replace("index_flexion = -0.0065", "index_flexion = 0.0065")
    problem = only(text)
    assert "cannot all be taut" in problem.found


def test_a_row_of_zeros_and_a_joint_of_another_finger_are_refused() -> None:
    problems = refusal(changed(BENCH, ("{ index_pip = 0.0055 }", "{ index_pip = 0.0 }")))
    assert any(p.key == "tendons[4].dh_dq_m_rad" and p.found == "a row of zeros" for p in problems)
    problem = only(changed(HASY, ("{ hmc_flexion = -0.008 }", "{ fifth_pip = -0.008 }")))
    assert problem.key == "tendons[18].dh_dq_m_rad.fifth_pip"
    assert "a joint of the tendon's finger: hmc_flexion" in problem.legal


def test_too_few_tendons_are_refused() -> None:
    lines = [line for line in BENCH.split("\n") if not re.search(r'name = "index_[3-8]"', line)]
    problems = refusal("\n".join(line for line in lines if not re.match(r"m_index_[3-8] =", line)))
    assert any(p.key.startswith("fingers.index") for p in problems)


@pytest.mark.parametrize(
    ("old", "new", "key", "nearest"),
    [
        ('finger = "index", motor', 'finger = "indx", motor', "tendons[0].finger", "index"),
        ('motor = "m_index_1"', 'motor = "m_index1"', "tendons[0].motor", "m_index_1"),
        ("{ index_pip = 0.0055 }", "{ index_pp = 0.0055 }", "tendons[4].dh_dq_m_rad.index_pp", "index_pip"),
        ('spring = "tangent_alpha"', 'spring = "tangent_alfa"', "tendon.spring", "tangent_alpha"),
        ('pair = "pulley"', 'pair = "puley"', "guides.pair", "pulley"),
        ('joint = "index_dip"', 'joint = "index_dib"', "fingers.index.bones[3].joint", "index_dip"),
        ('parent = "palm"', 'parent = "plam"', "fingers.index.parent", "palm"),
        ('type = "PMSM"', 'type = "pmsm"', "motor.type", "PMSM"),
        ('law = "saturating"', 'law = "saturated"', "guides.law", "saturating"),
        ('kind = "chain"', 'kind = "chains"', "fingers.index.kind", "chain"),
        ('"assumed: as the index"', '"assumd: as the index"', "fingers.middle.origin.kind", "assumed"),
    ],
)  # fmt: skip
def test_a_wrong_name_gets_the_nearest(old: str, new: str, key: str, nearest: str) -> None:
    base = HASY if key.startswith("fingers.middle") else BENCH
    problem = next(p for p in refusal(changed(base, (old, new))) if p.key == key)
    assert problem.nearest == nearest
    assert problem.line > 0


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("range_deg = [-20.0, 20.0]", "range_deg = [20.0, -20.0]", "fingers.index.joints[0].range_deg"),
        ("range_deg = [-20.0, 20.0]", "range_deg = [5.0, 20.0]", "fingers.index.joints[0]"),
        ("lever_max_deg = -22.0", "lever_max_deg = -25.0", "springs.tangent_alpha"),
        ("spring_free_length_m = 0.0165", "spring_free_length_m = 0.05", "springs.tangent_alpha"),
        ("force_max_n = 120.0", "force_max_n = 12.0", "tendon.force_max_n"),
        ("device_current_a = 2.0", "device_current_a = 20.0", "limits.device_current_a"),
        ("zero_count = 2048.0", "zero_count = 5000.0", "hall.zero_count"),
        ("friction_gain = 0.8", "friction_gain = 1.2", "gains.friction_gain"),
        ("[3.0, 20.0, 100.0]", "[3.0, 200.0, 100.0]", "limits.measurement_age_ms"),
        ("1.0, length_m = 0.04038", "1.5, length_m = 0.04038", "fingers.index.bones[1].ratio"),
        ("[2.88e-07, 1.36691e-06", "[2.88e-05, 1.36691e-06", "fingers.index.bones[1].inertia_diag_kg_m2"),
        ("schema_version = 1", "schema_version = 2", "schema_version"),
        ("turn = 102400", "turn = 1024.5", "motor.encoder_counts_per_output_turn"),
        ('name = "proximal"', 'name = "middle"', "fingers.index.bones[1].name"),
        ('joint = "index_pip"', 'joint = "index_dip"', "fingers.index.bones"),
    ],
)  # fmt: skip
def test_values_that_cannot_be_are_refused(old: str, new: str, key: str) -> None:
    problems = refusal(changed(BENCH, (old, new)))
    assert any(p.key == key and p.line > 0 for p in problems), problems


def test_wrist_points_belong_to_hands_with_a_wrist() -> None:
    problem = only(changed(HASY, (", palm_m = [-0.004, -0.011, 0.01] }", " }")))
    assert (problem.key, problem.found) == ("tendons[0].palm_m", "nothing")
    point = 'palm_m = [0.0, 0.0, 0.0], origin.palm_m = "assumed"'
    problem = only(changed(BENCH, ("length_m = 0.36 }", f"length_m = 0.36, {point} }}")))
    assert problem.key == "tendons[0].palm_m" and "no [wrist]" in problem.legal


def test_an_unknown_insertion_set_or_point_is_refused() -> None:
    problems = refusal(changed(HASY, ('insertion_set = "as_printed"', 'insertion_set = "printed"')))
    assert any(p.key == "fingers.thumb.insertion_set" and p.nearest == "as_printed" for p in problems)
    problems = refusal(changed(HASY, ('insertion = "B"', 'insertion = "E"')))
    assert any(p.key == "tendons[0].insertion" and p.line == tendon_line("thumb_1", HASY) for p in problems)


def test_insertion_points_that_fall_together_are_refused() -> None:
    """The printed sets are identical: only the metacarpal keeps the points apart."""
    problems = refusal(changed(HASY, ("length_m = 0.0462", "length_m = 0.0")))
    assert {p.key for p in problems} >= {f"tendons[{k}].insertion" for k in (0, 1, 19, 20)}


def test_counts_above_the_capacities_are_refused() -> None:
    ripple = BENCH[BENCH.index("[[ripple]]") : BENCH.index("[origin.ripple]")]
    count = ripple.count("[[ripple]]")
    text = BENCH.replace(ripple, ripple * (sizes.RIPPLES // count + 1))
    problem = only(text)
    assert problem.key == "ripple" and str(sizes.RIPPLES) in problem.legal
    spring = BENCH[BENCH.index("[springs.tangent_alpha]") : BENCH.index("\n[motors]")]
    more = "".join(spring.replace("tangent_alpha", f"other_{k}") for k in range(sizes.SPRINGS))
    problem = only(BENCH + "\n" + more)
    assert problem.key == "springs" and str(sizes.SPRINGS) in problem.legal


def test_an_old_name_is_accepted_with_a_notice_but_not_beside_the_new_one() -> None:
    old = '\n[controller]\ntension_kp = 0.7\norigin = "assumed"\n'
    text = changed(BENCH, ("tension_kp_nm_n = 0.3\n", "")) + old
    hand = parse_hand(text, "hand.toml")
    assert hand.gains.tension_kp_nm_n == 0.7
    (notice,) = hand.notices
    assert notice.startswith(f"hand.toml:{line_of(text, 'tension_kp = 0.7')}:")
    assert "gains.tension_kp_nm_n" in notice
    both = BENCH + old
    assert any(p.key == "controller.tension_kp" and "old name" in p.found for p in refusal(both))


def test_an_old_name_keeps_its_label_and_line() -> None:
    old = '\n[controller]\ntension_kp = 0.7\norigin = "derived: a step response"\n'
    text = changed(BENCH, ("tension_kp_nm_n = 0.3\n", "")) + old
    hand = parse_hand(text, "hand.toml")
    assert hand.origins["gains", "tension_kp_nm_n"].word == "derived"
    assert hand.line_of(("gains", "tension_kp_nm_n")) == line_of(text, "tension_kp = 0.7")
    assert ("controller", "tension_kp") not in hand.origins


def test_whole_numbers_are_numbers() -> None:
    hand = parse_hand(changed(BENCH, ("rate_hz = 3000.0", "rate_hz = 3000")), "x")
    assert hand.model_dump() == load_hand("finger_bench").model_dump()


def test_fingers_that_stand_on_each_other_are_refused() -> None:
    text = changed(
        HASY, ('kind = "hinge"\nnumber = 6\nparent = "palm"', 'kind = "hinge"\nnumber = 6\nparent = "hmc"')
    )
    assert any(p.key == "fingers.hmc.parent" for p in refusal(text))
    hmc = HASY[HASY.index("[fingers.hmc] ") : HASY.index("[origin.tendons]")]
    second = hmc.replace("hmc", "hmd").replace("number = 6", "number = 7").replace('"palm"', '"hmc"')
    text = changed(HASY, ('number = 6\nparent = "palm"', 'number = 6\nparent = "hmd"')) + "\n" + second
    circles = [p for p in refusal(text) if "a circle of hmc, hmd" in p.found]
    assert {p.key for p in circles} == {"fingers.hmc.parent", "fingers.hmd.parent"}


def test_a_hinge_has_one_joint_and_a_thumb_base_only_straight_tendons() -> None:
    joint = HASY[HASY.index('  { name = "hmc_flexion"') :].split("\n")[0]
    text = changed(HASY, (joint, joint + "\n" + joint.replace("hmc_flexion", "hmc_other")))
    assert any(p.key == "fingers.hmc.joints" and "exactly 1" in p.legal for p in refusal(text))
    text = changed(HASY, ("{ thumb_pip = -0.007 }", "{ thumb_flexion = -0.001, thumb_pip = -0.007 }"))
    problem = only(text)
    assert problem.key == "tendons[2].dh_dq_m_rad.thumb_flexion"


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# only a comment\n", b"\xff\xfe\x00"])
def test_empty_and_foreign_files_are_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "hand.toml"
    file.write_bytes(content)
    with pytest.raises(HandFileError, match=re.escape(str(file))):
        load_hand(file)


def test_a_missing_file_and_an_unknown_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HandFileError, match="No such file"):
        load_hand(tmp_path / "none.toml")
    with pytest.raises(HandFileError, match="did you mean 'finger_bench'"):
        load_hand("finger_bensch")
    with pytest.raises(HandFileError):
        load_hand(tmp_path.as_posix() + "/")


@pytest.mark.parametrize("piece", ["[control", "rate_hz = ", "x = [1, 2", 'y = "open', "= 3", "a.b.c"])
def test_a_syntax_error_is_refused_with_its_line(piece: str) -> None:
    text = BENCH + "\n" + piece + "\n"
    (problem,) = refusal(text)
    assert abs(problem.line - line_of(text, "\n" + piece + "\n")) <= 2
    assert problem.legal.startswith("TOML (")


rows = st.integers(2, 4).flatmap(
    lambda nj: st.lists(st.lists(st.integers(-3, 3), min_size=nj, max_size=nj), min_size=nj + 1, max_size=8)
)


@given(rows)
def test_a_taut_pattern_balances_and_its_absence_has_a_witness(rows: list[list[int]]) -> None:
    """Gordan and Stiemke: an f > 0 with P^T f = 0, or a motion that shortens no tendon and pays one out."""
    P_tj_m = np.array(rows, dtype=float)
    if not P_tj_m.any():
        return
    pattern = taut_pattern(P_tj_m)
    if pattern is not None:
        assert pattern.min() >= 1.0
        np.testing.assert_allclose(P_tj_m.T @ pattern, 0.0, atol=1e-5 * pattern.max())
    else:
        extra = nonnegative_least_squares(P_tj_m.T, -P_tj_m.sum(axis=0))
        witness = P_tj_m.T @ (1.0 + extra)
        changes = P_tj_m @ witness
        assert changes.min() > -1e-6 * np.abs(changes).max()
        assert changes.max() > 0.0
