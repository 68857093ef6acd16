"""Pages with measured figures: made again from the same runs, they say the same.

Lockstep runs are repeatable bit by bit on one machine; ``SHARE`` leaves room for another one's last bits and
for a change of a law that nobody would call another result.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from docs.figures import plt
from hand.assembly.assemble import model_of, names_of
from hand.file import load_hand
from tests.rigs.pages import DOCS, drifted, maker
from trials import rules

SHARE = 0.03


EFFECTS = ("hysteresis", "guides", "wrist", "feedforward", "levers")


@pytest.mark.sample(1)
@pytest.mark.parametrize("section", EFFECTS)
def test_what_each_effect_costs_is_what_its_runs_give(section: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = maker("make_effects")
    monkeypatch.setattr(made, "save", _unsaved)
    number = EFFECTS.index(section)
    assert made.SECTIONS[number].__name__ == section and len(made.SECTIONS) == len(EFFECTS)
    introduction, *written = re.split("^(?=## )", (DOCS / "effects.md").read_text(), flags=re.MULTILINE)
    assert introduction == f"{made.INTRODUCTION}\n" and len(written) == len(EFFECTS)
    found = drifted(written[number].rstrip(), made.SECTIONS[number]().rstrip(), SHARE)
    assert found == [], "run python docs/make_effects.py"


def _unsaved(figure: Any, name: str) -> str:
    plt.close(figure)
    return f"![{name}](images/effect_{name}.png)"


def test_step_responses_are_what_their_runs_give() -> None:
    found = drifted((DOCS / "responses.md").read_text(), maker("make_responses").page(), SHARE)
    assert found == [], "run python docs/make_responses.py"


def test_where_instructions_go_is_what_the_gate_file_says() -> None:
    text = (DOCS / "performance.md").read_text()
    assert drifted(text, maker("make_performance").page(text), SHARE) == [], (
        "run python docs/make_performance.py"
    )


@pytest.mark.long
def test_what_identification_gains_on_new_motion_is_what_its_runs_give(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, saved = maker("papers/make_identified"), []
    monkeypatch.setattr(made, "save", lambda figure, name: saved.append((plt.close(figure), name)))
    drive = made.identified_drive(tmp_path)
    found = made.held_out(drive, tmp_path)
    for before, after in found.values():
        assert before.rms_n >= 3.0 * after.rms_n and before.first_n >= 10.0 * after.first_n
    text = (DOCS / "calibration.md").read_text()
    assert drifted(text, made.page(text, found), SHARE) == [], "run python docs/papers/make_identified.py"
    made.friction_curve(drive)
    made.ripples(drive)
    made.compensated(found)
    made.guide_losses(drive, tmp_path)
    hand = (DOCS / "papers" / "hand.md").read_text()
    assert [name for _, name in saved] == [f"hand_{k}" for k in ("3_3", "3_4", "3_5", "3_6", "4_10")]
    assert all(f"images/{name}.png" in hand for _, name in saved)


def test_identification_gained_on_new_motion_what_it_has_to() -> None:
    """Of the rows that the runs give: a third of the force error, a tenth of the first harmonic."""
    motions = maker("papers/make_identified").MOTIONS
    rows = rows_of("calibration.md")
    for name in motions:
        before, after, _, first_before, first_after, _ = (float(cell) for cell in rows[name])
        assert before >= 3.0 * after and first_before >= 10.0 * first_after, name


LIMBS = ("hand_on_arm", "hand_on_carpal")


@pytest.mark.long
def test_a_hand_on_a_limb_follows_as_its_page_says() -> None:
    made = maker("papers/make_limbs")
    assert tuple(made.LIMBS) == LIMBS
    found = {limb: made.followed(limb) for limb in LIMBS}
    text = (DOCS / "papers" / "prosthesis_arm.md").read_text()
    assert drifted(text, made.page(text, found), SHARE) == [], "run python docs/papers/make_limbs.py"


@pytest.mark.parametrize("limb", LIMBS)
def test_fingers_on_a_limb_are_as_good_as_those_of_the_hand_alone(limb: str) -> None:
    """Of the rows that the runs give: at most a fifth worse."""
    (row,) = (
        row for name, row in rows_of("papers/prosthesis_arm.md").items() if name.startswith(f"`{limb}`, ")
    )
    carried, alone = (float(cell.split()[0]) for cell in row[:2])
    assert carried <= 1.2 * alone


def rows_of(page: str) -> dict[str, list[str]]:
    """First cell -> the other cells, of all tables of a page; the first row that begins so."""
    text = (DOCS / page).read_text()
    cells = [
        [c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "
    ]
    return {row[0]: row[1:] for row in reversed(cells)}


def numbers(text: str) -> list[float]:
    return [float(n) for n in re.findall(r"\d+(?:\.\d+)?", text)]


def test_joint_friction_and_guides_fed_forward_bring_every_hand_nearer_to_its_goals() -> None:
    """Of the rows that the runs give: the reference hand's marks, every other hand and motion no worse."""
    rows, followed = rows_of("effects.md"), maker("make_effects").FOLLOWED
    assert max(float(rows[f"hasy {motion}"][1]) for motion in ("open_close", "finger_wave")) <= 0.33
    for hand, motion, drawn in followed:
        name = f"{hand} {motion}" + (f", drawn hand {drawn}" if drawn else "")
        without, with_it = (float(cell) for cell in rows[name])
        assert with_it < without, name
        if motion == "open_close" and drawn is None:
            assert with_it <= 0.66 * without, hand


