"""How cost grows: with the tendons of a hand, with its rate, with hands side by side; MuJoCo beside.

Hands of 8 to 56 tendons are the bench finger, once to seven times on one palm (eight have a bone more than
records hold). MuJoCo steps the same rotors, bones and tendons (``hand_in_mujoco``) as often as the plant's
substeps; many hands are a batch of plants (``sim.batch``) beside MuJoCo's own threads (``mujoco.rollout``).
All participants of a group take turns in every round, and a ratio is taken within its round.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.hand_in_mujoco import hand_model
from benchmarks.ratios import median_interval
from benchmarks.stages import Bench
from hand.assembly.assemble import model_of
from hand.file import load_hand
from hand.options import RunOptions
from signals.modes import MotorMode
from signals.records import RecordArray
from sim.batch import Batch
from sim.options import MIN_SUBSTEPS, SimOptions

FINGERS: Final = (1, 2, 3, 4, 5, 6, 7)
RATES_HZ: Final = (500.0, 1000.0, 2000.0, 3000.0, 5000.0)
HANDS: Final = (1, 2, 4, 16, 64, 256, 1000)
HAND: Final = "hasy"
HAND_PERIODS: Final = 1000
"""Periods of all hands together in a turn, and no less than ``LEAST_PERIODS`` of each."""
LEAST_PERIODS: Final = 4
CURRENT_A: Final = 0.8
MUJOCO_PERIODS: Final = 200

Tell = Callable[[str], None]


def fingers_text(count: int) -> str:
    """The bench finger's hand file with ``count`` equal fingers."""
    text = (files("configs") / "hands" / "finger_bench.toml").read_text(encoding="utf-8")
    head, rest = text.split("tendons = [\n", 1)
    tendons, rest = rest.split("]\n", 1)
    before, rest = rest.split("[motors]", 1)
    motors = re.findall(r"^m_index_(\d+) = \d+$", rest, re.MULTILINE)
    rest = re.sub(r"^m_index_\d+ = \d+\n", "", rest, flags=re.MULTILINE)
    line, rest = rest.split("\n", 1)
    fingers = re.findall(r"^\[fingers\.index.*?(?=^\[(?!fingers))", rest, re.MULTILINE | re.DOTALL)
    assert len(fingers) == 1, "the bench has one finger"
    names, n = [f"finger{k + 1}" for k in range(count)], len(motors)
    wires = "".join(f"m_{name}_{i + 1} = {k * n + i + 1}\n" for k, name in enumerate(names) for i in range(n))

    def numbered(row: str, k: int) -> str:
        return re.sub(r"(hall_channel|number) = (\d+)", lambda m: f"{m[1]} = {k * n + int(m[2])}", row)

    rows = "".join(numbered(tendons, k).replace("index", name) for k, name in enumerate(names))
    bodies = "".join(
        re.sub(r"number = \d+", f"number = {k + 1}", fingers[0]).replace("index", name)
        for k, name in enumerate(names)
    )
    rest = rest.replace(fingers[0], bodies).replace("finger_bench", f"fingers_{count}")
    return f"{head}tendons = [\n{rows}]\n{before}[motors]{line}\n{wires}{rest}"


def _mujoco(model: RecordArray) -> Callable[[], float]:
    """Seconds of processor time for a period of MuJoCo's hand, all rotors under a changing torque."""
    import mujoco

    one = hand_model(model, float(model["dt_s"][0]) / MIN_SUBSTEPS)
    state, n = mujoco.MjData(one), int(model["n_motors"][0])
    rotors = np.array([one.joint(f"rotor{i}").dofadr[0] for i in range(n)])
    turn = iter(range(1 << 30))

    def work() -> float:
        torque = CURRENT_A * model["motor_torque_constant_nm_a"][0, :n]
        state.qfrc_applied[rotors] = torque * np.sin(0.4 * next(turn) + np.arange(n))
        begun = time.thread_time()
        mujoco.mj_step(one, state, MUJOCO_PERIODS * MIN_SUBSTEPS)
        return (time.thread_time() - begun) / MUJOCO_PERIODS

    return work


