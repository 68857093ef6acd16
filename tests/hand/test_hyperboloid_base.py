"""The base of the fingers (figure 5.2): two crossed axes whose distance is the cross bone's ``length_m``.

Two surfaces of revolution, each a hyperboloid about its own axis, touch in every pose and do not pierce each
other, if their axes cross at right angles and stay apart by the sum of the two throats.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand.assembly.assemble import model_of
from hand.file import parse_hand
from mechanics.kinematics import fingertips
from runtime.session import run_lockstep
from signals.layout import FloatArray
from signals.sizes import BODIES, FINGERS, JOINTS
from tests.rigs.mutations import TEXTS

CROSS = 'name = "cross", joint = "index_abduction", ratio = 1.0, length_m = 0.006'
PRINTED_M = 0.006
THROATS = (0.45, 0.55)
"""Shares of the distance that are the throats of the palm's and of the bone's surface."""
DEEP_M = 0.012
"""How far beyond their pulleys' axes strings end: they lie around them over the whole range."""
LENGTHS_M = (0.0, 0.003, PRINTED_M, 0.009)


def based(length_m: float) -> str:
    """The bench's finger with its base's axes that far apart."""
    text = TEXTS["finger_bench"]
    assert text.count(CROSS) == 1
    return text.replace(CROSS, CROSS.replace(str(PRINTED_M), str(length_m)))


MODELS = {length: model_of(parse_hand(based(length), "hand.toml"))[0] for length in LENGTHS_M}
LOW, HIGH = (MODELS[PRINTED_M][f"joint_{end}_rad"][:4] for end in ("min", "max"))
poses = st.tuples(*(st.floats(float(a), float(b)) for a, b in zip(LOW, HIGH, strict=True))).map(np.array)


