from __future__ import annotations

import pytest

from tests.rigs.mutations import Key, all_keys


@pytest.fixture(scope="session")
def keys() -> list[Key]:
    return all_keys()
