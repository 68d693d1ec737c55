"""What every split promises, in plain Python over random logs with many ties."""

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from logs import Row, log_of, random_rows
from roll_call import roll_call
from rota.data import ByUser, HoldoutDay, LeaveLast, Splitter, Temporal
from rota.data.events import Ties
from rota.data.log import Log
from rota.errors import InputError
from rota.histories import Spans, Stages
from rota.tables import from_table, to_table

HOUR = 3600
SPLITS: dict[str, list[Splitter]] = {
    "leave_last": [LeaveLast(), LeaveLast(2)],
    "temporal": [
        Temporal(),
        Temporal(0.7, 0.4, targets="all"),
        Temporal("1970-01-03T12:00", "1970-01-02", gap="12h", targets="all", warm_up=2),
    ],
    "holdout_day": [HoldoutDay(), HoldoutDay("1970-01-03")],
    "by_user": [ByUser(0.3, 0.3), ByUser(0.2, 0.2, seed=5)],
}
EVERY = [split for members in SPLITS.values() for split in members]
BY_DATE = (Temporal, HoldoutDay)  # nothing at or after a target's instant is visible, of anybody


def rows_of(log: Log) -> list[tuple[object, object, int]]:
    users = [log.user_ids[int(code)].as_py() for code in log.users]
    items = [log.item_ids[int(code)].as_py() for code in log.items]
    return list(zip(users, items, log.times.tolist(), strict=True))


def questions(log: Log, spans: Spans) -> list[tuple[int, list[int], list[int]]]:
    """User, rows of the history and rows of the positives of each question."""
    return [
        (int(user), list(range(start, stop)), list(range(stop, end)))
        for user, start, stop, end in zip(*(column.tolist() for column in spans), strict=True)
    ]


def covered(spans: Spans) -> list[int]:
    return [row for a, b in zip(spans.starts, spans.stops, strict=True) for row in range(a, b)]


def split(splitter: Splitter, seed: int, ties: Ties) -> tuple[Log, Stages]:
    """Stages of a random log over five days; users with too few instants are left out."""
    rows = random_rows(seed, users=10, instants=20, step=6 * HOUR)
    instants = Counter(user for user, time in {(user, time) for user, _, time in rows})
    log = log_of([row for row in rows if instants[row[0]] >= 5], ties)
    try:
        return log, splitter.stages(log)
    except InputError as error:
        assume("leaves no user" not in str(error) and "expected validation first" not in str(error))
        raise


def test_every_split_is_here() -> None:
    assert set(roll_call("data.splits", Splitter)) == set(SPLITS)  # type: ignore[type-abstract]


