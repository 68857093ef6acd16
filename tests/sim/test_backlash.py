"""Play of gears in the plant: MuJoCo's dead band, the balance of energy, and what nobody sees of it."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

from hand.assembly.assemble import model_of
from hand.assembly.mismatch import draw_mismatch
from hand.file.hand import HandFile
from hand.review.sight import sights_of
from runtime.session import run_lockstep
from signals.modes import FaultKind
from sim.options import Fault, substeps_of
from tests.rigs.bench_hand import Bench, lossless
from tests.rigs.geared import geared, with_play
from tests.sim.test_energy import imbalance

PLAY_DEG = 1.0
STIFFNESS_NM_RAD = 30.0
VISCOUS_NMS_RAD, JOINT_NMS_RAD = 0.005, 0.0005
TORQUES_NM = (0.1, -0.2, 0.2, -0.2, 0.1)
"""Each for some periods: the teeth meet, part and meet again."""
HELD = 20
FINE_S = 1e-5


def bench_of(hand: HandFile, viscous: float = 1.0, **options: object) -> Bench:
    """A plant without friction but for a share of the viscous one."""
    model = lossless(model_of(hand))
    model["friction_gamma_3_nms_rad"] = viscous * VISCOUS_NMS_RAD
    model["joint_viscous_nms_rad"] = viscous * JOINT_NMS_RAD
    return Bench(model, guides=False, energy=True, **options)


def driven(bench: Bench) -> np.ndarray:
    """Motor and joint angle [rad] after every period, shape (periods, 2)."""
    torques, angles = np.repeat(TORQUES_NM, HELD), []
    bench.torque(torques[0])
    bench.step()  # at rest; a command acts from the next period on
    for torque in (*torques[1:], 0.0):
        bench.torque(torque)
        bench.step()
        angles.append([bench.truth("motor_angle_rad")[0], bench.truth("joint_angle_rad")[0]])
    return np.array(angles)


def in_mujoco(hand: HandFile, ratio: float, play_deg: float) -> np.ndarray:
    """The same: a rotor, a bone on its hinge and, between them, a spring with a dead band."""
    (drive,), bone = hand.drives.values(), hand.fingers["f"].bones[0]  # type: ignore[union-attr]
    half = math.radians(play_deg) / 2.0
    com = " ".join(map(str, bone.com_m))
    ixx, iyy, izz, ixy, ixz, iyz = bone.inertia_kg_m2
    rotor_kg_m2 = drive.inertia_output_kg_m2 - 1e-9
    model = mujoco.MjModel.from_xml_string(f"""
<mujoco><option timestep="{FINE_S}" integrator="RK4" gravity="0 0 0"/><compiler balanceinertia="false"/>
<worldbody>
  <body><inertial pos="0 0 0" mass="1" diaginertia="1e-9 1e-9 1e-9"/>
    <joint name="rotor" axis="0 0 1" armature="{rotor_kg_m2}" damping="{VISCOUS_NMS_RAD}"/></body>
  <body><inertial pos="{com}" mass="{bone.mass_kg}" fullinertia="{ixx} {iyy} {izz} {ixy} {ixz} {iyz}"/>
    <joint name="bone" axis="{" ".join(map(str, bone.axis))}" damping="{JOINT_NMS_RAD}"/></body>
</worldbody>
<tendon><fixed stiffness="{STIFFNESS_NM_RAD}" springlength="{-half} {half}">
  <joint joint="rotor" coef="1"/><joint joint="bone" coef="{-ratio}"/></fixed></tendon>
