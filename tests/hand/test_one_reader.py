"""Hands, mechanisms, their hands, motions and buses are read by one reader: bad files fare alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand.file.busfile import BusFileError, load_bus_file, parse_bus_file
from hand.file.errors import FileError
from hand.file.text import DEEPEST, LARGEST_BYTES
from hand.mechanism_file import is_mechanism_hand, read_mechanism_hand
from hand.motion.load import load_motion
from hand.options import RunOptions
from runtime.setup import read_hand
from sim.mechanisms.load import load_mechanism

CONFIGS = Path(__file__).parents[2] / "configs"
BENCH = read_hand(RunOptions(hand="finger_bench"))
Reader = Callable[[str], Any]


def _hand(path: str) -> object:
    return read_hand(RunOptions(hand=path)).file


def _motion(path: str) -> object:
    return load_motion(path, BENCH.names, BENCH.model).duration_s


KINDS: dict[str, tuple[Path, Reader]] = {
    "hand": (CONFIGS / "hands/finger_bench.toml", _hand),
    "mechanism": (CONFIGS / "mechanisms/y_tree.toml", lambda path: load_mechanism(path).file),
    "mechanism hand": (
        CONFIGS / "mechanism_hands/carpal_wrist.toml",
        lambda path: read_mechanism_hand(path).file,
    ),
    "motion": (CONFIGS / "motions/open_close.toml", _motion),
    "bus": (CONFIGS / "buses/finger_bench_servos.toml", lambda path: load_bus_file(path).entries),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
DEEP = "x = " + "[" * 3000 + "]" * 3000
BAD = {
    "brackets": (DEEP.encode(), rf"\(nesting\): found more than {DEEPEST} levels"),
    "tables": (b"x = " + b"{a=" * 3000, rf"\(nesting\): found more than {DEEPEST} levels"),
    "key": (b"a." * 3000 + b"b = 1", rf"\(nesting\): found more than {DEEPEST} levels"),
    "latin-1": ("# Läufe".encode("latin-1"), "a byte that is not UTF-8 at offset 3"),
    "utf-16": ("name = 1".encode("utf-16"), "a byte that is not UTF-8 at offset 0"),
    "size": (b"#" * (LARGEST_BYTES + 1), "found more than 1 MB"),
    "empty": (b"", "an empty file"),
    "mark alone": (b"\xef\xbb\xbf", "an empty file"),
    "zeros": (bytes(100), r"bad\.toml:1: "),
    "syntax": (b"\n\nname = = 1", r"bad\.toml:3: name"),
    "twice": (b"name = 1\nname = 2", r"bad\.toml:2: name: found the key a second time"),
    "date": (b"bus = 1979-05-27\nname = 07:32:00", r"bad\.toml"),
    "digits": (
        b"\nschema_version = 1" + b"0" * 5000,
        r"bad\.toml:2: \(number\): found a whole number of more",
    ),
    "65 bits": (b"\nschema_version = 18446744073709551616", r"bad\.toml:2: schema_version: found a whole n"),
}


@every_kind
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_file_is_refused_in_the_same_words_whatever_it_is(kind: str, bad: str, tmp_path: Path) -> None:
    content, said = BAD[bad]
    path = tmp_path / "bad.toml"
    path.write_bytes(content)
    with pytest.raises(FileError, match=said) as refused:
        KINDS[kind][1](str(path))
    assert str(path) in str(refused.value) and refused.value.problems
    assert not is_mechanism_hand(str(path))


@every_kind
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(kind: str, tmp_path: Path) -> None:
    for place, reason in (
        ("none.toml", "No such file"),
        (".", "Is a directory"),
        ("x" * 300, "name too long"),
    ):
        with pytest.raises(FileError, match=f"(?i){reason}"):
            KINDS[kind][1](f"{tmp_path}/{place}")


@every_kind
def test_marks_and_line_ends_of_other_editors_change_nothing(kind: str, tmp_path: Path) -> None:
    shipped, read = KINDS[kind]
    path = tmp_path / shipped.name
    content = shipped.read_bytes()
    path.write_bytes(content)
    plain = read(str(path))
    path.write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n"))
    assert read(str(path)) == plain


BUSES = [path.read_text(encoding="utf-8") for path in sorted((CONFIGS / "buses").glob("*.toml"))]
VALUES = ("1979-05-27", "07:32:00", "inf", "nan", "1e999", "[]", "{}", "[[1]]", "true", '""', "-1", "0x7f")


@given(st.data())
def test_whatever_happens_to_a_bus_file_it_is_one_or_refused_with_its_line(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(BUSES))
    for _ in range(data.draw(st.integers(1, 3))):
        if data.draw(st.booleans()):
            place = data.draw(st.sampled_from(list(re.finditer(r"(?m)= *(.+)$", text))))
            text = text[: place.start(1)] + data.draw(st.sampled_from(VALUES)) + text[place.end(1) :]
        else:
            start, length = data.draw(st.integers(0, len(text))), data.draw(st.sampled_from([1, 3, 20, 400]))
            text = text[:start] + text[start + length :] + data.draw(st.sampled_from(["", "\n[[bus]]\n"]))
        if "=" not in text:
            break
    try:
        parse_bus_file(text, "bus.toml")
    except BusFileError as error:
        assert all(p.file == "bus.toml" and p.line <= text.count("\n") + 1 for p in error.problems)
