"""What the untrained baselines may count, by the split."""

from logs import log_of
from rota.batch import TimeAccess
from rota.data import HoldoutDay, LeaveLast, Splitter, Temporal
from rota.data.log import Log
from rota.evaluation.seen import SeenItems
from rota.recipes.baselines import baseline_runs
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
    assert set(runs) == {"popularity", "frequency"}  # without a clock there is no routine
    rows = question.stages.test.stops
    names = [log.item_ids[int(code)].as_py() for code in log.items[rows]]
    return dict(zip(names, runs["popularity"].ranks.tolist(), strict=False))


def test_by_date_popularity_knows_nothing_of_the_day_that_is_asked_for() -> None:
    log = log_of(ROWS)
    for splitter in (Temporal("1970-01-04", "1970-01-03"), HoldoutDay("1970-01-04")):
        assert popularity(log, splitter) == {"old": 1, "new": 3}


def test_leave_one_out_popularity_counts_all_but_each_users_last() -> None:
    assert popularity(log_of(ROWS), LeaveLast()) == {"old": 2, "new": 1}
