"""``flexor doctor`` lists what packages add, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from drivers.dynamixel import models
from reports.finding import Level
from runtime.host.machine import Machine
from signals.plugins import GROUPS
from tests.rigs.packages import EXAMPLES, example_folders, stranger
from tools.doctor.packages import CHECKS, packages

BROKEN = {
    "import error": ("import no_such_module\n", "{name}:THING", "{file}:1: ModuleNotFoundError"),
    "missing attribute": ("X = 1\n", "{name}:THING", "{file}:1: module '{name}' has no attribute 'THING'"),
    "wrong type": ("\nTHING = 7\n", "{name}:THING", "{file}:2: 7 is"),
    "exception at load": ("\n\nTHING = [][0]\n", "{name}:THING", "{file}:3: IndexError"),
    "no module": ("", "{name}_gone:THING", "{declared}:2: no module '{name}_gone' is installed"),
}


def test_every_group_is_looked_at() -> None:
    assert set(CHECKS) == set(GROUPS)


def test_every_example_is_listed_as_sound(installed: Path) -> None:
    found = packages(Machine())
    assert {f.level for f in found} == {Level.PASS}, [str(f) for f in found]
    told = "\n".join(f.fact for f in found)
    for part in ("hands/lab_hinge", "devices/dynamixel/acme-x8", "command 'stray'", "'pendulum_chain'"):
        assert part in told
    assert len(found) >= len(example_folders()) - 1


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("group", [group for group in GROUPS if group != "flexor.configs"])
def test_every_broken_entry_is_a_finding_with_package_file_and_line(
    group: str, case: str, strangers: Path
) -> None:
    text, value, said = BROKEN[case]
    made = stranger(strangers, group, text, value)
    (found,) = packages(Machine())
    assert found.level is Level.FAIL and found.check == "packages"
    assert f"of package {made.name} 1.0 ({value.format(name=made.name)})" in found.fact
    assert said.format(name=made.name, file=made.file, declared=made.declared) in found.fact
    assert f"pip uninstall {made.name}" in found.fix


@pytest.mark.parametrize("group", [group for group in GROUPS if group != "flexor.configs"])
def test_a_name_that_two_offer_is_told_of_both(group: str, strangers: Path) -> None:
    names = [stranger(strangers, group, "THING = 1\n", entry="twice").name for _ in range(2)]
    found = packages(Machine())
    assert len(found) == 2 and all(f"package {n} 1.0" in f.fact for f in found for n in names)


def test_a_folder_of_files_is_read_file_by_file(strangers: Path) -> None:
    made = stranger(strangers, "flexor.configs", "", "{name}")
    made.file.unlink()
    folder = strangers / made.name / "hands"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (found,) = packages(Machine())
    assert found.level is Level.FAIL and "holds no file" in found.fact
    (folder / "mine.toml").write_text("name = 3\n")
    (found,) = packages(Machine())
    assert found.level is Level.FAIL and f"{folder / 'mine.toml'}:1: name" in found.fact


def test_two_device_files_are_two_models_by_what_they_hold_not_by_their_names(strangers: Path) -> None:
    table = (EXAMPLES / "device_model/acme_servos/devices/dynamixel/acme-x8.toml").read_text()

    def offered(text: str) -> None:
        made = stranger(strangers, "flexor.configs", "", "{name}")
        made.file.unlink()
        (strangers / made.name / "devices/dynamixel").mkdir(parents=True)
        (strangers / made.name / "devices/dynamixel/servo.toml").write_text(text)

    offered(table)
    offered(table.replace("acme-x8", "acme-x9").replace("4711", "4712"))
    assert {f.level for f in packages(Machine())} == {Level.PASS}
    models.forget()
    offered(table.replace("acme-x8", "xm430-w350").replace("4711", "4713"))
    (found,) = (f for f in packages(Machine()) if f.level is Level.FAIL)
    assert "servo model 'xm430-w350' is offered by flexor itself (" in found.fact
