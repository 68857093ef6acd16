"""Hand files with trees, drawn or written down, and the same trees in Pinocchio, from the file's text."""

from __future__ import annotations

import copy
import tomllib
from typing import Any

import numpy as np
import pinocchio as pin
import tomlkit

from hand.file import parse_hand
from hand.file.hand import HandFile
from tests.rigs.mutations import HANDS


def _with_levers() -> dict[str, Any]:
    """The hand file with a tree whose tendons have springs of kind lever and Hall sensors."""
    raw, levers = (tomllib.loads((HANDS / f"{n}.toml").read_text()) for n in ("n_plus_one", "finger_bench"))
    del raw["sensors"], raw["origin"]["sensors"]
    for key in ("tendon", "hysteresis", "hall", "springs"):
        raw[key] = levers[key]
    return raw


BASE = _with_levers()
JOINT = {"viscous_nms_rad": 1e-3, "coulomb_nm": 0.01, "impedance_nm_rad": 4.0, "damping_nms_rad": 0.02}


def joint(name: str, low: float = -30.0, high: float = 60.0, role: str = "flexion") -> dict[str, Any]:
    """A joint's table."""
    return {"name": name, "role": role, "range_deg": [low, high], **JOINT}


def bone(name: str, rng: np.random.Generator, **keys: Any) -> dict[str, Any]:
    """A bone's table with a drawn place, axis and mass."""
    axis, points = rng.normal(size=3), rng.normal(size=(6, 3)) * 0.01
    points -= points.mean(axis=0)
    mass = float(rng.uniform(0.005, 0.05))
    I = mass / 6.0 * sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)  # noqa: E741 - of a cloud of points
    return {
        "name": name,
        "position_m": (rng.normal(size=3) * 0.03).tolist(),
        "rpy_deg": rng.uniform(-180.0, 180.0, 3).tolist(),
        "axis": (axis / np.linalg.norm(axis)).tolist(),
        "mass_kg": mass,
        "com_m": (rng.normal(size=3) * 0.01).tolist(),
        "inertia_kg_m2": [float(I[k]) for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))],
    } | keys


def finger(
    parent: str, joints: list[dict[str, Any]], bones: list[dict[str, Any]], **keys: Any
) -> dict[str, Any]:
    """A finger's table with its one label."""
    table = {"kind": "tree", "parent": parent, "reaction": "release", "residual_limit_m": 1e-3}
    return table | keys | {"joints": joints, "bones": bones, "origin": "assumed"}


def pairs(
    name: str, joints: list[dict[str, Any]], over: dict[str, float] | None = None
) -> list[dict[str, Any]]:
    """Two opposed tendons for each joint; those of the first run over joints of a carrier too."""
    rows = []
    for k, j in enumerate(joints):
        for side in (-1, 1):
            across = {c: p for c, p in (over or {}).items()} if k == 0 else {}
            row = {j["name"]: 0.006 * side, **across}
            rows.append(
                {"name": f"{j['name']}_{'pull' if side < 0 else 'back'}", "finger": name, "dh_dq_m_rad": row}
            )
    return rows


def hand_text(fingers: dict[str, Any], tendons: list[dict[str, Any]]) -> str:
    """A hand file with these fingers and tendons, one motor and one sensor for each tendon."""
    raw = copy.deepcopy(BASE)
    raw["fingers"], raw["motors"] = fingers, {"origin": "assumed"}
    for k, tendon in enumerate(tendons, start=1):
        tendon |= {"motor": f"m{k}", "hall_channel": k, "length_m": 0.3}
        raw["motors"][f"m{k}"] = k
    raw["tendons"], raw["origin"]["tendons"] = tendons, "assumed"
    return tomlkit.dumps(raw)


