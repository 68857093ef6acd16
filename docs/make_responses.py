"""Steps the tension loop and each joint of the bench finger and writes docs/responses.md with its pictures.

python docs/make_responses.py
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from docs.figures import panels, plt, use_style
from reports.picture import COLOURS
from runtime.session import run_lockstep
from signals.layout import FloatArray

HERE = Path(__file__).parent
use_style()


@dataclass(frozen=True)
class Step:
    """Figures of one step response, normalised to its size."""

    rise_ms: float
    overshoot_pct: float
    bandwidth_hz: float
    settling_ms: float


def figures(time_s: FloatArray, response: FloatArray) -> Step:
    """Figures of a response that goes from about 0 to about 1; the step happens at time 0.

    Rise from 10 to 90 %, overshoot over the final value, settling into +-5 %, and the bandwidth at which the
    response's own transfer function (Fourier transform of its derivative) falls to -3 dB.
    """
    final = response[-max(20, response.size // 10) :].mean()
    y = response / final
    rise = time_s[np.argmax(y >= 0.9)] - time_s[np.argmax(y >= 0.1)]
    outside = np.flatnonzero(np.abs(y - 1.0) > 0.05)
    dt = time_s[1] - time_s[0]
    impulse = np.diff(y, prepend=0.0)
    gain = np.abs(np.fft.rfft(impulse, 1 << 16))
    frequency = np.fft.rfftfreq(1 << 16, dt)
    below = np.flatnonzero(gain < gain[0] / np.sqrt(2.0))
    return Step(1e3 * rise, 100.0 * (y.max() - 1.0), float(frequency[below[0]]), 1e3 * time_s[outside[-1]])


def responses(motion: str, seconds: float, sensors: str) -> tuple[FloatArray, dict[str, FloatArray]]:
    result = run_lockstep("finger_bench", motion=motion, seconds=seconds, every=1, sensors=sensors)
    if result.report["faults"]:
        raise SystemExit(f"{motion}: {result.report['faults'][0]['text']}")
    frames = result.frames
    signals = {
        "joint": np.degrees(frames["truth"]["joint_angle_rad"].astype(float)),
        "read": frames["state"]["observed_tension_n"].astype(float),
        "true": frames["truth"]["tension_n"].astype(float),
    }
    return result.seconds.astype(float), signals


def window(
    time_s: FloatArray, signal: FloatArray, start_s: float, length_s: float, low: float, high: float
) -> tuple[FloatArray, FloatArray]:
    chosen = (time_s >= start_s) & (time_s < start_s + length_s)
    return time_s[chosen] - start_s, (signal[chosen] - low) / (high - low)


def page(save: bool = False) -> str:
    """The page; with its picture into the folder of images."""
    rows = []
    fig, axes = panels(2, height=3.4)
    for color, (sensors, name) in zip(
        COLOURS, [("ideal", "true"), ("full", "read"), ("full", "true")], strict=False
    ):
        time_s, signals = responses("tension_step", 3.0, sensors)
        t, y = window(time_s, signals[name][:, 0], 1.5, 0.45, 20.0, 30.0)
        begin = y[: t.searchsorted(0.002)].mean()
        y = (y - begin) / (1.0 - begin)
        step = figures(t, y)
        label = f"{name} tension, {sensors} sensors"
        axes[0].plot(1e3 * t, y, color=color, label=label, linewidth=1.1)
        rows.append([f"20 to 30 N: {label}", step])
    axes[0].axhline(1.0, color="#8a94a3", linewidth=0.6)
    axes[0].set(title="Tension loop, step of 10 N", xlabel="ms", ylabel="share of the step", xlim=(0, 150))
    axes[0].legend()
    time_s, signals = responses("step", 6.0, "full")
    joints = (
        ("abduction", 1.0, 0.0, 8.0),
        ("flexion", 2.0, 10.0, 25.0),
        ("PIP", 3.0, 10.0, 25.0),
        ("DIP", 4.0, 10.0, 25.0),
    )
    for j, (name, start, low, high) in enumerate(joints):
        t, y = window(time_s, signals["joint"][:, j], start, 0.45, low, high)
        begin = y[: t.searchsorted(0.002)].mean()
        y = (y - begin) / (1.0 - begin)
        axes[1].plot(1e3 * t, y, color=COLOURS[j], label=name, linewidth=1.1)
        rows.append([f"joint impedance: {name} {low:.0f} to {high:.0f} deg", figures(t, y)])
    axes[1].axhline(1.0, color="#8a94a3", linewidth=0.6)
    axes[1].set(
        title="Joint impedance, steps at 20 N, full sensors",
        xlabel="ms",
        ylabel="share of the step",
        xlim=(0, 250),
    )
    axes[1].legend()
    if save:
        (HERE / "images").mkdir(exist_ok=True)
        fig.savefig(HERE / "images" / "responses.png", dpi=110)
    plt.close(fig)
    lines = [
        "# Step responses",
        "",
        "From lockstep runs of `finger_bench` by `python docs/make_responses.py`; the bandwidth is where the response's",
        "own transfer function falls by 3 dB. Wanted tensions change at most at the hand file's rate limit. Settled is",
        "measured from the last tenth of each window. With full sensors the lever's friction is put back into what is read",
        "([effects](effects.md)): as read without it, the same step ends 3 N beyond the wanted tension, and earlier.",
        "",
        "![step responses](images/responses.png)",
        "",
        "| step | rise 10-90 % [ms] | overshoot [%] | settled to 5 % [ms] | bandwidth [Hz] |",
        "|---|---|---|---|---|",
    ]
    for name, s in rows:
        lines.append(
            f"| {name} | {s.rise_ms:.1f} | {s.overshoot_pct:.1f} | {s.settling_ms:.0f} | {s.bandwidth_hz:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    (HERE / "responses.md").write_text(page(save=True), encoding="utf-8")


if __name__ == "__main__":
    main()
