"""A finger that moves fast ends its joints' ranges sooner, and for how long."""

from __future__ import annotations

import math
import tomllib

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from guard.envelope import AT_STOP_1_S, BACK_1_S, LED_BACK, LED_BACK_RAD, NO_LIMIT, kept_rad, note_turns
from guard.paths import MOST_UNREST, REST_S, motor_paths
from guard.tension_checks import TAUT_S
from hand.assembly.pace import CARE_RAD
from signals.modes import FingerKind, MachineState, Request
from tests.rigs.bare import Bare
from tests.rigs.desk import Desk, model_record
from tests.rigs.moving import JOINT_RANGE, Moving
from tests.rigs.mutations import HANDS

PLACES = st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4).map(np.array)
WAYS = st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4).map(np.array)


def at(place: np.ndarray, speed_rad_s: np.ndarray, careful: bool, shorter_rad: np.ndarray) -> Moving:
    """A finger there and as fast, its range shorter by so much at both ends."""
    bench = Moving(careful)
    bench.s["joint_angle_rad"][:4] = bench.low + place * (bench.high - bench.low)
    bench.m["joint_min_rad"][:4] += shorter_rad
    bench.m["joint_max_rad"][:4] -= shorter_rad
    bench.turn(speed_rad_s)
    return bench


def as_fast_as(share: float, way: np.ndarray) -> np.ndarray:
    """Speeds of the joints that wind the fastest path with that share of ``unrest_speed_m_s``."""
    bench = Moving()
    return way * share * float(bench.m["unrest_speed_m_s"]) / float(np.abs(bench.P @ way).max())


@given(PLACES, WAYS, st.floats(0.0, 3.0), st.booleans())
def test_a_fast_finger_has_the_margins_of_a_shorter_range(
    place: np.ndarray, way: np.ndarray, share: float, led: bool
) -> None:
    """By nothing up to the speed of unrest, by all that is kept at that way from twice that speed on."""
    assume(np.abs(way).max() > 0.01)
    speed = as_fast_as(share, way)
    fast = at(place, speed, True, np.zeros(4))
    fast.s["finger_state"][0] = int(MachineState.ACTIVE if led else MachineState.HOLDING)
    passed = float(fast.m["stop_speed_rad_s"]) / BACK_1_S if led else NO_LIMIT
    taken = fast.m["joint_care_rad"][:4] * min(max(share - 1.0, 0.0), 1.0)
    q = fast.s["joint_angle_rad"][:4]
    nearest = np.minimum(fast.high - q, q - fast.low)
    care = np.array([kept_rad(w, c, passed) for w, c in zip(nearest, taken, strict=True)])
    shorter = at(place, speed, False, care)
    shorter.m["joint_noise_rad_s"] = fast.m["joint_noise_rad_s"] = 0.0  # noise goes by the stop itself
    fast.look()
    shorter.look()
    for one, other in zip(fast.margins(), shorter.margins(), strict=True):
        assert one == pytest.approx(other, abs=1e-6)
    assert fast.mem["inside"][0] == 1, "its range is as long as ever"


@given(st.floats(-0.1, 1.0), st.floats(-0.1, 1.0), st.floats(0.0, 0.1))
def test_a_joint_is_kept_near_its_stop_and_free_far_from_it(one: float, other: float, care: float) -> None:
    """And the closer it is to its stop, the less way it is allowed, without a step."""
    near, far = min(one, other), max(one, other)
    kept = [kept_rad(way, care, NO_LIMIT) for way in (near, far)]
    assert kept_rad(care, care, NO_LIMIT) == pytest.approx(care)
    assert kept_rad(3.0 * care, care, NO_LIMIT) == pytest.approx(0.0, abs=1e-12)
    assert 0.0 <= kept[1] <= kept[0] <= care
    assert near - kept[0] <= far - kept[1] + 1e-12
    assert kept[0] - kept[1] <= 0.5 * (far - near) + 1e-12


@given(st.floats(-0.1, 1.0), st.floats(-0.1, 1.0), st.floats(0.0, 0.1), st.floats(0.0, 0.1))
def test_one_that_is_too_close_is_led_back_the_faster_the_closer_it_is(
    one: float, other: float, care: float, passed: float
) -> None:
    """Without a step, by so much at most; the law of the way alone lets it stay where it may pass its end."""
    near, far = min(one, other), max(one, other)
    more = [kept_rad(way, care, passed) - kept_rad(way, care, NO_LIMIT) for way in (near, far)]
    assert 0.0 <= more[1] <= more[0] + 1e-12 and more[0] <= LED_BACK_RAD + 1e-12
    assert more[0] - more[1] <= LED_BACK * (far - near) + 1e-12
    for way, led in zip((near, far), more, strict=True):
        assert (led > 1e-12) is (care - max(way, 0.0) - passed > 1e-12 / LED_BACK)


