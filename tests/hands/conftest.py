"""Every shipped hand, and two that nobody ships: the hands that have to keep the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from hand.file import shipped_hands
from tests.rigs.servo_hands import SMALL_SERVO, with_servos
from tests.rigs.tree_hands import a_wrist_under_a_finger

OWN = "own"
ANGLES = "angles"
"""Antagonist pairs on servos that take angles."""


@pytest.fixture(scope="session", params=[*shipped_hands(), OWN, ANGLES])
def hand(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Name or path of a hand file."""
    if request.param not in (OWN, ANGLES):
        return str(request.param)
    file: Path = tmp_path_factory.mktemp("hands") / f"{request.param}.toml"
    own = request.param == OWN
    file.write_text(a_wrist_under_a_finger(0.004) if own else with_servos(SMALL_SERVO, 250.0, "orca_v2"))
    return str(file)
