"""Where a run begins, by the file; and left hands as mirror images of right ones."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from hand.assembly.assemble import hand_sha256, model_of
from hand.file import load_hand, parse_hand
from hand.file.homing import NOT_ON_A_BUS, POSES, Homing
from hand.options import OptionError, RunOptions
from mechanics.handtree import hand_dynamics, new_work
from runtime.setup import read_hand
from tests.rigs.mutations import TEXTS, refusal
from tests.rigs.sensed import joint_sensor

BENCH = TEXTS["finger_bench"]
BENCH_JOINTS = [j.name for j in parse_hand(BENCH, "x").joints]
ROOT = Path(__file__).parents[2]
ENCODERS = '[[bus]]\nname = "encoders"\nfamily = "hall-bridge"\nport = "/dev/ttyACM9"\nrate_hz = 1000.0\n'


def with_homing(lines: str) -> str:
    return f'{BENCH}\n[homing]\n{lines}\norigin = "assumed"\n'


def test_the_poses_are_those_of_the_schema() -> None:
    assert get_args(Homing.model_fields["pose"].annotation) == POSES


@pytest.mark.parametrize("pose", POSES)
def test_every_pose_begins_a_simulation_and_what_cannot_run_on_a_bus_is_refused(pose: str, tmp_path) -> None:
    file = tmp_path / "hand.toml"
    sensors = (
        "".join(joint_sensor(j, 40 + k) for k, j in enumerate(BENCH_JOINTS)) if "sensors" in pose else ""
    )
    file.write_text(with_homing(f'pose = "{pose}"') + sensors)
    hand, bus = load_hand(file), tmp_path / "bus.toml"
    bus.write_text(
        (ROOT / "configs/buses/finger_bench_drives.toml").read_text() + (ENCODERS if sensors else "")
    )
    assert read_hand(RunOptions(hand=str(file), lockstep=True)).file.homing == hand.homing
    wired = RunOptions(hand=str(file), bus=str(bus))
    if pose in NOT_ON_A_BUS:
        line = hand.line_of(("homing", "pose"))
        with pytest.raises(
            OptionError, match=f"toml:{line}: homing.pose: .*flexor calibrate zero.*legal with"
        ):
            read_hand(wired)
    else:
        assert read_hand(wired).file.homing == hand.homing


@pytest.mark.parametrize(
    ("lines", "key", "words"),
    [
        ('pose = "stop"', "homing.pose", "stops"),
        ('pose = "stops"\nsequence = [["index_pip"], ["index_dib"]]', "homing.sequence[1][0]", "index_dip"),
        (
            'pose = "stops"\nsequence = [["index_pip"], ["index_pip"]]',
            "homing.sequence[1][0]",
            "every joint once",
        ),
        ('pose = "joint_sensors"', "homing.pose", "without a sensor at index_"),
        ('pose = "stops"\nsequence = [[]]', "homing.sequence[0]", "at least 1"),
        ('pose = "stops"\ncurrent_a = 0.0', "homing.current_a", "> 0"),
    ],
)
def test_a_wrong_homing_is_refused_where_it_stands(lines: str, key: str, words: str) -> None:
    found = refusal(with_homing(lines))
    assert any(p.key == key and words in str(p) for p in found), [str(p) for p in found]


def test_a_left_hand_is_the_mirror_image_of_the_right_one() -> None:
    """The same joint angles bring fingertips to mirrored places, with the same inertia and weight."""
    text = TEXTS["n_plus_one"]
    assert hand_sha256(parse_hand(text, "x")) != hand_sha256(parse_hand('side = "left"\n' + text, "x"))
    rng, q, qd = np.random.default_rng(5), np.zeros(32), np.zeros(32)
    q[:3], qd[:3] = rng.uniform(-0.5, 1.0, 3), rng.normal(size=3)
    work = {}
    for side in ("right", "left"):
        model = model_of(parse_hand(f'side = "{side}"\n' + text, "x"))
        model["gravity_m_s2"] = 3.0, -5.0 if side == "left" else 5.0, 7.0
        work[side] = new_work(model)[0]
        hand_dynamics(model[0], np.zeros(2), np.zeros(2), q, qd, work[side])
    right, left = work["right"], work["left"]
    np.testing.assert_allclose(left["tips"][0], right["tips"][0] * [1.0, -1.0, 1.0], atol=1e-15)
    assert abs(right["tips"][0, 1]) > 1e-3
    np.testing.assert_allclose(left["H"], right["H"], atol=1e-18)
    np.testing.assert_allclose(left["bias"], right["bias"], atol=1e-15)


def test_what_has_no_mirror_image_is_refused() -> None:
    found = refusal('side = "left"\n' + TEXTS["hasy"])
    assert {p.key for p in found} == {"wrist", "fingers.thumb.kind"}
    assert not refusal('side = "left"\n' + BENCH)
