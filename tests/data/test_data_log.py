"""Log: histories, samples and what is printed."""

import numpy as np
import pyarrow as pa
import pytest

from rota.data import Log, read_log
from rota.errors import InputError

START = 1_600_000_000
NAMES = {"user": "who", "item": "what", "time": "when"}


@pytest.fixture
def log() -> Log:
    rng = np.random.default_rng(1)
    return read_log(
        pa.table(
            {
                "who": [f"u{k}" for k in rng.integers(0, 30, 200)],
                "what": rng.integers(0, 100, 200) * 3,
                "when": START + rng.integers(0, 50, 200) * 100,
            }
        ),
        **NAMES,
    )


def by_user(log: Log) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for user, item, time in zip(log.users, log.items, log.times.tolist(), strict=True):
        found.setdefault(log.user_ids[int(user)].as_py(), []).append((log.item_ids[int(item)].as_py(), time))
    return found


def test_histories_are_the_users_events(log: Log) -> None:
    histories = log.histories()
    assert (histories.num_users, histories.num_items, histories.unit) == (log.num_users, log.num_items, "s")
    for code, user in enumerate(log.user_ids.to_pylist()):
        start, stop = histories.offsets[code : code + 2]
        items = log.item_ids.take(pa.array(histories.items[start:stop])).to_pylist()
        assert list(zip(items, histories.times[start:stop].tolist(), strict=True)) == by_user(log)[user]
    assert histories.offsets[-1] == len(log)


def test_a_sample_keeps_whole_users_and_their_items_only(log: Log) -> None:
    sample = log.sample_users(7, seed=3)
    kept = by_user(sample)
    assert len(kept) == sample.num_users == 7
    assert all(kept[user] == by_user(log)[user] for user in kept)
    assert sample.item_ids.to_pylist() == sorted({item for rows in kept.values() for item, _ in rows})
    assert sample.user_ids.to_pylist() == sorted(kept)
    assert sample.ties < log.ties
    assert sample.about.rows == log.about.rows


def test_a_sample_is_seeded(log: Log) -> None:
    prints = [log.sample_users(7, seed=seed).fingerprint for seed in (0, 0, 1)]
    assert prints[0] == prints[1] != prints[2]
    assert log.sample_users(log.num_users).fingerprint == log.fingerprint


def test_a_sample_is_the_log_of_those_users_alone(log: Log) -> None:
    sample = log.sample_users(5)
    rows = [(user, item, time) for user, events in by_user(sample).items() for item, time in events]
    alone = pa.table(dict(zip(NAMES.values(), map(list, zip(*rows, strict=True)), strict=True)))
    assert read_log(alone, **NAMES).fingerprint == sample.fingerprint


@pytest.mark.parametrize("n", [0, -1, 1000])
def test_a_sample_of_impossible_size(log: Log, n: int) -> None:
    with pytest.raises(InputError, match=rf"a sample of {n} users: expected 1 to {log.num_users}"):
        log.sample_users(n)


def test_description() -> None:
    table = pa.table(
        {
            "who": [1, 1, 1, 2, None],
            "what": [1, 2, 3, 1, 1],
            "when": [START, START, START + 86_400, START + 43_200, START],
        }
    )
    assert dict(read_log(table, zone="America/New_York", **NAMES).describe()) == {
        "log": "pyarrow.Table",
        "rows read": "5, 1 of them without a user or an item",
        "events": "4",
        "users": "2",
        "items": "3",
        "ties": "1 (50.0% of neighbouring events, in the order of the rows)",
        "span": "2020-09-13T08:26:40 to 2020-09-14T08:26:40 (1.0 days, on the users' clocks)",
        "unit": "s, inferred from the magnitude",
        "zone": "America/New_York",
    }
    plain = dict(read_log(table, unit="s", **NAMES).describe())
    assert plain["unit"] == "s, as stated or by its type"
    assert plain["zone"].startswith("none named")
