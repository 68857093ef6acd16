"""Every shipped hand, and one that nobody ships: the hands that have to keep the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from hand.file import shipped_hands
from tests.rigs.tree_hands import a_wrist_under_a_finger

OWN = "own"


@pytest.fixture(scope="session", params=[*shipped_hands(), OWN])
def hand(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Name or path of a hand file."""
    if request.param != OWN:
        return str(request.param)
    file: Path = tmp_path_factory.mktemp("hands") / f"{OWN}.toml"
    file.write_text(a_wrist_under_a_finger(0.004))
    return str(file)
