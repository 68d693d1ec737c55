"""By user: who is drawn, and what is asked of them."""

import pytest

from logs import log_of, random_rows, shown
from rota.data import ByUser
from rota.data.events import Ties
from rota.errors import InputError

ROWS = [(user, f"{user}{k}", k) for user in range(20) for k in range(1 + user % 5)]


def test_users_are_of_one_stage_and_all_are_somewhere() -> None:
    log = log_of(ROWS)
    stages = ByUser(0.2, 0.3).stages(log)
    train, validation, test = (
        set(spans.users.tolist()) for spans in (stages.train, stages.validation, stages.test)
    )
    assert (len(train), len(validation), len(test)) == (10, 6, 4)
    assert train | validation | test == set(range(20))
    assert {0, 5, 10, 15} <= train  # of one event: nothing can be asked
    assert shown(log, stages.train) == [
        (" ".join(f"{user}{k}" for k in range(1 + user % 5)), "") for user in sorted(train)
    ]
    assert shown(log, stages.test) == [
        (" ".join(f"{user}{k}" for k in range(user % 5)), f"{user}{user % 5}") for user in sorted(test)
    ]
    assert shown(log, stages.counted) == shown(log, stages.train)
    assert stages.name == "by_user"


def test_the_draw_is_a_function_of_the_seed() -> None:
    log = log_of(random_rows(0, users=30))
    hashes = [ByUser(0.2, 0.2, seed=seed).stages(log).hash for seed in (0, 0, 1)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_without_an_order_the_last_instant_is_the_target() -> None:
    rows = [
        (user, item, time) for user in range(6) for time, items in enumerate(["a", "cb"]) for item in items
    ]
    log = log_of([*rows, (6, "a", 0), (6, "b", 0)], Ties.UNORDERED)
    stages = ByUser(0.3, 0.3).stages(log)
    assert shown(log, stages.test) == [("a", "b c")] * 2
    assert 6 in stages.train.users  # two events, one instant


def test_refusals() -> None:
    for shares in ((0.0, 0.1), (1.0, 0.1), (0.1, -0.1)):
        with pytest.raises(InputError, match="expected a share of the users between 0 and 1"):
            ByUser(*shares)
    with pytest.raises(InputError, match="expected a sum below 1"):
        ByUser(0.5, 0.5)
    with pytest.raises(InputError, match="leaves no user for the validation"):
        ByUser(0.5, 0.1).stages(log_of(ROWS[:6]))
    with pytest.raises(InputError, match="18 users to be asked and 16 of 20 have 2 events"):
        ByUser(0.45, 0.45).stages(log_of(ROWS))
