"""``--set key=value``: a hand file with single values changed, checked like the file itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hand.file import HandFile, HandFileError, load_hand, parse_hand
from hand.file.text import text_of_file
from signals.choices import advice


class SettingError(ValueError):
    """An override that cannot be applied; says what was found and what is legal."""


def _value(text: str) -> Any:
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(f"v = {text}")["v"]
    except TOMLKitError:
        return text


FOREIGN = ("controller", "estimator", "detectors", "side")
"""Keys that a hand file may leave out."""


def _known(table: Any, key: str, setting: str, top: bool) -> None:
    if key in table or (top and key in FOREIGN):
        return
    legal = [str(k) for k in table if k != "origin"]
    raise SettingError(f"--set {setting}: no key {key!r}; {advice(key, legal)}")


def _apply(document: Any, setting: str) -> None:
    path, equals, text = setting.partition("=")
    keys = [k.strip() for k in path.split(".")]
    if not equals or not all(keys):
        raise SettingError(f"--set {setting!r}: write key=value, for example gains.ripple_gain=1.0")
    table = document
    for key in keys[:-1]:
        _known(table, key, setting, table is document)
        table = table[key]
        if not hasattr(table, "keys"):
            raise SettingError(f"--set {setting}: {key!r} is a value, not a table")
    _known(table, keys[-1], setting, table is document)
    value, old = _value(text.strip()), table.get(keys[-1])
    if isinstance(old, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    table[keys[-1]] = value


def load_with(
    name_or_path: str, settings: tuple[str, ...], others: tuple[str, ...] = ()
) -> tuple[HandFile, str]:
    """A hand and the text it was made from, after the overrides; ``others`` as of ``load_hand``.

    Raises:
        SettingError: an override names no key.
        hand.file.HandFileError: the file, or the file with the overrides, is refused.
    """
    hand = load_hand(name_or_path, others)
    text = text_of_file(Path(hand.path), HandFileError)
    if not settings:
        return hand, text
    import tomlkit  # most starts need none

    document = tomlkit.parse(text)
    for setting in settings:
        _apply(document, setting)
    text = tomlkit.dumps(document)
    return parse_hand(text, f"{hand.path} with --set"), text
