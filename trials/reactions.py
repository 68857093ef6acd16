"""Reactions of a trial's fingers: when they stopped, and what their motors did from then on."""

from __future__ import annotations

from typing import Final

import numpy as np

from signals.layout import FloatArray
from signals.modes import MachineState
from trials import rules
from trials.record import Recording
from trials.rules import KINDS, KindRule
from trials.stops import Stops
from trials.trial import Struck
from trials.verdict import Verdict

FAULT: Final = int(MachineState.FAULT)
Shown = tuple[Struck, KindRule, float | None]
"""A fault, its rule, and when it can be observed [s after the first one]; ``None``: never."""


class Reactions(Stops):
    """Judges the reactions in trials of one hand."""

    def groups(self, found: list[Shown]) -> dict[int | None, list[Shown]]:
        """The faults of each finger; ``None``: those of the hand."""
        groups: dict[int | None, list[Shown]] = {}
        for fault, rule, shows_s in found:
            groups.setdefault(self.finger_of(fault), []).append((fault, rule, shows_s))
        return groups

    def judge_reactions(
        self, found: list[Shown], recording: Recording, verdict: Verdict, fallen: set[int]
    ) -> None:
        """Every finger of a fault, and where one is the hand's all others; ``fallen`` ones stood anyway."""
        groups = self.groups(found)
        judged = set(fallen)
        for own, group in sorted(groups.items(), key=lambda item: item[0] is None):
            shown = [(fault, rule, s) for fault, rule, s in group if s is not None]
            if shown and own not in fallen:
                judged |= self._reaction(own, shown, recording, verdict, judged)

    def _reaction(
        self,
        own: int | None,
        shown: list[tuple[Struck, KindRule, float]],
        recording: Recording,
        verdict: Verdict,
        judged: set[int],
    ) -> set[int]:
        """One finger, or the hand; returns the fingers whose torques were judged."""
        states = recording.of("state", "finger_state")
        stopped = states[:, own] == FAULT if own is not None else (states == FAULT).all(axis=1)
        musts = [shows_s for _, rule, shows_s in shown if rule.must_react]
        if not stopped.any():
            if musts:
                verdict.breaches.append("reaction: none")
            return set()
        begun_s = float(recording.time_s[int(stopped.argmax())])
        react_s = max(begun_s - min(musts, default=shown[0][2]), 0.0)
        if musts or not verdict.must_react:  # beside one that must, one that may go on does not count
            verdict.react_s = max(react_s, verdict.react_s or 0.0)
        if react_s > rules.REACT_S and musts:
            verdict.breaches.append(f"reaction: after {1e3 * react_s:.1f} ms")
        deadline_s = min(musts, default=begun_s) + rules.REACT_S
        probed = frozenset(self.tendon_of(f) for f, _, _ in shown if KINDS[f.kind].space == "tendon")
        fingers = set(range(states.shape[1])) - judged if own is None else {own}
        for f in sorted(fingers):
            self._torques(probed, f, recording, verdict, deadline_s, begun_s)
        return fingers

    def _torques(
        self,
        probed: frozenset[int],
        f: int,
        recording: Recording,
        verdict: Verdict,
        deadline_s: float,
        begun_s: float,
    ) -> None:
        m = self.model[0]
        torque = recording.of("truth", "motor_torque_nm")
        angle = recording.of("truth", "motor_angle_rad")
        first, begun = recording.after(deadline_s), recording.after(begun_s)
        late = recording.time_s[first:]
        for t in m["finger_tendon"][f, : m["finger_n_tendons"][f]]:
            i = int(m["tendon_motor"][t])
            name = self.names.motors[i]
            before = max(float(torque[recording.after(-0.010) : first, i].max(initial=0.0)), 0.0)
            share = np.clip(1.0 - (late - deadline_s) / rules.RAMP_S, 0.0, 1.0)
            above = torque[first:, i] > before * share + rules.TORQUE_MARGIN_NM
            if above.any() and int(t) in probed:
                self._probe(name, recording, torque[:, i], angle[:, i], int(t), begun, verdict)
            elif above.any():
                k = first + int(above.argmax())
                verdict.breaches.append(
                    f"torque: {name} pulls with {torque[k, i]:.2f} N m at {1e3 * recording.time_s[k]:.0f} ms"
                )
            after = -min(float(torque[recording.after(-0.010) : first, i].min(initial=0.0)), 0.0) * share
            self._unwinding(name, late, torque[first:, i], after, begun_s, verdict)

    def _probe(
        self,
        name: str,
        recording: Recording,
        torque: FloatArray,
        angle: FloatArray,
        t: int,
        begun: int,
        verdict: Verdict,
    ) -> None:
        """The one motor that may pull, the faulted tendon's, within the bounds of a probe."""
        # the command of the reaction acts a cycle later, and comes down by the torque rate
        later = recording.after(float(recording.time_s[begun - 1]) + rules.REACT_S)
        wound = float(self.model["spool_radius_m"][0, t]) * (angle[begun:].max() - angle[begun])
        strongest = float(torque[later:].max())
        if strongest > rules.PROBE_NM + rules.TORQUE_MARGIN_NM:
            verdict.breaches.append(f"probe: {name} pulls with {strongest:.2f} N m")
        if wound > rules.PROBE_M:
            verdict.breaches.append(f"probe: {name} winds {1e3 * wound:.2f} mm")
        over = recording.after(float(recording.time_s[begun - 1]) + rules.PROBE_S)
        if (torque[over:] > rules.TORQUE_MARGIN_NM).any():
            verdict.breaches.append(f"probe: {name} pulls after {rules.PROBE_S} s")

    def _unwinding(
        self,
        name: str,
        time_s: FloatArray,
        torque: FloatArray,
        ramp: FloatArray,
        begun_s: float,
        verdict: Verdict,
    ) -> None:
        """Unwinding stays below the torque that friction needs, or on the ramp from what there was before."""
        allowed = np.maximum(ramp, rules.UNWIND_NM) + rules.TORQUE_MARGIN_NM
        if (torque < -allowed).any():
            hardest = float(torque[torque < -allowed].min())
            verdict.breaches.append(f"torque: {name} unwinds with {-hardest:.2f} N m")
        over = torque[time_s > begun_s + rules.UNWIND_S]
        if (over < -rules.TORQUE_MARGIN_NM).any():
            verdict.breaches.append(f"torque: {name} unwinds after {rules.UNWIND_S} s")
