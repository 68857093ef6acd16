"""The monitor: what is wrong stands first and red, all is reachable at 80 x 24, keys do as they say."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexor.views import View
from hand.drawing import drawing_of
from hand.options import RunOptions
from mechanics.palm_angles import solve_axes
from runtime.setup import read_hand
from tests.rigs.terminal import Terminal
from tools.commands.telling import sentence
from tools.monitor.keys import split
from tools.monitor.pages import PAGES, bar
from tools.monitor.screen import Screen
from tools.monitor.watched import Watched

FLEXOR = [sys.executable, "-m", "tools.cli"]
FINGERS = ("thumb", "index", "middle", "ring", "fifth")


def watched(tendons: int = 38, broken: bool = False) -> Watched:
    """What a hand with many tendons said last."""
    names = [f"{FINGERS[k % 5]}_{k}" for k in range(tendons)]
    joints = [f"{FINGERS[k % 5]}_{k}" for k in range(19)]
    motors = [f"m_{name}" for name in names]
    view = View(
        {
            "machine": 3, "mode": 5, "fault": 11 if broken else 0, "tick": 7,
            "finger": {f: 4 if broken and f == "index" else 3 for f in FINGERS},
            "cause": {f: 11 if broken and f == "index" else 0 for f in FINGERS},
            "finger_mode": dict.fromkeys(FINGERS, 5),
            "tension": {n: 20.0 + k for k, n in enumerate(names)}, "tension_cmd": dict.fromkeys(names, 20.0),
            **{key: dict.fromkeys(joints, 0.1) for key in ("pos", "cmd", "vel", "torque", "track")},
            "axis": {"pitch": 0.1},
            **{key: dict.fromkeys(motors, 0.5) for key in ("temp", "current", "motor_torque")},
            "sat": dict.fromkeys(motors, 0), "mfault": dict.fromkeys(motors, 0),
        }
    )  # fmt: skip
    found = Watched(view=view)
    found.meta = {
        "hand": "many",
        "finger_of_joint": {j: j.split("_")[0] for j in joints},
        "names": {"finger": list(FINGERS), "tendon": names, "joint": joints},
        "geometry": {
            "tension_min_n": [3.0] * tendons,
            "tension_max_n": [40.0] * tendons,
            "tension_limit_n": [55.0] * tendons,
            "tendon_finger": [k % 5 for k in range(tendons)],
            "joint_min_rad": [-0.5] * 19,
            "joint_max_rad": [1.5] * 19,
            "winding_limit_degc": [100.0, 125.0],
            "n_axes": 1,
        },
        "ranges": {"axes": {"pitch": [-0.6, 0.6]}},
    }
    fault = {"finger": "index", "cause": "TENDON_BROKEN", "text": "index_4: broken", "hint": "replace it"}
    found.health = {"latched": [fault] if broken else []}
    return found


def text_of(screen: Screen, found: Watched, width: int = 80, height: int = 24) -> list[str]:
    from rich.console import Console

    console = Console(width=width, height=height, color_system=None)
    lines = console.render_lines(screen.lines(found, "tcp://x", width, height), pad=False)
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


@pytest.mark.parametrize("size", [(80, 24), (160, 50), (60, 15)])
@pytest.mark.parametrize("broken", [False, True])
@pytest.mark.parametrize("page", range(len(PAGES)))
def test_every_page_fits_and_a_fault_stands_above_it(page, size, broken):
    lines = text_of(Screen(page), watched(broken=broken), *size)
    assert len(lines) <= size[1] and max(map(len, lines)) <= size[0]
    assert PAGES[page][0] in lines[-1]
    above = "\n".join(lines[:5])
    assert ("TENDON_BROKEN" in above and "replace it" in above) == broken
    assert ("active, 1 FAULT" in lines[0]) == broken and "active" in lines[0]


def test_the_wrist_is_told_by_how_the_palm_is_turned():
    """A straight wrist is 0 deg; its linkage reads 36 and 56 deg there."""
    hand = read_hand(RunOptions(hand="hasy"))
    found, m = watched(), hand.model
    neutral = m["wrist_neutral_rad"][0]
    names = found.meta["names"] | {"axis": list(hand.names.axes)}
    found.meta |= {"names": names, "ranges": {"axes": {axis: [-2.0, 2.0] for axis in hand.names.axes}}}
    found.meta["geometry"] |= drawing_of(hand, Path())["geometry"] | {
        key: found.meta["geometry"][key] for key in ("tendon_finger",)
    }
    for pitch, yaw in ((0.0, 0.0), (0.3, 0.0), (0.1, -0.2)):
        q71, q73, error = solve_axes(m[0], pitch, yaw, *neutral)
        assert error < 1e-9
        found.view["axis"] = dict(zip(hand.names.axes, (q71, q73), strict=True))
        told = f"palm pitch {math.degrees(pitch):.1f} deg   palm yaw {math.degrees(yaw):.1f} deg"
        assert told in " ".join(text_of(Screen(), found))


@pytest.mark.sample(4)
@pytest.mark.parametrize("size", [(80, 24), (160, 50), (60, 15)])
@pytest.mark.parametrize("tendons", [1, 8, 38, 64])
def test_every_tendon_and_every_motor_can_be_reached(size, tendons):
    found, seen = watched(tendons, broken=True), set()
    for page in "24":
        screen = Screen()
        screen.key(page)
        for _ in range(16):
            lines = text_of(screen, found, *size)
            seen |= {word for line in lines for word in line.split()}
            screen.key("page down")
    assert set(found.view["tension"]) <= seen and set(found.view["temp"]) <= seen


def test_a_search_leaves_what_has_the_text_and_escape_forgets_it():
    screen, found = Screen(1), watched()
    for key in "/thumb\n":
        screen.key(key)
    words = " ".join(text_of(screen, found))
    assert "thumb_0" in words and "ring_3" not in words and "/thumb" in words
    screen.key("2")
    assert not screen.typing and screen.search == "thumb"
    screen.key("esc")
    assert "ring_3" in " ".join(text_of(screen, found))


KEYS = [*"12345p?/q\t", "up", "down", "esc", "\n", "\x7f", "page up", "\x03"]


@given(keys=st.lists(st.sampled_from(KEYS), max_size=12))
def test_no_keys_break_the_screen(keys):
    screen, found = Screen(), watched(8)
    for key in keys:
        going = screen.key(key)
        assert going or key in ("q", "\x03")
    assert len(text_of(screen, found)) <= 24


def test_keys_of_a_terminal_are_told_apart():
    assert split("1p\x1b[A\x1b[6~\x1bq") == ["1", "p", "up", "page down", "esc", "q"]


def test_a_bar_is_empty_half_and_full():
    assert bar(0.0, 0.0, 10.0, 4) == "    " and bar(10.0, 0.0, 10.0, 4) == "████"
    assert bar(5.0, 0.0, 10.0, 4) == "██  " and bar(float(99), 0.0, 10.0, 4) == "████"
    assert bar(1.0, 1.0, 1.0, 3) == "   "


def test_repeated_warnings_are_a_count_and_the_newest_text():
    found = watched()
    for k in range(30):
        found._sort_in({"level": "warning", "kind": "overrun", "text": f"{k} missed", "timestamp": 1.0})
    found._sort_in({"level": "error", "kind": "fault", "text": "broken", "timestamp": 2.0})
    assert found.counted == {"overrun": (30, "29 missed")} and [e["text"] for e in found.events] == ["broken"]
    words = " ".join(text_of(Screen(4), found))
    assert "30 x overrun: 29 missed" in words and "broken" in words


def test_a_fault_is_told_with_finger_cause_and_hint():
    fault = {"finger": "index", "cause": "TENDON_BROKEN", "time_s": 2.5}
    event = {
        "timestamp": 12.5,
        "kind": "fault",
        "text": "index_4: broken",
        "hint": "replace it",
        "fault": fault,
    }
    assert sentence(event, 11.0) == "   2.5 s  FAULT  index, TENDON_BROKEN: index_4: broken; replace it"
    assert sentence({**event, "fault": {}}, 11.0) == "   1.5 s  index_4: broken; replace it"


@pytest.mark.sample(1)
@pytest.mark.realtime
@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_on_a_terminal_a_broken_tendon_is_red_a_lost_motor_too_and_a_stop_is_seen(start, port_base, size):
    faults = ["--fault", "tendon-break:index_4@2", "--fault", "motor-lost:m_index_7@3"]
    run = start("--for", "60", "--motion", "open_close", *faults)
    run.wait_until_running()
    screen = Terminal([*FLEXOR, "monitor", "--port-base", str(port_base)], *size)
    try:
        screen.wait_for(lambda lines: "TENDON_BROKEN" in "\n".join(lines[:6]))
        assert screen.colour("index: ")[1] == "red"
        screen.press("2")
        screen.wait_for(lambda lines: any("index_8" in line for line in lines))
        assert screen.colour("index_4 ")[0] == "red"
        screen.press("4")
        screen.wait_for(lambda lines: any("m_index_7" in line and "status" in line for line in lines))
        subprocess.run([*FLEXOR, "stop", "--port-base", str(port_base)], check=True, capture_output=True)
        screen.press("5")
        screen.wait_for(lambda lines: "FAULT" in lines[0] and any("stop by" in line for line in lines))
        os.kill(run.pid, signal.SIGINT)
        run.end()
        screen.wait_for(lambda lines: "STALE" in lines[0])
        screen.press("q")
        assert screen.process.wait(5.0) == 0
    finally:
        screen.close()
