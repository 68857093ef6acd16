"""A log as a table: every value of every signal under its name, in CSV and in Parquet alike."""

from __future__ import annotations

import io
import sys

import numpy as np
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from signals.records import FRAME
from telemetry.columns import Columns
from telemetry.record.reader import read_log
from telemetry.record.recorder import Recorder
from tools.commands.log import app

N = 60
NAMES = {"motor": 8, "tendon": 8, "joint": 4, "finger": 1, "axis": 0}
TENDONS = " ".join(f"t{k}" for k in range(8))


@pytest.fixture
def log(tmp_path):
    columns, frames, rng = Columns(NAMES), np.zeros(N, FRAME), np.random.default_rng(2)
    for column in columns.columns:
        values = frames[column.record][column.signal.name]
        values[...] = rng.integers(1, 100, values.shape)
    frames["state"]["time_ns"] = np.arange(N) * 1_000_000 + 17
    frames["state"]["tension_n"][3] = np.nan  # no value
    recorder = Recorder(tmp_path / "a.mcap", columns, metadata={"hand": "f", "names.tendon": TENDONS})
    recorder.add(frames)
    recorder.close()
    return tmp_path / "a.mcap"


def _flexor(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_every_signal_of_a_log_is_in_the_parquet_file_with_its_own_type(log, tmp_path):
    done = _flexor("parquet", log, "--out", tmp_path / "a.parquet")
    assert done.exit_code == 0 and f"{N} rows" in done.stdout
    table, frames = pyarrow.parquet.read_table(tmp_path / "a.parquet"), read_log(log).frames
    assert table.schema.metadata[b"flexor.hand"] == b"f"
    width = 1 + sum(
        int(np.prod(frames.dtype[record][name].shape))
        for record in frames.dtype.names
        for name in frames.dtype[record].names
    )
    assert table.num_columns == width and table.num_rows == N
    tension = np.array([table[f"state.tension_n/t{k}"].to_numpy() for k in range(8)]).T
    assert tension.dtype == frames["state"]["tension_n"].dtype
    assert np.array_equal(tension, frames["state"]["tension_n"], equal_nan=True)
    assert (table["state.time_ns"].to_numpy() == frames["state"]["time_ns"]).all()
    assert [p.name for p in tmp_path.iterdir() if "parquet" in p.name] == ["a.parquet"]


def test_csv_and_parquet_choose_the_same_rows_and_columns(log, tmp_path):
    words = ["state.tension_n/t2", "state.joint_angle_rad", "--from", "0.01", "--to", "0.03", "--every", "4"]
    text = _flexor("csv", log, *words).stdout
    out = tmp_path / "b.parquet"
    assert _flexor("parquet", log, *words, "--out", out).exit_code == 0
    rows, table = np.genfromtxt(io.StringIO(text), delimiter=",", names=True), pyarrow.parquet.read_table(out)
    assert text.splitlines()[0].split(",") == table.column_names
    assert len(rows) == table.num_rows == 6
    for title, name in zip(table.column_names, rows.dtype.names, strict=True):
        assert np.allclose(rows[name], table[title].to_numpy())


def test_what_cannot_be_written_says_why_and_leaves_nothing(log, tmp_path, monkeypatch):
    out = tmp_path / "c.parquet"
    for words, told in ((["state.tensions"], "state.tension_n"), (["state.tension_n/t9"], "t9")):
        done = _flexor("parquet", log, *words, "--out", out)
        assert done.exit_code != 0 and told in str(done.exception)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = _flexor("parquet", log, "--out", out)
    assert "[parquet]" in str(done.exception) and "pip install" in str(done.exception) and not out.exists()
