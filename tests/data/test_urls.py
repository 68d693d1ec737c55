"""Tables of databases by URL: read as they are, in no order of their own, and changing nothing."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from test_data_reading import events

from rota.data import read_log
from rota.errors import InputError

HOUR = 3600
START = 1_600_000_000
NAMES = {"user": "who", "item": "what", "time": "when"}
ROWS = [(1, "b", START, 2), (1, "a", START, 3), (1, "c", START, 1), (2, "a", START + HOUR, 1)]
CREATE = 'create table events (who integer, what text, "when" bigint, n integer)'
SHAPE = "expected URL#TABLE, for instance duckdb://log.duckdb#events"


@pytest.fixture(params=["duckdb", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of a database with one table of three tied events; it must be the same afterwards."""
    path = tmp_path / f"log.{request.param}"
    for statement in (CREATE, f"insert into events values {', '.join(map(str, ROWS))}"):
        if request.param == "duckdb":
            with duckdb.connect(str(path)) as connection:
                connection.execute(statement)
        else:
            with sqlite3.connect(path) as connection:
                connection.execute(statement)
            connection.close()
    before = path.read_bytes()
    yield f"{request.param}://{path}"
    assert path.read_bytes() == before
    assert [other.name for other in tmp_path.iterdir()] == [path.name]


def refused(url: str, *parts: str, **asked: str) -> str:
    with pytest.raises(InputError) as caught:
        read_log(url, **(NAMES | asked))  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message, message
    return message


def test_an_order_is_required_or_declared_absent(url: str) -> None:
    refused(f"{url}#events", "no order", "order=, --order", "--ties unordered")
    refused(f"{url}#events", "no order", ties="rows")
    ordered = read_log(f"{url}#events", order="n", **NAMES)
    assert [item for _, item, _ in events(ordered)] == ["c", "b", "a", "a"]
    assert (ordered.about.ties, ordered.name, ordered.about.rows) == ("column", "events", 4)
    basket = read_log(f"{url}#events", ties="unordered", **NAMES)
    assert [item for _, item, _ in events(basket)] == ["a", "b", "c", "a"]


def test_what_is_not_there(url: str) -> None:
    refused(f"{url}#nothing", f"table 'nothing' of {url}: no such table", "it has events", SHAPE, order="n")
    refused(f"{url}#no.events", "no such table", order="n")
    refused(url, f"{url}: {SHAPE}")
    refused(f"{url}#", SHAPE)
    refused(
        f"{url}#events", "no column 'whom' for the user; it has the columns who, what, when, n", user="whom"
    )
    refused(f"{url}#events", "no column 'm' for the order", order="m")
    refused(f"{url}.old#events", f"{url}.old: cannot be opened", "check the address", order="n")


def test_an_order_column_that_does_not_order(url: str) -> None:
    refused(f"{url}#events", "column 'what', row", "expected whole numbers", order="what", item="n")
    scheme, _, path = url.partition("://")
    copy = Path(path).with_suffix(".copy")
    copy.write_bytes(Path(path).read_bytes())
    again = "insert into events values (1, 'd', 1600000000, 3)"
    if scheme == "duckdb":
        with duckdb.connect(str(copy)) as connection:
            connection.execute(again)
    else:
        with sqlite3.connect(copy) as other:
            other.execute(again)
        other.close()
    refused(f"{scheme}://{copy}#events", "column 'n' does not order", "user 1", "with 3", order="n")
    copy.unlink()


def test_schemas_views_and_types_of_the_database(tmp_path: Path) -> None:
    path = tmp_path / "log.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create schema shop")
        connection.execute(
            "create table shop.sales as select n::hugeint as who, ('k' || n)::varchar as what, "
            "make_timestamp_ns(1577836800123456789 + n * 3600000000000) as at, "
            "timestamptz '2020-01-01 00:00:00.5+02:00' + to_hours(n::int) as there, n from range(3) r(n)"
        )
        connection.execute("create view latest as select * from shop.sales where n > 0")
    for table, users in (("shop.sales", [0, 1, 2]), ("log.shop.sales", [0, 1, 2]), ("latest", [1, 2])):
        log = read_log(f"duckdb://{path}#{table}", user="who", item="what", time="there", order="n")
        assert log.user_ids.to_pylist() == users
        assert (log.unit, log.times[-1], log.zone) == ("ms", 1_577_829_600_500 + 2 * HOUR * 1000, "UTC")
    exact = read_log(f"duckdb://{path}#latest", user="who", item="what", time="at", ties="unordered")
    assert exact.times.tolist() == [1_577_836_800_123_456_789 + k * HOUR * 10**9 for k in (1, 2)]


def test_numbers_of_sqlite_are_not_rounded_among_nulls(tmp_path: Path) -> None:
    start = 1_600_000_000_000_000_001
    with sqlite3.connect(tmp_path / "log") as connection:
        connection.execute('create table t (who bigint, what, "when" timestamp, at, mixed)')
        rows = [(2**60 + 1, "a", start, "2020-01-01 00:00:00.25", 1), (None, "b", start, None, "x")]
        rows += [(2**60 + 2, "c", start + 10**11, "2020-01-02", 2), (7, "d", None, None, None)]
        connection.executemany("insert into t values (?, ?, ?, ?, ?)", rows)
    connection.close()
    url = f"sqlite://{tmp_path / 'log'}#t"
    log = read_log(url, ties="unordered", on_error="skip", **NAMES)
    assert events(log) == [(2**60 + 1, "a", start), (2**60 + 2, "c", start + 10**11)]
    assert (log.unit, log.about.rows, log.about.dropped, log.about.skipped) == ("ns", 4, 1, 1)
    text = read_log(url, ties="unordered", on_error="skip", **NAMES | {"time": "at"})
    assert text.times.tolist() == [1_577_836_800_250, 1_577_923_200_000]
    refused(url, "column 'mixed' holds integer and text", "one type", ties="unordered", item="mixed")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("no database at all, but long enough for a page of one" * 100)
    for scheme in ("duckdb", "sqlite"):
        refused(f"{scheme}://{tmp_path / 'log'}#events", "cannot be opened", "check the address", order="n")


def test_passwords_are_never_shown() -> None:
    for address in (
        "nosuch://me:s3cret@host/db#events",
        "nosuch://me:s3cret@host/db",
        "nosuch://host/db?user=me&password=s3cret#events",
        "nosuch://me:s3%63ret@host/db#events",
        "postgres://me:s3cret@host.invalid/db?sslkey=s3cret",
    ):
        message = refused(address, "host", order="n")
        assert "s3cret" not in message
        assert "s3%63ret" not in message
