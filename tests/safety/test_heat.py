"""Field report B24: a firm grasp for forty minutes; the case's sensor lags, the guard does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from guard.guard import GUARD_MEMORY, guard
from guard.winding import derating, winding_temperatures
from hand.options import RunOptions
from mechanics.motor import copper_loss_w
from runtime.setup import read_hand
from signals.faults import Cause
from signals.goal import default_goal
from signals.modes import Clip, MachineState, Request
from signals.records import COMMAND, MEASUREMENT, STATE, new
from telemetry.publish.heat import HeatWatch

MINUTE_S = 60.0


class Hot:
    """The guard with a controller that always asks for one torque, on motors that only warm up.

    The windings follow the hand file's thermal model; the reported temperature is the case's, a minute late.
    """

    def __init__(self, ambient_degc: float, torque_nm: float, dt_s: float = 0.5) -> None:
        hand = read_hand(RunOptions(hand="finger_bench"))
        self.model, self.torque_nm, self.dt_s = hand.model.copy(), torque_nm, dt_s
        self.m = self.model[0]
        self.m["dt_s"], self.m["ambient_degc"] = dt_s, 25.0
        # a hand in a glove: the reference hand's motors in free air stay below 60 degC at any command
        self.m["thermal_case_k_w"], self.m["thermal_case_j_k"] = 40.0, 15.0
        self.n = int(self.m["n_motors"])
        self.goal = default_goal(self.model)
        self.measurement, self.command, self.state = new(MEASUREMENT), new(COMMAND), new(STATE)
        self.memory = np.zeros(1, dtype=GUARD_MEMORY)
        self.ambient_degc = ambient_degc
        self.winding = np.full(self.n, ambient_degc)
        self.case = np.full(self.n, ambient_degc)
        self.seen = np.full(self.n, ambient_degc)
        self.cycle = 0
        self.arm()

    def restart(self) -> None:
        """The control process is another one; the motors are as warm as they were."""
        self.goal, self.state = default_goal(self.model), new(STATE)
        self.memory = np.zeros(1, dtype=GUARD_MEMORY)
        self.step()
        first, true = self.state["winding_temperature_degc"][0, : self.n], self.seen
        assert abs(first - true).max() < 1.0
        self.arm()

    def arm(self) -> None:
        """To ACTIVE, where the controller asks for its torque."""
        self._still()
        for wish in (Request.ARM, Request.ACTIVATE):
            self.goal["request"], self.goal["request_seq"] = int(wish), int(self.goal["request_seq"][0]) + 1
            for _ in range(15):
                self.step()
        assert self.machine is MachineState.ACTIVE

    def _still(self) -> None:
        """A finger at rest whose sensors all say so."""
        s, z = self.state[0], self.measurement[0]
        s["tension_n"][: self.n] = 20.0
        s["tendon_stiffness_n_m"][: self.n], s["elongation_m"][: self.n] = 7000.0, 0.004
        s["joint_angle_rad"][:4] = 0.5 * (self.m["joint_min_rad"] + self.m["joint_max_rad"])[:4]
        z["hall_count"][: self.n] = 2000
        z["hall_fine_count"][: self.n] = 2000.0

    @property
    def machine(self) -> MachineState:
        return MachineState(int(self.state["machine"][0]))

    @property
    def torque(self) -> Any:
        return self.state["motor_torque_nm"][0, : self.n]

    def step(self) -> None:
        """One cycle of heat, report and guard."""
        m, s, z = self.m, self.state[0], self.measurement[0]
        self.cycle += 1
        now = int(self.cycle * self.dt_s * 1e9)
        s["tick"], s["time_ns"], s["dt_s"] = self.cycle, now, self.dt_s
        z["time_ns"], z["motor_time_ns"], z["hall_time_ns"] = now, now, now
        current = self.torque / m["motor_torque_constant_nm_a"][: self.n]
        heat = np.array([copper_loss_w(m, i, current[i]) for i in range(self.n)])
        flow = (self.winding - self.case) / m["thermal_winding_k_w"][: self.n]
        self.winding += self.dt_s * (heat - flow) / m["thermal_winding_j_k"][: self.n]
        out = (self.case - self.ambient_degc) / m["thermal_case_k_w"][: self.n]
        self.case += self.dt_s * (flow - out) / m["thermal_case_j_k"][: self.n]
        self.seen += self.dt_s / MINUTE_S * (self.case - self.seen)
        z["motor_temperature_degc"][: self.n] = self.seen
        # the encoder is alive and the motor turns: neither blocked nor stuck
        wobble = 0.002 * (self.cycle % 2)
        z["motor_angle_rad"][: self.n] = s["motor_angle_rad"][: self.n] = wobble
        z["hall_count"][: self.n] = 2000 + self.cycle % 2
        s["ref_motor_torque_nm"][: self.n] = self.torque_nm if self.machine is MachineState.ACTIVE else 0.0
        guard(self.model, self.goal, self.measurement, self.memory, self.state, self.command)


@pytest.mark.sample(1)
@pytest.mark.parametrize("ambient_degc", (25.0, 40.0))
def test_a_grasp_that_is_too_hot_is_derated_and_never_burns(ambient_degc: float) -> None:
    hot = Hot(ambient_degc, torque_nm=2.9)
    fault_degc = float(hot.m["winding_limit_degc"][1])
    derated_at = None
    for _ in range(int(40 * MINUTE_S / hot.dt_s)):
        hot.step()
        if derated_at is None and int(hot.state["clip"][0, 0]) & int(Clip.TEMPERATURE):
            derated_at = hot.cycle
        assert hot.winding.max() < fault_degc + 5.0
    # the command came down before anything had to stop, and every client could see it
    assert derated_at is not None
    assert hot.torque.max() < 2.9
    shown = hot.state["winding_temperature_degc"][0, : hot.n]
    # the model sees the winding, not the case: the report is up to 40 K below
    assert abs(shown - hot.winding).max() < 0.15 * hot.winding.max()


def test_each_step_of_the_heat_is_said_once_before_anything_is_let_go() -> None:
    hot, said = Hot(40.0, torque_nm=2.9), []
    names = read_hand(RunOptions(hand="finger_bench")).names
    watch = HeatWatch(lambda kind, level, text, hint: said.append((hot.cycle, level, text)), names, hot.model)
    for _ in range(int(40 * MINUTE_S / hot.dt_s)):
        hot.step()
        watch.see(hot.state[0])
    # reduced torque is enough: in 40 minutes nothing had to be let go
    assert hot.machine is MachineState.ACTIVE
    for name in names.motors:
        told = [(at, text) for at, level, text in said if text.startswith(f"{name}:") and level == "warning"]
        assert len(told) == 2
        (near, first), (reduced, second) = told
        assert near < reduced and "is reduced from" in first and "is reduced from" not in second
        # early enough to do something: some seconds
        assert (reduced - near) * hot.dt_s > 3.0


def test_a_light_grasp_is_never_derated() -> None:
    hot = Hot(25.0, torque_nm=1.1)
    for _ in range(int(40 * MINUTE_S / hot.dt_s)):
        hot.step()
        assert int(hot.state["clip"][0, 0]) & int(Clip.TEMPERATURE) == 0
    assert hot.machine is MachineState.ACTIVE


def test_a_winding_beyond_its_limit_is_named_and_its_finger_let_go_in_a_ramp() -> None:
    hot = Hot(25.0, torque_nm=1.0)
    hot.memory["winding_degc"][0, 3] = float(hot.m["winding_limit_degc"][1]) + 1.0
    hot.m["dt_s"] = 1.0 / 3000.0
    hot.dt_s = 1.0 / 3000.0
    torques = []
    for _ in range(600):
        hot.step()
        torques.append(hot.torque.copy())
    assert Cause(int(hot.state["finger_cause"][0, 0])) is Cause.MOTOR_TOO_HOT
    assert int(hot.state["finger_cause_part"][0, 0]) == 3
    jump = abs(np.diff(torques, axis=0)).max()
    assert jump <= float(hot.m["torque_rate_nm_s"]) / 3000.0 + 1e-9
    assert torques[-1].max() <= 0.0


def test_the_limit_falls_smoothly_from_the_first_level_to_nothing_at_the_second() -> None:
    model = read_hand(RunOptions(hand="finger_bench")).model
    first, second = model["winding_limit_degc"][0]
    share = [derating(model[0], t) for t in np.linspace(first - 20.0, second + 20.0, 400)]
    assert share[0] == 1.0 and share[-1] == 0.0
    assert np.all(np.diff(share) <= 0.0) and abs(np.diff(share)).max() < 0.02


def test_a_restart_in_a_hot_grasp_neither_forgets_nor_burns() -> None:
    """The process dies and comes back while windings are 30 K above a report that is a minute late."""
    hot = Hot(40.0, torque_nm=2.9)
    hot.winding[:], hot.case[:], hot.seen[:] = 90.0, 75.0, 60.0
    hot.restart()
    fault_degc, derated = float(hot.m["winding_limit_degc"][1]), False
    for _ in range(int(10 * MINUTE_S / hot.dt_s)):
        hot.step()
        derated |= bool(int(hot.state["clip"][0, 0]) & int(Clip.TEMPERATURE))
        assert hot.winding.max() < fault_degc + 5.0
    assert derated and hot.torque.max() < 2.9


def test_a_start_with_hot_motors_begins_hot() -> None:
    hand = read_hand(RunOptions(hand="finger_bench"))
    memory, state, measurement = np.zeros(1, dtype=GUARD_MEMORY), new(STATE), new(MEASUREMENT)
    measurement["motor_temperature_degc"][0, :8] = np.linspace(30.0, 90.0, 8)
    winding_temperatures(hand.model[0], memory[0], measurement[0], state[0])
    assert state["winding_temperature_degc"][0, :8] == pytest.approx(np.linspace(30.0, 90.0, 8), abs=0.1)
