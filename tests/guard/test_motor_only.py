"""A tendon whose sensor is not used is judged by its motor alone; a motor without power loses its phase."""

from __future__ import annotations

import math

import pytest

from guard.channel_checks import check_channels
from guard.guard import guard
from signals.faults import Cause
from signals.modes import ChannelStatus, EncoderReference, MachineState
from tests.rigs.bare import COUNT, Bare, Guarded
from tests.rigs.faulted import PAIRS, Faulted

T = 6
RUBBISH: dict[str, tuple[str, float, float]] = {
    "missing": ("hall_status", int(ChannelStatus.MISSING), int(ChannelStatus.MISSING)),
    "no number by its status": ("hall_status", int(ChannelStatus.NOT_FINITE), int(ChannelStatus.NOT_FINITE)),
    "no number": ("hall_fine_count", math.nan, math.nan),
    "at a rail": ("hall_count", 0, 0),
    "jumping": ("hall_count", COUNT, COUNT + 400),
}
"""Name of a channel, and two values by turns."""


def motor_only() -> Bare:
    bench = Bare()
    bench.m["hall_weight"][:8] = 0.5
    bench.m["hall_weight"][T] = 0.0
    return bench


@pytest.mark.parametrize("case", RUBBISH.values(), ids=list(RUBBISH))
def test_what_a_sensor_says_that_is_not_used_is_nobodys_affair(case: tuple[str, float, float]) -> None:
    name, *values = case
    bench = motor_only()
    for k in range(120):
        bench.z[name][T] = values[k % 2]
        bench.detect()
    assert bench.found is None
    # the same of a sensor that is used, however little, is a fault
    bench.m["hall_weight"][T] = 0.5
    for k in range(120):
        bench.z[name][T] = values[k % 2]
        bench.detect()
        if bench.found:
            break
    assert bench.found is not None and bench.found[1] == T


@pytest.mark.parametrize(("weight", "old"), [(0.0, False), (0.5, True)])
def test_the_age_of_a_sample_counts_where_the_sensor_is_used(weight: float, old: bool) -> None:
    for age_ms, named in ((50.0, False), (150.0, old)):
        bench = Guarded()
        bench.m["hall_weight"][:8], bench.m["hall_weight"][T] = 0.5, weight
        for _ in range(30):
            bench.cycle()
        bench.s["ref_motor_torque_nm"][:8] = 0.25
        bench.stamp()
        bench.z["hall_time_ns"][T] -= round(age_ms * 1e6)
        check_channels(bench.m, bench.mem, bench.z, bench.s)
        assert (bench.found is not None) is named
        memory, measurement, state, goal, command = bench.records
        guard(bench.model, goal, measurement, memory, state, command)
        if not named:
            frozen = bool(bench.s["motor_torque_nm"][T] == pytest.approx(0.2))
            assert frozen is old


def test_an_old_sample_of_its_motor_counts_as_ever() -> None:
    bench = Guarded()
    bench.m["hall_weight"][T] = 0.0
    for _ in range(30):
        bench.cycle()
    bench.s["ref_motor_torque_nm"][:8] = 0.25
    bench.stamp()
    bench.z["motor_time_ns"][T] -= 50_000_000
    memory, measurement, state, goal, command = bench.records
    guard(bench.model, goal, measurement, memory, state, command)
    assert bench.s["motor_torque_nm"][T] == pytest.approx(0.2)


def test_a_hand_is_complete_without_a_sensor_that_it_does_not_use() -> None:
    for weight, state in ((0.0, MachineState.READY), (0.5, MachineState.OFF)):
        bench = Guarded(state=int(MachineState.OFF))
        bench.m["hall_weight"][:8], bench.m["hall_weight"][T] = 0.5, weight
        bench.z["hall_status"][T] = int(ChannelStatus.MISSING)
        bench.cycle()
        assert bench.s["machine"] == state


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_a_tension_is_judged_without_a_sensor_but_not_with_one_that_fails(share: float) -> None:
    """Out of range is not lost: the channel latches nothing itself."""
    for weight in (0.0, 0.5):
        bench = motor_only()
        bench.m["hall_weight"][T] = weight
        bench.m["tension_limit_n"][T] = 60.0
        bench.z["hall_status"][T] = int(ChannelStatus.OUT_OF_RANGE)
        bench.s["tension_n"][T] = 60.0 * share
        bench.s["motor_torque_nm"][T] = 0.6 * share
        bench.until(None, 100)
        if weight == 0.0 and share > 1.0:
            assert bench.found is not None and bench.found[:2] == (Cause.TENSION_TOO_HIGH, T)
        else:
            assert bench.found is None


def test_friction_is_not_told_from_a_tension_that_is_not_measured() -> None:
    bench = motor_only()
    for _ in range(30):
        bench.s["motor_speed_rad_s"][:8] = 1.0
        bench.s["motor_angle_rad"][:8] += bench.dt_s
        bench.detect()
    assert bench.mem["moved_s"][T] == 0.0
    assert bench.mem["moved_s"][T - 1] == pytest.approx(30 * bench.dt_s)


def test_in_a_fault_it_keeps_its_tension_and_so_does_its_partner() -> None:
    fault = Faulted(Cause.JOINT_OUT_OF_RANGE)
    fault.m["hall_weight"][:8], fault.m["hall_weight"][T] = 0.5, 0.0
    fault.begin()
    assert fault.marked("blind") == {T}
    assert fault.marked("left_alone") == {T, PAIRS[T]}


# --- the phase of a motor -------------------------------------------------------------------------------

LOSES: dict[str, tuple[ChannelStatus, int]] = {
    "nothing happened": (ChannelStatus.OK, 0),
    "one answer is missing": (ChannelStatus.MISSING, 1),
    "it was silent for 10 ms": (ChannelStatus.MISSING, 30),
    "it was reset": (ChannelStatus.RESET, 1),
    "its driver held it back": (ChannelStatus.HELD, 1),
    "it is in another mode": (ChannelStatus.WRONG_MODE, 1),
}


@pytest.mark.parametrize("reference", list(EncoderReference))
@pytest.mark.parametrize("case", LOSES.values(), ids=list(LOSES))
def test_a_phase_is_lost_with_the_power_unless_the_encoder_is_absolute(
    reference: EncoderReference, case: tuple[ChannelStatus, int]
) -> None:
    """Silence of more than 5 ms, a reset and another mode may all be a lack of power."""
    bit, cycles = case
    bench = Bare()
    bench.m["encoder_reference"][:8] = int(EncoderReference.ABSOLUTE)
    bench.m["encoder_reference"][3] = int(reference)
    bench.s["ripple_unknown"][:8] = 0
    for _ in range(cycles or 1):
        bench.z["motor_status"][3] = int(bit)
        bench.detect()
    went = bit in (ChannelStatus.RESET, ChannelStatus.WRONG_MODE) or cycles > 15
    lost = reference is EncoderReference.NONE or (reference is EncoderReference.UNTIL_RESET and went)
    assert [int(x) for x in bench.s["ripple_unknown"][:8]] == [0, 0, 0, int(lost), 0, 0, 0, 0]
