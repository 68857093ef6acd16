from __future__ import annotations

import pytest

from tests.rigs.mutations import Key, all_keys


@pytest.fixture(scope="session")
def keys(quick: bool) -> list[Key]:
    """All keys of the hand files; in a quick run every seventh of them."""
    return all_keys()[:: 7 if quick else 1]
