"""Every value says where it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from hand.file import HandFile, load_hand, parse_hand, shipped_hands
from hand.file.origins import UNLABELLED, VALUE_TABLES, WORDS, Origin, parsed
from tests.rigs.mutations import TEXTS, keys_of, refusal

BENCH = TEXTS["finger_bench"]


@pytest.mark.parametrize("hand", shipped_hands())
def test_every_value_of_a_shipped_hand_has_a_label(hand: str) -> None:
    origins = load_hand(hand).origins
    for key in keys_of(hand):
        inside = any(p in VALUE_TABLES for p in key.path[:-1])
        table = isinstance(key.value, list) and key.value and isinstance(key.value[0], dict)
        table = table or (isinstance(key.value, dict) and key.name not in VALUE_TABLES)
        if not (key.is_label or inside or table or key.name in UNLABELLED):
            assert origins[key.path].word in WORDS, key.path
    assert all(o.source for o in origins.values() if o.word != "assumed")


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("assumed", True),
        ("assumed: no source found", True),
        ("printed: Table 5.1", True),
        ("identified: 2026-11-03 run 12", True),
        ("printed", False),
        ("derived:", False),
        ("published: ", False),
        ("recalled: catalogue", False),
        ("identified: last week", False),
        ("identified: 2026-13-03 run 12", False),
        ("Printed: Table 5.1", False),
        ("", False),
    ],
)
def test_a_label_is_a_word_and_a_source(text: str, good: bool) -> None:
    assert isinstance(parsed(("x",), text), Origin) is good


def test_recalled_is_told_to_be_assumed() -> None:
    problems = refusal(BENCH.replace('"assumed: recalled"', '"recalled: catalogue"'))
    assert any("recalled counts as assumed" in p.legal for p in problems)


def test_a_new_value_without_label_is_refused() -> None:
    text = BENCH.replace('{ name = "index_1", ', '{ name = "index_1", spring_scale = 1.02, ')
    (problem,) = refusal(text)
    assert problem.key == "tendons[0].spring_scale" and problem.found == "a value without origin"
    label = 'spring_scale = 1.02, origin.spring_scale = "identified: 2026-11-03 run 4",'
    labelled = text.replace("spring_scale = 1.02,", label)
    hand = parse_hand(labelled, "x")
    assert str(hand.origins["tendons", 0, "spring_scale"]) == "identified: 2026-11-03 run 4"


def test_a_second_label_is_refused() -> None:
    text = BENCH.replace('{ name = "index_1", ', '{ name = "index_1", origin.length_m = "derived: x", ')
    (problem,) = refusal(text)
    assert problem.key == "tendons[0].origin.length_m" and "origin.tendons" in problem.legal


def test_the_page_about_hand_files_names_every_table_and_word() -> None:
    page = (Path(__file__).parents[2] / "docs" / "hand_files.md").read_text()
    assert [k for k in HandFile.model_fields if f"`{k}" not in page and f"[{k}" not in page] == []
    assert [w for w in WORDS if f"| {w} |" not in page] == []
