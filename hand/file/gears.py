r"""Rigid gears of a hand file: joints that a motor turns in both directions, without a tendon.

The laws know two opposed lines on one motor (``dh_dq_m_rad`` and spool of both signs). A gear is that pair,
as stiff as its teeth and so tight that neither line goes slack at the stall torque of its drive:

.. math:: R = \frac{s\, \tau_{stall}}{2 f_0}, \qquad k = \frac{K}{2 R^2}

with s the margin, f_0 the tension of a pair at rest and K the gear's stiffness at the motor. Radius and
forces are those of the pair alone: no gear has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field

from hand.file.locate import Path
from hand.file.raw import dict_at, dicts_at, number_of, positive_of, text_of
from hand.file.refusals import Refusal
from hand.file.values import Name, NonNegative, Positive, Ratio, left_out
from signals.tables import Table

Raw = dict[str, Any]

MARGIN: Final = 1.5
"""Torque at which a line of a pair would go slack, over the stall torque of its drive."""
REST_N: Final = 20.0
"""Tension of both lines at rest."""
LOOSEST: Final = 0.1
"""Greatest play of a gear, share of the range of a joint that it turns."""
LENGTH_M: Final = 0.1
"""Of the lines of the stiffest gear."""
DIAMETER_M: Final = 0.002
UNKNOWN_TORQUE_NM: Final = 1.0
"""In the place of a drive that the file does not have; something else refuses the file."""
PAIR: Final = (("_forth", 1.0), ("_back", -1.0))
"""Endings of the names of a gear's lines, and the sense of their spool."""
TAKEN: Final = ("tendons", "tendon", "guides", "springs", "spool", "hall", "hysteresis")
"""Tables that say how tendons run: a hand of gears has none."""
AT_TENDONS: Final = ("force", "force_difference")
"""Kinds of sensors that it cannot have either."""
MADE_OF_GEARS: Final = ("tendons", "tendon", "guides", "springs", "spool")
"""Of these, the ones that gears make."""


class GearTrain(Table):
    """``gears``: one motor and the joints that it turns."""

    name: Name
    """Name, unique in the hand."""
    finger: Name
    """Finger that it moves."""
    motor: Name
    """Motor that drives it."""
    motor_per_joint: Annotated[dict[Name, Ratio], Field(min_length=1)]
    """Turns of the motor per turn of a joint, by joint name; negative: they turn against each other."""
    stiffness_nm_rad: Positive
    """Torque per angle by which the teeth give way, at the motor."""
    backlash_deg: Annotated[NonNegative | None, Field(exclude_if=left_out)] = None
    """Play of the teeth: angle that the motor turns before its joints do, full width; left out: none."""


def with_lines(raw: Raw) -> Raw:
    """The file with lines for its gears, in the place of tendons; as it is where it has none."""
    rows = [row for _, row in dicts_at(raw, "gears")]
    if not rows:
        return raw
    radius_m = max(_stall_nm(raw, row) for row in rows) * MARGIN / (2.0 * REST_N)
    stiff_n_m = [0.5 * (positive_of(row.get("stiffness_nm_rad")) / radius_m) / radius_m for row in rows]
    stretch_n = max(stiff_n_m) * LENGTH_M
    section_m2 = 0.25 * math.pi * DIAMETER_M**2
    lines = [
        _line(row, ending, sense * radius_m, stretch_n / stiff)
        for row, stiff in zip(rows, stiff_n_m, strict=True)
        for ending, sense in PAIR
    ]
    most_n = REST_N * (1.0 + 1.0 / MARGIN)
    return raw | {
        "tendons": lines,
        "spool": {"radius_m": radius_m},
        "springs": {"teeth": {"kind": "cord"}},
        "tendon": {
            "material": "a gear's teeth",
            "diameter_m": DIAMETER_M,
            "youngs_modulus_pa": stretch_n / section_m2,
            "axial_stiffness_n": stretch_n,
            "break_force_n": 10.0 * most_n,
            "force_min_n": 0.5 * REST_N * (1.0 - 1.0 / MARGIN),
            "pretension_n": REST_N,
            "force_max_n": 1.1 * most_n,
            "force_limit_n": 2.0 * most_n,
            "creep_per_decade": 0.0,
            "spring": "teeth",
        },
        "guides": {
            "law": "saturating",
            "pair": "none",
            "bending_angle_rad": 0.0,
            "regularisation_speed_m_s": 0.001,
            "pairs": {"none": {"c0_frac": 0.0, "c1_per_rad": 0.0, "rope_friction": 0.0}},
        },
    }


