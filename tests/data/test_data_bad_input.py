"""Bad input: one line that names what, where and the remedy."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from jaxtyping import TypeCheckError

from rota.data import read_log
from rota.errors import InputError

HOUR = 3600
START = 1_600_000_000
NAMES = {"user": "who", "item": "what", "time": "when"}
CLOCK = [START + HOUR * i for i in range(6)]


def table(**changes: object) -> pa.Table:
    return pa.table({"who": [1, 1, 2, 2, 3, 3], "what": list("abcabc"), "when": CLOCK} | changes)


def refused(source: Any, *parts: str, **asked: Any) -> None:
    with pytest.raises(InputError) as caught:
        read_log(source, **(NAMES | asked))
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message, message


def floats(dtype: type, add: float = 0) -> pa.Array:
    return pa.array(np.array(CLOCK, dtype=dtype) + dtype(add))


def test_columns() -> None:
    refused(table(), "no column 'whom' for the user", "it has the columns who, what, when", user="whom")
    refused(table(), "which column is the time?", "time= (--time)", "who, what, when", time=None)
    refused(table(), "different columns", item="who")
    doubled = pa.Table.from_arrays([pa.array([1])] * 4, names=["who", "what", "when", "when"])
    refused(doubled, "2 columns are named 'when'", "rename")
    refused(
        table().to_pandas().set_index("who"), "no column 'who' for the user; it has the columns what, when"
    )


def test_ids() -> None:
    refused(table(what=[True] * 6), "column 'what'", "type bool", "convert")
    refused(table(what=[[1]] * 6), "column 'what'", "array<", "convert")
    refused(table(who=[1.0, 2.5, 3, 4, 5, 6]), "column 'who'", "2.5 as an id", "integers or text")
    refused(table(who=pa.array(np.full(6, 2**24 + 2, dtype=np.float32))), "column 'who'", "holds exactly")
    refused(table(what=[b"\xff"] * 6), "column 'what'", "binary", "integers or text")


def test_unreadable_times_name_the_row_and_the_value() -> None:
    refused(table(when=[*CLOCK[:3], None, *CLOCK[4:]]), "column 'when', row 4", "no time", "remove the row")
    text = ["2020-01-01", "2020-01-02", "soon", "2020-01-04", "later", "2020-01-05"]
    refused(table(when=text), "column 'when', row 3", "'soon'", "ISO 8601")
    refused(table(when=["", *text[:5]]), "row 1", "''")
    refused(
        table(when=[str(t) for t in CLOCK[:5]] + ["2020-01-01"]), "row 6", "'2020-01-01'", "in all rows alike"
    )
    # Rows that are dropped are counted, but their times do not matter.
    refused(table(who=[1, None, 2, 2, 3, 3], when=["2020-01-01", "junk", *text[:4]]), "row 5", "'soon'")


def test_float_times_are_never_rounded() -> None:
    refused(table(when=floats(np.float64, 0.5)), "row 1", "1600000000.5", "int64", "finer unit")
    refused(table(when=floats(np.float32)), "row 1", "float", "below 16777216", "int64")
    nanoseconds = pa.array(np.array(CLOCK, dtype=np.float64) * 1e9)
    refused(table(when=nanoseconds), "row 1", "below 9007199254740992")
    refused(table(when=[float("nan")] * 6), "row 1", "nan")
    refused(table(when=[float("inf")] * 6), "row 1", "inf")
    refused(table(when=pa.array([2**63] * 6, pa.uint64())), "column 'when'", "int64")


def test_types_that_are_no_time() -> None:
    refused(table(when=[True] * 6), "column 'when'", "bool", "expected whole numbers, datetimes")
    refused(table(when=pa.array(range(6), pa.duration("s"))), "column 'when'", "interval")
    refused(table(when=pa.array(range(6), pa.time32("s"))), "column 'when'", "of type time")


def test_units() -> None:
    refused(table(), "unit 'h'", "s, ms, us, ns", unit="h")
    refused(table(when=range(6)), "runs from 0 to 5: its median", "state the unit")
    refused(table(when=[20_130_101 + i for i in range(6)]), "state the unit")
    refused(table(), "1.8e-05 seconds, under a minute", "unit 'ns' (stated", "state the unit", unit="ns")
    refused(
        table(when=[t * 1000 for t in CLOCK[:5]] + [0]),
        "50701.4 years, over 200",
        "unit 's' (stated",
        unit="s",
    )
    refused(table(when=[*CLOCK[:5], 10**18]), "over 200", "inferred from the magnitude")
    refused(table(when=[-(2**63), *CLOCK[:4], 2**63 - 1]), "584.542 years", unit="ns")  # no overflow


def test_the_limits_of_a_span_are_allowed() -> None:
    minute = table(when=[START] * 5 + [START + 60])
    assert read_log(minute, **NAMES).unit == "s"
    refused(table(when=[START] * 5 + [START + 59]), "59 seconds, under a minute")
    years = [0] * 5 + [200 * 31_557_600]
    assert read_log(table(when=years), unit="s", **NAMES).unit == "s"
    years[-1] += 1
    refused(table(when=years), "over 200", unit="s")


def test_a_constant_clock() -> None:
    refused(table(when=[START] * 6), "the time is constant", "all 6 times are 1600000000", "expected")
    refused(table(when=[0] * 6), "is constant", unit="s")


def test_zones() -> None:
    refused(table(), "unknown time zone 'New York'", "America/New_York", zone="New York")
    refused(table(), "unknown time zone ''", zone="")
    extreme = table(when=[2**63 - 1] * 5 + [2**63 - 10**15])
    refused(extreme, "too far from 1970", zone="Asia/Tokyo", unit="ns")


def test_empty_logs(tmp_path: Path) -> None:
    refused(table().slice(0, 0), "is empty: none of its 0 rows")
    refused(table(who=[None] * 6), "is empty: none of its 6 rows")
    header = tmp_path / "header.csv"
    header.write_text("who,what,when\n")
    refused(header, str(header), "is empty")


def test_files(tmp_path: Path) -> None:
    refused(tmp_path / "no.csv", "no.csv: no such file")
    refused("nowhere", "log 'nowhere': no such file", "unknown name 'nowhere'", "flights")
    refused(tmp_path, "is a folder", ".parquet", ".csv")
    sheet = tmp_path / "log.xlsx"
    sheet.write_text("x")
    refused(sheet, "log.xlsx", "unknown kind", ".parquet", ".csv")
    refused(pd.Series([1, 2]), "pandas.Series")
    refused(pd.DataFrame({"who": [1, "x"]}), "pandas.DataFrame", "column who")


def test_what_is_no_log() -> None:
    with pytest.raises(
        (InputError, TypeCheckError)
    ) as caught:  # the latter where types are checked at run time
        read_log([1, 2], **NAMES)  # type: ignore[arg-type]
    if isinstance(caught.value, InputError):
        assert str(caught.value).startswith("a log of type list: expected a path")


def test_damaged_files(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    parquet.write_table(table(), whole)
    cut.write_bytes(whole.read_bytes()[:-50])
    refused(cut, str(cut), "damaged, or not a .parquet file")
    cells = "who,what,when\n" + "".join(f"1,{i},{START + 60 * i}\n" for i in range(9000))
    zipped = tmp_path / "cut.csv.gz"
    zipped.write_bytes(gzip.compress(cells.encode())[:-2000])
    refused(zipped, str(zipped), "damaged")
    for name, content, found in (
        ("empty", b"", "is empty"),
        ("short", f"who,what,when\n1,2,{START}\n1,2\n".encode(), "line 3"),
        ("wrapped", f'who,what,when\n1,"a\nb",{START}\n1,2\n'.encode(), "line 4"),
        ("latin", f"who,what,when\n1,\u00e9,{START}\n1,2,{START + HOUR}\n".encode("latin1"), "line 2"),
        ("bad", b"who,what,when\n1,\x00\xff,3\n", "line 2"),
    ):
        path = tmp_path / f"{name}.csv"
        path.write_bytes(content)
        refused(path, str(path), found)
    semicolons = tmp_path / "semicolons.csv"
    semicolons.write_text("who;what;when\n1;2;3\n")
    refused(semicolons, "no column 'who'", "who;what;when")
