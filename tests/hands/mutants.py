"""Hand files with one mistake: which are refused, which are suspected, and which nobody can see in the file.

``python -m tests.hands.mutants`` tries 2,000 mutants of every shipped hand and writes
``docs/hand_mutants.md``; a fixed sample is a test. What is silent has to be in the table ``SILENT`` with the
reason why nothing in a file shows it: such a mistake is found by moving the hand.
"""

from __future__ import annotations

import fnmatch
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hand.file import HandFileError, parse_hand, shipped_hands
from hand.file.locate import dotted
from hand.review.suspicions import suspicions
from tests.rigs.mutations import Key, collapsed, keys_of

MUTANTS = 2000
PAGE = Path(__file__).parents[2] / "docs" / "hand_mutants.md"
UNITS = {"x1000": 1000.0, "/1000": 1e-3, "x57.3": 57.29577951, "/57.3": 1 / 57.29577951}


@dataclass(frozen=True)
class Mutant:
    """A hand file with one mistake."""

    kind: str
    """missing, type, unit x1000, ..., sign, duplicate, swapped."""
    key: Key
    text: str

    @property
    def part(self) -> str:
        """The kind of key."""
        return ".".join(collapsed(self.key))


def _numbers(key: Key) -> list[float] | None:
    entries = key.value if isinstance(key.value, list) else [key.value]
    whole = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in entries)
    return list(entries) if entries and whole else None


def _scaled(key: Key, factor: float) -> str:
    numbers = _numbers(key) or []
    shown = [repr(round(v * factor) if isinstance(v, int) else v * factor) for v in numbers]
    return key.with_value(f"[{', '.join(shown)}]" if isinstance(key.value, list) else shown[0])


def _alone(key: Key) -> Iterator[Mutant]:
    """Mistakes at one key."""
    yield Mutant("missing", key, key.removed())
    yield Mutant("duplicate", key, key.twice())
    numbers = _numbers(key)
    wrong = '"high"' if numbers else "7" if isinstance(key.value, (str, list, dict)) else '"yes"'
    yield Mutant("type", key, key.with_value(wrong))
    if numbers and any(numbers):
        for name, factor in UNITS.items():
            yield Mutant(f"unit {name}", key, _scaled(key, factor))
        yield Mutant("sign", key, _scaled(key, -1.0))


def _swapped(keys: list[Key]) -> Iterator[Mutant]:
    """Two cables, ids or rows exchanged: the same key of two neighbours."""
    for one, other in zip(keys, keys[1:], strict=False):
        alike = one.kind == other.kind or (one.path[:-1] == other.path[:-1] == ("motors",))
        if alike and one.value != other.value and one.value_end < other.value_start:
            text = one.text
            first, second = text[one.value_start : one.value_end], text[other.value_start : other.value_end]
            changed = text[: one.value_start] + second + text[one.value_end : other.value_start]
            yield Mutant("swapped", one, changed + first + text[other.value_end :])


def mutants(hand: str) -> list[Mutant]:
    """All mutants of a shipped hand that this module knows, in the order of its file."""
    keys = [k for k in keys_of(hand) if not k.is_label]
    found = [m for key in keys for m in _alone(key)]
    by_kind: dict[tuple[str, ...], list[Key]] = {}
    for key in keys:
        by_kind.setdefault(key.kind if key.path[0] != "motors" else ("motors",), []).append(key)
    return [*found, *(m for alike in by_kind.values() for m in _swapped(alike))]


def sample(hand: str, count: int, seed: int = 0) -> list[Mutant]:
    """``count`` mutants, or all: first one of each mistake at each kind of key, then drawn ones."""
    rng, every = random.Random(f"{hand} {seed}"), mutants(hand)
    rng.shuffle(every)
    first: dict[tuple[str, str], Mutant] = {}
    for m in every:
        first.setdefault((m.kind, m.part), m)
    chosen = list(first.values())
    taken = set(map(id, chosen))
    return (chosen + [m for m in every if id(m) not in taken])[:count]


def outcome(mutant: Mutant) -> str:
    """refused, flagged or silent."""
    try:
        hand = parse_hand(mutant.text, "mutant.toml")
        return "flagged" if suspicions(hand) else "silent"
    except HandFileError:
        return "refused"


