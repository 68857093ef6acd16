"""Sensors at joints on both streams: from the emulated board to the record, bad ones too."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drivers.hallbridge.device import HallBridgeBus
from drivers.hallbridge.orca import SLOTS
from drivers.hallbridge.orca_device import OrcaBus
from drivers.hallbridge.settings import HallBridgeSettings, OrcaSettings
from drivers.slots import channels_of
from hand.assembly.assemble import names_of
from hand.file import parse_hand
from hand.file.busfile import BusFileError, load_bus_file, parse_bus_file
from signals.modes import BusStatus, ChannelStatus
from signals.records import COMMAND, MEASUREMENT, RecordArray, new
from sim.emulators.hallstream import HallBridgeEmulator, OrcaEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide
from tests.rigs.emulated import names
from tests.rigs.sensed import ENCODERS, orca

N = 3
HAND = replace(names(2), joints=("a", "b", "c"), joint_channels=(4, 0, 5))
"""Two tendons on channels 1 and 2, joints ``a`` and ``c`` on channels 4 and 5."""
COUNTS = {"a": 1234.0, "c": 16383.0}


def _side() -> SpringSide:
    side = SpringSide(2, 2)
    for joint, count in COUNTS.items():
        side.measurement["joint_count"][0, HAND.index("joint", joint)] = count
    return side


def _until(bus: HallBridgeBus | OrcaBus, m: RecordArray, done: Callable[[int], bool]) -> bool:
    end = time.monotonic() + 5.0
    while time.monotonic() < end:
        if done(bus.exchange(new(COMMAND), m, time.monotonic_ns())):
            return True
    return False


@pytest.mark.parametrize("family", ["hall-bridge", "orca-encoders"])
def test_counts_of_joints_come_through_with_time_and_status(family: str, tmp_path: Path) -> None:
    line, side, many = tmp_path / "line", _side(), 5 if family == "hall-bridge" else SLOTS
    told = {"name": "line", "family": family, "port": str(line), "rate_hz": 500.0, "lost_ms": 500.0}
    halls, joints = [0, 1, *[-1] * (many - 2)], [-1, -1, -1, 0, 2, *[-1] * (many - 5)]
    emulator: HallBridgeEmulator | OrcaEmulator
    bus: HallBridgeBus | OrcaBus
    if family == "hall-bridge":
        emulator = HallBridgeEmulator(side, halls, line, rate_hz=500.0, joints=joints)
    else:
        emulator = OrcaEmulator(side, halls, line, rate_hz=500.0, joints=joints)
    with EmulatorThread([emulator]):
        if family == "hall-bridge":
            bus = HallBridgeBus(HallBridgeSettings.model_validate(told).fitted(HAND), HAND)
        else:
            bus = OrcaBus(OrcaSettings.model_validate(told).fitted(HAND), HAND)
        bus.activate()
        m, other = new(MEASUREMENT), new(MEASUREMENT)
        assert _until(bus, m, lambda status: status == 0)
        assert m["joint_count"][0, :N].tolist() == [COUNTS["a"], 0.0, COUNTS["c"]]
        assert m["joint_time_ns"][0, 0] == m["hall_time_ns"][0, 1] > 0 and m["joint_time_ns"][0, 1] == 0
        channels = channels_of(bus._stream, HAND)
        assert channels.merge(m, other) == 0
        for name in ("joint_count", "joint_time_ns", "joint_status", "hall_count"):
            np.testing.assert_array_equal(other[name], m[name])
        side.measurement["joint_status"][0, 2] = ChannelStatus.MISSING
        bad = ChannelStatus.STALE if family == "hall-bridge" else ChannelStatus.DEVICE_ERROR
        assert _until(bus, m, lambda status: m["joint_status"][0, 2] == bad)
        assert m["joint_status"][0, :2].tolist() == [0, 0]
        emulator.faults.silent = True
        assert _until(bus, m, lambda status: bool(status & BusStatus.LOST))
        assert m["joint_status"][0, 0] & ChannelStatus.STALE and m["joint_status"][0, 1] == 0
        channels.mark_stale(other)
        assert other["joint_status"][0, :N].tolist() == [2, 0, 2]
        bus.close()


def test_the_orcas_board_has_its_slots_by_the_hand_file_and_needs_a_bus() -> None:
    hand = names_of(parse_hand(orca("orca_v2_position"), "x.toml"))
    servos = load_bus_file("orca_v2_position_servos")
    with pytest.raises(BusFileError, match="no bus for the sensor of joint wrist, thumb_cmc"):
        servos.fitted_to(hand)
    text = Path(servos.path).read_text() + (ENCODERS / "bus.toml").read_text()
    (_, board) = parse_bus_file(text, "bus.toml").fitted_to(hand).entries
    assert isinstance(board.settings, OrcaSettings)
    slots = board.settings.joint_channels
    assert len(slots) == len(board.settings.channels) == SLOTS and not any(board.settings.channels)
    assert (slots[0], slots[4], slots[16]) == ("thumb_dip", "index_pip", "wrist")
    assert sorted(slots) == sorted(hand.joints)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"joint_channels": ("a", "", "")}, "channel 0 belongs to tendon 'tendon_0' and to joint 'a'"),
        ({"joint_channels": ("", "", "a", "a")}, "joint_channels: 'a' is named twice"),
        ({"joint_channels": ("", "", "", "", "", "a")}, "joint_channels: 6, there are 5 channels"),
    ],
)
def test_channels_that_contradict_each_other_are_told(changes: dict[str, object], told: str) -> None:
    values = {
        "name": "hall",
        "family": "hall-bridge",
        "port": "/dev/x",
        "channels": (*HAND.tendons, "", "", ""),
    }
    assert told in "; ".join(HallBridgeSettings.model_validate(values | changes).conflicts())
