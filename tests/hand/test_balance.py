"""Rows of straight base tendons against the mechanics; tensions that balance."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hand.assembly.assemble import model_of
from hand.file import load_hand
from hand.file.balance import insertion_row
from hand.file.fingers import ChainFinger
from hand.file.thumb_base import unheld_of
from mechanics.thumb import insertion_gradient

HAND = load_hand("hasy")
MODEL = model_of(HAND)
angle = st.floats(-0.9, 0.9)


@given(angle, angle, st.sampled_from(range(38)))
def test_a_base_row_is_that_of_the_mechanics(q0_rad: float, q1_rad: float, t: int) -> None:
    m = MODEL[0]
    if m["tendon_kind"][t] == 0:
        return
    ends = m["insertion_palm_m"][t], m["insertion_bone_m"][t]
    row = insertion_row(*ends, m["thumb_base_offset_m"][0], m["thumb_metacarpal_m"][0], q0_rad, q1_rad)
    _, first, second = insertion_gradient(MODEL[0], 0, t, q0_rad, q1_rad)
    np.testing.assert_allclose(row, (first, second), atol=1e-15)


def test_an_unheld_pose_has_a_motion_that_shortens_no_base_tendon() -> None:
    """The witness of Stiemke: along it the thumb runs away whatever the tensions are."""
    thumb = HAND.fingers["thumb"]
    assert isinstance(thumb, ChainFinger)
    unheld = unheld_of(HAND, "thumb", thumb)
    assert unheld is not None and 0.1 < unheld.share < 0.3
    m = MODEL[0]
    base = [t for t in range(38) if m["tendon_kind"][t] == 1]
    q0, q1 = math.radians(unheld.q0_deg), math.radians(unheld.q1_deg)
    rows = np.array([insertion_gradient(MODEL[0], 0, t, q0, q1)[1:] for t in base])
    ways = np.array([[math.cos(a), math.sin(a)] for a in np.linspace(0.0, 2.0 * math.pi, 721)])
    least, most = (rows @ ways.T).min(axis=0), (rows @ ways.T).max(axis=0)
    assert (-least / most).min() < 1.0 / 24.0 * 2.0  # next to nothing pulls back along the weakest way
    straight = np.array([insertion_gradient(MODEL[0], 0, t, 0.0, 0.0)[1:] for t in base])
    assert ((straight @ ways.T).min(axis=0) < -0.01).all()
