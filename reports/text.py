"""A report as a screen of text."""

from __future__ import annotations

from typing import Any


def _n(value: float | None, unit: str, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}g} {unit}"


def _us(figures: dict[str, float]) -> str:
    return "  ".join(f"{name} {figures[name]:.1f}" for name in ("p50", "p99", "p999", "max"))


def lines(report: dict[str, Any], color: bool = False) -> list[str]:
    """Lines of text for people.

    Args:
        report: the report's JSON object.
        color: mark faults with terminal colours.
    """
    estimate, tracking = report["estimate_error_deg"], report["tracking_error_deg"]
    force, drift, residual = report["force_error_n"], report["fingertip_drift_mm"], report["residual_mm"]
    tension = report["tension_n"]
    pace = "lockstep" if report["lockstep"] else "real time"
    out = [
        f"{report['hand']}  {report['motion'] or 'hold'}  {report['rate_hz']:g} Hz  {pace}  "
        f"({report['backend']})",
        f"  cycles      {report['cycles']}  missed {report['missed']}  late {report['late']}  "
        f"in {report['elapsed_s']:.3f} s  ({_n(report['real_time_factor'], 'x real time')})",
        f"  wake [us]   {_us(report['wake_us'])}",
        f"  tick [us]   {_us(report['tick_us'])}",
        f"  estimate    rms {_n(estimate['rms'], 'deg')}  worst {_n(estimate['max'], 'deg')}",
        f"  tracking    rms {_n(tracking['rms'], 'deg')}",
        f"  tension     {_n(tension['min'], 'N')} to {_n(tension['max'], 'N')}",
        f"  force error rms {_n(force['rms'], 'N')} measured, {_n(force['true_rms'], 'N')} true",
        f"  fingertip   rms {_n(drift['rms'], 'mm')}  max {_n(drift['max'], 'mm')} from where it was at 1 s",
        f"  residual    rms {_n(residual['rms'], 'mm')}  max {_n(residual['max'], 'mm')}",
    ]
    for fault in report["faults"]:
        mark, plain = ("\033[31m", "\033[0m") if color else ("", "")
        where = f"{fault['finger'] or 'hand'}: " if fault["finger"] not in fault["text"] else ""
        out.append(
            f"  {mark}FAULT{plain} at {fault['time_s']:.3f} s  {fault['cause']}  {where}{fault['text']}"
        )
        out.append(f"        next: {fault['hint']}")
    if not report["faults"]:
        out.append("  no faults")
    out += [f"  notice      {text}" for text in report["notices"]]
    for key in ("picture", "log"):
        if key in report:
            out.append(f"  {key:<11} {report[key]}")
    return out
