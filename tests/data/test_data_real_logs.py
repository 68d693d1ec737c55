"""Real logs: published figures, and targets equal to a sort that anyone can read."""

import gzip
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from rota.data import Reading, prepare, read_log
from rota.data.splits import LeaveLast

pytestmark = pytest.mark.data
NAMES = {"user": "user_id", "item": "item_id", "time": "timestamp"}


def test_one_log_in_every_form(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "ml_100k.parquet"
    table = parquet.read_table(path)
    csv.write_csv(table, tmp_path / "log.csv")
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress((tmp_path / "log.csv").read_bytes(), 1))
    numbered = table.append_column("row", pa.array(range(len(table))))
    with duckdb.connect(str(tmp_path / "log.duckdb")) as connection:
        connection.register("numbered", numbered)
        connection.execute("create table ratings as select * from numbered order by hash(row)")
    log = read_log(path, **NAMES)
    assert (log.about.rows, len(log), log.num_users, log.num_items) == (100_000, 100_000, 943, 1682)
    assert (log.unit, log.about.unit_stated) == ("s", False)
    made = prepare(path, tmp_path / "set", Reading(**NAMES))
    stamps = pd.read_parquet(path)
    stamps["timestamp"] = pd.to_datetime(stamps["timestamp"], unit="s")
    others = [
        read_log(tmp_path / "log.csv", **NAMES),
        read_log(tmp_path / "log.csv.gz", **NAMES),
        read_log(pd.read_parquet(path), **NAMES),
        read_log(stamps, **NAMES),
        read_log(pl.read_parquet(path), **NAMES),
        read_log(f"duckdb://{tmp_path / 'log.duckdb'}#ratings", order="row", **NAMES),
        made,
    ]
    assert {other.fingerprint for other in others} == {log.fingerprint}


def test_leave_one_out_equals_a_plain_stable_sort(shared_data: Path) -> None:
    path = shared_data / "ml_100k.parquet"
    log = read_log(path, **NAMES)
    stages = LeaveLast().stages(log)
    plain: dict[int, list[tuple[int, int]]] = {}
    for row in parquet.read_table(path).to_pylist():
        plain.setdefault(row["user_id"], []).append((row["timestamp"], row["item_id"]))
    for events in plain.values():
        events.sort(key=lambda event: event[0])  # Python's sort is stable
    items, users = log.item_ids.to_pylist(), log.user_ids.to_pylist()
    assert len(users) == len(plain) == 943
    for spans, which in ((stages.validation, -2), (stages.test, -1)):
        targets = {users[u]: items[log.items[row]] for u, row in zip(spans.users, spans.stops, strict=True)}
        assert targets == {user: events[which][1] for user, events in plain.items()}
        assert (spans.ends - spans.stops).tolist() == [1] * 943


def test_a_clock_with_an_unknown_zero_asks_for_its_unit(shared_data: Path) -> None:
    with pytest.raises(ValueError, match="state the unit"):
        read_log(shared_data / "email_eu.parquet", **NAMES)
    log = read_log(shared_data / "email_eu.parquet", unit="s", epoch="unknown", **NAMES)
    assert (log.num_users, log.about.known_epoch) == (824, False)


def test_an_offset_for_each_row(shared_data: Path) -> None:
    path = shared_data / "git_commits_all.parquet"
    offset = next(name for name in parquet.read_schema(path).names if "offset" in name or "tz" in name)
    log = read_log(path, offset_column=offset, **NAMES)
    rows = parquet.read_table(path).to_pylist()
    plain = sorted((row["user_id"], row["timestamp"], place, row[offset]) for place, row in enumerate(rows))
    assert log.times.tolist() == [time for _, time, _, _ in plain]
    assert log.clock.tolist() == [time + 60 * minutes for _, time, _, minutes in plain]
