"""Chains of unlike servos: models, firmwares, status levels in every mixture are read right and watched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from drivers.bustools import IdRefused, give_id
from drivers.contract import Bench
from drivers.dynamixel.models import models, servo_model
from drivers.places import SerialPlace
from drivers.scanning import scan
from signals.modes import ChannelStatus
from sim.emulators.chain import ChainEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.servo import OVERLOAD
from sim.emulators.side import SpringSide
from tests.rigs import emulated as rigs
from tests.rigs.emulated import pulls_again

FAST_FROM = servo_model(rigs.MODEL).fast_sync_read_firmware
OLD, NEW = 38, 50
N = 4
"""Servos of a chain."""
WITH_CURRENT = tuple(m.name for m in models().values() if m.current_lsb_ma)


def _reason(bench: Bench) -> str:
    return str(bench.bus.report().reason)  # type: ignore[attr-defined]


def _good(bench: Bench) -> bool:
    """Everything answers and shows the temperature of the bench."""
    return bench.status == 0 and bool((bench.of_motors("motor_temperature_degc") == 30.0).all())


def _watched(bench: Bench, chain: ChainEmulator) -> None:
    """All answer, temperatures are the bench's, an error and a tripped watchdog are seen and put right."""
    bench.start()
    bench.pull(0.2, 0.2)
    assert bench.comes(0.5, lambda: _good(bench)), bench.tell()
    assert not bench.of_motors("motor_status").any()
    for i, servo in enumerate(chain.servos):
        servo.trip(OVERLOAD)
        assert bench.comes(0.5, lambda: "overload" in _reason(bench)), bench.tell()
        wrong = bench.of_motors("motor_status")
        assert wrong[i] & ChannelStatus.DEVICE_ERROR and not np.delete(wrong, i).any(), bench.tell()
        pulls_again(bench, 0.2)
        assert servo.reboots == 1
        servo.put("bus_watchdog", -1)
        assert bench.comes(0.5, lambda: "watchdog tripped" in _reason(bench)), bench.tell()
        pulls_again(bench, 0.2)
        assert servo.reboots == 1


@pytest.mark.sample(1)
@pytest.mark.parametrize("firmware", [(OLD,), (NEW,), (NEW, OLD)], ids=str)
def test_servos_without_fast_reads_are_watched_as_others_are(
    firmware: tuple[int, ...], tmp_path: Path
) -> None:
    assert FAST_FROM is not None and OLD < FAST_FROM <= NEW
    with rigs.dynamixel(tmp_path, 2, firmware=firmware) as (rig, chain):
        _watched(Bench(rig), chain)


@pytest.mark.parametrize("firmware", [OLD, NEW])
def test_models_with_their_health_at_other_addresses_share_a_chain(firmware: int, tmp_path: Path) -> None:
    chosen = ("xm430-w210", "xl330-m288")
    addresses = {servo_model(m).indirect_data for m in chosen}
    assert len(addresses) == 2
    with rigs.dynamixel(tmp_path, 2, models=chosen, firmware=(firmware,)) as (rig, chain):
        _watched(Bench(rig), chain)


@pytest.mark.sample(5)
@pytest.mark.parametrize("first", WITH_CURRENT)
def test_every_two_models_read_each_other_right(first: str, tmp_path: Path) -> None:
    """Each model beside one whose health lies elsewhere; temperature and current come in its own units."""
    at = servo_model(first).indirect_data
    other = next(m for m in WITH_CURRENT if servo_model(m).indirect_data != at)
    with rigs.dynamixel(tmp_path, 2, models=(first, other)) as (rig, _chain):
        rig.current_limit_a = 0.75  # within the range of the smallest
        bench = Bench(rig)
        bench.start()
        bench.pull(0.5, 0.3)
        assert bench.comes(0.5, lambda: _good(bench)), bench.tell()
        assert bench.of_motors("motor_current_a") == pytest.approx([0.5, 0.5], abs=2e-3)


@pytest.mark.parametrize("level", [0, 1])
def test_servos_that_answer_pings_alone_are_made_to_answer(level: int, tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 2, status_level=level) as (rig, chain):
        assert [s.get("status_return_level") for s in chain.servos] == [2, 2]
        bench = Bench(rig)
        bench.start()
        pulls_again(bench, 0.2)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_the_tools_find_a_quiet_servo_and_give_it_an_id(level: int, tmp_path: Path) -> None:
    chain = rigs.servo_chain(tmp_path / "servos", 1, SpringSide(1))
    place = SerialPlace(str(tmp_path / "servos"), rigs.BAUD)
    chain.servos[0].put("status_return_level", level)
    with EmulatorThread([chain]):
        (found,) = scan(place, listen=False)
        assert found.device == "id 1: xm430-w210" and not found.problem
        assert "id 1 is now id 7" in give_id(place, 7)


def test_an_id_without_effect_is_told_as_that(tmp_path: Path) -> None:
    chain = rigs.servo_chain(tmp_path / "servos", 1, SpringSide(1))
    servo = chain.servos[0]
    servo.write = lambda address, data: 0  # type: ignore[method-assign,assignment,return-value]
    with EmulatorThread([chain]):
        with pytest.raises(IdRefused, match="id 1 still answers as id 1.*had no effect"):
            give_id(SerialPlace(str(tmp_path / "servos"), rigs.BAUD), 7)


def test_an_id_is_not_written_into_a_servo_of_unknown_layout(tmp_path: Path) -> None:
    chain = rigs.servo_chain(tmp_path / "servos", 1, SpringSide(1))
    chain.servos[0].put("model_number", 350)  # its id lies at another address
    before = bytes(chain.servos[0].table)
    with EmulatorThread([chain]):
        with pytest.raises(IdRefused, match="model 350.*xm430-w210"):
            give_id(SerialPlace(str(tmp_path / "servos"), rigs.BAUD), 7)
    assert chain.servos[0].table[7:64] == before[7:64]


def test_a_silent_servo_hides_nobody_elses_trouble(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 3) as (rig, chain):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.2, 0.2)
        chain.servos[2].silent = True
        assert bench.comes(1.0, lambda: "motor_2 (id 3) is silent" in _reason(bench)), bench.tell()
        chain.servos[0].put("bus_watchdog", -1)
        assert bench.comes(0.5, lambda: "motor_0 (id 1): its bus watchdog tripped" in _reason(bench))
