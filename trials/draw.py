"""Drawing of trials: kind, motion, moment, part and size, all from the trial's own seed.

Seeds are counted from ``base * 1e6``; those whose draw was not asked for are passed over. So a seed means
the same trial whatever kinds are asked for, as long as the hand and the set of motions are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

import numpy as np

from signals.choices import WrongChoice
from signals.names import HandNames, UnknownName
from trials.rules import KINDS
from trials.trial import Trial as Trial

SEEDS_PER_BASE: Final = 1_000_000


def check_kinds(kinds: tuple[str, ...], legal: tuple[str, ...] = tuple(KINDS)) -> tuple[str, ...]:
    """The kinds asked for; none means all.

    Raises:
        UnknownName: with the legal kinds and the nearest.
    """
    for kind in kinds:
        if kind not in legal:
            raise UnknownName("kind of trial", kind, legal)
    return kinds or legal


def draw(seed: int, names: HandNames, motions: tuple[str, ...], hands: int = 1) -> Trial | None:
    """The trial of a seed; ``None`` if it is of a kind that the hand has no part for.

    Args:
        seed: seed of the trial.
        names: names of the hand.
        motions: motions to choose from.
        hands: 1: the hand as its file says; n: also hands drawn with the seeds 1 to n - 1.
    """
    rng = np.random.default_rng(seed)
    kind = tuple(KINDS)[rng.integers(len(KINDS))]
    rule = KINDS[kind]
    motion = motions[rng.integers(len(motions))]
    mismatch = int(rng.integers(2**31)) % hands
    place, moment, share, sign = rng.random(4)
    parts = len(names.of(rule.space))
    if parts == 0:
        return None
    return Trial(
        seed=seed,
        kind=kind,
        motion=motion,
        mismatch=mismatch,
        part=int(place * parts),
        moment=float(moment),
        size=sized(kind, share, sign),
    )


def sized(kind: str, share: float, sign: float) -> float:
    """Size of a fault at a share 0..1 of its range; the sign below one half is negative where it has one."""
    rule = KINDS[kind]
    low, high = rule.sizes or (0.0, 0.0)
    size = low + share * (high - low)
    return float(-size if rule.signed and sign < 0.5 else size)


def trials(
    base: int,
    names: HandNames,
    motions: tuple[str, ...],
    *,
    kinds: tuple[str, ...] = (),
    hands: int = 1,
    draws: Callable[[int], Trial | None] | None = None,
) -> Iterator[Trial]:
    """Trials of the kinds asked for, by rising seed, without end; ``draws`` in the place of ``draw``."""
    wanted = kinds or tuple(KINDS)
    if not motions:
        raise WrongChoice("no motion to draw from")
    if not any(k not in KINDS or names.of(KINDS[k].space) for k in wanted):
        raise WrongChoice(f"{names.hand} has no part for {', '.join(wanted)}")
    seed = base * SEEDS_PER_BASE
    while True:
        trial = draw(seed, names, motions, hands) if draws is None else draws(seed)
        if trial is not None and (not kinds or trial.kind in wanted):
            yield trial
        seed += 1


def first_trials(
    count: int, base: int, names: HandNames, motions: tuple[str, ...], **chosen: object
) -> list[Trial]:
    """The first ``count`` of ``trials``."""
    return list(islice(trials(base, names, motions, **chosen), count))  # type: ignore[arg-type]
