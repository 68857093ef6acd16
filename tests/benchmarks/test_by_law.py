"""Addresses of compiled code lead back to their laws; the lean tick is no lazy one."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import native
from benchmarks.by_law import ObjectCode, law_at, law_of
from benchmarks.canned import can
from benchmarks.lean import SAME, Lean
from benchmarks.same_commands import BOUND, difference, squeezed, unsqueezed
from hand.options import RunOptions
from signals.records import COMMAND

COMPILE = """
import sys
from pathlib import Path
from benchmarks.line_tables import install, write_object
install()
from mechanics.blend import duration_s
from mechanics.interpolation import hermite_or_line
hermite_or_line(0.5, 1.0, 0.0, 1.0, 0.0, 0.0)
if sys.argv[2] == "load":
    write_object(hermite_or_line, Path(sys.argv[1]))
"""


def test_names_of_symbols_and_places():
    assert law_of("_ZN9mechanics8coupling13tendon_lengthB4v243B92c8") == "mechanics.coupling.tendon_length"
    assert law_of("_ZN5numba2np8arrayobj4implB1v") == "" and law_of("exp") == ""
    assert law_at("follow", "/home/me/clone/guard/residual_checks.py:35") == "guard.residual_checks.follow"
    assert law_at("leave", "/flexor/telemetry/shm/ring.py:9 (discriminator 1)") == "telemetry.shm.ring.leave"
    assert law_at("ol_min", "/x/flexor/.venv/lib/python3.11/site-packages/numba/cpython/builtins.py:6") == ""


def test_an_inlined_law_is_named_at_its_addresses(tmp_path, monkeypatch):
    monkeypatch.setenv("FLEXOR_CACHE_DIR", str(tmp_path / "cache"))
    code = tmp_path / "law.o"
    for turn in ("compile", "load"):
        subprocess.run([sys.executable, "-c", COMPILE, str(code), turn], check=True)
    loaded = ObjectCode(code)
    addresses = set(range(loaded._begin, loaded._end))
    named = set(loaded.chains(addresses).values())
    outer, inner = "mechanics.interpolation.hermite_or_line", "mechanics.interpolation.hermite"
    assert (outer,) in named and (outer, inner) in named
    assert outer in loaded.functions().values()


@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_what_is_squeezed_comes_back(cycles, seed):
    rng = np.random.default_rng(seed)
    commands = np.zeros(cycles, dtype=COMMAND)
    commands["motor_current_a"][:, :3] = rng.normal(size=(cycles, 3))
    commands["seq"] = np.arange(cycles)
    assert unsqueezed(squeezed(commands), COMMAND).tobytes() == commands.tobytes()


@pytest.fixture(scope="module")
def stretch():
    return can(RunOptions(hand="hasy", motion="open_close"), ticks=64)


def test_a_difference_is_told_as_a_share_of_full_scale(stretch):
    model, other = stretch.model[0], stretch.commands.copy()
    assert not difference(model, stretch.commands, other, 0).too_large
    full_a = model["motor_torque_limit_nm"][5] / model["motor_torque_constant_nm_a"][5]
    other["motor_current_a"][7, 5] += 3.0 * BOUND * full_a
    found = difference(model, stretch.commands, other, 0)
    assert found.too_large and found.cycle == 7 and found.share == pytest.approx(3.0 * BOUND, rel=1e-3)
    other = stretch.commands.copy()
    other["motor_mode"][9, 2] += 1
    assert difference(model, stretch.commands, other, 0).other_modes == 1
    other["motor_current_a"][3, 0] = np.nan
    assert difference(model, stretch.commands, other, 0).too_large
    assert difference(model, stretch.commands, stretch.commands, 1).too_large


@pytest.mark.skipif(native.compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("fast", [False, True])
def test_the_lean_tick_gives_our_commands(stretch, fast):
    lean = Lean(stretch, fast=fast)
    given_a = lean.run(len(stretch.commands))
    assert lean.unhealthy == 0
    assert difference(stretch.model[0], stretch.commands, given_a, 0).share <= SAME
    moved = np.ptp(stretch.commands["motor_current_a"], axis=0)
    assert (moved[: int(stretch.model["n_motors"][0])] > 0.0).all(), "a motion, not a hold"
