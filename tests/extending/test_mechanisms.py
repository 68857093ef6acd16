"""A kind of mechanism of a package: its file is checked, assembled and run as ours are."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from sim.mechanisms.load import MechanismFileError, kind_of, load_mechanism, parse_mechanism
from tests.extending.conftest import Flexor
from tests.rigs.packages import EXAMPLES, stranger

FILE = (EXAMPLES / "mechanism/pendulums/mechanisms/two_pendulums.toml").read_text()
GROUP = "flexor.mechanisms"


def test_a_double_pendulum_of_a_package_swings_in_its_slow_mode(installed: Path) -> None:
    run = load_mechanism("two_pendulums").mechanism.run("swing")
    rate = math.sqrt((2.0 - math.sqrt(2.0)) * 9.81 / 0.5)
    assert (
        np.abs(run.q[:, 0] - 0.02 * np.cos(rate * run.time_s)).max() < 2e-5
    )  # a thousandth: it is not linear


def test_it_is_listed_run_and_drawn_by_the_command(installed: Path, flexor: Flexor, tmp_path: Path) -> None:
    assert "two_pendulums: A double pendulum" in flexor("simulate", "--list")[1]
    code, _, err = flexor("simulate", "two_pendulums", "--for", "0.5", "--plot", "--out", str(tmp_path))
    assert code == 0 and (tmp_path / "two_pendulums_swing.png").is_file(), err


def test_a_mistake_in_its_file_is_told_with_its_line(installed: Path) -> None:
    with pytest.raises(MechanismFileError, match="x.toml:5: links: found 0; legal"):
        parse_mechanism(FILE.replace("links = 2", "links = 0"), "x.toml")
    with pytest.raises(MechanismFileError, match="'pendulum_chain'"):
        parse_mechanism(FILE.replace('"pendulum_chain"', '"pendulum_chian"'), "x.toml")


KIND = """from sim.mechanisms.files import MechanismKind
from sim.mechanisms.trees import TreeFile

class File(TreeFile):
    kind: str

def assemble(file):
    return file.no_such_thing

THING = MechanismKind(tables=File, assemble=assemble)
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("THING = MechanismKind(", "THING = dict(", ":10: {'tables'"),
        ("tables=File", "tables=dict", "its tables are <class 'dict'>, no sim.mechanisms.tables.Mech"),
        ("import TreeFile", "import TreeFil", ":2: ImportError"),
    ],
)
def test_a_broken_kind_names_its_package(old: str, new: str, said: str, strangers: Path) -> None:
    made = stranger(strangers, GROUP, KIND.replace(old, new))
    with pytest.raises(
        ValueError, match=f"kind of mechanism '{made.name}' of package {made.name} 1.0"
    ) as told:
        kind_of(made.name)
    assert said in str(told.value)


def test_an_assembly_that_breaks_names_its_line(strangers: Path, flexor: Flexor) -> None:
    made = stranger(strangers, GROUP, KIND)
    tree = (EXAMPLES.parent / "configs/mechanisms/y_tree.toml").read_text()
    path = strangers / "own.toml"
    path.write_text(tree.replace('kind = "tree"', f'kind = "{made.name}"'))
    code, _, err = flexor("simulate", str(path))
    assert code == 2 and f"{made.file}:8: AttributeError" in err and f"package {made.name} 1.0" in err
