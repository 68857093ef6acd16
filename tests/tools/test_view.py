"""The page of a hand: its figure is the mechanics', colours and sentences say what the hand says."""

from __future__ import annotations

import io
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from hand.assembly.meshes import bodies_of
from hand.drawing import drawing_of
from hand.options import RunOptions
from hand.review.suspicions import suspicions
from mechanics.kinematics import fingertips
from mechanics.palm_angles import axes_of_palm
from mechanics.wrist import wrist_pose
from runtime.setup import read_hand
from signals.modes import MachineState
from telemetry.publish.messages import meta_names
from tools.cli import main
from tools.commands.measuring import both
from tools.commands.view import hear
from tools.view.banner import Told, as_message, told
from tools.view.bar import Bar
from tools.view.figure import Capsules, Figure


def figure_of(name: str):
    """A hand, and its figure on the page."""
    hand = read_hand(RunOptions(hand=name))
    meta = {"names": meta_names(hand.names), **drawing_of(hand)}
    return hand, Figure(meta)


def random_pose(hand, rng):
    """Joint and axis angles inside the hand's ranges."""
    m, n = hand.model[0], len(hand.names.joints)
    q = rng.uniform(m["joint_min_rad"][:n], m["joint_max_rad"][:n])
    axes = np.array([])
    if hand.names.axes:
        axes = np.array(axes_of_palm(hand.model, rng.uniform(-0.5, 0.5), rng.uniform(-0.3, 0.3)))
    return q, axes


@pytest.mark.parametrize("name", ["hasy", "finger_bench", "n_plus_one"])
def test_figures_tips_are_those_of_the_compiled_law(name):
    hand, figure = figure_of(name)
    rng, m = np.random.default_rng(1), hand.model[0]
    for _ in range(5):
        q, axes = random_pose(hand, rng)
        places = figure.places(
            dict(zip(hand.names.joints, q, strict=True)), dict(zip(hand.names.axes, axes, strict=True))
        )
        R, p = np.zeros_like(m["body_rotation"]), np.zeros_like(m["body_origin_m"])
        tips, turn, origin = np.zeros_like(m["finger_tip_m"]), np.eye(3), m["wrist_origin_m"].copy()
        padded = np.zeros(len(m["joint_min_rad"]))
        padded[: len(q)] = q
        fingertips(m, padded, R, p, tips)
        if len(axes):
            wrist_pose(m, *axes, turn, origin)
        for f, body in enumerate(figure.m.finger_tip_body):
            if body >= 0:
                seen = places.points(np.array(body), figure.m.finger_tip_m[f])
                assert np.allclose(seen, origin + turn @ tips[f], atol=1e-12), hand.names.fingers[f]


def test_the_palm_of_a_straight_wrist_reads_zero_and_follows_pitch_and_yaw():
    hand, figure = figure_of("hasy")
    neutral = dict(zip(hand.names.axes, figure.m.wrist_neutral_rad, strict=True))
    assert np.allclose(figure.palm_angles_rad(neutral), 0.0, atol=1e-9)
    for wanted in ((0.4, 0.0), (-0.3, 0.2)):
        axes = dict(zip(hand.names.axes, axes_of_palm(hand.model, *wanted), strict=True))
        assert np.allclose(figure.palm_angles_rad(axes), wanted, atol=1e-9)


@pytest.mark.parametrize("name", ["hasy", "finger_bench", "n_plus_one"])
def test_a_tendon_is_drawn_where_its_moment_arm_is(name):
    """The length of the drawn way changes with a joint as dh/dq says, where a point lies beside one axis."""
    hand, figure = figure_of(name)
    m, checked = figure.m, 0
    for t, line in figure.strands:
        for via in line[:-1]:
            if via.body < 1 or m.body_joint[via.body] < 0:
                continue
            arm = m.P_tj_m[t, m.body_joint[via.body]]
            beside = np.cross(via.at, (1.0, 0.0, 0.0)) @ m.body_axis[via.body]
            assert beside == pytest.approx(arm, abs=1e-12), (hand.names.tendons[t], via)
            checked += 1
    assert checked >= m.n_tendons // 2


