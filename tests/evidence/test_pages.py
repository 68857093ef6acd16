"""Pages with measured figures: made again from the same runs, they say the same.

Lockstep runs are repeatable bit by bit on one machine; ``SHARE`` leaves room for another one's last bits and
for a change of a law that nobody would call another result.
"""

from __future__ import annotations

import pytest

from tests.rigs.pages import DOCS, drifted, maker

SHARE = 0.03


def test_what_each_effect_costs_is_what_its_runs_give(monkeypatch: pytest.MonkeyPatch) -> None:
    made = maker("make_effects")
    monkeypatch.setattr(made, "save", lambda figure, name: _unsaved(made, figure, name))
    found = drifted((DOCS / "effects.md").read_text(), made.page(), SHARE)
    assert found == [], "run python docs/make_effects.py"


def _unsaved(made: object, figure: object, name: str) -> str:
    made.plt.close(figure)  # type: ignore[attr-defined]
    return f"![{name}](images/effect_{name}.png)"


def test_step_responses_are_what_their_runs_give() -> None:
    found = drifted((DOCS / "responses.md").read_text(), maker("make_responses").page(), SHARE)
    assert found == [], "run python docs/make_responses.py"


def test_where_instructions_go_is_what_the_gate_file_says() -> None:
    text = (DOCS / "performance.md").read_text()
    assert drifted(text, maker("make_performance").page(text), SHARE) == [], (
        "run python docs/make_performance.py"
    )


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
