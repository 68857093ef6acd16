"""Fingers as trees of bones with free axes: mechanics against Pinocchio, chains as their sugar, refusals."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.joint_modes import load_of_others_nm
from hand.assembly.assemble import model_of, names_of
from hand.file import load_hand, parse_hand
from hand.file.fingers import ChainFinger
from hand.motion.load import load_motion
from mechanics.frames import rotation
from mechanics.handtree import hand_dynamics, new_work
from runtime.session import run_lockstep
from signals.records import STATE, RecordArray, new
from signals.sizes import BRANCH_JOINTS
from tests.rigs.hand_dynamics import off
from tests.rigs.mutations import HANDS, refusal
from tests.rigs.tree_hands import (
    Oracle,
    a_wrist_under_a_finger,
    bone,
    drawn_hand,
    finger,
    hand_text,
    joint,
    pairs,
)

N_PLUS_ONE = (HANDS / "n_plus_one.toml").read_text()


@given(st.integers(0, 10_000))
def test_a_drawn_tree_has_the_mechanics_of_pinocchio(seed: int) -> None:
    """Free axes, turned frames, fixed bones, branches, one joint on two bones, a finger on a wrist."""
    hand = drawn_hand(seed)
    model, oracle, rng = model_of(hand), Oracle(hand), np.random.default_rng(seed)
    model["gravity_m_s2"] = oracle.model.gravity.linear = rng.normal(size=3) * 9.81
    n = len(hand.joints)
    q, qd = np.zeros(32), np.zeros(32)
    q[:n], qd[:n] = rng.uniform(-1.0, 1.0, n), rng.normal(size=n) * 5.0
    work = new_work(model)
    hand_dynamics(model[0], np.zeros(2), np.zeros(2), q, qd, work[0])
    assert off(work[0]["H"][:n, :n], oracle.mass_matrix(q[:n])) <= 1e-12
    assert off(work[0]["bias"][:n], oracle.bias(q[:n], qd[:n])) <= 1e-10
    assert off(work[0]["tips"][1], oracle.tip("finger", q[:n])) <= 1e-12


def test_a_chain_is_a_tree_with_axes_and_frames_of_its_own() -> None:
    """The bench finger, written as a tree by what Table 5.1 says of frames, is the same model of bodies."""
    hand = load_hand("finger_bench")
    chain = hand.fingers["index"]
    assert isinstance(chain, ChainFinger)
    ends = [[b.length_m, 0.0, b.offset_z_m] for b in chain.bones]
    bones = [
        {
            "name": b.name,
            "joint": b.joint,
            "position_m": ends[k - 1] if k else list(chain.base_position_m),
            "rpy_deg": [90.0, 0.0, 0.0] if k == 1 else [0.0, 0.0, 0.0],
            "mass_kg": b.mass_kg,
            "com_m": [b.com_fraction * e for e in ends[k]],
            "inertia_kg_m2": [*b.inertia_diag_kg_m2, 0.0, 0.0, 0.0],
        }
        for k, b in enumerate(chain.bones)
    ]
    joints = [j.model_dump(mode="json") for j in chain.joints]
    table = finger("palm", joints, bones, tip_m=ends[3])
    tree = parse_hand(hand_text({"index": table}, pairs("index", joints)), "tree.toml")
    ours, theirs = model_of(tree)[0], model_of(hand)[0]
    fields = ("parent", "joint", "ratio", "rotation", "origin_m", "axis", "mass_kg", "com_m", "inertia_kg_m2")
    for field in (*(f"body_{f}" for f in fields), "finger_tip_body", "finger_tip_m"):
        np.testing.assert_allclose(ours[field], theirs[field], atol=1e-15, err_msg=field)


def test_an_axis_turns_its_bone_the_right_way() -> None:
    """Positive turns are right-handed about the axis in the bone's frame, after the frame's own turn."""
    rng = np.random.default_rng(1)
    j = [joint("one")]
    tip, rpy, axis = rng.normal(size=3), [20.0, -40.0, 70.0], [0.6, 0.0, 0.8]
    table = finger("palm", j, [bone("b", rng, joint="one", rpy_deg=rpy, axis=axis)], tip_m=tip.tolist())
    model = model_of(parse_hand(hand_text({"f": table}, pairs("f", j)), "x.toml"))
    work, q = new_work(model), np.zeros(32)
    q[0] = 0.7
    hand_dynamics(model[0], np.zeros(2), np.zeros(2), q, np.zeros(32), work[0])
    roll, pitch, yaw = (math.radians(a) for a in rpy)
    frame = rotation((0, 0, 1), yaw) @ rotation((0, 1, 0), pitch) @ rotation((1, 0, 0), roll)
    wanted = np.array(table["bones"][0]["position_m"]) + frame @ rotation(axis, 0.7) @ tip
    np.testing.assert_allclose(work[0]["tips"][0], wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ('joint = "flexion", position', 'joint = "flexoin", position', "bones[1].joint", "flexion"),
        ('name = "tip", joint', 'name = "tip", parent = "knuckle", joint', "bones[2].parent", "proximal"),
        ('name = "yoke", joint', 'name = "yoke", parent = "tip", joint', "bones[0].parent", "listed before"),
        ('name = "proximal", joint', 'name = "yoke", joint', "bones[1].name", "name of its own"),
        ('name = "tip", joint = "distal"', 'name = "tip"', "joints[2]", 'a bone with joint = "distal"'),
        (
            'name = "tip", joint = "distal"',
            'name = "tip", parent = "yoke", joint = "flexion"',
            "joints[1]",
            "branch",
        ),
        ("axis = [0.0, 0.0, 1.0]", "axis = [0.0, 0.0, 2.0]", "bones[0].axis", "length 1"),
        (
            "[5.0e-7, 3.5e-6, 3.5e-6, 0.0",
            "[5.0e-7, 3.5e-6, 9.5e-6, 0.0",
            "bones[1].inertia_kg_m2",
            "real body",
        ),
        (
            "[5.0e-7, 3.5e-6, 3.5e-6, 0.0, 0.0, 0.0]",
            "[5.0e-7, 3.5e-6, 3.5e-6]",
            "inertia_kg_m2[3]",
            "a number [kg m2]",
        ),
        (
            'joint = "distal", position',
            'joint = "distal", ratio = 0.0, position',
            "bones[2].ratio",
            "other than 0",
        ),
        ("mass_kg = 0.008", "mass_kg = 0.0", "bones[2].mass_kg", "> 0"),
        ('parent = "palm"', 'parent = "plam"', "fingers.finger.parent", "kind hinge or tree"),
    ],
)
def test_what_is_wrong_with_a_tree_is_refused_where_it_stands(
    old: str, new: str, key: str, words: str
) -> None:
    assert old in N_PLUS_ONE
    found = refusal(N_PLUS_ONE.replace(old, new, 1))
    assert any(p.key.endswith(key) and words in str(p) for p in found), [str(p) for p in found]
    assert all(p.line > 0 for p in found)


def a_wrist_with_fingers(fingers: int) -> str:
    rng = np.random.default_rng(0)
    tables, tendons = {"wrist": finger("palm", [joint("w")], [bone("carpals", rng, joint="w")])}, []
    tendons += pairs("wrist", [joint("w")])
    for f in range(fingers):
        joints = [joint(f"f{f}_{k}") for k in range(4)]
        tables[f"f{f}"] = finger(
            "wrist", joints, [bone(f"b{k}", rng, joint=j["name"]) for k, j in enumerate(joints)]
        )
        tendons += pairs(f"f{f}", joints)
    return hand_text(tables, tendons)


def test_more_joints_on_one_place_of_the_palm_than_the_plant_holds_are_refused_by_check() -> None:
    most = (BRANCH_JOINTS - 1) // 4
    model_of(parse_hand(a_wrist_with_fingers(most), "x.toml"))
    (problem,) = refusal(a_wrist_with_fingers(most + 1))
    assert "wrist" in problem.key and f"at most {BRANCH_JOINTS}" in problem.legal


def test_a_tendon_over_joints_of_what_carries_its_finger_needs_those_first() -> None:
    text = hand_text(
        {
            "finger": finger("wrist", [joint("a")], [bone("b", np.random.default_rng(0), joint="a")]),
            "wrist": finger("palm", [joint("w")], [bone("c", np.random.default_rng(1), joint="w")]),
        },
        pairs("finger", [joint("a")], {"w": 0.003}) + pairs("wrist", [joint("w")]),
    )
    assert any("above its own" in p.legal for p in refusal(text))
    over_others = text.replace("w = 0.003", "v = 0.003")
    assert any("of what carries it: a, w" in p.legal and p.key.endswith(".v") for p in refusal(over_others))


def test_roles_are_free_words_and_an_unknown_one_is_refused_at_the_motion(tmp_path) -> None:
    from hand.file import MotionFileError

    hand = parse_hand(N_PLUS_ONE.replace('role = "pip"', 'role = "curl"'), "x.toml")
    names, model = names_of(hand), model_of(hand)

    def moved(roles: str) -> RecordArray:
        file = tmp_path / "m.toml"
        sine = "sine = { mean = 5.0, amplitude = 2.0, frequency_hz = 0.5 }"
        track = f'[[tracks]]\nkind = "joint_deg"\nroles = {roles}\n{sine}\n'
        file.write_text('description = "x"\n' + track)
        return load_motion(file, names, model).head[0]

    assert moved('["curl"]')["n_channels"] == moved('["flexion", "dip"]')["n_channels"]
    with pytest.raises(
        MotionFileError, match=r"tracks\[0\]\.roles.*\"curll\".*abduction, flexion, curl"
    ) as caught:
        moved('["flexion", "curll"]')
    assert re.search("did you mean .?curl", str(caught.value))
    with pytest.raises(MotionFileError, match="no joint with the role dip"):
        moved('["dip"]')


def test_a_wrist_of_joints_moves_under_a_finger_whose_tendons_run_over_it(tmp_path) -> None:
    """What the wrist adds to the finger's tendons is taken off: kept, it would be tens of degrees."""
    file, over = tmp_path / "wrist.toml", 0.004
    file.write_text(a_wrist_under_a_finger(over))
    result = run_lockstep(str(file), motion="open_close", seconds=3.0)
    assert not result.in_fault, result.report["faults"]
    wrist_deg = np.degrees(result.frames["truth"]["joint_angle_rad"][:, 0])
    kept = float(np.sqrt(np.mean((over / 0.006 * wrist_deg) ** 2)))
    for name in ("a", "b"):
        assert result.report["estimate_error_deg"]["by_joint"][name] < 0.05 * kept


def test_a_wrist_is_held_against_tendons_of_what_it_carries() -> None:
    hand = parse_hand(a_wrist_under_a_finger(0.004), "x.toml")
    model, state, rng = model_of(hand), new(STATE), np.random.default_rng(0)
    state["tension_n"][0, :6] = tension = rng.uniform(5.0, 50.0, 6)
    pull = -sum(0.004 * sign * f for sign, f in zip((1, 1, -1, -1), tension[2:], strict=True))
    assert load_of_others_nm(model[0], state[0], 0, 0) == pytest.approx(-pull)
    assert model["finger_carried"][0, :2].tolist() == [0, 1]
    assert model["finger_loaded"][0, :2].tolist() == [1, 0]
