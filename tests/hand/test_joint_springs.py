"""Springs across joints: in the plant, from the controller, and what a file may say of them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from hand.assembly.assemble import hand_sha256, model_of
from hand.file import HandFileError, parse_hand
from hand.review.suspicions import suspicions
from runtime.session import run_lockstep
from tests.rigs.bench_hand import Bench, model
from tests.rigs.mutations import TEXTS

HAND = "n_plus_one"
K_NM_RAD = 0.05
STIFF_NM_RAD = 0.15


def sprung(name: str = HAND, stiffness_nm_rad: float = K_NM_RAD, rest_deg: float = 0.0) -> str:
    """A shipped hand with a spring at each joint, as text."""
    spring = f"spring = {{ stiffness_nm_rad = {stiffness_nm_rad}, rest_deg = {rest_deg} }}"
    text, count = re.subn(
        r"(?m)^(  \{ name = .*damping_nms_rad = [\d.e-]+) \}", rf"\1, {spring} }}", TEXTS[name]
    )
    assert count
    return text


def test_a_file_says_stiffness_and_rest_and_one_without_is_as_before() -> None:
    plain, hand = (parse_hand(text, "hand.toml") for text in (TEXTS[HAND], sprung(rest_deg=-20.0)))
    m, n = model_of(hand)[0], 3
    assert m["joint_spring_nm_rad"][:n].tolist() == [K_NM_RAD] * n
    assert np.degrees(m["joint_rest_rad"][:n]) == pytest.approx([-20.0] * n)
    assert m["finger_loaded"][0] == 1
    assert not model_of(plain)["joint_spring_nm_rad"].any() and not model_of(plain)["finger_loaded"].any()
    assert hand_sha256(plain) != hand_sha256(hand)


@pytest.mark.parametrize("rest_rad", [0.3, -0.3])
def test_a_spring_turns_its_joint_towards_its_rest(rest_rad: float) -> None:
    """As far as the tendons give way; energy: tests/sim/test_energy.py."""
    m = model()
    m["joint_spring_nm_rad"][0, :4], m["joint_rest_rad"][0, :4] = 0.3, rest_rad
    bench = Bench(m, guides=False)
    bench.hold()
    bench.step(300)
    angle = bench.truth("joint_angle_rad", 4)
    assert (np.abs(angle) < abs(rest_rad) + 0.1).all() and float(np.sign(rest_rad) * angle.sum()) > 0.1


def test_the_torque_of_the_springs_is_fed_forward(tmp_path: Path) -> None:
    """A hand that knows its springs follows as one without them; one that does not, sags."""
    file = tmp_path / "sprung.toml"
    file.write_text(sprung(stiffness_nm_rad=STIFF_NM_RAD))
    errors = {}
    for told, hand, plant in (("none", HAND, None), ("known", file, None), ("unknown", HAND, file)):
        choices = {} if plant is None else {"plant": str(plant)}
        result = run_lockstep(str(hand), motion="open_close", seconds=4.0, **choices)
        assert not result.report["faults"]
        errors[told] = result.report["tracking_error_deg"]["rms"]
    assert errors["known"] - errors["none"] < 0.25 * (errors["unknown"] - errors["none"]), errors


@pytest.mark.parametrize(
    ("stiffness", "rest", "words"),
    [
        (5.0, 0.0, "its tendons give"),
        (0.05, -60.0, "and its spring turn"),
        (0.05 / 1000.0, 0.0, "stiffness_nm_rad"),
    ],
)
def test_springs_that_no_tendon_holds_or_that_are_none_are_flagged(
    stiffness: float, rest: float, words: str
) -> None:
    assert suspicions(parse_hand(sprung(), "hand.toml")) == ()
    found = [str(s) for s in suspicions(parse_hand(sprung(HAND, stiffness, rest), "hand.toml"))]
    assert any(words in text for text in found), found


def test_a_spring_at_a_joint_whose_motors_take_angles_is_refused_in_place() -> None:
    with pytest.raises(HandFileError) as caught:
        parse_hand(sprung("orca_v2_position"), "hand.toml")
    problems = caught.value.problems
    assert len(problems) == 17 and all("take angles" in p.found and "spring" in p.key for p in problems)
    assert all(p.line > 0 for p in problems)
