"""Real logs: published figures, and targets equal to a sort that anyone can read."""

import gzip
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from rota.data import read_log

pytestmark = pytest.mark.data
NAMES = {"user": "user_id", "item": "item_id", "time": "timestamp"}


def test_check_ins_in_every_form(shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "fsq_nyc.parquet"
    csv.write_csv(parquet.read_table(path), tmp_path / "log.csv")
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress((tmp_path / "log.csv").read_bytes(), 1))
    log = read_log(path, **NAMES)
    assert (log.about.rows, len(log), log.num_users, log.num_items) == (147_480, 147_480, 1_083, 5_135)
    assert (log.unit, log.about.unit_stated) == ("s", False)
    others = [tmp_path / "log.csv", tmp_path / "log.csv.gz", pd.read_parquet(path), pl.read_parquet(path)]
    assert {read_log(other, **NAMES).fingerprint for other in others} == {log.fingerprint}
    stamps = pd.read_parquet(path)
    stamps["timestamp"] = pd.to_datetime(stamps["timestamp"], unit="s")
    assert read_log(stamps, **NAMES).fingerprint == log.fingerprint


def test_leave_one_out_equals_a_plain_stable_sort(shared_data: Path) -> None:
    path = shared_data / "ml_100k.parquet"
    log = MinEvents(5).apply(read_log(path, **NAMES))
    stages = LeaveOneOut().stages(log.histories(), log.user_ids, log.item_ids)
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


def test_a_clock_with_an_unknown_zero_asks_for_its_unit(shared_data: Path) -> None:
    with pytest.raises(ValueError, match="state the unit"):
        read_log(shared_data / "email_eu.parquet", **NAMES)
    assert read_log(shared_data / "email_eu.parquet", unit="s", **NAMES).num_users == 824