def by_size(rounds: int, cycles: int, tell: Tell) -> list[dict[str, Any]]:
    """Hands of 8 to 56 tendons: where a cycle's time goes, and MuJoCo's time for the same period."""
    with tempfile.TemporaryDirectory() as folder:
        benches, others = [], []
        for count in FINGERS:
            path = Path(folder) / f"fingers_{count}.toml"
            path.write_text(fingers_text(count), encoding="utf-8")
            benches.append(Bench(RunOptions(hand=str(path), seconds=1e6), MIN_SUBSTEPS))
            others.append(_mujoco(model_of(load_hand(str(path)))))
        rows: list[list[dict[str, float]]] = [[] for _ in FINGERS]
        for k in range(rounds):
            for row, bench, other in zip(rows, benches, others, strict=True):
                row.append({**bench.block(cycles), "mujoco": 1e6 * other()})
            tell(
                f"tendons, round {k + 1}/{rounds}: "
                + ", ".join(f"{r[-1]['cycle']:.1f}" for r in rows)
                + " us"
            )
        tendons = [int(b.session.hand.model["n_tendons"][0]) for b in benches]
        for bench in benches:
            bench.session.close()
    return [{"tendons": n, **_sizes(row)} for n, row in zip(tendons, rows, strict=True)]


def _sizes(rows: list[dict[str, float]]) -> dict[str, Any]:
    def middle(*names: str) -> float:
        return round(float(np.median([sum(row[name] for name in names) for row in rows])), 3)

    ratio = median_interval([row["mujoco"] / row["exchange"] for row in rows])
    return {
        "tick_us": middle("estimate", "control", "guard"),
        "plant_us": middle("exchange"),
        "cycle_us": middle("cycle"),
        "mujoco_us": middle("mujoco"),
        "mujoco_over_plant": [round(v, 3) for v in ratio],
    }


def by_rate(rounds: int, cycles: int, tell: Tell) -> list[dict[str, Any]]:
    """The reference hand at several rates: the tick's share of a core, and times real time in lockstep."""
    benches = [Bench(RunOptions(hand=HAND, rate_hz=rate, seconds=1e6), MIN_SUBSTEPS) for rate in RATES_HZ]
    rows: list[list[dict[str, float]]] = [[] for _ in RATES_HZ]
    for k in range(rounds):
        for row, bench in zip(rows, benches, strict=True):
            row.append(bench.block(cycles))
        tell(f"rates, round {k + 1}/{rounds}")
    found = []
    for rate, bench, row in zip(RATES_HZ, benches, rows, strict=True):
        tick = float(np.median([r["estimate"] + r["control"] + r["guard"] for r in row]))
        cycle = float(np.median([r["cycle"] for r in row]))
        found.append(
            {
                "rate_hz": rate,
                "tick_us": round(tick, 3),
                "tick_share_of_a_core": round(1e-6 * tick * rate, 4),
                "times_real_time": round(1e6 / rate / cycle, 2),
            }
        )
        bench.session.close()
    return found


def _rollout(model: RecordArray, hands: int, periods: int, cores: int) -> Callable[[], None]:
    """MuJoCo's batch: the same numbers of hands, periods and threads."""
    import mujoco
    from mujoco.rollout import Rollout

    one = hand_model(model, float(model["dt_s"][0]) / MIN_SUBSTEPS)
    data = mujoco.MjData(one)
    spec = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.empty(mujoco.mj_stateSize(one, spec))
    mujoco.mj_getState(one, data, start, spec)
    n, steps = int(model["n_motors"][0]), periods * MIN_SUBSTEPS
    applied = np.zeros((hands, 1, one.nv))
    rotors = [one.joint(f"rotor{i}").dofadr[0] for i in range(n)]
    phase = np.arange(n) + np.arange(hands)[:, None]
    applied[:, :, rotors] = (CURRENT_A * model["motor_torque_constant_nm_a"][0, :n] * np.sin(phase))[:, None]
    states = np.empty((hands, steps, len(start)))
    threads = [mujoco.MjData(one) for _ in range(cores)]
    roll = Rollout(nthread=cores)

    def work() -> None:
        roll.rollout(
            one,
            threads,
            start[None, :],
            applied,
            control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED),
            nstep=steps,
            state=states,
        )

    return work


