"""The compile cache as a file: a machine of the same kind starts warm; all else is refused whole."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signals.carried import MANIFEST, CarriedError, load, machine, save
from tools.cli import main

ROOT = Path(__file__).parents[2]
LAW = """
from mechanics.arctan import arctan

print(arctan({argument}), sum(arctan.stats.cache_hits.values()), sum(arctan.stats.cache_misses.values()))
"""
HIT, MISS = ["1", "0"], ["0", "1"]


def called(cache: Path, argument: str) -> list[str]:
    """Call a law in a process of its own; hits and misses of the cache."""
    environment = {**os.environ, "FLEXOR_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", LAW.format(argument=argument)]
    return subprocess.check_output(command, env=environment, text=True).split()[1:]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one law for one signature."""
    folder = tmp_path_factory.mktemp("saved")
    assert called(folder / "cache", "0.5") == MISS
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLEXOR_CACHE_DIR", str(folder / "cache"))
        assert save(folder / "lab.cache") == 1
    assert [p.name for p in folder.iterdir() if p.is_file()] == ["lab.cache"]
    return folder / "lab.cache"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The compile cache of another machine."""
    monkeypatch.setenv("FLEXOR_CACHE_DIR", str(tmp_path / "other"))
    return tmp_path / "other"


def test_another_machine_starts_warm_and_keeps_what_it_had(saved: Path, cache: Path) -> None:
    assert called(cache, "1") == MISS  # another signature of the same law
    assert load(saved) == (1, 1)
    assert called(cache, "0.5") == HIT and called(cache, "1") == HIT
    before = tree(cache)
    assert load(saved) == (0, 1)
    assert tree(cache) == before


def changed(file: Path, target: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """A copy of a file whose parts were changed, as a sound archive."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    with zipfile.ZipFile(target, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return target


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        (
            "features",
            [*machine()["features"], "+warp"],
            "other features than this one: +warp",
        ),
        ("cpu", "z80", "for cpu z80, this machine has"),
        ("triple", "riscv64-unknown-linux-gnu", "for triple riscv64"),
        ("numba", "0.1", "for numba 0.1, this machine has"),
        ("python", "2.7.18", "for python 2.7.18"),
        ("numpy", "1.0", "for numpy 1.0"),
        ("format", 0, "has format 0, legal is 1"),
    ],
)
def test_code_for_another_machine_is_refused_by_what_differs(
    saved: Path, cache: Path, tmp_path: Path, key: str, value: object, words: str
) -> None:
    def change(parts: dict[str, bytes]) -> None:
        parts[MANIFEST] = json.dumps({**json.loads(parts[MANIFEST]), key: value}).encode()

    with pytest.raises(CarriedError, match=re.escape(words)):
        load(changed(saved, tmp_path / "foreign", change))
    assert tree(cache) == {} and list(cache.iterdir()) == []


def _rename(parts: dict[str, bytes], pattern: str, new: str) -> None:
    for name in [n for n in parts if n != MANIFEST]:
        parts[re.sub(pattern, new, name)] = parts.pop(name)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda parts: _rename(parts, "^.{16}", "0" * 16), "made by other sources of flexor"),
        (
            lambda parts: _rename(parts, "^.{16}/", "../../"),
            "of flexor cache save: it holds '../../",
        ),
        (lambda parts: parts.pop(MANIFEST), f"has no sound {MANIFEST}"),
        (lambda parts: parts.update({MANIFEST: b"[1]"}), f"has no sound {MANIFEST}"),
        (lambda parts: parts.update({n: p[:-1] for n, p in parts.items() if n != MANIFEST}), "is damaged:"),
    ],
    ids=["sources", "way out", "bare", "list", "cut"],
)
def test_what_no_save_wrote_is_refused(
    saved: Path, cache: Path, tmp_path: Path, change: Callable[[dict[str, bytes]], None], words: str
) -> None:
    with pytest.raises(CarriedError, match=re.escape(words)):
        load(changed(saved, tmp_path / "foreign", change))
    assert tree(tmp_path) == {"foreign": (tmp_path / "foreign").read_bytes()}


@given(st.data())
def test_a_damaged_file_changes_nothing_or_brings_what_was_saved(saved: Path, data: st.DataObject) -> None:
    content = saved.read_bytes()
    at = data.draw(st.integers(0, len(content) - 1))
    cut = data.draw(st.booleans())
    damaged = content[:at] if cut else content[:at] + bytes([content[at] ^ 0x41]) + content[at + 1 :]
    with pytest.MonkeyPatch.context() as patch:
        folder = saved.parent / "damaged"
        patch.setenv("FLEXOR_CACHE_DIR", str(folder / "cache"))
        folder.mkdir(exist_ok=True)
        (folder / "file").write_bytes(damaged)
        try:
            load(folder / "file")
        except CarriedError:
            assert tree(folder / "cache") == {}
        else:  # a byte that means nothing, such as a time in the archive
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                assert tree(folder / "cache") == {
                    name: archive.read(name) for name in archive.namelist() if name != MANIFEST
                }
            for path in (folder / "cache").rglob("*.nb?"):
                path.unlink()


def test_the_command_says_what_it_did_and_refuses_in_a_line(
    saved: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(["cache", *words])
        out = capsys.readouterr()
        return int(ended.value.code or 0), out.out + out.err

    code, text = said("save", str(tmp_path / "none"))
    assert code == 2 and "holds nothing of these sources; compile first" in text
    code, text = said("load", str(saved))
    assert (code, text) == (0, f"{cache}: 1 of 1 laws were new\n")
    code, text = said("save", str(tmp_path / "again"))
    assert code == 0 and "again: 1 laws" in text
    (tmp_path / "text").write_text("a shopping list")
    code, text = said("load", str(tmp_path / "text"))
    assert code == 2 and text.startswith("error:") and "is damaged, or no file of flexor cache save" in text
    code, text = said("load", str(tmp_path / "missing"))
    assert code == 2 and "does not exist" in text
