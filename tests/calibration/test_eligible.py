"""What cannot be measured of a hand is refused by name, with the reason, before anything moves."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from calibration.calibrate import IDENTIFIED, KINDS, calibrated
from calibration.commission import steps_of
from calibration.eligible import BY_LEVERS, motors_for, tendons_for
from calibration.free_turning import LEAD_S, even_columns
from calibration.identify import identified
from calibration.pair_plan import PAIRS, pairs_of
from calibration.part import OPEN
from hand.file.loader import hand_names, load_hand
from hand.options import RunOptions
from runtime.setup import read_hand
from tests.calibration.plants import written
from tests.hands.test_shared_motors import text as shared_hand
from tools.commands.commission import app

HANDS = hand_names()
ALL = tuple(KINDS) + tuple(kind for kind in IDENTIFIED if kind != PAIRS)
NOWHERE = "nowhere/bus.toml"
"""Whatever opened it would raise."""


def _told_alone(raw: dict[str, Any]) -> set[str]:
    """Tendons with a sensor and a motor of their own, by the text of the file."""
    rows = raw.get("tendons", ())
    wound = Counter(row["motor"] for row in rows)
    seen = {row["at"] for row in raw.get("sensors", ()) if row["kind"] in ("force", "hall")}
    seen |= {row["name"] for row in rows if "hall_channel" in row}
    return {row["name"] for row in rows if row["name"] in seen and wound[row["motor"]] == 1}


@pytest.mark.parametrize("name", HANDS)
def test_a_kind_measures_what_its_sensors_tell_and_names_the_rest(name: str) -> None:
    options = RunOptions(hand=name, bus=NOWHERE)
    hand = read_hand(RunOptions(hand=name))
    raw, every = tomllib.loads(Path(hand.file.path).read_text()), list(range(len(hand.names.tendons)))
    told, usual = _told_alone(raw), raw["tendon"]["spring"] if "tendon" in raw else ""
    springs = {row["name"]: raw["springs"][row.get("spring", usual)] for row in raw.get("tendons", ())}
    with_levers = {t for t, row in springs.items() if row.get("kind", "lever") not in ("linear", "cord")}
    for kind in ALL:
        mine, rest = tendons_for(kind, hand, every)
        expected = told & with_levers if kind in BY_LEVERS else told
        assert {hand.names.tendons[t] for t in mine} == expected
        assert {part.name for part in rest} == set(hand.names.tendons) - expected
        assert all(part.verdict == OPEN and part.text for part in rest)
        if not mine:
            found = calibrated(kind, hand, options, every, lambda _: pytest.fail("it moved"))
            assert found.parts == rest and found.seconds == 0.0
    motors = list(range(len(hand.names.motors)))
    if not motors_for("friction", hand, motors)[0]:
        found = identified("friction", hand, options, motors, lambda _: pytest.fail("it moved"))
        assert len(found.parts) == len(motors) and all("identify pairs" in part.text for part in found.parts)


@pytest.mark.parametrize("name", HANDS)
def test_a_commissioning_has_steps_or_says_what_is_legal_and_leaves_nothing(
    name: str, tmp_path: Path
) -> None:
    positioned = (
        "command" in (text := Path(load_hand(name).path).read_text()) and 'command = "position"' in text
    )
    positioned |= 'command = "current_position"' in text
    if not positioned:
        assert steps_of(read_hand(RunOptions(hand=name)))[0]
        return
    done = CliRunner().invoke(app, [name, "--lockstep", "--out", str(tmp_path / "c")])
    assert "legal: a drive with command" in str(done.exception) and not (tmp_path / "c").exists()


def test_a_hand_that_is_not_there_leaves_no_folder_and_no_word_of_steps(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["nosuch", "--lockstep", "--out", str(tmp_path / "c")])
    assert done.exit_code != 0 and "nosuch" in str(done.exception)
    assert not (tmp_path / "c").exists() and "goes on" not in done.stderr


def test_a_tendon_whose_sensor_is_not_used_is_left_out_and_its_finger_not_tensioned(
    tmp_path: Path,
) -> None:
    def unused(document: Any) -> None:
        document["tendons"][7]["hall_used"] = False
        document["origin"]["tendons"]["hall_used"] = "assumed: broken"

    options = RunOptions(hand=written(tmp_path, unused), lockstep=True)
    hand = read_hand(options)
    found = calibrated("wiring", hand, options, list(range(8)), lambda _: None)
    assert {part.name for part in found.parts} == {f"index_{k}" for k in range(1, 8)}
    assert all(part.verdict == "good" for part in found.parts), [part.text for part in found.parts]
    assert len(found.notices) == 1 and found.notices[0].startswith("index_8: no sensor of it is used")
    for kind in ("tension", "travel", "levers"):
        mine, rest = tendons_for(kind, hand, list(range(8)))
        assert not mine and all("index_8: no sensor" in part.text for part in rest[:7])


def test_motors_that_wind_pairs_are_measured_as_pairs_with_or_without_sensors(tmp_path: Path) -> None:
    path = tmp_path / "pairs.toml"
    path.write_text(shared_hand())
    hand = read_hand(RunOptions(hand=str(path)))
    tendons = list(range(6))
    assert all(hand.file.sees(name) for name in hand.names.tendons)
    mine, rest = tendons_for("wiring", hand, tendons)
    assert not mine and all("winds other tendons too" in part.text for part in rest)
    assert steps_of(hand)[0] == (PAIRS,) and len(pairs_of(hand, tendons)[0]) == 3


def test_every_motor_is_taken_at_the_times_at_which_it_was_sampled() -> None:
    """Three wires with clocks of their own: one even, one that jitters, one that is slower than the loop."""
    rng, cycles = np.random.default_rng(3), 3000
    tick = (LEAD_S - 0.5 + np.arange(cycles) * 1e-3) * 1e9
    slow = tick[(np.arange(cycles) // 2) * 2]
    stamps = np.column_stack([tick, tick - rng.uniform(0.0, 8e5, cycles), slow]).astype(np.int64)
    stamps -= stamps[0, 0]
    speeds = np.array([3.0, 5.0, 7.0])
    even, angles, currents = even_columns(
        stamps, np.sin(speeds * stamps * 1e-9), np.cos(speeds * stamps * 1e-9)
    )
    assert even[0] >= LEAD_S and np.ptp(np.diff(even)) < 1e-9
    inside = slice(2, -2)  # at the ends there is nothing between which to look
    np.testing.assert_allclose(angles[inside], np.sin(speeds * even[inside, np.newaxis]), atol=5e-5)
    np.testing.assert_allclose(currents[inside], np.cos(speeds * even[inside, np.newaxis]), atol=5e-5)