def _stall_nm(raw: Raw, row: Raw) -> float:
    """Torque of a gear's motor at standstill; that of its greatest current where the file has no other."""
    entry = dict_at(raw, "motors").get(text_of(row, "motor"))
    drive = dict_at(dict_at(raw, "drives"), text_of(entry, "drive")) if "drives" in raw else raw
    motor = dict_at(drive, "motor")
    stall = number_of(drive.get("torque_stall_nm"))
    constant = number_of(motor.get("torque_constant_output_nm_a"))
    current = number_of(motor.get("current_limit_peak_a"))
    if stall is None and constant is not None and current is not None:
        stall = constant * current
    return stall if stall is not None and stall > 0.0 else UNKNOWN_TORQUE_NM


def _line(row: Raw, ending: str, radius_m: float, length_m: float) -> Raw:
    """One of the two lines: the spool takes in what the joints let go."""
    ratios = dict_at(row, "motor_per_joint").items()
    line: Raw = {key: row[key] for key in ("finger", "motor") if key in row}
    if isinstance(row.get("name"), str):
        line["name"] = row["name"] + ending
    path = {j: -radius_m * r for j, value in ratios if (r := number_of(value)) is not None and r != 0.0}
    return line | {"spool_radius_m": radius_m, "dh_dq_m_rad": path, "length_m": length_m}


def gear_refusals(raw: Raw) -> Iterator[Refusal]:
    """What a file of gears may not have, and what of it comes twice."""
    if "gears" not in raw:
        return
    for key in TAKEN:
        if key in raw:
            legal = f"no {key} in a hand with gears: a hand has tendons or gears"
            yield Refusal(path=(key,), found=f"a key {key}, beside gears", legal=legal)
    for k, row in dicts_at(raw, "sensors"):
        if (kind := text_of(row, "kind")) in AT_TENDONS:
            legal = '"joint": a hand with gears has no tendon'
            yield Refusal(path=("sensors", k, "kind"), found=f'"{kind}", beside gears', legal=legal)
    for key, what in (("name", "every name of a gear once"), ("motor", "every motor drives one gear")):
        first: dict[str, int] = {}
        for k, row in dicts_at(raw, "gears"):
            word = text_of(row, key)
            if word and first.setdefault(word, k) != k:
                also: Path = ("gears", first[word], key)
                yield Refusal(path=("gears", k, key), found=f'"{word}" a second time', legal=what, also=also)
    yield from _loose(raw)


def _loose(raw: Raw) -> Iterator[Refusal]:
    """More play than a gear has that still turns its joints."""
    ranges = {
        text_of(j, "name"): j.get("range_deg")
        for f in dict_at(raw, "fingers").values()
        for _, j in dicts_at(f, "joints")
    }
    for k, row in dicts_at(raw, "gears"):
        play_deg = number_of(row.get("backlash_deg"))
        for joint, value in dict_at(row, "motor_per_joint").items():
            ratio, ends = number_of(value), ranges.get(joint)
            low, high = map(number_of, ends) if isinstance(ends, list) and len(ends) == 2 else (None, None)
            if play_deg is None or not ratio or low is None or high is None or low >= high:
                continue
            most_deg = LOOSEST * abs(ratio) * (high - low)
            if play_deg > most_deg:
                found = f"{play_deg:g}: {play_deg / abs(ratio) / (high - low):.1%} of the range of {joint}"
                legal = f"0 to {most_deg:.3g} deg at the motor, {LOOSEST:.0%} of that range"
                yield Refusal(path=("gears", k, "backlash_deg"), found=found, legal=legal)
                break


def told_of_gears(raw: Raw, of_text: Iterable[Refusal], of_lines: Iterable[Refusal]) -> list[Refusal]:
    """Refusals of gears, and others in the words of the file: a line's stand at its gear, once.

    Args:
        raw: the file as it stands.
        of_text: what is wrong with its names and labels; nothing is told of tables that it may not have.
        of_lines: what is wrong with it as ``with_lines`` gives it.
    """
    own, found = list(gear_refusals(raw)), list(of_lines)
    if not isinstance(raw.get("gears"), list):
        return [*own, *of_text, *found]
    excluded = [key for key in TAKEN if key in raw]
    told = [*own, *(r for r in of_text if r.path[0] not in excluded)]
    told += [r for r in found if r.path[0] not in (*MADE_OF_GEARS, *excluded)]
    places = {r.path for r in told}
    for r in found:
        if r.path[0] in MADE_OF_GEARS:
            moved = replace(r, path=_place(r.path), also=None if r.also is None else _place(r.also))
            if not any(moved.path[: len(p)] == p or p[: len(moved.path)] == moved.path for p in places):
                told.append(moved)
                places.add(moved.path)
    return told


def _place(path: Path) -> Path:
    """Where the file says what a line or a table of lines was made of."""
    if path[0] != "tendons" or len(path) < 2 or not isinstance(path[1], int):
        return path if path[0] not in MADE_OF_GEARS else ("gears",)
    row: Path = ("gears", path[1] // len(PAIR))
    if len(path) > 2 and path[2] == "dh_dq_m_rad":
        return (*row, "motor_per_joint", *path[3:])
    return (*row, path[2]) if len(path) > 2 and path[2] in ("name", "finger", "motor") else row
