"""Where a key stands in a TOML text: path -> line and column, for tables, keys, array items, inline tables.

``tomllib`` gives a place only for syntax errors, so the text is scanned a second time. The scanner trusts
that ``tomllib`` has accepted the text; on a text that it has refused it stops where it loses the thread.
"""

from __future__ import annotations

import bisect
import re
import tomllib
from dataclasses import dataclass, field
from typing import NamedTuple

Path = tuple[str | int, ...]
"""Keys and list indices from the root, as ``("fingers", "index", "joints", 2, "name")``."""

_SPACES = re.compile(r"[ \t]*")
_BLANKS = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
"""Blanks, line ends and comments."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}\n#]+")
_ASSIGNED = re.compile(r"([A-Za-z0-9_-]+)[ \t]*=[ \t]*")
"""What most pairs begin with; any other key is read part by part."""
_STRINGS = {
    mark: re.compile(pattern, re.DOTALL)
    for mark, pattern in (
        ("'", r"'[^'\n]*'"),
        ('"', r'"(?:[^"\\\n]|\\.)*"'),
        ("'''", r"'''.*?'''+"),
        ('"""', r'"""(?:[^\\]|\\.)*?"""+'),
    )
}
"""Each kind of string; up to two quotes may stand right before the closing three."""


class Place(NamedTuple):
    """Line and column, both from 1, and the offset of the key's (or item's) first character."""

    line: int
    column: int
    offset: int


def dotted(path: Path) -> str:
    """A path as people write it: ``fingers.index.joints[2].name``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text or "(file)"


def _unquoted(text: str) -> str:
    try:
        return str(tomllib.loads(f"v = {text}")["v"])
    except tomllib.TOMLDecodeError:
        raise _Lost from None


class _Lost(Exception):
    """The scanner met what it cannot read."""


@dataclass(slots=True)
class Locator:
    """Places of all keys and items of one TOML text."""

    text: str
    keys: dict[Path, Place] = field(default_factory=dict)
    """Where each key, table header or array item begins; the first place, when a key comes twice."""
    ends: dict[Path, int] = field(default_factory=dict)
    """Offset just behind the value of each key or item (not for headers)."""
    values: dict[Path, int] = field(default_factory=dict)
    """Offset of the first character of the value (not for headers)."""
    repeated: list[tuple[Path, Place, Place]] = field(default_factory=list)
    """Keys and tables that come twice: path, first place, second place."""
    _at: int = 0
    _tables: dict[Path, int] = field(default_factory=dict)
    _headers: set[Path] = field(default_factory=set)
    _lines: list[int] = field(default_factory=list)
    """Offset of the beginning of each line."""

    @classmethod
    def of(cls, text: str) -> Locator:
        """Scan a text."""
        locator = cls(text)
        try:
            locator._scan()
        except (_Lost, IndexError):
            pass
        return locator

    def place(self, path: Path) -> Place:
        """Place of a path, or of the nearest thing around it that stands in the file."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.keys:
                return self.keys[path[:length]]
        return Place(1, 1, 0)

    def _here(self, offset: int) -> Place:
        if not self._lines:
            self._lines = [0, *(m.end() for m in re.finditer("\n", self.text))]
        line = bisect.bisect_right(self._lines, offset)
        return Place(line, offset - self._lines[line - 1] + 1, offset)

    def _note(self, path: Path, offset: int) -> None:
        place = self._here(offset)
        if path in self.keys:
            self.repeated.append((path, self.keys[path], place))
        else:
            self.keys[path] = place

    def _scan(self) -> None:
        base: Path = ()
        while self._skip():
            start = self._at
            if self.text.startswith("[", start):
                base = self._header(start)
            else:
                self._pair(base)

    def _header(self, start: int) -> Path:
        many = self.text.startswith("[[", start)
        self._at += 2 if many else 1
        path = self._resolve(self._key())
        self._skip_spaces()
        self._expect("]]" if many else "]")
        if many:
            index = self._tables.get(path, 0)
            self._tables[path] = index + 1
            self.keys.setdefault(path, self._here(start))
            path = (*path, index)
            self._note(path, start)
        elif path in self._headers:
            self.repeated.append((path, self.keys[path], self._here(start)))
        else:
            self._headers.add(path)
            self.keys.setdefault(path, self._here(start))
        return path

    def _resolve(self, parts: list[str]) -> Path:
        """Absolute path of a header: names of arrays of tables mean their latest item."""
        path: Path = ()
        for k, part in enumerate(parts):
            path = (*path, part)
            if k < len(parts) - 1 and path in self._tables:
                path = (*path, self._tables[path] - 1)
        return path

    def _pair(self, base: Path) -> None:
        self._skip_spaces()
        start, path = self._at, base
        plain = _ASSIGNED.match(self.text, start)
        if plain is not None:
            path = (*base, plain.group(1))
            self._note(path, start)
            self._at = plain.end()
            self._value(path)
            return
        parts = self._key()
        for part in parts[:-1]:
            path = (*path, part)
            self.keys.setdefault(path, self._here(start))
        path = (*path, parts[-1])
        self._note(path, start)
        self._skip_spaces()
        self._expect("=")
        self._skip_spaces()
        self._value(path)

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._skip_spaces()
            char = self.text[self._at]
            if char in "\"'":
                end = self._string()
                parts.append(_unquoted(self.text[self._at : end]))
                self._at = end
            else:
                match = _BARE.match(self.text, self._at)
                if match is None:
                    raise _Lost
                parts.append(match.group())
                self._at = match.end()
            self._skip_spaces()
            if not self.text.startswith(".", self._at):
                return parts
            self._at += 1

    def _value(self, path: Path) -> None:
        self.values[path] = self._at
        char = self.text[self._at]
        if char == "[":
            self._array(path)
        elif char == "{":
            self._inline_table(path)
        elif char in "\"'":
            self._at = self._string()
        else:
            match = _SCALAR.match(self.text, self._at)
            if match is None:
                raise _Lost
            self._at += len(match.group().rstrip())
        self.ends[path] = self._at

    def _array(self, path: Path) -> None:
        self._at += 1
        index = 0
        while self._skip() and self.text[self._at] != "]":
            item = (*path, index)
            self._note(item, self._at)
            self._value(item)
            index += 1
            if self._skip() and self.text[self._at] == ",":
                self._at += 1
        self._expect("]")

    def _inline_table(self, path: Path) -> None:
        self._at += 1
        while self._skip() and self.text[self._at] != "}":
            self._pair(path)
            if self._skip() and self.text[self._at] == ",":
                self._at += 1
        self._expect("}")

    def _string(self) -> int:
        """Offset behind the string that begins here."""
        quote = self.text[self._at]
        mark = quote * 3 if self.text.startswith(quote * 3, self._at) else quote
        match = _STRINGS[mark].match(self.text, self._at)
        if match is None:
            raise _Lost
        return match.end()

    def _skip_spaces(self) -> None:
        self._at = _SPACES.match(self.text, self._at).end()  # type: ignore[union-attr]  # it matches nothing too

    def _skip(self) -> bool:
        """Skip blanks, line ends and comments; False at the end of the text."""
        self._at = _BLANKS.match(self.text, self._at).end()  # type: ignore[union-attr]
        return self._at < len(self.text)

    def _expect(self, mark: str) -> None:
        if not self.text.startswith(mark, self._at):
            raise _Lost
        self._at += len(mark)