_HARMLESS = "a smaller one does no harm that a file shows: less delay, damping, compensation or spread"
_DRIVES = "drives from a servo of 20 g to a motor of 1 kg lie further apart than that"
_OWN_LOOPS = "not in use: its servos close their own loops"
_LOOPS_OF_SERVOS = (
    ("unit *", "gains.*", _OWN_LOOPS),
    ("unit *", "fingers.*.impedance_nm_rad", _OWN_LOOPS),
    ("unit *", "fingers.*.damping_nms_rad", _OWN_LOOPS),
    ("unit x57.3", "limits.*_s", _OWN_LOOPS),
    ("unit ?57.3", "drives.*", _DRIVES),
)
"""What no file shows of a hand whose servos take angles."""
SILENT: tuple[tuple[str, str, str], ...] = (
    ("swapped", "*", "two like parts exchanged are another hand, as legal as this one"),
    ("sign", "*axis", "an axis may point either way"),
    ("sign", "fingers.*_m", "a place may lie on either side"),
    ("sign", "fingers.*_m.?", "a place may lie on either side"),
    ("sign", "tendons.*_m", "a place may lie on either side"),
    ("sign", "palm.com_m", "a place may lie on either side"),
    ("sign", "object.center_palm_m", "a place may lie on either side"),
    ("sign", "fingers.*_deg", "a frame may be turned either way"),
    ("sign", "ripple.*.phase_deg", "a phase may have any value"),
    ("sign", "surroundings.ambient_degc", "it may be cold"),
    ("sign", "gears.*.motor_per_joint.*", "a motor may be mounted either way"),
    ("sign", "hall.direction", "a sensor may be mounted either way"),
    ("unit /*", "sensors.*.zero_count", "a sensor may read nothing at no force"),
    ("missing", "fingers.*.bones.*.axis", "left out it is z"),
    ("missing", "motor.encoder_reference", "left out it is absolute"),
    ("missing", "fingers.*.rpy_deg", "left out it is not turned"),
    ("missing", "gains.guide_gain", "left out nothing is compensated"),
    ("missing", "gains.lever_gain", "left out nothing is put back"),
    ("missing", "estimation.damping_frac", "left out it is 1e-6"),
    ("unit /*", "fingers.*.com_m", "a bone may balance at its joint"),
    ("unit /57.3", "fingers.*.position_m", "two axes may meet"),
    ("unit x*", "*number", "a name, not a size"),
    ("unit x*", "*hall_channel", "a name, not a size"),
    ("unit x*", "sensors.*.channel", "a name, not a size"),
    ("unit x*", "motors.*", "a name, not a size"),
    ("unit x*", "wrist.drive.motor_ids", "a name, not a size"),
    ("unit x*", "ripple.*.order", "an order may be high"),
    ("unit x57.3", "ripple.*.amplitude_nm", "one of several that are bounded together"),
    ("unit ?57.3", "fingers.*.viscous_nms_rad", "one joint of a hand may be 57 times as viscous as another"),
    ("unit x57.3", "tolerances.bone_length", "half a percent times 57 is still a share"),
    ("unit *", "estimation.damping_frac", "any small share works"),
    ("unit /*", "surroundings.ambient_degc", "it may be cold"),
    ("unit /*", "ripple.*.phase_deg", "a phase may have any value"),
    ("unit /*", "ripple.*.amplitude_nm", _HARMLESS),
    ("unit /*", "control.command_delay_cycles", _HARMLESS),
    ("unit /*", "gains.*_gain", _HARMLESS),
    ("unit /*", "tolerances.*", _HARMLESS),
    ("unit /*", "fingers.*.damping_nms_rad", _HARMLESS),
)
"""(mistake, kind of key, why no file can show it); ``*`` stands for anything."""
SILENT_OF: dict[str, tuple[tuple[str, str, str], ...]] = {
    "orca_v2": (
        ("unit ?57.3", "motor.*", _DRIVES),
        ("unit ?57.3", "gear.*", _DRIVES),
        ("unit ?57.3", "thermal.*", _DRIVES),
        ("unit x57.3", "friction.gamma_3_nms_rad", _DRIVES),
        ("unit x57.3", "limits.*", _DRIVES),
        ("unit x57.3", "control.rate_hz", "a fast drive may be as fast"),
        ("unit x57.3", "tendon.break_force_n", "a strong cord does no harm"),
        ("unit /57.3", "palm.inertia_diag_kg_m2", "a palm may be small"),
        ("unit /*", "gains.tension_kd_nms_rad", "a drive whose friction damps it needs none"),
    ),
    "orca_v2_position": (
        *_LOOPS_OF_SERVOS,
        ("unit x57.3", "control.rate_hz", "a fast wire may be as fast"),
        ("unit x57.3", "tendon.break_force_n", "a strong cord does no harm"),
        ("unit /57.3", "palm.inertia_diag_kg_m2", "a palm may be small"),
    ),
    "leap_v1": (
        *_LOOPS_OF_SERVOS,
        ("unit /1000", "fingers.*.viscous_nms_rad", "a joint in ball bearings has less"),
        ("unit x57.3", "palm.inertia_diag_kg_m2", "a palm that does not move may be large"),
        ("unit x57.3", "control.rate_hz", "a fast wire may be as fast"),
        ("unit x57.3", "tolerances.pulley_radius", "a tenth is still a spread"),
    ),
    "sdm": (
        (
            "missing",
            "fingers.*.parent",
            "without it a bone stands on the bone before, a tree of another shape",
        ),
        ("unit /57.3", "fingers.*.rpy_deg", "a bone may stand at any angle"),
        ("unit /57.3", "fingers.*.inertia_kg_m2", "a plate that does not move may be small"),
        ("unit /*", "fingers.*.impedance_nm_rad", "its springs are fed forward and hold the joints"),
        ("unit x57.3", "drives.*", _DRIVES),
        ("unit x57.3", "limits.*", _DRIVES),
    ),
}
"""The same for one hand, whose values lie where others' mistakes do."""


