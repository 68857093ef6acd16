"""What the benches conclude from what they measure, on figures whose answer is known."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import kernel, rounds, run
from benchmarks.by_law import Costs
from benchmarks.kernel import (
    REFERENCE_TOLERANCE,
    TOLERANCE,
    Count,
    Gate,
    calibrated_channels,
    judge,
    versions,
)
from benchmarks.ratios import LEAST_ROUNDS, Ratio, company_ratio, median_interval, paired, share
from benchmarks.run import CALIBRATED_FOR, equal_work
from benchmarks.side_by_side import FACTOR_BOUND, LINEAR_BOUND, _judged
from benchmarks.slices import Slice, percentile
from benchmarks.stages import _table
from benchmarks.yardsticks import Place, read_cyclictest
from hand.options import RunOptions
from signals.names import UnknownName

values = st.floats(1e-3, 1e6)
samples = st.lists(values, min_size=1, max_size=40)


@given(samples, st.floats(0.01, 100.0))
def test_an_interval_scales_with_its_values_and_holds_their_median(sample, factor):
    median, low, high = median_interval(sample)
    assert min(sample) <= low <= median <= high <= max(sample)
    scaled = median_interval([factor * v for v in sample])
    np.testing.assert_allclose(scaled, [factor * v for v in (median, low, high)], rtol=1e-9)


def test_intervals_of_thirty_rounds_hold_the_true_median_as_often_as_they_promise():
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(300):
        _, low, high = median_interval(np.exp(rng.normal(np.log(1.3), 0.4, 30)))
        held += low <= 1.3 <= high
    assert held / 300 >= 0.90  # the percentile bootstrap of a median is a little short of its 95 %


@given(st.lists(st.tuples(values, values), min_size=1, max_size=30), st.floats(1e-3, 1e3))
def test_a_bound_is_missed_only_if_the_whole_interval_lies_above_it(pairs, bound):
    ratio = paired("x", [a for a, _ in pairs], [b for _, b in pairs], bound)
    assert ratio is not None
    assert ratio.missed == (len(pairs) >= LEAST_ROUNDS and ratio.low > bound)
    assert not paired("x", [1.0], [1.0], None).missed  # type: ignore[union-attr]


def test_the_least_number_of_rounds_is_the_one_whose_range_holds_the_median_as_often_as_promised():
    outside = [2 * 0.5**n for n in (LEAST_ROUNDS - 1, LEAST_ROUNDS)]  # all values on one side of it
    assert outside[0] > 0.05 >= outside[1]


def test_pairing_cancels_what_the_machine_does_to_both():
    drift = np.exp(np.linspace(0.0, 3.0, 30))
    ratio = paired("x", list(1.1 * drift), list(drift))
    assert ratio is not None and ratio.width < 1e-12 and abs(ratio.median - 1.1) < 1e-12


def test_rounds_without_a_figure_are_left_out_and_none_at_all_is_no_ratio():
    ratio = paired("x", [2.0, float("nan"), 2.0], [1.0, 1.0, 0.0])
    assert ratio is not None and (ratio.rounds, ratio.median) == (1, 2.0)
    assert paired("x", [float("nan")], [1.0]) is None
    with pytest.raises(ValueError, match="finite"):
        median_interval([])


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 10**6))
def test_rare_events_have_a_ratio_even_when_there_are_none(a, b, of):
    assert share(a, of) / share(b, of) == pytest.approx((a + 0.5) / (b + 0.5))


def test_company_is_worse_only_beyond_its_own_width_and_the_yardsticks_resolution():
    def ratio(median: float, half: float) -> Ratio:
        return Ratio(name="r", median=median, low=median - half, high=median + half, rounds=30, bound=1.2)

    alone = ratio(1.0, 0.05)
    assert not company_ratio(alone, ratio(1.19, 0.1))["missed"]
    assert company_ratio(alone, ratio(1.21, 0.1))["missed"]
    assert company_ratio(ratio(0.001, 0.0), ratio(0.002, 0.0))["missed"]
    assert not company_ratio(ratio(0.001, 0.0), ratio(0.002, 0.0), resolution=0.03)["missed"]


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=60), st.sampled_from([0.0, 0.5, 0.9, 0.99, 1.0]))
def test_percentiles_are_values_that_were_seen_and_weights_are_repetitions(seen, fraction):
    array = np.array(seen)
    plain = percentile(array, fraction, None)
    assert plain in seen
    if fraction:
        assert plain == np.quantile(array, fraction, method="inverted_cdf")
    distinct, counts = np.unique(array, return_counts=True)
    assert percentile(distinct, fraction, counts) == plain


@given(st.lists(st.integers(0, 3_000_000), min_size=1, max_size=200))
def test_a_histogram_of_cyclictest_says_what_its_wake_ups_said(wakes_ns):
    place = Place(cpu=0, rate_hz=3000.0, seconds=1.0, channels=1)
    wakes = np.array(wakes_ns)
    bins: dict[str, int] = {}
    for us in wakes // 1000:
        if us < 1000:
            bins[str(us)] = bins.get(str(us), 0) + 1
    thread = {"histogram": bins, "cycles": len(wakes), "max": int(wakes.max() // 1000)}
    found = read_cyclictest({"thread": {"0": thread}}, place)
    assert found.cycles == len(wakes)
    exact = Slice(wakes, None, place.period_ns)
    if wakes.max() < 1_000_000:
        for fraction in (0.5, 0.99):
            assert abs(found.wake_us(fraction) - exact.wake_us(fraction)) <= 0.5
    near_the_limit = int(((wakes >= 333_000) & (wakes < 334_000)).sum())
    assert abs(found.late - exact.late) <= near_the_limit


GATE = Gate(
    hand="hasy",
    motion="open_close",
    instructions_per_tick=200_000.0,
    reference_channels=190,
    reference_instructions_per_tick=199_000.0,
    versions=versions(),
)


def count_of(mean: float, laws: dict[str, int] | None = None) -> Count:
    return Count(mean=mean, p99=0.0, worst=0.0, costs=Costs(laws=Counter(laws or {})))


@given(st.floats(-0.02, 0.02))
def test_the_gate_holds_within_its_tolerance_on_both_sides(change):
    held, said = judge(GATE, count_of(GATE.instructions_per_tick * (1.0 + change)), None)
    if abs(abs(change) - TOLERANCE) > 1e-9:
        assert held == (abs(change) < TOLERANCE)
        assert held or "--accept" in said[-1]


@pytest.mark.parametrize("what", ["p99", "worst"])
def test_the_worst_cycles_are_gated_like_the_mean(what):
    gate = dataclasses.replace(GATE, p99=220_000.0, worst=230_000.0)
    sound = dataclasses.replace(count_of(200_000.0), p99=220_000.0, worst=230_000.0)
    assert judge(gate, sound, None)[0]
    assert not judge(gate, dataclasses.replace(sound, **{what: 240_000.0}), None)[0]


def test_a_count_that_left_its_gate_names_the_law_that_grew():
    gate = dataclasses.replace(GATE, laws={"guard.limits.bounded": 900, "mechanics.sine.sine": 5000})
    grown = count_of(210_000.0, laws={"guard.limits.bounded": 900, "mechanics.sine.sine": 15_000})
    held, said = judge(gate, grown, None)
    assert not held and "mechanics.sine.sine: 5000 -> 15000 (+10000)" in "\n".join(said)
    assert "bounded" not in "\n".join(said)


@pytest.mark.parametrize(
    ("mine", "lean_count", "differ", "late", "missed"),
    [
        (1.99 * 50_000, 50_000, 1e-12, False, 0),
        (2.01 * 50_000, 50_000, 1e-12, False, 1),
        (100_000, 61_000, 1e-12, False, 1),
        (100_000, 50_000, 2e-9, False, 1),
        (100_000, 50_000, float("nan"), False, 1),
        (100_000, 50_000, 0.0, True, 1),
    ],
)
def test_the_lean_tick_is_held_to_its_work_its_commands_and_its_time(mine, lean_count, differ, late, missed):
    beside = {"instructions_per_tick": lean_count, "commands_differ": differ, "time": {"missed": late}}
    assert len(run._missed_beside(mine, beside)) == missed
    assert beside["ratio"] == pytest.approx(mine / lean_count)
    assert run._missed_beside(mine, None) == []


def test_other_versions_and_unequal_work_are_told():
    other = dataclasses.replace(GATE, versions={**GATE.versions, "numba": "0.1"})
    held, said = judge(other, count_of(200_000.0), 200_000.0 * (1.01 + REFERENCE_TOLERANCE))
    assert held
    assert any("numba 0.1 ->" in s for s in said) and any("calibrate" in s for s in said)
    assert judge(None, count_of(1.0), None)[0]


def test_the_gate_survives_its_file_and_a_foreign_file_is_refused(tmp_path):
    path = tmp_path / "deep" / "gate.json"
    assert kernel.load_gate(path) is None
    kernel.save_gate(GATE, path)
    assert kernel.load_gate(path) == GATE
    for text in ("{}", "[1]", "not json", json.dumps({"hand": "x"})):
        path.write_text(text)
        with pytest.raises(ValueError, match="--accept"):
            kernel.load_gate(path)


@given(st.integers(1, 1000), st.integers(50, 2000), st.integers(0, 5000))
def test_the_reference_is_calibrated_to_the_nearest_number_of_channels(target, per_channel, per_finger):
    def count(channels: int) -> float:
        return float(per_channel * channels + per_finger * (channels // 8))

    wanted = count(target) + per_channel / 3
    best, counted = calibrated_channels(wanted, count)
    nearest = min(abs(count(c) - wanted) for c in range(1, 1024))
    assert counted == count(best) and abs(counted - wanted) == nearest


@given(st.lists(st.floats(10.0, 500.0), min_size=1, max_size=20))
def test_the_table_of_stages_adds_up_to_the_cycle(walls):
    row = {"exchange": 40.0, "estimate": 4.0, "control": 8.0, "guard": 4.0, "ring": 1.0}
    row |= {"substeps": 33.0, "cycle": 60.0}
    table = _table([{**row, "wall": wall} for wall in walls], 3000.0, 4)
    assert sum(table.stages_us.values()) == pytest.approx(table.cycle_us)
    assert min(table.stages_us.values()) >= 0.0
    assert table.missed == (table.factor_high < FACTOR_BOUND)
    assert table.factor_low <= table.factor <= table.factor_high


def fake_turns(calls: list[str]) -> dict[str, rounds.Turn]:
    wake = {"cyclictest": 50_000, "c_wait": 50_000, "c_loop": 50_000, "plain": 55_000, "hybrid": 2000}

    def turn(name: str) -> rounds.Turn:
        def run() -> Slice:
            calls.append(name)
            wakes = np.full(1000, wake[name.partition("_company")[0]])
            return Slice(wakes, None if name in ("cyclictest", "c_wait") else wakes + 20_000, 333_333.3)

        return run

    return {name: turn(name) for name in [*wake, "plain_company", "hybrid_company"]}


@settings(max_examples=5)
@given(st.integers(1, 9))
def test_rounds_are_interleaved_and_nobody_always_comes_first(count):
    calls: list[str] = []
    turns = fake_turns(calls)
    measured = rounds.measure(turns, count, lambda _: None)
    for k in range(count):
        assert sorted(calls[k * len(turns) : (k + 1) * len(turns)]) == sorted(turns)
    firsts = calls[:: len(turns)]
    assert len(set(firsts)) == min(count, len(turns))
    found = {r.name: r for r in rounds.ratios(measured)}
    assert found["plain wake p99 / cyclictest"].median == pytest.approx(1.1)
    assert found["hybrid wake p99 / cyclictest"].bound == 0.25
    assert found["plain response p50 / c_loop"].median == pytest.approx(75 / 70)
    assert not any(r.missed for r in found.values())
    assert len(rounds.in_company(list(found.values()), measured)) == 5


def test_a_machine_without_compiler_and_cyclictest_measures_what_is_left_and_says_so(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    place = Place(cpu=0, rate_hz=3000.0, seconds=0.1, channels=1)
    options = RunOptions(motion="open_close")
    turns, notices = rounds.participants(place, options, rounds.usual(company=False))
    assert list(turns) == ["plain", "hybrid"]
    assert any("rt-tests" in n for n in notices) and any("gcc" in n for n in notices)
    alone = rounds.Rounds({name: [Slice(np.ones(5), np.ones(5), 333_333.3)] for name in turns})
    assert rounds.ratios(alone) == [] and rounds.in_company([], alone) == []


def test_who_takes_part_can_be_chosen_and_our_waiter_stands_in_for_cyclictest(monkeypatch):
    place, options = Place(cpu=0, rate_hz=3000.0, seconds=0.1, channels=1), RunOptions(motion="open_close")
    for there in (None, "/usr/bin/cyclictest"):
        monkeypatch.setattr(rounds, "cyclictest_path", lambda there=there: there)
        first = "cyclictest" if there else "c_wait"
        assert rounds.usual(company=False) == (first, "c_loop", "plain", "hybrid")
        assert rounds.usual(company=True)[4:] == ("plain_company", "hybrid_company")
        turns, _ = rounds.participants(place, options, ("plain_company", "plain"))
        assert set(turns) == {"plain", "plain_company"}
    with pytest.raises(UnknownName, match="'plane'; did you mean 'plain'"):
        rounds.participants(place, options, ("plane",))


@settings(max_examples=5)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(6, 12))
def test_in_company_one_late_cycle_a_round_is_no_change_for_the_worse(alone, usual, count):
    def turns(late: int) -> list[Slice]:
        wakes = np.full(6000, 50_000)
        wakes[:late] = 400_000
        return [Slice(wakes, None, 333_333.3)] * count

    slices = {"cyclictest": turns(usual), "plain": turns(alone)}
    for more, missed in ((1, False), (2, True)):
        measured = rounds.Rounds({**slices, "plain_company": turns(alone + more)})
        rows = rounds.in_company(rounds.ratios(measured), measured)
        assert [r["missed"] for r in rows if " late " in r["name"]] == [missed]


def test_a_bound_against_the_reference_tick_needs_equal_work(tmp_path, monkeypatch):
    measured = rounds.measure(fake_turns([]), 3, lambda _: None)
    unequal = {r.name: r.bound for r in rounds.ratios(measured, equal_work=False)}
    equal = {r.name: r.bound for r in rounds.ratios(measured, equal_work=True)}
    assert {n for n in equal if equal[n] != unequal[n]} == {
        "plain response p50 / c_loop",
        "plain_company response p50 / c_loop",
    }
    gate = tmp_path / "gate.json"
    kernel.save_gate(GATE, gate)
    monkeypatch.setattr(kernel, "gate_path", lambda: gate)
    assert equal_work(RunOptions(hand="hasy", motion="open_close")).calibrated
    assert equal_work(RunOptions(hand="hasy", motion="open_close")).channels == GATE.reference_channels
    assert not equal_work(RunOptions(hand="finger_bench", motion="open_close")).calibrated
    assert not equal_work(RunOptions(hand="hasy", motion="hold")).calibrated


def test_the_gate_is_part_of_the_package_and_its_reference_does_the_ticks_work():
    gate = kernel.load_gate()
    assert gate is not None and kernel.gate_path().parent == Path(kernel.__file__).parent
    assert (gate.hand, gate.motion) == CALIBRATED_FOR
    assert abs(gate.reference_instructions_per_tick / gate.instructions_per_tick - 1.0) < REFERENCE_TOLERANCE


def test_without_a_gate_nothing_is_compared_and_the_answer_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "gate_path", lambda: tmp_path / "gate.json")
    with pytest.raises(ValueError, match="kernel --accept"):
        equal_work(RunOptions(hand="hasy", motion="open_close"))


def test_only_the_reference_hand_may_set_the_gate():
    with pytest.raises(ValueError, match="hasy open_close"):
        run.count(RunOptions(hand="finger_bench", motion="open_close"), 1, lambda _: None, accept=True)


@given(st.lists(st.floats(0.5, 20.0), min_size=1, max_size=20), st.floats(0.1, 1.0))
def test_hands_in_threads_are_held_against_what_the_computer_gives_to_threads(factors, given_share):
    """Where hashes get as little as hands do, the hands miss nothing, however little that is."""
    shares = [given_share] * len(factors)
    even = _judged(factors, factors, shares, shares)
    assert even["share_over_that_of_hashes"]["median"] == 1.0
    assert even["missed"] == (["real_time_factor"] if even["real_time_factor"]["high"] < FACTOR_BOUND else [])
    held_up = _judged(factors, factors, [0.9 * LINEAR_BOUND * s for s in shares], shares)
    assert "share_over_that_of_hashes" in held_up["missed"]
