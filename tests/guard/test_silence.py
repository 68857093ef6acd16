"""The short way round of the channel checks: taken exactly when no channel says anything but a new number."""

from __future__ import annotations

import math

import pytest

from guard.channel_checks import NO_REFERENCE, all_say_nothing, degraded
from mechanics.plausible import NEWEST_NS
from tests.rigs.bare import Bare

TIMERS = ("missing_s", "hall_missing_s")
ENDS = [0, 7]
"""First and last channel of the finger."""


def short(bench: Bare) -> bool:
    return bool(all_say_nothing(bench.m, bench.mem, bench.z, bench.s))


def counting() -> Bare:
    """Timers of silence that run, a limit of the age of 10 us, samples of this cycle."""
    bench = Bare()
    bench.m["measurement_age_s"][2] = 1e-5
    bench.mem["bus_lost_s"] = 0.1
    for name in TIMERS:
        bench.mem[name][: bench.n] = 0.1
    return bench


def running(bench: Bare) -> bool:
    """All timers go on; the alternative is that all are back at zero."""
    kept = [float(bench.mem["bus_lost_s"])] + [
        float(x) for name in TIMERS for x in bench.mem[name][: bench.n]
    ]
    assert set(kept) in ({0.1}, {0.0})
    return kept[0] > 0.0


def test_new_numbers_everywhere_end_all_silence() -> None:
    bench = counting()
    assert short(bench) and not running(bench)


@pytest.mark.parametrize("channel", ENDS)
@pytest.mark.parametrize("kind", ["motor", "hall"])
@pytest.mark.parametrize("bit", [1, 2, 1024])
def test_one_word_of_one_channel_is_looked_at(channel: int, kind: str, bit: int) -> None:
    bench = counting()
    bench.z[f"{kind}_status"][channel] = bit
    assert not short(bench) and running(bench)


@pytest.mark.parametrize("channel", ENDS)
@pytest.mark.parametrize("field", ["motor_angle_rad", "hall_fine_count"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_one_value_that_is_no_number_is_looked_at(channel: int, field: str, value: float) -> None:
    bench = counting()
    bench.z[field][channel] = -3.0
    assert short(bench)
    bench = counting()
    bench.z[field][channel] = value
    assert not short(bench) and running(bench)


@pytest.mark.parametrize("channel", ENDS)
@pytest.mark.parametrize("field", ["motor_time_ns", "hall_time_ns"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("limit_s", "limit_ns"),
    [(1e-5, 10_000), (1e-9, 1), (0.0, NEWEST_NS), (-1.0, NEWEST_NS), (1e-9 * (NEWEST_NS + 9), NEWEST_NS)],
)
def test_one_sample_that_is_too_old_or_of_the_future_is_looked_at(
    channel: int, field: str, sign: int, limit_s: float, limit_ns: int
) -> None:
    """Without a limit of its own, or with one too long, by what no clock can differ."""
    for age, found in ((limit_ns, True), (limit_ns + 1, False)):
        bench = counting()
        bench.m["measurement_age_s"][2] = limit_s
        bench.z[field][channel] = int(bench.s["time_ns"]) - sign * age
        assert short(bench) is found and running(bench) is not found


@pytest.mark.parametrize("channel", ENDS)
def test_a_motor_without_a_reference_is_looked_at_in_every_cycle(channel: int) -> None:
    """Its phase is never known."""
    bench = counting()
    bench.m["encoder_reference"][channel] = NO_REFERENCE
    assert not short(bench) and running(bench)


def test_channels_that_the_hand_does_not_have_say_nothing() -> None:
    bench = counting()
    for kind in ("motor", "hall"):
        bench.z[f"{kind}_status"][bench.n] = 1
        bench.z[f"{kind}_time_ns"][bench.n] = 0
    bench.z["motor_angle_rad"][bench.n] = bench.z["hall_fine_count"][bench.n] = math.nan
    assert short(bench)


@pytest.mark.parametrize("channel", ENDS)
@pytest.mark.parametrize("field", ["motor_time_ns", "hall_time_ns"])
@pytest.mark.parametrize(("limit_s", "limit_ns"), [(5e-6, 5000), (1e-9, 1), (0.0, None), (-1.0, None)])
def test_where_all_samples_are_young_no_tendon_is_degraded(
    channel: int, field: str, limit_s: float, limit_ns: int | None
) -> None:
    """The look may call a sample old that is not, within 2 ns of the tier, but none young that is old."""
    for away in (-3, -2, -1, 0, 1, 2):
        bench = counting()
        bench.m["measurement_age_s"][1] = limit_s
        now, old = int(bench.s["time_ns"]), max((limit_ns or 8000) + away, 0)
        for kind in ("motor", "hall"):
            bench.z[f"{kind}_time_ns"][: bench.n] = now
        bench.z[field][channel] = now - old
        assert short(bench)
        aged = [degraded(bench.m, bench.z, bench.s, t) for t in range(bench.n)]
        young = bool(bench.mem["all_young"])
        assert not (young and any(aged))
        assert any(aged) == (limit_ns is not None and away > 0)
        assert young or (limit_ns is not None and away > -2)
