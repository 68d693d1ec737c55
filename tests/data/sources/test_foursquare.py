"""Foursquare: hand-made lines in the layout of dataset_TSMC2014_readme.txt, and its instants."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import ibis
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from published import Cache, kinds, rows, text

from rota.data.sources._tsmc2014 import seconds_of
from rota.data.sources.foursquare import Foursquare
from rota.data.sources.foursquare_tky import FoursquareTokyo
from rota.errors import InputError

FORM = "%a %b %d %H:%M:%S +0000 %Y"
NYC, TKY = "dataset_TSMC2014_NYC.txt", "dataset_TSMC2014_TKY.txt"
ARTS = "470\t49bbd6c0f964a520f4531fe3\t4bf58dd8d48988d127951735\tArts & Crafts Store\t40.71\t-74.0025\t-240\t"
CAFE = '1\t4a43c0aef964a520c6a61fe3\t4bf58dd8d48988d16d941735\tCafé "1"\t40.5\t-73.5\t-300\t'
NOODLES = "1541\t4f0fd5a8e4b03856eeb6c8cb\t4bf58dd8d48988d10c951735\tラーメン\t35.7\t139.6\t540\t"


def seconds(*moment: int) -> int:
    return int(datetime(*moment, tzinfo=UTC).timestamp())  # type: ignore[misc, arg-type]


def test_new_york(cache: Cache) -> None:
    content = text(
        ARTS + "Tue Apr 03 18:00:09 +0000 2012",
        CAFE + "Fri Feb 15 23:59:59 +0000 2013",
        ARTS + "Tue Apr 03 18:00:09 +0000 2012",
        encoding="latin-1",
    )
    cache.put(Foursquare(), content, NYC)
    assert Foursquare.columns.offset == "offset_minutes"
    first = (
        470, "49bbd6c0f964a520f4531fe3", "4bf58dd8d48988d127951735", "Arts & Crafts Store", 40.71, -74.0025,
        -240, seconds(2012, 4, 3, 18, 0, 9),
    )  # fmt: skip
    found = rows(Foursquare())
    assert found[0] == found[2] == first
    assert found[1][3:] == ('Café "1"', 40.5, -73.5, -300, seconds(2013, 2, 15, 23, 59, 59))
    assert list(kinds(Foursquare()).values()) == [
        "int64", "string", "string", "string", "float64", "float64", "int64", "int64", "int64",
    ]  # fmt: skip


def test_tokyo_lies_in_the_same_archive(cache: Cache) -> None:
    line = NOODLES.replace("ラーメン", "Ramen")
    cache.put(FoursquareTokyo(), text(line + "Tue Apr 03 18:17:18 +0000 2012"), TKY)
    assert rows(FoursquareTokyo())[0][6:] == (540, seconds(2012, 4, 3, 18, 17, 18))
    assert FoursquareTokyo().file == Foursquare().file
    with pytest.raises(InputError, match=f"expected one file {NYC} in it; it has folder/{TKY}"):
        rows(Foursquare())


@pytest.mark.parametrize(
    "time",
    [
        "Tue Apr 31 18:00:09 +0000 2012", "Tue Apx 03 18:00:09 +0000 2012", "Tue Apr 03 18:00:09 -0400 2012",
        "Tue Apr 03 24:00:09 +0000 2012", "Thu Feb 29 18:00:09 +0000 2013", "2012-04-03 18:00:09",
        "Tue Apr 3 18:00:09 +0000 2012", "Tue Apr 03 18:00:09 +0000 2012 ",
    ],
)  # fmt: skip
def test_what_is_no_time_is_named(cache: Cache, time: str) -> None:
    cache.put(Foursquare(), text(ARTS + "Tue Apr 03 18:00:09 +0000 2012", ARTS + time), NYC)
    with pytest.raises(InputError, match=r"column 'utc_time', row 2: '.*', expected int64"):
        rows(Foursquare())


def test_seconds_are_exact() -> None:
    """Every day of thirty years and its last second, and many seconds between, against Python's calendar."""
    draw = random.Random(0)
    ticks = [day * 86_400 + second for day in range(12_000, 23_000) for second in (0, draw.randrange(86_400))]
    ticks += [tick - 1 for tick in ticks[::2]]
    epoch = datetime(1970, 1, 1)
    texts = [(epoch + timedelta(seconds=tick)).strftime(FORM) for tick in ticks]
    table = ibis.memtable(pa.table({"text": texts, "ticks": ticks}))
    found = ibis.duckdb.connect().to_pyarrow(table.select("ticks", seconds=seconds_of(table.text)))
    assert found["seconds"].to_pylist() == found["ticks"].to_pylist()
    assert found.schema.field("seconds").type == pa.int64()


@pytest.mark.data
def test_a_real_log_written_in_the_layout_is_read_back(cache: Cache, shared_data: Path) -> None:
    """The shared log of New York, to the published layout by plain Python, and back by the source."""
    log = parquet.read_table(shared_data / "fsq_nyc.parquet").to_pylist()
    epoch = datetime(1970, 1, 1)
    moments = ((row, epoch + timedelta(seconds=row["timestamp"])) for row in log)
    lines = (
        f"{row['user_id']}\t{row['item_id']}\tc\tBar\t1.5\t2.5\t-240\t{moment.strftime(FORM)}"
        for row, moment in moments
    )
    cache.put(Foursquare(), text(*lines), NYC)
    found = [(row[0], int(str(row[1])), row[7]) for row in rows(Foursquare())]
    assert found == [(row["user_id"], row["item_id"], row["timestamp"]) for row in log]