def test_the_levers_loop_put_back_brings_every_true_tension_nearer_to_the_wanted_one() -> None:
    rows = rows_of("effects.md")
    assert float(rows["finger_bench force_sine"][1]) <= 0.7
    for hand, motion, drawn in maker("make_effects").PULLED:
        name = f"{hand} {motion}" + (f", drawn hand {drawn}" if drawn else "")
        without, with_it = (float(cell) for cell in rows[name])
        assert with_it <= (0.75 if drawn else 0.45) * without, name


def test_the_rules_of_the_fault_trials_are_those_that_the_page_says() -> None:
    rows = rows_of("faults.md")
    later = f"the same later than {1e3 * rules.FIRST_MOMENT_S:.0f} ms after the fault"
    said = {
        "true tension, any tendon, any time": [rules.TENSION_NEVER_N],
        later: [rules.TENSION_LATER_N],
        "a joint reaches its hard stop because of the fault": [rules.STOP_SPEED_RAD_S],
        "from observable to motors of the finger at zero, on their ramp or probing": [1e3 * rules.REACT_S],
        "torque that pulls, from then on": [
            1e3 * rules.RAMP_S, rules.PROBE_NM, 1e3 * rules.PROBE_M, rules.PROBE_S
        ],
        "torque that unwinds, from then on": [rules.UNWIND_NM, rules.UNWIND_S],
    }  # fmt: skip
    for what, figures in said.items():
        assert numbers(rows[what][0]) == pytest.approx(figures), what


def test_every_kind_of_fault_is_on_the_page_with_its_time_and_its_sizes() -> None:
    rows = {kind: row for kinds, row in rows_of("faults.md").items() for kind in kinds.split(", ")}
    for kind, rule in rules.KINDS.items():
        fault, seen, _, within = rows[kind]
        if within != "-":
            assert numbers(within) == pytest.approx([1e3 * rule.name_s]), kind
        if seen.startswith("after"):
            assert numbers(seen) == pytest.approx([1e3 * rule.shows_after_s]), kind
        assert (seen == f"{1e3 * rules.SHOWN_M:g} mm wound") == rule.shows_by_winding, kind
        if rule.sizes is not None and " to " in fault:
            low, high = numbers(fault)[:2] if kind != "hall-spike" else numbers(fault)[-2:]
            assert high / low == pytest.approx(rule.sizes[1] / rule.sizes[0], rel=2e-3), kind


def test_coriolis_terms_of_the_index_cost_what_the_page_of_the_paper_says() -> None:
    hand = load_hand("hasy")
    runs = maker("papers/make_hand_figures").released(model_of(hand), names_of(hand))
    worst = 1e3 * np.abs(runs[0] - runs[1]).max(axis=0)
    said = numbers((DOCS / "papers" / "hand.md").read_text().partition("Coriolis terms costs")[2])[0]
    assert worst[3] == worst.max() == pytest.approx(said, abs=0.5)
    # the paper: abduction rests; by its own bones, offset to the side, it moves by a 300th of the 0.1 rad
    assert 1e-4 < np.abs(runs[0][:, 0]).max() < 1e-3


PAGE = "# A page\n\n| 20 N | full | 0.269 | 12,345 |\n"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (PAGE, True),
        (PAGE.replace("0.269", "0.270"), True),
        (PAGE.replace("0.269", "0.343"), False),
        (PAGE.replace("12,345", "12,400"), True),
        (PAGE.replace("12,345", "13,000"), False),
        (PAGE.replace("full", "ideal"), False),
        (PAGE.replace("20 N", "-20 N"), False),
        (PAGE + "more\n", False),
    ],
)
def test_a_page_that_lies_is_found(other: str, same: bool) -> None:
    assert (drifted(PAGE, other, SHARE) == []) == same
