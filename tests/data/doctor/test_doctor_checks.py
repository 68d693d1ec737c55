"""Each check finds what it looks for, says how much, and is silent on a log in good health."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from logs_to_examine import DAY, HOUR, T0, Row, events_of, steady

from rota.data.doctor import Check, Finding, examine
from rota.data.events import Events, Ties
from rota.rooms import offers

NOW = date(2020, 12, 1)
WELL = steady()
N = len(WELL)
CROWD: list[Row] = [(f"u{k % 40:02d}", f"n{k}", T0 + 7777) for k in range(200)]
BOT: list[Row] = [("bot", f"i{k % 23}", T0 + 3719 * k) for k in range(700)]
SITTINGS = [(u, i, t) for u, i, t in WELL if (t - T0) // DAY == int(str(u)[1:]) % 30]
FLASHES: list[Row] = [(f"u{k:02d}", f"n{k % 5}", T0 + k % 5 * DAY + 70 * k) for k in range(20)]

SICK: dict[str, tuple[str, int, list[Row], dict[str, Any]]] = {
    "constant_time": ("error", 9, [("a", k, T0) for k in range(9)], {}),
    "unlikely_span": ("error", N, [(u, i, t // 1000) for u, i, t in WELL], {}),
    "placeholder_times": ("error", 3, [("u01", "i1", 0), ("u01", "i1", -1), ("u02", "i1", 0), *WELL], {}),
    "future_times": ("error", 2, [*WELL, ("u01", "i1", T0 + 90 * DAY), ("u02", "i1", T0 + 900 * DAY)], {}),
    "tied_times": ("warning", N, [row for u, i, t in WELL for row in ((u, i, t), (u, f"{i}b", t))], {}),
    "repeated_rows": ("warning", 240, [*WELL, *WELL[:240]], {}),
    "coarse_times": ("warning", N, [(u, i, t // HOUR * HOUR) for u, i, t in WELL], {}),
    "crowded_moment": ("warning", 200, [*WELL, *CROWD], {}),
    "dominant_user": ("warning", 700, [*WELL, *BOT], {}),
    "single_events": ("warning", 9, [*WELL, *((f"once{k}", "i1", T0 + 77_777 * k) for k in range(9))], {}),
    "single_sittings": ("warning", 40, SITTINGS * 2, {}),
    "brief_items": ("warning", 5, [*WELL, *FLASHES], {}),
    "collection_gaps": ("warning", 6, [(u, i, t + 6 * DAY * (t > T0 + 15 * DAY)) for u, i, t in WELL], {}),
    "unsorted_rows": ("note", N - 40, WELL[::-1], {}),
    "shifted_hours": ("note", 0, steady(shift=8), {}),
    "left_out_rows": ("warning", 100, WELL, {"dropped": 60, "skipped": 40}),
}  # fmt: skip


def found_in(rows: list[Row], code: str, **changed: Any) -> Finding | None:
    findings = examine(events_of(rows, **changed), NOW).findings
    return next((each for each in findings if each.code == code), None)


def test_nothing_is_found_in_a_log_in_good_health() -> None:
    found = examine(events_of(WELL), NOW)
    assert found.findings == ()
    assert not found.stops


def test_every_check_has_a_sick_log_here() -> None:
    assert sorted(SICK) == offers("data.doctor", Check)  # type: ignore[type-abstract]


@pytest.mark.parametrize("code", SICK)
def test_a_check_finds_what_it_looks_for(code: str) -> None:
    severity, count, rows, changed = SICK[code]
    found = found_in(rows, code, **changed)
    assert found is not None
    assert (found.severity, found.count) == (severity, count)
    assert 0 <= found.share <= 1
    for text in (found.message, found.breaks, found.remedy):
        assert text.endswith(".")
        assert "\n" not in text
    assert all(option.startswith("--") for option in found.options)
    if severity == "error":
        diagnosis = examine(events_of(rows, **changed), NOW)
        assert diagnosis.stops
        assert diagnosis.findings[0].severity == "error"


def test_what_mends_a_log_is_taken_from_it() -> None:
    def options(code: str) -> tuple[str, ...]:
        found = found_in(SICK[code][2], code)
        assert found is not None
        return found.options

    assert options("placeholder_times") == ("--since 2020-09-13",)
    assert options("future_times")[0] == "--until 2020-12-02"
    assert options("collection_gaps") == ("--since 2020-10-04",)
    assert options("unlikely_span") == ("--unit ms", "--unit us", "--unit ns", "--epoch unknown")


def test_the_last_targets_that_row_order_decides_are_counted() -> None:
    found = found_in(SICK["tied_times"][2], "tied_times")
    assert found is not None
    assert "The last instant of 40 users (100 %) holds several items." in found.message
    assert "For 100 % of users it decides" in found.breaks


@pytest.mark.parametrize("ties", [Ties.COLUMN, Ties.UNORDERED])
def test_ties_that_are_settled_are_a_note(ties: Ties) -> None:
    rows = SICK["tied_times"][2]
    found = found_in(rows, "tied_times", ties=ties)
    assert found is not None
    assert (found.severity, found.options) == ("note", ())
    assert found_in(rows[::-1], "unsorted_rows", ties=ties) is None


def test_the_order_of_users_in_a_file_is_free() -> None:
    assert found_in(sorted(WELL), "unsorted_rows") is not None  # by user, then item
    assert found_in(sorted(WELL, key=lambda row: (str(row[0]), row[2])), "unsorted_rows") is None


def test_a_known_zone_settles_shifted_hours() -> None:
    rows = steady(shift=8)
    assert found_in(rows, "shifted_hours", zone="America/Los_Angeles") is None
    found = found_in(rows, "shifted_hours")
    assert found is not None
    assert "hours west of the clock" in found.message


def test_a_day_ahead_is_not_the_future() -> None:
    noon = T0 + 12 * HOUR
    rows: list[Row] = [*WELL, ("u01", "i1", noon)]
    day = date(2020, 10, 12)  # the last day of WELL
    assert not examine(events_of(rows), day).stops
    assert examine(events_of(rows), date(2020, 10, 10)).stops


def test_an_unknown_zero_knows_neither_future_nor_past() -> None:
    rows: list[Row] = [(u, i, t - T0) for u, i, t in WELL]
    found = examine(events_of([("u01", "i1", 0), *rows], known_epoch=False), NOW)
    assert not found.stops


def test_times_in_a_wrong_unit_do_not_break_the_doctor() -> None:
    for unit, factor in (("s", 1000), ("s", 10**9), ("ns", 1)):
        log: Events = events_of([(u, i, t * factor) for u, i, t in WELL], unit=unit, zone="Europe/Paris")
        found = examine(log, NOW)
        assert found.stops
        assert sum(found.daily) in (0, N)
        assert examine(replace(log, absolute=False), NOW).stops
