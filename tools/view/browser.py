"""A headless Chromium, driven by its DevTools socket: for pictures in the docs and tests of the page.

It draws in software, and where it may it gives itself a better priority than anybody's: on two cores the hand
and its page would then wait for it. So it is started here off the loop's core and behind others.
"""

from __future__ import annotations

import base64
import ctypes
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_PR_CAPBSET_DROP, _CAP_SYS_NICE = 24, 23
NICE: Final = 5
"""A third of the processor that an ordinary process gets beside it."""
_SELDOM: Final = (
    "window.requestAnimationFrame=f=>setTimeout(()=>f(performance.now()),{ms});"
    "window.cancelAnimationFrame=clearTimeout"
)


def chromium() -> str | None:
    """Path of a Chromium on this machine; ``None``: there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    """One page in a Chromium of its own.

    Args:
        url: of the page.
        width, height: of the window [px].
        scale: pixels of the picture for each of the window; below one it costs less to render in software.
        every_ms: time between two pictures of the 3-D scene; 0: as fast as it can. The page takes what it is
            sent picture by picture, so it shows it that much later.
        nice: how far behind others; one that draws nothing needs little.

    Raises:
        RuntimeError: no Chromium, or it does not answer.
    """

    def __init__(
        self,
        url: str,
        width: int = 1280,
        height: int = 800,
        scale: float = 1.0,
        every_ms: int = 0,
        nice: int = NICE,
    ) -> None:
        program = chromium()
        if program is None:
            raise RuntimeError(f"no Chromium on this machine; looked for {', '.join(NAMES)}")
        self._folder = tempfile.TemporaryDirectory(prefix="flexor-browser-", ignore_cleanup_errors=True)
        words = [
            program, "--headless=new", "--no-sandbox", "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader", "--remote-debugging-port=0", "--no-first-run",
            "--disable-background-networking", "--disable-extensions", "--hide-scrollbars",
            "--disable-dev-shm-usage", f"--user-data-dir={self._folder.name}",
            f"--window-size={width},{height}", "about:blank",
        ]  # fmt: skip
        quiet, root = subprocess.DEVNULL, str(Path(__file__).parents[2])
        path = os.pathsep.join((root, os.environ.get("PYTHONPATH", "")))
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(os.getpid()), str(nice), *words],
            stdout=quiet, stderr=quiet, start_new_session=True, env=os.environ | {"PYTHONPATH": path},
        )  # fmt: skip
        self._ids = itertools.count(1)
        self._socket = self._connect()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=False)  # fmt: skip
        self.call("Page.enable")
        if every_ms:
            self.before(_SELDOM.format(ms=every_ms))
        self.go_to(url)

    def go_to(self, url: str) -> None:
        """Open another page."""
        self.call("Page.navigate", url=url)

    def _connect(self, seconds: float = 60.0) -> Any:
        from websockets.sync.client import connect

        port_file, until = Path(self._folder.name) / "DevToolsActivePort", time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                port = int(port_file.read_text().split()[0])
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=5) as answer:
                    pages = [p for p in json.load(answer) if p["type"] == "page"]
                return connect(pages[0]["webSocketDebuggerUrl"], max_size=None, proxy=None)
            except (OSError, ValueError, IndexError):
                time.sleep(0.1)
        self.close()
        raise RuntimeError("Chromium does not answer")

    def before(self, script: str) -> None:
        """Run a script in every page before the page's own."""
        self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One call of the DevTools protocol."""
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer: dict[str, Any] = json.loads(self._socket.recv(timeout=60))
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                found: dict[str, Any] = answer.get("result", {})
                return found

    def ask(self, script: str) -> Any:
        """Value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def until(self, script: str, seconds: float = 20.0) -> Any:
        """The value of an expression once it is true.

        Raises:
            TimeoutError: it was not in time.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if found := self.ask(script):
                    return found
            except RuntimeError:
                pass  # a page that is not there yet
            time.sleep(0.02)
        raise TimeoutError(f"not true within {seconds} s: {script}")

    def close_notices(self) -> None:
        """Close what the library says of itself over the picture, so of drawing in software."""
        self.ask("document.querySelectorAll('.mantine-Notifications-root button').forEach(b=>b.click())")

    def press(self, key: str, code: int) -> None:
        """A key, as a person presses it."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, path: Path | None = None) -> bytes:
        """The page as PNG."""
        png = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            path.write_bytes(png)
        return png

    def close(self) -> None:
        """End the browser."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _go_after_others(autogroup: str, nice: int) -> None:
    """After other work, for good: this process and what it becomes cannot raise their priority again."""
    ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_SYS_NICE, 0, 0, 0)  # refused: it had no such right
    os.setpriority(os.PRIO_PROCESS, 0, nice)
    with suppress(OSError):
        Path(autogroup).write_text(str(nice))


def main() -> None:
    """Become the Chromium whose words follow the number of the process that drives it, and its niceness."""
    from runtime.realtime import AUTOGROUP, die_with_parent, leave_loop_core

    leave_loop_core()
    _go_after_others(AUTOGROUP, int(sys.argv[2]))
    if die_with_parent(int(sys.argv[1]), signal.SIGKILL):
        os.execv(sys.argv[3], sys.argv[3:])


if __name__ == "__main__":
    main()
