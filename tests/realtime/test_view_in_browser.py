"""``flexor view``, as a person has it in a browser: the hand appears, moves, is stopped, breaks; a log plays.

The browser draws in software, and on a full machine its own time would be measured, not the page's: how soon
a fault is told is held by a client without a screen (``test_view_without_a_screen.py``). Here counts that
what a person sees and does is right.
"""

from __future__ import annotations

import io
import math
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import flexor
from signals.modes import MachineState
from tests.rigs.runs import MOVING
from tests.rigs.view_page import Page
from tools.view.banner import COLOURS
from tools.view.browser import Browser, chromium

pytest.importorskip("viser")
pytestmark = [
    pytest.mark.realtime,
    pytest.mark.skipif(chromium() is None, reason="needs Chromium (Debian: chromium)"),
]
WIDTH, HEIGHT, SCALE = 900, 500, 0.5
BANNER = "(document.querySelector('#fx-banner')||{dataset:{},innerText:''})"
BUTTON = "[...document.querySelectorAll('button,label')].find(b=>b.innerText.trim()==={!r}&&b.offsetParent)"
KEEP = """
window.told = [];
new MutationObserver(() => {
  const b = document.querySelector('#fx-banner');
  if (!b || window.last === b.outerHTML) return;
  window.last = b.outerHTML;
  told.push([Date.now() / 1000, b.dataset.kind, b.textContent, getComputedStyle(b).backgroundColor]);
}).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
"""
"""Keeps what the banner said, with its colour and when the document had it."""
BREAK_S = (8, 45)
"""The page is there by then, on a busy machine by the second."""
ESCAPE = ("Escape", 27)


@pytest.fixture(scope="module")
def browser():
    """One for all: it starts slowly."""
    with Browser("about:blank", WIDTH, HEIGHT, SCALE, every_ms=1000) as made:
        made.before(KEEP)
        yield made


@pytest.fixture
def opened(browser, port_base):
    """Opens pages in the browser."""
    pages = []

    def begin(*words):
        pages.append(Page("view", *words))
        browser.go_to(pages[-1].url)

    yield begin
    browser.go_to("about:blank")
    for page in pages:
        page.close()


def test_a_log_plays_to_its_fault(tmp_path, opened, browser):
    words = ["run", "finger_bench", "--motion", "open_close", "--for", "3", "--lockstep", "--record"]
    words += ["--out", str(tmp_path), "--fault", "tendon-break:index_4@1.5"]
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    subprocess.run(
        [sys.executable, "-m", "tools.cli", *words], env=environment, capture_output=True, timeout=120
    )
    (log,) = tmp_path.glob("*.mcap")
    opened(str(log))
    browser.until(f"{BANNER}.dataset.kind==='log'||{BANNER}.dataset.kind==='fault'", 60)
    browser.until(f"{BANNER}.dataset.kind==='fault'&&{BANNER}.innerText.includes('index_4')", 60)
    assert _becomes_so(lambda: _red(_scene(browser)).sum() > 20), "the finger is red in the picture"


def test_a_person_moves_a_finger_and_stops_it(start, port_base, opened, browser):
    """Escape while a field has the focus, and the banner's button without a lease."""
    run = start()
    opened("--port-base", str(port_base), "--wait", "120")
    run.wait_until_running()
    browser.until(f"{BANNER}.dataset.kind==='ready'||{BANNER}.dataset.kind==='off'", 60)
    assert _becomes_so(lambda: _bright(_scene(browser)).sum() > 200), "the hand appears"
    assert not _red(_scene(browser)).any(), "and nothing is red"
    with flexor.Hand(port_base=port_base, timeout_s=10.0) as hand:
        joint = hand.names("joint")[1]
        _press(browser, "Take command")
        _press(browser, "arm")
        _becomes(hand, lambda v: v["machine"] == MachineState.HOLDING)
        _press(browser, "activate")
        _becomes(hand, lambda v: v["machine"] == MachineState.ACTIVE)
        browser.until(f"{BANNER}.dataset.kind==='active'", 60)
        before, wanted = _bright(_scene(browser)), math.radians(60.0)
        _type(browser, joint, "60")
        _becomes(hand, lambda v: abs(v["true_pos"][joint] - wanted) < math.radians(3.0))
        moved = _becomes_so(lambda: (before ^ _bright(_scene(browser))).sum() > 0.2 * before.sum())
        assert moved, "the finger moves in the picture too"
        assert browser.ask("document.activeElement.tagName") == "INPUT"
        browser.press(*ESCAPE)
        _becomes(hand, lambda v: v.fault == "OPERATOR_STOP")
        browser.until(f"{BANNER}.dataset.kind==='fault'", 60)
        _press(browser, "re-arm")
        _becomes(hand, lambda v: v["machine"] == MachineState.HOLDING)
        _press(browser, "Give command back")
        browser.until(f"!!{BUTTON.format('Take command')}", 60)
        assert not hand.health()["lease"].get("holder")
        browser.ask("document.querySelector('#fx-stop').click()")
        _becomes(hand, lambda v: v.fault == "OPERATOR_STOP")


