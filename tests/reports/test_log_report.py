"""The page of a recorded run: faults first, worst moments that are the log's own, nothing from elsewhere."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from typer.testing import CliRunner

from reports.log_report import facts_of, moments, page_of
from runtime.session import run_lockstep
from telemetry.record.reader import read_log
from tools.commands.report import app
from trials.recorded import homed_hand


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "broken.mcap"
    run_lockstep(
        "finger_bench", motion="open_close", seconds=2.5, every=0, record=path,
        faults=("tendon-break:index_4@1.5",),
    )  # fmt: skip
    return path


class _Balanced(HTMLParser):
    """Every opened element is closed in its order; collects the visible text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)
        self.sources += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_is_whole_says_faults_first_and_loads_nothing(broken, tmp_path):
    target = tmp_path / "page.html"
    found = CliRunner().invoke(app, [str(broken), "--out", str(target)])
    assert found.exit_code == 0 and "TENDON_BROKEN" in found.stdout and str(target) in found.stdout
    parser = _Balanced()
    parser.feed(target.read_text())
    assert not parser.open
    text = " ".join(parser.words)
    assert 0 < text.index("TENDON_BROKEN") < text.index("Worst moments") < text.index("Loop")
    assert all(source.startswith("data:image/png;base64,") for source in parser.sources)
    assert len(parser.sources) == 1 and not re.search(r"https?:|url\(|@import", target.read_text())


def test_the_worst_moments_are_those_of_the_log(broken):
    log = read_log(broken)
    hand = homed_hand(broken, log)
    found = {m.what: m for m in moments(hand, log.frames)}
    settled = (log.frames["state"]["time_ns"] - log.frames["state"]["time_ns"][0]) / 1e9 >= 1.0
    tension = log.frames["state"]["tension_n"][settled]
    at, part = np.unravel_index(tension.argmax(), tension.shape)
    assert found["greatest tension"].value == pytest.approx(tension.max())
    assert found["greatest tension"].part == hand.names.tendons[part]
    assert found["greatest tension"].time_s == pytest.approx(1.0 + at / 3000.0, abs=1e-6)
    assert found["least tension"].value == pytest.approx(tension.min())
    assert found["least tension"].part == "index_4"  # the broken one


def test_json_says_what_the_page_says(broken, tmp_path):
    found = CliRunner().invoke(app, [str(broken), "--out", str(tmp_path / "a.html"), "--json"])
    told = json.loads(found.stdout)
    assert told["frames"] == 7500 and told["absent"] == 0 and told["simulated"]
    assert [f["cause"] for f in told["faults"]][-1] == "TENDON_BROKEN"


@pytest.mark.parametrize(
    ("name", "tensions"),
    [("muscle_finger", False), pytest.param("hand_on_arm", True, marks=pytest.mark.long)],
)
def test_a_mechanism_has_a_page_too(tmp_path, name, tensions):
    """Its worst moments are those of its own joints; tensions only where a hand stands on it."""
    log = tmp_path / "run.mcap"
    run_lockstep(name, motion="hold", seconds=0.3, every=0, record=log)
    found = CliRunner().invoke(app, [str(log), "--json"])
    told = json.loads(found.stdout)
    assert found.exit_code == 0 and (tmp_path / "run.html").is_file() and told["hand"] == name
    fastest = next(m for m in told["moments"] if m["what"] == "fastest joint")
    frames = read_log(log).frames
    assert fastest["value"] == pytest.approx(np.degrees(np.abs(frames["state"]["joint_speed_rad_s"]).max()))
    assert any(m["what"] == "greatest tension" for m in told["moments"]) == tensions
    assert told["sensors"] == []


def test_texts_of_a_log_cannot_become_markup(broken):
    log = read_log(broken)
    facts = facts_of(broken, log, homed_hand(broken, log))
    evil = "<script>alert(1)</script>"
    facts["events"] = [{"timestamp": 1.0, "level": evil, "kind": evil, "text": evil, "hint": evil}]
    facts["motion"], facts["damage"] = evil, [evil]
    made = page_of(facts, None)
    assert "<script" not in made and made.count("&lt;script&gt;") >= 6
