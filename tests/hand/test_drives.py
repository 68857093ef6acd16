"""Drives: named types are the same hand as one type at the top; what does not fit is refused in place."""

from __future__ import annotations

import math
import re
import tomllib

import numpy as np
import pytest

from hand.assembly.assemble import model_of, names_of
from hand.file import HandFileError, parse_hand
from mechanics.motor import command_bounds_nm
from signals.modes import DriveCommand, DriveReport
from tests.rigs.mutations import TEXTS
from tests.rigs.servo_hands import SERVO, with_servos

ALL = '["angle", "speed", "current", "temperature"]'
SHIPPED = ("finger_bench", "hasy")


def as_named_type(text: str) -> str:
    """The same hand with its one type of drive under a name."""
    inside = ""
    for table in ("motor", "gear", "friction", "thermal"):
        found = re.search(rf"\n\[{table}\].*?(?=\n\[)", text, re.DOTALL)
        assert found is not None
        inside += found.group().replace(f"[{table}]", f"[drives.module.{table}]")
        text = text.replace(found.group(), "")
    ripples = re.search(r"\n\[\[ripple\]\].*?(?=\n\[(?!\[ripple|origin\.ripple))", text, re.DOTALL)
    assert ripples is not None
    text = text.replace(ripples.group(), "")
    harmonics = ripples.group().split("\n[origin.ripple]")[0]
    harmonics = re.sub(r"(?m)^origin\..*\n", "", harmonics).replace("[[ripple]]", "[[drives.module.ripple]]")
    head = '\n[drives.module]\nkind = "pmsm"\ncommand = "current"\n'
    head += 'reports = ["angle", "speed", "current", "temperature"]\n'
    head += 'origin.kind = "assumed"\norigin.command = "assumed"\norigin.reports = "assumed"\n'
    head += 'origin.ripple = "assumed"\n'
    motors = re.search(r"\n\[motors\].*?(?=\n\[)", text, re.DOTALL)
    assert motors is not None
    entries = re.sub(r"(?m)^(m_\w+) = (\d+)", r'\1 = { id = \2, drive = "module" }', motors.group())
    return text.replace(motors.group(), head + inside + harmonics + entries)


@pytest.mark.parametrize("name", SHIPPED)
def test_files_without_types_of_drive_have_no_such_keys_in_their_hash(name: str) -> None:
    values = parse_hand(TEXTS[name], name).model_dump()
    assert "drives" not in values and {"motor", "gear", "friction", "ripple", "thermal"} <= set(values)
    named = parse_hand(as_named_type(TEXTS[name]), name).model_dump()
    assert set(values) - set(named) == {"motor", "gear", "friction", "ripple", "thermal"}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_named_type_is_the_same_hand(name: str) -> None:
    plain, named = parse_hand(TEXTS[name], name), parse_hand(as_named_type(TEXTS[name]), name)
    assert model_of(named).tobytes() == model_of(plain).tobytes()
    assert names_of(named) == names_of(plain)


def test_a_servo_is_known_by_its_output() -> None:
    m = model_of(parse_hand(with_servos(), "x"))[0]
    n = int(m["n_motors"])
    assert (m["motor_command"][:n] == DriveCommand.CURRENT_POSITION).all()
    assert (m["motor_reports"][:n] == sum(DriveReport)).all()
    assert command_bounds_nm(m, 0, 6.0)[1] == pytest.approx(0.0, abs=1e-9), "no-load speed"
    m["motor_current_limit_a"][0], m["motor_torque_limit_nm"][0] = 100.0, 100.0
    assert command_bounds_nm(m, 0, 0.0)[1] == pytest.approx(4.0), "stall torque"
    assert m["encoder_step_rad"][0] == pytest.approx(2.0 * math.pi / 4096)
    assert not m["thermal_winding_j_k"].any() and m["n_ripples"] == 0


@pytest.mark.parametrize(
    ("rate_hz", "reports", "told"), [(200.0, ALL, 1), (50.0, ALL, 0), (200.0, '["angle"]', 0)]
)
def test_friction_is_compared_where_the_torque_of_a_motion_is_told(
    rate_hz: float, reports: str, told: int
) -> None:
    m = model_of(parse_hand(with_servos(SERVO.replace(ALL, reports), rate_hz), "x"))[0]
    assert (m["friction_watched"][:8] == told).all()
    # the loop by itself: what is missing falls to 1/e in the time of its slower pole
    inertia, damping, missing, speed, dt_s, time_s = 0.004, 1.0 + 0.02, 1.0, 0.0, 1e-5, 0.0
    before = 1.0
    while missing > 1e-3:
        before, speed = missing, speed + dt_s * (60.0 * missing - damping * speed) / inertia
        missing, time_s = missing - dt_s * speed, time_s + dt_s
    tau_s = dt_s / math.log(before / missing)
    assert (1.0 / rate_hz <= tau_s) or not told
    assert m["friction_watched"][m["n_motors"] :].sum() == 0
    assert (model_of(parse_hand(TEXTS["hasy"], "hasy"))[0]["friction_watched"][:34] == 1).all()


