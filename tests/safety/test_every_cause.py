"""Every cause, latched in a real tick at a part with a name: report, event and client read that name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import flexor
from flexor.effect import what_holds, what_holds_fingers
from hand.hand import Hand
from runtime.loop import Loop
from runtime.processes.control import _serve
from runtime.processes.phases import BEAT_LOST_NS
from signals.clock import now_ns
from signals.faults import CAUSES, FOREIGN, Cause, Scope
from signals.modes import ChannelStatus, FaultKind, MachineState, Mode
from tests.rigs.heard import SENSED_JOINT, WINDOW, Heard, Strike, frozen, mixed_hand


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """How a cause comes about: what strikes which part, and within how many cycles it is latched."""

    part: str
    strike: Strike
    cycles: int = 400
    motion: str | None = None


def injected(kind: FaultKind, space: str, value: float = 0.0) -> Strike:
    """A fault of the plant."""
    return lambda run, part: run.inject(kind, run.names.index(space, part), value)


def measured(field: str, space: str, change: Callable[[Any, float], float]) -> Strike:
    """From now on a channel says ``change(what it says, cycles since then)``."""

    def strike(run: Heard, part: str) -> None:
        i, count = run.names.index(space, part), iter(range(10**9))

        def tamper(z: Any) -> None:
            z[field][i] = change(z[field][i], next(count))

        run.bus.tamper = tamper

    return strike


def of_model(field: str, space: str, value: float) -> Strike:
    """The guard's own figure of the part is another one: a hand file with a narrower limit."""
    return lambda run, part: run.model[field].__setitem__(run.names.index(space, part), value)


def tendon_of(run: Heard, motor: int) -> int:
    return run.model["tendon_motor"].tolist().index(motor)


def torque_goal(run: Heard, motor: str, torque_nm: float) -> None:
    """The motor's finger in MOTOR_TORQUE: the others carry their tendons, this one a goal."""
    i = run.names.motors.index(motor)
    t = tendon_of(run, i)
    load_nm = (
        run.model["spool_radius_m"][: len(run.names.tendons)]
        * run.state["tension_n"][: len(run.names.tendons)]
    )
    for tendon, nm in enumerate(load_nm):
        run.goal["motor_torque_nm"][run.model["tendon_motor"][tendon]] = nm
    run.goal["motor_torque_nm"][i] = torque_nm
    run.goal["finger_mode"][run.model["tendon_finger"][t]] = int(Mode.MOTOR_TORQUE)


def a_torque_that_is_no_number(run: Heard, motor: str) -> None:
    torque_goal(run, motor, math.nan)


def a_gear_that_is_stuck(run: Heard, motor: str) -> None:
    run.plant.model["friction_gamma_2_nm"][0, run.names.motors.index(motor)] = 1e6
    torque_goal(run, motor, 1.2)


def a_compensation_that_pushes(run: Heard, motor: str) -> None:
    """A law of friction forty times too large, of a motor that is to creep."""
    i, creep_rad_s = run.names.motors.index(motor), 0.95 * float(run.model["standing_speed_rad_s"])
    run.goal["motor_angle_rad"][:] = run.state["motor_angle_rad"]
    run.goal["finger_mode"][run.model["tendon_finger"][tendon_of(run, i)]] = int(Mode.MOTOR_POSITION)
    run.run(300)
    run.model["friction_gamma_2_nm"][i] *= 40.0
    run.goal["motor_speed_rad_s"][i] = creep_rad_s

    def creep(_: Any) -> None:
        run.goal["motor_angle_rad"][i] += creep_rad_s * run.model["dt_s"]

    run.bus.tamper = creep


def lengths_that_drift(run: Heard, tendon: str) -> None:
    """A Hall count that drifts off within 1.5 s, not as far as the limit of a residual."""
    t, drift_counts, cycles = run.names.tendons.index(tendon), 105.0, iter(range(10**9))
    run.model["residual_limit_m"][run.model["tendon_finger"][t]] = 0.0003

    def drift(z: Any) -> None:
        counts = drift_counts * min(next(cycles) / 4500, 1.0)
        z["hall_count"][t] += round(counts)
        z["hall_fine_count"][t] += counts

    run.bus.tamper = drift


def a_tendon_that_comes_back(run: Heard, tendon: str) -> None:
    """It comes off, and while the probe winds it holds again."""
    t = run.names.tendons.index(tendon)
    run.inject(FaultKind.TENDON_BREAK, t)
    assert run.run(100, Cause.TENSION_LOST)
    run.plant.plant["tendon_off"][0, t] = 0