def _periods(hands: int) -> int:
    return max(HAND_PERIODS // hands, LEAST_PERIODS)


def by_hands(rounds: int, tell: Tell) -> list[dict[str, Any]]:
    """1 to 1000 plants of the reference hand on all cores beside MuJoCo's batch of the same hand."""
    model, cores, found = model_of(load_hand(HAND)), len(os.sched_getaffinity(0)), []
    for hands in HANDS:
        periods = _periods(hands)
        theirs, rows = _rollout(model, hands, periods, min(hands, cores)), []
        with Batch(model, SimOptions(), plants=hands) as batch:
            n = int(model["n_motors"][0])
            batch.command["motor_mode"][:, :n] = int(MotorMode.CURRENT)
            phase = np.arange(n) + np.arange(hands)[:, None]
            batch.command["motor_current_a"][:, :n] = CURRENT_A * np.sin(phase)
            batch.step(LEAST_PERIODS)
            for _ in range(rounds):
                marks = [(time.perf_counter(), time.process_time())]
                batch.step(periods)
                marks.append((time.perf_counter(), time.process_time()))
                theirs()
                marks.append((time.perf_counter(), time.process_time()))
                rows.append(np.diff(np.array(marks), axis=0) / (hands * periods))
            sound = bool((batch.diverged == 0).all())
        table = 1e6 * np.array(rows)  # us of a period: rounds, ours and theirs, clock and processor
        ratio = median_interval(table[:, 1, 0] / table[:, 0, 0])
        found.append(
            {
                "hands": hands,
                "periods": periods,
                "period_us": round(float(np.median(table[:, 0, 0])), 3),
                "period_cpu_us": round(float(np.median(table[:, 0, 1])), 3),
                "mujoco_us": round(float(np.median(table[:, 1, 0])), 3),
                "mujoco_cpu_us": round(float(np.median(table[:, 1, 1])), 3),
                "mujoco_over_batch": [round(v, 3) for v in ratio],
                "sound": sound,
            }
        )
        tell(f"{hands} hands: {found[-1]['period_us']:.1f} us a period, MuJoCo {found[-1]['mujoco_us']:.1f}")
    return found


def measure(rounds: int, cycles: int, tell: Tell = lambda _: None) -> dict[str, Any]:
    """All three, in their own interleaved rounds.

    Args:
        rounds: rounds.
        cycles: cycles of a hand's turn in a round.
        tell: told how far it is.
    """
    return {
        "by_tendons": by_size(rounds, cycles, tell),
        "by_rate": by_rate(rounds, cycles, tell),
        "by_hands": by_hands(rounds, tell),
        "missed": [],
    }


def draw(result: dict[str, Any], path: Path) -> None:
    """Three pictures beside each other, as PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 4.2), layout="constrained")
    size, rate, hands = figure.subplots(1, 3)
    rows = result["by_tendons"]
    for key, label in (
        ("tick_us", "tick"),
        ("plant_us", "plant, 4 substeps"),
        ("mujoco_us", "MuJoCo, 4 steps"),
    ):
        size.plot([r["tendons"] for r in rows], [r[key] for r in rows], "o-", label=label)
    size.set(xlabel="tendons", ylabel="processor time of a period [us]", title="A hand's size")
    size.set_yscale("log")
    size.legend()
    rows = result["by_rate"]
    rate.plot([r["rate_hz"] for r in rows], [100 * r["tick_share_of_a_core"] for r in rows], "o-")
    rate.set(xlabel="control rate [Hz]", ylabel="the tick's share of a core [%]", title="Rate, 38 tendons")
    rate.set_ylim(0, None)
    rows = result["by_hands"]
    for key, label in (("period_cpu_us", "batch of plants"), ("mujoco_cpu_us", "MuJoCo's batch")):
        hands.loglog([r["hands"] for r in rows], [r[key] for r in rows], "o-", label=label)
    hands.set(
        xlabel="hands at once", ylabel="processor time of a hand's period [us]", title="Hands, 38 tendons"
    )
    hands.set_ylim(5, 500)
    hands.legend()
    for axes in (size, rate, hands):
        axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)
