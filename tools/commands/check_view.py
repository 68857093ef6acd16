"""The effective hand as compact tables for a terminal of any width."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hand.assembly.assemble import hand_sha256
from hand.assembly.drives import friction_is_told
from hand.assembly.pace import Pace
from hand.file.drives import Drive, PmsmDrive
from hand.file.fingers import ChainFinger, TreeFinger
from hand.file.hand import HandFile
from hand.file.locate import Path
from hand.file.origins import Origin
from hand.review.sight import sights_of
from hand.review.suspicions import facts, suspicions
from tools.commands.check_facts import assumed, counts, origin_counts, spoken


def show(file: HandFile, pace: dict[str, list[Pace]], console: Console | None = None) -> None:
    """Print the hand, its pace, the assumed values, notices and warnings."""
    out = console or Console(highlight=False)
    parts = spoken(counts(file))
    out.print(Text(f"{file.name}: {file.description}", style="bold"))
    out.print(Text(f"{file.path}\nsha256 {hand_sha256(file)}\n{parts}; {file.control.rate_hz:g} Hz"))
    lines = _gear_table(file) if file.gears else _tendon_table(file)
    out.print(_drive_table(file), _finger_table(file), lines, _sight_table(file), _pace_table(pace))
    show_origins(file.model_dump(mode="json"), file.origins, out)
    for notice in file.notices:
        out.print(Text(f"notice: {notice}", style="cyan"), soft_wrap=True)
    for fact in facts(file):
        out.print(Text(f"note: {fact}", style="cyan"), soft_wrap=True)
    for suspicion in suspicions(file):
        out.print(Text(f"warning: {suspicion}", style="yellow"), soft_wrap=True)


def show_origins(values: Any, origins: Mapping[Path, Origin], out: Console) -> None:
    """The assumed values with their reasons, and how many values have each label."""
    out.print(Text("assumed values", style="bold"))
    for line in _assumed_lines(values, origins):
        out.print(Text(f"  {line}"), soft_wrap=True)
    labels = ", ".join(f"{n} {word}" for word, n in origin_counts(origins).items() if n)
    out.print(Text(f"origins: {labels}"))


def table_of(*columns: str) -> Table:
    """A plain table; without names of columns, without a head."""
    table = Table(box=box.SIMPLE, show_header=any(columns), pad_edge=False, collapse_padding=True)
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    return table


def _drive_table(file: HandFile) -> Table:
    table = table_of("", "")
    tendon, guides = file.tendon, file.guides
    low, high, most = tendon.force_min_n, tendon.force_max_n, tendon.force_limit_n
    rows: dict[str, str] = {}
    for name, drive in file.drive_types.items():
        rows |= _drive_rows(file, drive, "" if file.drives is None else f"{name}: ")
    if not file.gears:
        rows |= {
            "spool radius": f"{file.spool.radius_m * 1e3:g} mm",
            "tension": f"{low:g} to {high:g} N, pretension {tendon.pretension_n:g} N, guard at {most:g} N",
            "guides": f"{guides.law} law, {guides.pair}, {guides.bending_angle_rad:g} rad",
        }
    rows |= {
        "controller": f"{file.controller}; estimator: {file.estimator}",
        "gravity": " ".join(f"{g:g}" for g in file.surroundings.gravity_m_s2) + " m/s2",
    }
    if file.wrist is not None:
        pitch, yaw = file.wrist.pitch_range_deg, file.wrist.yaw_range_deg
        rows["wrist"] = f"pitch {pitch[0]:g} to {pitch[1]:g} deg, yaw {yaw[0]:g} to {yaw[1]:g} deg"
        zeros = [(name, file.measured(name).sensor_zero_deg) for name in file.axes]
        if told := [f"{name} {zero:+.3f} deg" for name, zero in zeros if zero is not None]:
            rows["zeros of sensors"] = ", ".join(told)
    for name, text in rows.items():
        table.add_row(name, text)
    return table


def _drive_rows(file: HandFile, drive: Drive, of: str) -> dict[str, str]:
    """What is known of one type of drive; ``of`` stands in front of each line's name."""
    kt, current, friction = drive.torque_nm_a, file.current_limit_a(drive), drive.friction
    rows = {
        f"{of}torque limit": f"{current * kt:.2f} N m ({current:g} A x {kt:g} N m/A)",
        f"{of}friction": f"{friction.gamma_1_s_rad:g} s/rad, {friction.gamma_2_nm:g} N m, "
        f"{friction.gamma_3_nms_rad:g} N m s/rad",
    }
    if isinstance(drive, PmsmDrive):
        highest = max((r.order for r in drive.ripple), default=0)
        rows[f"{of}ripple"] = f"{len(drive.ripple)} harmonics, orders up to {highest}"
    if file.drives is not None:
        reports = ", ".join(drive.reports)
        unseen = (
            ""
            if friction_is_told(drive, 1.0 / file.control.rate_hz)
            else "; growing friction is not detected"
        )
        rows[f"{of}takes"] = f"{drive.command.replace('_', ' and ')}; reports {reports}{unseen}"
    return rows


