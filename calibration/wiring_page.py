"""Findings about connections as parts with verdicts, and their picture."""

from __future__ import annotations

import numpy as np

from calibration import picture
from calibration.part import GOOD, OPEN, Part
from calibration.wiring import Wiring
from hand.hand import Hand
from reports import page


def parts_of(hand: Hand, wiring: Wiring) -> list[Part]:
    """A row for every tendon: what is wrong, or that its own sensor answers."""
    names = hand.names.tendons
    found = {finding.part: finding for finding in wiring.findings}
    rows = []
    for k, t in enumerate(wiring.tendons):
        finding = found.pop(names[t], None)
        if finding is not None:
            rows.append(finding.row("wiring"))
        elif wiring.findings:
            text = "not looked at to the end: see to the others first"
            rows.append(Part.bare(names[t], "wiring", "1", OPEN, text))
        else:
            own = float(wiring.answers[t, k])
            text = f"its own sensor takes {100 * own:.0f} % of what its motor winds"
            rows.append(Part.bare(names[t], "wiring", "1", GOOD, text, own))
    return [finding.row("wiring") for finding in found.values()] + rows


def sections(hand: Hand, wiring: Wiring) -> list[str]:
    """The answers of all sensors to all windings, as a picture."""
    return [page.picture("Which sensor answers as a motor winds", "answers", _picture(hand, wiring))]


def _picture(hand: Hand, wiring: Wiring) -> bytes | None:
    if not wiring.answers.shape[1]:
        return None
    names = hand.names
    motors = [names.motors[int(hand.model[0]["tendon_motor"][t])] for t in wiring.tendons]
    size = 2.4 + 0.26 * max(len(motors), len(names.tendons))
    figure = picture.figure(size + 1.0, size)
    if figure is None:
        return None
    axis = figure.subplots()
    image = axis.imshow(np.nan_to_num(wiring.answers), cmap="RdBu_r", vmin=-1.0, vmax=1.0)
    axis.set_xticks(range(len(motors)), motors, rotation=90, fontsize=8)
    axis.set_yticks(range(len(names.tendons)), names.tendons, fontsize=8)
    axis.set_xlabel("motor that winds")
    axis.set_ylabel("Hall sensor that answers")
    figure.colorbar(image, label="stretch per winding", shrink=0.8)
    return picture.png(figure)