def test_types_may_differ_from_motor_to_motor() -> None:
    other = SERVO.replace("drives.servo", "drives.other").replace("= 2.0\ncounts", "= 1.0\ncounts")
    text = with_servos(SERVO + other)
    text = text.replace('m_index_8 = { id = 8, drive = "servo" }', 'm_index_8 = { id = 8, drive = "other" }')
    m = model_of(parse_hand(text, "x"))[0]
    assert m["motor_current_limit_a"][:8].tolist() == [2.0] * 7 + [1.0]
    assert np.allclose(m["motor_torque_limit_nm"][:8], [3.0] * 7 + [1.5])


FRICTION = """
[friction]
gamma_1_s_rad = 1.0
gamma_2_nm = 0.1
gamma_3_nms_rad = 0.1
origin = "assumed"
"""
REFUSED = {
    "a loop is missing": (
        lambda t: re.sub(r"\[drives\.servo\.position_loop\].*?(?=\n\[)", "", t, flags=re.DOTALL),
        r"drives\.servo\.position_loop.*found nothing",
    ),
    "a loop too many": (
        lambda t: t.replace('command = "current_position"', 'command = "current"'),
        r"drives\.servo\.position_loop.*a position loop",
    ),
    "no such type": (
        lambda t: t.replace('id = 3, drive = "servo"', 'id = 3, drive = "serwo"'),
        r"motors\.m_index_3\.drive.*serwo.*servo",
    ),
    "a motor without type": (
        lambda t: t.replace('m_index_3 = { id = 3, drive = "servo" }', "m_index_3 = 3"),
        r"motors\.m_index_3.*drive",
    ),
    "an id twice": (
        lambda t: t.replace("id = 3, drive", "id = 4, drive"),
        r"motors\.m_index_4\.id.*every device id once",
    ),
    "a type that nobody has": (
        lambda t: t.replace(SERVO, SERVO + SERVO.replace("drives.servo", "drives.spare")),
        r"drives\.spare.*no motor has",
    ),
    "blind": (
        lambda t: t.replace('reports = ["angle", "speed", "current", "temperature"]', 'reports = ["speed"]'),
        r"drives\.servo\.reports.*angle",
    ),
    "a current beyond stall": (
        lambda t: t.replace("current_limit_a = 2.0", "current_limit_a = 3.0"),
        r"drives\.servo\.current_limit_a.*torque_stall_nm",
    ),
    "currents and angles in one finger": (
        lambda t: t.replace(
            SERVO,
            SERVO
            + re.sub(r"\n\[drives\.servo\.position_loop\].*", "", SERVO, flags=re.DOTALL)
            .replace("drives.servo", "drives.other")
            .replace("current_position", "current"),
        ).replace('m_index_8 = { id = 8, drive = "servo" }', 'm_index_8 = { id = 8, drive = "other" }'),
        r"tendons\[7\]\.motor.*takes currents.*takes angles",
    ),
    "a type at the top and named ones": (
        lambda t: t + FRICTION,
        r"friction.*beside drives",
    ),
}


@pytest.mark.parametrize("what", sorted(REFUSED))
def test_what_does_not_fit_is_refused_where_it_stands(what: str) -> None:
    change, told = REFUSED[what]
    text = with_servos()
    assert change(text) != text
    with pytest.raises(HandFileError) as refusal:
        parse_hand(change(text), "hand.toml")
    assert re.search(told, str(refusal.value)), str(refusal.value)


@pytest.mark.parametrize("table", ["motor", "gear", "friction", "ripple", "thermal"])
def test_a_table_of_the_one_type_is_missed(table: str) -> None:
    text = re.sub(rf"\n\[\[?{table}\]\]?.*?(?=\n\[(?!\[{table}))", "", TEXTS["finger_bench"], flags=re.DOTALL)
    text = text.replace("[origin.ripple]", "[origin.nothing]") if table == "ripple" else text
    with pytest.raises(HandFileError, match=rf"{table}.*found nothing"):
        parse_hand(text, "hand.toml")


def test_two_files_of_one_hand_differ_by_its_drives_alone() -> None:
    """A hand that is shipped with drives of two kinds is one hand."""
    drives = {"motor", "gear", "friction", "thermal", "ripple", "drives", "motors", "name", "description"}
    one, other = (tomllib.loads(TEXTS[name]) for name in ("orca_v2", "orca_v2_position"))
    for tables in (one, other):
        tables["origin"].pop("ripple", None)
        tables["limits"].pop("device_current_a", None)
        tables["limits"]["origin"].pop("device_current_a", None)
    assert {k: v for k, v in one.items() if k not in drives} == {
        k: v for k, v in other.items() if k not in drives
    }
    assert list(one["motors"]) == list(other["motors"])
    ids = {k: v["id"] for k, v in other["motors"].items() if k != "origin"}
    assert ids == {k: v for k, v in one["motors"].items() if k != "origin"}