<actuator><motor joint="rotor"/></actuator></mujoco>""")
    data, found = mujoco.MjData(model), []
    for torque in np.repeat(TORQUES_NM, HELD):
        data.ctrl[0] = torque
        mujoco.mj_step(model, data, round(1.0 / hand.control.rate_hz / FINE_S))
        found.append(data.qpos.copy())
    return np.array(found)


@pytest.mark.parametrize("ratio", [1.0, -2.0])
def test_motor_and_joint_move_as_in_mujoco(ratio: float) -> None:
    hand = geared([{"a": ratio}], [PLAY_DEG])
    wanted, half = in_mujoco(hand, ratio, PLAY_DEG), math.radians(PLAY_DEG) / 2.0
    gap = wanted[:, 0] - ratio * wanted[:, 1]
    assert (
        gap.max() > half and gap.min() < -half and (abs(gap) < 0.9 * half).any()
    )  # both flanks, and between
    usual = substeps_of(1.0 / hand.control.rate_hz)
    errors = [abs(driven(bench_of(hand, substeps=n * usual)) - wanted).max(axis=0) for n in (1, 16)]
    assert (errors[0] < 0.002 * np.ptp(wanted, axis=0)).all(), errors
    assert (errors[1] < 0.3 * errors[0]).all(), errors


@pytest.mark.parametrize("viscous", [0.0, 1.0])
def test_energy_that_goes_in_is_stored_or_lost_also_where_teeth_meet(viscous: float) -> None:
    """Two gears over two joints, one of which loses a line on the way."""
    hand = geared([{"a": 0.5, "b": 0.5}, {"a": 0.5, "b": -0.5}], [PLAY_DEG, 0.5 * PLAY_DEG])
    gaps = []
    for times in (1, 2, 4):
        bench = bench_of(hand, viscous, substeps=times * substeps_of(1.0 / hand.control.rate_hz))
        keep: dict[str, list[float]] = {f"energy_{k}_j": [] for k in ("in", "stored", "lost")}
        for torque in np.repeat(TORQUES_NM, HELD):
            bench.torque([torque, -0.7 * torque])
            bench.step()
            for name, values in keep.items():
                values.append(float(bench.truth(name)))
        gaps.append(imbalance({k: np.array(v) for k, v in keep.items()}))
    assert gaps[0] < 1e-3 and gaps[2] < 0.5 * gaps[0], gaps


def test_a_gear_that_lost_a_line_gains_no_energy() -> None:
    """The other line holds the spool at one end of its play: nothing turns by itself."""
    bench = bench_of(geared([{"a": 1.0}], [PLAY_DEG]))
    bench.bus.inject(Fault(kind=FaultKind.TENDON_OFF, index=0, time_s=0.0))
    bench.step(200)
    before = float(bench.truth("energy_stored_j"))
    lost, energies = [], []
    for _ in range(100):
        bench.step()
        lost.append(float(bench.truth("energy_lost_j")))
        energies.append(float(bench.truth("energy_stored_j")))
    assert np.diff(lost).min() >= 0.0 and max(energies) <= before * (1.0 + 1e-9)


def test_check_names_the_play_that_a_held_joint_has_and_its_motor_does_not_see() -> None:
    """Two gears over two joints: joint a is free by what both together leave open."""
    hand = geared([{"a": 0.5, "b": 0.5}, {"a": 0.5, "b": -0.5}], [PLAY_DEG, 0.5 * PLAY_DEG])
    said = [text for text in sights_of(hand)[0].not_detected if text.startswith("play")]
    assert said == ["play of 1.5 deg at joint a, b, which motor encoders do not see"]
    bench, reached = bench_of(hand), []
    bench.bus.model["motor_inertia_kg_m2"] = 1e6  # motors that stand
    bench.bus.model["joint_viscous_nms_rad"] = 10.0 * JOINT_NMS_RAD
    for push in (1.0, -1.0):
        bench.bus.apply_wrench(0, (0.0, 0.0, 0.0), (0.0, -1e-3 * push, 0.0))
        bench.step(300)
        reached.append(math.degrees(bench.truth("joint_angle_rad")[0]))
    assert reached[0] - reached[1] == pytest.approx(1.5 * PLAY_DEG, rel=0.02)


def test_no_play_is_none_and_a_drawn_one_changes_nothing_else() -> None:
    """The stream of the play is its own: what else is drawn stays, for every seed."""
    left_out, none, some = (geared([{"a": 1.0}], [p]) for p in (None, 0.0, PLAY_DEG))
    plain, model = model_of(left_out), model_of(some)
    assert model_of(none).tobytes() == plain.tobytes() and not plain["n_backlashes"][0]
    spread = some.tolerances.model_copy(update={"backlash": 0.3})
    for seed in range(5):
        ours, theirs = draw_mismatch(model, seed, spread), draw_mismatch(plain, seed, left_out.tolerances)
        play = float(ours["backlash_rad"][0, 0] / model["backlash_rad"][0, 0])
        assert play != 1.0 and 0.1 < play < 1.9
        ours["backlash_rad"] = ours["n_backlashes"] = 0
        assert ours.tobytes() == theirs.tobytes()
        same = draw_mismatch(model, seed, some.tolerances)
        assert same["backlash_rad"].tobytes() == model["backlash_rad"].tobytes()


def test_a_hand_with_play_moves_without_a_fault_and_is_off_by_no_more(tmp_path: Path) -> None:
    """The controller knows nothing of it; its angles are off by half the play beyond what they were."""
    file = tmp_path / "loose.toml"
    file.write_text(with_play(PLAY_DEG))
    errors = {}
    for told, plant in (("tight", None), ("loose", file)):
        choices = {} if plant is None else {"plant": str(plant)}
        run = run_lockstep("leap_v1", motion="open_close", seconds=2.0, every=1, **choices)
        assert run.report["faults"] == []
        joints = int(run.hand.model["n_joints"][0])
        estimate, truth = (run.frames[k]["joint_angle_rad"][:, :joints] for k in ("state", "truth"))
        errors[told] = np.degrees(np.abs(estimate - truth)).max()
    assert errors["tight"] + 0.2 * PLAY_DEG < errors["loose"] < errors["tight"] + 0.6 * PLAY_DEG
