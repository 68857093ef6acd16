"""``flexor view`` in a process of its own, for tests of what it shows and takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


class Page:
    """A page; ``url`` is where it is served."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tools.cli", *words],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=os.environ | {"PYTHONPATH": os.getcwd()},
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
        """End it."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


class BarReader:
    """What the bar's script is sent, with Unix times; reads in a thread of its own."""

    def __init__(self, url: str) -> None:
        self.told: list[tuple[float, dict[str, Any]]] = []
        self.beats = 0
        self._socket = connect(url.replace("http", "ws", 1) + "/flexor", proxy=None)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                text = self._socket.recv()
                self.beats += 1
                if text:
                    self.told.append((time.time(), json.loads(text)))

    def send(self, word: str) -> None:
        """As the script does."""
        self._socket.send(word)

    def until(
        self, so: Callable[[dict[str, Any]], bool], seconds: float = 60.0
    ) -> tuple[float, dict[str, Any]]:
        """When and what it was told first that is so."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for at, told in self.told:
                if so(told):
                    return at, told
            time.sleep(0.01)
        raise AssertionError(self.told)

    def close(self) -> None:
        """Leave."""
        self._socket.close()
