"""Routing angles and material to losses: what the guides take of a tension, bend by bend."""

from __future__ import annotations

import math
from typing import Any, Final, Literal

import numpy as np

from hand.assembly.tendons import bending_of, guide_law, guide_of
from hand.hand import Hand
from mechanics.guides import pulled_tension_n
from reports.design.sheet import Sheet, Table
from reports.picture import COLOURS, PALE
from signals.choices import WrongChoice

LAWS: Final[tuple[Literal["saturating", "rope"], ...]] = ("saturating", "rope")
MOST_DEG: Final = 100_000.0


def guide_sheet(
    hand: Hand,
    bends_deg: tuple[float, ...] = (),
    tension_n: float | None = None,
    speed_m_s: float | None = None,
) -> Sheet:
    """Losses of every pair and law over a route of bends.

    Args:
        hand: the hand, read.
        bends_deg: bends of the route from the spring to the finger; none: the hand file's angle.
        tension_n: tension at the spring; none: the hand file's pretension.
        speed_m_s: speed of the tendon; none: 20 times that over which the friction's sign turns.

    Raises:
        WrongChoice: a bend, a tension or a speed that cannot be.
    """
    guides, m = hand.file.guides, hand.model[0]
    route = bends_deg or (math.degrees(guides.bending_angle_rad),)
    tension = float(m["pretension_n"][0]) if tension_n is None else tension_n
    turning = guides.regularisation_speed_m_s
    speed = 20.0 * turning if speed_m_s is None else speed_m_s
    _check(route, tension, speed)
    figures: dict[str, Any] = {"tension_n": tension, "speed_m_s": speed, "sum_rad": math.radians(sum(route))}
    figures["bending_n"] = bending_of(guides)
    figures |= {"pairs": _pairs(hand, figures), "route": _route(hand, route, tension)}
    own = next(p for p in figures["pairs"] if p["built_in"])
    return Sheet(
        name="guide",
        title=f"{hand.name}: losses of the tendon guides",
        line=f"{tension:g} N over {sum(route):.1f} deg of bends; built in: {guides.pair}, "
        f"{guides.law} law; it loses {100.0 * own['loss_frac']:.1f} %"
        + (f" and {figures['bending_n']:.3g} N by bending." if figures["bending_n"] else "."),
        figures={"hand": hand.name, "hand_sha256": hand.sha256} | figures,
        tables=[_pair_table(figures["pairs"]), _route_table(figures["route"])],
        draw=lambda figure: _draw(figure, hand, figures),
        about="loss over the bending angle, and tension over speed",
        notes=(
            "The saturating law (4.1) knows the sum of the bends alone; the rope law (Euler) loses the same "
            "share at each bend of the same angle. They part where the sum grows.",
            "Bending takes its force whatever the tension is; what the route's table says is without it.",
        ),
    )


def _pairs(hand: Hand, asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Every pair with both laws over the route."""
    guides, tension, speed = hand.file.guides, asked["tension_n"], asked["speed_m_s"]
    found = []
    for pair in guides.pairs:
        for law in LAWS:
            loss = guide_law(guides, pair, law).loss_frac(asked["sum_rad"])
            wound, pulled = (
                pulled_tension_n(tension, loss, asked["bending_n"], v, guides.regularisation_speed_m_s)[0]
                for v in (-speed, speed)
            )
            found.append(
                {
                    "pair": pair,
                    "law": law,
                    "built_in": pair == guides.pair and law == guides.law,
                    "loss_frac": loss,
                    "wound_in_n": wound,
                    "pulled_out_n": pulled,
                    "motor_torque_nm": (tension - wound) * abs(float(hand.model["spool_radius_m"][0, 0])),
                    "power_w": (tension - wound) * speed,
                }
            )
    return found


def _route(hand: Hand, route: tuple[float, ...], tension_n: float) -> list[dict[str, float]]:
    """Tension behind every bend, built-in pair and law."""
    built_in = guide_of(hand.file)
    sums = [math.radians(sum(route[: k + 1])) for k in range(len(route))]
    return [
        {"bend_deg": bend, "sum_rad": angle, "tension_n": tension_n * (1.0 - built_in.loss_frac(angle))}
        for bend, angle in zip(route, sums, strict=True)
    ]


def _check(route: tuple[float, ...], tension_n: float, speed_m_s: float) -> None:
    for bend in route:
        if not 0.0 <= bend <= MOST_DEG:
            raise WrongChoice(f"--bend {bend:g}: legal are 0 to {MOST_DEG:g} deg")
    if not 0.0 < tension_n < math.inf:
        raise WrongChoice(f"--tension {tension_n:g}: legal is a tension above 0 N")
    if not 0.0 < speed_m_s < math.inf:
        raise WrongChoice(f"--speed {speed_m_s:g}: legal is a speed above 0 m/s")


def _pair_table(pairs: list[dict[str, Any]]) -> Table:
    rows = [
        (
            p["pair"] + (" (built in)" if p["built_in"] else ""),
            p["law"],
            f"{100.0 * p['loss_frac']:.2f}",
            f"{p['wound_in_n']:.2f}",
            f"{p['pulled_out_n']:.2f}",
            f"{1e3 * p['motor_torque_nm']:.1f}",
        )
        for p in pairs
    ]
    heads = ("pair", "law", "loss %", "N wound in", "N pulled out", "motor mN m")
    return Table(title="Tension that reaches the finger", heads=heads, rows=rows)


def _route_table(route: list[dict[str, Any]]) -> Table:
    rows = [(f"{r['bend_deg']:g}", f"{r['sum_rad']:.3f}", f"{r['tension_n']:.3f}") for r in route]
    return Table(
        title="Along the route, built-in pair and law",
        heads=("bend deg", "sum rad", "N behind it"),
        rows=rows,
    )


def _draw(figure: Any, hand: Hand, figures: dict[str, Any]) -> None:
    total, tension_n, speed_m_s = (figures[key] for key in ("sum_rad", "tension_n", "speed_m_s"))
    bending_n = figures["bending_n"]
    left, right = figure.subplots(1, 2)
    guides = hand.file.guides
    angles = np.linspace(0.0, max(1.5 * total, math.pi), 200)
    speeds = np.linspace(-speed_m_s, speed_m_s, 401)
    for k, pair in enumerate(guides.pairs):
        color = COLOURS[k % len(COLOURS)]
        for law, style in zip(LAWS, ("-", "--"), strict=True):
            friction = guide_law(guides, pair, law)
            losses = [100.0 * friction.loss_frac(float(a)) for a in angles]
            left.plot(np.degrees(angles), losses, style, color=color, label=f"{pair}, {law}")
            loss = friction.loss_frac(total)
            reached = [
                pulled_tension_n(tension_n, loss, bending_n, float(v), guides.regularisation_speed_m_s)[0]
                for v in speeds
            ]
            right.plot(1e3 * speeds, reached, style, color=color)
    left.axvline(math.degrees(total), color=PALE, linestyle=":", label="this route")
    left.set(title="Share of the tension that is lost", xlabel="sum of the bends [deg]", ylabel="%")
    left.legend()
    right.axhline(tension_n, color=PALE, linestyle=":")
    right.set(
        title="Tension at the finger over the tendon's speed", xlabel="mm/s; negative: wound in", ylabel="N"
    )
