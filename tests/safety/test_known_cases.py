"""Every input that once broke a promise, from its stored state: the plant's truth decides."""

from __future__ import annotations

import numpy as np
import pytest

from tests.safety.case_truth import Case, broken, hand_of
from tests.safety.known_cases import all_cases, fresh, restore, run_case

NOT_YET = frozenset(
    {
        "seed_15361",
        "seed_1545",
        "seed_10578",
        "seed_273",
    }
)
"""Cases that still break their promise: strict, so that a mended one has to leave the list."""


def _marked(case: Case) -> object:
    reason = f"laws not mended yet: {case.why}"
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if case.name in NOT_YET else []
    return pytest.param(case, id=case.name, marks=marks)


@pytest.mark.sample(10)
@pytest.mark.parametrize("case", [_marked(c) for c in all_cases().values()])
def test_a_known_case_keeps_its_promise(case: Case) -> None:
    assert broken(case, run_case(case)) == []


@pytest.mark.sample(6)
@pytest.mark.parametrize("end", ["min", "max"])
@pytest.mark.parametrize("joint", hand_of("hasy").names.joints)
def test_a_step_of_one_joint_to_its_end_moves_no_joint_faster_than_the_guard_allows(
    joint: str, end: str
) -> None:
    case = Case(
        name=f"{joint}_{end}",
        hand="hasy",
        motion=None,
        state="hasy_at_rest",
        seconds=0.4,
        what=({"at_s": 0, "goal": {"joints": {joint: end}}},),
        why="a joint goes faster than its reference may",
    )
    assert case.moves_one_joint and all_cases()["joint_step"].moves_one_joint
    truth = run_case(case)
    assert truth.refused == [] and broken(case, truth) == []


def test_a_state_is_restored_whatever_the_records_have_grown_or_lost_since(tmp_path, monkeypatch) -> None:
    case = all_cases()["seed_10578"]
    bench = fresh(hand_of(case.hand), case.motion)
    restore(bench, case.state)
    exact = run_case(case)
    monkeypatch.setattr("tests.safety.known_cases.FOLDER", tmp_path)
    kept = {k: r for k, r in bench.records().items() if k != "work"}
    grown = np.dtype([("unknown", "f8"), *kept["plant"].dtype.descr[1:]], align=False)
    plant = np.zeros(1, dtype=grown)
    for name in kept["plant"].dtype.names[1:]:
        plant[name] = kept["plant"][name]
    np.savez_compressed(tmp_path / f"{case.state}.npz", cycle=bench.cycle, **(kept | {"plant": plant}))
    again = run_case(case)
    assert np.array_equal(exact.tension_n, again.tension_n)
    assert np.array_equal(exact.joint_rad, again.joint_rad)
