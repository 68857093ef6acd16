"""Real processes (field reports B47, B59): whoever dies, the hand is let go and nothing stays behind."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import numpy as np
import pytest

import flexor
from hand.options import RunOptions
from runtime.processes.phases import STOP_BUDGET_S, Exit, Phase, Released
from runtime.processes.supervisor import Supervisor
from signals.modes import MachineState
from telemetry.record.reader import read_log
from tests.rigs.runs import MOVING, START_S, blocks, gone, on_time


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=lambda v: str(v),
)
def test_a_signal_in_mid_motion_ends_in_the_stop_sequence(start, number, code):
    run = start(*MOVING)
    run.wait_until_running()
    children = run.children()
    begun = time.monotonic()
    os.kill(run.pid, number)
    found, report, err = run.end()
    assert found == code
    assert "zero torque confirmed by the devices" in err
    assert time.monotonic() - begun < STOP_BUDGET_S + 5.0
    assert report["hand"] == "finger_bench" and report["cycles"] > 300
    assert set(children) == {"io", "control"} and gone(children.values())
    assert blocks(run.pid) == []


def test_nothing_is_switched_on_before_the_children_are_supervised(port_base):
    options = RunOptions(hand="finger_bench", motion="open_close", seconds=0.1, port_base=port_base)
    with Supervisor(options, 3000.0, lambda _: None) as run:
        phases, until = [run._segment.field(f"{name}_phase") for name in ("io", "control")], START_S
        while until > 0.0 and any(int(phase[0]) < Phase.READY for phase in phases):
            until -= 0.1
            time.sleep(0.1)
        time.sleep(0.3)
        assert [int(phase[0]) for phase in phases] == [Phase.READY, Phase.READY]
        assert int(run._segment.field("released")[0]) == Released.NEVER_ON
        assert run.supervise().code == Exit.GOOD


def test_a_stop_asked_for_before_the_children_are_supervised_switches_nothing_on(port_base):
    options = RunOptions(hand="finger_bench", motion="open_close", seconds=0.1, port_base=port_base)
    with Supervisor(options, 3000.0, lambda _: None) as run:
        phase, until = run._segment.field("control_phase"), START_S
        while until > 0.0 and int(phase[0]) < Phase.READY:
            until -= 0.1
            time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)
        released = run._segment.field("released")
        assert run.supervise().code == 130
        assert int(released[0]) == Released.NEVER_ON


@pytest.mark.sample(2)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=str)
@pytest.mark.parametrize("moment", ["starting", "warming"])
def test_a_signal_during_the_start_ends_it_soon_and_calmly(start, number, code, moment):
    run = start(*MOVING)
    children = getattr(run, f"wait_until_{moment}")()
    begun = time.monotonic()
    os.kill(run.pid, number)
    found, report, err = run.end()
    assert found == code
    assert "before the hand was started; the motors were never switched on" in err
    assert "power off" not in err and "Traceback" not in err and "error" not in err
    assert report["ended"]["why"] == "signal" and report["cycles"] == 0
    assert time.monotonic() - begun < 3.0
    assert gone(children.values()) and blocks(run.pid) == []


@pytest.mark.parametrize("moment", ["starting", "warming"])
def test_killing_the_supervisor_during_the_start_leaves_nothing(start, moment):
    run = start(*MOVING)
    children = getattr(run, f"wait_until_{moment}")()
    os.kill(run.pid, signal.SIGKILL)
    run.process.wait()
    assert gone(children.values(), within_s=15.0)  # a step of the compiler cannot be cut short
    assert blocks(run.pid) == []


def test_sigterm_to_control_alone_is_no_good_end(start):
    run = start(*MOVING)
    run.wait_until_running()
    os.kill(run.children()["control"], signal.SIGTERM)
    code, report, err = run.end()
    assert code == Exit.FAILED
    assert "control process was stopped from outside" in err and "zero torque confirmed" in err
    assert report["ended"]["why"] == "stopped from outside" and report["cycles"] > 300


def test_a_hand_that_cannot_start_is_let_go_soon_with_the_reason(start):
    run = start(*MOVING, "--fault", "motor-lost:index_4@0")
    code, report, err = run.end(START_S)
    assert code == Exit.NOT_STARTED
    assert "did not start within 1 s: motor m_index_4 does not answer" in err
    assert report["ended"]["why"] == "not started" and "m_index_4" in report["ended"]["text"]
    assert report["cycles"] + report["missed"] < 3 * 3000


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("number", "code", "words"),
    [(signal.SIGINT, 130, "Ctrl-C"), (signal.SIGTERM, 143, "SIGTERM"), (signal.SIGHUP, 129, "SIGHUP")],
    ids=str,
)
def test_lockstep_obeys_signals_with_report_and_whole_log(start, tmp_path, number, code, words):
    run = start("--motion", "open_close", "--for", "9000", "--lockstep", "--record", "--out", str(tmp_path))
    until = time.monotonic() + START_S
    while not any(p.stat().st_size > 1_000_000 for p in tmp_path.glob("*.mcap")):
        assert time.monotonic() < until and run.process.poll() is None
        time.sleep(0.02)
    os.kill(run.pid, number)
    found, report, err = run.end()
    assert found == code
    assert f"stopped by {words}" in err and "let go" in err and "Traceback" not in err
    assert report["ended"]["why"] == "signal" and 300 < report["cycles"] < 9000 * 3000
    log = read_log(report["log"])
    assert log.complete
    assert len(log.frames) > report["cycles"]  # the stop sequence is in the log, not in the figures
    assert int(log.frames["state"]["machine"][-1]) == MachineState.OFF


def test_a_second_ctrl_c_is_faster_and_just_as_clean(start):
    run = start(*MOVING)
    run.wait_until_running()
    children = run.children()
    os.kill(run.pid, signal.SIGINT)
    time.sleep(0.1)
    os.kill(run.pid, signal.SIGINT)
    code, _, err = run.end()
    assert code == 130 and "zero torque confirmed" in err
    assert gone(children.values()) and blocks(run.pid) == []


def test_killing_io_ends_the_run_with_its_name_and_a_safe_hand(start):
    run = start(*MOVING)
    run.wait_until_running()
    children = run.children()
    os.kill(children["io"], signal.SIGKILL)
    code, report, err = run.end()
    assert code == Exit.IO_LOST
    assert report["ended"]["why"] == "io lost" and report["cycles"] > 300 and report["elapsed_s"] > 0.1
    assert "IO_LOST" in err and "SIGKILL" in err and "zero torque confirmed" in err
    assert gone(children.values()) and blocks(run.pid) == []


def test_io_is_started_again_where_the_options_allow_it(start):
    run = start(*MOVING, "--io-restarts", "1")
    before = run.wait_until_running()
    os.kill(run.children()["io"], signal.SIGKILL)
    after = run.wait_until_running()
    assert after["tick"] > before["tick"]
    os.kill(run.pid, signal.SIGINT)
    code, _, err = run.end()
    assert code == 130 and "starting it again" in err
    assert blocks(run.pid) == []


def test_killing_control_is_told_and_nothing_stays(start):
    run = start(*MOVING)
    run.wait_until_running()
    children = run.children()
    os.kill(children["control"], signal.SIGKILL)
    code, report, err = run.end()
    assert code == Exit.CONTROL_LOST
    assert report["ended"]["why"] == "control lost" and "SIGKILL" in report["ended"]["text"]
    slots = report["cycles"] + report["missed"]
    assert report["cycles"] > 300 and abs(report["elapsed_s"] * 3000 - slots) <= 0.01 * slots + 2
    assert "control process died (signal SIGKILL)" in err and "could NOT be sent" in err
    assert gone(children.values()) and blocks(run.pid) == []


def test_killing_the_supervisor_leaves_no_orphan_and_no_shared_memory(start):
    run = start(*MOVING)
    run.wait_until_running()
    children = run.children()
    os.kill(run.pid, signal.SIGKILL)
    run.process.wait()
    assert gone(children.values())
    assert blocks(run.pid) == []


def test_a_busy_port_is_named(start, port_base):
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", port_base))
        other.listen()
        run = start(*MOVING)
        children_gone_by = time.monotonic() + START_S
        code, _, err = run.end(START_S)
    assert time.monotonic() < children_gone_by
    assert code == Exit.PORT_BUSY
    assert f"port {port_base} is in use" in err and f"process {os.getpid()}" in err and "--port-base" in err
    assert "Traceback" not in err
    assert blocks(run.pid) == []


def test_an_exception_in_a_foreign_controller_ends_with_zero_torque(start, tmp_path):
    (tmp_path / "breaks.py").write_text(
        "count = 0\n"
        "def control(model, goal, memory, state, command):\n"
        "    global count\n"
        "    count += 1\n"
        "    if count > 1500:\n"
        "        raise RuntimeError('my callback broke')\n"
    )
    run = start(*MOVING, "--set", "controller=breaks:control", cwd=tmp_path)
    code, report, err = run.end(START_S)
    assert code == Exit.FAILED
    assert report["ended"]["why"] == "failed" and report["cycles"] > 1000
    assert "my callback broke" in err and "zero torque confirmed" in err
    assert "Traceback" not in err
    assert blocks(run.pid) == []


def test_a_client_watches_and_moves_the_hand_and_nonsense_changes_nothing(start, port_base, tmp_path):
    import zmq

    run = start("--for", "60", "--record", "--out", str(tmp_path))
    assert run.wait_until_running()["machine"] == MachineState.ACTIVE  # it holds, and clients may command
    with on_time(), flexor.Hand(port_base=port_base, timeout_s=5.0) as hand, hand.control("test") as control:
        with zmq.Context() as context, context.socket(zmq.DEALER) as rough:
            rough.setsockopt(zmq.LINGER, 0)
            rough.connect(hand.command)
            for nonsense in (b"", b"\xff\x00", os.urandom(200), b"\x80", b"{}"):
                rough.send(nonsense)
                assert rough.poll(5000) and b"ok" in rough.recv()
        control.activate()
        start_angle = hand.view().pos["index_pip"]
        control.move({"index_pip": start_angle + 0.3}, seconds=0.6)
        control.sleep(0.3)
        assert hand.view().pos["index_pip"] == pytest.approx(start_angle + 0.3, abs=0.05)
        with pytest.raises(flexor.Refused, match="not_finite"):
            control.goal({"index_pip": float("nan")})
        with flexor.Hand(port_base=port_base) as other, pytest.raises(flexor.Refused, match="test holds"):
            other.control("second").__enter__()
        assert len(hand.raw().dtype.names) > 10
        health = hand.health()
        assert health["recording"] and health["commands"]["refused"] >= 6
    os.kill(run.pid, signal.SIGINT)
    code, report, _ = run.end()
    assert code == 130
    log = read_log(report["log"])
    assert log.complete and {"finger_bench.toml", "keyframe--1.npz"} <= set(log.attachments)
    assert {"lease", "machine"} <= {event["kind"] for event in log.events}
    assert log.frames["state"]["joint_angle_rad"][:, 2].max() > start_angle + 0.2
    assert Path(report["picture"]).exists() and Path(tmp_path / "report.json").exists()


@pytest.mark.realtime
def test_what_is_acknowledged_happens_or_raises_with_what_the_hand_is_doing(start, port_base):
    run = start("--for", "60")
    run.wait_until_running()
    with on_time(), flexor.Hand(port_base=port_base, timeout_s=5.0) as hand, hand.control("test") as control:
        with pytest.raises(TypeError, match="joints: 'index_pip' is 'up'; legal is a number"):
            control.goal({"index_pip": "up"})
        control.activate()
        begun = np.float32(hand.view().pos["index_pip"])
        control.move({"index_pip": begun + np.float64(0.1)}, seconds=0.3)
        time.sleep(0.25)  # a hiccup of the program: the goal is too old
        with pytest.raises(
            flexor.Refused,
            match="not_active.: the hand is holding .COMMAND_TOO_OLD of finger_bench., .*activate",
        ):
            control.move({"index_pip": begun}, seconds=0.3)
        for call in (lambda: control.goal({"index_pip": begun}), lambda: control.sleep(0.2)):
            with pytest.raises(flexor.Refused, match="the hand is holding"):
                call()
        control.activate()
        control.move({"index_pip": begun}, seconds=0.3)
        control.mode("tendon_force")
        with pytest.raises(flexor.Refused, match="finger index is in tendon_force, which follows no joint"):
            control.move({"index_pip": begun + 0.1}, seconds=0.3)
        control.stop()
        with pytest.raises(
            flexor.Refused,
            match="move refused .not_active.: the hand is in fault .OPERATOR_STOP of finger_bench.*rearm",
        ):
            control.move({"index_pip": begun}, seconds=0.3)
        control.rearm()
        control.mode("joint_impedance")
        control.activate()
        control.move({"index_pip": begun + 0.1}, seconds=0.3)
        assert hand.view().pos["index_pip"] == pytest.approx(begun + 0.1, abs=0.05)
        control.off()
        with pytest.raises(flexor.Refused, match="the hand is (off|ready)"):
            control.move({"index_pip": begun}, seconds=0.3)
    os.kill(run.pid, signal.SIGINT)
    run.end()


@pytest.mark.realtime
def test_the_end_of_control_is_no_fault_and_a_notebook_may_think(start, port_base):
    run = start("--for", "60")
    run.wait_until_running()
    with on_time(), flexor.Hand(port_base=port_base, timeout_s=5.0) as hand:
        hand.listen("raw")
        with hand.control("script") as control:
            control.activate()
            begun = hand.view().pos["index_pip"]
            control.move({"index_pip": begun + 0.1}, seconds=0.3)
        time.sleep(0.15)  # views come 50 times, health 10 times a second
        assert hand.view().machine == "holding" and hand.health()["lease"]["holder"] == ""
        notebook = hand.control("notebook").open(keep_alive=True)
        notebook.activate()
        notebook.move({"index_pip": begun}, seconds=0.3)
        time.sleep(2.5)  # thinking: longer than goal and lease live
        assert hand.view().machine == "active"
        notebook.move({"index_pip": begun + 0.1}, seconds=0.3)
        notebook.close()
        notebook.close()
        time.sleep(0.05)
        assert hand.view().machine == "holding"
        table = hand.to_table()
        assert len(table["tick"]) > 5000 and np.ptp(table["pos/index_pip"]) > 0.08
    os.kill(run.pid, signal.SIGINT)
    code, report, _ = run.end()
    assert code == 130 and report["faults"] == []


def test_lockstep_with_sockets_and_recorder_drops_nothing(start, tmp_path):
    run = start(
        "--motion",
        "open_close",
        "--for",
        "1.5",
        "--lockstep",
        "--publish",
        "--record",
        "--out",
        str(tmp_path),
    )
    code, report, _ = run.end(START_S)
    assert code == 0
    assert report["cycles"] == 4500 and report["missed"] == 0
    frames = read_log(report["log"]).frames
    assert (frames["timing"]["cycle"][:4500] == range(4500)).all()


def test_a_loop_that_cannot_keep_its_rate_ends_in_a_named_fault(start, tmp_path):
    (tmp_path / "slow.py").write_text(
        "import time\ndef control(model, goal, memory, state, command):\n    time.sleep(0.0005)\n"
    )
    run = start("--motion", "open_close", "--for", "3", "--set", "controller=slow:control", cwd=tmp_path)
    code, report, _ = run.end(START_S)
    assert code == Exit.FAULT
    assert "SUSTAINED_OVERRUN" in [fault["cause"] for fault in report["faults"]]
    assert report["missed"] > report["cycles"] / 2
    assert abs(report["cycles"] + report["missed"] - 9000) <= 2
    assert abs(report["elapsed_s"] * 3000 - report["cycles"] - report["missed"]) <= 2


@pytest.mark.long
def test_a_callback_that_never_returns_is_cut_off(start, tmp_path):
    (tmp_path / "stuck.py").write_text(
        "count = 0\n"
        "def control(model, goal, memory, state, command):\n"
        "    global count\n"
        "    count += 1\n"
        "    while count > 900:\n"
        "        pass\n"
    )
    run = start(*MOVING, "--set", "controller=stuck:control", cwd=tmp_path)
    code, _, err = run.end(START_S)
    assert code == Exit.CONTROL_LOST
    assert "control process was killed: running, it gave no sign of life for 5" in err
    assert blocks(run.pid) == []
