"""A detector of a package may latch its one cause and nothing else; report, event and client read its row."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hand.file import HandFileError, load_hand, parse_hand
from hand.stages import StageError
from reports.faults import FaultWatch
from runtime.session import run_lockstep
from signals.faults import BLINDS, FOREIGN, Blinds, Cause, Scope, blamed, row_of
from signals.modes import MachineState, Reaction, Request
from telemetry.publish.messages import meta_codes
from tests.extending.conftest import Flexor
from tests.rigs.driven import Driven
from tests.rigs.packages import EXAMPLES

TABLE = {
    "function": "blocked_joint:detect",
    "cause": "JOINT_BLOCKED",
    "space": "joint",
    "sentence": "{name}: stands still {value:.1f} deg from its goal, allowed are {limit:.1f} deg",
    "hint": "take away what holds it, then re-arm",
}
BLOCK_NM_RAD = 20.0
FLEXION = 1


def settings(*tables: dict[str, str]) -> tuple[str, ...]:
    """``--set`` of foreign detectors."""
    lines = ("{" + ", ".join(f"{k} = {json.dumps(v)}" for k, v in table.items()) + "}" for table in tables)
    return (f"detectors=[{', '.join(lines)}]",)


def blocked(seconds: float, **choices: Any) -> tuple[Driven, Any]:
    """The finger against a block at zero, 20 deg further are wanted; the frames of that time."""
    hand = Driven("finger_bench", **choices)
    hand.start(0.5)
    hand.bus.model["joint_max_rad"][0, FLEXION] = 0.0
    hand.bus.model["stop_stiffness_nm_rad"] = BLOCK_NM_RAD
    hand.goal("joint_angle_rad")[FLEXION] = math.radians(20.0)
    return hand, hand.run(seconds)


def test_the_example_finds_a_blocked_joint_that_ours_hold_and_it_is_told_by_name(installed: Path) -> None:
    hand, _ = blocked(1.5)
    assert hand.machine is MachineState.ACTIVE and not hand.causes
    hand, frames = blocked(1.5, settings=settings(TABLE))
    assert hand.causes == {"index": (Cause.FOREIGN_1, FLEXION)}
    watch = FaultWatch(hand.names, hand.model)
    (fault,) = watch.look(frames)
    assert (fault.cause, fault.finger, fault.part) == ("JOINT_BLOCKED", "index", "index_flexion")
    assert fault.text.startswith("index_flexion: stands still ") and fault.text.endswith(
        "allowed are 8.0 deg"
    )
    assert fault.hint == TABLE["hint"] and fault.value > fault.limit == pytest.approx(8.0)
    assert blamed(Cause.FOREIGN_1, hand.names, FLEXION) == "JOINT_BLOCKED of index_flexion"
    assert meta_codes(hand.names.foreign)["cause"]["JOINT_BLOCKED"] == Cause.FOREIGN_1
    # the guard lets go of the tension, as after a fault of its own
    tension = hand.truth("tension_n")[: len(hand.names.tendons)]
    assert tension.max() < 15.0
    hand.goal("joint_angle_rad")[FLEXION] = 0.0
    hand.ask(Request.REARM)
    hand.run(0.1)
    assert not hand.causes and hand.machine is MachineState.HOLDING


def test_the_example_is_silent_on_every_motion_of_the_finger(installed: Path) -> None:
    for motion in ("finger_wave", "open_close", "step"):
        run = run_lockstep("finger_bench", motion=motion, seconds=3.0, overrides=settings(TABLE))
        assert not run.report["faults"], motion


def test_it_stands_in_the_hand_file_and_in_the_report(
    tmp_path: Path, module: Callable[[str], str], flexor: Flexor
) -> None:
    text = (EXAMPLES / "hand/lab_hands/hands/lab_hinge.toml").read_text()
    path = tmp_path / "hand.toml"
    words = ("run", str(path), "--lockstep", "--for", "1.5", "--json")
    path.write_text(text + toml(function=module("findings['found'] = 1"), cause="ALWAYS", space="tendon"))
    assert flexor("check", str(path))[0] == 0
    code, out, _ = flexor(*words)
    (fault,) = json.loads(out)["faults"]
    assert code == 3 and (fault["cause"], fault["part"], fault["finger"]) == ("ALWAYS", "flexor", "lever")
    path.write_text(text + toml(function="no_such_module:detect"))
    code, _, err = flexor(*words)
    assert code == 2 and "detector 'no_such_module:detect': cannot import 'no_such_module'" in err


# --- what it may do -----------------------------------------------------------------------------------------

Law = Callable[..., None]


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Write a detector of one body; its ``module:function``."""
    monkeypatch.syspath_prepend(str(tmp_path))
    count = iter(range(1000))

    def written(body: str) -> str:
        name = f"detector_{tmp_path.name}_{next(count)}".replace("-", "_")
        head = "import numpy as np\ndef detect(model, measurement, memory, state, command, findings):\n"
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        (tmp_path / f"{name}.py").write_text(head + lines)
        return f"{name}:detect"

    return written


