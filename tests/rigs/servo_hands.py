"""A shipped hand with servos that take angles in the place of its motors, as the text of a hand file."""

from __future__ import annotations

import re

from tests.rigs.mutations import TEXTS

SERVO = """
[drives.servo]
kind = "servo"
command = "current_position"
reports = ["angle", "speed", "current", "temperature"]
torque_constant_output_nm_a = 1.5
torque_stall_nm = 4.0
speed_no_load_rad_s = 6.0
voltage_v = 12.0
inertia_output_kg_m2 = 0.004
current_limit_a = 2.0
counts_per_turn = 4096
friction = { gamma_1_s_rad = 10.0, gamma_2_nm = 0.1, gamma_3_nms_rad = 0.02 }
origin = "assumed: a servo of the tests"

[drives.servo.position_loop]
stiffness_nm_rad = 60.0
damping_nms_rad = 1.0
deadband_deg = 0.0
travel_deg = [-720.0, 720.0]
"""


def with_servos(drive: str = SERVO, rate_hz: float = 200.0, name: str = "finger_bench") -> str:
    """Text of a shipped hand with one type of servo for all its motors.

    Args:
        drive: table of the type ``servo``.
        rate_hz: control rate.
        name: the hand.
    """
    text = TEXTS[name]
    for table in ("motor", "gear", "friction", "thermal"):
        text = re.sub(rf"\n\[{table}(\.origin)?\].*?(?=\n\[)", "", text, flags=re.DOTALL)
    text = re.sub(r"\n\[\[ripple\]\].*?(?=\n\[(?!\[ripple))", "", text, flags=re.DOTALL)
    text = re.sub(r"\n\[origin\.ripple\].*?(?=\n\[)", "", text, flags=re.DOTALL)
    text = re.sub(r"(?m)^ripple = .*\n", "", text)
    motors = re.search(r"\n\[motors\].*?(?=\n\[)", text, re.DOTALL)
    assert motors is not None
    table = re.sub(r"(?m)^(\w+) = (\d+)", r'\1 = { id = \2, drive = "servo" }', motors.group())
    text = text.replace(motors.group(), drive + table)
    text = re.sub(r"(?m)^(origin\.)?device_current_a = .*\n", "", text)
    text = re.sub(r"measurement_age_ms = \[[^\]]*\]", "measurement_age_ms = [15.0, 40.0, 100.0]", text)
    return re.sub(r"(?m)^rate_hz = .*$", f"rate_hz = {rate_hz}", text)
