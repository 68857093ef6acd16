"""Pictures are whole or not there: a full disk (a device that takes no byte) leaves nothing behind."""

from pathlib import Path

import pytest

from reports.files import save_figure


class Figure:
    """Writes half of a picture, then there is no space left."""

    def __init__(self, full: bool) -> None:
        self.full = full

    def savefig(self, path: Path, format: str) -> None:
        assert format == "png"
        path.write_bytes(b"half")
        if self.full:
            raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_no_half_picture_and_an_old_one_stays(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        save_figure(Figure(full=True), tmp_path / "run.png")
    assert list(tmp_path.iterdir()) == []
    save_figure(Figure(full=False), tmp_path / "run.png")
    (tmp_path / "run.png").write_bytes(b"old")
    with pytest.raises(OSError):
        save_figure(Figure(full=True), tmp_path / "run.png")
    assert [p.name for p in tmp_path.iterdir()] == ["run.png"]
    assert (tmp_path / "run.png").read_bytes() == b"old"
