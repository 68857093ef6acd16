"""Page of swept guides: what every joint loses, by tension, as a picture and a table."""

from __future__ import annotations

import numpy as np

from calibration import picture
from calibration.guide_fit import GuideFit
from hand.assembly.straight import straight_jacobian
from hand.hand import Hand
from reports import page

Fits = list[tuple[list[int], list[int], GuideFit]]


def sections(hand: Hand, found: Fits) -> list[str]:
    """Losses over tension, joint by joint, and what each fit leaves."""
    rows = [
        (
            " ".join(hand.names.joints[j] for j in joints),
            f"{1e3 * fit.residual_nm:.2f}",
            str(len(fit.groups) + len(joints)),
        )
        for _, joints, fit in found
    ]
    return [
        page.picture("What joints lose", "losses over tension", _picture(hand, found)),
        page.table("Fits", ("joints", "residual [mN m]", "losses told apart"), rows),
    ]


def _picture(hand: Hand, found: Fits) -> bytes | None:
    P, m = straight_jacobian(hand.model), hand.model[0]
    tension = np.linspace(0.0, float(m["tension_max_n"][: int(m["n_tendons"])].max()), 30)
    figure = picture.figure(8.0, 4.4)
    if figure is None:
        return None
    axis = figure.subplots()
    for tendons, joints, fit in found:
        for k, j in enumerate(joints):
            share = sum(
                abs(float(P[tendons[t], j])) * float(fit.loss_frac[g])
                for g, group in enumerate(fit.groups)
                for t in group
            )
            loss = 1e3 * (float(fit.coulomb_nm[k]) + share * tension)
            line = axis.plot(tension, loss, linewidth=1.3, label=hand.names.joints[j])[0]
            half = 1e3 * float(fit.coulomb_half_nm[k])
            axis.fill_between(tension, loss - half, loss + half, color=line.get_color(), alpha=0.15)
    axis.set_xlabel("tension of all its tendons [N]")
    axis.set_ylabel("guides and own friction at the joint [mN m]")
    axis.legend(fontsize=7, ncols=3)
    axis.grid(alpha=0.3)
    return picture.png(figure)
