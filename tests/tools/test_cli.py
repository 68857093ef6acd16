"""The command line: one clear line, the next step, the right exit code, nothing else on stdout."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from drivers.errors import BusLost
from hand.motion.load import load_motion
from hand.options import OptionError, RunOptions
from hand.overrides import load_with
from hand.review.suspicions import suspicions
from runtime import warmup
from runtime.processes.phases import Exit
from runtime.setup import read_hand
from signals.choices import WrongChoice
from signals.table import TABLE
from sim.options import Fault
from tools.cli import main
from tools.command_table import COMMANDS
from tools.commands.signals import table

ENVIRONMENT = os.environ | {"PYTHONPATH": "."}


def _call(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    captured = capsys.readouterr()
    return ended.value.code or 0, captured.out, captured.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("runn",), "Did you mean 'run'"),
        (("run",), "Missing argument"),
        (("run", "finger_benc"), "did you mean 'finger_bench'"),
        (
            ("faults", "carpal_wrist"),
            "carpal_wrist is a mechanism, or a hand that stands on one; legal: finger",
        ),
        (("faults", "hasy", "--kinds", ","), "--kinds ',' names nothing"),
        (("faults", "hasy", "--trial", "-1"), "'--trial': Input should be greater than or equal to 0"),
        (
            ("emulate", "carpal_wrist"),
            "carpal_wrist is a mechanism, or a hand that stands on one; legal: finger",
        ),
        (("identify", "drives", "--hand", "muscle_finger"), "muscle_finger is a mechanism"),
        (
            ("calibrate", "wiring", "--hand", "hand_on_arm"),
            "hand_on_arm is a mechanism, or a hand that stands on",
        ),
        (("commission", "hand_on_carpal"), "hand_on_carpal is a mechanism"),
        (("run", "finger_bench", "--sensor", "ideal"), "--sensors"),
        (("run", "finger_bench", "--sensors", "idal"), "did you mean 'ideal'"),
        (("run", "finger_bench", "--for", "1e308"), "up to 1e+07 s"),
        (("run", "finger_bench", "--for", "1e-9", "--lockstep"), "no cycle"),
        (("run", "finger_bench", "--seed", "-1"), "--seed is -1; legal are whole numbers from 0"),
        (("run", "finger_bench", "--mismatch", "-5"), "--mismatch is -5; legal are whole numbers from 0"),
        (("run", "finger_bench", "--out", "pyproject.toml"), "--out pyproject.toml is a file"),
        (
            ("run", "orca_v2", "--fault", "hall-stuck:index_abd_flex@0.1", "--for", "1", "--lockstep"),
            "has no sensor that could fail",
        ),
        (
            ("run", "finger_bench", "--fault", "tendon-break:index_4@99", "--for", "1", "--lockstep"),
            "after the end of the run",
        ),
        (("run", "finger_bench", "--for", "soon"), "'--for': Input should be a valid number"),
        (("run", "finger_bench", "--for", "nan", "--lockstep"), "above 0"),
        (
            ("run", "finger_bench", "--motion", "opn_close", "--for", "1", "--lockstep"),
            "did you mean 'open_close'",
        ),
        (("run", "finger_bench", "--fault", "tendon-break", "--for", "1", "--lockstep"), "KIND:NAME@SECONDS"),
        (("run", "finger_bench", "--set", "gains.riple_gain=1", "--for", "1"), "did you mean 'ripple_gain'"),
        (
            ("run", "finger_bench", "--set", "gains.ripple_gain=nan", "--for", "1", "--lockstep"),
            "ripple_gain",
        ),
        (("signals", "sate"), "did you mean 'state'"),
        (("log", "info", "/nowhere.mcap"), "No such file"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, tuple) else "",
)
def test_a_mistake_gets_one_clear_message_and_a_bad_exit_code(capsys, words, said):
    code, out, err = _call(capsys, *words)
    assert code in (1, 2)
    assert said in err and "Traceback" not in err
    assert out == ""


@pytest.mark.parametrize("content", ["", "nonsense", "name = 3"], ids=["empty", "no toml", "incomplete"])
def test_a_bad_hand_file_is_refused_with_its_name(capsys, tmp_path, content):
    path = tmp_path / "mine.toml"
    path.write_text(content)
    code, out, err = _call(capsys, "run", str(path), "--for", "1", "--lockstep")
    assert code == 2 and out == ""
    assert "mine.toml" in err and "Traceback" not in err


def test_json_is_one_object_alone_on_stdout(capsys, tmp_path):
    words = ["run", "finger_bench", "--motion", "open_close", "--for", "1.2", "--lockstep", "--json"]
    code, out, _ = _call(capsys, *words, "--out", str(tmp_path))
    assert code == 0
    report = json.loads(out)
    assert out.count("\n") == 1 and report["cycles"] == 3600
    assert json.loads((tmp_path / "report.json").read_text()) == report
    assert (tmp_path / "run.png").stat().st_size > 20_000


def test_a_fault_ends_in_its_exit_code_and_is_told(capsys):
    words = ["run", "finger_bench", "--motion", "open_close", "--for", "0.6", "--lockstep"]
    code, out, err = _call(capsys, *words, "--fault", "tendon-break:index_4@0.3")
    assert code == 3
    assert "FAULT at 0.3" in out and "index_4" in out and "next:" in out
    assert "ended in fault" in err


def test_a_hand_that_cannot_start_ends_soon_with_the_reason(capsys):
    words = ["run", "finger_bench", "--motion", "open_close", "--for", "9", "--lockstep", "--json"]
    code, out, err = _call(capsys, *words, "--fault", "motor-lost:index_4@0")
    report = json.loads(out)
    assert code == Exit.NOT_STARTED
    assert "did not start within 1 s: motor m_index_4 does not answer (state off)" in err
    assert report["ended"] == {"why": "not started", "text": err.removeprefix("error: ").strip()}
    assert 3000 <= report["cycles"] < 4000


def test_lockstep_without_a_length_makes_the_motion_once(capsys):
    code, out, _ = _call(capsys, "run", "finger_bench", "--motion", "open_close", "--lockstep", "--json")
    hand = read_hand(RunOptions())
    duration_s = load_motion("open_close", hand.names, hand.model).duration_s
    assert code == 0 and json.loads(out)["cycles"] == round(duration_s * 3000)


@pytest.mark.parametrize(
    ("words", "starts"),
    [({}, False), ({"seconds": 1.0}, True), ({"faults": ("a:b@1",)}, True), ({"motion": "hold"}, True)],
)
def test_a_run_waits_for_clients_only_if_nothing_else_is_asked_for(words, starts):
    assert RunOptions(**words).starts is starts


def test_a_picture_that_fails_costs_nothing_but_itself(capsys, tmp_path, monkeypatch):
    def broken(*_args):
        raise RuntimeError("no font")

    monkeypatch.setattr("reports.picture.draw_run", broken)
    words = ["run", "finger_bench", "--for", "0.3", "--lockstep", "--json", "--out", str(tmp_path)]
    code, out, err = _call(capsys, *words)
    report = json.loads(out)
    assert code == 0 and report["cycles"] == 900 and "picture" not in report
    assert report["notices"] == ["no picture: RuntimeError: no font"]
    assert "notice: no picture" in err
    assert json.loads((tmp_path / "report.json").read_text()) == report


def test_a_report_file_that_cannot_be_written_does_not_take_the_report_along(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("tools.commands.folder.RESULTS", ())
    (tmp_path / "report.json").mkdir()
    words = ["run", "finger_bench", "--for", "0.3", "--lockstep", "--json", "--out", str(tmp_path)]
    code, out, err = _call(capsys, *words)
    assert code == 1 and json.loads(out)["cycles"] == 900
    assert "report.json could not be written: Is a directory" in err and "MB free" in err


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (("--lockstep",), "gains.tension_kp_nm_n"),
        (("--bus", "finger_bench_servos"), "gains.tension_kp_nm_n"),  # told before anything is switched on
        (("--lockstep", "--rate", "60"), "gains.velocity_filter_hz"),
    ],
)
def test_every_start_says_what_check_suspects(capsys, monkeypatch, words, key):
    class Nobody(nullcontext):
        def supervise(self):
            raise OptionError("nothing is switched on here")

    monkeypatch.setattr("runtime.processes.supervisor.Supervisor", lambda *_, **_more: Nobody(Nobody()))
    setting = "gains.tension_kp_nm_n=300.0"
    _, _, err = _call(capsys, "run", "finger_bench", "--for", "0.05", "--set", setting, *words)
    rate = float(words[-1]) if "--rate" in words else None
    expected = suspicions(load_with("finger_bench", (setting,))[0], rate)
    told = [line for line in err.splitlines() if line.startswith("warning: ")]
    assert [line.split(": line ")[1] for line in told] == [str(s).removeprefix("line ") for s in expected]
    assert any(f": {key}: " in line for line in told)


@pytest.mark.parametrize("hand", ["finger_bench", "hasy"])
def test_a_shipped_hand_starts_without_a_warning(capsys, hand):
    _, _, err = _call(capsys, "run", hand, "--for", "0.05", "--lockstep")
    assert "warning" not in err


@pytest.mark.parametrize("command", [("doctor",), ("check", "finger_bench")])
def test_without_a_home_that_takes_files_commands_run_all_the_same(command):
    environment = {k: v for k, v in ENVIRONMENT.items() if k not in ("FLEXOR_CACHE_DIR", "XDG_CACHE_HOME")}
    words = [sys.executable, "-m", "tools.cli", *command, "--json"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment | {"HOME": "/dev/null"})
    found = json.loads(done.stdout)
    assert done.returncode == (1 if command == ("doctor",) else 0), done.stderr
    if command == ("doctor",):
        (cache,) = [f for f in found["findings"] if f["check"] == "compile cache"]
        assert cache["level"] == "fail" and "every start compiles" in cache["cost"]


@pytest.mark.parametrize(("place", "keeps"), [("/dev/null/cache", False), ("{}/cache", True)])
def test_nobody_waits_for_a_second_compiler_whose_work_is_kept_nowhere(place, keeps, tmp_path, monkeypatch):
    monkeypatch.setenv("FLEXOR_CACHE_DIR", place.format(tmp_path))
    monkeypatch.setattr("runtime.warmup.subprocess.Popen", lambda *_, **__: "started")
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(warmup, "_BEGUN", {})
    warmup.begin_beside(RunOptions(hand="finger_bench"))
    assert ("started" in warmup._BEGUN.values()) is keeps


def test_a_second_run_into_a_folder_leaves_the_first_ones_results_alone(capsys, tmp_path):
    folder = tmp_path / "same"
    motion = tmp_path / "swing.toml"  # its log has its name, wherever it is
    motion.write_text((Path(__file__).parents[2] / "configs" / "motions" / "step.toml").read_text())
    words = ["run", "finger_bench", "--for", "0.1", "--lockstep", "--record", "--out", str(folder)]
    words += ["--motion", str(motion)]
    before: dict[Path, bytes] = {}
    for k in range(1, 4):
        place = folder if k == 1 else tmp_path / f"same-{k}"
        code, out, err = _call(capsys, *words, "--seed", str(k))
        assert code == 0 and str(place / "run.png") in out
        assert (str(place) in err) == (k > 1)
        assert all(path.read_bytes() == content for path, content in before.items())
        report = json.loads((place / "report.json").read_text())
        assert report["seed"] == k and report["out"] == str(place)
        assert sorted(p.suffix for p in place.iterdir()) == [".json", ".mcap", ".png"]
        assert [p.name for p in place.glob("*.mcap")] == ["finger_bench-swing.mcap"]
        before |= {path: path.read_bytes() for path in place.iterdir()}


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", ["Läufe", "走り", "x\udcff"], ids=["umlaut", "kanji", "no-text"])
@pytest.mark.parametrize("coding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize(
    ("words", "ends_with"),
    [
        (("run", "finger_bench", "--for", "0.1", "--lockstep", "--out"), 0),
        (("run", "finger_bench", "--for", "0.1", "--lockstep", "--json", "--out"), 0),
        (("check",), 2),
        (("log", "info"), 1),
        (("run", "finger_bench", "--bus"), 2),
        (("simulate", "y_tree", "--for", "0.01", "--csv", "--out"), 0),
    ],
    ids=lambda v: v[0] if isinstance(v, tuple) else "",
)
def test_a_terminal_without_a_character_loses_nothing_but_its_look(
    words, ends_with, coding, name, tmp_path, monkeypatch
):
    monkeypatch.setattr("reports.picture.draw_run", lambda *given: given[-1] / "run.png")
    streams = {n: io.TextIOWrapper(io.BytesIO(), encoding=coding) for n in ("stdout", "stderr")}
    for stream, wrapper in streams.items():
        monkeypatch.setattr(sys, stream, wrapper)
    place = tmp_path / name / ("" if words[-1] == "--out" else "none.toml")
    with pytest.raises(SystemExit) as ended:
        main([*words, str(place)])
    shown = b"".join(wrapper.buffer.getvalue() for wrapper in streams.values())
    assert (ended.value.code or 0) == ends_with, shown
    assert b"internal" not in shown and b"Traceback" not in shown
    if words[0] == "run" and ends_with == 0:
        assert json.loads((place / "report.json").read_text())["cycles"] == 300


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ValueError("made up"), 70, "this is a bug; flexor --debug"),
        (RuntimeError("made up"), 70, "internal error: RuntimeError: made up"),
        (OSError("made up"), 70, "this is a bug"),
        (WrongChoice("made up"), 2, "error: made up"),
        (BusLost("x", "made up"), 1, "made up"),
        (OSError(28, "No space left on device", "a.mcap"), 1, "error: a.mcap: No space left on device"),
    ],
    ids=repr,
)
def test_mistakes_of_the_user_and_bugs_are_told_apart(capsys, monkeypatch, error, code, said):
    def broken(_records):
        raise error

    monkeypatch.setattr("tools.commands.signals.table", broken)
    found, out, err = _call(capsys, "signals", "state")
    assert found == code and said in err and "Traceback" not in err
    assert ("this is a bug" in err) == (code == 70)


def _shell(line):
    words = f"{sys.executable} -m tools.cli"
    line = line.replace("flexor", words)
    return subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, timeout=120, env=ENVIRONMENT, check=False
    )


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("flexor signals | true; exit ${PIPESTATUS[0]}", {141}),
        ("flexor signals >&-", {0}),
        ("flexor signals 2>&- | tail -1", {0}),
        ("flexor run finger_benc >&- 2>&-", {2}),
        ("flexor signals > /dev/full", {1}),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_pipes_that_end_and_streams_that_are_closed_give_no_trace(line, codes):
    done = _shell(line)
    assert done.returncode in codes, done.stderr
    assert "Traceback" not in done.stderr and "internal" not in done.stderr and "Exception" not in done.stderr


OURS_NOW = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it would be ignored
import sys, tools
print("ours", flush=True)
import tools.cli
tools.cli.main({words!r})
"""


