"""Clients as people write them: a notebook that pauses between its cells, a program on asyncio."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest

import flexor
from flexor import aio
from telemetry.record.reader import read_log

JOINT = "index_pip"
PATIENT = ("--set", "limits.command_age_ms=400")
"""A client is no real-time process: on a busy machine it may stand still for longer than 100 ms."""


def _run_cell(source: str, space: dict[str, Any]) -> Any:
    """Run a cell as a notebook does; what its last line gives."""
    body = ast.parse(source).body
    last = ast.Expression(body.pop().value) if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), space)
    return None if last is None else eval(compile(last, "cell", "eval"), space)


@pytest.mark.long
def test_a_notebook_arms_thinks_moves_records_and_plots_without_a_fault(start, port_base, tmp_path):
    run = start("--for", "120", "--out", str(tmp_path), *PATIENT)
    run.wait_until_running()
    matplotlib.use("Agg")
    cells = json.loads(Path("examples/notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    space, results = {}, []
    for k, cell in enumerate(cell for cell in cells if cell["cell_type"] == "code"):
        time.sleep(5.0 if k in (1, 2) else 1.2)  # longer than a goal and a lease live
        source = "".join(cell["source"]).replace("flexor.Hand()", f"flexor.Hand(port_base={port_base})")
        results.append(_run_cell(source, space))
    assert results[1][0] == "active" and results[2] == pytest.approx(0.6, abs=0.05)
    seconds, table, figure = space["seconds"], space["table"], space["figure"]
    assert seconds.shape == table[f"pos/{JOINT}"].shape and np.ptp(table[f"pos/{JOINT}"]) > 0.4
    lines = [line for axes in figure.axes for line in axes.lines]
    tendons = sum(key.startswith("tension/") for key in table)
    assert len(lines) == 2 + tendons and all(np.isfinite(line.get_ydata()).any() for line in lines)
    log = read_log(results[-1])
    assert log.complete and log.frames["state"]["joint_angle_rad"][:, 2].max() > 0.5
    with flexor.Hand(port_base=port_base, timeout_s=5.0) as hand:
        assert hand.view().machine == "holding" and hand.health()["lease"]["holder"] == ""
    os.kill(run.pid, signal.SIGINT)
    _, report, _ = run.end()
    assert report["faults"] == []


async def _several_tasks(port_base: int) -> dict[str, Any]:
    seen: list[float] = []
    async with aio.AsyncHand(port_base=port_base, timeout_s=5.0) as hand, hand.control("tasks") as control:
        await control.activate()
        begun = (await hand.view()).pos[JOINT]

        async def look() -> None:
            async for view in hand.watch(1.0):
                seen.append(view.pos[JOINT])

        begun_s = time.monotonic()
        await asyncio.gather(look(), control.move({JOINT: begun + 0.3}, 0.6), hand.request("ping"))
        there = (await hand.view()).pos[JOINT]
        took_s = time.monotonic() - begun_s
        await asyncio.sleep(0.3)  # with the rest of the watch, less than a lease lives
        with pytest.raises(flexor.Refused, match="COMMAND_TOO_OLD"):
            await control.move({JOINT: begun}, 0.2)
        await control.activate()
        moving = asyncio.create_task(control.move({JOINT: begun}, 20.0))
        await asyncio.sleep(0.2)
        moving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await moving
        async with control.stream(60.0, ramp_s=0.3) as stream:
            for _ in range(40):
                following = await stream.send(None, {JOINT: begun})
                await asyncio.sleep(1 / 60)
        await control.sleep(0.1)
        back = (await hand.view()).pos[JOINT]
        with pytest.raises(flexor.Refused, match="busy"):
            await control.record.stop()
        places = {"begun": begun, "there": there, "back": back}
        return places | {"seen": seen, "took_s": took_s, "share": following.share}


def test_tasks_watch_move_and_stream_side_by_side(start, port_base):
    run = start("--for", "60", *PATIENT)
    run.wait_until_running()
    found = asyncio.run(_several_tasks(port_base))
    assert found["there"] == pytest.approx(found["begun"] + 0.3, abs=0.05)
    assert len(found["seen"]) > 15 and np.ptp(found["seen"]) > 0.2, "it was watched while it moved"
    assert found["took_s"] < 3.0 and found["share"] == 1.0
    assert found["back"] == pytest.approx(found["begun"], abs=0.05)
    alive = asyncio.run(_keep_alive(port_base))
    assert alive == ("active", "holding")
    os.kill(run.pid, signal.SIGINT)
    run.end()


async def _keep_alive(port_base: int) -> tuple[str, str]:
    async with aio.AsyncHand(port_base=port_base, timeout_s=5.0) as hand:
        control = await hand.control("tasks").open(keep_alive=True)
        await control.activate()
        await asyncio.sleep(1.3)
        during = str((await hand.view()).machine)
        await control.close()
        await control.close()
        await asyncio.sleep(0.1)
        return during, str((await hand.view()).machine)


def test_two_tasks_that_wait_for_a_silent_hand_both_hear_that_it_is_silent(port_base):
    async def ask():
        async with aio.AsyncHand(port_base=port_base, timeout_s=0.2) as hand:

            async def later():
                await asyncio.sleep(0.1)
                return await hand.view()

            return await asyncio.gather(hand.view(), later(), return_exceptions=True)

    assert [type(found) for found in asyncio.run(ask())] == [flexor.HandSilent, flexor.HandSilent]
