"""Pages for people: one HTML file each, with style and pictures inside; nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from typing import Final

_STYLE: Final = """
:root { --ink: #1b2430; --pale: #6b7686; --line: #e4e8ee; --bad: #b3261e; --good: #1d6f42; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); max-width: 1180px; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.pale { color: var(--pale); }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; color: var(--pale); }
th, td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.bad td { color: var(--bad); }
.verdict { padding: .8rem 1rem; border-left: 5px solid var(--good); background: #f1f7f3; margin: 1rem 0; }
.verdict.bad { border-color: var(--bad); background: #fcf1f0; }
.verdict b { color: var(--bad); }
pre { background: #f4f6f9; padding: 1rem; overflow: auto; }
img { max-width: 100%; }
"""


def page(title: str, line: str, parts: Iterable[str]) -> str:
    """A page: title, a pale line below it, and parts as the functions of this file make them."""
    e = html.escape
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8>\n"
        '<meta name=viewport content="width=device-width, initial-scale=1">\n'
        f"<title>{e(title)}</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>{e(title)}</h1><p class=pale>{e(line)}</p>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def verdict(good: str, troubles: Sequence[tuple[str, str, str]]) -> str:
    """What stands first: what is wrong as (word, sentence, hint), or that nothing is."""
    e = html.escape
    if not troubles:
        return f"<div class=verdict>{e(good)}</div>"
    told = (
        f"<div><b>{e(word)}</b> {e(text)}"
        + (f"<br><span class=pale>{e(hint)}</span>" if hint else "")
        + "</div>"
        for word, text, hint in troubles
    )
    return f'<div class="verdict bad">{"".join(told)}</div>'


def table(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], bad: Sequence[bool] | None = None
) -> str:
    """A table with its title; nothing without rows. Rows that are ``bad`` are red."""
    if not rows:
        return ""
    head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
    marks = bad if bad is not None else [False] * len(rows)
    body = "".join(
        f"<tr{' class=bad' if mark else ''}>"
        + "".join(f"<td>{html.escape(text)}</td>" for text in row)
        + "</tr>"
        for row, mark in zip(rows, marks, strict=True)
    )
    return f"<h2>{html.escape(title)}</h2><table><tr>{head}</tr>{body}</table>"


def picture(title: str, about: str, png: bytes | None) -> str:
    """A picture inside the page; nothing without one."""
    if png is None:
        return ""
    data = base64.b64encode(png).decode()
    return f'<h2>{html.escape(title)}</h2><img alt="{html.escape(about)}" src="data:image/png;base64,{data}">'


def lines(title: str, text: str) -> str:
    """Lines to copy."""
    return f"<h2>{html.escape(title)}</h2><pre>{html.escape(text)}</pre>"


def note(text: str) -> str:
    """A pale line."""
    return f"<p class=pale>{html.escape(text)}</p>"
