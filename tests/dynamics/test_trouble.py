"""What cannot exist is refused with a remedy; a run that diverges says where, why and what to do."""

from __future__ import annotations

import numpy as np
import pytest

from mechanics.dynamics.bodies import Body, Joint, TreeError
from mechanics.dynamics.inputs import Inputs, constant
from mechanics.dynamics.integrate import Scheme
from mechanics.dynamics.joint_laws import CustomLaw
from mechanics.dynamics.records import JointKind
from mechanics.dynamics.simulate import simulate
from mechanics.dynamics.tree import tree_of
from mechanics.muscle_finger import finger_inertia
from tests.rigs.mechanism_cases import finger_system, muscled_finger, tree_system, wrist, wrist_system, y_tree

HINGE = Joint(kind=JointKind.REVOLUTE, axis=(0.0, 1.0, 0.0))
BALL = np.eye(3) * 1e-3


def body(name="b", **changes):
    values = {"joint": HINGE, "mass_kg": 1.0, "inertia_kg_m2": BALL} | changes
    return Body(name=name, **values)


def test_impossible_bodies_are_refused_with_what_to_change():
    cases = (
        ({"mass_kg": -0.1}, "mass -0.1 kg is negative.*give a mass >= 0"),
        ({"inertia_kg_m2": np.diag([1.0, 1.0, -1.0])}, "principal moment -1 kg m2 is negative"),
        ({"inertia_kg_m2": np.diag([1.0, 1.0, 3.0])}, "exceeds the sum of the others; check units"),
        ({"inertia_kg_m2": np.array([[1.0, 0.2, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])}, "not symmetric"),
        ({"R_PB": np.diag([1.0, 1.0, -1.0])}, "R_PB is no rotation"),
        ({"com_m": np.array([0.0, np.nan, 0.0])}, "com_m = .* is not finite"),
        ({"p_PB_m": np.zeros(2)}, r"p_PB_m has shape \(2,\); give shape \(3,\)"),
    )
    for changes, message in cases:
        with pytest.raises(TreeError, match=message) as caught:
            body(**changes)
        assert "body 'b'" in str(caught.value) and caught.value.remedy


def test_impossible_joints_are_refused():
    cases = (
        ({"axis": (0.0, 0.0, 0.0)}, "no direction"),
        ({"damping": -1.0}, "damping = -1.0 is negative"),
        ({"lower": 1.0, "upper": 0.0}, "range 1.0..0.0 is empty"),
        ({"kind": JointKind.CUSTOM}, "no coordinates"),
        ({"coordinates": tuple("abcdefg")}, "too many"),
    )
    for changes, message in cases:
        with pytest.raises(TreeError, match=message):
            Joint(**({"kind": JointKind.REVOLUTE} | changes))


def test_impossible_trees_are_refused():
    ball = Joint(kind=JointKind.CUSTOM, coordinates=("x",), custom_law=int(CustomLaw.GIVEN))
    tied = Joint(kind=JointKind.REVOLUTE, parent_ratio=1.0)
    cases = (
        ([body("a"), body("a")], "body 'a': is there twice"),
        ([body("a", parent="z")], r"parent 'z' is unknown; use one of \['a'\]"),
        ([body("a", parent="b"), body("b", parent="a")], "form a loop"),
        (
            [body("a"), body("b", parent="a", joint=tied), body("c", parent="b", joint=tied)],
            "body 'c': a coupled",
        ),
        ([body("a", joint=ball), body("b", parent="a", joint=tied)], "a coupled joint needs a parent"),
        ([body("a", joint=tied)], "a coupled joint needs a parent"),
        (
            [body("a"), body("b", parent="a", mass_kg=0.0, inertia_kg_m2=np.zeros((3, 3)))],
            "'b': there is no inertia",
        ),
        (
            [body("a", mass_kg=0.0, inertia_kg_m2=np.zeros((3, 3))), body("b", parent="a")],
            "'a': there is no inertia",
        ),
        ([body(f"b{k}") for k in range(65)], "65 bodies; at most 64 moving"),
    )
    for bodies, message in cases:
        with pytest.raises(TreeError, match=message):
            tree_of(bodies)


def test_impossible_inputs_and_runs_are_refused():
    system = tree_system(y_tree())
    with pytest.raises(ValueError, match="inputs have 2 columns, the system wants 4"):
        simulate(system, 1.0, 1e-3, inputs=constant(np.zeros(2)))
    with pytest.raises(ValueError, match="q must be 3 finite numbers"):
        simulate(system, 1.0, 1e-3, q=np.array([0.0, np.nan, 0.0]))
    with pytest.raises(ValueError, match="must be positive"):
        simulate(system, 1.0, 0.0)
    with pytest.raises(ValueError, match="input times must rise; 1.0 s follows 1.0 s"):
        Inputs(np.array([0.0, 1.0, 1.0]), np.zeros((3, 4)))
    with pytest.raises(ValueError, match="input is not finite at t = 1.0 s, column 2"):
        Inputs(np.array([0.0, 1.0]), np.array([[0.0] * 4, [0.0, 0.0, np.inf, 0.0]]))


def test_an_explicit_damper_that_is_too_strong_is_named_with_the_largest_step():
    record = muscled_finger()
    record["joint_damping_nms_rad"][0] = (2e-4, 2e-4, 2e-3)
    system = finger_system(record)
    run = simulate(system, 1.0, 1.0 / 3000.0, scheme=Scheme.SEMI_IMPLICIT, q=np.array([0.1, 0.2, 0.3]))
    found = run.divergence
    assert found is not None and found.coordinate == "dip" and "damping is too strong" in found.cause
    assert found.step < 3000 and run.time_s[-1] <= found.time_s
    assert "--integrator implicit" in found.remedy
    finger_inertia(record[0], run.q[0])
    rate = np.linalg.eigvals(np.linalg.solve(record[0]["D"], np.diag(record["joint_damping_nms_rad"][0])))
    assert abs(found.largest_step_s * rate.real.max() / 2.0 - 1.0) < 0.05
    implicit = simulate(system, 1.0, 1.0 / 3000.0, scheme=Scheme.IMPLICIT, q=np.array([0.1, 0.2, 0.3]))
    assert implicit.divergence is None


def test_a_spring_that_is_too_stiff_is_named():
    system = tree_system(y_tree(stiffness=1e6))
    run = simulate(system, 1.0, 1e-3, scheme=Scheme.SEMI_IMPLICIT, q=np.array([1e-3, 0.0, 0.0]))
    assert run.divergence is not None and "stiffness is too high" in run.divergence.cause
    implicit = simulate(system, 1.0, 1e-3, scheme=Scheme.IMPLICIT, q=np.array([1e-3, 0.0, 0.0]))
    assert implicit.divergence is None


def test_a_fall_into_a_singular_pose_is_told_from_a_bad_step():
    system = wrist_system(wrist())
    run = simulate(system, 5.0, 1e-4, q=np.array([0.9, 1.05, 0.8]))
    assert run.divergence is not None
    assert "singular pose" in run.divergence.cause or "moves too fast" in run.divergence.cause
    assert run.divergence.largest_step_s is None
    assert np.all(np.isfinite(run.q)) and 0.2 < run.divergence.time_s < 1.0


def test_a_torque_that_is_too_large_is_no_fault_of_the_scheme():
    system = tree_system(y_tree())
    run = simulate(system, 1.0, 1e-3, inputs=constant(np.array([0.0, 1e5, 0.0, 0.0])))
    assert run.divergence is not None and "moves too fast" in run.divergence.cause
    assert "torque or load that is too large" in run.divergence.remedy
