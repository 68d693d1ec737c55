"""What the untrained baselines may count, by the split."""

import pytest

from logs import log_of
from rota.batch import TimeAccess
from rota.data import HoldoutDay, LeaveLast, Splitter, Temporal
from rota.data.log import Log
from rota.evaluation.seen import SeenItems
from rota.recipes.baselines import baseline_runs, untrained_names
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question

DAY = 86_400
# "old" is done most before the fourth day; on it, and after, everybody does "new".
ROWS = [
    *((user, item, day * DAY) for user in "abcd" for day, item in enumerate(["old", "old", "other"])),
    *(("a", "old", 3 * DAY + hour) for hour in range(1)),
    *((user, "new", 3 * DAY + hour) for user in "bcd" for hour in range(1, 9)),
    *((user, "new", 4 * DAY + hour) for user in "bcd" for hour in range(9)),
]


def popularity(log: Log, splitter: Splitter) -> dict[str, int]:
    """Best rank that popularity gives to each item asked for."""
    question = Question(log, log.histories(), splitter.stages(log))
    protocol = Protocol(time_access=TimeAccess.NONE, seen=SeenItems.KEEP)
    runs = {run.arm: run for run in baseline_runs(question, protocol)}
    assert list(runs) == ["popularity", "frequency"]  # the others need a clock
    rows = question.stages.test.stops
    names = [log.item_ids[int(code)].as_py() for code in log.items[rows]]
    return dict(zip(names, runs["popularity"].ranks.tolist(), strict=False))


def test_by_date_popularity_knows_nothing_of_the_day_that_is_asked_for() -> None:
    log = log_of(ROWS)
    for splitter in (Temporal("1970-01-04", "1970-01-03"), HoldoutDay("1970-01-04")):
        assert popularity(log, splitter) == {"old": 1, "new": 3}


def test_leave_one_out_popularity_counts_all_but_each_users_last() -> None:
    assert popularity(log_of(ROWS), LeaveLast()) == {"old": 2, "new": 1}


def test_the_order_of_the_table() -> None:
    assert untrained_names() == ("popularity", "popularity_now", "frequency", "routine")


@pytest.mark.parametrize("access", [TimeAccess.HISTORY, TimeAccess.REQUEST])
def test_with_a_clock_all_are_asked_and_popularity_now_does_not_look_ahead(access: TimeAccess) -> None:
    """All that is done on the last day is "new", but "b" is asked just after it began."""
    log = log_of([*ROWS, *(("e", item, 4 * DAY + hour) for hour, item in enumerate(["new"] * 60))])
    question = Question(log, log.histories(), LeaveLast().stages(log))
    runs = baseline_runs(question, Protocol(time_access=access))
    assert tuple(run.arm for run in runs) == untrained_names()
    assert all(run.seed is None for run in runs)
    ranks = {run.arm: run.ranks.tolist() for run in runs}
    # "a" is asked for "old" at 3 * DAY: nobody has done "new" by then, and everybody often will have.
    assert (ranks["popularity"][0], ranks["popularity_now"][0]) == (2, 1)
