"""Hands, motions and device models of a package are found by name, as ours are; what is wrong is named."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from drivers.bustools import give_id
from drivers.dynamixel.models import BAUD_CODES, broken_models, models, servo_model
from drivers.places import SerialPlace
from drivers.scanning import scan
from hand.file import load_hand
from hand.file.busfile import load_bus_file
from runtime.busprocess.opening import open_buses
from sim.emulators.chain import ChainEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.servo import EmulatedServo
from sim.emulators.side import SpringSide
from sim.emulators.wiring import Site, wire
from tests.extending.conftest import Flexor
from tests.rigs import emulated as rigs
from tests.rigs.packages import EXAMPLES, stranger

MODEL = "acme-x8"


def test_a_hand_and_a_motion_of_a_package_run_by_name(installed: Path, flexor: Flexor) -> None:
    words = ("run", "lab_hinge", "--motion", "lab_swing", "--for", "2", "--lockstep", "--json")
    code, out, err = flexor(*words)
    report = json.loads(out)
    assert code == 0, err
    assert report["hand"] == "lab_hinge" and not report["faults"]
    assert report["tracking_error_deg"]["rms"] < 3.0
    assert flexor("check", "lab_hinge")[0] == 0


def test_a_device_model_of_a_package_is_scanned_named_and_given_an_id(
    installed: Path, tmp_path: Path
) -> None:
    side = SpringSide(1)
    servo = EmulatedServo(3, servo_model(MODEL), side, 0)
    servo.put("baud", BAUD_CODES[rigs.BAUD])
    place = SerialPlace(str(tmp_path / "line"), rigs.BAUD)
    with EmulatorThread([ChainEmulator([servo], side, tmp_path / "line")]):
        (found,) = scan(place, listen=False)
        assert found.device == f"id 3: {MODEL}" and not found.problem
        assert give_id(place, 5) == f"id 3 is now id 5 ({MODEL})"


@pytest.mark.realtime
def test_a_hand_behind_servos_of_a_package_is_opened(installed: Path, tmp_path: Path) -> None:
    names, side = rigs.names(2), SpringSide(2)
    wired = wire("dynamixel", side, names, Site(folder=tmp_path, servo=MODEL))
    file = tmp_path / "bus.toml"
    file.write_text("realtime = false\n" + wired.text)
    assert wired.text.count(f'model = "{MODEL}"') == 2
    with EmulatorThread(wired.emulators):
        bus = open_buses(load_bus_file(str(file)), names)
        assert bus.capabilities.n_motors == 2
        bus.close()


def test_a_servo_that_nobody_knows_is_refused_with_the_nearest(installed: Path, flexor: Flexor) -> None:
    words = ("emulate", "finger_bench", "--wiring", "dynamixel", "--servo", "acme-x9", "--for", "0.1")
    code, _, err = flexor(*words)
    assert code == 2 and f"no servo model 'acme-x9'; did you mean '{MODEL}'?" in err


def _folder(site: Path, below: str, files: dict[str, str]) -> tuple[str, Path]:
    """A package of files; its name, its folder."""
    made = stranger(site, "flexor.configs", "", "{name}")
    made.file.unlink()
    folder = site / made.name
    (folder / below).mkdir(parents=True)
    (folder / "__init__.py").write_text("raise RuntimeError('the code of a folder of files is never run')\n")
    for name, text in files.items():
        (folder / below / name).write_text(text)
    return made.name, folder / below


def test_a_hand_that_two_offer_is_refused_with_both(strangers: Path, flexor: Flexor) -> None:
    text = (EXAMPLES / "hand/lab_hands/hands/lab_hinge.toml").read_text()
    first, _ = _folder(strangers, "hands", {"lab_hinge.toml": text, "hasy.toml": text})
    assert load_hand("lab_hinge").name == "lab_hinge"
    second, _ = _folder(strangers, "hands", {"lab_hinge.toml": text})
    code, _, err = flexor("run", "lab_hinge", "--lockstep", "--for", "0.1")
    assert code == 2 and f"package {first} 1.0 (" in err and f"package {second} 1.0 (" in err
    code, _, err = flexor("check", "hasy")
    assert code == 2 and "flexor itself (" in err and f"package {first} 1.0 (" in err


def test_an_entry_that_names_no_package_is_told_where_it_is_looked_for(
    strangers: Path, flexor: Flexor
) -> None:
    made = stranger(strangers, "flexor.configs", "", "no_such_package")
    code, _, err = flexor("check", "lab_hing")
    place = f"{made.declared}:2: no package 'no_such_package' is installed"
    assert code == 2 and place in err and f"of package {made.name} 1.0" in err
    with pytest.raises(ValueError, match="no package 'no_such_package'"):
        servo_model("nothing")


TABLE = (EXAMPLES / f"device_model/acme_servos/devices/dynamixel/{MODEL}.toml").read_text()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("model_number = 4711", "model_number = ", "(at line 3, column"),
        ("model_number = 4711", 'model_number = "4711"', ":3: model_number: Input should be a valid integer"),
        ("model_number = 4711\n", "", ": model_number: Field required"),
        ('"velocity"', '"velocty"', ":4: modes.1: Input should be 'current', 'velocity'"),
        ("indirect_slots", "indirect_slot", ":10: indirect_slot: Extra inputs are not permitted"),
        (
            "source =",
            "[registers]\npresent_current = { address = 4, size = 2 }\n#",
            ":12: registers.present_",
        ),
        (
            "source =",
            "[registers]\npresent_temp = { address = 147, size = 1 }\n#",
            ":12: registers.present_temp: the driver uses no such register; did you mean 'present_temp",
        ),
        ("current_lsb_ma = 1.0\n", "", ":4: modes: a current mode without current_lsb_ma"),
        ("model_number = 4711", "model_number = 1020", "xm430-w350.toml) and by package"),
    ],
)
def test_a_broken_device_file_is_named_and_costs_the_others_nothing(
    old: str, new: str, said: str, strangers: Path
) -> None:
    assert old in TABLE
    name, folder = _folder(strangers, "devices/dynamixel", {"bad.toml": TABLE.replace(old, new)})
    assert "xm430-w210" in models() and MODEL not in models()
    (told,) = broken_models()
    assert f"package {name} 1.0" in told and str(folder / "bad.toml") in told and said in told
    with pytest.raises(ValueError, match=f"no servo model 'acme-x8'.*package {name} 1.0.*bad.toml"):
        servo_model(MODEL)


def test_a_register_of_its_own_leaves_the_others_as_they_are(strangers: Path) -> None:
    own = TABLE + "[registers]\npresent_temperature = { address = 147, size = 1 }\n"
    _folder(strangers, "devices/dynamixel", {"own.toml": own})
    assert servo_model(MODEL).registers["present_temperature"].address == 147
    assert servo_model(MODEL).registers.keys() == servo_model("xm430-w210").registers.keys()


def test_a_model_that_two_offer_is_nobodys(strangers: Path) -> None:
    first, folder = _folder(strangers, "devices/dynamixel", {"a.toml": TABLE})
    shutil.copy(folder / "a.toml", folder / "b.toml")
    with pytest.raises(ValueError, match=rf"'{MODEL}' is offered by package {first} 1.0 \(.*a.toml\) and by"):
        servo_model(MODEL)