@pytest.mark.sample(2)
@pytest.mark.parametrize("after_s", [0.05, 0.15, 0.4, 0.8])
def test_ctrl_c_at_any_moment_gives_no_trace(after_s):
    # from the moment that our code runs: what Python itself says while it starts is not ours
    text = OURS_NOW.format(words=["run", "finger_bench", "--lockstep", "--for", "9000"])
    words = [sys.executable, "-c", text]
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        assert run.stdout is not None and run.stdout.readline() == "ours\n"
        time.sleep(after_s)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode in (130, -signal.SIGINT), err
    assert "Traceback" not in err and "internal" not in err


SWALLOWED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it would be ignored
import tools.cli

class Swallows:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            try:
                signal.raise_signal(signal.SIGINT)
                sum(range(1000))
            except KeyboardInterrupt:
                pass

sys.meta_path.insert(0, Swallows())
tools.cli.main({words!r})
"""


@pytest.mark.parametrize("module", ["tools.commands.run", "hand.options", "tools.commands.running"])
def test_ctrl_c_that_an_import_swallows_ends_the_command_all_the_same(module):
    words = ["run", "finger_bench", "--lockstep", "--for", "9000"]
    text = SWALLOWED.format(module=module, words=words)
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=False
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr


def test_small_matrices_get_no_threads():
    """numpy's own would wait for each other, and control has one thread."""
    text = "import tools.cli, numpy, os; print(*os.listdir('/proc/self/task'))"
    bare = {name: value for name, value in ENVIRONMENT.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=bare, check=True)
    assert len(done.stdout.split()) == 1


