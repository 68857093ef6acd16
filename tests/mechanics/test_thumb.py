"""Tensegrity base of the thumb: case T1, derivatives, and MuJoCo's site-to-site tendons."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanics.thumb import INSERTION, insertion_curvature, insertion_gradient, insertion_length
from signals.records import MODEL, RecordArray, new

POINTS = {0: (1, -1), 1: (1, 1), 2: (-1, -1), 3: (-1, 1)}


def thumb(offset_m: float, metacarpal_m: float, scale: float = 1.0) -> RecordArray:
    """A base alone: points of Table 5.2, the distal ones scaled."""
    model = new(MODEL)
    m = model[0]
    m["n_tendons"], m["n_joints"], m["n_fingers"] = 4, 2, 1
    m["finger_n_tendons"][0], m["finger_tendon"][0, :4] = 4, range(4)
    m["finger_n_joints"][0], m["finger_joint"][0, :2] = 2, (0, 1)
    m["thumb_base_offset_m"][0], m["thumb_metacarpal_m"][0] = offset_m, metacarpal_m
    for t, (y, z) in POINTS.items():
        m["tendon_kind"][t] = INSERTION
        m["insertion_palm_m"][t] = 0.002, 0.030 * y, 0.025 * z
        m["insertion_bone_m"][t] = 0.002, 0.030 * y * scale, 0.025 * z * scale
    return model


T1 = thumb(0.006, 0.045)
PLAUSIBLE = thumb(0.0, 0.0462, 0.25)
angle = st.floats(-0.6, 0.6)
bases = st.sampled_from([T1, PLAUSIBLE])


def test_case_T1():
    m = T1[0]
    rows = [insertion_gradient(m, 0, t, 0.0, 0.0) for t in range(4)]
    np.testing.assert_allclose([r[0] for r in rows], 0.051, rtol=0, atol=1e-15)
    expected = 1e-3 * np.array([[-30, 25], [-30, -25], [30, 25], [30, -25]])
    np.testing.assert_allclose([r[1:] for r in rows], expected, rtol=0, atol=1e-15)


@given(bases, angle, angle)
def test_gradient_and_curvature_are_derivatives_of_the_length(model, q0, q1):
    m, step = model[0], 1e-5
    for t in range(4):
        h, h0, h1 = insertion_gradient(m, 0, t, q0, q1)
        assert h == insertion_length(m, 0, t, q0, q1)

        def slope(f, along0, along1):
            up, down = f(q0 + step * along0, q1 + step * along1), f(q0 - step * along0, q1 - step * along1)
            return (up - down) / (2 * step)

        def length(a, b, t=t):
            return insertion_length(m, 0, t, a, b)

        def first(a, b, t=t):
            return np.array(insertion_gradient(m, 0, t, a, b)[1:])

        assert h0 == pytest.approx(slope(length, 1, 0), abs=1e-9)
        assert h1 == pytest.approx(slope(length, 0, 1), abs=1e-9)
        h00, h01, h11 = insertion_curvature(m, 0, t, q0, q1)
        np.testing.assert_allclose(slope(first, 1, 0), (h00, h01), rtol=0, atol=1e-9)
        np.testing.assert_allclose(slope(first, 0, 1), (h01, h11), rtol=0, atol=1e-9)


def sites(model: RecordArray) -> mujoco.MjModel:
    """The same base in MuJoCo: two hinges, four spatial tendons from site to site."""
    m = model[0]

    def site(name, point):
        return f'<site name="{name}" pos="{point[0]} {point[1]} {point[2]}"/>'

    palm = "".join(site(f"p{t}", m["insertion_palm_m"][t]) for t in range(4))
    bone = "".join(site(f"b{t}", m["insertion_bone_m"][t]) for t in range(4))
    tendons = "".join(
        f'<spatial name="t{t}"><site site="p{t}"/><site site="b{t}"/></spatial>' for t in range(4)
    )
    offset, metacarpal = m["thumb_base_offset_m"][0], m["thumb_metacarpal_m"][0]
    inertial = '<inertial pos="0 0 0" mass="0.01" diaginertia="1e-6 1e-6 1e-6"/>'
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody>{palm}<body><joint axis="0 0 1"/>{inertial}
        <body pos="{offset} 0 0"><joint axis="0 -1 0"/>{inertial}
        <body pos="{metacarpal} 0 0">{inertial}{bone}</body></body></body></worldbody>
        <tendon>{tendons}</tendon></mujoco>"""
    )


@pytest.mark.parametrize("model", [T1, PLAUSIBLE], ids=["T1", "plausible"])
def test_lengths_and_rows_equal_mujoco(model):
    m = model[0]
    twin = sites(model)
    data = mujoco.MjData(twin)
    for q in np.random.default_rng(5).uniform(-0.6, 0.6, (20, 2)):
        data.qpos[:] = q
        mujoco.mj_fwdPosition(twin, data)
        dense = np.zeros((4, 2))
        mujoco.mju_sparse2dense(
            dense,
            np.array(data.ten_J).ravel(),
            np.array(twin.ten_J_rownnz),
            np.array(twin.ten_J_rowadr),
            np.array(twin.ten_J_colind).ravel(),
        )
        for t in range(4):
            h, h0, h1 = insertion_gradient(m, 0, t, *q)
            assert h == pytest.approx(data.ten_length[t], abs=1e-15)
            np.testing.assert_allclose((h0, h1), dense[t], rtol=0, atol=1e-15)
