"""A command of a package stands beside ours; a broken one names its package and costs the others nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extending.conftest import Flexor
from tests.rigs.packages import stranger

GROUP = "flexor.commands"
APP = """import typer

THING = typer.Typer()

@THING.command()
def run() -> None:
    fails()

def fails():
    raise KeyError("odd")
"""


def test_a_command_of_a_package_is_listed_helped_and_run(installed: Path, flexor: Flexor) -> None:
    code, out, _ = flexor("--help")
    assert code == 0 and "[flexor-stray 0.1.0] Run a motion and print the joint" in out
    code, out, _ = flexor("stray", "--help")
    assert code == 0 and "flexor stray finger_bench" in out
    code, out, err = flexor("stray", "finger_bench", "--for", "1.5")
    assert code == 0, err
    joint, figure = out.split(":")
    assert joint.startswith("index_") and 0.0 < float(figure.split()[0]) < 5.0
    code, _, err = flexor("stry")
    assert code == 2 and "Did you mean 'stray'?" in err


@pytest.mark.parametrize(
    ("old", "new", "value", "said"),
    [
        ("", "", "{name}:THIN", "{file}:1: module '{name}' has no attribute 'THIN'; did you mean 'THING'?"),
        ("", "", "{name}_gone:THING", "{declared}:2: no module '{name}_gone' is installed"),
        ("import typer", "import tiper", "{name}:THING", "{file}:1: ModuleNotFoundError"),
        ("import typer", "import (typer", "{name}:THING", "{file}:1: SyntaxError"),
        ("THING = typer.Typer()", "THING = 1 / 0", "{name}:THING", "{file}:3: ZeroDivisionError"),
        ("THING = typer.Typer()", "raise SystemExit(3)", "{name}:THING", "{file}:3: SystemExit: 3"),
        (APP[APP.index("THING") :], "THING = 3", "{name}:THING", "{file}:3: 3 is not a typer.main.Typer"),
        ("@THING.command()", "", "{name}:THING", "{file}:3: Could not get a command"),
        ("", "", "{name}:THING", "{file}:10: KeyError: 'odd'"),
    ],
)
def test_a_broken_command_is_one_line_with_package_file_and_line(
    old: str, new: str, value: str, said: str, strangers: Path, flexor: Flexor
) -> None:
    made = stranger(strangers, GROUP, APP.replace(old, new) if old else APP, value)
    code, out, err = flexor(made.name)
    assert code == 2 and not out, err
    where = said.format(name=made.name, file=made.file, declared=made.declared)
    assert err.startswith(f"error: command '{made.name}' of package {made.name} 1.0 (") and where in err
    assert err.count("\n") == 1 and "bug" not in err
    assert flexor("--help")[0] == 0 and flexor("signals")[0] == 0


def test_a_command_that_two_offer_names_both(strangers: Path, flexor: Flexor) -> None:
    first = stranger(strangers, GROUP, APP, entry="twice")
    second = stranger(strangers, GROUP, APP, entry="twice")
    code, _, err = flexor("twice")
    assert code == 2 and f"package {first.name} 1.0" in err and f"package {second.name} 1.0" in err


def test_a_command_of_ours_stays_ours_and_the_doctor_tells(strangers: Path, flexor: Flexor) -> None:
    made = stranger(strangers, GROUP, APP, entry="signals")
    code, out, _ = flexor("signals")
    assert code == 0 and "| motor_angle_rad |" in out.replace("`", "")
    _, out, _ = flexor("doctor")
    assert f"command 'signals' is offered by flexor itself and by package {made.name} 1.0" in out
