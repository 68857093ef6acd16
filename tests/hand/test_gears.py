"""Gears: a motor turns joints in both directions; what a file says of them wrongly is told at their rows."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from hand.assembly.assemble import model_of
from hand.file import HandFileError, load_hand, parse_hand
from hand.file.gears import MARGIN
from hand.review.suspicions import suspicions
from mechanics.springs import stiffness_of_force
from runtime.session import run_lockstep
from signals.modes import MachineState
from tests.rigs.driven import Driven
from tests.rigs.mutations import TEXTS

TEXT = TEXTS["leap_v1"]
STIFFNESS_NM_RAD = 30.0
STALL_NM = 0.93
FIRST = next(line for line in TEXT.splitlines() if "motor_per_joint = { index_mcp = 1.0 }" in line)


def test_a_gear_is_a_pair_of_lines_that_goes_slack_at_no_torque_of_its_drive() -> None:
    m = model_of(parse_hand(TEXT, "x"))[0:1]
    model = m[0]
    n = int(model["n_motors"])
    assert int(model["n_tendons"]) == 2 * n == 32
    for i in range(n):
        pair = np.flatnonzero(model["tendon_motor"][: 2 * n] == i)
        radius, rows = model["spool_radius_m"][pair], model["P_tj_m"][pair]
        # elongation P q + R theta is the same for every q at theta = q
        assert np.allclose(rows.sum(axis=1), -radius) and radius.sum() == 0.0
        rest = model["pretension_n"][model["tendon_finger"][pair[0]]]
        assert 2.0 * rest * abs(radius[0]) == pytest.approx(MARGIN * STALL_NM)
        stiff = sum(
            stiffness_of_force(model, int(t), float(rest)) * model["spool_radius_m"][t] ** 2 for t in pair
        )
        assert stiff == pytest.approx(STIFFNESS_NM_RAD, rel=0.02)


def test_a_motor_may_turn_several_joints_and_against_each_other() -> None:
    text = TEXT.replace(
        "motor_per_joint = { index_mcp = 1.0 }", "motor_per_joint = { index_mcp = 0.5, index_pip = -2.0 }"
    )
    model = model_of(parse_hand(text, "x"))[0]
    row = model["P_tj_m"][0] / -model["spool_radius_m"][0]
    assert row[[0, 2]].tolist() == pytest.approx([0.5, -2.0]) and np.count_nonzero(row) == 2


def test_lines_follow_the_strongest_drive_and_their_gear() -> None:
    text = TEXT.replace(FIRST, FIRST.replace("= 30.0", "= 90.0"))
    stiff, plain = model_of(parse_hand(text, "x"))[0], model_of(parse_hand(TEXT, "x"))[0]
    soft = stiff["tendon_compliance_m_n"][:4] / plain["tendon_compliance_m_n"][0]
    assert soft == pytest.approx([1 / 3, 1 / 3, 1.0, 1.0])
    strong = model_of(parse_hand(TEXT.replace("torque_stall_nm = 0.93", "torque_stall_nm = 1.86"), "x"))[0]
    assert strong["spool_radius_m"][0] == pytest.approx(2.0 * plain["spool_radius_m"][0])


FORCE_SENSOR = """
[[sensors]]
kind = "force"
at = "index_mcp_forth"
channel = 1
bits = 12
span_n = 50.0
zero_count = 0
direction = 1
noise_counts_rms = 1.0
filter_hz = 100.0
origin = "assumed"
"""
REFUSED = {
    "no such motor": (
        lambda t: t.replace('motor = "index_mcp", motor_per', 'motor = "index_mpc", motor_per'),
        r":(\d+): gears\[0\]\.motor: found \"index_mpc\".*index_mcp",
    ),
    "no such joint": (
        lambda t: t.replace("{ index_mcp = 1.0 }", "{ index_mpc = 1.0 }"),
        r":(\d+): gears\[0\]\.motor_per_joint\.index_mpc",
    ),
    "no such finger": (
        lambda t: t.replace('finger = "index", motor = "index_mcp"', 'finger = "indx", motor = "index_mcp"'),
        r":(\d+): gears\[0\]\.finger: found \"indx\".*index",
    ),
    "no ratio": (
        lambda t: t.replace("{ index_mcp = 1.0 }", "{ index_mcp = 0.0 }"),
        r":(\d+): gears\[0\]\.motor_per_joint",
    ),
    "a motor of two gears": (
        lambda t: t.replace('motor = "index_side", motor_per', 'motor = "index_mcp", motor_per'),
        r":(\d+): gears\[1\]\.motor: found \"index_mcp\" a second time",
    ),
    "a name twice": (
        lambda t: t.replace(
            'name = "index_side", finger = "index", motor', 'name = "index_mcp", finger = "index", motor'
        ),
        r":(\d+): gears\[1\]\.name: found \"index_mcp\" a second time",
    ),
    "no stiffness": (
        lambda t: t.replace(FIRST, FIRST.replace(", stiffness_nm_rad = 30.0", "")),
        r":(\d+): gears\[0\]\.stiffness_nm_rad: found nothing",
    ),
    "less play than none": (
        lambda t: t.replace(FIRST, FIRST.replace("= 30.0", "= 30.0, backlash_deg = -0.5")),
        r":(\d+): gears\[0\]\.backlash_deg: found -0\.5; legal: >= 0",
    ),
    "more play than a tenth of the range": (
        lambda t: t.replace(FIRST, FIRST.replace("= 30.0", "= 30.0, backlash_deg = 15.0")),
        r":(\d+): gears\[0\]\.backlash_deg: found 15: 10\.3% of the range of index_mcp; legal: 0 to 14\.6 ",
    ),
    "tendons beside gears": (
        lambda t: t + '\n[spool]\nradius_m = 0.01\norigin = "assumed"\n',
        r":(\d+): spool: found a key spool, beside gears",
    ),
    "tendons without a label beside gears": (
        lambda t: t + '\n[[tendons]]\nname = "flexor"\nfinger = "index"\n',
        r":(\d+): tendons: found a key tendons, beside gears",
    ),
    "a hall table without its keys beside gears": (
        lambda t: t + '\n[hall]\nbits = 1\norigin = "assumed"\n',
        r":(\d+): hall: found a key hall, beside gears",
    ),
    "a force sensor beside gears": (
        lambda t: t + FORCE_SENSOR,
        r":(\d+): sensors\[0\]\.kind: found \"force\", beside gears; legal: \"joint\"",
    ),
}


@pytest.mark.parametrize("what", sorted(REFUSED))
def test_what_is_wrong_is_told_once_and_at_the_gear(what: str) -> None:
    change, told = REFUSED[what]
    text = change(TEXT)
    assert text != TEXT
    with pytest.raises(HandFileError) as refusal:
        parse_hand(text, "hand.toml")
    said = [line for line in str(refusal.value).splitlines() if re.search(told, line)]
    assert len(said) == 1, str(refusal.value)
    line = int(re.search(told, said[0]).group(1))  # type: ignore[union-attr]
    assert line > 1 and "tendons[" not in str(refusal.value)
    if what.endswith("beside gears"):
        assert "refused, 1 problem:" in str(refusal.value)


def test_values_that_gears_make_are_not_suspected() -> None:
    assert not suspicions(load_hand("leap_v1"))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_gear_pushes_in_both_directions_without_slack(sign: float) -> None:
    hand = Driven("leap_v1")
    hand.start(0.5)
    joint = int(hand.names.index("joint", "index_side"))
    hand.bus.model["joint_max_rad" if sign > 0 else "joint_min_rad"][0, joint] = 0.0
    hand.bus.model["stop_stiffness_nm_rad"] = 200.0
    hand.goal("joint_angle_rad")[joint] = sign * math.radians(50.0)
    frames = hand.run(2.0)
    m, truth = hand.model[0], frames["truth"]
    assert hand.machine == MachineState.ACTIVE and not hand.causes
    assert truth["tension_n"][:, :32].min() > 0.0
    pair = np.flatnonzero(m["tendon_motor"][:32] == m["tendon_motor"][2 * joint])
    torque = -(truth["tension_n"][-1, pair] * m["P_tj_m"][pair, joint]).sum()
    assert 0.6 < sign * torque / m["motor_torque_limit_nm"][0] < 1.05
    assert abs(truth["joint_speed_rad_s"][-1, joint]) < 0.05


def test_a_motor_of_two_lines_is_counted_once_in_a_cycle() -> None:
    motor = load_hand("leap_v1").gears[0].motor
    run = run_lockstep("leap_v1", seconds=0.6, faults=(f"motor-lost:{motor}@0.3",), every=1)
    state = run.frames["state"]
    changed = (state["clip"][1:] != 0).astype(int)
    assert changed.any() and (np.diff(state["clip_count"].astype(int), axis=0) == changed).all()
