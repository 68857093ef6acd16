"""What a run leaves on the disk: raw data as tables that other programs read."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow.parquet
import pytest

from calibration.found import Found
from calibration.run_folder import load, store
from hand.options import RunOptions
from reports.parquet import by_part
from runtime.setup import read_hand

HAND = read_hand(RunOptions(hand="finger_bench"))
TENSIONS = np.random.default_rng(0).uniform(0.0, 80.0, (7, 2)).astype(np.float32)
TABLES = {
    "windows": {"time_s": np.arange(7.0)} | by_part("tension_n", ("index_1", "index_2"), TENSIONS),
    "tendons": {"tendon": np.array(["index_1", "index_2"]), "wound_m": np.array([1e-3, np.nan])},
}


def stored(folder, tables):
    return store(folder, "calibrate tension", HAND, Found([], 1.0, [], tables), 0.1)


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_every_table_is_a_parquet_file_that_says_where_it_is_from(tmp_path):
    stored(tmp_path, TABLES)
    for name, table in TABLES.items():
        kept = pyarrow.parquet.read_table(tmp_path / "raw" / f"{name}.parquet")
        assert kept.column_names == list(table)
        for title, values in table.items():
            assert np.array_equal(kept[title].to_numpy(), values, equal_nan=values.dtype.kind == "f"), title
        facts = {key.decode(): text.decode() for key, text in kept.schema.metadata.items()}
        assert facts["flexor.hand_sha256"] == HAND.sha256
        assert facts["flexor.command"] == "calibrate tension"


@pytest.mark.parametrize("later", [True, False])
def test_without_pyarrow_the_same_columns_are_arrays_and_data_of_one_run_alone_stay(
    tmp_path, monkeypatch, later
):
    """A folder that is written again, with the library or without it."""
    plain = ["patch.toml", "report.html", "result.json"]
    for here in (not later, later):
        with monkeypatch.context() as patch:
            if not here:
                patch.setitem(sys.modules, "pyarrow", None)
            stored(tmp_path, TABLES if here else TABLES | {"more": {"x": np.zeros(3)}})
        tables = [f"raw/{name}.parquet" for name in sorted(TABLES)]
        assert files(tmp_path) == sorted(plain + (tables if here else ["raw.npz"]))
        if not here:
            with np.load(tmp_path / "raw.npz") as kept:
                assert np.array_equal(kept["windows.tension_n/index_2"], TENSIONS[:, 1])
                assert len(kept.files) == sum(len(table) for table in TABLES.values()) + 1
    assert load(tmp_path)["command"] == "calibrate tension"
