"""Layouts for other people's viewers: which curves of a hand's logs and live topics stand together.

The topics carry arrays by index; a layout has the names. It is made from the hand, so it fits any hand.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final
from xml.etree import ElementTree as xml

from signals.names import HandNames
from signals.records import RecordArray

FRAME: Final = "/hand/frame"
EVENT: Final = "/hand/event"
VIEW: Final = "hand/v1/view"
_COLOURS: Final = ("#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#17becf", "#e377c2")


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve.

    Attributes:
        name: for the legend.
        signal: ``record.signal`` of the log.
        index: its part; ``None``: the signal is one number.
        live: its place in ``hand/v1/view``; empty: it is logged only.
    """

    name: str
    signal: str
    index: int | None = None
    live: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """Curves that share an axis; ``steps``: codes, whose changes count."""

    title: str
    curves: tuple[Curve, ...]
    steps: bool = False


@dataclass(frozen=True, slots=True)
class Tab:
    """Plots on one page."""

    title: str
    plots: list[Plot] = field(default_factory=list)


def tabs_of(names: HandNames, model: RecordArray) -> list[Tab]:
    """A page for the hand, one for its motors, one for each finger and one for the wrist."""
    m = model[0]
    whole = Tab("hand")
    states = (Curve("state", "state.machine", None, "machine"), Curve("cause", "state.hand_cause"))
    whole.plots.append(Plot("State and latched cause of the hand", states, steps=True))
    fingers = [(k, name) for k, name in enumerate(names.fingers)]
    for title, signal, live in (
        ("State of the fingers", "state.finger_state", "finger"),
        ("Latched causes of the fingers", "state.finger_cause", "cause"),
    ):
        curves = tuple(Curve(name, signal, k, f"{live}/{name}") for k, name in fingers)
        whole.plots.append(Plot(title, curves, steps=True))
    loop = (
        Curve("wake-up", "timing.wake_ns", None, "loop/wake_us"),
        Curve("tick", "timing.tick_ns", None, "loop/tick_us"),
    )
    whole.plots.append(Plot("Loop: wake-up and tick (ns in a log, us live)", loop))
    motors = list(enumerate(names.motors))
    drives = Tab(
        "motors",
        [
            _plot("Motor currents [A]", motors, (("", "measurement.motor_current_a", "current"),)),
            _plot("Motor angles [rad]", motors, (("", "measurement.motor_angle_rad", "motor"),)),
        ],
    )
    found = [whole, drives]
    for finger, name in fingers:
        tendons = [(k, t) for k, t in enumerate(names.tendons) if m["tendon_finger"][k] == finger]
        joints = [(k, j) for k, j in enumerate(names.joints) if m["joint_finger"][k] == finger]
        found.append(
            Tab(
                name,
                _sound(
                    [
                        _plot("Tensions [N]", tendons, (("", "state.tension_n", "tension"),)),
                        _plot("Wanted tensions [N]", tendons, (("", "state.ref_tension_n", "tension_cmd"),)),
                        _plot(
                            "Joint angles and wanted ones [rad]",
                            joints,
                            (
                                ("", "state.joint_angle_rad", "pos"),
                                (" wanted", "state.ref_joint_angle_rad", "cmd"),
                            ),
                        ),
                    ]
                ),
            )
        )
    axes = list(enumerate(names.axes))
    wrist = _sound([_plot("Wrist angles [rad]", axes, (("", "measurement.axis_angle_rad", "axis"),))])
    return found + ([Tab("wrist", wrist)] if wrist else [])


def _plot(title: str, parts: list[tuple[int, str]], signals: tuple[tuple[str, str, str], ...]) -> Plot:
    curves = [
        Curve(name + word, signal, k, f"{live}/{name}") for k, name in parts for word, signal, live in signals
    ]
    return Plot(title, tuple(curves))


def _sound(plots: list[Plot]) -> list[Plot]:
    """Plots with curves."""
    return [plot for plot in plots if plot.curves]


