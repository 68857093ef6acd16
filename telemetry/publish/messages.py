"""What is published: topics and their MessagePack payloads, as docs/telemetry.md describes them.

Keys are strings, numbers are SI, NaN means no value, the set of keys is constant for the life of a process.
``timestamp`` is Unix time [s] of the control tick, from the monotonic clock and one offset.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

import msgspec
import numpy as np

from signals.faults import CAUSES, FOREIGN
from signals.modes import MachineState, Mode
from signals.names import ForeignCause, HandNames
from signals.records import RecordArray
from signals.table import LIVE
from telemetry.columns import counts_of
from telemetry.publish.rows import Rows

VIEW: Final = b"hand/v1/view"
RAW: Final = b"hand/v1/raw"
HEALTH: Final = b"hand/v1/health"
EVENT: Final = b"hand/v1/event"
META: Final = b"hand/v1/meta"
BATCH: Final = 30
"""Frames of one ``raw`` message at most."""


LINES: Final = tuple(signal for signal in LIVE.values() if signal.record != "truth")
"""Signals that ``view`` and ``raw`` carry: the live ones of the table."""
TRUTH_LINES: Final = tuple(signal for signal in LIVE.values() if signal.record == "truth")
"""Published too where the hand is simulated."""


def pack(message: dict[str, Any]) -> bytes:
    """MessagePack of a map; floats are float64."""
    return msgspec.msgpack.encode(message)


def _named(names: tuple[str, ...], values: Any) -> dict[str, float]:
    return dict(zip(names, np.asarray(values, dtype=np.float64).tolist(), strict=True))


class ViewMessage:
    """The 50 Hz map with names, for people and plotting programs."""

    def __init__(self, names: HandNames, has_truth: bool) -> None:
        self._names = names
        self._lines = LINES + (TRUTH_LINES if has_truth else ())
        self._seq = 0

    def build(self, frame: Any, unix_s: float, loop: dict[str, Any], drop: dict[str, int]) -> dict[str, Any]:
        """The map of one frame (a FRAME scalar)."""
        state, measurement = frame["state"], frame["measurement"]
        names, machine = self._names, int(state["machine"])
        n_motors, n_joints, n_fingers = len(names.motors), len(names.joints), len(names.fingers)
        self._seq += 1
        track = state["ref_joint_angle_rad"][:n_joints] - state["joint_angle_rad"][:n_joints]
        message: dict[str, Any] = {
            "timestamp": unix_s,
            "seq": self._seq,
            "tick": int(state["tick"]),
            "mode": int(state["finger_mode"][:n_fingers].max(initial=0)),
            "machine": machine,
            "armed": machine in (MachineState.HOLDING, MachineState.ACTIVE),
            "fault": _first_cause(state, n_fingers),
        }
        for line in self._lines:
            part = names.of(line.dims[0])
            message[line.live] = _named(part, frame[line.record][line.name][: len(part)])
        message["track"] = _named(names.joints, track)
        message["sat"] = _counted(names.motors, state["clip"][:n_motors])
        message["mfault"] = _counted(names.motors, measurement["motor_status"][:n_motors])
        message["finger"] = _counted(names.fingers, state["finger_state"][:n_fingers])
        message["finger_mode"] = _counted(names.fingers, state["finger_mode"][:n_fingers])
        message["cause"] = _counted(names.fingers, state["finger_cause"][:n_fingers])
        message["loop"] = loop
        message["drop"] = drop
        return message


def _first_cause(state: Any, n_fingers: int) -> int:
    causes = [int(state["hand_cause"]), *(int(c) for c in state["finger_cause"][:n_fingers])]
    return next((c for c in causes if c), 0)


def _counted(names: tuple[str, ...], values: Any) -> dict[str, int]:
    return dict(zip(names, (int(v) for v in values), strict=True))


class RawMessage:
    """Every frame, in batches of at most ``BATCH`` rows of float32 arrays."""

    def __init__(self, model: RecordArray, has_truth: bool) -> None:
        counts = counts_of(model)
        self._lines = [line for line in LINES + (TRUTH_LINES if has_truth else ()) if counts[line.dims[0]]]
        self._counts = counts
        arrays = {line.live: counts[line.dims[0]] for line in self._lines}
        scalars = {"timestamp": "f8", "seq": "u8", "tick": "u8"}
        self._rows = Rows(scalars, arrays, BATCH)
        self._seq = 0

    def encode(self, frames: RecordArray, offset_ns: int) -> bytes:
        """One batch of frames, shape (n,), n <= BATCH; ``offset_ns`` turns monotonic into Unix time."""
        values: dict[str, Any] = {
            "timestamp": (frames["state"]["time_ns"] + offset_ns) / 1e9,
            "seq": np.arange(self._seq, self._seq + len(frames), dtype=np.uint64),
            "tick": frames["state"]["tick"],
        }
        self._seq += len(frames)
        for line in self._lines:
            values[line.live] = frames[line.record][line.name][:, : self._counts[line.dims[0]]]
        return self._rows.encode(values)


def meta_names(names: HandNames) -> dict[str, list[str]]:
    """Index space -> names, as ``meta`` carries them."""
    spaces = ("motor", "tendon", "joint", "finger", "axis")
    return {space: list(names.of(space)) for space in spaces}


def meta_units(has_truth: bool) -> dict[str, dict[str, str]]:
    """Key of ``view`` and ``raw`` -> unit, index space and signal."""
    lines = LINES + (TRUTH_LINES if has_truth else ())
    return {
        line.live: {"unit": line.unit, "space": line.dims[0], "signal": f"{line.record}.{line.name}"}
        for line in lines
    }


def schema_sha256(has_truth: bool) -> str:
    """Hash of keys, units and codes: changes with the meaning of a message."""
    text = json.dumps([meta_units(has_truth), meta_codes()], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def meta_codes(foreign: tuple[ForeignCause, ...] = ()) -> dict[str, dict[str, int]]:
    """Names of the integers in messages, with the causes of a hand's foreign detectors."""
    return {
        "machine": {m.name.lower(): int(m) for m in MachineState},
        "mode": {m.name.lower(): int(m) for m in Mode},
        "cause": {cause.name: int(cause) for cause in CAUSES}
        | {found.name: int(cause) for cause, found in zip(FOREIGN, foreign, strict=False)},
    }