@pytest.mark.long
def test_a_broken_tendon_is_red_with_its_sentence(start, port_base, opened, browser):
    """The hand is seen active first; then banner and finger are red, with the event's own sentence."""
    for at_s in BREAK_S:
        run = start(*MOVING, "--fault", f"tendon-break:index_4@{at_s}")
        opened("--port-base", str(port_base), "--wait", "120")
        if browser.until("(window.told.find(t=>t[1]==='active'||t[1]==='fault')||[])[1]", 120) == "active":
            break
        run.process.kill()
        run.process.wait()
    with flexor.Hand(port_base=port_base, timeout_s=10.0) as hand:
        hand.listen("event")
        faults = []
        for event in hand.events(60.0):
            faults += [event["fault"] | event] if event["kind"] == "fault" else []
            if any(fault["cause"] == "TENDON_BROKEN" for fault in faults):
                break
    broken = faults[-1]
    assert {fault["part"] for fault in faults} == {"index_4"} and broken["cause"] == "TENDON_BROKEN"
    browser.until(f"window.told.some(t=>t[2].includes({broken['text']!r}))", 60)
    told = browser.ask("window.told")
    red = "rgb({}, {}, {})".format(*bytes.fromhex(COLOURS["fault"].removeprefix("#")))
    first = next(t for t in told if t[1] == "fault")
    whole = next(t for t in told if broken["text"] in t[2])
    assert first[3] == whole[3] == red
    assert faults[0]["timestamp"] < first[0] and broken["timestamp"] < whole[0]
    assert _becomes_so(lambda: _red(_scene(browser)).sum() > 20), "the finger is red in the picture"


def _scene(browser):
    """The 3-D picture beside panel and under banner, shape (height, width, 3)."""
    from PIL import Image

    browser.close_notices()
    whole = np.asarray(Image.open(io.BytesIO(browser.picture())).convert("RGB")).astype(int)
    return whole[int(80 * SCALE) :, : int(0.6 * WIDTH * SCALE)]


def _bright(picture):
    """Where there are bones and tendons, and not ground."""
    return picture.max(axis=2) > 135


def _red(picture):
    """Where something is red under whatever light, and not orange as the library's notices."""
    least, most = picture[..., 1:].min(axis=2), picture[..., 1:].max(axis=2)
    return (picture[..., 0] > 100) & (picture[..., 0] > 1.5 * most) & (least > 0.6 * most)


def _press(browser, text):
    browser.until(f"(b=>b&&(b.click(),true))({BUTTON.format(text)})", 60.0)


def _type(browser, label, text):
    """Into the number beside a slider, as a person does."""
    label = f"[...document.querySelectorAll('label')].find(l=>l.innerText.trim()==={label!r})"
    number = f"{label}?.parentElement.parentElement.parentElement.querySelector('input[inputmode]')"
    browser.until(f"(i=>i&&!i.disabled&&(i.focus(),i.select(),true))({number})")
    browser.call("Input.insertText", text=text)


def _becomes(hand, so, seconds=60.0):
    assert any(so(view) for view in hand.watch(seconds)), "the hand never came to it"


def _becomes_so(so, seconds=20.0):
    until = time.monotonic() + seconds
    while not so():
        if time.monotonic() > until:
            return False
        time.sleep(0.2)
    return True
