"""The doctor's lines on a terminal; fixes are never wrapped, so that they can be copied."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from reports.finding import Finding, Level
from tools.deploy.write import Deployed

_STYLE = {Level.PASS: "green", Level.WARN: "yellow", Level.FAIL: "bold red"}
_WIDTH = 21


def _labels() -> Iterator[str]:
    yield "fix:"
    while True:
        yield ""


def counts(findings: list[Finding]) -> dict[str, int]:
    """Level -> number of findings."""
    return {level.name.lower(): sum(f.level is level for f in findings) for level in Level}


def print_findings(findings: list[Finding], console: Console | None = None) -> None:
    """One line a finding; under a Warn or Fail what it costs and how to fix it."""
    out = console or Console(highlight=False, soft_wrap=True)
    for finding in findings:
        line = Text()
        line.append(finding.level.shown, style=_STYLE[finding.level])
        line.append(f" {finding.check:<{_WIDTH}} {finding.fact}")
        out.print(line)
        if finding.level is not Level.PASS:
            out.print(Text(f"       costs: {finding.cost}"))
            for label, step in zip(_labels(), finding.fix.split("; "), strict=False):
                out.print(Text(f"       {label:<6} {step}"))
    number = counts(findings)
    out.print(f"\n{number['pass']} pass, {number['warn']} warn, {number['fail']} fail")


def print_deployed(files: list[Deployed], console: Console | None = None) -> None:
    """What was written for review, and the command that installs each."""
    if not files:
        return
    out = console or Console(highlight=False, soft_wrap=True)
    out.print("\nwritten for review; nothing is installed until you run:")
    for file in files:
        out.print(Text(f"  {file.path}\n      {file.command}"))
