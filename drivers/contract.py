"""The contract of ``drivers.hal.Bus`` as a suite of tests, for drivers of ours and of anybody.

Subclass ``BusContract`` in a pytest module, give ``rig`` as a fixture and every test runs against your bus::

    class TestMyBus(BusContract):
        @pytest.fixture
        def rig(self):
            with my_hardware_or_emulator() as rig:
                yield rig

A rig holds the bus (open, not configured) and says what its motors do: every motor pulls against a spring, so
that at rest ``angle = rest_rad_per_a * current``. Faults, and a look at the device from outside, are
callables; a rig without one skips its tests. This module needs pytest.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pytest

from drivers.errors import DriverError
from drivers.hal import Bus, Capabilities, MotorSetup, Reporting
from signals.modes import BusStatus, ChannelStatus, MotorMode
from signals.records import COMMAND, MEASUREMENT, RecordArray, new

WAS_RESET = int(ChannelStatus.RESET | ChannelStatus.DEVICE_ERROR)
COMING_BACK = WAS_RESET | int(ChannelStatus.HELD)
NOT_FRESH = int(ChannelStatus.STALE | ChannelStatus.MISSING)


class BenchClock(Protocol):
    """The time that a rig lives in."""

    def now_ns(self) -> int:
        """Monotonic time [ns]."""

    def sleep(self, seconds: float) -> None:
        """Let time pass [s]."""


class RealClock:
    """Time of the computer: for devices, and for emulators that run in real time."""

    def now_ns(self) -> int:
        """Monotonic time [ns]."""
        return time.monotonic_ns()

    def sleep(self, seconds: float) -> None:
        """Wait [s]."""
        time.sleep(seconds)


class SteppedClock:
    """Time that passes only in ``sleep``: for buses that live by the ``now_ns`` they are given.

    However long the computer stalls, such a bus sees an even cycle and no watchdog of its trips.
    """

    def __init__(self, start_ns: int = 1_000_000_000) -> None:
        self._now_ns = start_ns

    def now_ns(self) -> int:
        """Monotonic time [ns]."""
        return self._now_ns

    def sleep(self, seconds: float) -> None:
        """Advance [s]; at least a nanosecond."""
        self._now_ns += max(1, round(seconds * 1e9))


@dataclass(slots=True, kw_only=True)
class Rig:
    """One bus on a bench."""

    bus: Bus
    motors: tuple[int, ...]
    """Indices of its motors."""
    halls: tuple[int, ...] = ()
    """Tendons of its Hall channels; channel i follows motor i."""
    rest_rad_per_a: float | None = 1.0
    """None: motors against something else than a linear spring; they only have to follow the sign."""
    hall_count: Callable[[float], float] = lambda _angle_rad: 0.0
    """Count of a Hall channel at a motor angle [rad]."""
    current_limit_a: float = 1.0
    angle_tolerance_rad: float = 2e-3
    current_tolerance_a: float = 5e-3
    period_s: float = 0.002
    settle_s: float = 0.25
    device_current_a: Callable[[int], float] | None = None
    """Current that a motor's device really drives, seen from outside."""
    silence: Callable[[int, bool], None] | None = None
    """Make one motor's device silent (True) or not."""
    reset: Callable[[int], None] | None = None
    """Restart one motor's device."""
    unplug: Callable[[], None] | None = None
    plug: Callable[[], None] | None = None
    fault_s: float = 1.0
    """Time within which a fault must show."""
    patience: float = 12.0
    """How many times longer a busy computer may take until something holds that must come to hold."""
    comes_back_by_itself: bool = False
    """After ``plug`` the bus returns without ``recover`` (a bus process, a board)."""
    clock: BenchClock = field(default_factory=RealClock)
    """``SteppedClock`` for a simulated bus."""


class Bench:
    """Drives a rig: exchanges at a fixed period, remembers the last status."""

    def __init__(self, rig: Rig) -> None:
        self.rig, self.bus, self.clock = rig, rig.bus, rig.clock
        self.command: RecordArray = new(COMMAND)
        self.measurement: RecordArray = new(MEASUREMENT)
        self.status = 0
        self.count = 0

    def start(self) -> None:
        """Configure, activate, one command at rest."""
        setups = tuple(
            MotorSetup(index=i, name=f"motor {i}", current_limit_a=self.rig.current_limit_a)
            for i in self.rig.motors
        )
        self.bus.configure(setups)
        self.bus.activate()
        self.rest(0.1)

    def rest(self, seconds: float) -> None:
        """All motors OFF."""
        self.command["motor_mode"] = MotorMode.OFF
        self.command["motor_current_a"] = 0.0
        self.run(seconds)

    def pull(self, current_a: Any, seconds: float) -> None:
        """Currents for all motors of the rig."""
        motors = list(self.rig.motors)
        self.command["motor_mode"][0, motors] = MotorMode.CURRENT
        self.command["motor_current_a"][0, motors] = current_a
        self.run(seconds)

    def run(self, seconds: float, until: Callable[[], bool] | None = None) -> bool:
        """Exchange for some time, or until something holds; whether it did."""
        end_ns = self.clock.now_ns() + round(seconds * 1e9)
        while (begun_ns := self.clock.now_ns()) < end_ns:
            self.status = self.bus.exchange(self.command, self.measurement, begun_ns)
            self.count += 1
            if until is not None and until():
                return True
            self.clock.sleep(max(0.0, self.rig.period_s - (self.clock.now_ns() - begun_ns) * 1e-9))
        return False

    def comes(self, seconds: float, holds: Callable[[], bool]) -> bool:
        """Whether something comes to hold within ``seconds``, on a busy computer a few times that."""
        return self.run(seconds * self.rig.patience, holds)

    def tell(self) -> str:
        """Where the bus stands, for a failed check."""
        report = self.bus.report() if isinstance(self.bus, Reporting) else None
        status = self.of_motors("motor_status").tolist()
        return f"status {self.status}, motors {status}, after {self.count} exchanges, {report}"

    def of_motors(self, name: str) -> Any:
        """A measured signal of the rig's motors."""
        return self.measurement[name][0, list(self.rig.motors)].copy()