@pytest.mark.parametrize("name", ["hasy", "orca_v2", "n_plus_one", "sdm"])
def test_every_tendon_is_drawn_and_goes_from_bone_to_bone_outwards(name):
    """A cable that closes several fingers branches; it does not go from a fingertip to the next finger."""
    hand, figure = figure_of(name)
    m, seen = figure.m, set()
    for t, line in figure.strands:
        for near, far in zip(line, line[1:], strict=False):
            body = far.body
            while body != near.body and body > 0:
                body = int(m.body_parent[body])
            assert body == near.body or near.body < 1, (hand.names.tendons[t], near, far)
        joints = {int(m.body_joint[via.body]) for via in line if via.body > 0}
        seen |= {(t, j) for j in joints if j >= 0 and m.P_tj_m[t, j] != 0.0}
    moved = {(int(t), int(j)) for t, j in zip(*np.nonzero(m.P_tj_m), strict=True)}
    assert {t for t, _ in figure.strands} == set(range(m.n_tendons))
    if name != "hasy" and name != "n_plus_one":  # there two axes may share a point
        assert seen == moved


def test_capsules_turn_x_into_their_direction():
    rng = np.random.default_rng(0)
    end = np.vstack((rng.normal(size=(40, 3)), (-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)))
    capsules = Capsules(np.zeros_like(end), end)
    w, x, y, z = capsules.turns.T
    along = np.column_stack((1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)))
    assert np.allclose(along * capsules.lengths[:, None], end, atol=1e-9)


def test_tendons_are_blue_when_slack_red_at_the_limit_grey_without_a_number():
    from tools.view.scene import tension_colours

    bands = np.tile((5.0, 60.0, 80.0), (4, 1))
    slack, inside, limit, none = tension_colours(np.array([0.0, 30.0, 90.0, np.nan]), bands).astype(int)
    assert slack[2] > slack[0] and slack[2] > slack[1]
    assert inside[1] > inside[0] and inside[1] > inside[2]
    assert limit[0] > 200 and limit[1] < 80
    assert len(set(none)) == 1


def _view(machine):
    return {"machine": int(machine)}


def test_silence_is_state_before_faults_and_faults_before_the_state():
    fault = {"finger": "index", "part": "index_4", "text": "index_4: broken <b>", "hint": "replace it"}
    health = {"latched": [fault, fault | {"text": "second"}], "lease": {"holder": "me"}}
    assert told(None, {}, 0.0, 0.5).kind == "gone"
    assert told(_view(MachineState.ACTIVE), health, 2.0, 0.5).kind == "gone"
    now = told(_view(MachineState.ACTIVE), health, 0.0, 0.5)
    assert (now.kind, now.text, now.hint, now.more) == ("fault", fault["text"], "replace it", ("second",))
    sent = as_message(now, "hasy", True)
    assert sent["text"] == "index_4: broken <b>" and sent["who"] == "commanded by me" and sent["stop"]
    assert not as_message(now, "hasy", False)["stop"]
    many = as_message(replace(now, more=tuple("abcdef")), "hasy", True)
    assert many["more"] == ["a", "b", "c", "and 3 more"]
    for state in MachineState:
        assert told(_view(state), {}, 0.0, 0.5).kind == state.name.lower()


def _with_meshes(tmp_path, side=""):
    """A hand file of a tree with a mesh of its first bone, and its text."""
    import trimesh

    block = trimesh.creation.box(extents=(30.0, 8.0, 6.0))
    block.apply_translation((15.0, 2.0, 0.0))
    block.export(tmp_path / "bone.stl")
    text = (files("configs") / "hands" / "n_plus_one.toml").read_text(encoding="utf-8")
    first = text.index("bones = [")
    row = text.index("}", text.index("name = ", first))
    place = "position_m = [0.0, 0.0, 0.002], rpy_deg = [90, 0, 0]"
    mesh = f', mesh = {{ file = "bone.stl", scale = 0.001, {place} }}'
    text = text[:row].rstrip().rstrip(",") + mesh + text[row:]
    hand = tmp_path / "meshed.toml"
    hand.write_text(side + text, encoding="utf-8")
    return hand


