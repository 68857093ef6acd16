"""Drives and plant in a process of their own that tells when a motor last truly pulled; for benchmarks."""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from drivers.hal import Bus
from hand.options import RunOptions
from runtime.realtime import die_with_parent
from runtime.setup import read_hand, sim_bus
from signals.records import TRUTH, new
from sim.emulators.collector import IDLE_STEP_NS, CollectorEmulator
from sim.emulators.loop import EmulatorLoop
from sim.emulators.side import BackendSide
from sim.emulators.wiring import Site, wire

ANSWER_S = 300.0
"""A cold start compiles."""


class WatchedSide(BackendSide):
    """The simulated hand; notes when its motors last gave torque, and when its own process stood still."""

    def __init__(self, options: RunOptions) -> None:
        known = read_hand(options)
        self.names, self.truth = known.names, new(TRUTH)
        self._make: Callable[[], Bus] = lambda: sim_bus(known, options, self.truth)
        super().__init__(self._make, int(0.5e9 / known.rate_hz))
        for k in range(3):  # loads the compiled plant, so that nobody waits for it later
            self.bus.exchange(self.command, self.measurement, 1 + k * IDLE_STEP_NS)
        self.pulled_ns = self.shown_ns = 0
        self.stalls: list[tuple[int, int]] = []

    def advance(self, now_ns: int) -> None:
        """Move on; then look at the true torque."""
        if self.shown_ns and now_ns - self.shown_ns > 2 * IDLE_STEP_NS:
            self.stalls.append((self.shown_ns, now_ns))
        self.shown_ns = now_ns
        super().advance(now_ns)
        if self.torque_nm() > 0.0:
            self.pulled_ns = now_ns

    def torque_nm(self) -> float:
        """Largest torque that a motor truly gives."""
        return float(np.abs(self.truth["motor_torque_nm"]).max())

    def renew(self) -> None:
        """Tension the hand again at its start pose; electronics and sessions stay as they are."""
        self._make().exchange(self.command, self.measurement, 1)  # shows the start pose
        self.bus, self.held = self._make(), True
        self.bus.activate()
        self.truth["motor_torque_nm"] = 0.0
        self.shown_ns = 0


def serve(pipe: Any, hand: str, bus_file: str, watchdog_ms: float) -> None:
    """Serve the board; answers ``look`` and ``renew`` that come through the pipe."""
    die_with_parent(os.getppid(), signal.SIGKILL)
    side = WatchedSide(RunOptions(hand=hand))
    with suppress(OSError):  # without the right it is only more often void
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(60))
    with tempfile.TemporaryDirectory() as folder:
        wired = wire("collector", side, side.names, Site(folder=Path(folder)))
    (emulator,) = wired.emulators
    assert isinstance(emulator, CollectorEmulator)
    loop = EmulatorLoop([emulator])

    def look() -> dict[str, Any]:
        return {
            "armed": emulator.armed,
            "fed_ns": emulator._fed_ns,
            "pulled_ns": side.pulled_ns,
            "torque_nm": side.torque_nm(),
            "stalls": side.stalls[-200:],
            "trips": emulator.trips,
        }

    def answer() -> None:
        while True:
            question = pipe.recv()
            found: list[Any] = []

            def do(asked: str = question, found: list[Any] = found) -> None:
                if asked == "renew":
                    side.renew()
                found.append(look())

            loop.do(do)
            pipe.send(found[0])

    threading.Thread(target=answer, daemon=True).start()
    text = wired.text + f"watchdog_ms = {watchdog_ms}\n"
    Path(bus_file).write_text("realtime = true\n\n" + text, encoding="utf-8")
    pipe.send("ready")
    loop.run()


class Board:
    """The board, seen from the process that started it."""

    def __init__(self, hand: str, folder: str, watchdog_ms: float) -> None:
        self.bus_file = str(Path(folder) / "bus.toml")
        context = mp.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=serve, args=(theirs, hand, self.bus_file, watchdog_ms), daemon=True
        )
        self.process.start()
        self._answer(ANSWER_S)

    def _answer(self, within_s: float) -> Any:
        if not self._pipe.poll(within_s):
            raise RuntimeError(f"the emulated board is silent for {within_s:g} s")
        return self._pipe.recv()

    def ask(self, question: str) -> Any:
        """``look``: the board's state; ``renew``: the hand tensioned at its start pose."""
        self._pipe.send(question)
        return self._answer(20.0)

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
