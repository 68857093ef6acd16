"""How cost grows: hands made of equal fingers, and what the bench says of them."""

import numpy as np
import pytest

from benchmarks import growth
from benchmarks.facts import facts
from benchmarks.hand_in_mujoco import hand_model
from benchmarks.show import growth_lines
from hand.assembly.assemble import model_of
from hand.file import load_hand


@pytest.mark.parametrize("fingers", growth.FINGERS)
def test_a_hand_of_equal_fingers_is_the_bench_so_many_times(tmp_path, fingers):
    path = tmp_path / "some.toml"
    path.write_text(growth.fingers_text(fingers))
    many, one = model_of(load_hand(str(path)))[0], model_of(load_hand("finger_bench"))[0]
    nt, nj = int(one["n_tendons"]), int(one["n_joints"])
    assert (many["n_tendons"], many["n_motors"], many["n_joints"]) == (
        fingers * nt,
        fingers * nt,
        fingers * nj,
    )
    for k in range(fingers):
        t, j = slice(k * nt, (k + 1) * nt), slice(k * nj, (k + 1) * nj)
        assert np.array_equal(many["P_tj_m"][t, j], one["P_tj_m"][:nt, :nj])
        assert (many["tendon_finger"][t] == k).all()
        assert list(many["tendon_motor"][t]) == list(range(k * nt, (k + 1) * nt))
    assert np.count_nonzero(many["P_tj_m"]) == fingers * np.count_nonzero(one["P_tj_m"])


def test_mujoco_has_the_same_rotors_bones_and_tendons():
    pytest.importorskip("mujoco")
    bench, hasy = (model_of(load_hand(name)) for name in ("finger_bench", "hasy"))
    found = hand_model(bench, 1e-4)
    assert (found.nv, found.ntendon) == (8 + 4, 8)  # no wrist: neither its hinges nor its tendons
    m, wrist = hasy[0], hand_model(hasy, 1e-4)
    joints = int(np.count_nonzero(m["body_joint"][: int(m["n_bodies"])] >= 0))
    assert wrist.nv == int(m["n_motors"]) + joints + int(m["n_axes"])


def test_the_bench_counts_every_hand_and_draws_it(tmp_path, monkeypatch):
    pytest.importorskip("mujoco")
    monkeypatch.setattr(growth, "FINGERS", (1, 2))
    monkeypatch.setattr(growth, "RATES_HZ", (1000.0, 3000.0))
    monkeypatch.setattr(growth, "HANDS", (1, 3))
    monkeypatch.setattr(growth, "HAND_PERIODS", 6)
    monkeypatch.setattr(growth, "MUJOCO_PERIODS", 2)
    monkeypatch.setattr(growth, "HAND", "finger_bench")
    told = []
    result = growth.measure(1, 32, told.append)
    assert [r["tendons"] for r in result["by_tendons"]] == [8, 16]
    assert [r["periods"] for r in result["by_hands"]] == [6, 4] and all(
        r["sound"] for r in result["by_hands"]
    )
    for row in (*result["by_tendons"], *result["by_rate"]):
        assert row["tick_us"] > 0.0
    share = {r["rate_hz"]: r["tick_share_of_a_core"] / r["tick_us"] for r in result["by_rate"]}
    assert share[3000.0] == pytest.approx(3 * share[1000.0], rel=0.2)
    growth.draw(result, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
    assert len(list(growth_lines({**result, "facts": facts()}))) == 2 + 1 + 2 + 2 + 2 and len(told) == 4
