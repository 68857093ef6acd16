"""What every table of every file of a user is: strict, and complete in what it refuses."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict

RATE_HZ: Final = (50.0, 20_000.0)
"""Control rates that are legal, least and most."""


class Table(BaseModel):
    """A table of a file: unknown keys are errors, numbers are numbers, nothing is guessed."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        protected_namespaces=(),
    )