def frames_of(**choices: Any) -> Any:
    return Driven("finger_bench", motion="finger_wave", **choices).run(0.6)


HOSTILE = """for record in (model, measurement, state, command):
    record.view(np.uint8)[:] = 255
memory.view(np.uint8)[:] = 255
findings["value"] = np.nan"""


def test_whatever_it_does_to_the_records_changes_nothing(module: Callable[[str], str]) -> None:
    hostile = settings(
        TABLE | {"function": module(HOSTILE)}, TABLE | {"cause": "B", "function": module(HOSTILE)}
    )
    alone, beside = frames_of(), frames_of(settings=hostile)
    for record in alone.dtype.names:
        if record != "timing":
            assert alone[record].tobytes() == beside[record].tobytes(), record


def found_at(parts: str, space: str, module: Callable[[str], str], hand: str = "hasy") -> Driven:
    """A hand whose detector finds some parts from half a second on."""
    body = f"if state[0]['machine'] == 3:\n    findings['found'][{parts}] = 1\n    findings['value'] = 7.0"
    driven = Driven(hand, settings=settings(TABLE | {"function": module(body), "space": space}))
    driven.run(0.2)
    return driven


@pytest.mark.parametrize(
    ("space", "part", "finger"),
    [("motor", 9, "index"), ("tendon", 20, "middle"), ("joint", 6, "index"), ("finger", 3, "ring")],
)
def test_a_finding_stops_the_finger_of_its_part_alone(
    space: str, part: int, finger: str, module: Callable[[str], str]
) -> None:
    hand = found_at(str(part), space, module)
    m, names = hand.model[0], hand.names
    tendon = {"motor": m["tendon_motor"].tolist().index(part), "tendon": part}.get(space, 0)
    of = {"joint": m["joint_finger"][part], "finger": part}.get(space, m["tendon_finger"][tendon])
    assert hand.causes == {names.fingers[int(of)]: (Cause.FOREIGN_1, part)}
    assert hand.machine is MachineState.ACTIVE
    assert blamed(Cause.FOREIGN_1, names, part) == f"JOINT_BLOCKED of {names.of(space)[part]}"


@pytest.mark.parametrize("space", ["axis", "hand"])
def test_a_finding_of_an_axis_or_of_the_hand_stops_the_hand(space: str, module: Callable[[str], str]) -> None:
    hand = found_at("0", space, module)
    assert hand.machine is MachineState.FAULT
    assert hand.state("hand_cause") == Cause.FOREIGN_1 and hand.state("hand_cause_value") == 7.0
    assert (hand.state("finger_state")[: len(hand.names.fingers)] == MachineState.FAULT).all()
    assert row_of(Cause.FOREIGN_1, hand.names).scope is Scope.HAND


def test_every_finger_that_is_found_stops_and_the_first_cause_stays(module: Callable[[str], str]) -> None:
    hand = found_at(":", "finger", module)
    assert [f for f in hand.causes] == list(hand.names.fingers)
    assert set(hand.causes.values()) == {(Cause.FOREIGN_1, f) for f in range(len(hand.names.fingers))}


