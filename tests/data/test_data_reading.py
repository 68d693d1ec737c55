"""Reading: order, unit, ids and counts, the same for every kind of source."""

import gzip
from collections.abc import Callable
from datetime import UTC, date, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.data import Log, read_log
from rota.errors import InputError

HOUR = 3600
START = 1_600_000_000
NAMES = {"user": "who", "item": "what", "time": "when"}


def frame(**changes: object) -> pa.Table:
    columns = {
        "who": [10, 9, 10, 9, 10],
        "what": ["b", "a", "c", "b", "a"],
        "when": [START + HOUR, START, START, START, START + HOUR],
    }
    return pa.table(columns | changes)


def times(*values: object, kind: pa.DataType | None = None) -> pa.Table:
    n = len(values)
    return pa.table({"who": [1] * n, "what": list(range(n)), "when": pa.array(values, kind)})


def write_csv(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def events(log: Log) -> list[tuple[object, object, int]]:
    users, items = log.user_ids.to_pylist(), log.item_ids.to_pylist()
    return [(users[u], items[i], t) for u, i, t in zip(log.users, log.items, log.times.tolist(), strict=True)]


def test_order_is_user_then_time_then_row() -> None:
    log = read_log(frame(), **NAMES)
    assert events(log) == [
        (9, "a", START),
        (9, "b", START),
        (10, "c", START),
        (10, "b", START + HOUR),
        (10, "a", START + HOUR),
    ]
    assert log.ties == 2
    assert (log.about.rows, log.about.dropped, log.unit, log.about.unit_stated, log.zone) == (
        5,
        0,
        "s",
        False,
        None,
    )
    assert log.users.dtype == log.items.dtype == log.times.dtype == np.int64


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.sampled_from("xyz"), st.integers(0, 4)), min_size=2))
def test_order_equals_a_plain_stable_sort(rows: list[tuple[int, str, int]]) -> None:
    clock = [START + HOUR * t for *_, t in rows]
    table = {"who": [u for u, *_ in rows], "what": [i for _, i, _ in rows], "when": clock}
    if len(set(clock)) == 1:
        with pytest.raises(InputError, match="constant"):
            read_log(pa.table(table), **NAMES)
        return
    expected = sorted(zip(*table.values(), strict=True), key=lambda row: (row[0], row[2]))
    log = read_log(pa.table(table), **NAMES)
    assert events(log) == expected
    pairs = pairwise(expected)
    assert log.ties == sum(a[0] == b[0] and a[2] == b[2] for a, b in pairs)


@pytest.fixture
def forms(tmp_path: Path) -> dict[str, object]:
    rng = np.random.default_rng(0)
    n = 40_000  # over a megabyte of CSV: several blocks
    table = pa.table(
        {
            "what": rng.integers(0, 300, n),
            "when": START + rng.integers(0, 10**6, n),
            "note": ['a "quoted, longer"\nremark'] * n,
            "who": rng.integers(0, 40, n),
        }
    )
    parquet.write_table(table, tmp_path / "log.parquet", row_group_size=700)
    csv.write_csv(table, tmp_path / "log.csv")
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress((tmp_path / "log.csv").read_bytes()))
    csv.write_csv(table, tmp_path / "log.tsv", csv.WriteOptions(delimiter="\t"))
    index = pd.Index(rng.integers(0, 5, n), name="who_cares")
    return {
        "parquet": tmp_path / "log.parquet",
        "csv": str(tmp_path / "log.csv"),
        "csv.gz": tmp_path / "log.csv.gz",
        "tsv": tmp_path / "log.tsv",
        "pandas": table.to_pandas().set_index(index),
        "polars": pl.concat([pl.from_arrow(table.slice(0, 7)), pl.from_arrow(table.slice(7))], rechunk=False),
        "arrow": table,
    }


def test_one_log_has_one_fingerprint_in_every_form(forms: dict[str, object]) -> None:
    prints = {form: read_log(source, **NAMES).fingerprint for form, source in forms.items()}  # type: ignore[arg-type]
    assert len(set(prints.values())) == 1, prints


def test_fingerprint_tells_contents_apart() -> None:
    days = [START + 86_400 * k for k in (1, 0, 0, 0, 1)]
    logs = [
        read_log(frame(), **NAMES),
        read_log(frame(what=["b", "a", "c", "b", "d"]), **NAMES),
        read_log(frame(who=[10, 9, 10, 9, 9]), **NAMES),
        read_log(frame(who=[11, 9, 11, 9, 11]), **NAMES),  # the same codes
        read_log(frame(what=["b", "a", "d", "b", "a"]), **NAMES),  # the same codes
        read_log(frame(when=[START + HOUR, START, START, START, START + 2 * HOUR]), **NAMES),
    ]
    logs += [read_log(frame(when=days), unit=unit, **NAMES) for unit in ("s", "ms")]
    assert len({log.fingerprint for log in logs}) == len(logs)
    assert logs[0].fingerprint == read_log(frame(), unit="s", **NAMES).fingerprint


