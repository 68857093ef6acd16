"""Zeros of the wrist's sensors between hand and devices: told less, asked for more; none: nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drivers.axis_zeros import ZeroedAxes, with_zeros
from drivers.hal import Bus, Forwarding
from hand.assembly.assemble import hand_sha256, model_of
from hand.file import HandFileError, load_hand, parse_hand
from runtime.session import run_lockstep
from signals.records import COMMAND, MEASUREMENT, RecordArray, new
from tools.commands.check import check

ZEROS_DEG = (1.0, -0.7)
HASY = Path(load_hand("hasy").path).read_text()


def with_lines(zeros_deg: tuple[float, ...] = ZEROS_DEG) -> str:
    lines = [
        f'\n[identified.{name}]\nsensor_zero_deg = {zero}\norigin = "identified: 2026-11-30 run a"\n'
        for name, zero in zip(("wrist_flexion", "wrist_abduction"), zeros_deg, strict=False)
    ]
    return HASY + "".join(lines)


class Devices:
    """Two axes that go where they are asked to, as their sensors have it; the second may be silent."""

    capabilities = None

    def __init__(self) -> None:
        self.asked: list[np.ndarray] = []
        self.silent = False

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        self.asked.append(command["axis_angle_rad"][0].copy())
        told = slice(0, 1 if self.silent else 2)
        measurement["axis_angle_rad"][0, told] = command["axis_angle_rad"][0, told]
        measurement["axis_time_ns"][0, told] = now_ns
        measurement["motor_angle_rad"][0, 3] = 0.25
        return 5

    def forward(self, command: RecordArray) -> None:
        self.asked.append(command["axis_angle_rad"][0].copy())


def test_a_hand_without_zeros_has_its_bus_as_it_is() -> None:
    devices: Any = Devices()
    for zeros in ((), (0.0, 0.0)):
        assert with_zeros(devices, zeros) is devices
    wrapped = with_zeros(devices, (0.1, 0.0))
    assert isinstance(wrapped, Bus) and isinstance(wrapped, Forwarding)


def test_angles_are_those_of_the_hand_on_one_side_and_of_the_sensors_on_the_other() -> None:
    devices: Any = Devices()
    zeros = np.array((0.1, -0.2))
    bus = ZeroedAxes(devices, zeros.tolist())
    command, rng = new(COMMAND), np.random.default_rng(0)
    for k in range(6):
        measurement = new(MEASUREMENT) if k % 2 else command_and_its_twin()
        devices.silent = k in (2, 3, 4)
        wanted = rng.uniform(-0.5, 0.5, 2)
        if not devices.silent:
            second = wanted[1]
        command["axis_angle_rad"][0] = wanted
        assert bus.exchange(command, measurement, 1000 + k) == 5
        np.testing.assert_array_equal(command["axis_angle_rad"][0], wanted)
        np.testing.assert_allclose(devices.asked[-1], wanted + zeros, atol=1e-15)
        np.testing.assert_allclose(measurement["axis_angle_rad"][0], (wanted[0], second), atol=1e-15)
        assert measurement["motor_angle_rad"][0, 3] == 0.25
        assert measurement["axis_time_ns"][0, 0] == 1000 + k
    bus.forward(command)
    np.testing.assert_allclose(devices.asked[-1], wanted + zeros, atol=1e-15)


def command_and_its_twin(kept: list[RecordArray] = []) -> RecordArray:  # noqa: B006
    """The same record in every other cycle, as the loop has it."""
    kept[:] = kept or [new(MEASUREMENT)]
    return kept[0]


@pytest.mark.parametrize("wiring", [None, "collector"])
def test_a_known_zero_is_in_no_angle_and_an_unknown_one_is(tmp_path: Path, wiring: str | None) -> None:
    """The drive closes its loop by the sensor, so that reading and goal agree in both cases."""
    plant, known = tmp_path / "plant.toml", tmp_path / "known.toml"
    for path in (plant, known):
        path.write_text(with_lines())
    unknown = tmp_path / "unknown.toml"
    unknown.write_text(HASY)
    choices: dict[str, Any] = {"seconds": 0.9, "sensors": "ideal", "guides": "ideal", "every": 30}
    choices |= {"motion": "hold", "plant": str(plant), "wiring": wiring}
    for file, zeros in ((known, (0.0, 0.0)), (unknown, ZEROS_DEG)):
        result = run_lockstep(str(file), **choices)
        assert result.report["faults"] == []
        frames = result.frames
        read, true = (np.degrees(frames[r]["axis_angle_rad"][1:, :2]) for r in ("state", "truth"))
        away = (read - true - zeros)[result.seconds[1:] > 0.1]
        assert np.abs(away).max() < 0.1
        neutral = np.degrees(model_of(load_hand("hasy"))["wrist_neutral_rad"][0])
        np.testing.assert_allclose(read[-1], neutral, atol=0.1)


def test_files_without_a_zero_are_the_hands_that_they_were(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plain, with_zero = load_hand("hasy"), parse_hand(with_lines(), "x")
    assert (
        "sensor_zero_deg" not in plain.model_dump_json() and "wrist_zero_deg" not in plain.model_dump_json()
    )
    assert hand_sha256(plain) != hand_sha256(with_zero)
    assert model_of(plain).tobytes() == model_of(with_zero).tobytes()  # nothing of it in the tick
    np.testing.assert_allclose(np.degrees(with_zero.axis_zeros_rad), ZEROS_DEG)
    path = tmp_path / "mine.toml"
    path.write_text(with_lines())
    assert check(str(path), as_json=False) == 0
    assert "wrist_flexion +1.000 deg, wrist_abduction -0.700 deg" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("[identified.wrist_flexion]\nsensor_zero_deg = 31.0", "less than or equal to 20|at most 20|<= 20"),
        ("[identified.wrist_flexion]\nsensor_zero_rad = 0.1", "sensor_zero_deg"),
        ("[identified.wrist_flexion]\nzero_rad = 0.1", "legal: sensor_zero_deg"),
        ("[identified.wrist_pitch]\nsensor_zero_deg = 1.0", "a motor, a tendon, a joint or a wrist axis"),
        ("[identified.index_flexion]\nsensor_zero_deg = 1.0", "legal: coulomb_nm"),
    ],
)
def test_a_zero_that_is_none_is_refused(lines: str, told: str) -> None:
    with pytest.raises(HandFileError, match=told):
        parse_hand(f'{HASY}\n{lines}\norigin = "identified: 2026-11-30 run a"\n', "x")


def test_a_hand_without_a_wrist_has_no_axis_to_measure() -> None:
    text = Path(load_hand("finger_bench").path).read_text()
    line = '\n[identified.wrist_flexion]\nsensor_zero_deg = 1.0\norigin = "identified: 2026-11-30 run a"\n'
    with pytest.raises(HandFileError, match="wrist_flexion"):
        parse_hand(text + line, "x")
