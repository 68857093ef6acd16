r"""State of every lever's friction loop, from its Hall sensor: what the sensor's force leaves out.

.. math:: \vartheta_s \leftarrow \vartheta_s + a\,(\vartheta - \vartheta_s), \qquad
          h \leftarrow \mathrm{play}(h, \vartheta_s, 2 b), \qquad s \leftarrow \mathrm{dahl}(s, dh + dh_m)

The lever's friction leaves its angle true, but hides a share epsilon s of the force and with it a part of the
tendon's stretch (``mechanics.hysteresis``). The state s turns over a travel that is not far above the
sensor's noise. So the angle is slowed to ``SLOW_HZ`` and followed through a play of ``BAND`` standard
deviations of the noise that is left: a lever at rest turns nothing, and what is late is late by that play.
The magnet's own play h_m, which hides the first part of a way back, is put back.
"""

from __future__ import annotations

import math
from typing import Final

from estimators.memory import EstimatorMemory
from mechanics.low_pass import filter_share
from signals.compiled import law
from signals.typed import Model, State

SLOW_HZ: Final = 100.0
BAND: Final = 4.0
"""Half width of the play, in standard deviations of the slowed angle's noise."""
ROUNDING_COUNT2: Final = 1.0 / 12.0


@law
def begin_loops(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Widths of every lever's plays into ``mem``; loops begin where they say nothing."""
    gain = min(max(m.lever_gain, 0.0), 1.0) if m.use_lever != 0 else 0.0
    mem.loop_share = share = filter_share(SLOW_HZ, m.dt_s)
    left = math.sqrt(share / (2.0 - share))
    for t in range(m.n_tendons):
        seen, presliding = m.hall_weight[t] > 0.0, m.lever_presliding_rad[t]
        noise = math.sqrt(m.hall_noise_count[t] * m.hall_noise_count[t] + ROUNDING_COUNT2)
        mem.loop_frac[t] = gain * m.lever_friction_frac[t] if seen else 0.0
        mem.loop_band_rad[t] = BAND * left * noise / abs(m.hall_counts_rad[t])
        mem.loop_half_rad[t] = 0.5 * m.hall_hysteresis_rad[t]
        mem.loop_1_rad[t] = 1.0 / max(presliding, 1e-9)
        mem.loop_slow_rad[t] = mem.loop_held_rad[t] = s.lever_angle_rad[t]
        mem.loop_hidden_rad[t] = mem.loop_sign[t] = 0.0
    mem.loops = 1 if gain > 0.0 else 0


@law
def follow_loops(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Loops one cycle on, from the lever angles in ``s``: a loop without a branch, vector code."""
    lever, slow, held, hidden, loop = (
        s.lever_angle_rad,
        mem.loop_slow_rad,
        mem.loop_held_rad,
        mem.loop_hidden_rad,
        mem.loop_sign,
    )
    band, half, per_rad, share = mem.loop_band_rad, mem.loop_half_rad, mem.loop_1_rad, mem.loop_share
    for t in range(m.n_tendons):
        x = slow[t] + share * (lever[t] - slow[t])
        slow[t] = x
        before, hid = held[t], hidden[t]
        now = min(max(before, x - band[t]), x + band[t])
        way = now - before
        held[t] = now
        after = min(max(hid + way, -half[t]), half[t])
        way += after - hid
        hidden[t] = after
        turned = abs(way) * per_rad[t]
        part = min(turned / (1.0 + 0.5 * turned), 1.0)
        side = 1.0 if way < 0.0 else -1.0
        loop[t] += (side - loop[t]) * part
