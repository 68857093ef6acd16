"""The protocol page against the codec: offsets, lengths, kinds, flags; the bus files against the hands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drivers.collector import codec
from drivers.collector.codec import Header, Kind
from hand.assembly.assemble import names_of
from hand.file import load_hand, shipped_hands
from hand.file.busfile import load_bus_file

PAGE = (Path(__file__).parents[2] / "docs" / "collector_protocol.md").read_text(encoding="utf-8")
TYPES = {"u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "i16": "<i2", "i32": "<i4"}


def _section(title: str) -> str:
    return PAGE.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def _rows(text: str) -> list[list[str]]:
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [r for r in rows if not set(r[0]) <= {"-"} and r[0] not in ("offset", "kind", "value")]


def _check(rows: list[list[str]], dtype: np.dtype[Any], base: int, step: int) -> set[str]:
    """Every row names a field of the dtype with its type and offset."""
    assert dtype.fields is not None
    seen = set()
    for offset, kind, name, *_ in rows:
        found = re.fullmatch(rf"(\d+)(?: \+ {step} i)?" if step else r"(\d+)", offset)
        if found is None or name not in dtype.fields:
            continue
        field, at = dtype.fields[name][:2]
        count = int(kind.split(" x ")[1]) if " x " in kind else 1
        assert int(found[1]) - base == at, name
        assert field.base == np.dtype(TYPES[kind.split(" x ")[0]]), name
        assert int(np.prod(field.shape or (1,))) == count, name
        seen.add(name)
    return seen


@pytest.mark.parametrize(
    ("title", "head", "slot", "step"),
    [
        ("COMMAND", codec.COMMAND_HEAD, codec.COMMAND_SLOT, 8),
        ("SAMPLE", codec.SAMPLE_HEAD, codec.SAMPLE_SLOT, 20),
    ],
)
def test_the_tables_of_the_page_are_the_records(title: str, head: Any, slot: Any, step: int) -> None:
    common = _rows(PAGE.split("### Header, 16 bytes", 1)[1].split("\n\n|", 2)[1])
    rows = [r for r in common if len(r) == 4] + _rows(_section(title))
    fixed = [r for r in rows if "i" not in r[0]]
    moving = [r for r in rows if f"{step} i" in r[0]]
    assert _check(fixed, head, 0, 0) == set(head.names)
    assert _check(moving, slot, head.itemsize, step) == set(slot.names)
    assert (slot.itemsize, f"{head.itemsize} + {step} n") in [(step, r[0]) for r in rows]


def test_kinds_lengths_and_flags_of_the_page_are_those_of_the_codec() -> None:
    table = {r[1]: (int(r[0]), r[2]) for r in _rows(PAGE.split("| kind | name |", 1)[1].split("\n\n", 1)[0])}
    assert {k.name: k.value for k in Kind} == {name: number for name, (number, _) in table.items()}
    n = 38
    limits = np.zeros(n, dtype=codec.LIMIT_SLOT)
    answer = codec.SetupAnswer(
        result=codec.SetupResult.OK, watchdog_us=1, boot=1, holder=("1.2.3.4", 5), limits=limits
    )
    about = codec.Description(
        n_motors=1,
        n_halls=1,
        n_axes=0,
        hall_fraction_bits=0,
        watchdog_min_us=1,
        watchdog_max_us=2,
        boot=1,
        sample_period_ns=1,
        firmware=1,
    )
    lengths = {
        "COMMAND": codec.command_bytes(n),
        "SAMPLE": codec.sample_bytes(n),
        "HELLO": len(codec.plain(Header(kind=Kind.HELLO))),
        "DESCRIBE": len(codec.describe(Header(kind=Kind.DESCRIBE), about)),
        "SETUP": len(codec.setup(Header(kind=Kind.SETUP, slots=n), 1, limits)),
        "SETUP_ACK": len(codec.setup_ack(Header(kind=Kind.SETUP_ACK, slots=n), answer)),
        "REFUSED": len(codec.refused(Header(kind=Kind.REFUSED), ("1.2.3.4", 5))),
    }
    for name, length in lengths.items():
        fixed, _, per = table[name][1].partition(" + ")
        assert length == int(fixed) + (int(per.split()[0]) * n if per else 0), name
    for flag in codec.SampleFlag:
        assert f"{flag.value} {flag.name}" in PAGE
    assert f"0x{codec.MAGIC:08X}" in PAGE and codec.MAGIC.to_bytes(4, "little") == b"FLX1"
    assert f"port {codec.PORT}" in PAGE


@pytest.mark.parametrize(
    "name",
    [
        "hasy_collector",
        "finger_bench_servos",
        "finger_bench_drives",
        "leap_v1_servos",
        "orca_v2_position_servos",
    ],
)
def test_shipped_bus_files_fit_their_hands(name: str) -> None:
    hand = next(h for h in shipped_hands() if name.startswith(h))
    file, names = load_bus_file(name), names_of(load_hand(hand))
    file.fitted_to(names)
    moved = [motor for entry in file.entries for motor in entry.settings.motors(names)]
    assert sorted(moved) == sorted(names.motors), "every motor once"
