"""One mistake in a shipped hand file is refused or suspected, or no file could show it."""

from __future__ import annotations

import pytest

from hand.file import shipped_hands
from tests.hands.mutants import KINDS, PAGE, SILENT, mutants, page, sample, tried

SAMPLE = 80


@pytest.mark.sample(2)
@pytest.mark.parametrize("hand", shipped_hands())
def test_a_mistake_is_refused_or_flagged_or_explained(hand: str) -> None:
    counted, unexplained = tried(hand, SAMPLE)
    assert unexplained == []
    assert sum(counted.values()) == SAMPLE
    assert all(counted[kind, "silent"] == 0 for kind in ("type", "duplicate"))
    assert sum(n for (_, found), n in counted.items() if found == "refused") > SAMPLE // 4


@pytest.mark.parametrize("hand", shipped_hands())
def test_the_mutants_are_different_from_the_file_and_from_each_other(hand: str) -> None:
    every = mutants(hand)
    assert len({m.text for m in every}) > 0.97 * len(every)
    assert all(m.text != m.key.text for m in every)
    assert {m.kind.split(" ")[0] for m in sample(hand, 10**6)} == set(KINDS)


def test_the_page_has_every_shipped_hand_and_every_reason() -> None:
    text = PAGE.read_text()
    for hand in shipped_hands():
        assert all(f"| {hand} | {kind} |" in text for kind in KINDS)
    assert text.split("## What no file")[1] == page({}).split("## What no file")[1]
    assert all(f"| {mistake} | `{part}` |" in text for mistake, part, _ in SILENT)