def silent_motors(run: Heard, _: str) -> None:
    run.bus.tamper = lambda z: z["motor_status"].__setitem__(slice(None), int(ChannelStatus.MISSING))


def an_old_goal(run: Heard, _: str) -> None:
    run.goal["time_ns"] = run.state["time_ns"] - int(2e9 * run.model["command_age_s"])


def a_stop(run: Heard, _: str) -> None:
    run.client.request("stop", by="the test")


def late_cycles(run: Heard, _: str) -> None:
    """The loop in its own time, woken a period late each time; then control looks at its progress."""
    period = run.loop.period_ns
    now = [int(run.state["time_ns"])]

    def wait(deadline: int, _spin: int, _timespec: Any) -> int:
        now[0] = deadline + period
        return now[0]

    late = Loop(run.rig.pipeline.tick, run.hand.rate_hz, window=WINDOW, clock=lambda: now[0], wait=wait)
    late.run(3 * WINDOW, lambda: True)
    run.loop.progress.sustained, run.loop.progress.overruns = late.progress.sustained, late.progress.overruns
    assert run.watch.proceed()


def io_that_stands_still(run: Heard, _: str) -> None:
    """Stopped for longer than control waits; then it goes on, and reads what happened meanwhile."""
    run.segment.field("io_beat_ns")[0] = now_ns() - 2 * BEAT_LOST_NS
    _serve(run.rig, run.loop, run.watch)


def missing(field: str, space: str) -> Strike:
    return measured(field, space, lambda _, __: int(ChannelStatus.MISSING))


