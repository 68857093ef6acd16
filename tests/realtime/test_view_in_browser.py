"""``flexor view``, as a browser shows it, and as a websocket client without a screen counts it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tools.view.browser import Browser, chromium

ENVIRONMENT = os.environ | {"PYTHONPATH": os.getcwd()}
pytest.importorskip("viser")
pytestmark = pytest.mark.realtime
needs_browser = pytest.mark.skipif(chromium() is None, reason="needs Chromium (Debian: chromium)")
ZSTD = b"\x28\xb5\x2f\xfd"
BANNER = "(document.querySelector('#fx-banner')||{dataset:{},innerText:''})"


class Page:
    """``flexor view`` in a process of its own."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tools.cli", "view", *words],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT,
        )  # fmt: skip
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            if line.startswith("view: "):
                self.url = line.split()[1]
                return
        raise AssertionError("".join(said))

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


@pytest.fixture
def pages() -> Iterator[list[Page]]:
    opened: list[Page] = []
    yield opened
    for page in opened:
        page.close()


@needs_browser
def test_a_log_plays_to_its_fault(start, tmp_path, pages):
    words = ["run", "finger_bench", "--motion", "open_close", "--for", "3", "--lockstep", "--record"]
    words += ["--out", str(tmp_path), "--fault", "tendon-break:index_4@1.5"]
    subprocess.run(
        [sys.executable, "-m", "tools.cli", *words], env=ENVIRONMENT, capture_output=True, timeout=120
    )
    (log,) = tmp_path.glob("*.mcap")
    pages.append(Page(str(log)))
    with Browser(pages[0].url, 700, 500) as browser:
        browser.until(f"{BANNER}.dataset.kind==='log'||{BANNER}.dataset.kind==='fault'", 60)
        browser.until(f"{BANNER}.dataset.kind==='fault'&&{BANNER}.innerText.includes('index_4')", 60)


def _messages(url: str, seconds: float) -> list[tuple[float, bytes]]:
    """What a page sends to a client without a screen: time and the maps of each message, still packed."""
    import viser
    import zstandard
    from websockets.sync.client import connect

    found: list[tuple[float, bytes]] = []
    protocol: Any = f"viser-v{viser.__version__}"
    with connect(url.replace("http", "ws"), subprotocols=[protocol], max_size=None, proxy=None) as socket:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                payload = socket.recv(timeout=0.5)
            except TimeoutError:
                continue
            assert isinstance(payload, bytes)
            packed = payload[payload.index(ZSTD) :]
            found.append((time.monotonic(), zstandard.ZstdDecompressor().decompressobj().decompress(packed)))
    return found


def test_a_client_without_a_screen_gets_thirty_pictures_a_second(start, port_base, pages):
    start("--motion", "finger_wave", "--for", "120")
    pages.append(Page("--port-base", str(port_base), "--wait", "120"))
    found = _messages(pages[0].url, 4.0)
    last = found[-1][0]
    poses = [at for at, text in found if last - at < 2.5 and b"batched_positions" in text]
    assert len(poses) / 2.5 > 20.0, "30 a second, less what a loaded machine takes"
    with pytest.raises(Exception, match="403"):
        _foreign(pages[0].url)


def _foreign(url: str) -> None:
    """A web page from elsewhere in the user's browser tries to speak to the hand."""
    from websockets.sync.client import connect

    with connect(url.replace("http", "ws"), origin="http://example.com", proxy=None):  # type: ignore[arg-type]
        pass
