"""RecBole's atomic files: names with types, tabs, and quotes that mean nothing."""

from pathlib import Path

from written import HOUR, START, read, refused, write_text

HEADER = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
UNNAMED: dict[str, None] = dict.fromkeys(("user", "item", "time"))


def test_the_columns_are_known_and_may_be_named(tmp_path: Path) -> None:
    path = write_text(tmp_path / "ml.inter", HEADER + f'1\t"a\t5\t{START}.0\n2\tb"\t3\t{START + HOUR}\n')
    assert read(path, **UNNAMED) == [(1, '"a', START), (2, 'b"', START + HOUR)]
    assert read(path, user="user_id", item="rating", time=None) == [(1, 5, START), (2, 3, START + HOUR)]
    refused(path, "no column 'who'", "user_id, item_id, rating, timestamp")


def test_times_as_recbole_writes_them(tmp_path: Path) -> None:
    path = write_text(tmp_path / "log.inter", HEADER + f"1\ta\t5\t1.6e9\n1\tb\t3\t{START + HOUR}\n")
    assert read(path, **UNNAMED) == [(1, "a", START), (1, "b", START + HOUR)]
    write_text(path, HEADER + f"1\ta\t5\t{START}.5\n1\tb\t3\t{START}\n")
    refused(path, "row 1", f"'{START}.5'", "finer unit", **UNNAMED)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    path = write_text(tmp_path / "a.inter", HEADER + f"1\ta\t5\t{START}\n1\ta\t5\n")
    refused(path, f"{path}, line 3", "--on-error skip", **UNNAMED)
    write_text(tmp_path / "b.inter", HEADER)
    refused(tmp_path, "2 .inter files: expected one", **UNNAMED)
    refused(tmp_path / "b.inter", "none of its 0 rows", **UNNAMED)
    refused(write_text(path, ""), "is empty", **UNNAMED)
    refused(write_text(path, "user_id:token\titem_id:token\n1\ta\n"), "no column 'timestamp'", **UNNAMED)