def posed(m: Any, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Orientations, origins and the fingertip [m] at joint angles of shape (4,)."""
    R, p, tips, all_q = (
        np.zeros((BODIES, 3, 3)),
        np.zeros((BODIES, 3)),
        np.zeros((FINGERS, 3)),
        np.zeros(JOINTS),
    )
    all_q[:4] = q
    fingertips(m, all_q, R, p, tips)
    return R, p, tips[0]


def beyond_m(
    points: FloatArray, origin: FloatArray, axis: FloatArray, throat: float, other: float
) -> FloatArray:
    """How far points, shape (n, 3), are outside a hyperboloid, measured from its axis.

    Its radius grows as r^2 = throat^2 + z^2 throat / (1.1 other): at the throat its hollow is just wider than
    the other surface's throat, which lies in it.
    """
    z = (points - origin) @ axis
    away = np.linalg.norm(points - origin - z[:, None] * axis, axis=1)
    return away - np.sqrt(throat**2 + z**2 * throat / (1.1 * other))


def gap_m(m: Any, q: FloatArray, throat: float, other: float) -> float:
    """Least distance of the bone's surface from the palm's; less than zero: it pierces it."""
    R, p, _ = posed(m, q)
    abduction, flexion = 1, 2
    assert m["body_joint"][abduction] == 0 and m["body_joint"][flexion] == 1
    axis, inwards = R[flexion, :, 2], p[abduction] - p[flexion]
    inwards = inwards / np.linalg.norm(inwards) if np.any(inwards) else -R[abduction, :, 0]
    sideways = np.cross(axis, inwards)
    z, turn = np.meshgrid(np.linspace(-other, other, 81), np.linspace(-math.pi, math.pi, 181))
    radius = np.sqrt(other**2 + z**2 * other / (1.1 * throat))
    points = (p[flexion] + z[..., None] * axis + (radius * np.cos(turn))[..., None] * inwards
              + (radius * np.sin(turn))[..., None] * sideways)  # fmt: skip
    return float(beyond_m(points.reshape(-1, 3), p[abduction], R[abduction, :, 2], throat, other).min())


@given(poses)
def test_hyperboloids_about_the_two_axes_touch_in_every_pose_and_none_pierces_the_other(
    q: FloatArray,
) -> None:
    palm, bone = (share * PRINTED_M for share in THROATS)
    assert gap_m(MODELS[PRINTED_M], q, palm, bone) == pytest.approx(0.0, abs=1e-12)
    for length in set(LENGTHS_M) - {
        PRINTED_M
    }:  # surfaces made for another distance part, or pierce each other
        gap = gap_m(MODELS[length], q, palm, bone)
        assert gap > 2e-3 if length > PRINTED_M else gap < -2e-3


@given(poses, st.sampled_from(LENGTHS_M))
def test_the_distance_shifts_the_finger_along_the_normal_of_both_axes(q: FloatArray, length: float) -> None:
    """The normal is the palm's x axis, turned by the abduction; a universal joint has no distance."""
    R, p, tip = posed(MODELS[length], q)
    base, axis = R[0], R[1, :, 2]
    assert abs(axis @ R[2, :, 2]) < 1e-12, "axes cross at right angles"
    x, z = MODELS[length]["body_rotation"][1][:, 0], MODELS[length]["body_rotation"][1][:, 2]
    normal = base @ (math.cos(q[0]) * x + math.sin(q[0]) * np.cross(z, x))
    assert p[2] - p[1] == pytest.approx(length * normal, abs=1e-12)
    assert tip - posed(MODELS[0.0], q)[2] == pytest.approx(length * normal, abs=1e-12)


def string_lengths(
    q: FloatArray, distance: float, radii: tuple[float, float]
) -> dict[tuple[int, int], float]:
    """Lengths of the four strings of a base, around a pulley of each axis: MuJoCo's own geometry."""
    sides = {(a, f): f"{'np'[a > 0]}{'np'[f > 0]}" for a in (1, -1) for f in (1, -1)}

    def sites(body: str, position: str, axis: int) -> str:
        found = ((name, position.format(-DEEP_M * side[axis])) for side, name in sides.items())
        return "".join(f'<site name="{body}_{name}" pos="{place}"/>' for name, place in found)

    def near(joint: str, place: str, axis: int) -> str:
        found = ((name, place.format(1.6 * radii[axis] * side[axis])) for side, name in sides.items())
        return "".join(f'<site name="{joint}_{name}" pos="{where}"/>' for name, where in found)

    def cylinder(name: str, radius: float, turned: str) -> str:
        shape = f'type="cylinder" size="{radius} 0.002" contype="0" conaffinity="0"'
        return f'<geom name="{name}" {shape} {turned}/>'

    across = f'euler="{0.5 * math.pi} 0 0"'
    strings = "".join(
        f'<spatial name="{n}"><site site="palm_{n}"/><geom geom="a" sidesite="a_{n}"/><site site="in_{n}"/>'
        f'<site site="out_{n}"/><geom geom="f" sidesite="f_{n}"/><site site="bone_{n}"/></spatial>'
        for n in sides.values()
    )
    model = mujoco.MjModel.from_xml_string(f"""
    <mujoco><compiler angle="radian"/><worldbody>
      {sites("palm", "-0.03 {} 0", 0)}{near("a", "0 {} 0", 0)}{cylinder("a", radii[0], "")}
      <body><joint axis="0 0 1"/><geom size="0.001" mass="0.01"/>
        {sites("in", "0.03 {} 0", 0)}{sites("out", "-0.03 0 {}", 1)}
        <body pos="{distance} 0 0"><joint axis="0 -1 0"/><geom size="0.001" mass="0.01"/>
          {sites("bone", "0.03 0 {}", 1)}</body>
        <body pos="{distance} 0 0">{near("f", "0 0 {}", 1)}{cylinder("f", radii[1], across)}
        </body>
      </body>
    </worldbody><tendon>{strings}</tendon></mujoco>""")
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    return {side: float(data.ten_length[model.tendon(name).id]) for side, name in sides.items()}


@pytest.mark.parametrize("length", LENGTHS_M)
@pytest.mark.parametrize("q_deg", [(12.0, 30.0), (-14.0, 40.0), (5.0, -10.0)])
def test_rows_are_those_of_strings_around_both_axes_at_any_distance(
    q_deg: tuple[float, float], length: float
) -> None:
    """(5.5): lengths are sums over the two joints, whatever the distance is."""
    m, q = MODELS[length], np.radians(q_deg)
    rows = m["P_tj_m"][:4, :2]
    radii = (float(abs(rows[0, 0])), float(abs(rows[0, 1])))
    bent, straight = string_lengths(q, length, radii), string_lengths(np.zeros(2), length, radii)
    strings = sorted(bent[side] - straight[side] for side in bent)
    assert sorted(rows @ q) == pytest.approx(strings, abs=1e-9)
    assert {(int(np.sign(a)), int(np.sign(f))) for a, f in rows} == set(bent)


@pytest.mark.parametrize("length", [0.0, 0.009])
def test_a_finger_on_such_a_base_runs(length: float, tmp_path: Path) -> None:
    file = tmp_path / "based.toml"
    file.write_text(based(length))
    run = run_lockstep(str(file), motion="open_close", seconds=1.5)
    assert not run.in_fault and run.report["estimate_error_deg"]["rms"] < 1.0
