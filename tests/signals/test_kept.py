"""Derived data is never trusted by its presence: damaged files are misses, a folder may take nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signals import compiled
from signals.kept import TOLD, KeptFile

ROOT = Path(__file__).parents[2]
KEY = ("signature", "machine")

LAW = """
from signals.compiled import law

@law
def twice(x: float) -> float:
    return 2.0 * x

print(twice(1.5), sum(twice.stats.cache_hits.values()))
"""


@given(st.data(), st.binary(min_size=1, max_size=400))
def test_whatever_happens_to_a_file_is_a_miss_and_mends_itself(data: st.DataObject, content: bytes) -> None:
    with TemporaryDirectory() as folder:
        kept = KeptFile(folder, "law-1")
        kept.save(KEY, content)
        files = sorted(Path(folder).iterdir())
        assert [f.suffix for f in files] == [".nbc", ".nbi"]
        target = data.draw(st.sampled_from(files))
        before = target.read_bytes()
        damaged = data.draw(_damages(before))
        target.write_bytes(damaged)
        assert kept.load(KEY) == (content if damaged == before else None)
        kept.save(KEY, content)
        assert kept.load(KEY) == content


def _damages(before: bytes) -> st.SearchStrategy[bytes]:
    places = st.integers(0, len(before) - 1)

    def flipped(place: int, bits: int) -> bytes:
        return before[:place] + bytes([before[place] ^ bits]) + before[place + 1 :]

    return st.one_of(
        st.just(b""),
        st.just(bytes(len(before))),
        st.binary(max_size=200),
        places.map(lambda n: before[:n]),
        places.map(lambda n: before[:n] + bytes(len(before) - n)),
        st.builds(flipped, places, st.integers(1, 255)),
    )


@pytest.mark.parametrize("name", ["law-1.nbi", "law-1.1.nbc"])
def test_a_folder_in_the_place_of_a_file_is_a_miss(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.delenv(TOLD, raising=False)
    kept = KeptFile(str(tmp_path), "law-1")
    kept.save(KEY, "content")
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    assert kept.load(KEY) is None
    kept.save(KEY, "content")
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and name in told and "FLEXOR_CACHE_DIR" in told


def _run(folder: Path, **environment: str) -> tuple[str, str]:
    (folder / "twice.py").write_text(LAW, encoding="utf-8")
    chosen = ("FLEXOR_CACHE_DIR", "XDG_CACHE_HOME", TOLD)
    everything = {k: v for k, v in os.environ.items() if k not in chosen}
    everything |= {"PYTHONPATH": str(ROOT)} | environment
    done = subprocess.run(
        [sys.executable, "twice.py"], cwd=folder, env=everything, capture_output=True, text=True, check=True
    )
    return done.stdout.strip(), done.stderr


def test_an_empty_index_is_told_in_a_line_and_compiled_anew(tmp_path: Path) -> None:
    cache = {"FLEXOR_CACHE_DIR": str(tmp_path / "cache")}
    assert _run(tmp_path, **cache) == ("3.0 0", "")
    (index,) = (tmp_path / "cache").rglob("*.nbi")
    index.write_bytes(b"")
    printed, told = _run(tmp_path, **cache)
    assert printed == "3.0 0"
    assert told.count("\n") == 1 and str(index) in told
    assert _run(tmp_path, **cache) == ("3.0 1", "")


@pytest.mark.parametrize("environment", [{"HOME": "/dev/null"}, {"FLEXOR_CACHE_DIR": "/dev/null/cache"}])
def test_a_home_that_takes_no_folder_costs_time_alone(environment: dict[str, str], tmp_path: Path) -> None:
    printed, told = _run(tmp_path, **environment)
    assert printed == "3.0 0"
    assert told.count("\n") == 1 and "/dev/null" in told and "every start compiles" in told


def test_a_user_without_a_home_has_a_folder_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_cls: type[Path]) -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("FLEXOR_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", classmethod(nobody))
    assert not compiled.cache_root().parent.exists()
