"""Files of the compile cache, sealed by their own hash: whatever is damaged is a miss, never an error.

Numba trusts a cache file that is there. After a power cut it may be empty or half; a flipped byte in it is a
flipped byte of machine code. A folder that takes no file costs time at every start, and nothing else.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from numba.core.caching import IndexDataCacheFile

_DIGEST: Final = hashlib.sha256
SEAL_BYTES: Final = _DIGEST().digest_size
"""Last bytes of a file: the hash of all before them."""
TOLD: Final = "FLEXOR_CACHE_TOLD"
"""Set in the environment once the folder's trouble is told: the processes of a run tell it once."""


def sealed(content: bytes) -> bytes:
    """A content with its seal."""
    return content + _DIGEST(content).digest()


def is_sound(path: Path) -> bool:
    """True if a file is there, can be read and is what was written.

    Raises:
        OSError: it cannot be read.
    """
    content = path.read_bytes()
    return len(content) > SEAL_BYTES and sealed(content[:-SEAL_BYTES]) == content


class KeptFile(IndexDataCacheFile):
    """Index and code of one compiled function on disk.

    Args:
        folder: where they lie.
        name: first part of their names.
    """

    def __init__(self, folder: str, name: str) -> None:
        begin: Any = super().__init__
        begin(folder, name, "")
        self._numbas: Any = super()
        self._folder = folder

    def load(self, key: Any) -> Any:
        """An entry, or ``None``."""
        return self._numbas.load(key)

    def save(self, key: Any, data: Any) -> None:
        """Keep an entry; a folder that takes none is told, once."""
        try:
            self._numbas.save(key, data)
        except OSError as error:
            tell_folder(Path(self._folder), error)

    def _usable(self, path: Path) -> bool:
        try:
            if is_sound(path):
                return True
        except FileNotFoundError:
            return False
        except OSError as error:
            tell_folder(path, error)
            return False
        with suppress(OSError):
            path.unlink()
        print(f"compile cache: {path} was damaged; it is compiled anew", file=sys.stderr)
        return False

    def _load_index(self) -> Any:
        return self._numbas._load_index() if self._usable(Path(self._index_path)) else {}

    def _load_data(self, name: str) -> Any:
        if not self._usable(Path(self._folder, name)):
            raise FileNotFoundError(name)  # numba's word for a miss
        try:
            return self._numbas._load_data(name)
        except (ImportError, AttributeError) as error:  # made by sources that are not these
            raise FileNotFoundError(name) from error

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        with self._numbas._open_for_write(filepath) as stream:
            stream.write(sealed(content.getvalue()))


def tell_folder(path: Path, error: OSError) -> None:
    """One line for a run: nothing is kept here, what that costs, what to do."""
    if os.environ.get(TOLD):
        return
    os.environ[TOLD] = "1"
    print(
        f"compile cache: {path}: {error.strerror}; nothing is kept, so every start compiles for a minute or "
        "more. Set FLEXOR_CACHE_DIR to a folder of yours",
        file=sys.stderr,
    )