def test_datetimes_of_every_unit_are_one_log() -> None:
    stamps = pd.to_datetime([START + HOUR, START, START, START, START + HOUR], unit="s")
    expected = read_log(frame(), unit="s", **NAMES)
    for unit in ("s", "ms", "us", "ns"):
        log = read_log(frame(when=pa.array(stamps).cast(pa.timestamp(unit))), **NAMES)
        assert (log.unit, log.about.unit_stated, log.zone) == ("s", True, None)
        assert log.fingerprint == expected.fingerprint


def test_nanoseconds_are_kept_when_they_count() -> None:
    start = 1_700_000_000_123_456_789
    log = read_log(times(start, start + 90 * 10**9 + 1, kind=pa.timestamp("ns")), **NAMES)
    assert log.unit == "ns"
    assert log.times.tolist() == [start, start + 90 * 10**9 + 1]
    mixed = read_log(times(1_700_000_000_000_000, 1_700_000_100_500_000, kind=pa.timestamp("us")), **NAMES)
    assert (mixed.unit, mixed.times.tolist()) == ("ms", [1_700_000_000_000, 1_700_000_100_500])


def test_a_stated_unit_makes_datetimes_finer_but_never_rounds() -> None:
    table = times(1_700_000_000_500, 1_700_000_100_000, kind=pa.timestamp("ms"))
    assert read_log(table, unit="us", **NAMES).times.tolist() == [
        1_700_000_000_500_000,
        1_700_000_100_000_000,
    ]
    with pytest.raises(InputError, match="'when' has datetimes exact to ms, which unit 's' would round"):
        read_log(table, unit="s", **NAMES)
    with pytest.raises(InputError, match="too far from 1970"):
        read_log(times(10**10, 10**10 + 100, kind=pa.timestamp("s")), unit="ns", **NAMES)


@pytest.mark.parametrize(("unit", "ticks"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_unit_is_inferred_from_the_magnitude(unit: str, ticks: int) -> None:
    for middle in (320_000_000, START, 7_000_000_000):  # 1980, 2020, 2191
        log = read_log(times(middle * ticks - 100 * ticks, middle * ticks, middle * ticks + ticks), **NAMES)
        assert (log.unit, log.about.unit_stated) == (unit, False)
        assert log.times.tolist()[1] == middle * ticks


def test_a_stated_unit_is_taken_at_its_word() -> None:
    log = read_log(times(0, 1_000_000, 2_000_000), unit="s", **NAMES)  # seconds from an unknown zero
    assert (log.unit, log.about.unit_stated) == ("s", True)


def test_times_of_other_types_are_the_same_ticks() -> None:
    expected = [1_577_836_800, 1_577_923_200]
    midnights = [datetime(2020, 1, 1), datetime(2020, 1, 2)]
    words = pa.array(["2020-01-02", "2020-01-01"], pa.string_view())  # as a categorical of polars comes
    views = pa.DictionaryArray.from_arrays(pa.array([1, 0]), words)
    for source in (
        times(*midnights, kind=pa.timestamp("us")),
        times(*midnights, kind=pa.date32()),
        times(*midnights, kind=pa.date64()),
        times("2020-01-01", "2020-01-02 00:00"),
        times("2020-01-01T00:00:00Z", "2020-01-02T01:00:00+01:00", kind=pa.large_string()),
        times("2020-01-01T00:00", "2020-01-02T00:00", kind=pa.string_view()),
        times("1577836800", "1577923200"),
        times(0, 0).set_column(2, "when", [views]),
        times(*map(float, expected), kind=pa.float64()),
        times(*expected, kind=pa.uint64()),
        times(*expected, kind=pa.uint32()),
    ):  # fmt: skip
        log = read_log(source, **NAMES)
        assert log.times.tolist() == expected
        assert log.unit == "s"


def test_csv_times_are_read_as_numbers_or_datetimes(tmp_path: Path) -> None:
    for cells in (
        ("2020-01-01 00:00:00.25", "2020-01-02 00:00:00"),
        ("2020-01-01T00:00:00.25Z", "2020-01-02T00:00:00Z"),
    ):
        path = write_csv(tmp_path / "log.csv", f"who,what,when\n1,2,{cells[0]}\n1,3,{cells[1]}\n")
        log = read_log(path, **NAMES)
        assert log.times.tolist() == [1_577_836_800_250, 1_577_923_200_000]
        assert log.unit == "ms"


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (pa.array([10, 9, 2], pa.int16()), [2, 9, 10]),
        (pa.array([2**64 - 1, 9, 2], pa.uint64()), [2, 9, 2**64 - 1]),
        (pa.array([10.0, 9.0, -2.0]), [-2, 9, 10]),
        (pa.array(["10", "9", "é"]), ["10", "9", "é"]),
        (pa.array(["b", "a", "B"], pa.string_view()), ["B", "a", "b"]),
        (pa.array([b"b", b"a", b"B"], pa.binary()), ["B", "a", "b"]),
        (pa.array([date(2020, 1, 2), date(2020, 1, 1), date(2019, 1, 1)]),
         [date(2019, 1, 1), date(2020, 1, 1), date(2020, 1, 2)]),
        (pa.array(["b", "c", "a"], pa.dictionary(pa.int8(), pa.string())), ["a", "b", "c"]),
        (pa.array(["no", "b", "a", "c"]).dictionary_encode()[1:], ["a", "b", "c"]),
    ],
)  # fmt: skip
def test_ids_are_ordered_by_value(ids: pa.Array, expected: list[object]) -> None:
    table = pa.table({"who": [1, 1, 1], "what": ids, "when": [START, START + HOUR, START + 2 * HOUR]})
    log = read_log(table, **NAMES)
    assert log.item_ids.to_pylist() == expected
    decoded = [value.decode() if isinstance(value, bytes) else value for value in ids.to_pylist()]
    assert [item for _, item, _ in events(log)] == decoded


