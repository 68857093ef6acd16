"""The example packages, installed once for all tests of this folder."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from drivers.dynamixel import models
from tests.rigs.packages import example_folders, install
from tools import cli

Flexor = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder in which every example package is installed."""
    target = tmp_path_factory.mktemp("packages")
    install(target, example_folders())
    return target


@pytest.fixture(autouse=True)
def fresh_models() -> Iterator[None]:
    """What a test's packages add is forgotten with the test."""
    models.forget()
    yield
    models.forget()


@pytest.fixture
def installed(packages: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same on the path of this process and of its children."""
    monkeypatch.syspath_prepend(str(packages))
    monkeypatch.setenv("PYTHONPATH", str(packages), prepend=":")
    importlib.invalidate_caches()
    return packages


@pytest.fixture
def strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path for a test's own packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture
def flexor(capsys: pytest.CaptureFixture[str]) -> Flexor:
    """Call the command in this process: exit code, stdout, stderr."""

    def called(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main(list(words))
        said = capsys.readouterr()
        return int(ended.value.code or 0), said.out, said.err

    return called
