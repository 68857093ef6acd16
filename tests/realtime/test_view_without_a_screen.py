"""``flexor view``, as a websocket client without a screen sees and uses it."""

from __future__ import annotations

import math
import time

import pytest

import flexor
from signals.modes import MachineState
from tests.rigs.runs import MOVING, gone, next_child
from tests.rigs.view_page import BarReader, Page

pytest.importorskip("viser")
from benchmarks.onlooker import PICTURE, Onlooker
from tools.view.scene import FAULT, LOST

LATCH_TO_PAGE_S = 0.5
"""From a latched fault to its sentence and its red on the page."""


@pytest.fixture
def looked_at(start, port_base):
    """Opens a page, which waits for its hand, a client and a bar of it; then starts the run."""
    opened = []

    def begin(*words):
        page = Page("view", "--port-base", str(port_base), "--wait", "120")
        opened.append(page.close)
        onlooker, bar = Onlooker(page.url), BarReader(page.url)
        opened.append(bar.close)
        opened.append(lambda: onlooker.__exit__(None, None, None))
        _, told = bar.until(lambda told: told["head"] == "no hand yet")
        assert f"port {port_base}" in told["text"] and told["stop"]
        run = start(*words)
        _, told = bar.until(lambda told: told["head"] == "starting")
        assert "finger_bench starts" in told["text"] and told["stop"]
        _, told = bar.until(lambda told: told["kind"] != "waiting", 120.0)
        assert told["hand"] == "finger_bench" and told["kind"] != "gone", "its first word is a state"
        return run, page, onlooker, bar

    yield begin
    for close in reversed(opened):
        close()


def test_the_stop_ends_a_hand_that_still_starts(start, port_base, tmp_path):
    """Nobody answers there yet; its first process is told to end, as by flexor stop.

    Without a cache the hand starts for a minute, and a second process compiles for it: it cannot be ready
    before the stop comes, and nothing goes on compiling after it.
    """
    page = Page("view", "--port-base", str(port_base), "--wait", "120")
    bar = BarReader(page.url)
    try:
        run = start(FLEXOR_CACHE_DIR=str(tmp_path))
        bar.until(lambda told: told["head"] == "starting")
        started = run.wait_until_warming()
        beside = next_child(run.process.pid)  # begun before the others
        assert beside not in started.values()
        bar.send("stop")
        assert run.process.wait(30.0) != 0
        assert gone([*started.values(), beside], 20.0), "it still imports what it needs to see that"
        assert not any(told["kind"] == "active" for _, told in bar.told)
    finally:
        bar.close()
        page.close()


def test_a_client_gets_pictures_all_the_time(looked_at):
    _, page, onlooker, _ = looked_at("--motion", "finger_wave", "--for", "120")
    times = [s.at for s in onlooker.look(4.0) if s.of == "/hand/balls" and PICTURE in s.props]
    late = [at for at in times if times[-1] - at < 2.5]
    assert len(late) / 2.5 > 6.0, "30 a second on a quiet machine, which benchmarks/onlooker.py measures"
    for path in ("", "/flexor"):
        with pytest.raises(Exception, match="403"):
            _foreign(page.url + path)


def _foreign(url):
    """A web page from elsewhere in the user's browser tries to speak to the hand."""
    from websockets.sync.client import connect

    with connect(url.replace("http", "ws"), origin="http://example.com", proxy=None):
        pass


