"""What callgrind looks at: compiled ticks alone. ``python -m benchmarks.counted CANNED TICKS [OBJECT]``.

The object code of the loop over the ticks, loaded from the cache, is left in OBJECT. With ``--each`` every
tick of the stretch is counted alone: callgrind writes its counts after each, and once more after a call
without a tick.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.line_tables import install, write_object

install()

from benchmarks import native  # noqa: E402
from benchmarks.canned import Canned, Ticker  # noqa: E402
from benchmarks.ticks import run_ticks  # noqa: E402


def main() -> None:
    """Entry point."""
    path, ticks = Path(sys.argv[1]), int(sys.argv[2])
    ticker = Ticker(Canned.load(path), slots=64)
    if "--each" in sys.argv:
        dump = native.dump_counts()
        ticker.compiled(0)
        for k in range(ticks):
            for n in (0, 1):
                dump()
                ticker.compiled(n, first=k)
        dump()
    else:
        ticker.compiled(ticks)
    if len(sys.argv) > 3:
        write_object(run_ticks, Path(sys.argv[3]))


if __name__ == "__main__":
    main()
