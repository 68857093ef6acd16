"""The C skeleton of the Hall bridge: compiled, checked byte by byte, and its stream read by our parser."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from drivers.hallbridge import codec
from drivers.hallbridge.codec import HallParser, Info, Sample

SOURCES = Path(__file__).parents[2] / "examples" / "hall_bridge_firmware"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror")


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_c_skeleton_speaks_the_same_protocol(tmp_path: Path) -> None:
    program = tmp_path / "check"
    files = [str(SOURCES / name) for name in ("hb1.c", "check.c")]
    subprocess.run(["cc", *STRICT, "-fsanitize=undefined", "-o", str(program), *files], check=True)
    subprocess.run(["cc", *STRICT, "-c", "-o", str(tmp_path / "main.o"), str(SOURCES / "main.c")], check=True)
    subprocess.run([str(program), str(tmp_path / "stream")], check=True)
    parser = HallParser()
    info, *samples = parser.feed((tmp_path / "stream").read_bytes(), 0)
    assert isinstance(info, Info)
    assert (info.channels, info.samples, info.period_us, info.serial) == (4, 3, 333, "HB-0001")
    words = np.concatenate([s.words for s in samples if isinstance(s, Sample)])
    k = np.arange(300)
    assert (words[:, 0] == k).all() and (words[:, 1] == 0x3FFF - k).all()
    assert (words[:, 2] == codec.STALE).all() and (words[:, 3] == codec.SENSOR_ERROR | k).all()
    assert [s.t_us for s in samples if isinstance(s, Sample)] == list(range(0, 300 * 333, 3 * 333))
    assert parser.counts.errors() == 0 and parser.counts.lost == 0
