"""What a bus file leaves out, the hand file says: device ids of motors, channels of Hall sensors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from drivers.collector.device import CollectorBus
from drivers.collector.settings import CollectorSettings
from drivers.hallbridge.orca import SLOTS
from hand.assembly.assemble import names_of
from hand.file import load_hand
from hand.file.busfile import BusFileError, parse_bus_file
from signals.names import HandNames
from signals.records import COMMAND, MEASUREMENT, new
from sim.emulators.collector import CollectorEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide
from tests.rigs.emulated import hall_count, names
from tests.rigs.runs import on_time

BOARD = '[[bus]]\nname = "board"\nfamily = "collector"\nhost = "127.0.0.1"\n'
SERVOS = '[[bus]]\nname = "servos"\nfamily = "dynamixel"\nport = "/dev/ttyUSB0"\nbaud = 1000000\n' + "".join(
    f'[[bus.device]]\nmodel = "xm430-w210"\nmotor = "motor_{i}"\n' for i in range(3)
)
AXES = '[[bus]]\nname = "axes"\nfamily = "odrive"\nchannel = "can0"\n' + "".join(
    f'[[bus.device]]\nmotor = "motor_{i}"\ntorque_constant_nm_a = 0.05\n' for i in range(3)
)
BRIDGE = '[[bus]]\nname = "hall"\nfamily = "hall-bridge"\nport = "/dev/ttyACM0"\n'
ENCODERS = BRIDGE.replace("hall-bridge", "orca-encoders")
HAND = replace(names(3), motor_ids=(7, 2, 4), hall_channels=(3, 1, 6))


def entries(text: str, hand: HandNames = HAND) -> list[Any]:
    return [entry.settings for entry in parse_bus_file(text, "bus.toml").fitted_to(hand).entries]


def test_the_records_order_is_the_default() -> None:
    assert names(3).motor_ids == names(3).hall_channels == (1, 2, 3)


def test_names_of_a_hand_file_carry_its_ids_and_channels() -> None:
    file = load_hand("hasy")
    hand = names_of(file)
    assert hand.motor_ids == tuple(file.motors.values())
    assert hand.hall_channels == tuple(t.hall_channel for t in file.tendons)


def test_servos_and_axes_without_a_number_have_the_hand_files() -> None:
    servos, _ = entries(SERVOS + BRIDGE)
    axes, _ = entries(AXES + BRIDGE)
    assert [d.id for d in servos.device] == [d.node for d in axes.device] == list(HAND.motor_ids)


def test_a_number_of_the_bus_file_goes_first() -> None:
    servos, _ = entries(SERVOS.replace('motor = "motor_1"', 'id = 9\nmotor = "motor_1"') + BRIDGE)
    assert [d.id for d in servos.device] == [7, 9, 4]


@pytest.mark.parametrize(("text", "length"), [(BRIDGE, 6), (ENCODERS, SLOTS)])
def test_a_stream_without_channels_has_the_hand_files(text: str, length: int) -> None:
    _, hall = entries(SERVOS + text)
    assert len(hall.channels) == length
    assert {n: i + 1 for i, n in enumerate(hall.channels) if n} == dict(
        zip(HAND.tendons, HAND.hall_channels, strict=True)
    )


def test_a_board_without_slots_has_the_hand_files() -> None:
    (board,) = entries(BOARD)
    assert board.slots == ("", "motor_1", "", "motor_2", "", "", "motor_0")
    assert board.hall_slots == ("tendon_1", "", "tendon_0", "", "", "tendon_2")


@pytest.mark.parametrize(
    ("text", "hand", "told"),
    [
        (SERVOS, replace(HAND, motor_ids=(7, 253, 4)), ("id 253", "less than or equal to 252")),
        (AXES, replace(HAND, motor_ids=(7, 64, 4)), ("node 64", "less than or equal to 62")),
        (SERVOS.replace('motor = "motor_1"', 'id = 7\nmotor = "motor_1"'), HAND, ("id 7 is given to",)),
        (BOARD, replace(HAND, hall_channels=(3, 1, 65)), ("hall_channel 65", "give hall_slots")),
        (BRIDGE + SERVOS, replace(HAND, hall_channels=(3, 1, 2**40)), ("hall_channel", "give channels")),
        (
            BRIDGE
            + '[[bus.axis]]\nname = "flexion"\nchannel = 2\nzero_count = 0.0\nrad_count = 1.0\n'
            + SERVOS,
            replace(HAND, axes=("flexion",)),
            ("channel 2 belongs to 'tendon_0'",),
        ),
    ],
)
def test_a_number_that_the_bus_cannot_have_is_refused(
    text: str, hand: HandNames, told: tuple[str, ...]
) -> None:
    with pytest.raises(BusFileError) as caught:
        entries(text, hand)
    (problem,) = caught.value.problems
    assert problem.line == 1, problem
    assert all(part in str(problem) for part in (*told, "of the hand file")), problem


def test_a_motor_without_a_slot_is_named() -> None:
    with pytest.raises(BusFileError, match="no bus for motor motor_1"):
        entries(BOARD, replace(HAND, motor_ids=(7, 65, 4)))


@pytest.mark.realtime
def test_a_board_reads_what_the_hand_file_says() -> None:
    """Every motor and every Hall sensor in its own slot, on the wire."""
    side = SpringSide(7, 7, 0)
    side.LAG_S = 1e9  # type: ignore[misc]  # it stays where it is put
    side.angle_rad[:] = 0.01 * np.arange(1, 8)
    board = CollectorEmulator(side, 7, 7, 0)
    settings = CollectorSettings(
        name="board", family="collector", host=board.host, port=board.port, reply_timeout_us=20_000
    )
    with on_time(), EmulatorThread([board]):  # one exchange, and it has 20 ms
        bus = CollectorBus(settings.fitted(HAND), HAND, readonly=True)
        try:
            measurement = new(MEASUREMENT)
            bus.exchange(new(COMMAND), measurement, 1)
            z = measurement[0]
            slots = np.array(HAND.motor_ids) - 1
            assert z["motor_angle_rad"][:3] == pytest.approx(
                side.measurement["motor_angle_rad"][0, slots], abs=1e-6
            )
            assert len(set(z["motor_angle_rad"][:3])) == 3
            wanted = hall_count(side.measurement["motor_angle_rad"][0, np.array(HAND.hall_channels) - 1])
            assert z["hall_fine_count"][:3] == pytest.approx(wanted, abs=1.0)
        finally:
            bus.close()
