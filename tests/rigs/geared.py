"""A finger whose gears have play, cut out of a shipped hand's file: one motor for each joint, no gravity."""

from __future__ import annotations

import copy
import tomllib
from typing import Any

import tomlkit

from hand.file import parse_hand
from hand.file.hand import HandFile
from tests.rigs.mutations import TEXTS

RAW: dict[str, Any] = tomllib.loads(TEXTS["leap_v1"])
ORIGIN = 'stiffness_nm_rad = "assumed: gear'


def with_play(backlash_deg: float | str, name: str = "leap_v1") -> str:
    """Text of a shipped hand of gears, each with a play."""
    text = TEXTS[name].replace(
        "stiffness_nm_rad = 30.0 }", f"stiffness_nm_rad = 30.0, backlash_deg = {backlash_deg} }}"
    )
    assert text != TEXTS[name]
    return text.replace(ORIGIN, f'backlash_deg = "assumed"\n{ORIGIN}')


def geared(
    ratios: list[dict[str, float]], backlash_deg: list[float | None], rate_hz: float = 1000.0
) -> HandFile:
    """One finger of as many joints as gears, whose drives take currents.

    Args:
        ratios: turns of each gear's motor per turn of the joints "a", "b", ...
        backlash_deg: play of each gear; ``None``: the key is left out.
        rate_hz: control rate.
    """
    raw = copy.deepcopy(RAW)
    finger = copy.deepcopy(raw["fingers"]["index"])
    names = "abcd"[: len(ratios)]
    finger["joints"], finger["bones"] = finger["joints"][: len(names)], finger["bones"][: len(names)]
    for name, joint, bone in zip(names, finger["joints"], finger["bones"], strict=True):
        joint["name"] = bone["joint"] = name
    raw["fingers"] = {"f": finger}
    raw["motors"] = {f"m{k}": {"id": k + 1, "drive": "xc330_m288"} for k in range(len(names))} | {
        "origin": "assumed"
    }
    raw["gears"] = [
        {"name": f"g{k}", "finger": "f", "motor": f"m{k}", "motor_per_joint": row, "stiffness_nm_rad": 30.0}
        | ({} if play is None else {"backlash_deg": play})
        for k, (row, play) in enumerate(zip(ratios, backlash_deg, strict=True))
    ]
    raw["origin"]["gears"] = "assumed"
    del raw["drives"]["xc330_m288"]["position_loop"]
    raw["drives"]["xc330_m288"]["command"] = "current"
    raw["gains"]["tension_kp_nm_n"] = 0.0
    raw["control"]["rate_hz"] = rate_hz
    return parse_hand(tomlkit.dumps(raw), "geared.toml")
