"""What was compiled, as one file: for the other machines of a lab, which then start warm.

The file holds the entries of these sources alone (folders are named by their content) and says for which
processor they are: machine code for another one is never run. It is code: take it only from whom you trust.
"""

from __future__ import annotations

import io
import json
import os
import platform
import re
import shutil
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any, Final

import numba
import numpy as np

from signals.compiled import HOME, cache_root, closure_hash
from signals.kept import KeptFile, is_sound
from signals.rooms import ROOMS

MANIFEST: Final = "flexor-cache.json"
FORMAT: Final = 1
_INDEX, _CODE = ".nbi", ".nbc"
_NAME: Final = re.compile(r"[0-9a-f]{16}/[\w.-]+\.nb[ic]")


class CarriedError(ValueError):
    """A file of compiled laws that is refused; says why. Nothing was changed."""


def machine() -> dict[str, Any]:
    """For what code is compiled here: processor, its features, versions."""
    from numba.core.registry import cpu_target

    triple, cpu, features = cpu_target.target_context.codegen().magic_tuple()
    versions = {"python": platform.python_version(), "numba": numba.__version__, "numpy": np.__version__}
    return {"triple": triple, "cpu": cpu, "features": sorted(features.split(",")), **versions}


@cache
def names_of_these_sources() -> tuple[str, ...]:
    """Names of the folders that the compile cache has, or would have, for modules with laws."""
    sources = (path for room in ROOMS for path in (HOME / room).rglob("*.py"))
    laws = (path for path in sources if b"signals.compiled" in path.read_bytes())
    return tuple(sorted(map(closure_hash, laws)))


def save(file: Path) -> int:
    """Write what is compiled of these sources into a file; returns the number of laws.

    Raises:
        CarriedError: nothing is compiled yet.
        OSError: the file cannot be written.
    """
    parts: list[Path] = []
    laws = 0
    for folder in (cache_root() / name for name in names_of_these_sources()):
        for index in sorted(folder.glob(f"*{_INDEX}")):
            code = [folder / name for name in _entries(index).values()]
            code = [path for path in code if path.is_file() and is_sound(path)]
            if code:
                laws += 1
                parts += [index, *code]
    if not parts:
        raise CarriedError(
            f"{cache_root()} holds nothing of these sources; compile first: "
            "flexor run finger_bench --lockstep --for 0.1"
        )
    beside = file.with_name(f"{file.name}.part-{os.getpid()}")
    try:
        with zipfile.ZipFile(beside, "x", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
            archive.writestr(MANIFEST, json.dumps({"format": FORMAT, "laws": laws, **machine()}, indent=1))
            for path in parts:
                archive.write(path, f"{path.parent.name}/{path.name}")
        os.replace(beside, file)
    finally:
        beside.unlink(missing_ok=True)
    return laws


def load(file: Path) -> tuple[int, int]:
    """Take what a file holds into the compile cache; what is there already stays.

    Returns:
        Laws that were taken, and laws in the file.

    Raises:
        CarriedError: the file is damaged, or made for another machine or other sources; nothing was changed.
        OSError: the file cannot be read, or the cache takes no files.
    """
    root = cache_root()
    root.mkdir(parents=True, exist_ok=True)
    incoming = Path(tempfile.mkdtemp(prefix=".incoming-", dir=root))
    try:
        _unpack(file, incoming)
        indices = sorted(incoming.glob(f"*/*{_INDEX}"))
        return sum(_taken(index, root / index.parent.name) for index in indices), len(indices)
    finally:
        shutil.rmtree(incoming, ignore_errors=True)


def _unpack(file: Path, incoming: Path) -> None:
    """Everything into a folder of its own; all of it is looked at before anything is taken."""
    content = file.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
    except Exception as error:  # a flipped byte makes zipfile raise whatever it likes
        raise CarriedError(f"{file} is damaged, or no file of flexor cache save ({error})") from None
    _check_machine(file, parts.pop(MANIFEST, b""))
    for name, part in parts.items():
        if not _NAME.fullmatch(name):
            raise CarriedError(f"{file} is no file of flexor cache save: it holds {name!r}")
        target = incoming / name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(part)
        if not is_sound(target):
            raise CarriedError(f"{file} is damaged: {name} is not what was saved; copy the file again")
    if not any(folder.name in names_of_these_sources() for folder in incoming.iterdir()):
        raise CarriedError(f"{file} was made by other sources of flexor: no law of it is one of these")


def _check_machine(file: Path, manifest: bytes) -> None:
    try:
        made = json.loads(manifest)
        format_, theirs = made["format"], {key: made[key] for key in machine()}
    except (KeyError, ValueError, TypeError):
        raise CarriedError(f"{file} is no file of flexor cache save: it has no sound {MANIFEST}") from None
    if format_ != FORMAT:
        raise CarriedError(f"{file} has format {format_}, legal is {FORMAT}; save it again with this version")
    ours = machine()
    for key in ("triple", "python", "numba", "numpy", "cpu"):
        if theirs[key] != ours[key]:
            raise CarriedError(f"{file} was made for {key} {theirs[key]}, this machine has {ours[key]}")
    if theirs["features"] != ours["features"]:
        differ = sorted(set(theirs["features"]) ^ set(ours["features"]))
        shown = ", ".join(differ[:6]) + (f" and {len(differ) - 6} more" if len(differ) > 6 else "")
        raise CarriedError(f"{file} was made for a processor with other features than this one: {shown}")


def _entries(index: Path) -> dict[Any, str]:
    """Key -> name of a file with code; empty for an index that is not sound."""
    kept: Any = KeptFile(str(index.parent), index.name.removesuffix(_INDEX))
    found: dict[Any, str] = kept._load_index()
    return found


def _taken(index: Path, folder: Path) -> bool:
    """Move the entries of an index that are not there yet; False: all of them are."""
    here: Any = KeptFile(str(folder), index.name.removesuffix(_INDEX))
    entries = here._load_index()
    news = {key: name for key, name in _entries(index).items() if key not in entries}
    news = {key: name for key, name in news.items() if (index.parent / name).is_file()}
    if not news:
        return False
    folder.mkdir(exist_ok=True)
    free = (here._data_name(number) for number in range(1, len(entries) + len(news) + 1))
    for (key, name), target in zip(
        news.items(), (n for n in free if n not in entries.values()), strict=False
    ):
        os.replace(index.parent / name, folder / target)
        entries[key] = target
    here._save_index(entries)
    return True
