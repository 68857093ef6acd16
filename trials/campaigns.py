"""The four campaigns: one fault, two of them, touches, storms of goals; a seed is one trial in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hand.hand import Hand
from trials import rules
from trials.draw import draw, sized
from trials.rules import KINDS
from trials.storm import FAULT_STORMS, STORMS
from trials.touch import SHAPES, drawn_touch
from trials.trial import CLIENT, EVERY, Struck, Trial

SINGLE: Final = "single"
STORM: Final = "storm"
"""Kinds of trials without a fault in which a client storms begin with it."""
RELATIONS: Final = ("same finger", "other finger", "hand")
CLIENT_SHARE: Final = 1.0 / 3.0
"""Share of the double trials in which a client storms in the place of a motion."""
ALONE_SHARE: Final = 0.5
"""Share of those with one fault only."""
TOUCH_FAULT_SHARE: Final = 0.5
"""Share of the touches during which a fault strikes."""


@dataclass(frozen=True, slots=True)
class Draws:
    """Draws the trials of a campaign.

    Args:
        hand: the hand, read.
        motions: motions to choose from.
        hands: as ``draw``.
    """

    hand: Hand
    motions: tuple[str, ...]
    hands: int = 1

    def single(self, seed: int) -> Trial | None:
        """One fault in one motion."""
        return draw(seed, self.hand.names, self.motions, self.hands)

    def double(self, seed: int) -> Trial | None:
        """A second fault after the one of this seed, or a client's storm around it, or both."""
        trial, rng = self.single(seed), np.random.default_rng((seed, 2))
        if trial is None:
            return None
        stormy, alone = rng.random() < CLIENT_SHARE, rng.random() < ALONE_SHARE
        storm = str(rng.choice(FAULT_STORMS))
        second = self._second(trial, RELATIONS[int(rng.integers(len(RELATIONS)))], rng)
        if stormy:
            trial = replace(trial, motion=CLIENT, storm=storm)
        if stormy and alone:
            return trial
        return None if second is None else replace(trial, second=second)

    def storms(self, seed: int) -> Trial:
        """A storm without any fault."""
        rng = np.random.default_rng((seed, 4))
        storm = str(rng.choice(list(STORMS)))
        return Trial(
            seed=seed,
            kind=f"{STORM}-{storm}",
            motion=CLIENT,
            mismatch=int(rng.integers(2**31)) % self.hands,
            part=0,
            moment=float(rng.random()),
            size=0.0,
            storm=storm,
        )

    def touch(self, seed: int) -> Trial | None:
        """A touch, with the fault of this seed in it or without any."""
        trial, rng = self.single(seed), np.random.default_rng((seed, 5))
        touch = drawn_touch(rng, len(self.hand.names.fingers))
        if rng.random() < TOUCH_FAULT_SHARE:
            return None if trial is None else replace(trial, touch=touch)
        return Trial(
            seed=seed,
            kind=touch.shape,
            motion=str(rng.choice(self.motions)),
            mismatch=int(rng.integers(2**31)) % self.hands,
            part=touch.finger,
            moment=float(rng.random()),
            size=touch.force_n or touch.stiffness_n_m,
            touch=replace(touch, before_s=0.0),
        )

    def _second(self, trial: Trial, relation: str, rng: np.random.Generator) -> Struck | None:
        """A fault in a relation to the first one; ``None``: the hand has no part for it."""
        m, first = self.hand.model[0], KINDS[trial.kind]
        finger = None if first.space == "axis" else self._finger(first.space, trial.part)
        at_s, place, share, sign = (float(x) for x in rng.random(4))
        at_s *= rules.SECOND_S
        if relation == "hand" or finger is None:
            kinds = [*rules.ALL_AT_ONCE, *(k for k, rule in KINDS.items() if rule.whole_hand)]
            kind = str(rng.choice(kinds))
            parts = list(range(int(m["n_axes"]))) if KINDS[kind].whole_hand else [EVERY]
        else:
            kind = str(rng.choice([k for k, rule in KINDS.items() if rule.space != "axis"]))
            own = relation == "same finger"
            space = KINDS[kind].space
            parts = [
                p
                for p in range(len(self.hand.names.of(space)))
                if (self._finger(space, p) == finger) == own and (kind, p) != (trial.kind, trial.part)
            ]
        if not parts:
            return None
        return Struck(
            kind=kind, part=parts[int(place * len(parts))], size=sized(kind, share, sign), at_s=at_s
        )

    def _finger(self, space: str, part: int) -> int:
        m = self.hand.model[0]
        t = part
        if space == "motor":
            t = int(np.flatnonzero(m["tendon_motor"][: m["n_tendons"]] == part)[0])
        return int(m["tendon_finger"][t])


def draws_of(
    campaign: str, hand: Hand, motions: tuple[str, ...], hands: int = 1
) -> Callable[[int], Trial | None]:
    """Draw of a campaign by its name."""
    found: Callable[[int], Trial | None] = getattr(Draws(hand, motions, hands), campaign)
    return found


CAMPAIGNS: Final = (SINGLE, "double", "storms", "touch")
"""Names of the campaigns."""
STORM_KINDS: Final = tuple(f"{STORM}-{name}" for name in STORMS)


def kinds_of(campaign: str) -> tuple[str, ...]:
    """Kinds of a campaign's trials."""
    return {"storms": STORM_KINDS, "touch": (*SHAPES, *KINDS)}.get(campaign, tuple(KINDS))
