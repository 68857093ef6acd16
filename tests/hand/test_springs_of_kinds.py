"""Springs without a lever, and force sensors: what laws read from tables is what the file says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hand.assembly.assemble import hand_sha256, model_of, names_of
from hand.assembly.straight import elongation_of_tension_m
from hand.file import parse_hand
from hand.review.suspicions import suspicions
from mechanics.springs import (
    count_of_lever,
    elongation_of_lever,
    spring_energy_j,
    spring_state,
    stiffness_of_force,
)
from tests.rigs.mutations import TEXTS, refusal

PLAIN = TEXTS["n_plus_one"]
SPRING = 'kind = "linear"\nstiffness_n_m = 20.0e3\nforce_max_n = 240.0\n'
SENSOR = "".join(line + "\n" for line in PLAIN.splitlines() if 'at = "t1"' in line or 'at = "t2"' in line)
EA_N = 25000.0
CORD = PLAIN.replace(SPRING, 'kind = "cord"\n')


def row(text: str) -> Any:
    return model_of(parse_hand(text, "hand.toml"))[0]


def linear(stiffness_n_m: float, length_m: float = 0.3) -> str:
    new = f'kind = "linear"\nstiffness_n_m = {stiffness_n_m!r}\nforce_max_n = 240.0\n'
    return PLAIN.replace(SPRING, new).replace("length_m = 0.3 }", f"length_m = {length_m!r} }}")


@settings(max_examples=40, deadline=None)
@given(
    stiffness=st.floats(1e3, 2e5),
    length=st.floats(0.05, 2.0),
    share=st.floats(0.01, 0.99),
    cord=st.booleans(),
)
def test_tension_and_elongation_follow_the_files_stiffness(
    stiffness: float, length: float, share: float, cord: bool
) -> None:
    """Spring and cord in series, both ways, at any tension that the tendon may have."""
    text = linear(stiffness, length)
    if cord:
        text = CORD.replace("length_m = 0.3 }", f"length_m = {length!r} }}")
    m = row(text)
    softness = length / EA_N + (0.0 if cord else 1.0 / stiffness)
    tension = share * float(m["tension_limit_n"][0])
    assert elongation_of_tension_m(np.array([m]), tension)[0] == pytest.approx(tension * softness, rel=1e-6)
    lever, found = spring_state(m, 0, tension * softness, 0.0, 0.0)
    assert found == pytest.approx(tension, rel=1e-9, abs=1e-9)
    assert m["lever_calibrated_min_rad"][0] < lever < m["lever_max_rad"][0]
    assert elongation_of_lever(m, 0, lever) == pytest.approx((tension, tension * softness), rel=1e-9)
    assert stiffness_of_force(m, 0, tension) == pytest.approx(1.0 / softness, rel=1e-6)
    table = (softness - m["tendon_compliance_m_n"][0]) * tension**2 / 2.0
    assert spring_energy_j(m, 0, lever) == pytest.approx(table, rel=1e-6)


def test_cords_of_different_lengths_stretch_each_by_its_own() -> None:
    m = row(CORD.replace("distal = -0.005 }, length_m = 0.3", "distal = -0.005 }, length_m = 0.1"))
    stretch = elongation_of_tension_m(np.array([m]), 50.0)[:4]
    np.testing.assert_allclose(stretch, 50.0 / EA_N * np.array([0.1, 0.3, 0.3, 0.3]), rtol=1e-9)


@pytest.mark.parametrize("direction", [1, -1])
def test_a_count_of_a_force_sensor_is_the_force(direction: int) -> None:
    zero = 200.0 if direction > 0 else 4000.0
    text = PLAIN.replace("zero_count = 200.0, direction = 1", f"zero_count = {zero}, direction = {direction}")
    for m in (row(text), row(text.replace(SPRING, 'kind = "cord"\n'))):
        for tension in (0.0, 5.0, 80.0, 200.0):
            elongation = float(elongation_of_tension_m(np.array([m]), tension)[0])
            lever, _ = spring_state(m, 0, elongation, 0.0, 0.0)
            assert count_of_lever(m, 0, lever) == pytest.approx(
                zero + direction * tension * 4096 / 300.0, abs=1e-3
            )


def test_a_kind_that_is_said_is_the_kind_that_is_not() -> None:
    said = TEXTS["finger_bench"].replace("[springs.tangent_alpha]", '[springs.tangent_alpha]\nkind = "lever"')
    plain, other = parse_hand(TEXTS["finger_bench"], "a.toml"), parse_hand(said, "b.toml")
    assert hand_sha256(plain) == hand_sha256(other)
    assert model_of(plain).tobytes() == model_of(other).tobytes()


def test_drivers_get_the_channels_of_force_sensors() -> None:
    text = PLAIN.replace('at = "t1", channel = 1', 'at = "t1", channel = 9')
    assert names_of(parse_hand(text, "hand.toml")).hall_channels == (9, 2, 3, 4)


@pytest.mark.parametrize(
    ("old", "new", "key", "told"),
    [
        ('at = "t1"', 'at = "t9"', "sensors[0].at", "t1, t2"),
        ('at = "t1"', 'at = "t2"', "sensors[1].at", "one sensor each"),
        ("channel = 2", "channel = 1", "sensors[1].channel", "every sensor channel once"),
        ("zero_count = 200.0", "zero_count = 4096.0", "sensors[0].zero_count", "less than 2^bits"),
        ('kind = "force"', 'kind = "farce"', "sensors[0].kind", "force"),
        ('kind = "linear"', 'kind = "linea"', "springs.sleeve.kind", "lever, polynomial, linear, cord"),
        ("stiffness_n_m = 20.0e3\n", "", "springs.sleeve.stiffness_n_m", "N/m"),
        ("force_max_n = 240.0", "force_max_n = 100.0", "springs.sleeve.force_max_n", "tendon.force_max_n"),
        (SPRING, 'kind = "cord"\nforce_max_n = 9.0\n', "springs.sleeve.force_max_n", "the keys kind"),
        ('motor = "m1"', 'motor = "m1", hall_channel = 7', "tendons[0].hall_channel", "force sensor"),
        (SENSOR, "", "fingers.finger", "without sensors of t1, t2 only their"),
    ],
)
def test_what_does_not_fit_is_refused(old: str, new: str, key: str, told: str) -> None:
    assert old in PLAIN
    told_of = refusal(PLAIN.replace(old, new, 1))
    found = [f"{p.found} {p.legal}" for p in told_of if p.key == key]
    assert any(told in text for text in found), told_of


@pytest.mark.parametrize(
    ("gone", "key"),
    [(r"[hysteresis]", "hysteresis"), (r"[hall]", "hall"), ("slack_margin_deg", "tendon.slack_margin_deg")],
)
def test_a_lever_needs_what_belongs_to_it(gone: str, key: str) -> None:
    lines = TEXTS["finger_bench"].splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith(gone))
    end = at + 1
    while gone.startswith("[") and not lines[end].startswith("["):
        end += 1
    found = refusal("\n".join(lines[:at] + lines[end:]))
    assert [p for p in found if p.key == key and "lever" in p.legal or "hall_channel" in p.legal]


def test_a_forgotten_sensor_is_suspected_and_one_that_is_said_to_be_missing_is_not() -> None:
    """Five tendons of four joints: four of them tell the angles."""
    text = TEXTS["finger_bench"]
    gone = text.replace(", hall_channel = 3", "")
    said = text.replace("hall_channel = 3", "hall_used = false").replace(
        "[origin.tendons]", '[origin.tendons]\nhall_used = "assumed"'
    )
    assert not suspicions(parse_hand(text, "hand.toml"))
    (told,) = suspicions(parse_hand(gone, "hand.toml"))
    assert "no sensor" in told.text
    hand = parse_hand(said, "hand.toml")
    assert not suspicions(hand)
    assert model_of(hand)[0]["hall_weight"][:5].tolist() == [1.0, 1.0, 0.0, 1.0, 1.0]
