"""The body of ``flexor check``: exit code, JSON, everything that is assumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hand.assembly.assemble import hand_sha256
from hand.file import load_hand, shipped_hands
from hand.mechanism_file import read_mechanism_hand, shipped_mechanism_hands
from hand.review.sight import CAPABILITIES
from tools.commands.check import check


@pytest.mark.parametrize("hand", shipped_hands())
def test_a_shipped_hand_is_shown_with_hash_and_assumed_values(
    hand: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(hand, as_json=False) == 0
    shown = capsys.readouterr().out
    file = load_hand(hand)
    assert hand_sha256(file) in shown
    for name in (*file.fingers, *(line.name for line in file.gears or file.tendons)):
        assert name in shown
    for path, listed in (
        (("spool", "radius_m"), "spool.radius_m = "),
        (("friction", "gamma_1_s_rad"), "friction.gamma_1"),
        (("control", "command_delay_cycles"), "control.command_delay_cycles = "),
    ):
        if path in file.origins:
            assert (listed in shown) == (file.origins[path].word == "assumed")


@pytest.mark.parametrize("hand", shipped_hands())
def test_json_is_one_object_that_holds_the_effective_hand(
    hand: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check(hand, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    file = load_hand(hand)
    assert told["ok"] and told["problems"] == []
    assert told["hand_sha256"] == hand_sha256(file)
    assert sum(told["origins"].values()) == len(file.origins)
    assert len(told["assumed"]) == told["origins"]["assumed"] > 0
    assert told["effective"] == file.model_dump(mode="json", exclude_none=True)
    lines = Path(file.path).read_text().split("\n")
    for entry in told["assumed"]:
        assert entry["key"].split(".")[-1].split("[")[0] in lines[entry["line"] - 1]


def test_a_refused_file_exits_with_2_and_shows_every_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.toml"
    text = Path(load_hand("hasy").path).read_text()
    file.write_text(
        text.replace("rate_hz = 3000.0", "rate_hz = -1.0").replace("ratio = 100.0", "ration = 1.0")
    )
    assert check(str(file), as_json=False) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count(f"{file}:") >= 3
    assert check(str(file), as_json=True) == 2
    told = json.loads(capsys.readouterr().out)
    assert not told["ok"]
    assert {p["key"] for p in told["problems"]} >= {"control.rate_hz", "gear.ration", "gear.ratio"}


def test_a_wrist_range_beyond_the_mechanism_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wide.toml"
    text = Path(load_hand("hasy").path).read_text()
    file.write_text(text.replace("pitch_range_deg = [-45.0, 45.0]", "pitch_range_deg = [-85.0, 85.0]"))
    assert check(str(file), as_json=False) == 2
    assert "wrist.pitch_range_deg" in capsys.readouterr().err


@pytest.mark.parametrize("hand", shipped_mechanism_hands())
def test_a_mechanism_is_checked_as_a_hand_is(hand: str, capsys: pytest.CaptureFixture[str]) -> None:
    read = read_mechanism_hand(hand)
    assert check(hand, as_json=False) == 0
    shown = capsys.readouterr().out
    assert all(part.name in shown for part in (*read.file.joint, *read.file.motor))
    assert check(hand, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["hand_sha256"] in shown
    assert sum(told["origins"].values()) == len(read.origins)
    assert len(told["assumed"]) == told["origins"]["assumed"] > 0
    lines = read.text.split("\n")
    for entry in told["assumed"]:
        assert entry["key"].split(".")[-1].split("[")[0] in lines[entry["line"] - 1]


def test_a_mechanism_that_does_not_fit_is_refused_with_every_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.toml"
    text = read_mechanism_hand("carpal_wrist").text
    file.write_text(text.replace('mechanism = "carpal_wrist"', 'mechanism = "muscle_finger"'))
    assert check(str(file), as_json=True) == 2
    told = json.loads(capsys.readouterr().out)
    assert {p["key"] for p in told["problems"]} == {"joint", "controller", "motor"}
    lines = file.read_text().split("\n")
    assert all(p["key"] in lines[p["line"] - 1] for p in told["problems"])


def test_a_name_that_is_none_lists_hands_and_mechanisms(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("carpal_wrst", as_json=False) == 2
    err = capsys.readouterr().err
    assert "'carpal_wrist'?" in err and all(n in err for n in (*shipped_hands(), *shipped_mechanism_hands()))


def test_what_is_not_seen_is_said_and_a_required_one_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("orca_v2", as_json=True, require=("tension", "joints")) == 2
    told = json.loads(capsys.readouterr().out)
    assert not told["ok"] and told["problems"] == []
    fingers = [s["finger"] for s in told["sight"]]
    assert [gap.split(":")[0] for gap in told["gaps"]] == fingers * 2
    assert all(s["can"] == [] and any("break" in m for m in s["not_detected"]) for s in told["sight"])
    assert check("n_plus_one", as_json=False, require=tuple(CAPABILITIES)) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "joints seen by" in text and "sensors sensors yes" in text
    assert check("n_plus_one", as_json=False, require=("sight",)) == 2
    assert "legal: joints, tension, redundancy" in capsys.readouterr().err


def test_one_part_is_not_said_in_the_plural(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("sdm", as_json=False) == 0
    assert "1 finger, 8 joints, 1 tendon, 1 motor; 500 Hz" in capsys.readouterr().out