def over_random_logs(splitters: list[Splitter]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with each split, over random logs of either rule of ties."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        test = settings(max_examples=8)(given(seed=st.integers(0, 10**6))(test))
        test = pytest.mark.parametrize("splitter", splitters, ids=str)(test)
        return pytest.mark.parametrize("ties", [Ties.ROWS, Ties.UNORDERED])(test)

    return decorate


@over_random_logs(EVERY)
def test_what_each_stage_may_see(splitter: Splitter, ties: Ties, seed: int) -> None:
    log, stages = split(splitter, seed, ties)
    times, owner = log.times.tolist(), log.users.tolist()
    learnt, counted = covered(stages.train), covered(stages.counted)
    asked: dict[str, list[int]] = {}
    for stage in ("validation", "test"):
        asked[stage] = []
        for user, history, positives in questions(log, getattr(stages, stage)):
            assert history
            assert positives
            assert {owner[row] for row in history + positives} == {user}
            assert history[0] == log.offsets[user]
            assert max(history) < min(positives)
            asked[stage] += positives
            if ties == Ties.UNORDERED or isinstance(splitter, BY_DATE):
                instants = {times[row] for row in positives}
                assert max(times[row] for row in history) < min(instants)
                whole = [row for row in range(len(log)) if owner[row] == user and times[row] in instants]
                assert positives == whole
    targets = asked["validation"] + asked["test"]
    assert len(set(targets)) == len(targets)  # each is asked for once
    assert not set(learnt) & set(targets)
    assert not set(counted) & set(asked["test"])
    assert len(set(learnt)) == len(learnt)
    assert len(set(counted)) == len(counted)
    if ties == Ties.UNORDERED:  # no stage ends within an instant
        for spans in (stages.train, stages.counted):
            for stop in spans.stops.tolist():
                assert stop == len(log) or (owner[stop], times[stop]) != (owner[stop - 1], times[stop - 1])


@over_random_logs([each for each in EVERY if isinstance(each, BY_DATE)])
def test_by_date_nothing_at_or_after_a_target_is_visible(splitter: Splitter, ties: Ties, seed: int) -> None:
    log, stages = split(splitter, seed, ties)
    times = log.times.tolist()
    for stage, open_to_all in (("validation", [stages.train]), ("test", [stages.train, stages.counted])):
        for _, history, positives in questions(log, getattr(stages, stage)):
            instant = min(times[row] for row in positives)
            assert all(times[row] < instant for row in history)
            assert all(times[row] < instant for spans in open_to_all for row in covered(spans))


@over_random_logs(EVERY)
def test_what_is_asked_for_changes_nothing_that_is_visible(splitter: Splitter, ties: Ties, seed: int) -> None:
    """Swap the items of all targets of the test for another: no stage sees another history for it."""
    log, stages = split(splitter, seed, ties)
    asked = {row for _, _, positives in questions(log, stages.test) for row in positives}
    poisoned = [
        (user, "poison" if row in asked else item, time)
        for row, (user, item, time) in enumerate(rows_of(log))
    ]
    later = log_of(poisoned, ties)
    again = splitter.stages(later)
    if not asked & {row for _, history, _ in questions(log, stages.test) for row in history}:
        assert seen(log, stages.test) == seen(later, again.test)  # rolling tests show earlier targets
    for stage in ("train", "validation", "counted"):
        assert seen(log, getattr(stages, stage)) == seen(later, getattr(again, stage))
    assert stages.hash != again.hash


def seen(log: Log, spans: Spans) -> list[Counter[object]]:
    rows = rows_of(log)
    return [Counter(rows[row] for row in history) for _, history, _ in questions(log, spans)]


@over_random_logs(EVERY)
def test_the_hash_is_of_who_is_asked_what(splitter: Splitter, ties: Ties, seed: int) -> None:
    log, stages = split(splitter, seed, ties)
    rows = rows_of(log)
    users = sorted({row[0] for row in rows}, key=str, reverse=True)
    moved = [row for user in users for row in rows if row[0] == user]
    assert splitter.stages(log_of(moved, ties)).hash == stages.hash
    finer = [(user, item, 1000 * time) for user, item, time in rows]
    assert splitter.stages(log_of(finer, ties, unit="ms")).hash == stages.hash
    assert len(stages.hash) == 64


def test_hashes_of_all_splits_differ() -> None:
    rows = random_rows(3, users=20, most=40, instants=40, step=3 * HOUR)
    instants = Counter(user for user, time in {(user, time) for user, _, time in rows})
    log = log_of([row for row in rows if instants[row[0]] >= 5])
    hashes = {str(splitter): splitter.stages(log).hash for splitter in EVERY}
    assert len(set(hashes.values())) == len(EVERY)


@pytest.mark.parametrize("splitter", EVERY, ids=str)
def test_a_split_is_a_recipe(splitter: Splitter) -> None:
    assert from_table(to_table(splitter), Splitter) == splitter  # type: ignore[type-abstract]


@pytest.mark.parametrize("splitter", EVERY, ids=str)
def test_the_wall_clock_moves_no_border(splitter: Splitter) -> None:
    rows: list[Row] = random_rows(1, users=12, most=30, instants=40, step=3 * HOUR)
    instants = Counter(user for user, time in {(user, time) for user, _, time in rows})
    rows = [row for row in rows if instants[row[0]] >= 5]
    local = [time + (HOUR if place % 2 else -HOUR) for place, (_, _, time) in enumerate(rows)]
    shown = log_of(rows, local=local, zone="by row")
    assert splitter.stages(shown).hash == splitter.stages(log_of(rows)).hash
