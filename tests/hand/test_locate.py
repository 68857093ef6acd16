"""The locator finds every key that tomllib reads, and its value's text is that value."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from hand.file.locate import Locator, Path, dotted
from tests.rigs.mutations import TEXTS

keys = st.text("abcxyz_-0 .'\"\\#=[]", min_size=1, max_size=5)
scalars = st.one_of(
    st.integers(-99, 99),
    st.floats(-10, 10, allow_nan=False),
    st.booleans(),
    st.text("ab\"'\\#[]{}=,\n\té", max_size=8),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)
documents = st.dictionaries(keys, values, min_size=1, max_size=5)


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value):
        for k, inner in enumerate(value):
            yield from leaves(inner, (*path, k))
    else:
        yield path, value


def assert_places(text: str) -> None:
    locator = Locator.of(text)
    lines = text.split("\n")
    for path, value in leaves(tomllib.loads(text)):
        written = text[locator.values[path] : locator.ends[path]]
        assert tomllib.loads(f"v = {written}")["v"] == value, dotted(path)
        place = locator.keys[path]
        assert text[place.offset] == lines[place.line - 1][place.column - 1]
        assert text.count("\n", 0, place.offset) == place.line - 1
    assert locator.repeated == []


@pytest.mark.parametrize("hand", list(TEXTS))
def test_every_value_of_a_shipped_hand_is_found(hand: str) -> None:
    assert_places(TEXTS[hand])


@given(documents)
def test_every_value_of_any_document_is_found(document: dict[str, Any]) -> None:
    text = tomlkit.dumps(document)
    if "\r" not in text:
        assert_places(text)


@given(st.text("[]{}=\"'#,.\n ab1", max_size=40))
def test_the_scanner_ends_on_any_text_and_what_it_finds_stands_there(text: str) -> None:
    locator = Locator.of(text)
    places = [*locator.keys.values(), *(second for _, _, second in locator.repeated)]
    for place in places:
        assert place.offset < len(text)
        assert place.line == text.count("\n", 0, place.offset) + 1
        assert place.column == place.offset - text.rfind("\n", 0, place.offset)
    assert all(at <= len(text) for at in (*locator.values.values(), *locator.ends.values()))


def test_a_key_that_comes_twice_is_found_with_both_lines() -> None:
    text = "[a]\nb = 1\nc = { d = 1, d = 2 }\nb = 2\n[[e]]\nf = 1\n[[e]]\nf = 1\n[a]\n"
    found = {(p, first.line, second.line) for p, first, second in Locator.of(text).repeated}
    assert found == {(("a", "b"), 2, 4), (("a", "c", "d"), 3, 3), (("a",), 1, 9)}


def test_a_path_that_is_not_there_is_placed_at_its_table() -> None:
    locator = Locator.of("x = 1\n[a]\n[a.b]\nc = 1\n")
    assert locator.place(("a", "b", "missing")).line == 3
    assert locator.place(("a", "missing")).line == 2
    assert locator.place(("missing",)).line == 1
