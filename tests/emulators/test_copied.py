"""Emulated devices as a bus file has them: its hand runs behind them, and what is wrong with it is told."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from drivers.dynamixel.settings import DynamixelSettings
from hand.file.busfile import BusFileError, load_bus_file
from hand.options import RunOptions
from runtime.session import run_lockstep
from runtime.setup import read_hand
from signals.choices import WrongChoice
from sim.emulators.chain import ChainEmulator
from sim.emulators.copied import wire_by
from sim.emulators.side import SpringSide
from sim.emulators.wiring import Site
from tests.rigs.mutations import TEXTS
from tests.rigs.sensed import ENCODERS, orca

BUSES = Path(__file__).parents[2] / "configs" / "buses"
ORCA, ORCA_BUS = "orca_v2_position", "orca_v2_position_servos"
FRICTION = re.compile(r"(?m)^(gamma_[23]_\w+) = ([\d.]+)")


def _file(folder: Path, name: str, content: str) -> str:
    file = folder / f"{name}.toml"
    file.write_text(content)
    return str(file)


def _more_friction(text: str) -> str:
    return FRICTION.sub(lambda g: f"{g[1]} = {1.2 * float(g[2]):.6g}", text)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("hand", "bus", "sensed", "most_deg"),
    [
        (ORCA, ORCA_BUS, False, 1.5),
        (ORCA, ORCA_BUS, True, 0.5),
        ("orca_v2", "orca_v2_servos", False, 1.5),
        ("orca_v2", "orca_v2_servos", True, 0.5),
        ("leap_v1", "leap_v1_servos", False, 1.5),
    ],
)
def test_a_hand_behind_its_own_wires_tells_its_joints_with_friction_a_fifth_wrong(
    hand: str, bus: str, sensed: bool, most_deg: float, tmp_path: Path
) -> None:
    """Bytes, baud rate, models and signs of the shipped bus file; the encoders of its makers' board."""
    text, wires = TEXTS[hand], bus
    if sensed:
        text = orca(hand)
        wires = _file(
            tmp_path, "bus", (BUSES / f"{bus}.toml").read_text() + (ENCODERS / "bus.toml").read_text()
        )
    plant = _more_friction(text)
    assert plant != text
    files = _file(tmp_path, "hand", text), _file(tmp_path, "plant", plant)
    report = run_lockstep(files[0], motion="open_close", seconds=2.0, plant=files[1], wiring=wires).report
    assert (report["faults"], report["left_out"]) == ([], [])
    assert report["estimate_error_deg"]["rms"] < most_deg
    assert set(report["joint_source"].values()) == {"sensor" if sensed else "motors"}
    assert report["backend"] == ("dynamixel+orca-encoders" if sensed else "dynamixel")


@pytest.mark.parametrize("name", ["leap_v1", ORCA, "finger_bench"])
def test_devices_are_those_of_the_file(name: str, tmp_path: Path) -> None:
    names = read_hand(RunOptions(hand=name)).names
    file = load_bus_file(f"{name}_servos").fitted_to(names)
    side = SpringSide(len(names.motors), len(names.tendons))
    wired = wire_by(f"{name}_servos", side, names, Site(folder=tmp_path))
    chains = [e for e in wired.emulators if isinstance(e, ChainEmulator)]
    tables = [e.settings for e in file.entries if isinstance(e.settings, DynamixelSettings)]
    try:
        for chain, table in zip(chains, tables, strict=True):
            for servo, device in zip(chain.servos, table.device, strict=True):
                servo.sense(1)
                shown = servo.get("present_position") / servo.model.counts_per_turn
                turn_rad = 6.283185307179586 / (device.direction * device.gear_ratio)
                assert (servo.id, servo.model.name, servo.motor) == (
                    device.id,
                    device.model,
                    names.motors.index(device.motor),
                )
                assert shown * turn_rad - device.zero_rad == pytest.approx(0.0, abs=abs(turn_rad) / 4096)
            assert chain.adapter_latency_ns == 1000 * table.adapter_latency_us
        told = load_bus_file(_file(tmp_path, "told", wired.text))
        for told_entry, entry in zip(told.fitted_to(names).entries, file.entries, strict=True):
            apart = {"port", "reply_margin_us", "watchdog_ms", "serial"}
            assert told_entry.settings.model_dump(exclude=apart) == entry.settings.model_dump(exclude=apart)
    finally:
        for emulator in wired.emulators:
            emulator.close()


BENCH_BUS = (BUSES / "finger_bench_servos.toml").read_text()
BOARD = '[[bus]]\nname = "collector"\nfamily = "collector"\nhost = "127.0.0.1"\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOARD, "bus 'collector': devices of the family 'collector' are not emulated by a bus file"),
        ((BUSES / "leap_v1_servos.toml").read_text(), "legal"),
        (
            BENCH_BUS.replace('motor = "m_index_1"', 'motor = "m_index_1"\nzero_rad = 1e5'),
            "motor m_index_1: zero_rad 100000; xm430-w210 can have 1602 rad to either side",
        ),
    ],
)
def test_a_file_that_is_not_for_it_is_refused_by_name(text: str, told: str, tmp_path: Path) -> None:
    names = read_hand(RunOptions(hand="finger_bench")).names
    words: Any = (SpringSide(8, 8), names, Site(folder=tmp_path))
    with pytest.raises(BusFileError, match=told):
        wire_by(_file(tmp_path, "bus", text), *words)


def test_a_word_that_is_neither_a_wiring_nor_a_file_is_refused_with_the_legal_ones(tmp_path: Path) -> None:
    names = read_hand(RunOptions(hand="finger_bench")).names
    with pytest.raises(WrongChoice, match="no wiring 'dynamixl'.*dynamixel"):
        wire_by("dynamixl", SpringSide(8, 8), names, Site(folder=tmp_path))
