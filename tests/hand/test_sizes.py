"""Files and figures beyond all measure are refused in words, soon."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hand.file import HandFileError, load_hand, parse_hand
from hand.file.checks_size import LARGEST
from hand.file.errors import SHOWN
from hand.file.schema import UNITS, unit_of
from tests.rigs.mutations import Key, numbers, refusal

DEEP = {
    "lists": "x = 1\na = " + "[" * 100_000,
    "inline tables": "x = 1\na = " + "{a = " * 100_000,
    "dotted keys": "x = 1\n" + ".".join(["a"] * 100_000) + " = 1",
}


@pytest.mark.parametrize("content", DEEP.values(), ids=DEEP)
def test_deep_nesting_is_refused_with_its_line(tmp_path: Path, content: str) -> None:
    file = tmp_path / "deep.toml"
    file.write_text(content)
    with pytest.raises(HandFileError, match=r"deep.toml:2: .*up to 32 levels"):
        load_hand(file)


def test_brackets_in_strings_and_comments_are_no_nesting(tmp_path: Path) -> None:
    file = tmp_path / "flat.toml"
    file.write_text(f"x = '''{'[' * 99}'''\ny = \"{'{' * 99}\"  # {'[' * 99}\nz = '{'[' * 99}'\n")
    with pytest.raises(HandFileError) as refused:
        load_hand(file)
    assert "levels" not in str(refused.value)


def test_a_huge_file_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "huge.toml"
    file.write_text("".join(f"key_{k} = {k}\n" for k in range(600_000)))
    begun = time.monotonic()
    with pytest.raises(HandFileError, match="up to 1 MB"):
        load_hand(file)
    assert time.monotonic() - begun < 2.0


def test_a_message_of_very_many_problems_is_cut() -> None:
    with pytest.raises(HandFileError) as refused:
        parse_hand("".join(f"key_{k} = {k}\n" for k in range(500)), "many.toml")
    assert len(refused.value.problems) > 500
    assert len(str(refused.value).splitlines()) == SHOWN + 2


def test_every_unit_has_a_largest_amount() -> None:
    assert set(LARGEST) == {*UNITS.values(), ""}


def test_a_number_beyond_all_measure_is_refused_on_its_line(keys: list[Key], quick: bool) -> None:
    physical = [k for k in numbers(keys) if unit_of(k.name) and isinstance(k.value, float)]
    chosen = {k.kind: k for k in physical}
    accepted = [
        k.kind for k in chosen.values() if not any(p.line == k.line for p in refusal(k.with_value("1e30")))
    ]
    assert len(chosen) >= (15 if quick else 80) and accepted == []
