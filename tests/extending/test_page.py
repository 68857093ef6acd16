"""docs/extending.md: its skeletons are the examples, its files exist, its counts hold."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from guard.latch import FINDING
from hand.file.detectors import Detector
from hand.stages import DETECTOR_ARGUMENTS, _foreign
from signals.faults import FOREIGN
from signals.plugins import GROUPS
from signals.records import COMMAND, MEASUREMENT, MODEL, STATE, new
from tests.rigs.packages import EXAMPLES, example_folders

ROOT = EXAMPLES.parent
PAGE = (ROOT / "docs/extending.md").read_text()
BLOCKS = re.findall(r"```(?:python|toml)\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)
MOST = 4


def test_every_example_and_every_group_is_on_the_page() -> None:
    assert len(example_folders()) == 8
    for folder in example_folders():
        assert f"`examples/{folder.name}`" in PAGE and f"# examples/{folder.name}/" in PAGE
        assert tomllib.loads((folder / "pyproject.toml").read_text())["project"]["dependencies"] == ["flexor"]
    assert all(f"`{group}`" in PAGE for group in GROUPS)


def _significant(text: str) -> list[str]:
    """Lines of code without docstrings of one line, comments and blanks, each as its words."""
    lines = (re.sub(r"\s+# .*|^# .*", "", line).strip() for line in text.splitlines())
    return [" ".join(line.split()) for line in lines if line and not re.fullmatch(r'""".*"""', line)]


@pytest.mark.parametrize(("file", "block"), [b for b in BLOCKS if "/" in b[0]], ids=lambda b: b[:50])
def test_a_skeleton_is_what_its_example_holds(file: str, block: str) -> None:
    """Line for line and in order; an ellipsis stands for what is left out."""
    rest = iter(_significant((ROOT / file).read_text()))
    for line in _significant(block):
        if line != "...":
            assert line in rest, f"{file} has no such line, or not there: {line}"


def test_the_detector_of_the_page_runs_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever copies the block has a module; the others leave something out."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "from_the_page.py").write_text(
        next(text for file, text in BLOCKS if "/blocked_joint/" in file)
    )
    function, memory = _foreign("detector", "from_the_page:detect", DETECTOR_ARGUMENTS)
    state, findings = new(STATE), np.zeros(2, dtype=FINDING)
    state["dt_s"], state["ref_joint_angle_rad"][0, 1] = 0.2, 1.0
    for found in (0, 1, 1):  # after 0.2, 0.4, 0.6 s
        function(new(MODEL), new(MEASUREMENT), memory, state, new(COMMAND), findings)
        assert findings["found"].tolist() == [0, found]


def test_the_table_of_a_detector_is_a_legal_one() -> None:
    text = next(re.findall(r"```toml\n# in a hand file.*?\n(.*?)```", PAGE, re.DOTALL).__iter__())
    (table,) = tomllib.loads(text)["detectors"]
    Detector.model_validate(table)
    for key in Detector.model_fields:
        assert f"| `{key}` |" in PAGE
    assert (
        f"{['', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight'][len(FOREIGN)]} of them"
        in PAGE
    )


def test_every_file_that_the_page_names_is_there() -> None:
    rooms = "configs|docs|drivers|examples|guard|hand|mechanics|signals|sim|tests|tools"
    named = set(re.findall(rf"`((?:{rooms})/[\w./-]+)`", PAGE))
    made = {name for name in named if "NAME" in name or "PACKAGE" in name}
    assert len(named - made) > 20
    assert [name for name in sorted(named - made) if not (ROOT / name).exists()] == []


def test_what_goes_into_the_house_touches_at_most_four_files_outside_its_own() -> None:
    table = PAGE[PAGE.index("| you add | its own files | outside them |") :].split("\n\n")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    assert len(rows) == 6
    for what, _, outside in rows:
        files = re.findall(r"`([\w/]+\.(?:py|md|toml))`", outside)
        assert len(files) <= MOST and all((ROOT / file).is_file() for file in files), what
