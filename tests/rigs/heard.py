"""A hand under control in lockstep, the io process of a run beside it in this process, and a client of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np

import flexor
from flexor.wire import checked, message_of
from hand.hand import Hand
from hand.options import RunOptions
from runtime.loop import LOCKSTEP_START_NS, Loop
from runtime.processes.io import IoProcess
from runtime.processes.phases import Phase
from runtime.processes.watch import Watch
from runtime.setup import build, prepare, read_hand
from signals.clock import now_ns
from signals.faults import Cause
from signals.modes import MachineState
from signals.records import RecordArray
from sim.backend import SimulatedBus
from sim.options import Fault
from telemetry.shm.channel import Channel
from telemetry.shm.segment import Segment
from tests.rigs.sensed import joint_sensor

START_CYCLES = 900
WINDOW = 30
"""Cycles over which late ones are counted: a run's is a second."""
SENSED_JOINT = "ring_pip"
TURN_CYCLES = 64
"""Cycles between two turns of io."""


def mixed_hand(folder: Path) -> Hand:
    """The reference hand with a joint's own sensor, and its motors in another order than its tendons.

    So no index fits a wrong space.
    """
    text = (Path(__file__).parents[2] / "configs" / "hands" / "hasy.toml").read_text(encoding="utf-8")
    head, rest = text.split("\n[motors]", 1)
    first, *lines = rest.split("\n")
    count = next(k for k, line in enumerate(lines) if not line.startswith("m_"))
    path = folder / "mixed.toml"
    body = [first, *reversed(lines[:count]), *lines[count:]]
    sensor = joint_sensor(SENSED_JOINT, 60)
    path.write_text(head + "\n[motors]" + "\n".join(body) + sensor, encoding="utf-8")
    hand = read_hand(RunOptions(hand=str(path)))
    assert (
        hand.model["tendon_motor"][0, : len(hand.names.tendons)] != np.arange(len(hand.names.tendons))
    ).all()
    return hand


class TamperedBus:
    """The simulated hand's bus; what it measured may be changed on the way.

    Attributes:
        tamper: called with every measurement (a record's view).
    """

    def __init__(self, inner: SimulatedBus) -> None:
        self.inner = inner
        self.tamper: Callable[[Any], None] = lambda _: None

    def exchange(self, command: RecordArray, measurement: RecordArray, now: int) -> int:
        status = self.inner.exchange(command, measurement, now)
        self.tamper(measurement[0])
        return status


class Client(flexor.Hand):
    """The client as everybody has it; its messages reach the command desk without sockets."""

    def __init__(self, io: IoProcess) -> None:
        super().__init__()
        self._io, self._meta = io, msgspec.msgpack.decode(io.publisher._meta)

    def request(self, op: str, *, lease: int = 0, deadline_s: float = 0.0, **args: Any) -> dict[str, Any]:
        message = msgspec.msgpack.encode(message_of(next(self._ids), op, lease, args, deadline_s))
        return checked(op, msgspec.msgpack.decode(self._io.server.handle(message, now_ns())))


class Heard:
    """One run, from its first cycle to its report.

    Args:
        hand: the hand; its model is copied.
        port_base: ports of the io process.
        motion: motion by name; without one the test writes the goal.
    """

    def __init__(self, hand: Hand, port_base: int, motion: str | None = None) -> None:
        hand = replace(hand, model=hand.model.copy())
        options = RunOptions(hand=hand.name, lockstep=True, motion=motion, port_base=port_base)
        self.hand, self.names, self.model = hand, hand.names, hand.model[0]
        self.segment = Segment.create(hand.rate_hz)
        field = self.segment.field
        channel = Channel(self.segment.slots, field("head"), field("stats"), WINDOW)
        self.rig = build(options, hand, channel, segment=self.segment)
        assert isinstance(self.rig.bus, SimulatedBus)
        self.plant = self.rig.bus
        self.rig.pipeline.bus = self.bus = TamperedBus(self.plant)  # type: ignore[assignment]  # exchanges only
        self.loop = Loop(self.rig.pipeline.tick, hand.rate_hz, window=WINDOW)
        field("control_phase")[0] = int(Phase.RUNNING)
        self.io = IoProcess(self.segment, options, hand)
        self.client = Client(self.io)
        self.state, self.goal = self.rig.views["state"][0], self.rig.views["goal"][0]
        prepare(self.rig, LOCKSTEP_START_NS)
        self.watch = Watch(self.segment, self.rig, self.loop)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()
        self.io.publisher.close()
        self.io.reception.close()
        self.io.context.term()
        self.segment.unlink()

    def start(self) -> None:
        """Until it is active."""
        self.run(START_CYCLES)
        assert self.state["machine"] == MachineState.ACTIVE, self.latched

    def run(self, cycles: int, until: Cause | None = None) -> bool:
        """Run on, until a cause is latched; True if it was."""
        for k in range(1, cycles + 1):
            self.loop.run_lockstep(1, lambda: True)
            found = until is not None and until in self.latched
            if found or k % TURN_CYCLES == 0:
                self.io.turn()
            if found:
                return True
        return False

    @property
    def latched(self) -> set[Cause]:
        """Causes of the hand and of its fingers now."""
        codes = [self.state["hand_cause"], *self.state["finger_cause"][: len(self.names.fingers)]]
        return {Cause(int(code)) for code in codes} - {Cause.NONE}

    def inject(self, kind: Any, index: int, value: float = 0.0) -> None:
        """A fault of the plant now."""
        self.plant.inject(Fault(kind=kind, index=index, time_s=0.0, value=value))

    def events(self) -> list[dict[str, Any]]:
        """What was said of faults."""
        return [event["fault"] for event in self.io.publisher.recent if event["kind"] == "fault"]

    def report(self) -> dict[str, Any]:
        """The end of the run: what io writes then."""
        return self.io.finish()


Strike = Callable[[Heard, str], None]
"""What happens to a part of a running hand."""


def frozen(field: str, space: str) -> Strike:
    """From now on the channel's time stands still."""

    def strike(run: Heard, part: str) -> None:
        i = run.names.index(space, part)
        last = int(run.rig.views["measurement"][field][0, i])
        run.bus.tamper = lambda z: z[field].__setitem__(i, last)

    return strike
