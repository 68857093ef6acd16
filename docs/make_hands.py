"""Writes docs/hands/NAME.md of every shipped hand: what is known of it, what is assumed, what is not detected.

python docs/make_hands.py
"""

from __future__ import annotations

from pathlib import Path

from hand.assembly.assemble import hand_sha256
from hand.file import load_hand, shipped_hands
from hand.file.hand import HandFile
from hand.file.locate import dotted
from hand.review.sight import ALWAYS, sights_of
from hand.review.suspicions import facts, suspicions
from tools.commands.check_facts import counts, spoken

HERE = Path(__file__).parent
KNOWN = {
    "printed": "Printed in the paper that describes it",
    "published": "Published elsewhere",
    "identified": "Identified on the hand",
    "derived": "Derived",
    "assumed": "Assumed",
}


def values_of(file: HandFile, word: str) -> list[str]:
    """One line for each kind of key and reason, with the names of parts left out."""
    lines: dict[tuple[str, str], int] = {}
    for path, origin in file.origins.items():
        if origin.word == word:
            many = path[0] in ("fingers", "motors")
            parts = ["*" if isinstance(p, int) or (k == 1 and many) else str(p) for k, p in enumerate(path)]
            key = ".".join(parts[:-1] if "dh_dq_m_rad" in parts[:-1] else parts)
            lines[key, origin.source] = lines.get((key, origin.source), 0) + 1
    return [
        f"| `{key}` | {count} | {source or 'no reason given'} |" for (key, source), count in lines.items()
    ]


def not_detected(file: HandFile) -> list[str]:
    """What no detector of this hand can see, by what its file says of sensors."""
    told: dict[str, list[str]] = {}
    for sight in sights_of(file):
        for missed in sight.not_detected:
            told.setdefault(missed, []).append(sight.finger)
    lines = [f"- {', '.join(fingers)}: {missed}" for missed, fingers in told.items()]
    return lines + [f"- {missed}" for missed in ALWAYS]


def page_of(name: str) -> str:
    """The page of one hand."""
    file = load_hand(name)
    parts = spoken(counts(file))
    lines = [f"# {file.name}", "", f"{file.description}.", ""]
    lines += [
        f"`configs/hands/{name}.toml`: {parts}; {file.control.rate_hz:g} Hz. `flexor check {name}` says more."
    ]
    lines += [f"sha256 of its values: `{hand_sha256(file)}`", ""]
    for word, title in KNOWN.items():
        values = values_of(file, word)
        if values:
            lines += [f"## {title}", "", "| key | values | from |", "|---|---|---|", *values, ""]
    lines += ["## Not detected", "", *not_detected(file), ""]
    said = [f"- {dotted(s.path)}: {s.text}" for s in (*facts(file), *suspicions(file))]
    if said:
        lines += ["## To know", "", *said, ""]
    lines += ["Made by `python docs/make_hands.py` from the file's origins."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write all pages."""
    (HERE / "hands").mkdir(exist_ok=True)
    for name in shipped_hands():
        (HERE / "hands" / f"{name}.md").write_text(page_of(name))


if __name__ == "__main__":
    main()
