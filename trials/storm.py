"""Storms: what a client sends that nobody should, but everybody may - all of it legal, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hand.hand import Hand
from signals.modes import Mode
from telemetry.command.bounds import Bounds, goal_bounds
from telemetry.command.requests import GOAL_FIELDS

STORM_S: Final = (0.3, 1.0)
"""How long a storm lasts."""
CALM_S: Final = 0.2
"""Time that is watched after it: what it has wound up comes down."""
RATES_HZ: Final = (10.0, 1000.0)
"""How often a storm sends."""
INSIDE: Final = 1e-6
"""Share of its range by which a value stays inside: the ends themselves are rounded by nobody."""
ARGUMENTS: Final = {
    "motor_position": ("motors", "motor_speeds"),
    "motor_torque": ("motor_torques",),
    "tendon_force": ("tensions", "tension_rates"),
    "joint_torque": ("joint_torques", "pretension"),
    "joint_impedance": (
        "joints",
        "joint_speeds",
        "joint_torques",
        "impedances",
        "dampings",
        "stiffnesses",
        "pretension",
    ),
}
"""Arguments of ``goal`` that a mode listens to; ``axes`` counts in all of them."""
SLOW_S: Final = (0.05, 0.4)
"""Silences of a client that stalls."""
_REQUESTS: Final = ("arm", "activate", "activate", "stop", "off", "rearm")
Asked = tuple[float, str, dict[str, Any]]
"""Time since the storm's begin [s], operation, arguments."""


