"""Parts of worlds beside slow and obvious references."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.data.worlds.cells import distinct_cells
from rota.data.worlds.clocks import WallClocks
from rota.data.worlds.deeds import Deeds, together
from rota.data.worlds.population import deal, deal_counts
from rota.errors import InputError

ZONES = (
    "Europe/Paris",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Tokyo",
    "Africa/Casablanca",
    "Asia/Kolkata",
)
FIRST, LAST = 1_640_995_200, 1_735_689_600  # 2022 to 2025
CLOCKS = WallClocks(ZONES, FIRST, LAST)


@settings(max_examples=300)
@given(st.integers(0, len(ZONES) - 1), st.integers(FIRST, LAST))
def test_wall_clocks_are_pythons(zone: int, local: int) -> None:
    wall = datetime(1970, 1, 1) + timedelta(seconds=local)
    wanted = int(wall.replace(tzinfo=ZoneInfo(ZONES[zone])).timestamp())
    assert CLOCKS.to_utc(np.array([local]), np.array([zone])).tolist() == [wanted]


@pytest.mark.parametrize("zone", range(len(ZONES)))
def test_wall_clocks_about_every_change(zone: int) -> None:
    rules = ZoneInfo(ZONES[zone])
    local = np.arange(FIRST, LAST, 1800)
    local = local[np.flatnonzero(np.diff(CLOCKS.to_utc(local, np.full(len(local), zone))) != 1800)]
    assert len(local) == 0 if ZONES[zone].startswith("Asia") else len(local) >= 6
    around = (local[:, None] + np.arange(-7200, 9001, 300)).ravel()
    epoch = datetime(1970, 1, 1)
    wanted = [(epoch + timedelta(seconds=int(one))).replace(tzinfo=rules).timestamp() for one in around]
    assert CLOCKS.to_utc(around, np.full(len(around), zone)).tolist() == wanted


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "America", "../etc", "+01:00"])
def test_a_zone_nobody_knows(name: str) -> None:
    with pytest.raises(InputError, match=r"unknown time zone .* for instance"):
        WallClocks([name], FIRST, LAST)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(30, 60), st.integers(0, 99))
def test_cells_differ(counts: list[int], cells: int, seed: int) -> None:
    who, cell = distinct_cells(np.random.default_rng(seed), np.array(counts), cells)
    assert np.bincount(who, minlength=len(counts)).tolist() == counts
    assert len(set(zip(who.tolist(), cell.tolist(), strict=True))) == sum(counts)
    assert all(0 <= one < cells for one in cell)


def test_cells_are_spread_evenly() -> None:
    _, cell = distinct_cells(np.random.default_rng(0), np.full(20_000, 4), 10)
    assert np.bincount(cell, minlength=10) / 8_000 == pytest.approx([1] * 10, abs=0.1)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 50)), min_size=2, max_size=20), st.integers(0, 99)
)
def test_what_follows_what_survives_joining_and_sorting(events: list[tuple[int, int]], seed: int) -> None:
    rng = np.random.default_rng(seed)

    def part(first: int) -> Deeds:
        who, time = np.array(events).T
        item = first + np.arange(len(events))  # tells events apart
        parent = rng.integers(-1, len(events), len(events))
        return Deeds(who, time, item, item, time, parent)

    parts = [part(0), part(100)]
    wanted = {
        int(one.item[index]): int(one.item[parent]) if parent >= 0 else -1
        for one in parts
        for index, parent in enumerate(one.follows)
    }
    deeds = together(parts).in_order()
    assert sorted(zip(deeds.who, deeds.time, strict=True)) == list(zip(deeds.who, deeds.time, strict=True))
    found = {
        int(item): int(deeds.item[parent]) if parent >= 0 else -1
        for item, parent in zip(deeds.item, deeds.follows, strict=True)
    }
    assert found == wanted


@given(st.integers(1, 50), st.integers(0, 500), st.floats(0, 3), st.integers(0, 99))
def test_everybody_has_an_event_and_the_sum_is_exact(users: int, more: int, spread: float, seed: int) -> None:
    counts = deal_counts(np.random.default_rng(seed), users, users + more, spread)
    assert counts.sum() == users + more
    assert counts.min() >= 1
    assert len(counts) == users


def test_dealing_is_to_the_nearest_person() -> None:
    dealt = deal(np.random.default_rng(0), 7, np.array([0.5, 0.5]))
    assert len(dealt) == 7
    assert np.bincount(dealt).tolist() in ([3, 4], [4, 3])
