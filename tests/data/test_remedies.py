"""What an error advises, mends it; and other things that a reader of the docs would try."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from rota.data import KCore, Log, Reading, TimeRange, UserCap, prepare, read_log
from rota.data.filters.base import Filter
from rota.errors import InputError

B = 1_700_000_000  # 2023-11-14
NAMES = Reading("u", "i", "t")


def table(times: list[int], items: list[int] | None = None, **more: list[str]) -> pa.Table:
    n = len(times)
    return pa.table({"u": [1 + (k % 2) for k in range(n)], "i": items or list(range(n)), "t": times, **more})


def events(log: Log) -> list[tuple[object, object, int]]:
    users, items = log.user_ids.to_pylist(), log.item_ids.to_pylist()
    return [(users[u], items[i], t) for u, i, t in zip(log.users, log.items, log.times.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("times", "limits", "left"),
    [
        ([0, B + 100, B + 100, B, B + 7, B + 9000], TimeRange(since="2023-11-14"), 5),
        ([-1, B + 100, B + 100, B, B + 7, B + 9000], TimeRange(since="2023-11-14"), 5),
        ([B, B + 100, B + 200, B + 300, B + 400, 5 * B], TimeRange(until="2026-01-01"), 5),
    ],
)
def test_the_doctors_remedy_lets_a_log_pass(
    times: list[int], limits: TimeRange, left: int, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"--since|--until"):
        prepare(table(times), tmp_path / "sick", NAMES)
    with pytest.raises(InputError, match=r"--since|--until"):  # another filter does not mend the clock
        prepare(table(times), tmp_path / "sick", NAMES, filters=[KCore(1, 1), limits])
    assert not list(tmp_path.iterdir())
    for name, rest in (("alone", []), ("first", [KCore(1, 1)])):
        filters: list[Filter] = [limits, *rest]
        assert len(prepare(table(times), tmp_path / name, NAMES, filters=filters)) == left


def test_limits_that_leave_nothing(tmp_path: Path) -> None:
    filters = [TimeRange(until="2020-01-01")]
    with pytest.raises(InputError, match="leaves nothing of 6 events, 2 users and 6 items"):
        prepare(table([B + 99 * k for k in range(6)]), tmp_path / "none", NAMES, filters=filters)


@pytest.mark.parametrize("given", ["p", "./p", "p/*.parquet", "../{here}/p", "p/../p"])
def test_several_files_by_any_path(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p").mkdir()
    for name, start in (("a", B), ("b", B + 6000)):
        parquet.write_table(table([start + 60 * k for k in range(4)]), tmp_path / "p" / f"{name}.parquet")
    monkeypatch.chdir(tmp_path)
    log = read_log(given.format(here=tmp_path.name), user="u", item="i", time="t")
    assert (len(log), log.about.rows) == (8, 8)


@pytest.mark.parametrize("since", [2024, 20240301])
def test_a_year_is_no_tick(since: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"since {since}: for a date write it in full"):
        prepare(table([B + 99 * k for k in range(6)]), tmp_path / "x", NAMES, filters=[TimeRange(since)])


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]])
def test_a_cap_never_cuts_a_basket(rows: list[int], tmp_path: Path) -> None:
    items, times = [1, 2, 3, 4], [B, B + 100, B + 200, B + 200]
    given = pa.table({"u": [1] * 4, "i": [items[k] for k in rows], "t": [times[k] for k in rows]})
    baskets = Reading("u", "i", "t", ties="unordered")
    two, one = UserCap(2), UserCap(3, keep="first")
    assert events(prepare(given, tmp_path / "two", baskets, filters=[two])) == [
        (1, 3, B + 200), (1, 4, B + 200)
    ]  # fmt: skip
    assert events(prepare(given, tmp_path / "one", baskets, filters=[one])) == [
        (1, 1, B), (1, 2, B + 100)
    ]  # fmt: skip


def test_zones_within_a_basket_do_not_follow_the_rows() -> None:
    rows = [(1, 1, B, "Europe/Paris"), (1, 1, B, "Asia/Tokyo"), (1, 2, B + 100, "Asia/Tokyo")]
    logs = [
        read_log(
            pa.table(dict(zip("uitz", zip(*order, strict=True), strict=True))),
            user="u", item="i", time="t", zone_column="z", ties="unordered",
        )
        for order in (rows, rows[::-1])
    ]  # fmt: skip
    assert logs[0].fingerprint == logs[1].fingerprint


def test_a_date_has_an_epoch() -> None:
    dated = table([B, B + 99]).set_column(2, "t", pa.array([B, B + 99]).cast(pa.timestamp("s")))
    with pytest.raises(InputError, match="dates, which count from a known day"):
        read_log(dated, user="u", item="i", time="t", epoch="unknown", unit="s")


def test_a_prepared_dataset_is_no_log(tmp_path: Path) -> None:
    prepare(table([B + 99 * k for k in range(6)]), tmp_path / "made", NAMES)
    with pytest.raises(InputError, match="is a prepared dataset: expected a log"):
        read_log(tmp_path / "made", user="u", item="i", time="t")


def test_a_file_damaged_inside_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    parquet.write_table(table([B + 99 * k for k in range(3000)]), path)
    raw = bytearray(path.read_bytes())
    raw[20:200] = b"\xff" * 180
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"log\.parquet"):
        prepare(path, tmp_path / "out", NAMES)
    assert sorted(found.name for found in tmp_path.iterdir()) == ["log.parquet"]
