"""What buses say of themselves reaches whoever asks: a start that failed, the report of a run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from drivers.composite import CompositeBus
from drivers.contract import Bench
from runtime.backends import said_by
from runtime.busprocess.truth import TruthShare, TruthTap
from runtime.starting import StartWatch
from signals.modes import ChannelStatus
from signals.records import TRUTH, new, new_frame
from sim.emulators.servo import OVERLOAD
from tests.rigs import emulated as rigs


def test_the_newest_trouble_of_every_bus_is_told_through_whatever_wraps_it(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 2) as (rig, chain), rigs.collector(2) as (other, _board):
        bench = Bench(rig)
        bench.start()
        both = CompositeBus((rig.bus, other.bus), (frozenset((0,)), frozenset((1,))))
        share = TruthShare.create()
        try:
            tap = TruthTap(both, share, new(TRUTH))
            assert said_by(tap) == ()
            chain.servos[1].trip(OVERLOAD)
            assert bench.comes(0.5, lambda: bool(said_by(tap))), bench.tell()
            (sentence,) = said_by(tap)
            assert sentence == "bus 'servos' said: motor motor_1 (id 2): hardware error: overload"
            assert said_by(rig.bus) == (sentence,)
        finally:
            share.unlink()


def test_a_hand_that_does_not_start_says_what_its_buses_said(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 1) as (rig, _chain):
        rig.bus._track.reason = "motor motor_0 (id 1): turn count lost"  # type: ignore[attr-defined]
        _, views = new_frame()
        views["measurement"]["motor_status"][0, 0] = ChannelStatus.RESET
        hand = SimpleNamespace(names=rigs.names(1))
        watch = StartWatch(SimpleNamespace(views=views, hand=hand, bus=rig.bus))  # type: ignore[arg-type]
        reason = watch.reason()
        assert "motor motor_0 gives no good value (reset)" in reason
        assert "bus 'servos' said: motor motor_0 (id 1): turn count lost" in reason