def test_how_far_it_is_kept_and_led_back_as_the_decision_says() -> None:
    """Half of the care at twice its way; 0.5 rad/s more at most, six times the way that lacks (050)."""
    care, passed = 0.07, 0.03
    assert kept_rad(2.0 * care, care, passed) == pytest.approx(0.5 * care)
    assert kept_rad(0.035, care, passed) == pytest.approx(care + 6.0 * 0.005)
    assert BACK_1_S * (kept_rad(0.0, care, passed) - care) == pytest.approx(0.5)


@pytest.mark.parametrize("careful", [True, False])
def test_near_its_stop_is_where_care_or_more_noise_begins(careful: bool) -> None:
    """Short cuts ask by it: beyond it neither counts, just before it one of them does."""
    bench = Moving(careful)
    bench.mem["near_rad"] = 0.0
    note_turns(bench.m, bench.mem)
    calm = float(bench.m["joint_noise_rad_s"])
    for j in range(4):
        near, care = float(bench.mem["near_rad"][j]), float(bench.m["joint_care_rad"][j])
        assert near > 0.0
        noise = [2.0 * calm - AT_STOP_1_S * share * near for share in (0.99, 1.0)]
        kept = [kept_rad(share * near, care, NO_LIMIT) for share in (0.99, 1.0)]
        assert noise[1] <= calm * (1.0 + 1e-9) and kept[1] == pytest.approx(0.0, abs=1e-12)
        assert noise[0] > calm or kept[0] > 0.0


@pytest.mark.parametrize("state", [MachineState.ACTIVE, MachineState.HOLDING])
def test_only_a_finger_that_follows_goals_is_led_back(state: MachineState) -> None:
    """As far as its care lets it pass its end, 0.3 rad/s by 10 1/s, the law of the way alone leaves it."""
    bench = Moving(careful=True)
    bench.s["finger_state"][0] = int(state)
    care = float(bench.m["joint_care_rad"][3])
    passed = float(bench.m["stop_speed_rad_s"]) / BACK_1_S
    downs = []
    for way in (care - passed + 1e-4, care - passed - 1e-3):
        bench.s["joint_angle_rad"][3] = bench.low[3] + way
        bench.turn(as_fast_as(2.0, np.array([0.0, 1.0, 0.0, 0.0])))
        downs.append(float(bench.margins()[1][3]))
    led = LED_BACK * 1e-3 if state == MachineState.ACTIVE else 0.0
    assert downs[0] - downs[1] == pytest.approx(BACK_1_S * (1.1e-3 + led), rel=1e-3)


def test_a_joint_just_before_its_stop_is_braked_only_in_a_fast_finger() -> None:
    """The dip stands in the last degrees, the base moves: slowly, then fast."""
    for share, binds in ((0.9, False), (2.0, True)):
        bench = Moving(careful=True)
        bench.s["joint_angle_rad"][3] = bench.low[3] + 0.25 * bench.m["joint_care_rad"][3]
        bench.turn(as_fast_as(share, np.array([0.0, 1.0, 0.0, 0.0])))
        assert bench.mem["motor_joint_rad_s"][3] == pytest.approx(0.0, abs=1e-9)
        down = next(t for t in range(8) if bench.P[t, 3] > 0.0)  # its winding turns the dip down
        assert bool(bench.bounded(down, 1.5)[1] & JOINT_RANGE) == binds


@given(st.floats(0.5, 4.0), st.integers(0, 1500))
def test_what_was_fast_is_forgotten_in_time(share: float, cycles: int) -> None:
    bench = Moving(careful=True)
    note_turns(bench.m, bench.mem)
    bench.turn(as_fast_as(share, np.array([0.3, 1.0, -0.5, 0.2])))
    first = share * float(bench.m["unrest_speed_m_s"])
    assert bench.mem["unrest_m_s"][0] == pytest.approx(first), "at once"
    bench.turn(np.zeros(4))
    for _ in range(cycles):
        bench.look()
    past_s = (cycles + 1) * float(bench.m["dt_s"])
    assert bench.mem["unrest_m_s"][0] == pytest.approx(first * math.exp(-past_s / REST_S))
    assert np.count_nonzero(bench.mem["unrest_m_s"]) == 1, "no other finger is kept"