CASES = {
    Cause.NOT_FINITE_MEASUREMENT: Case(part="m_ring_3", strike=injected(FaultKind.NAN, "motor")),
    Cause.NOT_FINITE_COMMAND: Case(part="m_thumb_3", strike=a_torque_that_is_no_number),
    Cause.MEASUREMENT_TOO_OLD: Case(part="m_thumb_6", strike=frozen("motor_time_ns", "motor")),
    Cause.COMMAND_TOO_OLD: Case(part="hasy", strike=an_old_goal),
    Cause.BUS_LOST: Case(part="sim", strike=silent_motors),
    Cause.TENSION_LOST: Case(part="middle_7", strike=injected(FaultKind.TENDON_BREAK, "tendon")),
    Cause.TENDON_BROKEN: Case(part="fifth_2", strike=injected(FaultKind.TENDON_BREAK, "tendon"), cycles=1500),
    Cause.TENDON_SLACK: Case(part="index_4", strike=a_tendon_that_comes_back, cycles=1500),
    Cause.TENSION_TOO_HIGH: Case(part="thumb_5", strike=of_model("tension_limit_n", "tendon", 10.0)),
    Cause.HALL_STUCK: Case(
        part="ring_4", strike=injected(FaultKind.HALL_STUCK, "tendon"), motion="open_close", cycles=3000
    ),
    Cause.HALL_SATURATED: Case(part="index_7", strike=injected(FaultKind.HALL_SATURATED, "tendon")),
    Cause.HALL_GLITCH: Case(part="thumb_2", strike=injected(FaultKind.HALL_OFFSET, "tendon", 300.0)),
    Cause.HALL_DRIFT: Case(part="middle_2", strike=lengths_that_drift, cycles=20_000),
    Cause.RESIDUAL_TOO_LARGE: Case(part="fifth_6", strike=injected(FaultKind.TENDON_SLIP, "tendon", 0.004)),
    Cause.HALL_LOST: Case(part="hmc_1", strike=missing("hall_status", "tendon")),
    Cause.HALL_NOT_FINITE: Case(
        part="ring_1", strike=measured("hall_fine_count", "tendon", lambda _, __: math.nan)
    ),
    Cause.HALL_TOO_OLD: Case(part="index_1", strike=frozen("hall_time_ns", "tendon")),
    Cause.MOTOR_LOST: Case(part="m_thumb_3", strike=injected(FaultKind.MOTOR_LOST, "motor")),
    Cause.MOTOR_TOO_FAST: Case(
        part="m_index_3",
        strike=of_model("motor_speed_limit_rad_s", "motor", 0.2),
        motion="open_close",
        cycles=3000,
    ),
    Cause.MOTOR_TOO_HOT: Case(
        part="m_fifth_6", strike=measured("motor_temperature_degc", "motor", lambda *_: 150.0)
    ),
    Cause.MOTOR_RESET: Case(part="m_middle_2", strike=injected(FaultKind.MOTOR_RESET, "motor")),
    Cause.MOTOR_HELD: Case(
        part="m_index_2", strike=measured("motor_status", "motor", lambda *_: int(ChannelStatus.HELD))
    ),
    Cause.MOTOR_BLOCKED: Case(part="m_ring_4", strike=a_gear_that_is_stuck, cycles=3000),
    Cause.ENCODER_FAULT: Case(part="m_hmc_2", strike=injected(FaultKind.ENCODER_JUMP, "motor", 0.5)),
    Cause.ENCODER_STUCK: Case(
        part="m_thumb_5", strike=injected(FaultKind.ENCODER_STUCK, "motor"), motion="open_close", cycles=3000
    ),
    Cause.FRICTION_GROWN: Case(
        part="m_index_6",
        strike=injected(FaultKind.FRICTION_GROWTH, "motor", 3.0),
        motion="open_close",
        cycles=9000,
    ),
    Cause.JOINT_OUT_OF_RANGE: Case(
        part="middle_pip", strike=of_model("joint_max_rad", "joint", math.radians(-20.0))
    ),
    Cause.JOINT_CONTRADICTED: Case(
        part=SENSED_JOINT,
        strike=measured("joint_count", "joint", lambda count, k: count + 1500.0 * min(k / 1500, 1.0)),
        cycles=3000,
    ),
    Cause.WRIST_SENSOR: Case(
        part="wrist_abduction",
        strike=measured("axis_angle_rad", "axis", lambda angle, k: angle + 0.05 * min(k / 1500, 1.0)),
        cycles=3000,
    ),
    Cause.WRIST_LOST: Case(part="wrist_flexion", strike=missing("axis_status", "axis")),
    Cause.WRIST_JUMP: Case(
        part="wrist_abduction", strike=measured("axis_angle_rad", "axis", lambda angle, _: angle + 0.3)
    ),
    Cause.SUSTAINED_OVERRUN: Case(part="hasy", strike=late_cycles),
    Cause.OPERATOR_STOP: Case(part="hasy", strike=a_stop),
    Cause.FRICTION_ENERGY: Case(part="m_middle_4", strike=a_compensation_that_pushes, cycles=3000),
    Cause.IO_LOST: Case(part="hasy", strike=io_that_stands_still),
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Hand:
    return mixed_hand(tmp_path_factory.mktemp("hand"))


@pytest.mark.sample(8)
@pytest.mark.parametrize("cause", list(CASES), ids=lambda c: c.name)
def test_what_latches_it_is_named_in_report_event_and_client(
    cause: Cause, mixed: Hand, port_base: int
) -> None:
    case = CASES[cause]
    with Heard(mixed, port_base, case.motion) as run:
        run.start()
        case.strike(run, case.part)
        assert run.run(case.cycles, cause), run.latched
        finger = "" if CAUSES[cause].scope == Scope.HAND else case.part.removeprefix("m_").split("_")[0]
        told, words = (cause.name, finger, case.part), f"{cause.name} of {case.part}"

        events = [e for e in run.events() if e["cause"] == cause.name]
        assert [(e["cause"], e["finger"], e["part"]) for e in events] == [told]
        state = run.client.request("ping")["state"]
        if finger:
            meta = run.client.meta
            joints = [joint for joint, whose in meta["finger_of_joint"].items() if whose == finger]
            assert what_holds_fingers(state, meta, joints) == f"finger {finger} is in fault ({words})"
        else:
            assert words in what_holds(state)
        if run.state["machine"] == MachineState.FAULT:
            with pytest.raises(flexor.Refused, match=words):
                run.client.request(
                    "arm", lease=run.client.request("lease", do="acquire", holder="t")["lease"]
                )

        faults = [f for f in run.report()["faults"] if f["cause"] == cause.name]
        assert [(f["cause"], f["finger"], f["part"]) for f in faults] == [told]
        assert faults[0]["code"] == cause and faults[0]["hint"] == CAUSES[cause].hint
        assert case.part in faults[0]["text"] or "{name}" not in CAUSES[cause].sentence


def test_every_cause_has_its_case() -> None:
    """But those that stop nothing: ``tests/hands/test_joint_sensors.py`` has them."""
    assert set(CAUSES) == set(Cause) - {Cause.NONE} - set(FOREIGN)
    assert set(CASES) == {cause for cause, row in CAUSES.items() if row.scope != Scope.SENSOR}
