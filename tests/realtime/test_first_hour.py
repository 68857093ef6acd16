"""The Python of the tutorial, block by block, against a simulated hand."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import flexor


def test_the_python_of_the_tutorial_runs_from_top_to_bottom(start, port_base, tmp_path, capsys):
    text = Path("docs/first_hour.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    run = start("--for", "120", "--out", str(tmp_path), "--set", "limits.command_age_ms=400")
    run.wait_until_running()
    space = {}
    for k, block in enumerate(blocks):
        if "rearm" in block:
            with flexor.Hand(port_base=port_base) as hand:
                hand.stop(by="the tutorial")
        here = block.replace("flexor.Hand()", f"flexor.Hand(port_base={port_base}, timeout_s=5.0)")
        exec(compile(here, f"docs/first_hour.md, Python block {k + 1}", "exec"), space)
    lines = capsys.readouterr().out.splitlines()
    assert len(blocks) == 5 and len(lines) > 20
    assert lines[0].startswith("active ")
    assert any(line == str(space["log"]) for line in lines)
    assert space["tension"].shape == (len(space["seconds"]), 8) and space["seconds"][-1] > 1.9
    os.kill(run.pid, signal.SIGINT)
    _, report, _ = run.end()
    assert [fault["cause"] for fault in report["faults"]] == ["OPERATOR_STOP"]
