"""Faults on the command line: every kind parses, every mistake says what would be legal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signals.modes import FaultKind
from signals.names import HandNames, UnknownName
from sim.options import Fault, SimOptions

NAMES = HandNames(
    hand="bench",
    motors=("m_a", "m_b"),
    tendons=("a", "b"),
    joints=("j", "k"),
    fingers=("f",),
    axes=("q71", "q73"),
)


@given(st.sampled_from(Fault.kinds()), st.floats(0, 1e5, allow_nan=False))
def test_every_kind_round_trips(kind: str, time_s: float) -> None:
    name = {"axis": "q73", "motor": "m_b", "joint": "k", "tendon": "b"}[Fault.space(kind)]
    fault = Fault.parse(f"{kind}:{name}@{time_s!r}", NAMES)
    assert fault.kind is FaultKind[kind.upper().replace("-", "_")]
    assert (fault.index, fault.time_s) == (1, time_s)


def test_a_motor_may_be_named_by_its_tendon() -> None:
    assert Fault.parse("motor-lost:b@1", NAMES).index == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tendon-brake:a@1", ["tendon-brake", "did you mean 'tendon-break'"]),
        ("tendon-break:c@1", ["'c'", "legal: a, b"]),
        ("tendon-break:a", ["KIND:NAME@SECONDS"]),
        ("tendon-break@1", ["KIND:NAME@SECONDS"]),
        ("tendon-break:a@soon", ["must be numbers"]),
        ("tendon-break:a@-1", ["0 to 1e6"]),
        ("tendon-break:a@nan", ["0 to 1e6"]),
        ("hall-offset:a=many@1", ["must be numbers"]),
    ],
)
def test_a_mistake_says_what_is_legal(text: str, words: list[str]) -> None:
    with pytest.raises((ValueError, UnknownName)) as caught:
        Fault.parse(text, NAMES)
    for word in words:
        assert word in str(caught.value)


def test_options_refuse_what_a_plant_cannot_do() -> None:
    with pytest.raises(ValueError, match="substeps is 0"):
        SimOptions(substeps=0)
    with pytest.raises(ValueError, match="pretension is -1"):
        SimOptions(pretension_n=-1.0)
