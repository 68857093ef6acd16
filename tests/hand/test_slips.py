"""Slips of a unit or of the point in a hand file: a sweep over every number, and what no rule can see."""

from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand.file import HandFileError, parse_hand
from hand.file.gears import MADE_OF_GEARS
from hand.file.schema import unit_of
from hand.review.plausible import JOINT_GAINS, UNLIKE, bounds_in, fits, implausible, sizes, unlike_joints
from hand.review.suspicions import suspicions
from tests.rigs.mutations import TEXTS, Key, collapsed

FACTORS = {"x1000": 1000.0, "x57.3": 57.29577951, "/57.3": 1 / 57.29577951, "/1000": 1 / 1000.0}
ALL = frozenset(FACTORS)
DOWN = frozenset(("/57.3", "/1000"))
UNSEEN = {
    # numbers without a size: ids, channels, orders, angles that may have any value
    "tendons.*.hall_channel": frozenset(("x1000", "x57.3")),
    "motors.*": frozenset(("x1000", "x57.3")),
    "wrist.drive.motor_ids": frozenset(("x1000", "x57.3")),
    "fingers.*.number": frozenset(("x1000", "x57.3")),
    "ripple.*.order": frozenset(("x57.3",)),
    "ripple.*.phase_deg": DOWN,
    "surroundings.ambient_degc": DOWN,
    # too small does no harm: no delay, less damping of the search, compensation, spread, ripple
    "control.command_delay_cycles": DOWN,
    "estimation.damping_frac": ALL,
    "gains.friction_gain": DOWN,
    "gains.ripple_gain": DOWN,
    "gains.guide_gain": DOWN,
    "gains.lever_gain": DOWN,
    "ripple.*.amplitude_nm": DOWN,
    "tolerances.*": DOWN,
    # the tension loop damps the joints too
    "fingers.*.joints.*.damping_nms_rad": DOWN,
}
"""Key -> slips that are neither refused nor suspected, and why."""
PHASE = ("tolerances.ripple_phase_deg", "/1000")
BONES = ("tolerances.bone_length", "x57.3")
"""Found all the same; not found: half a percent times 57 is still a share."""


def _sized(keys: list[Key]) -> list[Key]:
    """One number of each kind, the first that is not zero."""
    found: dict[tuple[str, ...], Key] = {}
    for key in keys:
        entries = key.value if isinstance(key.value, list) else [key.value]
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in entries)
        if numbers and not key.is_label and any(entries) and not key.name.startswith(("schema", "direction")):
            found.setdefault(collapsed(key), key)
    return list(found.values())


def _slipped(key: Key, factor: float) -> str:
    entries = key.value if isinstance(key.value, list) else [key.value]
    whole = all(isinstance(v, int) for v in entries)
    shown = [repr(round(v * factor) if whole else v * factor) for v in entries]
    return key.with_value(f"[{', '.join(shown)}]" if isinstance(key.value, list) else shown[0])


def _unseen(key: Key) -> frozenset[str]:
    return next((s for p, s in UNSEEN.items() if fits(tuple(p.split(".")), key.path)), frozenset())


def test_every_number_a_factor_off_is_refused_or_suspected_but_for_the_table(keys: list[Key]) -> None:
    wrong = []
    for key in _sized(keys):
        name = ".".join(str(p) for p in key.path)
        unseen = set(_unseen(key)) ^ {s for n, s in (PHASE, BONES) if n == name}
        for slip, factor in FACTORS.items():
            try:
                hand = parse_hand(_slipped(key, factor), "x")
                seen = any(implausible(hand)) or bool(suspicions(hand))
            except HandFileError:
                seen = True
            if seen == (slip in unseen):
                wrong.append(f"{name} {slip}: {'seen' if seen else 'not seen'}")
    assert wrong == []


