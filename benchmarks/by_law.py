"""Whose instructions are they? Every counted address of the tick's object code, led back to its law.

Callgrind knows compiled laws by address alone, and most of them are inlined into others. The object code's
line tables (``benchmarks.line_tables``) name the chain of laws at each address: an instruction counts for
the innermost law of its chain, what it calls in the C library counts for it too, and all of it for the stage
and step at the chain's beginning.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Final

from signals.rooms import ROOMS

Chain = tuple[str, ...]
"""Laws from the outermost to the innermost."""
_STEP: Final = 3
"""Depth of a chain that names a step of a stage: loop, stage, step."""


class NoTool(RuntimeError):
    """A program that reads object code is missing; says which."""


@dataclass(slots=True)
class Costs:
    """Instructions by law, by step of a stage and by function of the C library."""

    laws: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    library: Counter[str] = field(default_factory=Counter)

    def per_tick_since(self, few: Costs, ticks: int) -> Costs:
        """What one tick costs between two counts that lie ``ticks`` apart."""

        def slope(more: Counter[str], less: Counter[str]) -> Counter[str]:
            names = sorted(set(more) | set(less))
            rows = {name: round((more[name] - less[name]) / ticks) for name in names}
            return Counter({name: n for name, n in rows.items() if n > 0})

        parts = ("laws", "steps", "library")
        return Costs(**{part: slope(getattr(self, part), getattr(few, part)) for part in parts})


def _run(tool: str, *words: str, typed: str = "") -> str:
    path = shutil.which(tool)
    if path is None:
        raise NoTool(f"no {tool}, no table by law; Debian and Ubuntu: sudo apt install binutils")
    return subprocess.run([path, *words], input=typed, capture_output=True, text=True, check=True).stdout


def _names_of(symbol: str) -> list[str]:
    rest, names = symbol.removeprefix("_ZN"), []
    while (size := re.match(r"\d+", rest)) and rest != symbol:
        end = size.end() + int(size[0])
        names.append(rest[size.end() : end])
        rest = rest[end:]
    return names


def law_of(symbol: str) -> str:
    """``room.module.law`` of a symbol that numba made; empty for anything else."""
    names = _names_of(symbol)
    return ".".join(names) if names and names[0] in ROOMS else ""


def law_at(name: str, place: str) -> str:
    """``room.module.law`` of a law's name, or symbol, and its place ``.../room/module.py:line``; else empty.

    Code from the cache may have been compiled in another folder: what counts begins at the room.
    """
    parts = place.rsplit(".py", 1)[0].split("/")
    rooms = [k for k, part in enumerate(parts[:-1]) if part in ROOMS]
    if not rooms or "site-packages" in parts:
        return ""
    return ".".join((*parts[rooms[-1] :], (_names_of(name) or [name])[-1]))


class ObjectCode:
    """Chains of laws at the addresses of an object file that ran in a process.

    Args:
        path: what ``line_tables.write_object`` left, its ``.address`` beside it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        symbol, address = path.with_suffix(".address").read_text(encoding="utf-8").split()
        rows = [line.split() for line in _run("nm", str(path)).splitlines()]
        self._places = {row[2]: int(row[0], 16) for row in rows if len(row) == 3 and row[1] in "TtWw"}
        headers = re.findall(
            r"^ *\d+ (\S+) +([0-9a-f]+) .*\n +.*\bCODE\b", _run("objdump", "-h", str(path)), re.M
        )
        size, self._section = max((int(hexadecimal, 16), name) for name, hexadecimal in headers)
        self._begin = int(address) - self._places[symbol]
        self._end = self._begin + size

    def __contains__(self, address: int) -> bool:
        return self._begin <= address < self._end

    def functions(self) -> dict[int, str]:
        """Laws that are functions of their own, by address."""
        return {self._begin + at: law for symbol, at in self._places.items() if (law := law_of(symbol))}

    def chains(self, addresses: set[int]) -> dict[int, Chain]:
        """The chain of laws at each address; what is numba's own belongs to the law around it."""
        typed = "\n".join(hex(address - self._begin) for address in sorted(addresses))
        told = _run("addr2line", "-f", "-i", "-a", "-j", self._section, "-e", str(self._path), typed=typed)
        found: dict[int, Chain] = {}
        for block in re.split(r"^0x", told, flags=re.M)[1:]:
            lines = block.splitlines()
            frames = list(zip(lines[1::2], lines[2::2], strict=False))
            laws = [law for name, place in reversed(frames) if (law := law_at(name, place))]
            found[self._begin + int(lines[0], 16)] = tuple(law for law, _ in groupby(laws))
        return found


def _counts(counted: Path) -> Iterator[tuple[int, int, str]]:
    """(address, instructions, called function or nothing) of every line of callgrind's file that has one."""
    called = callee = ""
    for line in counted.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("0x"):
            address, _, count = line.split()[:3]
            yield int(address, 16), int(count), called
            called = ""
        elif line.startswith("cfn="):
            callee = line[4:].split("'")[0]
        elif line.startswith("calls="):
            called = callee


def costs(counted: Path, path: Path, loop: str) -> Costs:
    """Instructions of a run by law, step and function of the C library.

    Args:
        counted: callgrind's file, with an address in every line.
        path: the object file that ran.
        loop: the law that calls the stages.
    """
    code = ObjectCode(path)
    rows = [row for row in _counts(counted) if row[0] in code]
    chains, functions = code.chains({address for address, _, _ in rows}), code.functions()
    out = Costs()
    own: defaultdict[str, Counter[Chain]] = defaultdict(Counter)
    calls: defaultdict[str, list[tuple[Chain, str, int]]] = defaultdict(list)
    for address, count, called in rows:
        chain = chains[address] or (loop,)
        to = functions.get(int(called, 16)) if called.startswith("0x") else None
        if to == loop:  # the wrapper's call
            continue
        if to is None:
            out.laws[chain[-1]] += count
            own[chain[0]][chain] += count
            if called:
                out.library[called] += count
        else:
            calls[chain[0]].append((chain, to, count))

    def spread(name: str, before: Chain) -> None:
        """Steps of a function that is called from one place, its callees' as far as they are steps."""
        for chain, count in own[name].items():
            out.steps[" > ".join((before + chain)[1:_STEP])] += count
        for chain, to, count in calls[name]:
            if len(before + chain) < _STEP - 1:
                spread(to, before + chain)
            else:
                out.steps[" > ".join((*before, *chain, to)[1:_STEP])] += count

    spread(loop, ())
    return out
