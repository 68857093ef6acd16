"""Single detectors at their limits: what they see is written by hand."""

from __future__ import annotations

import math

from hand.assembly.figures import FIGURES
from signals.faults import Cause
from tests.rigs.bare import COUNT, Bare

LEVER_MAX, LEVER_MIN = math.radians(15.0), math.radians(-24.0)


class Still:
    """A motor whose encoder shows the same angle for ever, under a torque and a wanted speed."""

    def __init__(self, excess_nm: float, wanted_rad_s: float) -> None:
        self.bench = Bare()
        self.bench.s["motor_torque_nm"][3] = 0.2 + excess_nm
        self.bench.s["ref_motor_speed_rad_s"][3] = wanted_rad_s
        self.spent = 0

    def run(self, seconds: float, tension_n: float = 20.0, residual_m: float = 0.0) -> bool:
        for _ in range(round(seconds / self.bench.dt_s)):
            self.bench.s["tension_n"][3], self.bench.s["residual_m"][3] = tension_n, residual_m
            self.bench.detect()
            self.spent += 1
            if self.bench.found:
                return True
        return False


def still_limit_m(tension_n: float) -> float:
    """Length that a standing encoder's tendon may seem to lack by its lever's friction alone [m]."""
    return FIGURES["still_residual_m"].reference + FIGURES["still_residual_m_n"].reference * tension_n


class Slack:
    """A tendon whose lever can be put at its slack stop; ``fall`` says how it got there."""

    MARGIN = math.radians(0.5)

    def __init__(self, wanted_n: float = 20.0, taut_s: float = 0.1) -> None:
        self.bench = Bare()
        self.bench.s["ref_tension_n"][2] = wanted_n
        self.put(LEVER_MAX - 0.05)
        assert self.bench.until(None, round(taut_s / self.bench.dt_s)) > 0

    def put(self, lever_rad: float) -> None:
        self.bench.s["lever_angle_rad"][2] = lever_rad

    def lasts(self, most_s: float = 1.0) -> float:
        """Seconds at the stop until the tension is called lost; infinite if it never is."""
        self.put(LEVER_MAX - 0.5 * self.MARGIN)
        most = round(most_s / self.bench.dt_s)
        used = self.bench.until(None, most)
        if used > most:
            return math.inf
        assert self.bench.found is not None
        cause, part, value, limit = self.bench.found
        assert (cause, part) == (Cause.TENSION_LOST, 2)
        wanted = float(self.bench.s["ref_tension_n"][2])
        assert (value, limit) == (20.0, wanted if wanted > 0.0 else 5.0)
        return used * self.bench.dt_s

    def glide(self, step_rad: float) -> None:
        """To just before the stop, at a speed."""
        lever = LEVER_MAX - 0.05
        while lever < LEVER_MAX - 1.01 * self.MARGIN:
            self.put(lever)
            self.bench.detect()
            lever += step_rad
        assert self.bench.found is None


class Turning:
    """A motor that turns to and fro at a speed; its torque shows a friction as a factor of its law's."""

    def __init__(self, speed: float = 1.0) -> None:
        self.bench, self.speed = Bare(), speed
        self.bench.slower(8)
        self.law_nm = 0.5586 * math.atan(10.0 * speed) + 0.0356 * speed

    def run(self, seconds: float, factor: float) -> float:
        """Seconds until it is named; infinite if it is not."""
        bench, rounds = self.bench, round(seconds / self.bench.dt_s)

        def turn() -> None:
            sign = 1.0 if (bench.tick // 75) % 2 else -1.0
            bench.s["motor_speed_rad_s"][4] = sign * self.speed
            bench.s["motor_angle_rad"][4] += sign * self.speed * bench.dt_s
            bench.s["ref_motor_speed_rad_s"][4] = sign * self.speed
            bench.z["hall_count"][4] = COUNT + bench.tick % 2
            bench.mem["last_torque_nm"][4] = 0.2 + sign * factor * self.law_nm

        used = bench.until(turn, rounds)
        return used * bench.dt_s if used <= rounds else math.inf
