"""What an emulation prints and wires follows from the hand: its rate, its sensors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hand.file.busfile import load_bus_file
from hand.options import RunOptions
from runtime.setup import read_hand
from sim.emulators.side import SpringSide
from sim.emulators.wiring import RATE_HZ, Site, wire
from tests.rigs import emulated as rigs

HANDS = ("finger_bench", "orca_v2", "leap_v1", "n_plus_one", "sdm")


@pytest.mark.parametrize("kind", ["dynamixel", "odrive", "collector"])
@pytest.mark.parametrize("name", HANDS)
def test_every_sensor_of_the_hand_and_no_other_is_wired(name: str, kind: str, tmp_path: Path) -> None:
    hand = read_hand(RunOptions(hand=name))
    names = hand.names
    side = SpringSide(len(names.motors), len(names.tendons), axes=len(names.axes))
    wired = wire(kind, side, names, Site(folder=tmp_path))
    try:
        path = tmp_path / "bus.toml"
        path.write_text(wired.text)
        buses = [entry.settings for entry in load_bus_file(str(path)).entries]
        sensed = [t.name for t in hand.file.tendons if hand.file.channel_at(t.name) is not None]
        assert sorted(n for bus in buses for n in bus.halls(names)) == sorted(sensed)
        assert [n for bus in buses for n in bus.motors(names)] == list(names.motors)
        bridges = [bus for bus in buses if bus.family == "hall-bridge"]
        assert len(bridges) == (kind != "collector" and bool(sensed or names.axes))
        words = wired.run_words(0.3, hand.rate_hz)
        slowed = kind != "collector" and hand.rate_hz > RATE_HZ[kind]
        assert ("--rate" in words) is slowed and bool(words) is slowed
        assert not slowed or float(words[words.index("--rate") + 1]) < hand.rate_hz
    finally:
        for emulator in wired.emulators:
            emulator.close()


def test_a_bridge_shows_the_sensor_of_the_tendon_that_has_one(tmp_path: Path) -> None:
    """Of four tendons the second and the last: each channel carries its own tendon's count."""
    names = replace(rigs.names(4), hall_channels=(0, 1, 0, 2))
    assert names.sensed_tendons == (names.tendons[1], names.tendons[3])
    side = SpringSide(4, 4)
    wired = wire("dynamixel", side, names, Site(folder=tmp_path))
    try:
        side.measurement["hall_count"][0, :4] = (100, 200, 300, 400)
        (bridge,) = [e for e in wired.emulators if hasattr(e, "_tendons")]
        bridge._fill(bridge._batch[0])
        assert bridge._batch[0].tolist() == [200, 400]
    finally:
        for emulator in wired.emulators:
            emulator.close()
