"""A fixed sample of the sweep over absurd measurements (``python -m tests.safety.absurd``)."""

from __future__ import annotations

import pytest

from tests.safety.absurd import Case, bench, cases

SAMPLE = [
    *list(cases())[::151],
    # the smallest input that once made the reaction pull: one cycle, 1,000 rad, all motors
    *(
        Case(state, "motor_angle_rad", 1e3, 1, everywhere=True)
        for state in ("active joint_impedance", "holding")
    ),
    Case("fault", "motor_angle_rad", 2.0**31, 60, everywhere=True),
]


@pytest.mark.sample(14)
@pytest.mark.parametrize(
    "case", SAMPLE, ids=lambda c: f"{c.state} {c.field} {c.value:g} {c.cycles}".replace(" ", "-")
)
def test_no_measurement_that_nobody_should_believe_makes_a_motor_pull(case: Case) -> None:
    assert bench().broken(case) == []