@given(st.floats(1.0, 1e6), st.integers(0, 7))
def test_a_motor_without_its_tendon_disturbs_nobody(rad_s: float, t: int) -> None:
    bench = Moving(careful=True)
    bench.s["elongation_m"][t] = bench.least_m[t] - 1e-4
    bench.s["motor_speed_rad_s"][t] = rad_s
    bench.look()
    assert bench.mem["unrest_m_s"][0] == 0.0
    bench.s["elongation_m"][t] = bench.least_m[t] + 1e-4
    bench.look()
    most = MOST_UNREST * float(bench.m["unrest_speed_m_s"])
    assert bench.mem["unrest_m_s"][0] == pytest.approx(min(rad_s * bench.radius[t], most)), "taut it does"
    assert most >= 0.99 * float(bench.m["motor_speed_limit_rad_s"][t]) * bench.radius[t]


@given(st.floats(-0.1, 0.1))
def test_a_wrist_that_takes_the_paths_along_disturbs_its_fingers(speed_m_s: float) -> None:
    bench = Moving(careful=True)
    bench.mem["wrist_m_s"][:8] = speed_m_s
    bench.look()
    assert bench.mem["unrest_m_s"][0] == pytest.approx(abs(speed_m_s))


@pytest.mark.parametrize("hand", sorted(path.stem for path in HANDS.glob("*.toml")))
def test_whoever_carries_a_fast_finger_is_careful_too(hand: str) -> None:
    """A metacarpal is shaken by its finger; not the palm, nor a finger by what carries it."""
    fingers = tomllib.loads((HANDS / f"{hand}.toml").read_text())["fingers"]
    names = list(fingers)
    for f, name in enumerate(names):
        bench = Bare(hand)
        note_turns(bench.m, bench.mem)
        for fast in range(len(names)):  # the others too, which are at rest
            t = int(bench.m["finger_tendon"][f, 0])
            bench.mem["wrist_m_s"][t] = 0.05 if fast == f else 0.0
            motor_paths(bench.m, bench.mem, bench.s, fast)
        shaken = {name, fingers[name].get("parent", "palm")} - {"palm"}
        assert {names[k] for k in np.flatnonzero(bench.mem["unrest_m_s"] > 0.04)} == shaken


def test_what_was_fast_before_it_was_off_is_forgotten() -> None:
    desk = Desk("finger_bench")
    desk.to_active()
    desk.keeper["unrest_m_s"][0, 0] = 0.1
    desk.ask(Request.OFF)
    desk.cycle(50)
    desk.to_active()
    assert desk.keeper["unrest_m_s"][0, 0] < 0.001


def test_what_was_fast_as_it_held_is_known_as_goals_begin() -> None:
    desk = Desk("finger_bench")
    desk.to_holding()
    desk.keeper["unrest_m_s"][0, 0] = 0.1
    desk.ask(Request.ACTIVATE)
    desk.cycle()
    assert desk.keeper["unrest_m_s"][0, 0] > 0.099


def test_after_off_a_tendon_has_to_be_seen_taut_for_a_while_again() -> None:
    desk = Desk("finger_bench")
    desk.to_active()
    desk.cycle(round(2.0 * TAUT_S / float(desk.m["dt_s"])))
    assert desk.keeper["taut"][0, :8].all()
    desk.ask(Request.OFF)
    desk.cycle(50)
    desk.ask(Request.ARM)
    while desk.state["machine"][0] != MachineState.HOLDING:
        desk.cycle()
    desk.cycle()
    assert not desk.keeper["taut"][0, :8].any()
    desk.cycle(round(2.0 * TAUT_S / float(desk.m["dt_s"])))
    assert desk.keeper["taut"][0, :8].all()


@pytest.mark.parametrize("hand", sorted(path.stem for path in HANDS.glob("*.toml")))
def test_in_the_middle_of_every_range_nothing_is_kept(hand: str) -> None:
    m = model_record(hand)[0]
    n = int(m["n_joints"])
    range_rad, care = (m["joint_max_rad"] - m["joint_min_rad"])[:n], m["joint_care_rad"][:n]
    sprung = m["finger_kind"][m["joint_finger"][:n]] == FingerKind.SPRUNG
    assert ((care > 0.0) == ~sprung).all() and (care <= CARE_RAD).all()
    for way, kept in zip(0.5 * range_rad, care, strict=True):
        assert kept_rad(way, kept, 0.0) == pytest.approx(0.0, abs=1e-12)
