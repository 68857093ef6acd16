"""Hand file -> ``HandFile``: everything that is wrong with it is found before anything is refused."""

from __future__ import annotations

import os
from functools import lru_cache
from types import MappingProxyType

from pydantic import ValidationError

from hand.file import origins, text
from hand.file.checks import check_all
from hand.file.errors import HandFileError
from hand.file.gears import told_of_gears, with_lines
from hand.file.hand import HandFile
from hand.file.locate import Locator, Path
from hand.file.old_names import renamed
from hand.file.refusals import Refusal, refusals


def shipped_hands() -> tuple[str, ...]:
    """Names of the hands in ``configs/hands``."""
    return text.shipped("hands")


def hand_names() -> tuple[str, ...]:
    """Names of all hands: ours and those of other people's packages."""
    return text.installed("hands")


def load_hand(name_or_path: str | os.PathLike[str], others: tuple[str, ...] = ()) -> HandFile:
    """Read and check a hand file.

    Args:
        name_or_path: Name of a hand of ours or of a package, or a path (with a slash, or ending in .toml).
        others: names that the caller takes too; a refusal lists them.

    Raises:
        HandFileError: with every problem of the file.
    """
    path = text.path_of(os.fspath(name_or_path), "hands", "hand", HandFileError, others)
    return parse_hand(text.text_of_file(path, HandFileError), str(path))


@lru_cache(maxsize=8)
def parse_hand(content: str, file: str) -> HandFile:
    """Check the text of a hand file; ``file`` is its name in messages.

    A hand is a frozen value, so the same text under the same name is read once: a notebook or a procedure
    that makes many runs of one hand reads it again for each.

    Raises:
        HandFileError: with every problem of the text.
    """
    locator = Locator.of(content)
    bare, labels, found = origins.split(text.raw_of(content, file, locator, HandFileError))
    bare, notices, clashes = renamed(bare)
    plain, bare = bare, with_lines(bare)
    wrong: list[Refusal] = []
    hand: HandFile | None = None
    try:
        hand = HandFile.model_validate(text.tuples(bare))
    except ValidationError as error:
        wrong = refusals(HandFile, bare, error)
    found = told_of_gears(plain, [*clashes, *found], [*wrong, *check_all(bare, hand)])
    if found or hand is None:
        raise text.refused(found, file, locator, HandFileError)
    hand._path = file
    hand._notices = tuple(f"{file}:{locator.place(n.path).line}: {n.text}" for n in notices)
    now_called: dict[Path, Path] = {n.path: n.new for n in notices}
    lines = {now_called.get(path, path): place.line for path, place in locator.keys.items()}
    hand._origins = MappingProxyType({now_called.get(path, path): o for path, o in labels.items()})
    hand._lines = MappingProxyType(lines)
    return hand
