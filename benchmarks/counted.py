"""What callgrind looks at: ``python -m benchmarks.counted CANNED TICKS``, nothing but compiled ticks."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.canned import Canned, Ticker


def main() -> None:
    """Entry point."""
    ticker = Ticker(Canned.load(Path(sys.argv[1])), slots=64)
    ticker.compiled(int(sys.argv[2]))


if __name__ == "__main__":
    main()
