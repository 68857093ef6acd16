"""Superwords: operations that stand side by side in a law become one on vectors.

Numba vectorises loops alone. A loop of eight rounds over the lanes of ``sim.branches`` is unrolled before:
then LLVM's superword pass is what joins it again. It is off for all other laws.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numba

F = TypeVar("F")


def superwords(law: F) -> F:
    """Compile a law with LLVM's superword pass, as far as Python calls it."""
    dispatcher: Any = law
    settings: Any = numba.config
    plain = dispatcher.compile

    def compile_with(signature: Any) -> Any:
        before, settings.SLP_VECTORIZE = settings.SLP_VECTORIZE, 1
        try:
            return plain(signature)
        finally:
            settings.SLP_VECTORIZE = before

    dispatcher.compile = compile_with
    return law