def explained(hand: str, mutant: Mutant) -> str:
    """Why a mutant of a hand may be silent; empty if the table has no reason."""
    fits = (
        why
        for mistake, part, why in (*SILENT, *SILENT_OF.get(hand, ()))
        if fnmatch.fnmatchcase(mutant.kind, mistake) and fnmatch.fnmatchcase(mutant.part, part)
    )
    return next(fits, "")


def tried(hand: str, count: int) -> tuple[Counter[tuple[str, str]], list[str]]:
    """(mistake, outcome) of a sample, counted, and the silent ones that nothing explains."""
    counted: Counter[tuple[str, str]] = Counter()
    unexplained = []
    for mutant in sample(hand, count):
        found = outcome(mutant)
        counted[mutant.kind.split(" ")[0], found] += 1
        if found == "silent" and not explained(hand, mutant):
            unexplained.append(f"{hand}:{mutant.key.line} {dotted(mutant.key.path)}: {mutant.kind}")
    return counted, unexplained


KINDS = ("missing", "type", "duplicate", "unit", "sign", "swapped")


def page(results: dict[str, Counter[tuple[str, str]]]) -> str:
    """The page of the docs."""
    lines = [
        "# One mistake in a hand file",
        "",
        f"Up to {MUTANTS} mutants of a shipped hand: each kind of mistake at each kind of key, then drawn",
        "ones. *refused*: no run starts. *flagged*: `flexor check` and every start warn. *silent*: no word.",
        "Made by `python -m tests.hands.mutants`; a fixed sample is a test.",
        "",
        "| hand | mistake | tried | refused | flagged | silent |",
        "|---|---|---|---|---|---|",
    ]
    for hand, counted in results.items():
        for kind in KINDS:
            outcomes = [counted[kind, o] for o in ("refused", "flagged", "silent")]
            lines.append(f"| {hand} | {kind} | {sum(outcomes)} | " + " | ".join(map(str, outcomes)) + " |")
    lines += ["", "## What no file can show", "", "It is found by moving the hand.", ""]
    lines += ["| mistake | key | why |", "|---|---|---|"]
    lines += [f"| {mistake} | `{part}` | {why} |" for mistake, part, why in SILENT]
    for hand, table in SILENT_OF.items():
        lines += [f"| {mistake} | `{part}` | {hand} alone: {why} |" for mistake, part, why in table]
    return "\n".join(lines) + "\n"


def main(hands: list[str]) -> int:
    """Try all mutants of the hands and write the page if all shipped ones were tried."""
    results, wrong = {}, []
    for hand in hands or shipped_hands():
        results[hand], unexplained = tried(hand, MUTANTS)
        wrong += unexplained
        print(hand, dict(results[hand]), *unexplained, sep="\n  ", flush=True)
    if not hands and not wrong:
        PAGE.write_text(page(results))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
