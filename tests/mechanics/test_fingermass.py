"""Mass matrix of one finger about a palm at rest: the whole hand's block, and Pinocchio's."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanics.fingermass import finger_mass, place_of_joint
from signals.records import RecordArray
from signals.sizes import BODIES, FINGER_JOINTS
from tests.rigs.hand_dynamics import State, dynamics, full, off
from tests.rigs.kinematics import (
    FINGERS,
    JOINTS,
    finger_model,
    hasy_model,
    pin_tree,
    random_tree_model,
)

seeds = st.integers(0, 10_000)
MODELS = [hasy_model(), random_tree_model(0), random_tree_model(1)]
models = st.sampled_from(range(len(MODELS)))
HMC = FINGERS.index("hmc")


class Scratch:
    """Scratch and result of one finger's matrix, full of whatever was there before."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.R, self.p = rng.normal(size=(BODIES, 3, 3)), rng.normal(size=(BODIES, 3))
        self.screw, self.inertia = rng.normal(size=(BODIES, 6)), rng.normal(size=10)
        self.H = rng.normal(size=(FINGER_JOINTS, FINGER_JOINTS))

    def mass(self, model: RecordArray, f: int, q: np.ndarray) -> np.ndarray:
        """The matrix alone, shape (n, n), a copy."""
        finger_mass(model[0], f, q, self.R, self.p, self.screw, self.inertia, self.H)
        n = int(model[0]["finger_n_joints"][f])
        return self.H[:n, :n].copy()


def joints_of(model: RecordArray, f: int) -> np.ndarray:
    return model[0]["finger_joint"][f, : model[0]["finger_n_joints"][f]]


@given(models, seeds)
def test_it_is_the_fingers_block_of_the_whole_hands_matrix(index, seed):
    """Whatever the wrist and the other fingers do, and however fast: joints of a coupled ratio too."""
    model, s, scratch = MODELS[index], State(seed), Scratch(seed)
    H = dynamics(model, s)["H"]
    for f in range(len(FINGERS)):
        own = 2 + joints_of(model, f)
        assert off(scratch.mass(model, f, s.q), H[np.ix_(own, own)]) <= 1e-12


@given(models, seeds)
def test_it_is_pinocchios_block(index, seed):
    model, s, scratch = MODELS[index], State(seed), Scratch(seed)
    tree, spread = pin_tree(model)
    H = spread.T @ full(pin.crba(tree, tree.createData(), spread @ s.q[:19])) @ spread
    for f in range(len(FINGERS)):
        own = joints_of(model, f)
        assert off(scratch.mass(model, f, s.q), H[np.ix_(own, own)]) <= 1e-12


@given(seeds)
def test_a_finger_alone_on_a_base_weighs_what_it_does_on_the_hand(seed):
    """The bodies beyond its joints are the same; where the base stands is of no account."""
    s, scratch = State(seed), Scratch(seed)
    alone = np.zeros(32)
    alone[:4] = s.q[JOINTS["index"]]
    on_hand = scratch.mass(hasy_model(), FINGERS.index("index"), s.q)
    assert off(scratch.mass(finger_model(), 0, alone), on_hand) <= 1e-12


@given(models, seeds, st.integers(0, len(FINGERS) - 1))
def test_it_is_symmetric_and_positive(index, seed, f):
    H = Scratch(seed).mass(MODELS[index], f, State(seed).q)
    assert off(H, H.T) <= 1e-14
    assert np.linalg.eigvalsh(H)[0] > 0.0


@given(models, seeds, st.integers(0, len(FINGERS) - 1))
def test_nothing_stays_of_the_call_before_and_nothing_is_written_beyond_the_fingers_joints(index, seed, f):
    model, q, used = MODELS[index], State(seed).q, Scratch(seed)
    n = len(joints_of(model, f))
    for other in range(len(FINGERS)):
        used.mass(model, other, State(seed + 1).q)
    before = used.H.copy()
    H = used.mass(model, f, q)
    np.testing.assert_array_equal(H, Scratch(seed + 2).mass(model, f, q))
    np.testing.assert_array_equal(used.H[n:], before[n:])
    np.testing.assert_array_equal(used.H[:, n:], before[:, n:])


@given(models, seeds, st.integers(0, len(FINGERS) - 1))
def test_the_other_fingers_stand_still(index, seed, f):
    """Not even the joint that carries the fifth finger changes the fifth's; the fifth's joints change its."""
    model, s, scratch = MODELS[index], State(seed), Scratch(seed)
    H = scratch.mass(model, f, s.q)
    others = [j for j in range(19) if j not in joints_of(model, f)]
    if f == HMC:
        others = [j for j in others if j not in JOINTS["fifth"]]
    s.q[others] = State(seed + 1).q[others]
    assert off(scratch.mass(model, f, s.q), H) <= 1e-12
    if f == HMC:
        s.q[JOINTS["fifth"]] += 0.3
        assert abs(scratch.mass(model, f, s.q) - H).max() > 1e-5 * H.max()


@given(models, seeds, st.permutations(range(4)))
def test_rows_and_columns_are_in_the_order_of_the_fingers_joints(index, seed, order):
    f, s, scratch = FINGERS.index("middle"), State(seed), Scratch(seed)
    H = scratch.mass(MODELS[index], f, s.q)
    turned = MODELS[index].copy()
    turned[0]["finger_joint"][f, :4] = joints_of(MODELS[index], f)[order]
    np.testing.assert_array_equal(scratch.mass(turned, f, s.q), H[np.ix_(order, order)])


@pytest.mark.parametrize("f", range(len(FINGERS)))
def test_a_joint_has_its_place_in_its_own_finger_alone(f: int) -> None:
    own = JOINTS[FINGERS[f]]
    for j in range(-1, 19):
        assert place_of_joint(hasy_model()[0], f, j) == (own.index(j) if j in own else -1)
