"""The pages: each is in the index, each link leads somewhere, each command of the tutorial exists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tools.cli import app
from tools.commands.stop import HELP

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def _anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_to_a_heading_that_is_there(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        found = (page.parent / name).resolve() if name else page
        assert found.exists(), target
        if anchor and found.suffix == ".md":
            assert anchor in _anchors(found), f"{target}: {sorted(_anchors(found))}"


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    linked = {
        (index.parent / target).resolve()
        for target in re.findall(r"\]\(([^)#]+)\)", index.read_text(encoding="utf-8"))
    }
    pages = {p for p in PAGES if p.is_relative_to(ROOT / "docs")}
    apart = {p for p in pages if p.parent.name in ("decisions", "hands", "papers")} | {index}
    assert pages - apart == linked & pages - apart
    assert (ROOT / "docs" / "papers" / "README.md") in linked


def test_every_command_of_the_tutorial_exists_with_its_options() -> None:
    text = (ROOT / "docs" / "first_hour.md").read_text(encoding="utf-8")
    lines = [
        line for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S) for line in block.splitlines()
    ]
    lines += re.findall(r"`(flexor [a-z][^`]*)`", text)
    assert len(lines) > 8
    for line in lines:
        words = shlex.split(line)
        first = words.index("run") if words[0] == "./dev" else 1
        path = words[first : first + (2 if words[first] == "log" else 1)]
        text = HELP if path == ["stop"] else CliRunner().invoke(app, [*path, "--help"]).stdout
        assert "Usage:" in text, line
        options = set(re.findall(r"--[\w-]+", text))
        assert {word for word in words if word.startswith("--")} <= options, line