class BusContract:
    """Every bus passes these."""

    def test_capabilities_are_fixed_and_complete(self, rig: Rig) -> None:
        """Capabilities say what is there."""
        able = rig.bus.capabilities
        assert isinstance(able, Capabilities) and able == rig.bus.capabilities
        assert able.n_motors == len(rig.motors)
        assert able.n_halls >= len(rig.halls)
        assert able.rate_max_hz > 0.0
        assert MotorMode.OFF in able.motor_modes or not rig.motors
        assert isinstance(rig.bus, Bus)

    def test_the_same_currents_give_the_same_angles(self, rig: Rig) -> None:
        """A staircase of currents; at rest the spring says where every motor has to be."""
        bench = Bench(rig)
        bench.start()
        n = len(rig.motors)
        if rig.rest_rad_per_a is None:
            self._follows_the_sign(bench)
            return
        for step in (0.3, -0.2):
            current_a = step * np.linspace(0.5, 1.0, n)
            bench.pull(current_a, rig.settle_s)
            wanted_rad = rig.rest_rad_per_a * current_a

            def at_rest(wanted_rad: Any = wanted_rad, current_a: Any = current_a) -> bool:
                far_rad = np.abs(bench.of_motors("motor_angle_rad") - wanted_rad).max()
                far_a = np.abs(bench.of_motors("motor_current_a") - current_a).max()
                slow = np.abs(bench.of_motors("motor_speed_rad_s")).max() <= 0.1
                good = far_rad <= rig.angle_tolerance_rad and far_a <= rig.current_tolerance_a
                return bool(good and slow and bench.status == 0)

            assert bench.comes(rig.settle_s, at_rest), bench.tell()
            for i, t in enumerate(rig.halls[:n]):
                wanted = rig.hall_count(float(wanted_rad[i]))
                assert abs(bench.measurement["hall_fine_count"][0, t] - wanted) <= 2.0
                assert abs(bench.measurement["hall_count"][0, t] - wanted) <= 2.5

    @staticmethod
    def _follows_the_sign(bench: Bench) -> None:
        rig = bench.rig
        before = bench.of_motors("motor_angle_rad")
        bench.pull(rig.current_limit_a, rig.settle_s)
        up = bench.of_motors("motor_angle_rad")
        assert (up > before).all()
        assert (
            np.abs(bench.of_motors("motor_current_a") - rig.current_limit_a).max() <= rig.current_tolerance_a
        )
        bench.pull(-rig.current_limit_a, rig.settle_s)
        assert (bench.of_motors("motor_angle_rad") < up).all()

    def test_every_channel_knows_its_time_and_counts_go_up(self, rig: Rig) -> None:
        """Ages are known, never in the future, sequence numbers only grow."""
        bench = Bench(rig)
        bench.start()
        seen = []
        for _ in range(20):
            bench.run(0.01)
            now_ns = rig.clock.now_ns()
            times_ns = bench.of_motors("motor_time_ns")
            assert (times_ns > 0).all() and (times_ns <= now_ns).all()
            assert (now_ns - times_ns).max() < 1e9 * (rig.fault_s + rig.settle_s)
            seen.append(int(bench.measurement["seq"][0]))
        assert sorted(seen) == seen

    def test_no_torque_without_activate_nor_after_deactivate(self, rig: Rig) -> None:
        """Motors are limp outside of their active life."""
        bench = Bench(rig)
        bench.start()
        bench.pull(0.2, rig.settle_s)
        if rig.rest_rad_per_a is not None:
            assert np.abs(bench.of_motors("motor_angle_rad")).max() > 0.05
        assert rig.bus.deactivate() is True
        if rig.device_current_a is not None:
            assert all(rig.device_current_a(i) == 0.0 for i in rig.motors)

    def test_a_number_that_is_none_never_becomes_torque(self, rig: Rig) -> None:
        """NaN and infinity in a command: bounded by the limit of the device, NaN is nothing."""
        if rig.device_current_a is None:
            pytest.skip("the rig shows no device's current")
        bench = Bench(rig)
        bench.start()
        for value in (np.nan, np.inf, -np.inf, 1e300):
            bench.pull(value, 0.1)
            driven = max(abs(rig.device_current_a(i)) for i in rig.motors)
            assert driven <= rig.current_limit_a + rig.current_tolerance_a
            assert driven <= rig.current_tolerance_a or not np.isnan(value)

    def test_a_silent_motor_is_named_and_costs_the_others_nothing(self, rig: Rig) -> None:
        """One channel goes stale, the others stay fresh; back again it waits for a command at rest."""
        if rig.silence is None or len(rig.motors) < 2:
            pytest.skip("the rig silences no motor among others")
        bench = Bench(rig)
        bench.start()
        bench.pull(0.2, rig.settle_s)
        lost = rig.motors[1]
        rig.silence(lost, True)
        status = bench.measurement["motor_status"]
        assert bench.comes(rig.fault_s, lambda: bool(status[0, lost] & NOT_FRESH)), bench.tell()
        others = [m for m in rig.motors if m != lost]
        assert bench.comes(0.3 * rig.fault_s, lambda: not status[0, others].any()), bench.tell()
        bench.run(0.5 * rig.fault_s)
        assert status[0, lost] & NOT_FRESH, bench.tell()
        rig.silence(lost, False)
        self._comes_back_limp(bench, lost)

    def test_a_motor_that_was_reset_says_so_and_stays_limp(self, rig: Rig) -> None:
        """Reset in the middle of a motion."""
        if rig.reset is None:
            pytest.skip("the rig resets no motor")
        bench = Bench(rig)
        bench.start()
        bench.pull(0.2, rig.settle_s)
        rig.reset(rig.motors[0])
        self._comes_back_limp(bench, rig.motors[0], WAS_RESET)

    def test_a_lost_bus_is_told_and_returns_without_motion(self, rig: Rig) -> None:
        """Unplug, plug in, recover: fresh data, no torque until the command has been at rest (B09)."""
        if rig.unplug is None or rig.plug is None:
            pytest.skip("the rig unplugs no bus")
        bench = Bench(rig)
        bench.start()
        bench.pull(0.2, rig.settle_s)
        rig.unplug()
        assert bench.comes(rig.fault_s, lambda: bool(bench.status & BusStatus.LOST)), bench.tell()
        assert (bench.of_motors("motor_status") & NOT_FRESH).all()
        if isinstance(rig.bus, Reporting):
            report = rig.bus.report()
            assert report.lost or report.reason
        bench.run(0.1)
        rig.plug()
        if not rig.comes_back_by_itself:
            self._recovered(bench)
        self._comes_back_limp(bench, rig.motors[0])

    def test_a_closed_bus_closes_again_and_tells_every_exchange_that_it_is_lost(self, rig: Rig) -> None:
        """Whoever goes on exchanging with it gets a value, not an exception, and no sample as fresh."""
        bench = Bench(rig)
        bench.start()
        bench.run(rig.settle_s)
        assert not bench.of_motors("motor_status").any(), bench.tell()
        rig.bus.close()
        rig.bus.close()
        assert bench.comes(rig.fault_s, lambda: bool(bench.status & BusStatus.LOST)), bench.tell()
        bench.run(0.05)
        assert bench.status & BusStatus.LOST, bench.tell()
        assert (bench.of_motors("motor_status") & NOT_FRESH).all(), bench.tell()

    @staticmethod
    def _recovered(bench: Bench) -> None:
        end_ns = bench.clock.now_ns() + 10_000_000_000
        while True:
            try:
                bench.bus.recover()
                return
            except DriverError:
                if bench.clock.now_ns() > end_ns:
                    raise
                bench.clock.sleep(0.1)

    def _comes_back_limp(self, bench: Bench, motor: int, mark: int = COMING_BACK) -> None:
        """The motor answers with a mark, pulls nothing; at rest the mark clears; then it pulls again."""
        rig, status = bench.rig, bench.measurement["motor_status"]

        def marked() -> bool:
            return bool(status[0, motor] & mark) and not status[0, motor] & NOT_FRESH

        assert bench.comes(rig.fault_s, marked), bench.tell()
        bench.pull(0.2, rig.settle_s)
        if rig.device_current_a is not None:
            assert rig.device_current_a(motor) == 0.0
        assert status[0, motor] & mark
        bench.command["motor_mode"] = MotorMode.OFF
        assert bench.comes(rig.fault_s, lambda: not status[0, list(rig.motors)].any()), bench.tell()
        bench.rest(rig.settle_s)
        bench.pull(0.2, rig.settle_s)
        if rig.rest_rad_per_a is None:
            return
        wanted_rad, angle = 0.2 * rig.rest_rad_per_a, bench.measurement["motor_angle_rad"]

        def there() -> bool:
            return bool(abs(angle[0, motor] - wanted_rad) <= rig.angle_tolerance_rad)

        assert bench.comes(rig.settle_s, there), bench.tell()
