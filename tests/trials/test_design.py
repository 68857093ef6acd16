"""``flexor design break``: energies, speeds and what would spare a stop, each against another way to it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hand.file import load_hand
from hand.hand import Hand
from hand.options import RunOptions
from mechanics.springs import spring_at
from runtime.setup import read_hand
from signals.choices import WrongChoice
from signals.names import UnknownName
from tools.commands.design import app
from trials import rules
from trials.design import BUMPER_RAD, DRIVES, TENSIONS_N, Breaks, Throw, energy_j, throws

REST = ("hold", 0.0)


@pytest.fixture(scope="module")
def hand() -> Hand:
    return read_hand(RunOptions(hand="finger_bench"))


@pytest.fixture(scope="module")
def found(hand: Hand) -> dict[str, Throw]:
    return {throw.tendon: throw for throw in throws(hand)}


def test_a_hand_of_ones_own_and_values_of_the_command_line_are_asked(tmp_path) -> None:
    file = tmp_path / "mine.toml"
    text = Path(load_hand("finger_bench").path).read_text()
    file.write_text(text.replace('name = "finger_bench"', 'name = "mine"'))
    asked = ["break", str(file), "--set", "tendon.pretension_n=12", "--json"]
    told = json.loads(CliRunner().invoke(app, asked, catch_exceptions=False).stdout)
    assert told["hand"] == "mine"
    assert [t["working_n"] for t in told["tendons"]] == pytest.approx([12.0] * 8, abs=1.0)
    spared = [t["tension_n"] for t in told["tendons"] if not t["safe"]]
    assert spared and all(n is None or n < 12.0 for n in spared)


@pytest.mark.parametrize("force_n", [10.0, 20.0, 60.0])
def test_the_energy_is_the_work_of_stretching_spring_and_tendon(hand: Hand, force_n: float) -> None:
    m = hand.model[0]
    spring = int(m["tendon_spring"][0])
    levers = np.linspace(m["lever_min_rad"][spring], m["lever_max_rad"][spring], 4001)
    force, path = np.array([spring_at(m, 0, float(x))[:3:2] for x in levers]).T
    rising = np.argsort(force)
    force, stretch = force[rising], -path[rising] + force[rising] * float(m["tendon_compliance_m_n"][0])
    used = force <= force_n
    work = float(np.trapezoid(force[used], stretch[used]))
    below = float(force[used].min())
    assert energy_j(hand.model, 0, force_n) - energy_j(hand.model, 0, below) == pytest.approx(work, rel=0.03)


def test_what_is_said_to_spare_a_stop_does_and_one_step_less_does_not(
    hand: Hand, found: dict[str, Throw]
) -> None:
    throw = found["index_1"]
    assert not throw.safe and throw.tension_n in TENSIONS_N and throw.drive in DRIVES
    assert throw.braked_rad_s > rules.STOP_SPEED_RAD_S
    stop = (hand.names.joints.index(throw.joint), throw.side)
    weaker = DRIVES[DRIVES.index(throw.drive) - 1]
    pose = np.zeros(len(hand.names.joints))
    for drive, spared in ((throw.drive, True), (weaker, False)):
        braked = Breaks(hand, REST, drive).braked(0, [stop], pose)[stop]
        assert (braked <= rules.STOP_SPEED_RAD_S) == spared
    tighter = TENSIONS_N[TENSIONS_N.index(throw.tension_n) - 1]
    for tension_n, spared in ((throw.tension_n, True), (tighter, False)):
        soft = read_hand(RunOptions(hand="finger_bench", pretension_n=tension_n))
        braked = Breaks(soft, REST).braked(0, [stop], pose)[stop]
        assert (braked <= rules.STOP_SPEED_RAD_S) == spared


def test_the_bumper_brings_the_joint_down_to_the_limit_on_its_way(
    hand: Hand, found: dict[str, Throw]
) -> None:
    breaks = Breaks(hand, REST)
    for throw in (t for t in found.values() if not t.safe):
        inertia = breaks.inertia_kg_m2(hand.names.joints.index(throw.joint))
        speed, way, dt = throw.braked_rad_s, 0.0, 1e-7
        while way < BUMPER_RAD:
            speed -= throw.bumper_nms_rad * speed / inertia * dt
            way += speed * dt
        assert speed == pytest.approx(rules.STOP_SPEED_RAD_S, rel=0.01)


def test_no_joint_is_faster_than_the_energy_of_its_pullers_makes_it(
    hand: Hand, found: dict[str, Throw]
) -> None:
    breaks = Breaks(hand, REST)
    for throw in (t for t in found.values() if not t.safe):
        inertia = breaks.inertia_kg_m2(hand.names.joints.index(throw.joint))
        assert 0.0 < 0.5 * inertia * throw.speed_rad_s**2 < throw.energy_j
    assert [t.working_n for t in found.values()] == pytest.approx([20.0] * len(found), abs=1.0)


def test_the_command_prints_a_table_and_the_same_as_json(tmp_path) -> None:
    run = CliRunner()
    asked = ["break", "finger_bench", "--json", "--out", str(tmp_path)]
    told = json.loads(run.invoke(app, asked).stdout)
    assert told == json.loads((tmp_path / "break.json").read_text())
    assert (tmp_path / "break.png").exists() and "index_8" in (tmp_path / "break.html").read_text()
    assert told["unavoidable"] == sum(not t["safe"] for t in told["tendons"]) > 0
    assert [t["tendon"] for t in told["tendons"]] == [f"index_{k}" for k in range(1, 9)]
    assert isinstance(run.invoke(app, ["break", "finger_bench", "--moment", "2"]).exception, WrongChoice)
    assert isinstance(run.invoke(app, ["break", "finger_bench", "--motion", "wave"]).exception, UnknownName)
