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
from hand.file.passive import holds_all, rows_of, springs_at
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


def unsprung(raw: Raw, name: str) -> list[str]:
    """Names of the joints of a finger that no spring and no passive row turns."""
    joints, held = dict_at(raw, "fingers").get(name), np.diag(springs_at(raw, name)[0])
    return [
        text_of(j, "name") for (_, j), k in zip(dicts_at(joints, "joints"), held, strict=True) if k == 0.0
    ]


def all_sprung(raw: Raw, name: str) -> bool:
    """True if springs and passive rows hold every motion of a finger's joints."""
    K_nm_rad, _ = springs_at(raw, name)
    return K_nm_rad.size > 0 and holds_all(K_nm_rad)


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
    start_n, springs_nm = min(wanted, most / SHARE), springs_at(raw, str(at[-1]))[1]
    for k, joint in dicts_at(finger, "joints"):
        spring, name = dict_at(joint, "spring"), text_of(joint, "name")
        stiffness, rest = (number_of(spring.get(key)) for key in ("stiffness_nm_rad", "rest_deg"))
        missed_nm = float(springs_nm[k] - start_n * P_tj_m[:, k].sum())
        if abs(missed_nm) <= BALANCED * start_n * float(np.abs(P_tj_m[:, k]).sum()):
            continue
        does_not = f"with {start_n:g} N at its tendons {name} does not rest at 0"
        if stiffness is not None and stiffness > 0.0 and rest is not None:
            right = math.degrees(math.radians(rest) - missed_nm / stiffness)
            legal = f"{right:.4g}, where spring and tendons balance in the start pose"
            path: Path = (*at, "joints", k, "spring", "rest_deg")
            yield Refusal(path=path, found=f"{rest:g}: {does_not}", legal=legal)
        elif "spring" not in joint:
            yield from _preload(raw, str(at[-1]), name, does_not, missed_nm)


def _preload(raw: Raw, finger: str, joint: str, does_not: str, missed_nm: float) -> Iterator[Refusal]:
    """The preload of the passive row with the greatest arm at a joint, which has no spring of its own."""
    arms = {k: number_of(dict_at(row, "dh_dq_m_rad").get(joint)) or 0.0 for k, row in rows_of(raw, finger)}
    k = max(arms, key=lambda k: abs(arms[k]))
    preload = number_of(dict(rows_of(raw, finger))[k].get("preload_n"))
    if preload is not None and preload > 0.0 and arms[k] != 0.0:
        legal = f"{preload + missed_nm / arms[k]:.4g}, where it balances the tendons in the start pose"
        yield Refusal(path=("passive", k, "preload_n"), found=f"{preload:g}: {does_not}", legal=legal)