@dataclass
class Weather:
    """What storms are drawn from.

    Args:
        hand: the hand.
        rng: the trial's own.
        seconds: length of the storm.
    """

    hand: Hand
    rng: np.random.Generator
    seconds: float

    def __post_init__(self) -> None:
        self._bounds: Bounds = goal_bounds(self.hand.model)

    def rate_hz(self) -> float:
        """How often it sends, log-uniform."""
        low, high = np.log(RATES_HZ)
        return float(np.exp(self.rng.uniform(low, high)))

    def times(self) -> list[float]:
        """When it sends."""
        return list(np.arange(0.0, self.seconds, 1.0 / self.rate_hz()))

    def mode(self) -> str:
        """A mode that commands something."""
        return str(self.rng.choice(list(ARGUMENTS)))

    def some(self, argument: str) -> list[str]:
        """Names that a goal is for: all, or a few."""
        names = self.hand.names.of(GOAL_FIELDS[argument][1])
        if not names or self.rng.random() < 0.5:
            return list(names)
        return [str(n) for n in self.rng.choice(names, size=1 + int(self.rng.integers(len(names) // 2 + 1)))]

    def values(self, argument: str, names: list[str], share: Callable[[], float]) -> dict[str, float]:
        """Value of each name at a share 0..1 of its legal range; motor angles as far from where they are."""
        space = GOAL_FIELDS[argument][1]
        found = {}
        for name in names:
            low, high = self._bounds.of(argument, self.hand.names.index(space, name))
            found[name] = float(low + (high - low) * min(max(share(), INSIDE), 1.0 - INSIDE))
        return found

    def end(self) -> float:
        """One of both ends."""
        return float(self.rng.integers(2))

    def arguments(self, mode: str) -> list[str]:
        """Arguments that a goal names: one to three that the mode listens to."""
        legal = [*ARGUMENTS[mode], *(["axes"] if self.hand.names.axes else [])]
        count = 1 + int(self.rng.integers(min(3, len(legal))))
        return [str(a) for a in self.rng.choice(legal, size=count, replace=False)]

    def goal(self, mode: str, share: Callable[[], float]) -> dict[str, dict[str, float]]:
        """A goal of a mode, each value at a share of its own."""
        return {a: self.values(a, self.some(a), share) for a in self.arguments(mode)}


def _in(mode: str) -> Asked:
    return (0.0, "mode", {"fingers": {"*": mode}})


def _ends(w: Weather) -> list[Asked]:
    """Values at the ends of their ranges, held."""
    mode = w.mode()
    goal = w.goal(mode, w.end)
    return [_in(mode), *((t, "goal", goal) for t in np.arange(0.0, w.seconds, 0.01))]


def _alternating(w: Weather) -> list[Asked]:
    """One end, the other end, and back."""
    mode = w.mode()
    arguments = [(a, w.some(a)) for a in w.arguments(mode)]
    sides = [{a: w.values(a, names, lambda end=end: end) for a, names in arguments} for end in (0.0, 1.0)]  # type: ignore[misc]
    return [_in(mode), *((t, "goal", sides[k % 2]) for k, t in enumerate(w.times()))]


def _anything(w: Weather) -> list[Asked]:
    """Values drawn anew every time."""
    mode = w.mode()
    return [_in(mode), *((t, "goal", w.goal(mode, w.rng.random)) for t in w.times())]


def _steps(w: Weather) -> list[Asked]:
    """Poses drawn anew now and then, without a path between them."""
    found, pose = [_in("joint_impedance")], {}
    names = list(w.hand.names.joints)
    for k, t in enumerate(np.arange(0.0, w.seconds, 0.01)):
        if k % 20 == 0:
            ends = w.rng.random() < 0.5
            pose = {"joints": w.values("joints", names, w.end if ends else w.rng.random)}
            if w.hand.names.axes:
                pose["axes"] = w.values("axes", w.some("axes"), w.end)
        found.append((float(t), "goal", pose))
    return found


def _gains(w: Weather) -> list[Asked]:
    """Steps of the pose under gains and stiffness at the ends of their ranges."""
    found = []
    gains = {
        a: w.values(a, w.some(a), w.end) for a in ("impedances", "dampings", "stiffnesses", "pretension")
    }
    kept = [a for a in gains if w.rng.random() < 0.6]
    for t, op, args in _steps(w):
        found.append((t, op, args | {a: gains[a] for a in kept} if op == "goal" else args))
    return found


def _modes(w: Weather) -> list[Asked]:
    """Another mode every time, of all fingers or one, with a goal at its ends."""
    found: list[Asked] = []
    for t in w.times():
        mode = w.mode() if w.rng.random() < 0.9 else Mode.OFF.name.lower()
        finger = "*" if w.rng.random() < 0.5 else str(w.rng.choice(w.hand.names.fingers))
        found.append((t, "mode", {"fingers": {finger: mode}}))
        if mode in ARGUMENTS:
            found.append((t, "goal", w.goal(mode, w.end)))
    return found


def _requests(w: Weather) -> list[Asked]:
    """Arm, activate, stop, off and re-arm in any order, and a goal between two of them."""
    found: list[Asked] = []
    mode = w.mode()
    for t in np.arange(0.0, w.seconds, 1.0 / min(w.rate_hz(), 200.0)):
        found.append((float(t), str(w.rng.choice(_REQUESTS)), {}))
        if w.rng.random() < 0.7:
            found.append((float(t), "goal", w.goal(mode, w.end)))
        if w.rng.random() < 0.1:
            mode = w.mode()
            found.append((float(t), "mode", {"fingers": {"*": mode}}))
    return found


def _stale(w: Weather) -> list[Asked]:
    """A client that stalls, sends what is too late, dies and is replaced, and goes on as if nothing was."""
    mode, t = w.mode(), 0.0
    found = [_in("joint_impedance")]
    while t < w.seconds:
        for _ in range(int(w.rng.integers(1, 12))):
            found.append((t, "goal", w.goal(mode, w.end)))
            t += 0.01
        what = w.rng.random()
        if what < 0.2:
            found.append((t, "late", w.goal(mode, w.end)))
        elif what < 0.4:
            found.append((t, "replace", {}))
        elif what < 0.6:
            mode = w.mode()
            found.append((t, "mode", {"fingers": {"*": mode}}))
        t += float(w.rng.uniform(*SLOW_S))
        found.append((t, "activate", {}))
    return [asked for asked in found if asked[0] < w.seconds]


STORMS: Final[dict[str, Callable[[Weather], list[Asked]]]] = {
    "ends": _ends,
    "alternating": _alternating,
    "anything": _anything,
    "steps": _steps,
    "gains": _gains,
    "modes": _modes,
    "requests": _requests,
    "stale": _stale,
}
"""Storms by name."""
FAULT_STORMS: Final = tuple(name for name in STORMS if name != "requests")
"""Those in which a fault may strike: nobody switches off or re-arms, so names stay to be judged."""


def storm_of(name: str, seed: int, hand: Hand) -> tuple[float, float, list[Asked]]:
    """Length [s] of a storm, when a fault strikes in it [s], and its requests by rising time."""
    rng = np.random.default_rng((seed, 3))
    weather = Weather(hand, rng, float(rng.uniform(*STORM_S)))
    strike_s = float(rng.uniform(0.0, weather.seconds))
    return weather.seconds, strike_s, sorted(STORMS[name](weather), key=lambda asked: asked[0])
