"""Motions: smooth, inside their limits, from the measured pose on; wrong ones refused by name, line, time."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.runtime import _nrt_python, rtsys

from controllers.motion import ChannelKind, motion_goal
from hand.assembly.assemble import model_of, names_of
from hand.file import load_hand
from hand.file.errors import MotionFileError, Problem
from hand.motion.channels import through
from hand.motion.load import Motion, load_motion, parse_motion, shipped_motions
from hand.motion.trajectory import trajectory_channels
from mechanics.palm_angles import palm_angles
from signals.modes import Mode
from signals.records import GOAL, STATE, RecordArray, new

HANDS = {name: load_hand(name) for name in ("finger_bench", "hasy")}
MODELS = {name: model_of(hand) for name, hand in HANDS.items()}
NAMES = {name: names_of(hand) for name, hand in HANDS.items()}
WHOLE_HAND = ("grasp", "thumb_opposition", *(n for n in shipped_motions() if n.startswith("wrist_")))
FIELDS = {
    "joint_angle_rad": "joint_speed_rad_s",
    "tendon_force_n": "tendon_force_rate_n_s",
    "motor_angle_rad": "motor_speed_rad_s",
    "axis_angle_rad": "axis_speed_rad_s",
}
CASES = [
    (hand, motion)
    for hand in HANDS
    for motion in shipped_motions()
    if hand == "hasy" or motion not in WHOLE_HAND
]
every = pytest.mark.parametrize(("hand", "motion"), CASES)
STEPS = ("step", "tension_step")


def load(hand: str, motion: str, mode: Mode | None = None) -> Motion:
    return load_motion(motion, NAMES[hand], MODELS[hand], mode)


def goal_at(motion: Motion, time_s: float) -> RecordArray:
    goal = new(GOAL)
    motion.write(time_s, goal)
    return goal


def some_state(hand: str) -> RecordArray:
    state, m = new(STATE), MODELS[hand][0]
    rng = np.random.default_rng(1)
    state["joint_angle_rad"][0, : m["n_joints"]] = rng.uniform(0.05, 0.2, int(m["n_joints"]))
    state["tension_n"][0, : m["n_tendons"]] = rng.uniform(15.0, 25.0, int(m["n_tendons"]))
    state["motor_angle_rad"][0, : m["n_motors"]] = rng.uniform(-0.5, 0.5, int(m["n_motors"]))
    state["axis_angle_rad"][0] = m["wrist_neutral_rad"] + 0.05 * (m["n_axes"] > 0)
    return state


@every
def test_speeds_and_rates_are_the_derivatives_of_their_goals(hand: str, motion: str) -> None:
    loaded = load(hand, motion)
    loaded.bind(some_state(hand))
    goal_at(loaded, 0.0)
    h = 1e-6
    for time_s in np.linspace(0.013, 6.0, 60):
        if motion in STEPS and abs(time_s * 200 - round(time_s * 200)) < 0.02:
            continue
        before, now, after = (goal_at(loaded, t)[0] for t in (time_s - h, time_s, time_s + h))
        for value, slope in FIELDS.items():
            scale = max(1.0, float(np.abs(now[slope]).max()))
            error = (after[value] - before[value]) / (2 * h) - now[slope]
            assert np.abs(error).max() < 1e-4 * scale, (value, time_s)


@every
def test_goals_stay_inside_the_limits_of_the_hand(hand: str, motion: str) -> None:
    loaded, m = load(hand, motion), MODELS[hand][0]
    n = int(m["n_joints"])
    for time_s in np.arange(0.0, loaded.duration_s + 1.5, 0.0037):
        goal = goal_at(loaded, float(time_s))[0]
        q = goal["joint_angle_rad"][:n]
        assert (q >= m["joint_min_rad"][:n] - 1e-9).all() and (q <= m["joint_max_rad"][:n] + 1e-9).all()
        assert (goal["axis_angle_rad"] <= m["axis_max_rad"] + 1e-9).all()
        assert (goal["axis_angle_rad"] >= m["axis_min_rad"] - 1e-9).all()
        assert (goal["tendon_force_n"] <= m["tension_max_n"] + 1e-9).all()
        assert np.isfinite(goal["joint_speed_rad_s"]).all()


@every
def test_a_motion_starts_at_rest_in_the_measured_pose_and_is_its_own_after_the_blend(
    hand: str, motion: str
) -> None:
    state = some_state(hand)
    loaded, free = load(hand, motion), load(hand, motion)
    loaded.bind(state)
    start = goal_at(loaded, 0.0)[0].copy()
    near = goal_at(loaded, 1e-3)[0]
    head = loaded.head[0]
    measured = {
        ChannelKind.JOINT_ANGLE: ("joint_angle_rad", "joint_angle_rad"),
        ChannelKind.TENDON_FORCE: ("tendon_force_n", "tension_n"),
        ChannelKind.MOTOR_ANGLE: ("motor_angle_rad", "motor_angle_rad"),
        ChannelKind.AXIS_ANGLE: ("axis_angle_rad", "axis_angle_rad"),
    }
    for c in range(int(head["n_channels"])):
        wanted, found = measured[ChannelKind(int(head["kind"][c]))]
        i = int(head["index"][c])
        assert start[wanted][i] == state[found][0, i]
        assert start[FIELDS[wanted]][i] == 0.0
        assert abs(near[wanted][i] - start[wanted][i]) < 1e-4 * max(1.0, abs(start[wanted][i]))
    late, of_itself = goal_at(loaded, 2.345)[0], goal_at(free, 2.345)[0]
    for value in ("joint_angle_rad", "tendon_force_n", "axis_angle_rad"):
        np.testing.assert_allclose(late[value], of_itself[value], atol=1e-12)


@every
def test_the_blend_is_smooth_and_ends_before_runs_are_scored(hand: str, motion: str) -> None:
    """No speed during the start exceeds what the motion and a 0.8 s move from the start pose add up to."""
    loaded = load(hand, motion)
    state = some_state(hand)
    loaded.bind(state)
    goal_at(loaded, 0.0)
    assert float(loaded.head["blend_s"][0]) <= 0.9
    times = np.arange(0.0, 1.0, 1e-3)
    angles = np.array([goal_at(loaded, t)["joint_angle_rad"][0].copy() for t in times])
    assert np.abs(np.diff(angles, axis=0)).max() < 1e-3 * 6.0


@numba.njit(nogil=True)
def many_goals(head, values, slopes, model, count, goal):  # type: ignore[no-untyped-def]
    for k in range(count):
        motion_goal(head, values, slopes, model, k * 0.01, goal)


@every
def test_a_goal_is_written_without_allocation(hand: str, motion: str) -> None:
    """Numba wraps the arguments of a call from Python; what a thousand goals add to that must be nothing."""
    loaded, goal = load(hand, motion), new(GOAL)
    arguments = (loaded.head, loaded.values, loaded.slopes, loaded.model)
    many_goals(*arguments, 1, goal)
    _nrt_python.memsys_enable_stats()
    taken = []
    for count in (1, 1000):
        before = rtsys.get_allocation_stats()
        many_goals(*arguments, count, goal)
        taken.append(rtsys.get_allocation_stats().alloc - before.alloc)
    assert taken[0] == taken[1]


def test_open_close_is_the_sine_of_its_file() -> None:
    loaded, names = load("finger_bench", "open_close"), NAMES["finger_bench"]
    for time_s in np.linspace(1.0, 9.0, 97):
        q_deg = np.degrees(goal_at(loaded, time_s)["joint_angle_rad"][0])
        flexion = 25.5 - 24.5 * math.cos(2 * math.pi * 0.5 * time_s)
        for joint in ("index_flexion", "index_pip", "index_dip"):
            assert q_deg[names.joints.index(joint)] == pytest.approx(flexion, abs=1e-5)
        assert q_deg[0] == pytest.approx(8.0 * math.sin(2 * math.pi * 0.35 * time_s), abs=1e-5)


def test_force_sine_is_20_plus_minus_10_newton_on_every_tendon_of_the_hand() -> None:
    loaded = load("hasy", "force_sine")
    forces = np.array(
        [goal_at(loaded, t)["tendon_force_n"][0, :38].copy() for t in np.arange(1.0, 2.0, 0.01)]
    )
    np.testing.assert_allclose(forces, forces[:, :1] * np.ones(38))
    assert (forces.min(), forces.max()) == pytest.approx((10.0, 30.0))
    assert (loaded.head["finger_mode"][0, :6] == Mode.TENDON_FORCE).all()


def test_constant_speed_turns_one_motor_for_ever_and_says_which_tendon_is_off() -> None:
    loaded, names = load("finger_bench", "constant_speed"), NAMES["finger_bench"]
    state = some_state("finger_bench")
    loaded.bind(state)
    goal_at(loaded, 0.0)
    motor = names.motors.index("m_index_1")
    assert loaded.tendons_off == (names.tendons.index("index_1"),)
    for time_s in (1.0, 7.25, 1000.5):
        goal = goal_at(loaded, time_s)[0]
        travelled = goal["motor_angle_rad"][:8] - state["motor_angle_rad"][0, :8]
        assert travelled[motor] == pytest.approx(time_s, abs=1e-9)
        assert np.delete(travelled, motor) == pytest.approx(np.zeros(7))
        assert goal["motor_speed_rad_s"][motor] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("motion", "pitch_deg", "yaw_deg"), [("wrist_pitch", 30.0, 0.0), ("wrist_yaw", 0.0, 10.0)]
)
def test_wrist_motions_move_the_palm_as_they_say(motion: str, pitch_deg: float, yaw_deg: float) -> None:
    loaded, model = load("hasy", motion), MODELS["hasy"]
    for time_s in np.linspace(1.0, 3.0, 41):
        q71, q73 = goal_at(loaded, time_s)["axis_angle_rad"][0]
        pitch, yaw = np.degrees(palm_angles(model, q71, q73))
        share = math.sin(2 * math.pi * 0.5 * time_s)
        assert pitch == pytest.approx(pitch_deg * share, abs=1e-4)
        assert yaw == pytest.approx(yaw_deg * share, abs=1e-4)


def test_fingers_hold_in_the_mode_that_is_asked_for() -> None:
    loaded = load("hasy", "wrist_pitch", Mode.MOTOR_POSITION)
    state = some_state("hasy")
    loaded.bind(state)
    goal_at(loaded, 0.0)
    goal = goal_at(loaded, 2.3)[0]
    assert (goal["finger_mode"][:6] == Mode.MOTOR_POSITION).all()
    np.testing.assert_allclose(goal["motor_angle_rad"][:38], state["motor_angle_rad"][0, :38])
    assert (load("hasy", "wrist_pitch").head["finger_mode"][0, :6] == Mode.JOINT_IMPEDANCE).all()


def test_a_motion_that_runs_changes_no_other_of_its_file() -> None:
    """What is checked is kept; where a motion starts is its own."""
    first, fresh = load("hasy", "open_close"), load("hasy", "open_close")
    first.bind(some_state("hasy"))
    goal_at(first, 0.0)
    assert first.head.tobytes() != fresh.head.tobytes()
    assert load("hasy", "open_close").head.tobytes() == fresh.head.tobytes()


def test_the_same_text_on_another_model_is_checked_anew() -> None:
    names, model = NAMES["hasy"], MODELS["hasy"].copy()
    load("hasy", "open_close")
    model["joint_max_rad"] = 0.1
    with pytest.raises(MotionFileError, match="legal"):
        load_motion("open_close", names, model)


def test_gains_and_pretension_come_from_the_model() -> None:
    model = model_of(HANDS["finger_bench"], pretension_n=60.0)
    goal = goal_at(load_motion("hold", NAMES["finger_bench"], model), 1.0)[0]
    assert goal["pretension_n"][0] == 60.0
    np.testing.assert_array_equal(goal["joint_impedance_nm_rad"], model["joint_impedance_nm_rad"][0])
    np.testing.assert_array_equal(goal["joint_damping_nms_rad"], model["joint_damping_nms_rad"][0])


def test_steps_hold_between_their_times() -> None:
    loaded, names = load("finger_bench", "step"), NAMES["finger_bench"]
    pip = names.joints.index("index_pip")
    values = [
        np.degrees(goal_at(loaded, t)["joint_angle_rad"][0, pip]) for t in (2.9, 3.001, 3.49, 3.51, 8.1)
    ]
    assert values == pytest.approx([10.0, 25.0, 25.0, 10.0, 25.0])


HEAD = 'description = "test"\n'


def refused(text: str, hand: str = "finger_bench") -> tuple[Problem, ...]:
    with pytest.raises(MotionFileError) as caught:
        parse_motion(HEAD + text, "m.toml", "m", NAMES[hand], MODELS[hand])
    return caught.value.problems


def track(kind: str = "joint_deg", names: str = '["index_pip"]', shape: str = "") -> str:
    shape = shape or "sine = { mean = 10.0, amplitude = 5.0, frequency_hz = 1.0 }"
    return f'[[tracks]]\nkind = "{kind}"\nnames = {names}\n{shape}\n'


@pytest.mark.parametrize(
    ("text", "line", "piece"),
    [
        (track(names='["index_pib"]'), 4, "did you mean 'index_pip'"),
        (track(names='["m*"]'), 4, "a joint of the hand: index_abduction"),
        (track(kind="joint_rad"), 3, "one of joint_deg"),
        (track(shape="sine = { mean = 10.0, amplitude = 5.0, frequenzy_hz = 1.0 }"), 5, "frequency_hz"),
        (track(shape="sine = { mean = 10.0, amplitude = 5.0, frequency_hz = 0.0 }"), 5, "> 0"),
        (track(shape="sine = { mean = nan, amplitude = 5.0, frequency_hz = 1.0 }"), 5, "finite"),
        (track(shape="steps = { times_s = [0.0, 1.0], values = [0.0] }"), 5, "as many values"),
        (track(shape="points = { times_s = [1.0, 0.0], values = [0.0, 1.0] }"), 5, "times that rise"),
        (track(shape="ramp = { rate = 1.0 }\nsteps = { times_s = [0.0], values = [0.0] }"), 2, "exactly one"),
        (track(kind="tendon_n", names='["index_1"]'), 2, "mode tendon_force"),
        ('tendons_off = ["index_9"]\ntracks = []\n', 2, "a tendon of the hand"),
        ('mode = "joint_impedence"\ntracks = []\n', 2, "did you mean 'joint_impedance'"),
        ('tracks = []\n[modes]\nindx = "off"\n', 4, "did you mean 'index'"),
        ("blend = 0.5\ntracks = []\n", 2, "did you mean 'blend_s'"),
    ],
)
def test_a_wrong_motion_is_refused_with_its_line(text: str, line: int, piece: str) -> None:
    problems = refused(text)
    assert any(p.line == line and piece in str(p) for p in problems), "\n".join(map(str, problems))


def test_a_joint_out_of_its_range_is_named_with_the_time() -> None:
    shape = "points = { times_s = [0.0, 2.0], values = [0.0, 120.0] }"
    (problem,) = refused(track(shape=shape))
    assert problem.line == 2 and "index_pip at 100" in problem.found and "after 1.40 s" in problem.found
    assert problem.legal == "0.0 to 100.0 deg"


def test_a_tension_out_of_its_range_and_a_motor_too_fast_are_refused() -> None:
    force = 'mode = "tendon_force"\n' + track(
        "tendon_n", '["*"]', "sine = { mean = 20.0, amplitude = 18.0, frequency_hz = 1.0 }"
    )
    problems = refused(force)
    assert len(problems) == 8 and all("N after" in p.found for p in problems)
    fast = 'mode = "motor_position"\n' + track("motor_rad", '["m_index_1"]', "ramp = { rate = 20.0 }")
    (problem,) = refused(fast)
    assert "20.0 rad/s" in problem.found and "14.1" in problem.legal


def test_a_palm_out_of_reach_and_a_palm_that_is_not_there_are_refused() -> None:
    wide = (
        '[[tracks]]\nkind = "palm_pitch_deg"\nsine = { mean = 0.0, amplitude = 60.0, frequency_hz = 0.5 }\n'
    )
    assert any("wrist_flexion" in p.found or "palm pitch" in p.found for p in refused(wide, "hasy"))
    (problem,) = refused(wide)
    assert problem.legal == "a hand with a wrist"
    apart = wide.replace("60.0", "6.0") + wide.replace("pitch", "yaw").replace("60.0", "6.0").replace(
        "0.5", "0.3"
    )
    (problem,) = refused(apart, "hasy")
    assert "repeat apart" in problem.found


def test_motions_of_the_whole_hand_are_refused_by_the_bench() -> None:
    for motion in WHOLE_HAND:
        with pytest.raises(MotionFileError):
            load("finger_bench", motion)
    with pytest.raises(MotionFileError, match="did you mean 'open_close'"):
        load("finger_bench", "open_clse")


def csv(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "trajectory.csv"
    file.write_text(text)
    return file


def test_a_trajectory_passes_its_samples_and_rests_at_its_end(tmp_path: Path) -> None:
    rows = [(0.0, 0.0, 0.0), (1.5, 20.0, 0.1), (2.5, 5.0, 0.3), (4.0, 40.0, 0.3)]
    text = "time_s, index_pip_deg, index_flexion_rad\n" + "\n".join(",".join(map(str, r)) for r in rows)
    file = csv(tmp_path, text)
    names = NAMES["finger_bench"]
    loaded = load_motion(file, names, MODELS["finger_bench"])
    for time_s, pip, flexion in (*rows[1:], (9.0, *rows[-1][1:])):
        goal = goal_at(loaded, time_s)[0]
        assert np.degrees(goal["joint_angle_rad"][names.joints.index("index_pip")]) == pytest.approx(
            pip, abs=0.01
        )
        assert goal["joint_angle_rad"][names.joints.index("index_flexion")] == pytest.approx(
            flexion, abs=1e-4
        )
    assert not goal_at(loaded, 9.0)["joint_speed_rad_s"].any()


@pytest.mark.parametrize(
    ("text", "line", "column", "piece"),
    [
        ("", 0, 0, "empty file"),
        ("t,index_pip_deg\n0,1\n", 1, 1, "time_s"),
        ("time_s,index_pib_deg\n0,1\n", 1, 2, "did you mean 'index_pip_deg'"),
        ("time_s,index_pip\n0,1\n", 1, 2, "_deg or _rad"),
        ("time_s,index_pip_deg,index_pip_rad\n0,1,1\n", 1, 3, "a second time"),
        ("time_s,index_pip_deg\n0,1\n1,x\n", 3, 2, '"x"'),
        ("time_s,index_pip_deg\n0,1\n1,nan\n", 3, 2, "a finite number"),
        ("time_s,index_pip_deg\n0,1\n1,\n", 3, 2, "nothing"),
        ("time_s,index_pip_deg\n0,1\n1,2,3\n", 3, 3, "3 columns"),
        ("time_s,index_pip_deg\n0,1\n\n0,2\n", 4, 1, "times that rise"),
        ("time_s,index_pip_deg\n-1,1\n", 2, 1, "times from 0 on"),
        ("time_s,index_pip_deg\n", 1, 0, "no rows"),
        ("time_s\n0\n", 1, 2, "no joint"),
        ("time_s,index_pip_deg\n0,1\n1,130\n", 0, 0, "index_pip at 100"),
    ],
)
def test_a_wrong_trajectory_is_refused_with_line_and_column(
    text: str, line: int, column: int, piece: str, tmp_path: Path
) -> None:
    with pytest.raises(MotionFileError) as caught:
        load_motion(csv(tmp_path, text), NAMES["finger_bench"], MODELS["finger_bench"])
    assert any((p.line, p.column) == (line, column) and piece in str(p) for p in caught.value.problems), (
        caught.value
    )


samples = st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(-1.0, 1.0)), min_size=2, max_size=8)


@given(samples)
def test_the_curve_through_samples_never_leaves_the_range_of_its_neighbours(
    steps: list[tuple[float, float]],
) -> None:
    times = np.cumsum([s[0] for s in steps]) - steps[0][0]
    values = np.array([s[1] for s in steps])
    table = through(times, values)
    k = np.clip(np.searchsorted(times, table.times_s, side="right") - 1, 0, len(times) - 2)
    low, high = np.minimum(values[k], values[k + 1]), np.maximum(values[k], values[k + 1])
    assert (table.values >= low - 1e-12).all() and (table.values <= high + 1e-12).all()


def test_the_compiled_goal_can_be_called_as_the_contract_says() -> None:
    loaded, goal = load("hasy", "finger_wave"), new(GOAL)
    motion_goal(loaded.head, loaded.values, loaded.slopes, MODELS["hasy"], 3.0, goal)
    assert goal["time_ns"][0] == 0 and goal["joint_angle_rad"].any()


@given(st.data())
def test_whatever_happens_to_a_motion_file_it_is_a_motion_or_refused(data: st.DataObject) -> None:
    files = sorted(Path(HANDS["hasy"].path).parents[1].glob("motions/*.toml"))
    text = data.draw(st.sampled_from(files)).read_text()
    for _ in range(data.draw(st.integers(1, 3))):
        start, to = (data.draw(st.integers(0, len(text))) for _ in range(2))
        piece = text[start : start + data.draw(st.sampled_from([1, 3, 20, 100]))]
        if data.draw(st.booleans()):
            text = text[:start] + text[start + len(piece) :]
        text = text[:to] + piece + text[to:]
    try:
        motion = parse_motion(text, "m.toml", "m", NAMES["finger_bench"], MODELS["finger_bench"])
    except MotionFileError as error:
        assert error.problems and all(0 <= p.line <= text.count("\n") + 1 for p in error.problems)
    else:
        assert np.isfinite(motion.values).all() and np.isfinite(motion.slopes).all()


@given(st.text("time_s,index_pip_deg\n0123.-+e \t;", max_size=60))
def test_whatever_stands_in_a_trajectory_it_is_one_or_refused(rest: str) -> None:
    for text in (rest, "time_s,index_pip_deg\n" + rest):
        try:
            channels = trajectory_channels(text, "t.csv", NAMES["finger_bench"])
        except MotionFileError as error:
            assert error.problems and all(0 <= p.line <= text.count("\n") + 1 for p in error.problems)
        else:
            for table in channels.values():
                assert np.isfinite(table.values).all() and (np.diff(table.times_s) > 0.0).all()


def test_the_page_about_motions_names_them_all() -> None:
    page = (Path(__file__).parents[2] / "docs" / "motions.md").read_text()
    assert [m for m in shipped_motions() if f"`{m}`" not in page] == []


def thumb(abduction_deg: float, flexion_deg: float) -> str:
    points = "points = {{ times_s = [0.0, 2.0], values = [0.0, {}] }}"
    return track(names='["thumb_abduction"]', shape=points.format(float(abduction_deg))) + track(
        names='["thumb_flexion"]', shape=points.format(float(flexion_deg))
    )


def test_a_thumb_where_no_tensions_balance_is_refused_with_pose_and_time() -> None:
    (problem,) = refused(thumb(-33.0, 40.0), "hasy")
    assert re.search(r"thumb_abduction -\d+, thumb_flexion \d+ deg after 1\.\d\d s", problem.found)
    parse_motion(HEAD + thumb(-15.0, 25.0), "m.toml", "m", NAMES["hasy"], MODELS["hasy"])
