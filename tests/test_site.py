"""The pages as a site: built without a warning, nothing in it comes from the net, the API page is whole."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import flexor
import flexor.aio

ROOT = Path(__file__).parent.parent
LOADED = re.compile(
    r"""<(?:script|img|iframe)\b[^>]*\bsrc=["']?([^"'\s>]+)|<link\b[^>]*\bhref=["']?([^"'\s>]+)|url\(["']?([^)"']+)"""
)
"""What a browser fetches by itself."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site; every warning of mkdocs, and of what reads the docstrings, is an error."""
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_there_and_loads_nothing_from_the_net(site: Path) -> None:
    pages = {str(p.relative_to(ROOT / "docs").with_suffix("")) for p in (ROOT / "docs").rglob("*.md")}
    made = {str(p.relative_to(site).with_suffix("")) for p in site.rglob("*.html")}
    assert made == {page.replace("README", "index") for page in pages} | {"404"}
    files = [*site.rglob("*.html"), *site.rglob("*.css")]
    loaded = {name for file in files for found in LOADED.findall(file.read_text()) for name in found if name}
    assert any(name.endswith(".js") for name in loaded)
    assert not {name for name in loaded if re.match(r"(https?:)?//", name)}
    assert not [file for file in files if 'class="mermaid"' in file.read_text()], "its script is on the net"


@pytest.mark.parametrize("module", [flexor, flexor.aio])
def test_every_public_name_of_the_client_has_its_place_in_the_api(site: Path, module: object) -> None:
    page = (site / "api.html").read_text(encoding="utf-8")
    names = [f"{module.__name__}.{name}" for name in module.__all__]  # type: ignore[attr-defined]
    assert names and [name for name in names if f'id="{name}"' not in page] == []
