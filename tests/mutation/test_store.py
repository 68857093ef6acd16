"""What is kept of mutants from run to run: as much as still says something, and no more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.mutation.store import Store, hash_of_test

LAWS = '''
"""Laws."""
LIMIT = 2.0
@law
def one(x):
    """Docstring."""
    return x > LIMIT
@law
def two(x):
    return x + 1.0
'''
TESTS = """
from guard.laws import one, two
BIG = 3.0
def helper():
    return one(BIG)
def test_one():
    assert helper()
def test_two():
    assert two(1.0) == 2.0
"""


@dataclass(frozen=True)
class Change:
    number: int
    function: str
    module: str = "guard.laws"
    what: str = "constant"
    before: str = "1.0"
    after: str = "2.0"


MUTANTS = [Change(1, "one"), Change(2, "two"), Change(3, "two")]
ONE, TWO = "tests/guard/test_laws.py::test_one", "tests/guard/test_laws.py::test_two"
STEPS = iter(range(1000))


class Project:
    """Sources in a folder of their own for every change: what was parsed is remembered by its path."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def store(self, laws: str = LAWS, tests: str = TESTS) -> Store:
        self.root = self.place / str(next(STEPS))
        for folder, text in (("guard/laws.py", laws), ("tests/guard/test_laws.py", tests)):
            path = self.root / folder
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
        return Store(self.place / "outcomes.json", list(MUTANTS), self.root)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with mutant 1 killed by test_one and mutant 2 survived past test_two; 3 is unknown."""
    made = Project(tmp_path)
    store = made.store()
    store.kill(1, "killed", ONE)
    store.survive(2, [hash_of_test(TWO, made.root)])
    store.save()
    return made


def states(store: Store) -> list[str]:
    return [store.state(m.number) for m in MUTANTS]


def test_outcomes_stay_when_tests_and_texts_are_added(project: Project) -> None:
    more = TESTS + "\ndef test_three():\n    assert one(5.0)\n"
    store = project.store(LAWS.replace("Docstring", "Another text"), more)
    assert states(store) == ["killed", "survived", ""]
    assert store.past(2) == {hash_of_test(TWO, project.root)}
    assert hash_of_test(TWO.replace("two", "three"), project.root) not in store.past(2)


def test_equal_changes_of_a_function_are_told_apart(project: Project) -> None:
    assert len(set(project.store().keys.values())) == len(MUTANTS)


def test_a_changed_function_begins_anew_and_only_it(project: Project) -> None:
    assert states(project.store(LAWS.replace("x + 1.0", "x + 1.5"))) == ["killed", "", ""]
    assert states(project.store(LAWS.replace("x > LIMIT", "x >= LIMIT"))) == ["", "survived", ""]


def test_a_constant_belongs_to_every_function_of_its_module(project: Project) -> None:
    assert states(project.store(LAWS.replace("2.0", "2.5"))) == ["", "", ""]


@pytest.mark.parametrize(
    "tests", [TESTS.replace("BIG = 3.0", "BIG = 4.0"), TESTS.replace("def test_one", "def test_other")]
)
def test_a_kill_is_worth_what_its_test_is(project: Project, tests: str) -> None:
    """The test uses the constant by way of a helper; the other one does not."""
    store = project.store(tests=tests)
    assert states(store) == ["", "survived", ""]
    assert store.past(2) == {hash_of_test(TWO, project.root)}


def test_what_is_forgotten_is_unknown(project: Project) -> None:
    store = project.store()
    for m in MUTANTS:
        store.forget(m.number)
    assert states(store) == ["", "", ""]
