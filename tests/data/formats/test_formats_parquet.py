"""Parquet: rows as they lie in the files, types as they are, damage wherever it is."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from written import HOUR, NAMES, START, read, refused, write_parquet

from rota.data import read_log
from rota.data.columns import Wanted
from rota.data.database import database
from rota.data.formats import OnError, Parquet
from rota.data.paths import find_files
from rota.data.raw import ROW

DAY = 24 * HOUR
FIRST = {"who": [1, 1], "what": ["b", "a"], "when": [START, START]}
SECOND = {"who": [1, 2], "what": ["0", "c"], "when": [START, START + HOUR]}
BOTH = [(1, "b", START), (1, "a", START), (1, "0", START), (2, "c", START + HOUR)]


def timed(path: Path, times: Any) -> Path:
    """A file of one user with these times."""
    return write_parquet(path, who=[1] * len(times), what=list(range(len(times))), when=times)


def test_rows_run_on_across_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    write_parquet(tmp_path / "log/b.parquet", **SECOND)
    write_parquet(tmp_path / "log/a.pq.parquet", **FIRST)
    assert read(tmp_path / "log") == read(str(tmp_path / "log/*.parquet")) == BOTH
    write_parquet(tmp_path / "log/day=5/c.parquet", **SECOND)
    assert len(read(tmp_path / "log")) == 6
    refused(tmp_path / "log", "no column 'day'", "who, what, when", user="day")
    write_parquet(tmp_path / "log/z.parquet", who=[1], what=["a"], when=pa.array([None], pa.int64()))
    refused(tmp_path / "log", "column 'when', row 7", "no time", ", 1 of them")
    assert read_log(tmp_path / "log", on_error="skip", **NAMES).about.skipped == 1


def test_a_folder_named_like_a_column_is_only_a_folder(tmp_path: Path) -> None:
    write_parquet(tmp_path / "what=x/a.parquet", **FIRST)
    write_parquet(tmp_path / "what=y/b.parquet", **SECOND)
    assert read(tmp_path) == BOTH


def test_a_name_that_looks_like_a_pattern_is_a_name(tmp_path: Path) -> None:
    write_parquet(tmp_path / "[1].parquet", **FIRST)
    write_parquet(tmp_path / "1.parquet", **SECOND)
    assert sorted(read(tmp_path)) == sorted(BOTH)
    refused(tmp_path / "[1].parquet", f"all 2 times are {START}")
    write_parquet(tmp_path / "stars/g*.parquet", **FIRST)
    write_parquet(tmp_path / "stars/g1.parquet", **SECOND)
    assert read(tmp_path / "stars") == BOTH


def test_other_columns_may_be_called_anything(tmp_path: Path) -> None:
    """Columns that the database adds or joins by, and names that differ only in case."""
    for k, other in enumerate(("Who", "filename", "FILE_ROW_NUMBER", "rota_file", "rota_row")):
        folder = tmp_path / str(k)
        write_parquet(folder / "a.parquet", **FIRST, **{other: [7, 8]})
        write_parquet(folder / "b.parquet", **SECOND, **{other: [9, 7]})
        assert read(folder) == BOTH
        if other != "rota_row":
            assert {user for user, _, _ in read(folder, user=other)} == {7, 8, 9}
    refused(tmp_path / "4", "a column 'rota_row'", "rename", user="rota_row")
    refused(tmp_path / "0", "columns 'who' and 'Who'", "rename", item="Who")


def test_files_that_disagree_are_both_named(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", **FIRST)
    for other, said in (
        (SECOND | {"who": ["1", "2"]}, "'who' is of type string, in"),
        (SECOND | {"when": pa.array([0, 1], pa.timestamp("ms"))}, "'when' is of type timestamp[ms], in"),
        ({"who": [1, 2], "when": [1, 2]}, "'what' is absent, in"),
    ):
        write_parquet(tmp_path / "b.parquet", **other)
        refused(tmp_path, f"{tmp_path / 'b.parquet'}: column {said} {tmp_path / 'a.parquet'}", "one schema")
    write_parquet(tmp_path / "b.parquet", more=[1, 1], **dict(reversed(SECOND.items())))
    assert read(tmp_path) == BOTH  # another order of the columns, and more of them, is no disagreement


@pytest.mark.parametrize("left", [0, 3, 200, -1])
def test_a_truncated_file(left: int, tmp_path: Path) -> None:
    whole = write_parquet(tmp_path / "a.parquet", **FIRST).read_bytes()
    (tmp_path / "b.parquet").write_bytes(whole[:left])
    refused(tmp_path, str(tmp_path / "b.parquet"), "damaged, or not a .parquet file")


@pytest.mark.parametrize("kind", [pa.int64(), pa.timestamp("s", "UTC")])
def test_a_file_that_is_damaged_further_in(kind: pa.DataType, tmp_path: Path) -> None:
    path = timed(tmp_path / "log.parquet", pa.array(range(START, START + 50_000), pa.int64()).cast(kind))
    content = bytearray(path.read_bytes())
    content[1000:90_000] = np.random.default_rng(0).bytes(89_000)
    path.write_bytes(content)
    message = refused(path, "damaged", "get it again")
    assert message.startswith(str(path))
    assert "stream" not in message  # nothing of how it was read


def test_text_that_is_none(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "log.parquet", **FIRST | {"what": [b"a", b"\xff"]})
    refused(path, str(path), "UTF8")
    write_parquet(path, **SECOND | {"what": [b"b", b"\xc3\xa9"]})
    assert [item for _, item, _ in read(path)] == ["b", "é"]


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("ends", [(2**63 - 1, 2**63 - 1 - 10**12), (1 - 2**63, 10**12 - 2**63)])
def test_datetimes_are_exact_to_the_last_nanosecond(
    zone: str | None, ends: tuple[int, int], tmp_path: Path
) -> None:
    path = timed(tmp_path / "log.parquet", pa.array(ends).cast(pa.timestamp("ns", zone)))
    if zone is None:
        log = read_log(path, **NAMES)
        assert (log.unit, log.times.tolist()) == ("ns", sorted(ends))
    else:  # its wall clock would leave int64
        refused(path, "too far from 1970 for int64 in unit 'ns'")
    now = [START * 10**9 + 1, (START + HOUR) * 10**9 + 999_999_999]
    log = read_log(timed(path, pa.array(now).cast(pa.timestamp("ns", zone))), **NAMES)
    assert (log.unit, log.times.tolist(), log.zone) == ("ns", now, zone)
    parquet.write_table(parquet.read_table(path), path, use_deprecated_int96_timestamps=True)
    assert read_log(path, **NAMES).times.tolist() == now


def test_datetimes_of_a_zone_that_nobody_knows(tmp_path: Path) -> None:
    path = timed(
        tmp_path / "log.parquet", pa.array([START, START + HOUR]).cast(pa.timestamp("s", "Mars/Olympus"))
    )
    refused(path, str(path), "unknown time zone 'Mars/Olympus'", "--zone")
    assert read_log(path, zone="Europe/Berlin", **NAMES).zone == "Europe/Berlin"


@pytest.mark.parametrize(
    ("times", "ticks"),
    [
        (pa.array([START, START + HOUR]).cast(pa.decimal128(25, 2)), [START, START + HOUR]),
        (pa.array([START, START + HOUR], pa.uint64()), [START, START + HOUR]),
        (pa.array([float(START), START + HOUR]), [START, START + HOUR]),
        (pa.array([-5, 0, DAY]), [-5, 0, DAY]),
        (pa.array([date(1960, 1, 1), date(1970, 1, 2)]), [-315_619_200, DAY]),
        (pa.array([date(1960, 1, 1), date(1970, 1, 2)], pa.date64()), [-315_619_200, DAY]),
    ],
)
def test_times_of_any_type(times: pa.Array, ticks: list[int], tmp_path: Path) -> None:
    log = read_log(timed(tmp_path / "log.parquet", times), unit="s", **NAMES)
    assert log.times.tolist() == ticks


@pytest.mark.parametrize(
    ("times", "parts"),
    [
        (pa.array([Decimal(f"{START}.0"), Decimal(f"{START}.5")]), ("row 2", f"{START}.5")),
        (pa.array([START, 2**63], pa.uint64()), ("row 2", str(2**63))),
        (pa.array([START, START + 0.25]), ("row 2", f"{START}.25")),
        (pa.array(np.full(2, START, np.float32)), ("row 1", "16777216")),
        (pa.array([START, None, START]), ("row 2", "no time")),
        (pa.array([START, None, START], pa.timestamp("s")), ("row 2", "no time")),
    ],
)
def test_times_that_are_refused(times: pa.Array, parts: tuple[str, str], tmp_path: Path) -> None:
    path = timed(tmp_path / "log.parquet", times)
    refused(path, f"{path}: column 'when', {parts[0]}", parts[1])


def test_ids_of_any_type(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    when = [START, START + HOUR]
    for ids, expected in (
        (pa.array([2**64 - 1, 1], pa.uint64()), [2**64 - 1, 1]),
        (pa.array([Decimal("7.0"), Decimal("-1.0")]), [7, -1]),
        (pa.array(["x", "é"]).dictionary_encode(), ["x", "é"]),
    ):
        write_parquet(path, who=[1, 1], what=ids, when=when)
        assert [item for _, item, _ in read(path)] == expected
    for bad, said in ((Decimal("12345678901234567890"), "holds exactly"), (Decimal("1.5"), "1.5")):
        write_parquet(path, who=[1, 1], what=[Decimal(1), bad], when=when)
        refused(path, "column 'what', row 2", said, "as an id")
    write_parquet(path, who=pa.nulls(2), what=[1, 2], when=when)
    refused(path, "is empty: none of its 2 rows")


def test_many_threads_keep_the_order(tmp_path: Path) -> None:
    rows = 60_000
    for k in range(3):
        numbers = range(k * rows, (k + 1) * rows)
        table = pa.table({"who": numbers, "what": numbers, "when": numbers})
        parquet.write_table(table, tmp_path / f"{k}.parquet", row_group_size=5000)
    with database() as connection:
        connection.con.execute("set threads = 4").fetchall()
        found = find_files(str(tmp_path), Parquet.suffixes)
        table = Parquet().open(connection, found, Wanted(**NAMES), OnError.STOP).table.to_pyarrow()
    assert table["who"].equals(table[ROW])
    assert len(table) == 3 * rows
