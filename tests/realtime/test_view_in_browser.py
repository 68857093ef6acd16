"""``flexor view``, as a browser shows it: a log plays."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.rigs.view_page import Page
from tools.view.browser import Browser, chromium

pytest.importorskip("viser")
pytestmark = [
    pytest.mark.realtime,
    pytest.mark.skipif(chromium() is None, reason="needs Chromium (Debian: chromium)"),
]
BANNER = "(document.querySelector('#fx-banner')||{dataset:{},innerText:''})"


@pytest.fixture
def opened(port_base):
    """Opens pages."""
    pages = []

    def begin(*words):
        pages.append(Page("view", *words))
        return pages[-1].url

    yield begin
    for page in pages:
        page.close()


def test_a_log_plays_to_its_fault(tmp_path, opened):
    words = ["run", "finger_bench", "--motion", "open_close", "--for", "3", "--lockstep", "--record"]
    words += ["--out", str(tmp_path), "--fault", "tendon-break:index_4@1.5"]
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    subprocess.run(
        [sys.executable, "-m", "tools.cli", *words], env=environment, capture_output=True, timeout=120
    )
    (log,) = tmp_path.glob("*.mcap")
    with Browser(opened(str(log)), 700, 500, scale=0.2) as browser:
        browser.until(f"{BANNER}.dataset.kind==='log'||{BANNER}.dataset.kind==='fault'", 60)
        browser.until(f"{BANNER}.dataset.kind==='fault'&&{BANNER}.innerText.includes('index_4')", 60)
