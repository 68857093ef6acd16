"""One control period of a limb: substeps, heat, truth and sensors of hand and carrier, the new command."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba.np.numpy_support import carray

from mechanics.dynamics.posture import place
from mechanics.dynamics.records import TREE, WORK, TreeRecord, TreeWork
from mechanics.handlayout import HandtreeWork
from mechanics.handtree import HANDTREE_WORK
from signals.compiled import law
from signals.layout import FloatArray, Records
from signals.pointers import pointer
from signals.records import COMMAND, MEASUREMENT, MODEL, TRUTH
from signals.typed import Command, Measurement, Model, Truth
from sim.cycle import fill_truth, heat_motors, settle, take_command
from sim.finite import FASTEST_RAD_S, blame, blame_positions, blame_substep, is_sound
from sim.limb.kick import carry_tendons, limb_energy, limb_substep, place_limb
from sim.limb.record import LIMB, LimbRecord
from sim.mechanisms.cycle import CURRENT, sample_joints
from sim.mechanisms.cycle import take_command as take_currents
from sim.motors import lay_out_ripples
from sim.paths import begin_paths
from sim.plant_record import PLANT, PlantRecord
from sim.sensors import read_sensors
from sim.silence import silence
from sim.tensions import lay_out_springs

CARRIER: Final = 5
"""What diverged, beside the numbers of ``sim.finite``: a joint of the carrier."""
PARTS: Final = (
    "model", "plant", "work", "command", "measurement", "truth", "whole", "limb", "tree", "tree_work"
)  # fmt: skip
"""Order of the addresses that ``advance_limb_at`` gets; ``model`` is the hand's, ``whole`` the limb's."""


@law
def observe_carrier(
    whole: Records[Model],
    limb: Records[LimbRecord],
    measurement: Records[Measurement],
    truth: Records[Truth],
    now_ns: int,
) -> None:
    """Rows of the carrier in truth and measurement."""
    g = limb[0]
    sample_joints(g, whole[0], measurement[0], truth[0], g.q, g.qd, 0.0, now_ns)


@law
def _blame_carrier(p: PlantRecord, g: LimbRecord) -> bool:
    """Name a joint of the carrier that is too fast or no number; False: none is."""
    for k in range(g.n):
        if not abs(g.qd[k]) < FASTEST_RAD_S:
            blame(p, CARRIER, k)
            return True
    return False


@law
def settle_limb(m: Model, p: PlantRecord, t: TreeRecord, w: TreeWork, g: LimbRecord) -> None:
    """Tensions and levers that belong to the limb's present positions."""
    if g.palm.frame >= 0:
        place_limb(m, p, g)
        place(t, w, g.tree_q, g.tree_qd)
        carry_tendons(m, p, t, w, g)
    settle(m, p)


@law
def advance_limb(
    model: Records[Model],
    plant: Records[PlantRecord],
    work: Records[HandtreeWork],
    command: Records[Command],
    measurement: Records[Measurement],
    truth: Records[Truth],
    whole: Records[Model],
    limb: Records[LimbRecord],
    tree: Records[TreeRecord],
    tree_work: Records[TreeWork],
    no_loads: FloatArray,
    elapsed_s: float,
    substeps: int,
    now_ns: int,
) -> int:
    """Advance hand and carrier by ``elapsed_s``, sample them, take the new command; as ``sim.cycle.advance``.

    Returns:
        0, or what diverged first: the numbers of ``sim.finite``, or ``CARRIER``.
    """
    m, p, k, g = model[0], plant[0], work[0], limb[0]
    h = elapsed_s / substeps
    begin_paths(m, p)
    lay_out_springs(m, p)
    lay_out_ripples(m, p)
    blame_positions(m, p)
    _blame_carrier(p, g)
    for n in range(g.n):
        g.damping_nms_rad[n] = g.brake_nms_rad[n] if g.braked[n] != 0 else 0.0
        g.torque_nm[n] = whole[0].motor_torque_constant_nm_a[g.first_motor + n] * g.current_a[n]
    for _ in range(substeps):
        limb_substep(m, p, tree, tree_work, g, no_loads, h)
        if _blame_carrier(p, g):
            break
        if not is_sound(m, p):
            blame_substep(m, p)
            break
    heat_motors(m, p, elapsed_s)
    settle_limb(m, p, tree[0], tree_work[0], g)
    fill_truth(m, p, k, truth[0])
    if p.energy_on:
        truth[0].energy_stored_j = limb_energy(m, p, tree, tree_work, g)
    read_sensors(m, p, measurement[0], now_ns)
    observe_carrier(whole, limb, measurement, truth, now_ns)
    take_command(m, p, command[0])
    take_currents(g, command[0])
    for n in range(g.n):
        on = g.active != 0 and command[0].motor_mode[g.first_motor + n] == CURRENT
        g.braked[n] = 0 if on else 1
    p.cycle += 1
    if p.diverged != 0:
        silence(measurement[0])
    return int(p.diverged)


@law
def advance_limb_at(parts: int, no_loads: FloatArray, elapsed_s: float, substeps: int, now_ns: int) -> int:
    """``advance_limb`` by the address of a table of the addresses of ``PARTS``."""
    a = carray(pointer(parts), (10,), np.int64)
    return advance_limb(
        carray(pointer(a[0]), (1,), MODEL),
        carray(pointer(a[1]), (1,), PLANT),
        carray(pointer(a[2]), (1,), HANDTREE_WORK),
        carray(pointer(a[3]), (1,), COMMAND),
        carray(pointer(a[4]), (1,), MEASUREMENT),
        carray(pointer(a[5]), (1,), TRUTH),
        carray(pointer(a[6]), (1,), MODEL),
        carray(pointer(a[7]), (1,), LIMB),
        carray(pointer(a[8]), (1,), TREE),
        carray(pointer(a[9]), (1,), WORK),
        no_loads,
        elapsed_s,
        substeps,
        now_ns,
    )