def _own(name: str, finger: str) -> str:
    """A joint's name without its finger's."""
    return name.removeprefix(f"{finger}_")


def _finger_table(file: HandFile) -> Table:
    table = table_of("finger", "on", "joint ranges [deg]", "bones [mm]", "after a fault")
    for name, finger in file.fingers.items():
        ranges = ", ".join(
            f"{_own(j.name, name)} {j.range_deg[0]:g}..{j.range_deg[1]:g}" for j in finger.joints
        )
        bones = "-"
        if isinstance(finger, ChainFinger):
            bones = " ".join(f"{b.length_m * 1e3:g}" for b in finger.bones)
            if finger.coupled_ratio is not None:
                ranges += f" (turns the distal bone {finger.coupled_ratio:g} times)"
        elif isinstance(finger, TreeFinger):
            ways = [math.dist((0.0, 0.0, 0.0), b.position_m) for b in finger.bones[1:]]
            ways += [math.dist((0.0, 0.0, 0.0), finger.tip_m)] if finger.tip_m is not None else []
            bones = " ".join(f"{w * 1e3:.3g}" for w in ways) or "-"
        table.add_row(name, finger.parent, ranges, bones, finger.reaction)
    return table


def _sensor(file: HandFile, tendon: str) -> str:
    """Kind and channel of a tendon's sensor."""
    kind = "Hall" if file.force_sensor_at(tendon) is None else "force"
    channel, difference = file.channel_at(tendon), file.difference_at(tendon)
    if difference is not None:
        return f"force {channel}, less {difference.against}"
    return "none" if channel is None else f"{kind} {channel}"


def _tendon_table(file: HandFile) -> Table:
    table = table_of("tendon", "motor = id", "sensor", "dh/dq [mm/rad]", "l0 [m]")
    ids = dict(zip(file.motors, file.motor_ids, strict=True))
    for tendon in file.tendons:
        row = (tendon.dh_dq_m_rad or {}).items()
        path = ", ".join(f"{_own(joint, tendon.finger)} {value * 1e3:+g}" for joint, value in row)
        motor = f"{tendon.motor} = {ids[tendon.motor]}"
        path = path or f"straight, point {tendon.insertion}"
        table.add_row(tendon.name, motor, _sensor(file, tendon.name), path, f"{tendon.length_m:g}")
    return table


def _gear_table(file: HandFile) -> Table:
    table = table_of("gear", "motor = id", "turns of the motor per joint", "stiffness [N m/rad]")
    ids = dict(zip(file.motors, file.motor_ids, strict=True))
    for gear in file.gears:
        ratios = ", ".join(f"{_own(j, gear.finger)} {v:+g}" for j, v in gear.motor_per_joint.items())
        table.add_row(gear.name, f"{gear.motor} = {ids[gear.motor]}", ratios, f"{gear.stiffness_nm_rad:g}")
    return table


def _sight_table(file: HandFile) -> Table:
    table = table_of("finger", "joints seen by", "tension by", "redundant", "not detected")
    rows: dict[tuple[str, ...], list[str]] = {}
    for s in sights_of(file):
        redundant = "yes" if "redundancy" in s.can else "no"
        cells = (s.joints, s.tension, redundant, "; ".join(s.not_detected) or "-")
        rows.setdefault(cells, []).append(s.finger)
    for row, fingers in rows.items():
        table.add_row(", ".join(fingers), *row)
    return table


def _pace_table(pace: dict[str, list[Pace]]) -> Table:
    table = table_of("reference of", "speed up to [deg/s]", "acceleration up to [deg/s2]")
    for p in (*pace["joints"], *pace["axes"]):
        speed, acceleration = f"{p.speed_max_deg_s:.0f}", f"{p.acceleration_max_deg_s2:.0f}"
        table.add_row(p.name, f"{speed} ({p.speed_from})", f"{acceleration} ({p.acceleration_from})")
    return table


def _assumed_lines(values: Any, origins: Mapping[Path, Origin]) -> list[str]:
    """One line per key and reason; the items of an array and parallel tables share a line."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for path, value, why in assumed(values, origins):
        many = path[0] in ("fingers", "motors")
        parts = ["*" if isinstance(p, int) or (k == 1 and many) else str(p) for k, p in enumerate(path)]
        grouped.setdefault((".".join(parts), why), []).append(_short(value))
    lines = []
    for (key, why), shown in grouped.items():
        same = len(set(shown)) == 1
        text = shown[0] if same else f"{shown[0]} and {len(shown) - 1} more"
        lines.append(f"{key} = {text}" + (f"  ({why})" if why else ""))
    return lines


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_short(v)}" for k, v in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(_short(v) for v in value) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)
