"""What came of a trial."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from trials.trial import Struck, Touch, Trial


@dataclass(slots=True, kw_only=True)
class Verdict:
    """What came of a trial.

    Attributes:
        trial: the trial.
        shown: the fault could be observed within the recording.
        breaches: broken rules, each as ``rule: figures``.
        unavoidable: hard stops that a joint hits too fast even under the strongest brake.
        react_s: from observable to the finger's state FAULT; ``None``: never.
        name_s: from observable to the right cause with the right part; ``None``: never.
        cause: cause that was named last, ``NONE`` if there was none.
        part: name of the part that it blames.
        right: the cause and the part are right and in time; ``None``: the fault never showed.
        must_react: the finger had to be made safe.
        tension_n: greatest true tension after the fault.
        stop_rad_s: fastest hit of a hard stop because of the fault.
    """

    trial: Trial
    shown: bool = True
    breaches: list[str] = field(default_factory=list)
    unavoidable: list[str] = field(default_factory=list)
    react_s: float | None = None
    name_s: float | None = None
    cause: str = "NONE"
    part: str = ""
    right: bool | None = None
    must_react: bool = True
    tension_n: float = 0.0
    stop_rad_s: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        t = self.trial
        out: dict[str, Any] = {k: getattr(self, k) for k in self.__slots__ if k != "trial"}
        out = {"seed": t.seed, "kind": t.kind, "motion": t.motion, "mismatch": t.mismatch} | out
        out |= {"moment": t.moment, "size": t.size, "part_index": t.part}
        if t.second is not None:
            out["second"] = asdict(t.second)
        if t.touch is not None:
            out["touch"] = asdict(t.touch)
        return out | ({"storm": t.storm} if t.storm else {})

    @classmethod
    def of_dict(cls, found: dict[str, Any]) -> Verdict:
        """The verdict that ``as_dict`` wrote.

        Raises:
            KeyError: something is missing.
            TypeError: something is no such thing.
        """
        left = dict(found)
        second, touch = left.pop("second", None), left.pop("touch", None)
        trial = Trial(
            part=left.pop("part_index"),
            second=None if second is None else Struck(**second),
            touch=None if touch is None else Touch(**touch | {"direction": tuple(touch["direction"])}),
            storm=left.pop("storm", ""),
            **{k: left.pop(k) for k in ("seed", "kind", "motion", "mismatch", "moment", "size")},
        )
        return cls(trial=trial, **left)
