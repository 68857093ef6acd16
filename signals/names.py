"""The only door between names and indices: files and logs use names, loops use indices.

Conventions: joint angle 0 is the straight finger, positive is flexion, abduction positive as Rz of
Table 5.1 (ulnar) for every finger; joints run proximal to distal; motor angle positive winds the tendon in.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass


class UnknownName(ValueError):
    """A name that the hand does not have; says the legal ones and the nearest."""

    def __init__(self, kind: str, name: str, legal: tuple[str, ...]) -> None:
        self.kind, self.name, self.legal = kind, name, legal
        near = difflib.get_close_matches(name, legal, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        shown = ", ".join(legal[:12]) + (", ..." if len(legal) > 12 else "")
        super().__init__(f"no {kind} {name!r}{hint} (legal: {shown or 'none'})")


@dataclass(frozen=True, slots=True, kw_only=True)
class HandNames:
    """Names of one hand; the index of a name is its place in the records."""

    hand: str
    motors: tuple[str, ...]
    tendons: tuple[str, ...]
    joints: tuple[str, ...]
    fingers: tuple[str, ...]
    axes: tuple[str, ...] = ()

    def of(self, space: str) -> tuple[str, ...]:
        """Names of an index space: motor, tendon, joint, finger or axis."""
        return {
            "motor": self.motors,
            "tendon": self.tendons,
            "joint": self.joints,
            "finger": self.fingers,
            "axis": self.axes,
        }[space]

    def index(self, space: str, name: str) -> int:
        """Index of a name.

        Raises:
            UnknownName: with the legal names and the nearest.
        """
        names = self.of(space)
        try:
            return names.index(name)
        except ValueError:
            raise UnknownName(space, name, names) from None
