"""What people type: commands, doctor, deploy."""

import _signal  # type: ignore[import-not-found]  # at once, where the enums of signal take milliseconds

_ours = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
if _ours:
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # Ctrl-C during an import: no traceback

import os  # noqa: E402

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
"""Before numpy loads: threads that wait for each other make a fit of ten columns twenty times as long."""

import runtime as runtime  # noqa: E402 - refuses to start when a file beside the user's script hides a room

if _ours:
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
