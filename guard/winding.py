"""Winding temperature: thermal model of every motor, corrected by the temperature that it reports.

The report is the case's and lags the winding; the model knows the current but not the surroundings. The
case of the model follows the report slowly, the winding is the model's, never below the report.
"""

from __future__ import annotations

from typing import Final

from guard.latch import latch_finger
from guard.memory import GuardMemory
from mechanics.motor import copper_loss_w
from mechanics.thermal import has_thermal_model, thermal_move, thermal_shares
from signals.compiled import inlined, law
from signals.faults import Cause
from signals.typed import Measurement, Model, State

MOTOR_TOO_HOT: Final = int(Cause.MOTOR_TOO_HOT)
OBSERVER_S: Final = 30.0
LEAST_DEGC: Final = -40.0
MOST_DEGC: Final = 250.0
"""A report beyond these, or exactly zero (a device without sensor), is not used."""


@law
def plausible(degc: float) -> bool:
    """True if a reported temperature may be used."""
    return LEAST_DEGC < degc < MOST_DEGC and degc != 0.0


@inlined
def warm_winding(
    m: Model,
    mem: GuardMemory,
    z: Measurement,
    s: State,
    i: int,
    modelled: bool,
    shares: tuple[float, float, float, float, float, float],
    follow: float,
) -> None:
    """Winding temperature [degC] of motor ``i`` one cycle on, by its thermal model and what it reports."""
    report = z.motor_temperature_degc[i]
    winding, case = mem.winding_degc[i], mem.case_degc[i]
    if modelled:
        current = mem.last_torque_nm[i] / m.motor_torque_constant_nm_a[i]
        winding, case = thermal_move(shares, winding, case, copper_loss_w(m, i, current))
    shown = winding
    if plausible(report):
        case += follow * (report - case)
        shown = max(winding, report)
    mem.winding_degc[i], mem.case_degc[i] = winding, case
    s.winding_temperature_degc[i] = shown


@law
def winding_temperatures(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """Winding temperatures [degC] one cycle on, from the torque sent last, into ``s``."""
    if mem.warm == 0:
        for i in range(m.n_motors):
            report = z.motor_temperature_degc[i]
            mem.winding_degc[i] = mem.case_degc[i] = report if plausible(report) else m.ambient_degc
        mem.warm = 1
    follow = m.dt_s / OBSERVER_S
    if m.n_drives > 1:
        for i in range(m.n_motors):
            modelled = has_thermal_model(m, i)
            warm_winding(m, mem, z, s, i, modelled, thermal_shares(m, i, m.dt_s), follow)
        return
    one_modelled, shares = has_thermal_model(m, 0), thermal_shares(m, 0, m.dt_s)
    for i in range(m.n_motors):
        warm_winding(m, mem, z, s, i, one_modelled, shares, follow)


@law
def check_windings(m: Model, s: State) -> None:
    """Latch windings that are too hot."""
    limit, degc, hot = m.winding_limit_degc[1], s.winding_temperature_degc, 0
    for i in range(m.n_motors):
        hot |= 1 if degc[i] > limit else 0
    if hot == 0:
        return
    for t in range(m.n_tendons):
        i = m.tendon_motor[t]
        if s.winding_temperature_degc[i] > limit > 0.0:
            latch_finger(s, m.tendon_finger[t], MOTOR_TOO_HOT, i, s.winding_temperature_degc[i], limit)


@law
def derating(m: Model, degc: float) -> float:
    """Share of the torque limit at a winding temperature: 1 below the first limit, 0 at the second."""
    first, second = m.winding_limit_degc[0], m.winding_limit_degc[1]
    if second <= first or degc <= first:
        return 1.0
    return float(max((second - degc) / (second - first), 0.0))
