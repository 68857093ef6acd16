"""Both tendon pairs of (5.18) on a coupled finger: rows of wrapped strings, stiffness, a run with both."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from hand.assembly.assemble import model_of
from hand.file import load_hand, parse_hand
from hand.hand import read_tendon_hand
from hand.options import RunOptions
from mechanics.springs import stiffness_of_force
from reports.design.coupling import finger_of
from runtime.session import run_lockstep
from tests.rigs.mutations import TEXTS

RADIUS_M = 0.005
"""r42 = r43 of the reference hand: its pair h46, h47 has an arm of both together."""
DEEP_M = 0.012
"""How far beyond their pulleys' axes the strings end: they lie around them over the whole range."""
PAIR = {"ring_7": -RADIUS_M, "ring_8": RADIUS_M}


def both() -> str:
    """The reference hand with the pair h44, h45 beside h46, h47, on two motors of its own."""
    text, z = TEXTS["hasy"], {"ring_7": (0.008, 0.010), "ring_8": (0.026, -0.010)}
    rows = "".join(
        f'  {{ name = "{name}", finger = "ring", motor = "m_{name}", hall_channel = {39 + k}, '
        f"length_m = 0.42, "
        f"dh_dq_m_rad = {{ ring_pip = {arm} }}, "
        f"forearm_m = [0.004, 0.028, {z[name][0]}], palm_m = [-0.004, 0.01, {z[name][1]}] }},\n"
        for k, (name, arm) in enumerate(PAIR.items())
    )
    motors = "".join(f"m_{name} = {51 + k}\n" for k, name in enumerate(PAIR))
    text = text.replace("\n]\n\n[control]", f"\n{rows}]\n\n[control]", 1)
    return text.replace("m_hmc_1 = 38\n", f"m_hmc_1 = 38\n{motors}", 1)


HAND = parse_hand(both(), "hand.toml")
M = model_of(HAND)[0]
NAMES = [t.name for t in HAND.tendons]
JOINTS = [j.name for j in HAND.joints]
RING = [t for t, tendon in enumerate(HAND.tendons) if tendon.finger == "ring"]


def wrapped_lengths(pip: float, dip: float) -> dict[str, float]:
    """Lengths of strings around the pulleys of two hinges: MuJoCo's own geometry."""
    r = RADIUS_M

    def tendon(name: str, side: float, last: str) -> str:
        pulleys = f'<geom geom="pip" sidesite="pip_{name}"/>'
        if last == "distal":
            pulleys += f'<site site="middle_{name}"/><geom geom="dip" sidesite="dip_{name}"/>'
        ends = (f'<site site="{body}_{name}"/>' for body in ("base", last))
        return f'<spatial name="{name}">{pulleys.join(ends)}</spatial>'

    def sites(body: str, x: float) -> str:
        return "".join(f'<site name="{body}_{n}" pos="{x} {-s * DEEP_M} 0"/>' for n, s in sides.items())

    def near(joint: str) -> str:
        return "".join(f'<site name="{joint}_{n}" pos="0 {1.6 * s * r} 0"/>' for n, s in sides.items())

    sides = {"flexor_2": 1.0, "extensor_2": -1.0, "flexor_1": 1.0, "extensor_1": -1.0}
    ends = {n: "distal" if n.endswith("2") else "middle" for n in sides}
    cylinder = f'type="cylinder" size="{r} 0.002" contype="0" conaffinity="0"'
    model = mujoco.MjModel.from_xml_string(f"""
    <mujoco><compiler angle="radian"/><worldbody>
      {sites("base", -0.03)}{near("pip")}<geom name="pip" {cylinder}/>
      <body><joint name="pip" axis="0 0 1"/><geom size="0.001" mass="0.01"/>
        {sites("middle", 0.015)}
        <body pos="0.03 0 0"><joint name="dip" axis="0 0 1"/><geom size="0.001" mass="0.01"/>
          {sites("distal", 0.015)}
        </body>
        <body pos="0.03 0 0">{near("dip")}<geom name="dip" {cylinder}/></body>
      </body>
    </worldbody><tendon>{"".join(tendon(n, s, ends[n]) for n, s in sides.items())}</tendon></mujoco>""")
    data = mujoco.MjData(model)
    data.qpos[:] = pip, dip
    mujoco.mj_forward(model, data)
    return {n: float(data.ten_length[model.tendon(n).id]) for n in sides}


@pytest.mark.parametrize("pip_deg", [15.0, 30.0, 45.0])
def test_rows_are_those_of_strings_around_pulleys_with_the_dip_coupled(pip_deg: float) -> None:
    """A crossed wire turns the DIP by r42/r43 of the PIP; strings are as long as they lie around pulleys."""
    q = math.radians(pip_deg)
    bent, straight = wrapped_lengths(q, q), wrapped_lengths(0.0, 0.0)
    j = JOINTS.index("ring_pip")
    for name, string in (
        ("ring_6", "flexor_2"),
        ("ring_5", "extensor_2"),
        ("ring_7", "flexor_1"),
        ("ring_8", "extensor_1"),
    ):
        way = M["P_tj_m"][NAMES.index(name), j] * q
        assert bent[string] - straight[string] == pytest.approx(way, abs=1e-9), name


def test_the_pair_adds_its_stiffness_and_its_rows_are_redundant(tmp_path: Path) -> None:
    file = tmp_path / "both.toml"
    file.write_text(both())
    K = {}
    for which in ("hasy", str(file)):
        hand = read_tendon_hand(RunOptions(hand=which))
        finger = finger_of(hand, "ring", pose_deg={"ring_pip": 0.0})
        K[which] = finger.joint_stiffness_nm_rad(np.full(len(finger.tendons), 40.0))
        assert np.linalg.matrix_rank(finger.P) == 3
    pair = sum(stiffness_of_force(M, NAMES.index(name), 40.0) * RADIUS_M**2 for name in PAIR)
    gained = K[str(file)] - K["hasy"]
    assert gained[2, 2] == pytest.approx(pair, rel=1e-9) and np.abs(gained[:2]).max() < 1e-12
    assert len(RING) == 8 and len([t for t in load_hand("hasy").tendons if t.finger == "ring"]) == 6


def test_a_hand_with_both_pairs_runs(tmp_path: Path) -> None:
    file, motion = tmp_path / "both.toml", tmp_path / "bend.toml"
    file.write_text(both())
    motion.write_text(
        'description = "to 50 deg and back"\n[[tracks]]\nkind = "joint_deg"\nnames = ["ring_pip"]\n'
        "sine = { mean = 25.0, amplitude = 25.0, frequency_hz = 1.0, phase_deg = -90.0 }\n"
    )
    run = run_lockstep(str(file), motion=str(motion), seconds=1.5)
    assert not run.in_fault, run.report["faults"]
    j = JOINTS.index("ring_pip")
    error = run.frames["state"]["joint_angle_rad"][:, j] - run.frames["truth"]["joint_angle_rad"][:, j]
    assert np.ptp(run.frames["truth"]["joint_angle_rad"][:, j]) > math.radians(40.0)
    assert np.degrees(np.abs(error[100:]).max()) < 0.5
