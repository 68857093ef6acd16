"""One substep of the hand's plant against one mj_step of the same hand, interleaved in one run.

    python benchmarks/plant_against_mujoco.py [rounds]

Both run many steps per call. The plant has everything on (guides, friction, ripple, hysteresis, wrist
drive); MuJoCo has linear springs and a plain wrist (``hand_in_mujoco``). The ratio is to MuJoCo as it comes;
its dense Jacobian and its conjugate gradients are shown beside. All motors move under the same changing
torques: at rest a solver that starts warm has nothing to do. Only ratios mean anything on a shared machine.
"""

from __future__ import annotations

import json
import sys
import time

import mujoco
import numpy as np

from benchmarks.hand_in_mujoco import hand_model
from hand.assembly.assemble import model_of
from hand.file import load_hand
from mechanics.handlayout import HandtreeWork
from signals.compiled import law
from signals.layout import Records
from signals.modes import SensorLevel
from signals.typed import Model
from sim.backend import SimulatedBus
from sim.options import SimOptions
from sim.plant import substep
from sim.plant_record import PlantRecord

STEPS = 100
STEP_S = 1.0 / 12000.0
SETTINGS = {"newton": "", "newton_dense": 'jacobian="dense"', "cg": 'solver="CG"'}


@law
def many(
    model: Records[Model], plant: Records[PlantRecord], work: Records[HandtreeWork], h: float, steps: int
) -> None:
    """Substeps in one compiled call."""
    for _ in range(steps):
        substep(model[0], plant[0], work[0], h)


def measure(rounds: int = 30) -> dict[str, float]:
    """Median times per step [us], and median ratios of MuJoCo over ours."""
    model = model_of(load_hand("hasy"))
    bus = SimulatedBus(model.copy(), SimOptions(sensors=SensorLevel.FULL, guides=True))
    theirs = {name: hand_model(model, STEP_S, extra) for name, extra in SETTINGS.items()}
    states = {name: mujoco.MjData(one) for name, one in theirs.items()}
    many(bus.model, bus.plant, bus.work, STEP_S, 1)
    for name, one in theirs.items():
        mujoco.mj_step(one, states[name], STEPS)
    times = []
    n = int(model["n_motors"][0])
    rotors = np.array([theirs["cg"].joint(f"rotor{i}").dofadr[0] for i in range(n)])
    constant = model["motor_torque_constant_nm_a"][0, :n]
    bus.plant["motor_enabled"][0, :n] = 1
    for k in range(rounds):
        torque = 1.5 * np.sin(0.4 * k + np.arange(n))
        bus.plant["current_a"][0, :n] = torque / constant
        for state in states.values():
            state.qfrc_applied[rotors] = torque
        marks = [time.perf_counter()]
        many(bus.model, bus.plant, bus.work, STEP_S, STEPS)
        marks.append(time.perf_counter())
        for name, one in theirs.items():
            mujoco.mj_step(one, states[name], STEPS)
            marks.append(time.perf_counter())
        times.append(np.diff(marks))
    table = np.array(times) / STEPS * 1e6
    assert np.all(np.isfinite(bus.plant["q_rad"]))
    assert all(np.all(np.isfinite(state.qpos)) for state in states.values())
    one, state = theirs["cg"], states["cg"]
    medians = np.median(table[:, 1:] / table[:, :1], axis=0)
    found = {f"mujoco_{name}_us": float(np.median(table[:, 1 + k])) for k, name in enumerate(SETTINGS)}
    return found | {
        "plant_us": float(np.median(table[:, 0])),
        "ratio": float(medians[0]),
        "ratio_dense": float(medians[1]),
        "ratio_cg": float(medians[2]),
        "mujoco_dofs": float(one.nv),
        "mujoco_tendons": float(one.ntendon),
        "mujoco_constraint_rows": float(state.nefc),
        "mujoco_cg_iterations": float(state.solver_niter[0]),
        "plant_fastest_motor_rad_s": float(np.abs(bus.plant["w_rad_s"]).max()),
        "mujoco_fastest_motor_rad_s": float(np.abs(state.qvel[rotors]).max()),
    }


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 30), indent=2))
