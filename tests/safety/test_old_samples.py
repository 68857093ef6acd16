"""A sample that is too old leads no motor: its tendon is left to the gear, which holds its tension."""

from __future__ import annotations

import pytest

from hand.hand import Hand
from signals.faults import Cause
from tests.rigs.heard import Heard, frozen, mixed_hand

RAMP_CYCLES = 300
"""Time in which a torque that pulls has to be gone: 0.1 s."""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Hand:
    return mixed_hand(tmp_path_factory.mktemp("hand"))


@pytest.mark.parametrize(
    ("field", "space", "cause"),
    [
        ("hall_time_ns", "tendon", Cause.HALL_TOO_OLD),
        ("motor_time_ns", "motor", Cause.MEASUREMENT_TOO_OLD),
    ],
)
def test_its_motor_does_not_turn_any_more(
    field: str, space: str, cause: Cause, mixed: Hand, port_base: int
) -> None:
    with Heard(mixed, port_base) as run:
        run.start()
        t = run.names.tendons.index("index_3")
        i = int(run.model["tendon_motor"][t])
        frozen(field, space)(run, run.names.of(space)[t if space == "tendon" else i])
        assert run.run(400, cause)
        truth = run.rig.views["truth"][0]
        before_n = float(truth["tension_n"][t])
        run.run(RAMP_CYCLES)
        for _ in range(100):
            run.run(33)
            assert run.state["motor_torque_nm"][i] == 0.0
        assert truth["tension_n"][t] > 0.5 * before_n > 5.0