def test_nothing_is_latched_while_the_hand_is_not_armed(module: Callable[[str], str]) -> None:
    body = "findings['found'] = 1"
    hand = Driven("finger_bench", settings=settings(TABLE | {"function": module(body)}))
    hand.rig.goals.request(Request.OFF)
    hand.run(0.05)
    assert not hand.causes and hand.machine in (MachineState.OFF, MachineState.READY)


@pytest.mark.parametrize("reaction", [r.name.lower() for r in Reaction])
def test_a_finger_that_it_stopped_lets_go_whatever_its_reaction(
    reaction: str, module: Callable[[str], str]
) -> None:
    """Nobody knows what a foreign detector has seen: the finger is trusted least."""
    assert {int(BLINDS[cause]) for cause in FOREIGN} == {Blinds.FINGER}
    table = TABLE | {"function": module("findings['found'] = state[0]['machine'] == 3"), "space": "finger"}
    hand = Driven("finger_bench", settings=(f"fingers.index.reaction={reaction}", *settings(table)))
    hand.run(1.0)
    assert hand.causes == {"index": (Cause.FOREIGN_1, 0)}
    pretension_n = float(hand.model["pretension_n"][0, 0])
    assert hand.truth("tension_n")[: len(hand.names.tendons)].max() < 0.7 * pretension_n


# --- what is refused ----------------------------------------------------------------------------------------

BENCH = (EXAMPLES.parent / "configs/hands/finger_bench.toml").read_text()


def toml(**changes: str) -> str:
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in (TABLE | changes).items())
    return f"\n[[detectors]]\n{lines}"


@pytest.mark.parametrize(
    ("added", "said"),
    [
        (toml(function="detect"), 'detectors[0].function: found "detect"'),
        (toml(cause="TENDON_BROKEN"), "none of flexor's own causes"),
        (toml(cause="blocked"), 'detectors[0].cause: found "blocked"'),
        (toml(space="motors"), "did you mean 'motor'"),
        (toml(sentence="{nam}: x"), "{name}, {value:.1f} and {limit:.1f}"),
        (toml(sentence="{value:d}"), "{name}, {value:.1f} and {limit:.1f}"),
        (toml() + toml(), '"JOINT_BLOCKED" a second time'),
        (toml(hints="x"), "an unknown key"),
        ("".join(toml(cause=f"C{k}") for k in range(len(FOREIGN) + 1)), "at most"),
    ],
)
def test_a_table_that_cannot_be_is_refused_with_its_line(added: str, said: str) -> None:
    with pytest.raises(HandFileError) as refused:
        parse_hand(BENCH + added, "x.toml")
    assert said in str(refused.value)
    assert all(p.line > BENCH.count("\n") for p in refused.value.problems)


def test_a_hand_without_foreign_detectors_keeps_its_hash_and_one_with_them_has_its_own() -> None:
    from hand.assembly.assemble import hand_sha256

    plain = hand_sha256(load_hand("finger_bench"))
    assert (
        hand_sha256(parse_hand(BENCH, "x.toml")) == plain != hand_sha256(parse_hand(BENCH + toml(), "x.toml"))
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("state['tensoin_n'] = 1.0", ":3: no such field: 'tensoin_n'; did you mean 'tension_n'"),
        ("1 / 0", ":3: ZeroDivisionError"),
        ("findings['found'][99] = 1", ":3: IndexError"),
    ],
)
def test_whatever_it_raises_ends_the_run_and_names_its_line(
    body: str, said: str, module: Callable[[str], str]
) -> None:
    function = module(body)
    with pytest.raises(StageError) as raised:
        run_lockstep("finger_bench", seconds=0.1, overrides=settings(TABLE | {"function": function}))
    assert str(raised.value).startswith(f"detector '{function}': ") and said in str(raised.value)


def test_a_compiled_detector_is_called_as_a_plain_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "compiled_detector.py").write_text(
        "import numba\n@numba.njit\ndef detect(model, measurement, memory, state, command, findings):\n"
        "    if state[0].machine == 3:\n        findings[2].found = 1\n        findings[2].value = 3.0\n"
    )
    hand = Driven("finger_bench", settings=settings(TABLE | {"function": "compiled_detector:detect"}))
    hand.run(0.2)
    assert hand.causes == {"index": (Cause.FOREIGN_1, 2)}
