"""What is legal but hard to believe is said, and only that."""

from __future__ import annotations

import pytest

from hand.file import parse_hand
from hand.review.suspicions import facts, suspicions
from tests.rigs.mutations import TEXTS

BENCH, HASY = TEXTS["finger_bench"], TEXTS["hasy"]


def keys_of(text: str) -> set[str]:
    return {str(s).split(": ")[1] for s in suspicions(parse_hand(text, "x"))}


def test_the_shipped_hands_have_facts_but_no_suspicion() -> None:
    assert keys_of(BENCH) == keys_of(HASY) == set()
    thumb = {"fingers.thumb.insertion_set", "fingers.thumb.joints"}
    for text, known in ((BENCH, set()), (HASY, thumb)):
        found = {str(s).split(": ")[1] for s in facts(parse_hand(text, "x"))}
        assert found == {"tendon.force_limit_n"} | known


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("length_m = 0.0201", "length_m = 0.00201", "fingers.index.bones[3].length_m"),
        ("flux_linkage_wb = 1.4e-3", "flux_linkage_wb = 1.9e-3", "motor.torque_constant_output_nm_a"),
        ("diameter_m = 0.0008", "diameter_m = 0.0009", "tendon.axial_stiffness_n"),
        ("device_current_a = 2.0", "device_current_a = 1.0", "limits.device_current_a"),
        ("device_current_a = 2.0", "device_current_a = 4.0", "limits.device_current_a"),
        ("force_min_n = 5.0", "force_min_n = 2.0", "tendon.force_min_n"),
        ("force_max_n = 120.0", "force_max_n = 150.0", "tendon.force_max_n"),
        ("{ index_pip = 0.0055 }", "{ index_pip = 0.0075 }", "fingers.index.joints[2]"),
    ],
)
def test_each_kind_of_suspicion_names_its_key_and_line(old: str, new: str, key: str) -> None:
    text = BENCH.replace(old, new, 1)
    assert text != BENCH
    found = [s for s in suspicions(parse_hand(text, "x")) if key in str(s)]
    assert len(found) == 1
    assert found[0].line > 1


def test_a_printed_misprint_is_called_one() -> None:
    text = BENCH.replace("length_m = 0.0201", "length_m = 0.00201")
    text = text.replace("derived: Table 5.1 prints 0.00201, a lost digit", "printed: Table 5.1")
    (found,) = [s for s in suspicions(parse_hand(text, "x")) if "lost digit" in s.text]
    assert found.text.startswith("printed, but")


def test_a_wrist_that_is_not_neutral_in_its_box_is_suspected() -> None:
    assert "wrist.neutral_rad" in keys_of(HASY.replace("0.624023052976757", "0.6241"))
