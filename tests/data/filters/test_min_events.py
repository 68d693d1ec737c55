"""MinEvents against a plain count."""

from collections import Counter

import pyarrow as pa
import pytest

from rota.data import Filter, MinEvents, read_log
from rota.errors import InputError
from rota.rooms import find

NAMES = {"user": "who", "item": "what", "time": "when"}
WHO = list("aaabbcccc")


def table() -> pa.Table:
    clock = [1_600_000_000 + 3600 * k for k in range(len(WHO))]
    return pa.table({"who": WHO, "what": list(range(len(WHO))), "when": clock})


@pytest.mark.parametrize("least", [1, 2, 3, 4])
def test_users_with_enough_events_stay(least: int) -> None:
    log = MinEvents(least).apply(read_log(table(), **NAMES))
    kept = sorted(user for user, count in Counter(WHO).items() if count >= least)
    assert log.user_ids.to_pylist() == kept
    assert log.item_ids.to_pylist() == [k for k, user in enumerate(WHO) if user in kept]
    assert log.users.tolist() == [kept.index(user) for user in WHO if user in kept]
    assert log.items.tolist() == list(range(len(log)))


def test_nobody_has_enough() -> None:
    log = read_log(table(), **NAMES)
    with pytest.raises(
        InputError, match=r"no user has at least 5 events \(the most is 4, of 3 users\): lower"
    ):
        MinEvents(5).apply(log)


def test_it_is_found_by_its_file() -> None:
    assert find("data.filters", "min_events", Filter) is MinEvents  # type: ignore[type-abstract]
    assert MinEvents().least == 5
