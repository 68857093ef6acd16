"""Shipped hands with return tendons: rows without a motor over several joints, as text of a hand file."""

from __future__ import annotations

import re

from tests.rigs.mutations import TEXTS

FINGERS = ("left_front", "left_back", "right_front", "right_back")
ARMS_M = (0.004, 0.008)
STIFFNESS_N_M = 300.0
PRELOAD_N = 1.0
START_NM = 0.008
"""Torque of the sdm's cable at each joint in the start pose: 4 N at 2 mm."""
PROXIMAL_NM_RAD = 0.0421
SPRING = r", spring = \{ stiffness_nm_rad = 0\.224, rest_deg = -2\.0463 \}"


def with_rows(text: str, rows: list[str]) -> str:
    """A hand file's text with these passive rows, all assumed."""
    lines = "passive = [\n" + "".join(f"  {row},\n" for row in rows) + "]\n"
    label = '\n[origin]\npassive = "assumed: of the tests"\n'
    if "\n[origin]\n" in text:
        text = text.replace("\n[origin]\n", label, 1)
    else:
        text = text.replace("\n[origin.tendons]", label + "\n[origin.tendons]", 1)
    return text.replace("\ntendons = [", "\n" + lines + "\ntendons = [", 1)


def row(name: str, finger: str, arms_m: dict[str, float], stiffness_n_m: float, preload_n: float) -> str:
    """One row, as an inline table."""
    arms = ", ".join(f"{joint} = {arm}" for joint, arm in arms_m.items())
    return (
        f'{{ name = "{name}", finger = "{finger}", dh_dq_m_rad = {{ {arms} }}, '
        f"stiffness_n_m = {stiffness_n_m}, preload_n = {preload_n} }}"
    )


def underactuated(preload_n: float = PRELOAD_N, stiffness_n_m: float = STIFFNESS_N_M) -> str:
    """The sdm whose distal joints are opened by a cord over both joints of their finger alone."""
    text, count = re.subn(SPRING, "", TEXTS["sdm"])
    assert count == len(FINGERS)
    rest_deg = (PRELOAD_N * ARMS_M[0] - START_NM) / PROXIMAL_NM_RAD * 57.29577951
    text = text.replace("rest_deg = -10.8876", f"rest_deg = {rest_deg:.6f}")
    rows = [
        row(
            f"{f}_return",
            "grasp",
            dict(zip((f"{f}_proximal", f"{f}_distal"), ARMS_M, strict=True)),
            stiffness_n_m,
            preload_n,
        )
        for f in FINGERS
    ]
    return with_rows(text, rows)


def opposed(stiffness_n_m: float, preload_n: float, arms_m: tuple[float, float] = (0.005, 0.004)) -> str:
    """The finger of four tendons with two opposed bands over its flexing joints: they balance at 0."""
    bands = {"up": arms_m, "down": tuple(-a for a in arms_m)}
    names = ("flexion", "distal")
    rows = [
        row(f"band_{name}", "finger", dict(zip(names, arms, strict=True)), stiffness_n_m, preload_n)
        for name, arms in bands.items()
    ]
    return with_rows(TEXTS["n_plus_one"], rows)