def test_a_slider_moves_the_finger_and_stop_needs_no_lease(looked_at, port_base):
    run, _, onlooker, bar = looked_at()
    run.wait_until_running()
    with flexor.Hand(port_base=port_base) as hand:
        joint = hand.names("joint")[1]
        assert onlooker.until(joint, 20.0, disabled=True), "without a lease nothing can be moved"
        onlooker.do("Take command", True)
        assert onlooker.until(joint, 5.0, disabled=False)
        onlooker.do("State", "arm")
        assert _becomes(hand, onlooker, lambda v: v["machine"] == MachineState.HOLDING)
        onlooker.do("State", "activate")
        assert _becomes(hand, onlooker, lambda v: v["machine"] == MachineState.ACTIVE)
        for _ in onlooker.look(0.6):  # the sliders learn that the hand is active
            pass
        onlooker.do(joint, 30.0)
        wanted = math.radians(30.0)
        assert _becomes(hand, onlooker, lambda v: abs(v["cmd"][joint] - wanted) < 1e-6)
        assert _becomes(hand, onlooker, lambda v: abs(v["true_pos"][joint] - wanted) < math.radians(3.0))
        _plays_a_motion(hand, onlooker, joint)
        onlooker.do("Give command back", True)
        assert onlooker.until("Take command", 5.0, visible=True)
        assert not _holder(hand)
        onlooker.trigger("Stop the hand")
        assert _becomes(hand, onlooker, lambda v: v.fault == "OPERATOR_STOP")
        with hand.control("test") as control:
            control.rearm()
        assert _becomes(hand, onlooker, lambda v: v.fault != "OPERATOR_STOP")
        bar.send("stop")
        assert _becomes(hand, onlooker, lambda v: v.fault == "OPERATOR_STOP")


def _plays_a_motion(hand, onlooker, joint):
    """To and fro as the motion says, until a slider is moved: the hand then goes where that is."""
    onlooker.do("Motion", "open_close")
    onlooker.do("Play", "play")
    for low, high in ((45.0, 51.0), (0.0, 5.0), (45.0, 51.0)):
        assert _becomes(
            hand, onlooker, lambda v, low=low, high=high: low < math.degrees(v["cmd"][joint]) < high, 30.0
        )
    onlooker.do(joint, 20.0)
    wanted = math.radians(20.0)
    assert _becomes(hand, onlooker, lambda v: abs(v["cmd"][joint] - wanted) < 1e-6)
    for _ in onlooker.look(2.0):  # a period of the motion
        assert abs(hand.view()["cmd"][joint] - wanted) < 1e-6
    assert hand.view()["machine"] == MachineState.ACTIVE


def _becomes(hand, onlooker, so, seconds=8.0):
    """The hand itself says so, while the page is read on."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for _ in onlooker.look(0.02):
            pass
        if so(hand.view()):
            return True
    return False


def _holder(hand):
    hand.newest_health()  # what has come already is the past
    return hand.health()["lease"].get("holder")


def test_a_broken_tendon_is_red_with_its_sentence_in_time(looked_at, port_base):
    """From the events' own times to the client: the sentence, the tendon, the bones of its finger."""
    run, _, onlooker, bar = looked_at(*MOVING, "--fault", "tendon-break:index_4@4")
    run.wait_until_running()
    with flexor.Hand(port_base=port_base) as hand:
        hand.listen("event")
        red, events = {}, []
        for seen in onlooker.look(40.0):
            for path, key, colour in (("/tendons", "colors", LOST), ("/hand/tubes", "batched_colors", FAULT)):
                if seen.of == path and key in seen.props:
                    if (seen.props[key].reshape(-1, 3) == colour).all(axis=1).any():
                        red.setdefault(path, seen.at)
            events += [e["fault"] | e for e in hand.waiting_events() if e["kind"] == "fault"]
            broken = [e for e in events if e["cause"] == "TENDON_BROKEN"]
            if len(red) == 2 and broken:
                break
    assert {e["part"] for e in events} == {"index_4"} and broken and len(red) == 2
    first, _ = bar.until(lambda told: told["kind"] == "fault", 5.0)
    told, _ = bar.until(lambda told: broken[0]["text"] in (told["text"], *told["more"]), 5.0)
    assert told - broken[0]["timestamp"] < LATCH_TO_PAGE_S
    assert max(red.values()) - events[0]["timestamp"] < LATCH_TO_PAGE_S
    assert first - events[0]["timestamp"] < LATCH_TO_PAGE_S
