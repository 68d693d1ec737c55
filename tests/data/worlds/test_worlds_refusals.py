"""What a world is refused for: one line that says what was given, what is expected, and what to do."""

from typing import Any

import pytest

from rota.data.worlds import DailyPeople, DayBeforePeople, RepeatingPeople, ShiftWorkers, WeeklyPeople, World
from rota.errors import InputError


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"seed": -1}, "seed -1: expected an integer from 0"),
        ({"users": 0}, "0 users: expected from 1 to 1,000,000,000"),
        ({"items": 0}, "0 items"),
        ({"events": 5_000_000_000}, "5,000,000,000 events"),
        ({"users": 10, "events": 9}, "9 events of 10 users: everybody has one at least; give more events"),
        ({"start": "yesterday"}, "start 'yesterday': expected a day like \"2024-01-01\""),
        ({"start": "1848-03-18"}, "expected a year from 1970 to 2200"),
        ({"span": "36h"}, "span in days: '36h' is 1.5 of them: expected a whole number from 1 to 36,525"),
        ({"span": "40000d"}, "expected a whole number from 1 to 36,525"),
        ({"span": "1d"}, "span '1d': expected 2d at least, 2 cycles of each kind"),
        ({"span": "13d", "kinds": (DailyPeople(), WeeklyPeople())}, "expected 14d at least"),
        ({"kinds": ()}, "no kinds: expected one at least"),
        ({"zones": ()}, "no zones: expected one at least"),
        ({"zones": ("Mars/Olympus",)}, "unknown time zone 'Mars/Olympus'"),
        ({"shares": (0.5, 0.5)}, "shares of kinds .*: expected 1 numbers that sum to 1"),
        ({"zones": ("UTC", "Asia/Tokyo"), "zone_shares": (0.5, 0.6)}, "expected 2 numbers that sum to 1"),
        ({"zones": ("UTC", "Asia/Tokyo"), "zone_shares": (1.5, -0.5)}, "expected 2 numbers that sum to 1"),
        ({"zone_shares": (float("nan"),)}, "shares of zones"),
        ({"hours": "noon"}, "hours 'noon': expected one of flat, evening, office"),
        ({"drift": "1h"}, "drift '1h': expected a hundredth of the span '180d' at least"),
        ({"novelty": 1.0}, "novelty 1.0: expected a number from 0 to 0.95"),
        ({"novelty": float("nan")}, "novelty nan"),
        ({"popularity": -1.0}, "popularity -1.0"),
        ({"spread": 9.0}, "spread 9.0"),
        ({"resolution": "0.5s"}, "resolution in seconds: '0.5s' is 0.5 of them"),
    ],
)
def test_worlds(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        World(**fields)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "fields", "says"),
    [
        (DailyPeople, {"slots": 0}, "slots 0: expected from 1 to 100"),
        (WeeklyPeople, {"strength": 1.1}, "strength 1.1: expected a share of events, from 0 to 1"),
        (DailyPeople, {"jitter": "soon"}, "duration 'soon'"),
        (ShiftWorkers, {"period": "1s"}, "period '1s' is under two ticks"),
        (DayBeforePeople, {"ahead": "23h"}, "ahead '23h': expected less than a day, by ten times the jitter"),
        (RepeatingPeople, {"memory": 0.5}, "memory 0.5: expected a number of events from 1"),
    ],
)
def test_people(kind: Any, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        kind(**fields)


@pytest.mark.parametrize("fields", [{"items": 5}, {"items": 12, "novelty": 0.95}])
def test_too_few_items_for_the_habits(fields: dict[str, Any]) -> None:
    with pytest.raises(
        InputError, match=r"items with novelty .* for 3 habits a person: too few.*give more items"
    ):
        next(World(**fields).batches())


def test_batches_of_nothing() -> None:
    with pytest.raises(InputError, match="batches of 0 rows: expected at least one"):
        World().batches(0)
