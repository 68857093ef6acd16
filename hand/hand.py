"""A hand, read: its names, its model, its identity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from drivers.hal import Bus
from hand.assembly.assemble import hand_sha256, model_of, names_of, set_switches
from hand.file import HandFile, hand_names
from hand.mechanism_file import is_mechanism_hand, mechanism_hand_names
from hand.motion.load import Motion
from hand.options import OptionError, RunOptions
from hand.overrides import load_with
from hand.stages import Stages
from signals.names import HandNames
from signals.records import RecordArray


class Mechanism(Protocol):
    """A mechanism in the place of a tendon hand: what a run asks of it beside the usual records."""

    @property
    def file(self) -> Any:
        """Its file; ``mechanism`` names the mechanism's own."""

    @property
    def home(self) -> Any:
        """Coordinates where joint and axis angles are 0, shape (n,)."""

    @property
    def start(self) -> Any:
        """Coordinates of the start pose, shape (n,)."""

    def coordinates(self, joints: Any, axes: Any) -> Any:
        """Coordinates, shape (..., n), of joint and axis angles, shape (..., joints) and (..., axes)."""

    def motion(self, name_or_path: str) -> str:
        """Path of a motion."""

    def bus(self, model: RecordArray, options: RunOptions, truth: RecordArray, motion: Motion | None) -> Bus:
        """The simulated mechanism behind the HAL; raises ``ValueError`` for options of others."""

    def stages(self, measurement: RecordArray) -> Stages:
        """Estimator, controller and guard."""


@dataclass(slots=True)
class Hand:
    """A hand file, read: its names, its model, its identity."""

    name: str
    names: HandNames
    model: RecordArray
    text: str
    sha256: str
    rate_hz: float
    file: HandFile
    mechanism: Mechanism | None = None
    """A mechanism in the place of a tendon hand (``runtime.mechanism_hand``)."""

    @property
    def homing_pose(self) -> str:
        """How joint angles are known when a run begins (``hand.file.homing``); empty: straight."""
        homing = self.file.homing if self.mechanism is None else None
        return "" if homing is None else homing.pose


def must_be_tendon_hand(name_or_path: str) -> None:
    """Refuse a mechanism, alone or with a hand on it; raises ``OptionError``."""
    if is_mechanism_hand(name_or_path):
        legal = ", ".join(hand_names())
        said = f"{name_or_path} is a mechanism, or a hand that stands on one"
        raise OptionError(f"{said}; legal: {legal}, or the path of such a hand")


def read_tendon_hand(options: RunOptions) -> Hand:
    """Read the file of a tendon hand with its overrides and choices.

    Raises:
        ValueError: the file or an override is refused, says where and why; or the hand is a mechanism without
            tendons.
    """
    must_be_tendon_hand(options.hand)
    file, text = load_with(options.hand, options.settings, mechanism_hand_names())
    model = model_of(file, rate_hz=options.rate_hz, pretension_n=options.pretension_n)
    set_switches(model, options.without)
    if options.guides == "ideal":
        model["guide_loss_frac"] = model["guide_bending_n"] = 0.0  # there is nothing to compensate then
    if options.sensors != "full":
        model["hall_noise_count"] = model["joint_noise_count"] = 0.0  # silence is no sign of a dead sensor
        model["lever_friction_frac"] = 0.0  # and the simulated levers have no friction
    rate_hz = options.rate_hz or float(file.control.rate_hz)
    return Hand(file.name, names_of(file), model, text, hand_sha256(file), rate_hz, file)