def foxglove(tabs: list[Tab]) -> str:
    """A layout of Foxglove and Lichtblick for a log: pages of plots beside the newest event."""
    panels: dict[str, Any] = {
        "RawMessages!events": {"topicPath": EVENT, "diffEnabled": False, "foxglovePanelTitle": "Events"}
    }
    pages = []
    for tab in tabs:
        here = []
        for k, plot in enumerate(tab.plots):
            here.append(f"{'StateTransitions' if plot.steps else 'Plot'}!{tab.title}_{k}")
            panels[here[-1]] = _panel(plot)
        pages.append({"title": tab.title, "layout": _column(here)})
    panels["Tab!pages"] = {"activeTabIdx": 0, "tabs": pages}
    layout = {
        "configById": panels,
        "globalVariables": {},
        "userNodes": {},
        "playbackConfig": {"speed": 1},
        "layout": {
            "direction": "row",
            "first": "Tab!pages",
            "second": "RawMessages!events",
            "splitPercentage": 75,
        },
    }
    return json.dumps(layout, indent=1) + "\n"


def _panel(plot: Plot) -> dict[str, Any]:
    paths = [
        {
            "value": f"{FRAME}.{c.signal}" + ("" if c.index is None else f"[{c.index}]"),
            "label": c.name,
            "enabled": True,
            "timestampMethod": "receiveTime",
        }
        for c in plot.curves
    ]
    if plot.steps:
        return {"paths": paths, "isSynced": True, "foxglovePanelTitle": plot.title}
    return {
        "title": plot.title,
        "paths": paths,
        "isSynced": True,
        "xAxisVal": "timestamp",
        "showLegend": True,
        "legendDisplay": "left",
        "showXAxisLabels": True,
        "showYAxisLabels": True,
    }


def _column(panels: list[str]) -> Any:
    """Panels one under the other, each as high as the others."""
    if len(panels) == 1:
        return panels[0]
    return {
        "direction": "column",
        "first": panels[0],
        "second": _column(panels[1:]),
        "splitPercentage": round(100 / len(panels), 2),
    }


def plotjuggler(tabs: list[Tab], *, live: bool) -> str:
    """A layout of PlotJuggler: for a log, or for what ``flexor run --plotjuggler`` sends."""
    root = xml.Element("root")
    window = xml.SubElement(root, "tabbed_widget", {"parent": "main_window", "name": "Main Window"})
    for tab in tabs:
        page = xml.SubElement(window, "Tab", tab_name=tab.title, containers="1")
        drawn = [(plot, _series(plot, live)) for plot in tab.plots]
        drawn = [(plot, series) for plot, series in drawn if series]
        sizes = ";".join([f"{1 / len(drawn):.6f}"] * len(drawn))
        column = xml.SubElement(
            xml.SubElement(page, "Container"),
            "DockSplitter",
            orientation="-",
            sizes=sizes,
            count=str(len(drawn)),
        )
        for plot, series in drawn:
            area = xml.SubElement(column, "DockArea", name=plot.title)
            style = "Steps" if plot.steps else "Lines"
            place = xml.SubElement(
                area, "plot", style=style, mode="TimeSeries", flip_x="false", flip_y="false"
            )
            for k, name in enumerate(series):
                xml.SubElement(place, "curve", name=name, color=_COLOURS[k % len(_COLOURS)])
    xml.SubElement(window, "currentTabIndex", index="0")
    xml.SubElement(root, "use_relative_time_offset", enabled="1")
    xml.indent(root, " ")
    return xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _series(plot: Plot, live: bool) -> list[str]:
    """Names that PlotJuggler gives the curves: of a ROS message, or of a map of MessagePack."""
    if live:
        return [f"{VIEW}/{c.live}" for c in plot.curves if c.live]
    return [
        f"{FRAME}/{c.signal.replace('.', '/')}" + ("" if c.index is None else f"[{c.index}]")
        for c in plot.curves
    ]
