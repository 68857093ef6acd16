"""Tensions as bars in a terminal: what needs hands first, and never more than the terminal has room for."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from calibration.tension import band_n
from hand.options import RunOptions
from runtime.setup import read_hand
from tools.commands.tension_bars import HEAD_ROWS, TensionBars


def lines(bars, columns=80, rows=24):
    console = Console(file=io.StringIO(), width=columns, height=rows, color_system=None)
    console.print(bars)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("name", ["finger_bench", "hasy"])
@pytest.mark.parametrize("columns", [80, 160])
def test_what_is_not_in_its_band_comes_first_and_all_fits(name, columns):
    hand = read_hand(RunOptions(hand=name))
    n = len(hand.names.tendons)
    bars = TensionBars(hand, list(range(n)))
    assert lines(bars) == []
    low, high = np.array([band_n(hand, t) for t in range(n)]).T
    tensions = 0.5 * (low + high)
    bars.see(1.0, tensions)
    tensions[n - 1], tensions[n - 2], tensions[n - 3] = 0.5 * low[n - 1], 1.2 * high[n - 2], np.nan
    bars.see(3.5, tensions)
    shown = lines(bars, columns)
    assert max(len(line) for line in shown) <= columns and len(shown) <= 24 - HEAD_ROWS + 1
    words = [line.split()[0] for line in shown]
    assert words[:3] == list(hand.names.tendons[n - 3 :]) and words[3] == hand.names.tendons[0]
    assert "not known" in shown[0] and "too tight" in shown[1] and "too slack" in shown[2]
    assert "in for 2.5 s" in shown[3]
    if n > 24:
        assert shown[-1] == f"and {n - 20} more, {n - 20} of them in their band"
    else:
        assert len(shown) == n


def test_a_bar_is_as_long_as_its_tension_and_the_band_is_seen_at_any():
    hand = read_hand(RunOptions(hand="finger_bench"))
    high = band_n(hand, 0)[1]
    lengths = []
    for value in np.linspace(0.0, 2.0 * high, 60):
        bars = TensionBars(hand, [0])
        bars.see(0.0, np.full(8, value))
        (line,) = lines(bars, 160)
        lengths.append(line.count("█") + line.count("▓"))
        assert line.count("▓") + line.count("·") == _band(hand, 0) > 2
    assert np.all(np.diff(lengths) >= 0) and lengths[0] == 0
    inside = lengths[int(60 * high / (2.0 * high))] / lengths[-1]
    assert inside == pytest.approx(1.0 / 1.6, abs=0.05)


def _band(hand, t):
    """Columns of the band in a bar that is full."""
    bars = TensionBars(hand, [t])
    bars.see(0.0, np.full(8, 1e3))
    return lines(bars, 160)[0].count("▓")


def test_time_in_the_band_begins_anew_after_it_was_left():
    hand = read_hand(RunOptions(hand="finger_bench"))
    low, high = band_n(hand, 2)
    bars = TensionBars(hand, [2])
    for time_s, value in ((0.0, low), (1.0, 0.5 * (low + high)), (2.0, high + 0.1), (3.0, high), (5.0, low)):
        bars.see(time_s, np.full(8, value))
    assert "in for 2.0 s" in lines(bars)[0]
