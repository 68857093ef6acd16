"""Fingers whose springs take the place of tendons: fewer lines than joints, each joint with a spring.

Where the rows of P are independent of each other no tension balances another one; the springs across the
joints open the finger again. What the lines leave open the springs decide: the joints stand where the elastic
energy is least for the lengths of the lines, q = q_rest - K^-1 P^T f. q = 0, the start pose, has to
be one of these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from hand.file.locate import Path
from hand.file.raw import dict_at, dicts_at, number_of, text_of
from hand.file.refusals import Refusal
from mechanics.start_tension import SHARE
from signals.layout import FloatArray

Raw = dict[str, Any]
LEAST_SHARE: Final = 1e-6
"""Smallest singular value over the largest below which rows say the same."""
BALANCED: Final = 0.01
"""Share of the tendons' torque at a joint by which its spring may miss it in the start pose."""


def are_independent(P_tj_m: FloatArray) -> bool:
    """True if no row of P, shape (lines, joints), follows from the others."""
    values = np.linalg.svd(P_tj_m, compute_uv=False)
    return len(P_tj_m) <= P_tj_m.shape[1] and bool(values[-1] > LEAST_SHARE * values[0])


def unsprung(finger: Raw) -> list[str]:
    """Names of the joints of a finger's table that have no spring."""
    return [text_of(joint, "name") for _, joint in dicts_at(finger, "joints") if "spring" not in joint]


def all_sprung(finger: Raw) -> bool:
    """True if every joint of a finger's table has a spring."""
    return any(dicts_at(finger, "joints")) and not unsprung(finger)


def sprung_refusals(
    raw: Raw, at: Path, P_tj_m: FloatArray, tendons: list[tuple[int, Raw]]
) -> Iterator[Refusal]:
    """What keeps springs from taking the place of tendons where rows (lines, joints) are independent."""
    finger = dict_at(raw, "fingers")[str(at[-1])]
    motors: dict[str, int] = {}
    for k, tendon in tendons:
        motor = text_of(tendon, "motor")
        if motor in motors:
            path, also = ("tendons", k, "motor"), ("tendons", motors[motor], "motor")
            found = f"{motor} a second time in a finger opened by springs"
            yield Refusal(path=path, found=found, legal="a motor of its own for each tendon", also=also)
        motors.setdefault(motor, k)
        for key in ("dh_dq_curve_m", "insertion"):
            if key in tendon:
                legal = "lever arms that stay (dh_dq_m_rad), or a tendon more than joints"
                yield Refusal(path=("tendons", k, key), found="a finger opened by springs", legal=legal)
    yield from _at_rest(raw, at, finger, P_tj_m)


def _at_rest(raw: Raw, at: Path, finger: Raw, P_tj_m: FloatArray) -> Iterator[Refusal]:
    """The springs hold the start tension with all joints at 0, or the message says what rest angle does."""
    tendon = dict_at(raw, "tendon")
    wanted, most = (number_of(tendon.get(key)) for key in ("pretension_n", "force_max_n"))
    if wanted is None or most is None:
        return
    start_n = min(wanted, most / SHARE)
    for k, joint in dicts_at(finger, "joints"):
        spring = dict_at(joint, "spring")
        stiffness, rest = (number_of(spring.get(key)) for key in ("stiffness_nm_rad", "rest_deg"))
        if not stiffness or stiffness < 0.0 or rest is None:
            continue
        pull_nm = start_n * float(P_tj_m[:, k].sum())
        missed_nm = stiffness * math.radians(rest) - pull_nm
        if abs(missed_nm) > BALANCED * start_n * float(np.abs(P_tj_m[:, k]).sum()):
            found = f"{rest:g}: with {start_n:g} N at its tendons {text_of(joint, 'name')} does not rest at 0"
            legal = (
                f"{math.degrees(pull_nm / stiffness):.4g}, where spring and tendons balance in the start pose"
            )
            yield Refusal(path=(*at, "joints", k, "spring", "rest_deg"), found=found, legal=legal)
