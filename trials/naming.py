"""Names: whether the cause and the part that a hand blames are right, and in time."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from signals.faults import CAUSES, Cause, part_name
from signals.names import Space
from trials.reactions import FAULT, Reactions, Shown
from trials.record import Recording
from trials.rules import KindRule
from trials.trial import EVERY, Struck, Trial
from trials.verdict import Verdict

OPPOSITE: Final = -0.9
"""Cosine between two rows of P below which they are an antagonist pair."""


class Naming(Reactions):
    """Judges the names in trials of one hand."""

    def right_parts(self, trial: Trial | Struck, rule: KindRule, cause: Cause) -> set[int]:
        """Parts that a right cause may blame."""
        space = CAUSES[cause].space
        if space == Space.AXIS or trial.part == EVERY:
            return set(range(len(self.names.of(space))))
        t = self.tendon_of(trial)
        parts = {int(self.model["tendon_motor"][0, t]) if space == Space.MOTOR else t}
        if rule.pair and cause is Cause.RESIDUAL_TOO_LARGE:
            parts |= self.partners(t)
        return parts

    def partners(self, t: int) -> set[int]:
        """Antagonists of a tendon: tendons of its finger with an opposite row of P."""
        m = self.model[0]
        f, rows = int(m["tendon_finger"][t]), self.coupling()
        found = set()
        for other in m["finger_tendon"][f, : m["finger_n_tendons"][f]]:
            size = float(np.linalg.norm(rows[t]) * np.linalg.norm(rows[other]))
            if size > 0.0 and float(rows[t] @ rows[other]) < OPPOSITE * size:
                found.add(int(other))
        return found

    def judge_names(
        self, found: list[Shown], recording: Recording, verdict: Verdict, fallen: set[int]
    ) -> None:
        """The name of each finger's faults, and of the hand's; ``fallen`` fingers stood in fault anyway."""
        groups, said = self.groups(found), list[bool | None]()
        lost = self._lost_bus(groups.get(None, []), recording, verdict)
        everywhere = [shown for shown in found if shown[0].part == EVERY]
        for own, group in groups.items():
            blamed: list[int | None] = [own]
            if own is None and lost:
                said.append(True)
                continue
            if own is None and everywhere:
                hands = [shown for shown in group if shown[0].part != EVERY]
                if hands and self._named(None, hands, recording, verdict, fallen, first=not said):
                    said.append(True)  # the hand stands in fault, with a right name
                    continue
                blamed = [f for f in range(len(self.names.fingers)) if f not in groups]
            for f in blamed:
                if f not in fallen:
                    of_all = everywhere if own is not None else []
                    right = self._named(f, group + of_all, recording, verdict, fallen, first=not said)
                    said.append(right)
        verdict.right = None if set(said) <= {None} else all(right is not False for right in said)

    @staticmethod
    def _lost_bus(group: list[Shown], recording: Recording, verdict: Verdict) -> bool:
        """All motors are lost, and the hand says in time that its bus is."""
        lost = recording.of("state", "hand_cause") == int(Cause.BUS_LOST)
        for fault, rule, shows_s in group:
            if fault.part == EVERY and fault.kind == "motor-lost" and shows_s is not None and lost.any():
                name_s = max(float(recording.time_s[int(lost.argmax())]) - shows_s, 0.0)
                verdict.name_s = max(verdict.name_s or 0.0, name_s)
                return name_s <= rule.name_s
        return False

    @staticmethod
    def _said(own: int | None, recording: Recording, fallen: set[int]) -> tuple[Any, Any]:
        """Causes and parts that a finger is given over time, or the hand."""
        codes, parts = (
            recording.of("state", "finger_cause").copy(),
            recording.of("state", "finger_cause_part"),
        )
        codes[:, list(fallen)] = 0
        if own is not None:
            return codes[:, own], parts[:, own]
        if not recording.of("state", "hand_cause").any() and codes.any():
            # a finger was blamed for what is the hand's
            f = int(np.argmax(codes[-1] != 0))
            return codes[:, f], parts[:, f]
        return recording.of("state", "hand_cause"), recording.of("state", "hand_cause_part")

    def _named(
        self,
        own: int | None,
        group: list[Shown],
        recording: Recording,
        verdict: Verdict,
        fallen: set[int],
        *,
        first: bool,
    ) -> bool | None:
        """Whether one of the group's faults was named right and in time; ``None``: none of them showed."""
        codes, parts = self._said(own, recording, fallen)
        last = Cause(int(codes[-1]))
        if first:
            verdict.cause, verdict.part = last.name, part_name(last, self.names, int(parts[-1]))
        shown = [(fault, rule, s) for fault, rule, s in group if s is not None]
        if last is not Cause.NONE:
            # one may be named, and its finger stopped, before it would have shown by itself
            shown += [(fault, rule, float(recording.time_s[-1])) for fault, rule, s in group if s is None]
            verdict.shown, verdict.react_s = (
                True,
                verdict.react_s if verdict.shown else verdict.react_s or 0.0,
            )
        elif own is not None:
            fell_s = self._fell_s(recording)
            shown = [(fault, rule, s) for fault, rule, s in shown if s + rule.name_s <= fell_s]
        if not shown:
            return None
        if last is Cause.NONE:
            return all(Cause.NONE in rule.causes for _, rule, _ in shown)
        in_time = []
        for fault, rule, shows_s in shown:
            name_s = self._name_s(fault, rule, codes, parts, recording, shows_s)
            if name_s is not None:
                in_time.append(name_s <= rule.name_s or Cause.NONE in rule.causes)
                verdict.name_s = max(verdict.name_s or 0.0, name_s)
        return any(in_time)

    @staticmethod
    def _fell_s(recording: Recording) -> float:
        """When the whole hand fell for a cause of its own: nobody looks for a finger's any more."""
        codes = recording.of("state", "hand_cause")
        down = (codes != 0) & (recording.of("state", "machine") == FAULT)
        return float(recording.time_s[int(down.argmax())]) if down.any() else np.inf

    def _name_s(
        self, fault: Struck, rule: KindRule, codes: Any, parts: Any, recording: Recording, shows_s: float
    ) -> float | None:
        """Time from observable to the right name, if that is the last one."""
        right = np.zeros(len(codes), dtype=bool)
        for cause in rule.causes - {Cause.NONE}:
            wanted = list(self.right_parts(fault, rule, cause))
            right |= (codes == cause) & np.isin(parts, wanted)
        if not right[-1]:
            return None
        return max(float(recording.time_s[int(right.argmax())]) - shows_s, 0.0)
