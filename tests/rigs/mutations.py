"""Every key of a hand file, and the ways people get it wrong."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from hand.file import HandFileError, Problem, parse_hand
from hand.file.locate import Locator, Path

HANDS = FilePath(__file__).parents[2] / "configs" / "hands"
TEXTS = {file.stem: file.read_text() for file in sorted(HANDS.glob("*.toml"))}


@dataclass(frozen=True)
class Key:
    """One ``key = value`` of a file."""

    hand: str
    path: Path
    line: int
    start: int
    """Offset of the key, with its dotted prefix."""
    value_start: int
    value_end: int
    value: Any

    @property
    def text(self) -> str:
        return TEXTS[self.hand]

    @property
    def name(self) -> str:
        return str(self.path[-1])

    @property
    def kind(self) -> tuple[str, ...]:
        """The path without list indices: parallel items are of one kind."""
        return tuple("*" if isinstance(p, int) else p for p in self.path)

    @property
    def is_label(self) -> bool:
        return "origin" in self.path

    def with_name(self, name: str) -> str:
        head = self.text[self.start : self.value_start]
        at = self.start + head.rindex(self.name)
        return self.text[:at] + name + self.text[at + len(self.name) :]

    def with_value(self, value: str) -> str:
        return self.text[: self.value_start] + value + self.text[self.value_end :]

    def removed(self) -> str:
        """Without the pair; in an inline table without its comma too."""
        before, after = self.text[: self.start], self.text[self.value_end :]
        if re.match(r"\s*,", after):
            after = re.sub(r"^\s*,\s*", "", after)
        elif re.search(r",\s*$", before):
            before = re.sub(r",\s*$", " ", before)
        return before + after

    def twice(self) -> str:
        pair = self.text[self.start : self.value_end]
        inline = self.text[: self.start].rsplit("\n", 1)[-1].strip() != ""
        return self.text[: self.value_end] + (", " if inline else "\n") + pair + self.text[self.value_end :]


def keys_of(hand: str) -> list[Key]:
    """All keys of a shipped file."""
    text = TEXTS[hand]
    raw, locator = tomllib.loads(text), Locator.of(text)
    found = []
    for path, end in locator.ends.items():
        if not isinstance(path[-1], str):
            continue
        value: Any = raw
        for part in path:
            value = value[part]
        place = locator.keys[path]
        found.append(Key(hand, path, place.line, place.offset, locator.values[path], end, value))
    return found


def all_keys() -> list[Key]:
    """Every key of the one-finger bench, and of the reference hand one of each kind that the bench lacks."""
    chosen = keys_of("finger_bench")
    seen = {collapsed(k) for k in chosen}
    for key in keys_of("hasy"):
        if collapsed(key) not in seen:
            seen.add(collapsed(key))
            chosen.append(key)
    return chosen


def collapsed(key: Key) -> tuple[str, ...]:
    """Kind, with the names of fingers and motors left out."""
    kind = key.kind
    if kind[0] in ("fingers", "motors", "drives") and len(kind) > 1:
        kind = (kind[0], "*", *kind[2:])
    if kind[-2:-1] in (("dh_dq_m_rad",), ("motor_per_joint",)):
        kind = (*kind[:-1], "*")
    return kind


def refusal(text: str) -> tuple[Problem, ...]:
    """Problems of a text; empty if it is accepted."""
    try:
        parse_hand(text, "hand.toml")
    except HandFileError as error:
        return error.problems
    return ()


def unsaid(text: str, words: tuple[str, ...]) -> list[str]:
    """Which of these words no problem of a text says: all of them, if it is accepted."""
    said = " ".join(f"{problem}" for problem in refusal(text))
    return [word for word in words if word not in said]


def lines_told(text: str, pattern: str) -> list[int]:
    """Lines of all problems of a text, if one of them has this pattern; else none."""
    problems = refusal(text)
    return [p.line for p in problems] if any(re.search(pattern, str(p)) for p in problems) else []


def numbers(keys: list[Key]) -> Iterator[Key]:
    for key in keys:
        if isinstance(key.value, (int, float)) and not isinstance(key.value, bool):
            yield key


def lists(keys: list[Key]) -> Iterator[Key]:
    for key in keys:
        if isinstance(key.value, list) and key.value and isinstance(key.value[0], (int, float)):
            yield key


def texts(keys: list[Key]) -> Iterator[Key]:
    for key in keys:
        if isinstance(key.value, str):
            yield key
