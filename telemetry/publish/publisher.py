"""Publishes what the ring brings: view at 50 Hz, every frame in raw, health at 10 Hz, events, meta."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

import numpy as np
import zmq

from flexor.places import Places, tcp
from mechanics.sources import sources_of
from signals import clock
from signals.clock import WallClock
from signals.names import HandNames
from signals.records import RecordArray
from telemetry.keys import Keyring
from telemetry.publish.messages import (
    BATCH,
    EVENT,
    HEALTH,
    META,
    RAW,
    VIEW,
    RawMessage,
    ViewMessage,
    meta_codes,
    meta_names,
    meta_units,
    pack,
    schema_sha256,
)
from telemetry.shm.stats import STAGES, summary_us
from telemetry.sockets import PLOTJUGGLER_PORT, bind

VIEW_NS: Final = 20_000_000
HEALTH_NS: Final = 100_000_000
META_NS: Final = 1_000_000_000
RAW_NS: Final = 10_000_000
SUBSCRIPTIONS: Final = 256
"""Subscriptions that are looked at in one turn; meta is sent once for all of them."""


class Publisher:
    """Owner of the PUB sockets.

    Args:
        context: ZeroMQ context.
        names: names of the hand.
        model: the controller's model.
        facts: what ``meta`` says of the run (hand, hash, rate, seed, backend, versions).
        places: where the hand listens.
        ring: whom to let in; ``None``: everybody who gets there.
        has_truth: publish the simulation's truth too.
        plotjuggler: serve view and health on PlotJuggler's own port as well.

    Raises:
        PortBusy: a port is taken.
    """

    def __init__(
        self,
        context: Any,
        names: HandNames,
        model: RecordArray,
        facts: dict[str, Any],
        *,
        places: Places,
        ring: Keyring | None = None,
        has_truth: bool = True,
        plotjuggler: bool = False,
    ) -> None:
        self.wall = WallClock()
        self.lost = 0
        self.view: dict[str, Any] = {}
        self.recent: deque[dict[str, Any]] = deque(maxlen=50)
        self._view, self._raw = ViewMessage(names, has_truth), RawMessage(model, has_truth)
        self._socket = bind(context, zmq.XPUB, places.publish, ring)
        try:
            self._plot = bind(context, zmq.PUB, tcp(PLOTJUGGLER_PORT).publish) if plotjuggler else None
        except OSError:
            self._socket.close()
            raise
        self._facts = facts
        of_joint = model["joint_finger"][0, : len(names.joints)].tolist()
        self._finger_of_joint = {
            joint: names.fingers[f] for joint, f in zip(names.joints, of_joint, strict=True) if f >= 0
        }
        self._sources = sources_of(model[0], names.joints, names.tendons)
        self._meta = self._meta_payload(names, has_truth, places)
        self._next = {"view": 0, "health": 0, "meta": 0, "raw": 0}
        self._counts = {"health": 0, "event": 0}
        self._pending: list[RecordArray] = []
        self._waiting = 0

    def _meta_payload(self, names: HandNames, has_truth: bool, places: Places) -> bytes:
        return pack(
            {
                "schema": "hand/v1",
                "timestamp": self.wall.unix_s(clock.now_ns()),
                "clock_offset_ns": self.wall.offset_ns,
                "schema_sha256": schema_sha256(has_truth),
                **self._facts,
                "names": meta_names(names),
                "finger_of_joint": self._finger_of_joint,
                "sources": self._sources,
                "keys": meta_units(has_truth),
                "codes": meta_codes(names.foreign),
                "endpoints": {"publish": places.publish, "command": places.command},
            }
        )

    def _due(self, what: str, now_ns: int, every_ns: int) -> bool:
        if now_ns < self._next[what]:
            return False
        self._next[what] = max(self._next[what] + every_ns, now_ns)
        return True

    def _send(self, topic: bytes, payload: bytes, plot: bool = False) -> None:
        self._socket.send_multipart([topic, payload], zmq.NOBLOCK)
        if plot and self._plot is not None:
            self._plot.send_multipart([topic, payload], zmq.NOBLOCK)

    def frames(self, frames: RecordArray, now_ns: int, stats: Any, drop: dict[str, int]) -> None:
        """Publish what new frames, shape (n,) of FRAME, are due for."""
        if len(frames):
            self._pending.append(frames.copy())
            self._waiting += len(frames)
        if self._waiting >= BATCH or (self._waiting and self._due("raw", now_ns, RAW_NS)):
            batch = self._pending[0] if len(self._pending) == 1 else np.concatenate(self._pending)
            for k in range(0, len(batch), BATCH):
                self._send(RAW, self._raw.encode(batch[k : k + BATCH], self.wall.offset_ns))
            self._pending, self._waiting = [], 0
        if len(frames) and self._due("view", now_ns, VIEW_NS):
            newest = frames[-1]
            unix_s = self.wall.unix_s(int(newest["state"]["time_ns"]))
            self.view = self._view.build(newest, unix_s, _loop(newest, stats), drop)
            self._send(VIEW, pack(self.view), plot=True)
        if self._due("meta", now_ns, META_NS):
            self._send(META, self._meta)

    def health(self, now_ns: int, build: Any) -> None:
        """Publish health when it is due; ``build`` makes the map then."""
        if self._due("health", now_ns, HEALTH_NS):
            self._counts["health"] += 1
            message = {"timestamp": self.wall.unix_s(now_ns), "seq": self._counts["health"], **build()}
            self._send(HEALTH, pack(message), plot=True)

    def event(
        self, now_ns: int, kind: str, level: str, text: str, hint: str = "", **more: Any
    ) -> dict[str, Any]:
        """Publish an event; returns the map for the log."""
        self._counts["event"] += 1
        message = {
            "timestamp": self.wall.unix_s(now_ns),
            "seq": self._counts["event"],
            "kind": kind,
            "level": level,
            "text": text,
            "hint": hint,
            **more,
        }
        self.recent.append(message)
        self._send(EVENT, pack(message))
        return message

    def greet(self) -> None:
        """Send meta to whoever has just subscribed (everybody gets it again: it is idempotent)."""
        asked = False
        for _ in range(SUBSCRIPTIONS):
            try:
                asked |= self._socket.recv(zmq.NOBLOCK)[:1] == b"\x01"
            except zmq.Again:
                break
        if asked:
            self._send(META, self._meta)

    @property
    def socket(self) -> Any:
        """For a poller: readable when somebody subscribes."""
        return self._socket

    def close(self) -> None:
        """Close the sockets."""
        for socket in (self._socket, self._plot):
            if socket is not None:
                socket.close()


def _loop(frame: Any, stats: Any) -> dict[str, Any]:
    timing = frame["timing"]
    return {
        "wake_us": float(timing["wake_ns"]) / 1e3,
        "tick_us": float(timing["tick_ns"]) / 1e3,
        "jitter_p99_us": summary_us(stats[0])["p99"],
        "missed": int(timing["missed"]),
        "late": int(timing["late"]),
    }


def loop_health(stats: Any, rate_hz: float) -> dict[str, Any]:
    """Loop part of ``health``: percentiles of every stage, the worst cycle of each."""
    return {
        "rate_hz": rate_hz,
        "stages_us": {stage: summary_us(stats[k]) for k, stage in enumerate(STAGES)},
        "worst_cycle": {stage: int(stats[k][1]) for k, stage in enumerate(STAGES)},
    }
