"""Layouts for viewers: each path in them is there in a log or a live message, as other readers see it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from typer.testing import CliRunner

from hand.file import shipped_hands
from hand.options import RunOptions
from reports.layouts import foxglove, plotjuggler, tabs_of
from runtime.setup import read_hand
from signals.records import FRAME
from signals.table import TABLE
from telemetry.columns import Columns, counts_of
from telemetry.publish.messages import ViewMessage
from telemetry.record.recorder import CHANNELS, Recorder
from tools.commands.log import app

HANDS = [*shipped_hands(), "carpal_wrist"]
SHIPPED = Path(__file__).parents[2] / "docs" / "layouts"
PATH = re.compile(r"(/[\w/]+)\.(\w+)\.(\w+)(?:\[(\d+)\])?")
LOOP = {"wake_us": 0.0, "tick_us": 0.0, "jitter_p99_us": 0.0, "missed": 0, "late": 0}


@pytest.fixture(params=HANDS)
def hand(request: Any) -> Any:
    return read_hand(RunOptions(hand=request.param))


def _message(hand: Any, folder: Path) -> Any:
    """A frame of this hand as a ROS reader decodes it."""
    recorder = Recorder(folder / "a.mcap", Columns(counts_of(hand.model)))
    recorder.add(np.zeros(1, FRAME))
    recorder.close()
    with (folder / "a.mcap").open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        ((_, channel, _, message),) = list(reader.iter_decoded_messages())
    assert channel.topic == "/hand/frame"
    return message


def _panels(layout: Any) -> list[str]:
    if isinstance(layout, str):
        return [layout]
    return _panels(layout["first"]) + _panels(layout["second"])


def test_foxglove_finds_every_panel_topic_and_field_with_the_name_of_its_part(hand, tmp_path):
    layout = json.loads(foxglove(tabs_of(hand.names, hand.model)))
    panels, message, named = layout["configById"], _message(hand, tmp_path), set()
    pages = panels["Tab!pages"]["tabs"]
    shown = _panels(layout["layout"]) + [p for page in pages for p in _panels(page["layout"])]
    assert sorted(shown) == sorted(panels)
    assert panels["RawMessages!events"]["topicPath"] in CHANNELS.values()
    for path in [path for panel in panels.values() for path in panel.get("paths", ())]:
        topic, record, signal, index = PATH.fullmatch(path["value"]).groups()
        value = getattr(getattr(message, record), signal)
        assert topic in CHANNELS.values()
        if index is None:
            assert np.ndim(value) == 0
            continue
        (space,) = next(row.dims for row in TABLE[record] if row.name == signal)
        names = hand.names.of(space)
        assert len(value) == len(names) and path["label"].split()[0] == names[int(index)]
        named.add(path["label"])
    spaces = ("motor", "tendon", "joint", "finger", "axis")
    assert {name for space in spaces for name in hand.names.of(space)} <= named


def _flat(prefix: str, value: Any) -> set[str]:
    """Curves that PlotJuggler makes of a value: objects by ``/``, arrays by ``[]``, numbers alone."""
    if isinstance(value, dict):
        return {name for key, part in value.items() for name in _flat(f"{prefix}/{key}", part)}
    if hasattr(value, "__slots__"):
        return {n for key in value.__slots__ for n in _flat(f"{prefix}/{key}", getattr(value, key))}
    if isinstance(value, list | tuple | np.ndarray):
        return {name for k, part in enumerate(value) for name in _flat(f"{prefix}[{k}]", part)}
    return {prefix} if isinstance(value, int | float | np.number) else set()


@pytest.mark.parametrize("live", [False, True])
def test_plotjuggler_finds_every_curve(hand, tmp_path, live):
    if live:
        view = ViewMessage(hand.names, has_truth=False).build(np.zeros(1, FRAME)[0], 1.0, LOOP, {"pub": 0})
        there = _flat("hand/v1/view", view)
    else:
        there = _flat("/hand/frame", _message(hand, tmp_path))
    root = xml.fromstring(plotjuggler(tabs_of(hand.names, hand.model), live=live))
    curves = [curve.attrib["name"] for curve in root.iter("curve")]
    assert len(curves) > 2 * len(hand.names.motors) and len(set(curves)) == len(curves)
    assert [name for name in curves if name not in there] == []
    for column in root.iter("DockSplitter"):
        assert len(column) == int(column.attrib["count"]) == len(column.attrib["sizes"].split(";"))


@pytest.mark.parametrize("name", ["hasy", "finger_bench"])
def test_the_shipped_layouts_are_what_the_command_writes(name, tmp_path):
    done = CliRunner().invoke(app, ["layouts", name, "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    made = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert len(made) == 3
    assert made == {path.name: path.read_text() for path in SHIPPED.glob(f"{name}.*")}, (
        f"run flexor log layouts {name} --out docs/layouts"
    )
