"""Table of a hand file's life: what its makers say that a part lasts; the odometer warns before."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from hand.file.values import Count, Positive, left_out
from signals.tables import Table


class Life(Table):
    """What tendons and joints last; what is left out has no limit."""

    tendon_travel_m: Annotated[Positive | None, Field(exclude_if=left_out)] = None
    """Way that a tendon is wound, both ways together."""
    tendon_reversals: Annotated[Count | None, Field(exclude_if=left_out)] = None
    """How often a tendon's way turns round."""
    tendon_hot_s: Annotated[Positive | None, Field(exclude_if=left_out)] = None
    """Time in which the winding of a tendon's motor is near the limit of its temperature."""
    joint_travel_rad: Annotated[Positive | None, Field(exclude_if=left_out)] = None
    """Way that a joint turns, both ways together."""
    joint_reversals: Annotated[Count | None, Field(exclude_if=left_out)] = None
    """How often a joint's way turns round."""
