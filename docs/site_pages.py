"""The order of the pages in their site is that of the index: a hook of mkdocs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

INDEX = "README.md"


def on_config(config: Any) -> Any:
    """Give mkdocs its navigation: a section for each table of the index, and one for what a folder has beside."""
    docs = Path(config["docs_dir"])
    sections: list[dict[str, list[str] | str]] = [{"All pages": INDEX}]
    listed = {INDEX}
    for table in (docs / INDEX).read_text(encoding="utf-8").split("\n\n"):
        if title := re.match(r"\| (.+?) \| \|\n", table):
            pages = re.findall(r"\]\(([^)#]+\.md)\)", table)
            sections.append({title[1].capitalize(): pages})
            listed |= set(pages)
    for folder in ("hands", "papers", "decisions"):
        pages = sorted(f"{folder}/{page.name}" for page in (docs / folder).glob("*.md"))
        if beside := [page for page in pages if page not in listed]:
            sections.append({folder.capitalize(): beside})
    config["nav"] = sections
    return config