@pytest.mark.parametrize(
    ("old", "new", "key", "said"),
    [
        ("bus_voltage_v = 24.0", "bus_voltage_v = 240.0", "motor.bus_voltage_v", "hands have 3 to 60"),
        ("span_deg = 90.0", "span_deg = 0.09", "hall.zero_count", "beyond the sensor's 0 to 4095"),
        ("tension_kp_nm_n = 0.3", "tension_kp_nm_n = 300.0", "gains.tension_kp_nm_n", "unstable (motor"),
        ("tension_kd_nms_rad = 0.3", "tension_kd_nms_rad = 300.0", "gains.tension_kd_nms_rad", "unstable"),
        ("position_kp_nm_rad = 200.0", "position_kp_nm_rad = 2e5", "gains.position_kp_nm_rad", "unstable"),
        ("position_kd_nms_rad = 3.0", "position_kd_nms_rad = 3e3", "gains.position_kd_nms_rad", "unstable"),
        (
            "velocity_filter_hz = 200.0",
            "velocity_filter_hz = 2.0",
            "gains.velocity_filter_hz",
            "stable by less than",
        ),
        ("radius_m = 0.010\norigin", "radius_m = 10.0\norigin", "spool.radius_m", "is it in mm?"),
        ("mass_kg = 0.009", "mass_kg = 9.0", "fingers.index.bones[1].mass_kg", "is it in g?"),
        ("[-20.0, 90.0]", "[-0.35, 1.57]", "fingers.index.joints[1].range_deg", "is it in rad?"),
        ("index_pip = 0.0055", "index_pip = 9.5", "tendons[4].dh_dq_m_rad.index_pip", "is it in mm/rad?"),
    ],
)
def test_a_slip_is_named_with_its_key_and_what_it_may_be(old: str, new: str, key: str, said: str) -> None:
    text = TEXTS["finger_bench"].replace(old, new, 1)
    assert text != TEXTS["finger_bench"]
    found = [str(s) for s in suspicions(parse_hand(text, "x")) if f": {key}: " in str(s)]
    assert found and any(said in s for s in found), [str(s) for s in suspicions(parse_hand(text, "x"))]


@pytest.mark.parametrize("name", sorted(TEXTS))
@pytest.mark.parametrize("gain", JOINT_GAINS)
def test_a_gain_of_any_joint_far_above_the_others_is_named_and_a_third_of_that_is_not(
    name: str, gain: str
) -> None:
    # whatever the loop says: the thumb's base is calm with 57 times its gain
    hand = parse_hand(TEXTS[name], "x")
    joints = [(f, k, j) for f, finger in hand.fingers.items() for k, j in enumerate(finger.joints)]
    for f, k, joint in joints:
        middle = median(getattr(j, gain) for _, _, j in joints if j is not joint and getattr(j, gain) > 0.0)
        for times, said in ((1.1 * UNLIKE, 1), (UNLIKE / 3.0, 0)):
            changed = list(hand.fingers[f].joints)
            changed[k] = joint.model_copy(update={gain: times * middle})
            finger = hand.fingers[f].model_copy(update={"joints": tuple(changed)})
            other = hand.model_copy(update={"fingers": {**hand.fingers, f: finger}})
            assert [path for path, _ in unlike_joints(other)] == said * [("fingers", f, "joints", k, gain)]


def test_a_slower_loop_than_the_gains_stand_is_suspected() -> None:
    hand = parse_hand(TEXTS["finger_bench"], "x")
    assert suspicions(hand, 3000.0) == ()
    slow = suspicions(hand, 100.0)
    assert slow and all(
        "unstable" in str(s) or "stable by less" in str(s) or "filters" in str(s) for s in slow
    )


POWERS = {"m": 1, "m/rad": 1, "N/m": 1, "N": 2, "kg": 3, "N m": 3, "N m/rad": 3, "N m s/rad": 3, "kg m2": 5}
"""Unit -> power of a length that it goes with where density and stress stay."""
BODY = ("fingers", "tendons", "palm", "forearm", "wrist", "object", "joint_stops")


@given(st.sampled_from(sorted(TEXTS)), st.floats(0.5, 2.0))
def test_a_hand_half_or_twice_as_large_is_not_suspected(name: str, size: float) -> None:
    hand = parse_hand(TEXTS[name], "x")
    for path, value in sizes(hand.model_dump(), ()):
        unit = next((u for u in map(unit_of, (p for p in reversed(path) if isinstance(p, str))) if u), "")
        if path[0] == "palm" and hand.palm.mass_kg > 0.5:
            continue  # it holds the motors, which are no larger in a larger hand
        if hand.gears and path[0] in MADE_OF_GEARS:
            continue
        bounds = bounds_in(hand, path)
        if bounds is not None and value > 0.0 and path[0] in BODY:
            scaled = value * size ** POWERS.get(unit, 0)
            assert bounds[0] <= scaled <= bounds[1], path
