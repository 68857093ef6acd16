"""The page of every shipped hand says what its file says."""

from __future__ import annotations

import pytest

from hand.file import load_hand, shipped_hands
from tests.rigs.pages import DOCS, maker


@pytest.mark.parametrize("hand", shipped_hands())
def test_the_page_of_a_hand_is_what_its_file_says(hand: str) -> None:
    page = (DOCS / "hands" / f"{hand}.md").read_text()
    assert page == maker("make_hands").page_of(hand), "run python docs/make_hands.py"
    assert all(origin.source in page for origin in load_hand(hand).origins.values())


def test_no_page_is_left_of_a_hand_that_is_not_shipped() -> None:
    assert sorted(p.stem for p in (DOCS / "hands").glob("*.md")) == sorted(shipped_hands())
