"""The reference hand with its wrist on springs."""

from __future__ import annotations

from tests.rigs.mutations import TEXTS

ARM_M, FORCE_N, LENGTH_M, DAMPING_NMS = (0.02, 0.02), (100.0, 80.0), (0.004, 0.004), (0.15, 0.15)


def sprung(force_n: tuple[float, float] = FORCE_N, **keys: object) -> str:
    """Its hand file."""
    values = {
        "lever_arm_m": list(ARM_M),
        "pretension_n": list(force_n),
        "force_length_m": list(LENGTH_M),
        "damping_nms_rad": list(DAMPING_NMS),
    } | keys
    table = (
        "[wrist.drive.springs]\n"
        + "".join(f"{k} = {v}\n" for k, v in values.items())
        + 'origin = "assumed"\n\n'
    )
    return TEXTS["hasy"].replace("[wrist.potentiometer]", f"{table}[wrist.potentiometer]")
