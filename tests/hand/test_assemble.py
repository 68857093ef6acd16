"""The model record says the same as the file, in SI units, and obeys the laws that its users count on."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from hand.assembly.assemble import hand_sha256, model_of, names_of, set_start, set_switches
from hand.assembly.straight import straight_jacobian, straight_lengths_m
from hand.file import HandFile, load_hand, parse_hand, shipped_hands
from hand.file.springs import LeverSpring
from mechanics.coupling import tendon_jacobian, tendon_lengths
from mechanics.springs import spring_at, spring_state
from signals.modes import FingerKind, TendonKind
from signals.records import MODEL, RecordArray
from signals.sizes import EXTENTS
from signals.table import TABLE

HANDS = {name: load_hand(name) for name in shipped_hands()}
MODELS = {name: model_of(hand) for name, hand in HANDS.items()}
both = pytest.mark.parametrize("name", list(HANDS))


def field(model: RecordArray, name: str) -> np.ndarray:
    return np.asarray(model[name][0])


@both
def test_counts_and_names_agree_and_names_are_unique(name: str) -> None:
    hand, model, names = HANDS[name], MODELS[name], names_of(HANDS[name])
    for space, count in (("motor", "n_motors"), ("tendon", "n_tendons"), ("joint", "n_joints")):
        assert len(names.of(space)) == len(set(names.of(space))) == int(model[count][0])
    assert len(names.fingers) == int(model["n_fingers"][0])
    assert len(names.axes) == int(model["n_axes"][0]) == (2 if hand.wrist else 0)


def test_the_reference_hand_has_38_tendons_in_the_order_of_the_fingers() -> None:
    model, names = MODELS["hasy"], names_of(HANDS["hasy"])
    assert names.fingers == ("thumb", "index", "middle", "ring", "fifth", "hmc")
    assert [int(n) for n in field(model, "finger_n_joints")[:6]] == [4, 4, 4, 3, 3, 1]
    assert [int(n) for n in field(model, "finger_n_tendons")[:6]] == [8, 8, 8, 6, 6, 2]
    assert (int(model["n_motors"][0]), int(model["n_joints"][0]), int(model["n_bodies"][0])) == (38, 19, 22)


@both
def test_every_element_beyond_the_hands_counts_is_zero(name: str) -> None:
    model = MODELS[name]
    used = {
        "motor": "n_motors",
        "tendon": "n_tendons",
        "joint": "n_joints",
        "finger": "n_fingers",
        "axis": "n_axes",
        "body": "n_bodies",
        "ripple": "n_ripples",
        "spring": "n_springs",
    }
    for signal in TABLE["model"]:
        for axis, dim in enumerate(signal.dims):
            if dim in used:
                rest = np.moveaxis(field(model, signal.name), axis, 0)[int(model[used[dim]][0]) :]
                assert not rest.any(), signal.name
    assert MODEL["P_tj_m"].shape == (EXTENTS["tendon"], EXTENTS["joint"])


@both
def test_every_number_of_the_model_is_finite(name: str) -> None:
    for signal in TABLE["model"]:
        assert np.isfinite(field(MODELS[name], signal.name)).all(), signal.name


@both
def test_units_of_the_file_become_si(name: str) -> None:
    hand, model = HANDS[name], MODELS[name]
    for j, joint in enumerate(hand.joints):
        low, high = (math.degrees(float(field(model, f"joint_{end}_rad")[j])) for end in ("min", "max"))
        assert (low, high) == pytest.approx(joint.range_deg)
        assert names_of(hand).joint_roles[j] == joint.role
    assert float(model["command_age_s"][0]) * 1e3 == pytest.approx(hand.limits.command_age_ms)
    assert field(model, "measurement_age_s") * 1e3 == pytest.approx(hand.limits.measurement_age_ms)
    spring = hand.springs[hand.tendons[0].spring or hand.tendon.spring]
    if isinstance(spring, LeverSpring):
        slack, tight = field(model, "lever_max_rad")[0], field(model, "lever_calibrated_min_rad")[0]
        assert (math.degrees(slack), math.degrees(tight)) == pytest.approx((15.0, -22.0))
        assert field(model, "hall_counts_rad")[0] * math.radians(90.0) == pytest.approx(4096.0)
    assert float(model["delay_s"][0]) == pytest.approx(
        hand.control.command_delay_cycles / hand.control.rate_hz
    )


@pytest.mark.parametrize("name", ["finger_bench", "hasy", "n_plus_one"])
def test_the_drive_has_the_figures_of_the_domain_notes(name: str) -> None:
    model = MODELS[name]
    assert field(model, "motor_inertia_kg_m2")[0] == pytest.approx(5.3e-3, rel=1e-3)
    assert field(model, "motor_speed_limit_rad_s")[0] == pytest.approx(14.1, abs=0.05)
    assert field(model, "motor_torque_limit_nm")[0] == pytest.approx(2.94)
    assert field(model, "guide_loss_frac")[0] == pytest.approx(0.071, abs=5e-4)
    plateau = math.pi / 2.0 * field(model, "friction_gamma_2_nm")[0]
    assert plateau == pytest.approx(0.877, abs=1e-3)


@both
def test_the_pseudo_inverse_undoes_the_pulleys_of_each_finger(name: str) -> None:
    m = MODELS[name][0]
    for f in range(int(m["n_fingers"])):
        joints = m["finger_joint"][f, : m["finger_n_joints"][f]]
        tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
        tendons = tendons[m["tendon_kind"][tendons] == TendonKind.PULLEYS]
        if m["finger_kind"][f] == FingerKind.TENSEGRITY_BASE:
            joints = joints[2:]
        inverse, P_tj_m = m["pinv_jt_1_m"][np.ix_(joints, tendons)], m["P_tj_m"][np.ix_(tendons, joints)]
        if m["finger_kind"][f] == FingerKind.SPRUNG:  # lengths are met; angles: tests/hand/test_sprung.py
            np.testing.assert_allclose(P_tj_m @ inverse, np.eye(len(tendons)), atol=1e-12)
            continue
        np.testing.assert_allclose(inverse @ P_tj_m, np.eye(len(joints)), atol=1e-12)
    apart = m["joint_finger"][:, None] != m["joint_finger"]
    assert np.abs((m["pinv_jt_1_m"] @ m["P_tj_m"])[apart]).max(initial=0.0) < 1e-12  # no finger moves another


@both
def test_joint_to_tendon_to_joint_returns_the_start(name: str) -> None:
    """B35, for the joints that pulleys move; of sprung fingers, for poses that their lines can give."""
    m = MODELS[name][0]
    rng = np.random.default_rng(5)
    q_rad = rng.uniform(m["joint_min_rad"], m["joint_max_rad"])
    moved = m["P_tj_m"].any(axis=0)
    sprung = (m["finger_kind"] == FingerKind.SPRUNG)[m["joint_finger"]] & moved
    q_rad[sprung] = (m["pinv_jt_1_m"] @ (m["P_tj_m"] @ q_rad))[sprung]
    h_m = m["P_tj_m"] @ q_rad
    np.testing.assert_allclose((m["pinv_jt_1_m"] @ h_m)[moved], q_rad[moved], atol=1e-12)


def test_the_bench_has_the_pseudo_inverse_of_the_mechanics_page() -> None:
    """Rows of P^+ for radii (10, 10, 8, 6) mm, as printed there."""
    text = Path(HANDS["finger_bench"].path).read_text()
    for old, new in (("0.0065", "0.01"), ("0.0055", "0.008"), ("0.0045", "0.006")):
        text = text.replace(f"= {old}", f"= {new}").replace(f"= -{old}", f"= -{new}")
    m = model_of(parse_hand(text, "x"))[0]
    wanted = np.zeros((4, 8))
    wanted[0, :4] = (25.0, 25.0, -25.0, -25.0)
    wanted[1, :4] = (25.0, -25.0, 25.0, -25.0)
    wanted[2, 4:6] = (62.5, -62.5)
    wanted[3, 4:8] = np.array([1.0, -1.0, -1.0, 1.0]) / 0.012
    np.testing.assert_allclose(m["pinv_jt_1_m"][:4, :8], wanted, atol=1e-9)
    np.testing.assert_allclose(m["P_tj_m"].T @ np.ones(64), 0.0, atol=1e-15)


def test_the_bench_is_the_index_finger_of_the_hand() -> None:
    bench, hand = MODELS["finger_bench"][0], MODELS["hasy"][0]
    names = [names_of(HANDS[n]) for n in ("finger_bench", "hasy")]
    tendons = [names[1].index("tendon", t) for t in names[0].tendons]
    joints = [names[1].index("joint", j) for j in names[0].joints]
    np.testing.assert_array_equal(bench["P_tj_m"][:8, :4], hand["P_tj_m"][np.ix_(tendons, joints)])
    for name in ("tendon_compliance_m_n", "elongation_offset_m", "spring_scale", "hall_zero_count"):
        np.testing.assert_array_equal(bench[name][:8], hand[name][tendons])
    first = int(hand["finger_tip_body"][1]) - 3
    for name in ("body_mass_kg", "body_com_m", "body_inertia_kg_m2", "body_rotation"):
        np.testing.assert_array_equal(bench[name][1:5], hand[name][first : first + 4])
    assert bench["body_mass_kg"][1:5].sum() == pytest.approx(0.020)


@both
def test_straight_lengths_and_coupling_are_those_of_the_mechanics(name: str) -> None:
    model = MODELS[name]
    q_rad = np.zeros(EXTENTS["joint"])
    h_m, P_tj_m = np.zeros(EXTENTS["tendon"]), np.zeros((EXTENTS["tendon"], EXTENTS["joint"]))
    tendon_lengths(model[0], q_rad, h_m)
    tendon_jacobian(model[0], q_rad, P_tj_m)
    np.testing.assert_allclose(straight_lengths_m(model), h_m, atol=1e-15)
    np.testing.assert_allclose(straight_jacobian(model), P_tj_m, atol=1e-15)


@both
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_the_start_pose_has_the_start_tension(name: str, share: float) -> None:
    """e = h(0) + R 0 + e0 is the elongation at which spring and tendon carry the start tension."""
    low, high = HANDS[name].tendon.force_min_n, HANDS[name].tendon.force_max_n
    pretension_n = low + share * (high - low)
    model = model_of(HANDS[name], pretension_n=pretension_n)
    m = model[0]
    elongation = straight_lengths_m(model) + m["elongation_offset_m"]
    winding = {int(i): 0.0 for i in m["tendon_motor"][: m["n_tendons"]]}
    for t in range(int(m["n_tendons"])):
        winding[int(m["tendon_motor"][t])] += float(m["spool_radius_m"][t])
    alone = any(abs(radius) > 1e-9 for radius in winding.values())  # else every tendon has its opponent
    start_n = min(pretension_n, HANDS[name].tendon.force_max_n / 6.0) if alone else pretension_n
    for t in range(int(m["n_tendons"])):
        lever, tension = spring_state(model[0], t, float(elongation[t]), 0.0, 0.0)
        assert tension == pytest.approx(start_n, abs=1e-9)
        assert spring_at(model[0], t, lever)[0] == pytest.approx(tension, abs=1e-9)
    assert (m["pretension_n"][: m["n_fingers"]] == pretension_n).all()


def test_the_neutral_wrist_has_the_lengths_of_the_mechanics_page() -> None:
    m = MODELS["hasy"][0]
    millimetres = m["wrist_neutral_length_m"][[0, 9, 18, 19, 28, 37]] * 1e3
    wanted = (46.615448083, 46.615448083, 46.690470120, 46.561786907, 46.615448083, 46.561786907)
    np.testing.assert_allclose(millimetres, wanted, atol=5e-10)
    np.testing.assert_allclose(m["wrist_origin_m"], (0.05, 0.021, 0.018), atol=1e-12)
    assert (m["axis_min_rad"] < m["wrist_neutral_rad"]).all()
    assert (m["axis_max_rad"] > m["wrist_neutral_rad"]).all()


def test_the_tree_of_the_hand_puts_the_fifth_finger_on_its_metacarpal() -> None:
    model, names = MODELS["hasy"], names_of(HANDS["hasy"])
    m = model[0]
    fifth, hmc = names.fingers.index("fifth"), names.index("joint", "hmc_flexion")
    body = int(m["finger_tip_body"][fifth])
    for _ in range(4):
        body = int(m["body_parent"][body])
    assert int(m["body_joint"][body]) == hmc
    coupled = int(m["finger_tip_body"][fifth])
    assert m["body_joint"][coupled] == m["body_joint"][m["body_parent"][coupled]]


def test_the_hash_sees_values_and_nothing_else() -> None:
    text = Path(HANDS["finger_bench"].path).read_text()
    plain = hand_sha256(HANDS["finger_bench"])
    other_layout = "# another comment\n" + text.replace(" = ", "=").replace("0.010", "1.0e-2")
    assert hand_sha256(parse_hand(other_layout, "elsewhere")) == plain
    relabelled = text.replace("assumed: hollow braid that can be spliced", "derived: from something")
    assert hand_sha256(parse_hand(relabelled, "x")) == plain
    hashes = {
        hand_sha256(parse_hand(text.replace(old, new, 1), "x"))
        for old, new in (
            ("rate_hz = 3000.0", "rate_hz = 3000.5"),
            ("ripple_gain = 0.8", "ripple_gain = 0.9"),
            ("index_pip = 0.0055", "index_pip = 0.005500001"),
            ('reaction = "release"', 'reaction = "hold"'),
        )
    }
    assert len(hashes | {plain}) == 5


def test_overrides_are_checked_like_the_file() -> None:
    hand = HANDS["finger_bench"]
    assert float(model_of(hand, rate_hz=1000.0)["delay_s"][0]) == pytest.approx(1e-3)
    for wrong in ({"rate_hz": 10.0}, {"rate_hz": math.nan}, {"pretension_n": 2.0}, {"pretension_n": 500.0}):
        with pytest.raises(ValueError, match="legal"):
            model_of(hand, **wrong)
    model = MODELS["finger_bench"].copy()
    set_switches(model, ("ripple",))
    parts = ("friction", "ripple", "guides", "lever", "wrist")
    assert [int(model[f"use_{n}"][0]) for n in parts] == [1, 0, 1, 1, 1]
    with pytest.raises(ValueError, match="frictions"):
        set_switches(model, ("frictions",))


def test_tendons_may_have_springs_and_calibrations_of_their_own() -> None:
    text = Path(HANDS["finger_bench"].path).read_text()
    spring = text[text.index("[springs.tangent_alpha]") : text.index("\n[motors]")]
    soft = spring.replace("tangent_alpha", "soft").replace("constant_n_m = 6000.0", "constant_n_m = 4000.0")
    own = (
        'name = "index_1", spring = "soft", spring_scale = 1.1, hall_zero_count = 2100.0, '
        'origin.spring = "assumed", origin.spring_scale = "assumed", origin.hall_zero_count = "assumed",'
    )
    hand: HandFile = parse_hand(text.replace('name = "index_1",', own, 1) + "\n" + soft, "x")
    model = model_of(hand)
    m = model[0]
    assert (int(m["n_springs"]), int(m["tendon_spring"][0]), int(m["tendon_spring"][1])) == (2, 1, 0)
    ratio = spring_at(model[0], 0, -0.1)[0] / spring_at(model[0], 1, -0.1)[0]
    assert ratio == pytest.approx(1.1 * 4.0 / 6.0, rel=1e-9)
    assert (m["hall_zero_count"][0], m["hall_zero_count"][1]) == (2100.0, 2048.0)
    set_start(model, 20.0)
    lever_1, tension_1 = spring_state(model[0], 0, float(m["elongation_offset_m"][0]), 0.0, 0.0)
    assert tension_1 == pytest.approx(20.0, abs=1e-9) and lever_1 != 0.0