def drawn_hand(seed: int) -> HandFile:
    """A wrist of two joints with a fixed bone between; a finger that branches, one joint for two bones."""
    rng = np.random.default_rng(seed)
    wrist = [joint("yaw"), joint("pitch")]
    own = [joint("side"), joint("bend"), joint("twig")]
    bones = [
        bone("a", rng, joint="side"),
        bone("b", rng, joint="bend", ratio=float(rng.uniform(0.3, 1.5))),
        bone("c", rng, joint="bend", ratio=float(rng.uniform(-1.5, -0.3))),
        bone("d", rng, joint="twig", parent="a"),
        bone("e", rng),
    ]
    carpals = [bone("ulna", rng, joint="yaw"), bone("plate", rng), bone("carpals", rng, joint="pitch")]
    fingers = {
        "wrist": finger("palm", wrist, carpals),
        "finger": finger("wrist", own, bones, tip_m=rng.normal(size=3).tolist()),
    }
    over = {"pitch": 0.004}
    return parse_hand(hand_text(fingers, pairs("wrist", wrist) + pairs("finger", own, over)), "drawn.toml")


def a_wrist_under_a_finger(over: float) -> str:
    """Two tendons of the finger run above the wrist's axis and two below."""
    rng = np.random.default_rng(3)
    wrist, own = [joint("w", -60.0, 60.0)], [joint("a", -10.0, 90.0), joint("b", -10.0, 90.0)]
    side = {"axis": [0.0, 0.0, 1.0], "rpy_deg": [0.0, 0.0, 0.0], "position_m": [0.03, 0.0, 0.0]}
    tables = {
        "wrist": finger("palm", wrist, [bone("c", rng, joint="w", **side)]),
        "finger": finger(
            "wrist", own, [bone(j["name"], rng, joint=j["name"], **side) for j in own], tip_m=[0.03, 0.0, 0.0]
        ),
    }
    tendons = pairs("wrist", wrist) + pairs("finger", own)
    for tendon, sign in zip(tendons[2:], (1, 1, -1, -1), strict=True):
        tendon["dh_dq_m_rad"]["w"] = sign * over
    return hand_text(tables, tendons)


class Oracle:
    """The trees of a hand file in Pinocchio: every bone a joint of its own, or welded to what carries it."""

    def __init__(self, hand: HandFile) -> None:
        self.model, turns = pin.Model(), []
        self.model.gravity.linear = np.array(hand.surroundings.gravity_m_s2)
        ends: dict[str, tuple[int, pin.SE3]] = {"palm": (0, pin.SE3.Identity())}
        self.tips: dict[str, tuple[int, np.ndarray]] = {}
        names = [j.name for j in hand.joints]
        for name, table in hand.fingers.items():
            places: dict[str | None, tuple[int, pin.SE3]] = {}
            last = ends[table.parent]
            for b in table.bones:  # type: ignore[union-attr] - all are trees
                up, frame = places[b.parent] if b.parent else last
                here = frame * pin.SE3(pin.rpy.rpyToMatrix(*np.radians(b.rpy_deg)), np.array(b.position_m))
                if b.joint:
                    axis = pin.JointModelRevoluteUnaligned(np.array(b.axis))
                    up, here = self.model.addJoint(up, axis, here, f"{name} {b.name}"), pin.SE3.Identity()
                    turns.append((names.index(b.joint), b.ratio))
                xx, yy, zz, xy, xz, yz = b.inertia_kg_m2
                inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
                if up:
                    self.model.appendBodyToJoint(up, pin.Inertia(b.mass_kg, np.array(b.com_m), inertia), here)
                last = places[b.name] = (up, here)
            ends[name] = last
            if table.tip_m is not None:  # type: ignore[union-attr]
                self.tips[name] = (last[0], last[1].act(np.array(table.tip_m)))  # type: ignore[union-attr]
        self.data = self.model.createData()
        self.spread = np.zeros((len(turns), len(names)))
        for row, (column, ratio) in enumerate(turns):
            self.spread[row, column] = ratio

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """H [kg m2] in the joints of the file."""
        H = pin.crba(self.model, self.data, self.spread @ q)
        return self.spread.T @ (np.triu(H) + np.triu(H, 1).T) @ self.spread

    def bias(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """C qd + g [N m] in the joints of the file."""
        full, speed = self.spread @ q, self.spread @ qd
        return self.spread.T @ pin.rnea(self.model, self.data, full, speed, 0.0 * speed)

    def tip(self, finger: str, q: np.ndarray) -> np.ndarray:
        """A fingertip [m] in the palm frame."""
        pin.forwardKinematics(self.model, self.data, self.spread @ q)
        body, point = self.tips[finger]
        return self.data.oMi[body].act(point)
