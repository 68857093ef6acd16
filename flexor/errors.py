"""What can go wrong between a program and a hand; every text says what to do next."""

from __future__ import annotations


class HandError(RuntimeError):
    """Base of all errors of this client."""


class HandSilent(HandError):
    """Nothing comes from the hand.

    Attributes:
        endpoint: where it was expected.
        waited_s: how long [s].
        why: what keys have to do with it; empty: nothing.
    """

    def __init__(self, endpoint: str, waited_s: float, what: str, why: str = "") -> None:
        self.endpoint, self.waited_s, self.why = endpoint, waited_s, why
        super().__init__(
            f"no {what} from {endpoint} for {waited_s:.1f} s: "
            + (why or "is 'flexor run' running there, on these ports?")
        )


class Refused(HandError):
    """The hand refused a request.

    Attributes:
        code: word for programs, as ``no_lease`` or ``out_of_range``.
        hint: what to do next.
    """

    def __init__(self, op: str, code: str, message: str, hint: str) -> None:
        self.op, self.code, self.hint = op, code, hint
        super().__init__(f"{op} refused ({code}): {message}" + (f"; {hint}" if hint else ""))


class SchemaMismatch(HandError):
    """The hand speaks another version of the messages."""
