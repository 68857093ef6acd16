"""Numbers of a run: a JSON object, a screen of text, a CSV table."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from hand.file.locate import dotted
from mechanics.dynamics.simulate import Run
from signals.layout import FloatArray
from sim.mechanisms.load import LoadedMechanism


def columns(loaded: LoadedMechanism, run: Run) -> dict[str, FloatArray]:
    """Every recorded quantity: name with unit -> values, shape (k,)."""
    system = run.system
    out: dict[str, FloatArray] = {"time_s": run.time_s}
    for title, values, hinge, slider in (
        ("q", run.q, "rad", "m"),
        ("qd", run.qd, "rad_s", "m_s"),
        ("qdd", run.qdd, "rad_s2", "m_s2"),
        ("tau", run.tau, "nm", "n"),
    ):
        for j, name in enumerate(system.dofs):
            out[f"{title}_{name}_{slider if system.sliders[j] else hinge}"] = values[:, j]
    if system.extra:
        out[system.extra] = run.extra
    if loaded.file.kind == "muscle_finger" and system.extra == "muscle_current_a":
        out["muscle_degc"] = run.z
    for name, law in loaded.mechanism.outputs.items():
        out[name] = law(run.q)
    out["kinetic_j"], out["potential_j"] = run.kinetic_j, run.potential_j
    return out


def summary(loaded: LoadedMechanism, scenario: str, run: Run, elapsed_s: float) -> dict[str, Any]:
    """What a program wants to know of a run."""
    table = columns(loaded, run)
    last = {name: float(values[-1]) for name, values in table.items()}
    words = [o.word for o in loaded.origins.values()]
    return {
        "ok": run.divergence is None,
        "mechanism": loaded.mechanism.name,
        "kind": loaded.mechanism.kind,
        "file": loaded.path,
        "scenario": scenario,
        "integrator": run.scheme.name.lower().replace("_", "-"),
        "step_s": run.step_s,
        "simulated_s": float(run.time_s[-1]),
        "elapsed_s": elapsed_s,
        "real_time_factor": float(run.time_s[-1]) / elapsed_s if elapsed_s > 0.0 else None,
        "coordinates": list(run.system.dofs),
        "end": last,
        "extremes": {
            n: [float(np.nanmin(v)), float(np.nanmax(v))] for n, v in table.items() if n != "time_s"
        },
        "energy_start_j": float(run.energy_j[0]),
        "energy_end_j": float(run.energy_j[-1]),
        "energy_change_frac": run.energy_drift,
        "divergence": None if run.divergence is None else asdict(run.divergence),
        "origins": {word: words.count(word) for word in sorted(set(words))},
        "assumed": [dotted(path) for path, o in loaded.origins.items() if o.word == "assumed"],
    }


def lines(report: dict[str, Any], run: Run) -> Iterator[str]:
    """Lines of text for people."""
    pace = report["real_time_factor"]
    yield (
        f"{report['mechanism']}  {report['scenario']}  {report['integrator']}  step {report['step_s']:g} s  "
        f"{report['simulated_s']:g} s simulated" + (f"  ({pace:.3g} x real time)" if pace else "")
    )
    heads = ("start", "end", "least", "most", "top speed", "torque")
    yield f"  {'coordinate':<22}" + "".join(f"{head:>11}" for head in heads)
    for j, name in enumerate(run.system.dofs):
        q, qd, tau = run.q[:, j], run.qd[:, j], run.tau[:, j]
        figures = (q[0], q[-1], q.min(), q.max(), np.abs(qd).max(), np.abs(tau).max())
        yield f"  {name:<22}" + "".join(f"{f:>11.4g}" for f in figures)
    unit = "m" if all(run.system.sliders) else "rad or m" if any(run.system.sliders) else "rad"
    yield f"  (positions in {unit}, speeds per second, torques in N m or N; start and end as recorded)"
    change = report["energy_change_frac"]
    yield f"  energy {report['energy_start_j']:.6g} J to {report['energy_end_j']:.6g} J (change {change:.2g})"
    origins = ", ".join(f"{n} {word}" for word, n in report["origins"].items())
    yield f"  values of the file: {origins} (--json lists the assumed ones)"


def write_csv(path: Path, table: dict[str, FloatArray]) -> None:
    """All recorded quantities, one row per instant; numbers read back exactly."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(table)
        writer.writerows(zip(*(values.tolist() for values in table.values()), strict=True))
