"""A mechanism on the page: what a client is sent is where the mechanism's own law puts its parts."""

from __future__ import annotations

import numpy as np
import pytest

from hand.drawing import geometry_of, mechanism_of
from hand.mechanism_file import mechanism_hand_names
from hand.options import RunOptions
from mechanics.arm import dh_transform
from mechanics.carpal_geometry import CarpalError, pose_of_legs
from runtime.session import run_lockstep
from runtime.setup import read_hand
from sim.mechanisms.load import load_mechanism, shipped_mechanisms
from telemetry.publish.messages import meta_names, meta_units
from telemetry.record.reader import LogError, read_log
from tools.view.banner import Told
from tools.view.bar import Bar
from tools.view.mechanism import MechanismFigure, MechanismSource
from trials.recorded import recorded_hand

pytest.importorskip("viser")
from benchmarks.onlooker import Onlooker
from tools.view.page import Page
from tools.view.serve import make_server
from tools.view.source import LogSource


def _played(name, rows=40):
    loaded = load_mechanism(name)
    scenario, s = loaded.mechanism.scenario(None)
    run = loaded.mechanism.run(scenario, duration_s=min(s.duration_s, 0.2), rows=rows)
    return loaded, run, MechanismSource(loaded, scenario, run)


@pytest.mark.parametrize("name", shipped_mechanisms())
def test_parts_are_where_the_mechanisms_own_law_has_them_at_every_recorded_instant(name):
    loaded, run, source = _played(name)
    figure = MechanismFigure(source.meta)
    for at, q in list(zip(run.time_s, run.q, strict=True))[:: max(1, len(run.q) // 6)]:
        source.at_s = float(at)
        view = source.view
        seen = figure.capsules(figure.places(view["pos"], view["axis"]))
        lines = [line for _, line in loaded.mechanism.segments(q)]
        assert np.allclose(seen.start, np.concatenate([line[:-1] for line in lines]), atol=1e-9)
        assert np.allclose(seen.end, np.concatenate([line[1:] for line in lines]), atol=1e-9)
    assert len(figure.radii_m) == len(figure.colours) == len(seen.start)


def test_the_arms_hand_is_where_its_table_puts_it_and_the_wrists_tool_where_its_legs_do():
    loaded, run, source = _played("prosthesis_arm")
    figure, whole = MechanismFigure(source.meta), np.eye(4)
    for link, angle in zip(loaded.file.link, run.q[-1], strict=True):
        turn = angle + np.radians(link.offset_deg)
        whole = whole @ dh_transform(link.a_m, np.radians(link.alpha_deg), link.d_m, turn)
    at_end = dict(zip(run.system.dofs, run.q[-1], strict=True))
    assert np.allclose(figure.capsules(figure.places(at_end, {})).end[-1], whole[:3, 3], atol=1e-9)
    loaded, run, source = _played("carpal_wrist")
    figure, geometry = MechanismFigure(source.meta), loaded.file.geometry
    pose = pose_of_legs(geometry.joint_radius_m, geometry.leg_m, run.q[-1])
    tool = figure.capsules(figure.places(dict(zip(run.system.dofs, run.q[-1], strict=True)), {}))
    assert np.allclose(tool.start[-1], pose.D_m, atol=1e-9)
    assert np.allclose(tool.end[-1], pose.D_m + pose.R @ np.array(loaded.file.tool.com_m), atol=1e-9)


def test_a_sensors_error_beyond_every_pose_leaves_the_picture_as_it_was():
    loaded, run, source = _played("carpal_wrist")
    figure = MechanismFigure(source.meta)
    here, rng = (
        figure.places(dict(zip(run.system.dofs, run.q[-1], strict=True)), {}),
        np.random.default_rng(0),
    )
    none = next(q for q in rng.uniform(-3.0, 3.0, size=(1000, 3)) if not _exists(loaded, q))
    assert np.array_equal(figure.places(dict(zip(run.system.dofs, none, strict=True)), {}), here)


def _exists(loaded, q):
    try:
        return bool(loaded.mechanism.segments(q))
    except CarpalError:
        return False


def test_a_client_of_the_page_gets_the_moving_structure(port_base):
    loaded, run, source = _played("muscle_finger")
    source.playing = False
    bar = Bar()
    server = make_server(port_base, bar)
    try:
        page = Page(server, bar, source, None)
        with Onlooker(f"http://127.0.0.1:{server.get_port()}") as client:
            for k in (len(run.q) // 2, -1):
                source.at_s = float(run.time_s[k])
                page.turn()
                server.flush()
                lines = [line for _, line in loaded.mechanism.segments(run.q[k])]
                wanted = np.concatenate([line[:-1] for line in lines] + [line[1:] for line in lines])
                assert any(_is(client.nodes, wanted) for _ in client.look(5.0)), k
        assert client.labels >= {"Time [s]", "Play", "Repeat", "Speed", "Coordinates"}
    finally:
        server.stop()


class _Standing:
    """A hand that is a mechanism, at one pose."""

    def __init__(self, name):
        hand = read_hand(RunOptions(hand=name))
        self.mechanism, names = hand.mechanism, meta_names(hand.names)
        self.meta = {
            "hand": name, "names": names, "geometry": geometry_of(hand.model), "keys": meta_units(False),
            "mechanism": mechanism_of(hand.mechanism), "finger_of_joint": dict.fromkeys(names["joint"], name),
        }  # fmt: skip
        self.at_s, self.q = 0.0, 0.1 + 0.05 * np.arange(len(names["joint"]))
        self.told, self.faults = Told("active", "active", "The hand follows its goal."), []

    def take(self):
        self.at_s += 0.1

    @property
    def view(self):
        found = {k: dict.fromkeys(self.meta["names"]["motor"], 0.0) for k in ("torque", "current", "temp")}
        found |= {k: dict(zip(self.meta["names"]["joint"], self.q, strict=True)) for k in ("pos", "cmd")}
        found |= {k: dict.fromkeys(self.meta["names"]["joint"], 0.0) for k in ("vel", "track")}
        tension = dict.fromkeys(self.meta["names"]["tendon"], 0.0)
        return found | {"timestamp": self.at_s, "axis": {}, "tension": tension}


@pytest.mark.parametrize("name", mechanism_hand_names())
def test_a_mechanism_as_a_hand_is_drawn_at_its_home_and_its_angles(name, port_base):
    source = _Standing(name)
    bar = Bar()
    server = make_server(port_base, bar)
    try:
        page = Page(server, bar, source, None)
        for _ in range(3):
            page.turn()
            page._curves.draw()
        figure = page.scene.figure
        seen = figure.capsules(figure.places(source.view["pos"], {}))
        mechanism = load_mechanism(source.mechanism.file.mechanism).mechanism
        lines = [line for _, line in mechanism.segments(source.mechanism.coordinates(source.q, np.zeros(2)))]
        assert np.allclose(seen.end, np.concatenate([line[1:] for line in lines]), atol=1e-9)
    finally:
        server.stop()


MOTIONS = {
    "carpal_wrist": ("carpal_circle", 1.5), "prosthesis_arm": ("arm_reach", 1.5),
    "muscle_finger": ("muscle_close", 8.0),
    "hand_on_arm": ("reach_and_close", 1.8), "hand_on_carpal": ("nod_and_close", 0.8),
}  # fmt: skip
"""Motion and time in which something moves: a muscle has to get warm first."""


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", mechanism_hand_names())
def test_a_log_of_a_mechanism_as_a_hand_plays(name, tmp_path, port_base):
    """Parts go where the mechanism's own law has them at the angles of the log; the first look holds all."""
    path, (motion, seconds) = tmp_path / "a.mcap", MOTIONS[name]
    run_lockstep(name, motion=motion, seconds=seconds, every=0, record=path)
    source, log, mechanism = LogSource(path), read_log(path), load_mechanism(name).mechanism
    hand, state = read_hand(RunOptions(hand=name)), log.frames["state"]
    angles = state["joint_angle_rad"][:, : len(hand.names.joints)].astype(float)
    axes = state["axis_angle_rad"].astype(float) if hand.names.axes else np.zeros((len(angles), 0))
    poses = hand.mechanism.coordinates(angles, axes)
    assert np.ptp(angles, axis=0).max() > np.radians(2.0), "it moves"
    bar = Bar()
    server = make_server(port_base, bar)
    try:
        page = Page(server, bar, source, None)
        figure, source.playing = page.scene.figure, False
        for k in (1, len(angles) // 2, len(angles) - 1):
            source.at_s = float(source._times[k])
            page.turn()
            seen = figure.capsules(figure.places(source.view["pos"], source.view["axis"]))
            lines = [line for _, line in mechanism.segments(poses[k])]
            assert np.allclose(seen.end, np.concatenate([line[1:] for line in lines]), atol=1e-9)
            page._curves.draw()
        low, high = figure.reach().min(axis=0), figure.reach().max(axis=0)
        slack = 0.1 * float((high - low).max())
        assert np.all(seen.end > low - slack) and np.all(seen.end < high + slack)
        assert source.told.kind == "log" and page._player is not None
    finally:
        server.stop()


def test_a_log_without_its_hand_file_is_refused_by_name(tmp_path):
    log = tmp_path / "a.mcap"
    run_lockstep("carpal_wrist", motion="carpal_circle", seconds=0.05, every=0, record=log)
    whole = read_log(log)
    whole.attachments.clear()
    with pytest.raises(LogError, match="does not hold its options and its hand file"):
        recorded_hand(log, whole)


def _is(nodes, wanted):
    balls = nodes.get("/hand/balls", {}).get("batched_positions")
    return balls is not None and np.allclose(np.reshape(balls, (-1, 3)), wanted, atol=1e-5)


def test_what_is_played_repeats_or_stands_at_its_end():
    *_, source = _played("y_tree")
    source.at_s = source.seconds + 0.01
    source.take()
    assert source.at_s == 0.0
    source.repeat, source.at_s = False, source.seconds + 0.01
    source.take()
    source.take()
    assert source.at_s == source.seconds
