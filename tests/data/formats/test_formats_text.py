"""CSV and TSV: every byte is read as it stands, and what cannot be read is named by its line."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from written import HEADER, HOUR, START, events, read, refused, write_text

from rota.data import read_log
from rota.data.database import database
from rota.data.formats import OnError
from rota.data.formats.text import Layout, header, read_text
from rota.data.raw import ROW

TWO = f"1,a,{START}\n1,b,{START + HOUR}\n"
TWO_EVENTS = [(1, "a", START), (1, "b", START + HOUR)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plain.csv", HEADER + TWO),
        ("no end.csv", (HEADER + TWO).rstrip("\n")),
        ("windows.csv", (HEADER + TWO).replace("\n", "\r\n")),
        ("marked.csv", "\ufeff" + HEADER + TWO),
        ("quoted.csv", '"who","what","when"\n' + TWO.replace("a", '"a"')),
        ("blank lines.csv", HEADER + "\n" + TWO + "\n\n"),
        ("tabs.tsv", (HEADER + TWO).replace(",", "\t")),
        ("zipped.csv.gz", HEADER + TWO),
        ("LOUD.CSV.GZ", HEADER + TWO),
        ("more columns.csv", HEADER.replace("who", "note,who") + TWO.replace("1,", '"x, ""y""\nz",1,')),
    ],
)
def test_one_log_however_it_is_written(name: str, text: str, tmp_path: Path) -> None:
    assert read(write_text(tmp_path / name, text)) == TWO_EVENTS


def test_zipped_pieces_one_after_another_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "pieces.csv.gz"
    path.write_bytes(gzip.compress(HEADER.encode()) + gzip.compress(TWO.encode()))
    assert read(path) == TWO_EVENTS


def test_ids_are_kept_to_the_byte(tmp_path: Path) -> None:
    cells = f'"a ""q"" b","é\nñ",{START}\n日本,"x,y",{START + HOUR}\nNULL, padded ,{START + HOUR}\n'
    assert read(write_text(tmp_path / "odd.csv", HEADER + cells)) == [
        ("NULL", " padded ", START + HOUR),
        ('a "q" b', "é\nñ", START),
        ("日本", "x,y", START + HOUR),
    ]


def test_names_that_differ_only_in_case_or_hold_anything(tmp_path: Path) -> None:
    cells = f"1,x,a,{START}\n2,y,b,{START + HOUR}\n"
    path = write_text(tmp_path / "case.csv", "who,What,what,when\n" + cells)
    assert [item for _, item, _ in read(path)] == ["a", "b"]
    assert [item for _, item, _ in read(path, item="What")] == ["x", "y"]
    refused(path, "columns 'what' and 'What'", "differ in more than case", user="what", item="What")
    strange = write_text(tmp_path / "strange.csv", '"w\nh""o",what;,when\n' + TWO)
    assert read(strange, user='w\nh"o', item="what;") == TWO_EVENTS
    ours = write_text(tmp_path / "ours.csv", "rota_row,what,when\n" + TWO)
    refused(ours, "a column 'rota_row'", "rename", user="rota_row")


def test_rows_run_on_across_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    write_text(tmp_path / "log/p1.csv", HEADER + f"1,c,{START}\n1,d,{START}\n")
    write_text(tmp_path / "log/p0.csv", HEADER + f"1,b,{START}\n1,a,{START}\n2,a,{START + HOUR}\n")
    write_text(tmp_path / "log/day=5/p.csv", HEADER + f"1,z,{START}\n")
    write_text(tmp_path / "log/readme.md", "not read")
    items = [item for _, item, _ in read(tmp_path / "log")]
    assert items == ["z", "b", "a", "c", "d", "a"]
    assert [item for _, item, _ in read(str(tmp_path / "log/*.csv"))] == ["b", "a", "c", "d", "a"]
    refused(tmp_path / "log", "no column 'day'", "who, what, when", user="day")
    # A row is counted through all files, as the log has it.
    write_text(tmp_path / "log/p2.csv", HEADER + "1,a,soon\n")
    refused(tmp_path / "log", "row 7", "'soon'")


def test_a_name_that_looks_like_a_pattern_is_a_name(tmp_path: Path) -> None:
    write_text(tmp_path / "[1].csv", HEADER + TWO)
    write_text(tmp_path / "1.csv", HEADER + "8,wrong,1\n")
    assert read(tmp_path / "[1].csv") == TWO_EVENTS
    write_text(tmp_path / "stars/g*.csv", HEADER + TWO)
    write_text(tmp_path / "stars/g1.csv", HEADER + f"2,c,{START}\n")
    assert read(tmp_path / "stars") == [*TWO_EVENTS, (2, "c", START)]


def test_files_that_disagree_are_both_named(tmp_path: Path) -> None:
    write_text(tmp_path / "a.csv", HEADER + TWO)
    write_text(tmp_path / "b.csv", "who,when,what\n" + TWO)
    refused(tmp_path, "b.csv has the columns who, when, what", "a.csv has who, what, when", "one layout")
    write_text(tmp_path / "b.csv", "").rename(tmp_path / "b.tsv")
    refused(tmp_path, "a.csv and", "b.tsv are of two kinds", "one kind")
    refused(str(tmp_path / "*.csv.gz"), "no such file")


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("few.csv", HEADER + TWO + "1,2\n" + TWO, 4),
        ("many.csv", HEADER + TWO + f"1,2,{START},4\n", 4),
        ("last.csv", HEADER + TWO + "1", 4),
        ("breaks.csv", HEADER + f'1,"a\n\nb",{START}\n1,2\n', 5),
        ("windows.csv", f'who,what,when\r\n1,"a\r\nb",{START}\r\n1,2\r\n', 4),
        ("marked.csv", "\ufeff" + HEADER + f'1,"a\nb",{START}\n1,2\n', 4),
        ("zipped.csv.gz", "\ufeff" + HEADER + f'1,"a\nb",{START}\n1,2\n', 4),
        ("after quote.csv", HEADER + TWO + f'1,"a"b,{START}\n', 4),
        ("tabs.tsv", (HEADER + TWO + "1,2\n").replace(",", "\t"), 4),
    ],
)
def test_a_broken_row_is_named_as_an_editor_counts(name: str, text: str, line: int, tmp_path: Path) -> None:
    refused(write_text(tmp_path / name, text), f"{name}, line {line}: ", "--on-error skip", ", 1 of them")


def test_a_broken_row_of_a_later_file(tmp_path: Path) -> None:
    write_text(tmp_path / "a.csv", HEADER + TWO)
    write_text(tmp_path / "b.csv", HEADER + TWO + "1\n2\n")
    refused(tmp_path, f"{tmp_path / 'b.csv'}, line 4", "2 of them")


def test_rows_that_are_skipped_are_counted(tmp_path: Path) -> None:
    broken = HEADER + "9\n" + TWO + f"1,2\n1,c,\n1,d,soon\n1,e,nan\n,x,\n1,2,{START},4\n"
    path = write_text(tmp_path / "log.csv", broken)
    log = read_log(path, user="who", item="what", time="when", on_error="skip")
    assert events(log) == TWO_EVENTS
    assert (log.about.rows, log.about.skipped, log.about.dropped, len(log)) == (9, 6, 1, 2)


def test_skipping_loses_nothing_unsaid(tmp_path: Path) -> None:
    """A quote that stays open swallows the rows after it; a number that would be rounded is no broken row."""
    opened = HEADER + TWO + f'1,"a,{START}\n' + TWO * 3
    refused(write_text(tmp_path / "open.csv", opened), "line 4", "does not close", on_error="skip")
    refused(tmp_path / "open.csv", "line 4", "does not close")
    rounded = HEADER + TWO + f"1,c,{START}.5\n"
    refused(write_text(tmp_path / "half.csv", rounded), "row 3", f"'{START}.5'", on_error="skip")


def test_what_is_no_table_of_text(tmp_path: Path) -> None:
    for name, content, said in (
        ("empty.csv", b"", "is empty: expected a line with the names"),
        ("empty.csv.gz", b"", "is empty"),
        ("blank.csv", b"\n\n", "is empty"),
        ("only.csv", HEADER.encode(), "none of its 0 rows"),
        ("only.csv.gz", gzip.compress(HEADER.encode()), "none of its 0 rows"),
        ("wide.csv", (HEADER + TWO).encode("utf-16"), "no text"),
        ("returns.csv", (HEADER + TWO).replace("\n", "\r").encode(), "new-line"),
        ("mixed.csv", (HEADER + TWO).encode() + TWO.replace("\n", "\r\n").encode(), "end alike"),
        ("zipped.csv", gzip.compress((HEADER + TWO).encode()), "no text"),
        ("plain.csv.gz", (HEADER + TWO).encode(), "Not a gzipped file"),
        ("tail.csv.gz", gzip.compress((HEADER + TWO).encode()) + b"tail", "Not a gzipped file"),
    ):
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name, name, said)
    (tmp_path / "folder.csv").mkdir()
    refused(tmp_path / "folder.csv", "is a folder without a file")
    refused(str(tmp_path / "fol*"), "is a folder")


@pytest.mark.parametrize("hurt", ["cut", "changed"])
def test_a_zipped_file_that_was_damaged(hurt: str, tmp_path: Path) -> None:
    cells = HEADER + "".join(f"1,{row},{START + row}\n" for row in range(9000))
    content = bytearray(gzip.compress(cells.encode()))
    if hurt == "cut":
        del content[-3000:]  # what is left is text to the last line but one
    else:
        content[len(content) // 2] ^= 255
    write_text(tmp_path / "a.csv.gz", HEADER + TWO)
    (tmp_path / "b.csv.gz").write_bytes(content)
    refused(tmp_path, str(tmp_path / "b.csv.gz"), "damaged", "get it again")


def test_times_of_one_kind_or_none(tmp_path: Path) -> None:
    nanoseconds = (1_600_000_000_000_000_001, 1_600_000_100_000_000_000)
    path = write_text(tmp_path / "ns.csv", HEADER + "".join(f"1,a,{time}\n" for time in nanoseconds))
    log = read_log(path, user="who", item="what", time="when")
    assert (log.unit, log.times.tolist()) == ("ns", list(nanoseconds))
    for first, said in (
        ("2020-01-01", "cannot read '2020-01-01'"),
        (" 1600000000", "cannot read ' 1600000000'"),
        ("9223372036854775808", "holds exactly"),
        ("1600000000.25", "holds exactly"),
        ("inf", "cannot read 'inf'"),
    ):
        write_text(path, HEADER + f"1,z,{first}\n" + TWO)
        refused(path, "column 'when', row 1", said)
    write_text(path, HEADER + "1,z,2020-01-01T00:00:00+25:00\n1,z,2020-01-01T00:00:00Z\n")
    refused(path, "row 1", "cannot read '2020-01-01T00:00:00+25:00'")
    for texts, expected in (
        (("1.6e9", "1600003600"), [START, START + HOUR]),
        (("-5", "+1600003600"), [-5, START + HOUR]),
        (("0", "1600003600.0"), [0, START + HOUR]),
        (("1969-12-31T23:59:59.5", "1970-01-01 00:01"), [-500, 60_000]),
        (("2020-01-01T00:00:00.000000001Z", "2020-01-01T01:02:00.5+01:00"),
         [1_577_836_800_000_000_001, 1_577_836_920_500_000_000]),
    ):  # fmt: skip
        write_text(path, HEADER + "".join(f"1,a,{text}\n" for text in texts))
        whole = texts[0][0] in "-0"
        found = read_log(path, user="who", item="what", time="when", unit="s" if whole else None)
        assert found.times.tolist() == expected


def test_many_threads_keep_the_order(tmp_path: Path) -> None:
    rows = 300_000
    path = write_text(tmp_path / "long.csv", "n\n" + "".join(f"{n:060d}\n" for n in range(rows)))
    with database() as connection:
        connection.con.execute("set threads = 4").fetchall()
        layout = Layout()
        table, skipped = read_text(connection, [path] * 2, layout, header(path, layout), ["n"], OnError.STOP)
        read_back = table.select(ROW, n=table.n.cast("int64")).to_pyarrow()
    rows_read = np.argsort(read_back[ROW].to_numpy())
    assert np.array_equal(read_back[ROW].to_numpy()[rows_read], np.arange(2 * rows))
    assert np.array_equal(read_back["n"].to_numpy()[rows_read], np.tile(np.arange(rows), 2))
    assert skipped == 0