def test_categories_of_data_frames_are_text() -> None:
    table = frame().to_pandas()
    table["what"] = pd.Categorical(table["what"], categories=["never", "c", "b", "a"])
    parts = [pl.from_arrow(frame().slice(0, 2)), pl.from_arrow(frame().slice(2))]
    polars = pl.concat(parts, rechunk=False).with_columns(pl.col("what").cast(pl.Categorical))  # type: ignore[arg-type]
    expected = read_log(frame(), **NAMES).fingerprint
    assert read_log(table, **NAMES).fingerprint == expected
    assert read_log(polars, **NAMES).fingerprint == expected


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("10", "9"), [9, 10]),
        (("10.0", "9.0"), [9, 10]),
        (("007", "7"), ["007", "7"]),
        (("NA", "7"), ["7", "NA"]),
        (("true", "false"), ["false", "true"]),
        (("1.5", "2"), ["1.5", "2"]),
        (("9223372036854775808", "2"), ["2", "9223372036854775808"]),
    ],
)
def test_csv_ids_never_merge(tmp_path: Path, cells: tuple[str, str], expected: list[object]) -> None:
    path = write_csv(
        tmp_path / "log.csv", f"who,what,when\n1,{cells[0]},{START}\n1,{cells[1]},{START + HOUR}\n"
    )
    log = read_log(path, **NAMES)
    assert log.item_ids.to_pylist() == expected
    assert log.about.dropped == 0


@pytest.mark.parametrize("form", ["arrow", "pandas", "csv"])
def test_rows_without_ids_are_dropped_and_counted(form: str, tmp_path: Path) -> None:
    table = frame(
        who=[10, None, 10, 9, 10],
        what=["b", "only here", None, "b", "a"],
        when=[START + HOUR, 1, 2, START, 5],
    )
    csv.write_csv(table, tmp_path / "log.csv")
    sources: dict[str, Callable[[], object]] = {
        "arrow": lambda: table,
        "pandas": table.to_pandas,  # integers become floats with NaN
        "csv": lambda: tmp_path / "log.csv",
    }
    log = read_log(sources[form](), unit="s", **NAMES)  # type: ignore[arg-type]
    assert events(log) == [(9, "b", START), (10, "a", 5), (10, "b", START + HOUR)]
    assert (log.about.rows, log.about.dropped) == (5, 2)
    assert log.item_ids.to_pylist() == ["a", "b"]


def test_rows_of_polars_without_ids_are_dropped_too() -> None:
    table = pl.DataFrame(
        {"who": ["a", None, "b"], "what": ["x", "y", "x"], "when": ["2020-01-01", "?", "2020-01-02"]}
    )
    log = read_log(table, **NAMES)
    assert events(log) == [("a", "x", 1_577_836_800), ("b", "x", 1_577_923_200)]
    assert log.about.dropped == 1


def test_float_nan_is_a_missing_id() -> None:
    table = pl.DataFrame(
        {"who": [1.0, float("nan"), None, 2.0], "what": [1] * 4, "when": [START, 0, 0, START + HOUR]}
    )
    assert read_log(table, unit="s", **NAMES).about.dropped == 2


def test_name_of_a_log(tmp_path: Path) -> None:
    parquet.write_table(frame(), tmp_path / "events.parquet")
    assert read_log(tmp_path / "events.parquet", **NAMES).name == "events.parquet"
    assert read_log(frame().to_pandas(), **NAMES).name == "pandas.DataFrame"
    assert read_log(pl.from_arrow(frame()), **NAMES).name == "polars.DataFrame"  # type: ignore[arg-type]


def test_instants_with_a_zone_of_their_own() -> None:
    stamps = [datetime(2020, 7, 1, 18, tzinfo=UTC), datetime(2020, 7, 2, 18, tzinfo=UTC)]
    log = read_log(times(*stamps, kind=pa.timestamp("s", "Europe/Berlin")), **NAMES)
    assert log.zone == "Europe/Berlin"
    assert log.times.tolist() == [1_593_626_400, 1_593_712_800]
    assert log.clock.tolist() == [1_593_626_400 + 2 * HOUR, 1_593_712_800 + 2 * HOUR]
    universal = read_log(times(*stamps, kind=pa.timestamp("ns", "UTC")), **NAMES)
    assert (universal.zone, universal.times.tolist()) == ("UTC", [1_593_626_400, 1_593_712_800])
