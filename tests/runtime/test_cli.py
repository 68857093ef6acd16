"""The command line: one clear line, the next step, the right exit code, nothing else on stdout."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from runtime.cli import COMMANDS, main
from runtime.commands.signals import table
from signals.table import TABLE

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
        (("run", "finger_bench", "--sensor", "ideal"), "--sensors"),
        (("run", "finger_bench", "--sensors", "idal"), "did you mean 'ideal'"),
        (("run", "finger_bench", "--for", "1e308"), "up to 1e+07 s"),
        (("run", "finger_bench", "--for", "1e-9", "--lockstep"), "no cycle"),
        (("run", "finger_bench", "--seed", "-1"), "--seed is -1; legal are whole numbers from 0"),
        (("run", "finger_bench", "--mismatch", "-5"), "--mismatch is -5; legal are whole numbers from 0"),
        (("run", "finger_bench", "--out", "pyproject.toml"), "--out pyproject.toml is a file"),
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


def test_help_shows_examples(capsys):
    for command in ("run", "monitor", "log", "signals"):
        code, out, _ = _call(capsys, command, "--help")
        assert code == 0 and "flexor" in out
    _, out, _ = _call(capsys, "run", "--help")
    assert "flexor run finger_bench --motion open_close --for 10" in out


def test_the_list_of_commands_imports_nothing_heavy():
    code = (
        "import sys; from runtime.cli import main\n"
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
        for signal in signals:
            assert f"| `{signal.name}` | {signal.unit} |" in text
    assert sum(line.startswith("| `") for line in text.splitlines()) == sum(map(len, TABLE.values()))