def test_the_example_controller_runs_as_its_text_says():
    text = Path("examples/controller/soft_springs/__init__.py").read_text()
    line = next(x.strip() for x in text.splitlines() if x.strip().startswith("flexor run"))
    words = line.replace("--for 10", "--for 1.5 --lockstep --json").split()
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tools.cli", *words[1:]],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        cwd="examples/controller",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["faults"] == [] and report["fingertip_drift_mm"]["max"] > 5.0  # it moves


def test_the_watching_example_ends_quietly_with_its_reader(tmp_path):
    (tmp_path / "flexor.py").write_text(
        "from types import SimpleNamespace\n"
        "class Hand:\n"
        "    def __init__(self, host): pass\n"
        "    def __enter__(self): return self\n"
        "    def __exit__(self, *error): pass\n"
        "    def names(self, space): return ['index_1']\n"
        "    def watch(self, seconds):\n"
        "        while True:\n"
        "            yield SimpleNamespace(tension={'index_1': 20.0})\n"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    line = f"{sys.executable} examples/watch_tension.py | head -2"
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, timeout=60, env=environment, check=False
    )
    assert done.stderr == "" and done.stdout.count("index_1") == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples(capsys, command):
    code, out, _ = _call(capsys, command, "--help")
    assert code == 0 and re.search(rf"\n  (Example: )?flexor {command}\b", out)


def test_the_help_of_run_names_every_kind_of_fault(capsys):
    _, out, _ = _call(capsys, "run", "--help")
    for kind in Fault.kinds():
        assert re.search(rf"\b{kind}\b", out)
    assert "flexor run finger_bench --motion open_close --for 10" in out


def test_the_list_of_commands_imports_nothing_heavy():
    code = (
        "import sys; from tools.cli import main\n"
        "sys.argv = ['flexor', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numba', 'numpy', 'pydantic', 'zmq', 'matplotlib'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        env=ENVIRONMENT,
    )
    assert done.stderr.strip() == "[]", done.stderr
    assert "run" in done.stdout and set(COMMANDS) >= {"run", "check", "monitor"}


def test_the_reference_page_has_every_signal_once():
    text = "\n".join(table(list(TABLE)))
    for record, signals in TABLE.items():
        assert f"## {record}" in text
        for row in signals:
            assert f"| `{row.name}` | {row.unit} |" in text
    assert sum(line.startswith("| `") for line in text.splitlines()) == sum(map(len, TABLE.values()))
