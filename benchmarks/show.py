"""The results of the benches as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

SHOWN: Final = 200
"""Instructions per tick from which on a law has a line."""


def _verdict(row: dict[str, Any]) -> str:
    if not row["judged"]:
        return "no verdict"
    return "MISSED" if row["missed"] else "kept"


def _ratio(ratio: dict[str, Any]) -> str:
    bound = "" if ratio["bound"] is None else f"  bound {ratio['bound']:g}  {_verdict(ratio)}"
    interval = f"[{ratio['low']:.3f}, {ratio['high']:.3f}]"
    return f"  {ratio['name']:<44} {ratio['median']:7.3f}  95 % {interval:<18}{bound}"


def ratio_lines(ratios: list[dict[str, Any]]) -> Iterator[str]:
    """Ratios with their intervals; bounded ones first."""
    for ratio in sorted(ratios, key=lambda r: r["bound"] is None):
        yield _ratio(ratio)


def fact_lines(facts: dict[str, Any]) -> Iterator[str]:
    """Machine and versions, two lines."""
    m, v = facts["machine"], facts["versions"]
    yield (
        f"{m['processor']}, {len(m['cores'])} cores, kernel {m['kernel']}, preemption {m['preemption']}, "
        f"clock {m['clock']}{', virtual' if m['virtual'] else ''}, load {m['load']}"
    )
    yield ", ".join(f"{name} {text}" for name, text in v.items() if name != "cc_flags")


def loop_lines(result: dict[str, Any]) -> Iterator[str]:
    """Result of the interleaved rounds."""
    yield from fact_lines(result["facts"])
    yield f"{result['rounds']} rounds of {result['seconds']:g} s, {result['hand']} {result['motion']}"
    yield ""
    yield f"  {'':<16} {'wake p50':>9} {'p99':>9} {'p99.9':>9} {'response p50':>13} {'late':>6} {'missed':>7}"
    for name, row in result["participants"].items():
        response = row.get("response_p50_us")
        shown = "-" if response is None else f"{response:.1f}"
        yield (
            f"  {name:<16} {row['wake_p50_us']:9.1f} {row['wake_p99_us']:9.1f} {row['wake_p999_us']:9.1f} "
            f"{shown:>13} {row['late']:6d} {row['missed']:7d}"
        )
    yield "  medians of the rounds [us]; late and missed of all rounds together"
    yield ""
    yield from ratio_lines(result["ratios"])
    if result["company"]:
        yield ""
        yield "  in company (io, recorder, five subscribers, the page), beside alone in the same rounds:"
    for row in result["company"]:
        beside = f"alone {row['alone']:.3f}, worse by {row['shift']:+.3f}, its width {row['width']:.3f}"
        yield f"  {row['name']:<44} {row['together']:7.3f}  {beside}  {_verdict(row)}"
    yield ""
    yield f"  bounds missed: {', '.join(result['missed']) or 'none'}"


def tick_lines(result: dict[str, Any]) -> Iterator[str]:
    """Result of the tick beside the reference tick."""
    yield from fact_lines(result["facts"])
    yield f"{result['hand']} {result['motion']}, {result['rounds']} rounds of {result['ticks']} ticks"
    yield f"medians [us]: {', '.join(f'{k} {v:.2f}' for k, v in result['medians_us'].items())}"
    yield f"reference: {result['reference']['channels']} channels, {result['reference']['sentence']}"
    yield from ratio_lines(result["ratios"])


def kernel_lines(result: dict[str, Any]) -> Iterator[str]:
    """Result of counting instructions."""
    yield f"{result['hand']} {result['motion']}: {result['instructions_per_tick']:.0f} instructions per tick"
    if len(result["counts"]) > 1:
        yield f"  counted {len(result['counts'])} times, spread {100 * result['spread_frac']:.4f} %"
    if result["reference_instructions_per_tick"]:
        yield (
            f"  reference tick of {result['reference_channels']} channels: "
            f"{result['reference_instructions_per_tick']:.0f}"
        )
    if result.get("lean"):
        beside = result["lean"]
        yield (
            f"  lean tick: {beside['instructions_per_tick']:.0f}, ours / lean {beside['ratio']:.2f}; "
            f"its commands differ by {beside['commands_differ']:.1e} of full scale"
        )
        if beside["time"]:
            yield _ratio(beside["time"])
    for sentence in result["said"]:
        yield f"  {sentence}"
    yield f"  gate {'held' if result['held'] else 'NOT HELD'}"


def law_lines(result: dict[str, Any]) -> Iterator[str]:
    """Whose the instructions are: stages, their steps, laws, functions of the C library."""
    stages: dict[str, int] = {}
    for step, count in result["stages"].items():
        stage = step.split(" > ")[0] or "loop"
        stages[stage] = stages.get(stage, 0) + count
    for stage, count in sorted(stages.items(), key=lambda row: -row[1]):
        yield f"  {count:8d}  {stage}"
        for step, part in result["stages"].items():
            if step.startswith(f"{stage} > ") and part >= SHOWN:
                yield f"  {part:8d}    {step.split(' > ')[1]}"
    for title, rows in (("by law, with what it calls in the C library", "laws"), ("C library", "library")):
        yield f"  {title}:"
        yield from (f"  {count:8d}  {name}" for name, count in result[rows].items() if count >= SHOWN)
    total, mine = sum(result["laws"].values()), result["instructions_per_tick"]
    yield f"  {total:8d}  sum of the laws, {100 * (total / mine - 1.0):+.2f} % of the whole count"


def stage_lines(result: dict[str, Any]) -> Iterator[str]:
    """Where the lockstep time goes."""
    yield from fact_lines(result["facts"])
    cycle = result["cycle_us"]
    yield f"{result['hand']} {result['motion']}, one cycle of {1e6 / result['rate_hz']:.1f} us simulated:"
    for name, value in result["stages_us"].items():
        yield f"  {name:<26} {value:8.2f} us {100 * value / cycle:5.1f} %"
    yield f"  {'cycle':<26} {cycle:8.2f} us"
    factor = result["real_time_factor"]
    verdict = "MISSED" if factor["missed"] else "kept"
    yield (
        f"  real_time_factor {factor['median']:.2f}  95 % [{factor['low']:.2f}, {factor['high']:.2f}]  "
        f"bound {factor['bound']:g}  {verdict}  (by processor time {factor['by_cpu_time']:.2f})"
    )


def lockstep_lines(result: dict[str, Any]) -> Iterator[str]:
    """One hand beside real time, and hands side by side."""
    yield from fact_lines(result["facts"])
    yield f"{result['hand']} {result['motion']}, {result['hands']} hands, {result['at_once']} at a time:"
    for name, row in result.items():
        if isinstance(row, dict) and "median" in row:
            verdict = "MISSED" if name in result["missed"] else "kept"
            bound = "" if row["bound"] is None else f"  bound {row['bound']:g}  {verdict}"
            interval = f"[{row['low']:.2f}, {row['high']:.2f}]"
            yield f"  {name.replace('_', ' '):<30} {row['median']:7.2f}  95 % {interval}{bound}"


def growth_lines(result: dict[str, Any]) -> Iterator[str]:
    """Cost by tendons, rate and hands."""
    yield from fact_lines(result["facts"])
    yield "microseconds of processor time for a period of 1/3 ms; MuJoCo over the plant with its interval:"
    for row in result["by_tendons"]:
        ratio = "{:.1f} [{:.1f}, {:.1f}]".format(*row["mujoco_over_plant"])
        yield (
            f"  {row['tendons']:4d} tendons  tick {row['tick_us']:5.2f}  plant {row['plant_us']:6.2f}  "
            f"MuJoCo {row['mujoco_us']:7.1f}  ratio {ratio}"
        )
    for row in result["by_rate"]:
        share = 100 * row["tick_share_of_a_core"]
        yield (
            f"  {row['rate_hz']:6g} Hz  tick {row['tick_us']:5.2f}, {share:4.1f} % of a core; lockstep "
            f"{row['times_real_time']:5.1f} times real time"
        )
    for row in result["by_hands"]:
        ours, theirs = row["period_cpu_us"], row["mujoco_cpu_us"]
        yield f"  {row['hands']:4d} hands  plants {ours:6.2f}  MuJoCo {theirs:7.1f}"


def soak_lines(result: dict[str, Any]) -> Iterator[str]:
    """Result of the long run."""
    load = "under stress-ng" if result["under_load"] else "without load"
    yield f"{result['seconds']:g} s {load}: {result['cycles']} cycles + {result['missed_cycles']} missed"
    yield f"  slots {result['slots']}, elapsed x rate {result['elapsed_times_rate']}, late {result['late']}"
    yield (
        f"  {result['frames_checked']} frames checked, {result['frames_off_grid']} off the grid, "
        f"{result['frames_not_seen']} not seen"
    )
    for name, m in result["memory"].items():
        yield (
            f"  {name:<8} {m['first_bytes'] / 2**20:.1f} MB first, {m['last_bytes'] / 2**20:.1f} MB last, "
            f"grown {m['growth_bytes'] / 2**20:.2f} MB after settling"
        )
    for sentence in result["broken"]:
        yield f"  BROKEN: {sentence}"
    if not result["broken"]:
        yield "  every promise kept"
