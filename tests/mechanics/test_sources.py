"""What tells each angle and tension is said of every part of every shipped hand, as ``check`` says it."""

from __future__ import annotations

import pytest

from hand.assembly.assemble import model_of, names_of
from hand.file import load_hand, parse_hand, shipped_hands
from hand.review.sight import sights_of
from mechanics.sources import sources_of
from tests.rigs.mutations import TEXTS


@pytest.mark.parametrize("hand", shipped_hands())
def test_every_joint_and_tendon_has_the_source_that_check_tells(hand: str) -> None:
    file = load_hand(hand)
    names, model = names_of(file), model_of(file)
    told = sources_of(model[0], names.joints, names.tendons)
    assert tuple(told["joint"]) == names.joints and tuple(told["tendon"]) == names.tendons
    by_finger = {sight.finger: sight for sight in sights_of(file)}
    for finger, table in file.fingers.items():
        assert {told["joint"][joint.name] for joint in table.joints} == {by_finger[finger].joints}
    for tendon in file.tendons:
        assert f"{told['tendon'][tendon.name]}s" == by_finger[tendon.finger].tension


def test_a_tendon_whose_sensor_is_not_used_is_told_apart() -> None:
    text = TEXTS["finger_bench"]
    row = next(line for line in text.splitlines() if 'name = "index_1"' in line)
    file = parse_hand(
        text.replace(
            row, row.replace("length_m", 'hall_used = false, origin.hall_used = "assumed", length_m')
        ),
        "hand.toml",
    )
    names = names_of(file)
    told = sources_of(model_of(file)[0], names.joints, names.tendons)
    assert told["tendon"]["index_1"] == "motor angle and joints"
    assert {w for t, w in told["tendon"].items() if t != "index_1"} == {"sensor"}
    assert set(told["joint"].values()) == {"sensors"}
