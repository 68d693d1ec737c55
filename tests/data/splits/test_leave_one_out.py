"""Leave-one-out: what each stage may see, and a digest of who is asked what."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.data import LeaveOneOut, Log, Splitter, read_log
from rota.errors import InputError
from rota.histories import Histories, Stages
from rota.rooms import find

START = 1_600_000_000
NAMES = {"user": "who", "item": "what", "time": "when"}


def log_of(rows: list[tuple[str, str, int]], unit: str = "s", ticks: int = 1) -> Log:
    who, what, when = zip(*rows, strict=True)
    return read_log(
        pa.table({"who": who, "what": what, "when": [t * ticks for t in when]}), unit=unit, **NAMES
    )


def split(log: Log) -> Stages:
    return LeaveOneOut().stages(log.histories(), log.user_ids, log.item_ids)


ROWS = [(user, f"{user}{k}", START + 100 * k) for user, n in (("b", 3), ("a", 5), ("c", 4)) for k in range(n)]


def test_what_each_stage_may_see() -> None:
    log = log_of(ROWS)
    stages = split(log)
    names = np.array(log.item_ids.to_pylist())[log.items]
    seen = {
        stage: [names[start:stop].tolist() for _, start, stop in zip(*getattr(stages, stage), strict=True)]
        for stage in ("train", "validation", "test")
    }
    assert seen["train"] == seen["validation"] == [["a0", "a1", "a2"], ["b0"], ["c0", "c1"]]
    assert seen["test"] == [["a0", "a1", "a2", "a3"], ["b0", "b1"], ["c0", "c1", "c2"]]
    assert names[stages.validation.stops].tolist() == ["a3", "b1", "c2"]
    assert names[stages.test.stops].tolist() == ["a4", "b2", "c3"]
    assert stages.name == "leave_one_out"


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(3, 9), min_size=1, max_size=20))
def test_no_target_is_seen_before_its_stage(counts: list[int]) -> None:
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    rows = np.arange(offsets[-1], dtype=np.int64)
    histories = Histories(rows, rows, offsets, len(rows))
    ids = pa.array(rows)
    stages = LeaveOneOut().stages(histories, pa.array(range(len(counts))), ids)
    for user, count in enumerate(counts):
        own = list(range(offsets[user], offsets[user + 1]))
        train = set(range(stages.train.starts[user], stages.train.stops[user]))
        validation = set(range(stages.validation.starts[user], stages.validation.stops[user]))
        test = set(range(stages.test.starts[user], stages.test.stops[user]))
        asked = {int(stages.validation.stops[user]), int(stages.test.stops[user])}
        assert asked == {own[-2], own[-1]}
        assert not train & asked
        assert not validation & asked
        assert test & asked == {own[-2]}
        assert len(train) == count - 2
        assert [spans.users[user] for spans in (stages.train, stages.validation, stages.test)] == [user] * 3


def test_digest_depends_on_targets_and_nothing_else() -> None:
    base = split(log_of(ROWS)).hash
    assert len(base) == 64
    assert split(log_of(ROWS[::-1])).hash == base  # order of rows
    assert split(log_of(ROWS, unit="ms", ticks=1000)).hash == base  # unit
    other_history = [(u, "new" if i == "a0" else i, t) for u, i, t in ROWS]
    assert split(log_of(other_history)).hash == base
    for changed in (
        [(u, "new" if i == "a4" else i, t) for u, i, t in ROWS],
        [(u, "new" if i == "a3" else i, t) for u, i, t in ROWS],
        [(u, i, t + 1 if i == "a4" else t) for u, i, t in ROWS],
        [("z" if u == "c" else u, i, t) for u, i, t in ROWS],
        [row for row in ROWS if row[0] != "b"],
        ROWS[:7] + ROWS[8:],  # a's last event is gone
    ):
        assert split(log_of(changed)).hash != base


def test_digest_does_not_depend_on_codes() -> None:
    log = log_of(ROWS)
    histories = log.histories()
    counts = np.diff(histories.offsets)
    backwards = Histories(  # users and items numbered from the other end
        items=log.num_items - 1 - np.concatenate(np.split(histories.items, histories.offsets[1:-1])[::-1]),
        times=np.concatenate(np.split(histories.times, histories.offsets[1:-1])[::-1]),
        offsets=np.concatenate([[0], np.cumsum(counts[::-1])]),
        num_items=histories.num_items,
    )
    stages = LeaveOneOut().stages(backwards, log.user_ids[::-1], log.item_ids[::-1])
    assert stages.hash == split(log).hash


def test_too_few_events() -> None:
    with pytest.raises(InputError, match=r"user 'd' has 2, and 1 of 4 users have too few: .*MinEvents\(3\)"):
        split(log_of([*ROWS, ("d", "x", START), ("d", "y", START)]))


def test_it_is_found_by_its_file() -> None:
    assert find("data.splits", LeaveOneOut.name, Splitter) is LeaveOneOut  # type: ignore[type-abstract]