@pytest.mark.parametrize("side", ["", 'side = "left"\n'])
def test_a_mesh_stands_where_its_bone_is(tmp_path, side):
    """Its corners by the transformations of the hand file, written out; its faces look outwards."""
    hand, figure = figure_of(str(_with_meshes(tmp_path, side)))
    (shape,) = figure.shapes
    assert figure.missing == [] and hand.file.fingers and shape.finger == 0
    corners = np.array([(x, y, z) for x in (0.0, 0.03) for y in (-0.002, 0.006) for z in (-0.003, 0.003)])
    wanted = corners[:, (0, 2, 1)] * (1.0, -1.0, 1.0) + (0.0, 0.0, 0.002)  # 90 deg about x
    wanted = wanted * (1.0, -1.0, 1.0) if side else wanted
    ordered = lambda points: sorted(map(tuple, np.round(points, 9)))  # noqa: E731
    assert ordered(np.unique(shape.vertices.round(9), axis=0)) == ordered(wanted)
    a, b, c = (shape.vertices[shape.faces[:, k]] for k in range(3))
    assert np.einsum("ij,ij->i", np.cross(a, b), c).sum() / 6.0 == pytest.approx(30e-3 * 8e-3 * 6e-3)
    bones = np.array([bone.body for bone in figure.bones])
    assert np.all((figure.radii_m == 0.0) == (bones == shape.body)) and np.any(bones == shape.body)


@pytest.mark.parametrize("name", ["hasy", "orca_v2", "n_plus_one", "finger_bench", "sdm", "leap_v1"])
def test_bodies_of_a_file_come_as_the_model_has_them(name):
    hand = read_hand(RunOptions(hand=name))
    masses = [body.mass_kg for _, body in bodies_of(hand.file)]
    assert masses == hand.model["body_mass_kg"][0, : len(masses)].tolist()
    assert len(masses) == hand.model["n_bodies"][0]


def test_a_mesh_that_cannot_be_drawn_leaves_the_capsule_and_says_why(tmp_path):
    path = _with_meshes(tmp_path)
    (tmp_path / "bone.stl").unlink()
    hand, figure = figure_of(str(path))
    assert not figure.shapes and "bone.stl: there is no such file" in figure.missing[0]
    assert min(figure.radii_m) > 0.0
    (told,) = [s for s in suspicions(hand.file) if s.path[-2:] == ("mesh", "file")]
    assert told.line == 1 + path.read_text().split("mesh = {")[0].count("\n") and "bone.stl" in told.text
    (tmp_path / "bone.stl").write_bytes(b"solid nothing\n")
    assert "not a mesh that can be read" in figure_of(str(path))[1].missing[0]
    _with_meshes(tmp_path)
    path.write_text(path.read_text().replace("scale = 0.001", "scale = 1.0"))
    assert "30 m long" in figure_of(str(path))[1].missing[0]


def test_a_log_elsewhere_finds_its_meshes_beside_it(tmp_path):
    hand = read_hand(RunOptions(hand=str(_with_meshes(tmp_path))))
    other = tmp_path / "other"
    other.mkdir()
    assert drawing_of(hand, other)["meshes"][0]["file"] == str(tmp_path / "bone.stl")
    (other / "bone.stl").touch()
    assert drawing_of(hand, other)["meshes"][0]["file"] == str(other / "bone.stl")


def test_gears_are_not_drawn_as_tendons():
    hand, figure = figure_of("leap_v1")
    assert hand.names.tendons and not figure.strands


def test_the_bar_says_what_a_command_beside_does_with_the_hand(monkeypatch):
    """Every whole percent once, beside the hand's name."""
    lines, shares = [], []
    watch = both(shares.append, "identify springs", lines.append)
    for share in np.linspace(0.0, 1.0, 1001):
        watch(float(share))
    assert len(shares) == 1001 and lines == [f"identify springs {k} %" for k in range(101)]
    bar = Bar()
    bar.name("hasy")
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines[:42]) + "\n"))
    hear(bar)
    sent = []
    monkeypatch.setattr(
        "tools.view.bar.as_message", lambda state, hand, stoppable: sent.append((state, hand)) or {}
    )
    state_ = Told("active", "active", "")
    bar.tell(state_)
    assert sent.pop() == (state_, "hasy, identify springs 41 %")
    view = {"machine": int(MachineState.ACTIVE)}
    bar.tell(told(view, {}, 7.0, 1.0))
    silent, _ = sent.pop()
    assert silent.kind == "waiting" and silent.head == "between runs" and "7 s" in silent.text
    bar.use("")
    bar.tell(told(view, {}, 7.0, 1.0))
    assert sent.pop()[0].kind == "gone"


@pytest.mark.parametrize("words", [("identify", "springs"), ("calibrate", "wiring"), ("commission", "hasy")])
def test_simulated_time_cannot_be_followed_on_a_page(words, capsys):
    with pytest.raises(SystemExit) as done:
        main([*words, "--lockstep", "--view"])
    assert done.value.code == 2 and "leave --lockstep out" in capsys.readouterr().err
