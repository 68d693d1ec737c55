"""Worlds as files: the same rows in every format and order, the truth beside, all or nothing."""

import gzip
import os
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from worlds_made import made

from rota.data.worlds import RowOrder, World, preset_world, read_world, write_world
from rota.errors import InputError

TOWN = replace(preset_world("town"), users=50, events=5_000, span="60d")


def test_parquet_holds_the_world(tmp_path: Path) -> None:
    seen: list[int] = []
    written = write_world(TOWN, tmp_path / "town.parquet", on_progress=seen.append)
    assert {path.name for path in tmp_path.iterdir()} == {
        "town.parquet",
        "town.truth.parquet",
        "town.truth.toml",
    }
    log, truth = pq.read_table(written.log), pq.read_table(written.truth)
    assert log.column_names == ["user", "item", "time", "zone"]
    assert truth.column_names == ["event", "kind", "routine", "due", "follows", "new"]
    wanted = made(TOWN)
    for table in (log, truth):
        for name in table.column_names:
            assert table[name].to_pylist() == wanted[name].tolist()
    assert seen == [5_000]
    assert sum(kind.events for kind in written.kinds) == 5_000
    for kind in written.kinds:
        own = wanted["kind"] == kind.kind
        assert kind.events == own.sum()
        assert kind.people == len(np.unique(wanted["user"][own]))
        assert kind.routine == (wanted["routine"][own] >= 0).sum()
        assert kind.repeated == (wanted["follows"][own] >= 0).sum()
    assert {kind.kind: kind.period for kind in written.kinds}["shifts"] == 36 * 3600


@pytest.mark.parametrize("name", ["town.csv", "town.csv.gz"])
def test_csv_holds_the_same(tmp_path: Path, name: str) -> None:
    written = write_world(TOWN, tmp_path / name)
    assert written.truth.name == "town.truth.parquet"
    wanted = made(TOWN)
    table = csv.read_csv(written.log)
    assert table.column_names == ["user", "item", "time", "zone"]
    for column in table.column_names:
        assert table[column].to_pylist() == wanted[column].tolist()
    head = written.log.read_bytes()
    assert (head if name.endswith("csv") else gzip.decompress(head)).startswith(
        b'"user","item","time","zone"\n'
    )


def test_rows_by_time(tmp_path: Path) -> None:
    written = write_world(TOWN, tmp_path / "town.parquet", order=RowOrder.TIME)
    assert len(list(tmp_path.iterdir())) == 3
    log, truth = pq.read_table(written.log), pq.read_table(written.truth)
    assert log.schema.types == pq.read_table(write_world(TOWN, tmp_path / "made.parquet").log).schema.types
    wanted = made(TOWN)
    order = np.lexsort((wanted["event"], wanted["time"]))
    assert not np.array_equal(order, wanted["event"])
    for table in (log, truth):
        for name in table.column_names:
            assert table[name].to_pylist() == wanted[name][order].tolist()


def test_the_recipe_makes_the_same_again(tmp_path: Path) -> None:
    written = write_world(TOWN, tmp_path / "town.parquet")
    assert read_world(written.about) == TOWN
    again = write_world(read_world(written.about), tmp_path / "again.parquet")
    assert pq.read_table(again.log) == pq.read_table(written.log)


def test_nothing_is_left_of_a_world_that_fails(tmp_path: Path) -> None:
    (tmp_path / "town.parquet").write_bytes(b"before")
    with pytest.raises(InputError, match="too few"):
        write_world(World(items=4), tmp_path / "town.parquet")

    def full(_: int) -> None:
        raise OSError("no space left")

    for order in RowOrder:
        with pytest.raises(OSError, match="no space left"):
            write_world(TOWN, tmp_path / "town.parquet", order=order, on_progress=full)
    assert os.listdir(tmp_path) == ["town.parquet"]
    assert (tmp_path / "town.parquet").read_bytes() == b"before"


@pytest.mark.parametrize("name", ["town.json", "town", ".csv", "town.gz"])
def test_an_ending_nobody_knows(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"expected a name that ends in \.parquet, \.csv, \.csv\.gz"):
        write_world(TOWN, tmp_path / name)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "no such file"),
        ("seed = ", "not TOML"),
        ("seed = 1", r"expected a table \[world\], as `rota generate` writes it"),
        ('[world]\nrecipe = "data.worlds.world"\nsseed = 1', "unknown key 'sseed'"),
        ('[world]\nrecipe = "data.worlds.world"\nhours = "noon"', "hours 'noon': expected one of flat"),
        ('[world]\nrecipe = "data.worlds.daily"', "is no World"),
    ],
)
def test_a_file_that_is_no_world(tmp_path: Path, text: str | None, says: str) -> None:
    path = tmp_path / "town.truth.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        read_world(path)


@pytest.mark.slow
def test_memory_does_not_grow_with_events() -> None:
    peaks = []
    for events in (400_000, 1_600_000):
        world = replace(preset_world("town"), users=2_000, events=events, items=5_000)
        tracemalloc.start()
        assert sum(len(batch) for batch in world.batches()) == events
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]
    assert peaks[1] < 100e6
