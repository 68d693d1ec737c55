"""Leave-last-k by hand: events, and instants where ties have no order."""

import pytest

from logs import log_of, shown
from rota.data import LeaveLast
from rota.data.events import Ties
from rota.errors import InputError

ROWS = [(user, f"{user}{k}", 100 * k) for user, n in (("b", 3), ("a", 5), ("c", 4)) for k in range(n)]


def test_leave_one_out() -> None:
    log = log_of(ROWS)
    stages = LeaveLast().stages(log)
    assert stages.name == "leave_one_out"
    assert shown(log, stages.train) == [("a0 a1 a2", ""), ("b0", ""), ("c0 c1", "")]
    assert shown(log, stages.validation) == [("a0 a1 a2", "a3"), ("b0", "b1"), ("c0 c1", "c2")]
    assert shown(log, stages.test) == [("a0 a1 a2 a3", "a4"), ("b0 b1", "b2"), ("c0 c1 c2", "c3")]
    assert shown(log, stages.counted) == [(history, "") for history, _ in shown(log, stages.test)]
    assert stages.test.users.tolist() == [0, 1, 2]


def test_the_last_two_are_asked_for_one_after_another() -> None:
    log = log_of(ROWS[3:8])
    stages = LeaveLast(2).stages(log)
    assert stages.name == "leave_last_2"
    assert shown(log, stages.train) == [("a0", "")]
    assert shown(log, stages.validation) == [("a0", "a1"), ("a0 a1", "a2")]
    assert shown(log, stages.test) == [("a0 a1 a2", "a3"), ("a0 a1 a2 a3", "a4")]
    assert shown(log, stages.counted) == [("a0 a1 a2", "")]
    assert stages.test.users.tolist() == [0, 0]


def test_without_an_order_the_last_instant_is_the_target() -> None:
    baskets = [
        ("u", item, time) for time, items in enumerate(["ba", "c", "ed", "gf", "ih"]) for item in items
    ]
    log = log_of(baskets, Ties.UNORDERED)
    stages = LeaveLast().stages(log)
    assert shown(log, stages.train) == [("a b c d e", "")]
    assert shown(log, stages.validation) == [("a b c d e", "f g")]
    assert shown(log, stages.test) == [("a b c d e f g", "h i")]
    two = LeaveLast(2).stages(log)
    assert shown(log, two.test) == [("a b c d e", "f g"), ("a b c d e f g", "h i")]
    assert shown(log, two.validation) == [("a b", "c"), ("a b c", "d e")]
    in_order = log_of(baskets)
    assert shown(in_order, LeaveLast().stages(in_order).test) == [("b a c e d g f i", "h")]


def test_the_hash_depends_on_targets_and_nothing_else() -> None:
    base = LeaveLast().stages(log_of(ROWS)).hash
    other_history = [(u, "new" if i == "a0" else i, t) for u, i, t in ROWS]
    assert LeaveLast().stages(log_of(other_history)).hash == base
    numbers = [({"a": 1, "b": 2, "c": 10}[u], i, t) for u, i, t in ROWS]  # 10 is after 2, "10" before "2"
    words = [(str(u), i, t) for u, i, t in numbers]
    assert LeaveLast().stages(log_of(numbers)).hash == LeaveLast().stages(log_of(words)).hash
    for changed in (
        [(u, "new" if i == "a4" else i, t) for u, i, t in ROWS],
        [(u, "new" if i == "a3" else i, t) for u, i, t in ROWS],
        [(u, i, t + 1 if i == "a4" else t) for u, i, t in ROWS],
        [("z" if u == "c" else u, i, t) for u, i, t in ROWS],
        [row for row in ROWS if row[0] != "b"],
        ROWS[:7] + ROWS[8:],  # a's last event is gone
        [(u, {"a3": "a4", "a4": "a3"}.get(i, i), t) for u, i, t in ROWS],  # of two stages, exchanged
    ):
        assert LeaveLast().stages(log_of(changed)).hash != base


def test_too_few_events() -> None:
    with pytest.raises(InputError, match=r"user 'd' has 2, and 1 of 4 users have too few: .*MinEvents\(3\)"):
        LeaveLast().stages(log_of([*ROWS, ("d", "x", 0), ("d", "y", 0)]))
    with pytest.raises(
        InputError, match=r"leave-last-2 needs 5 events of every user: user 'b' has 3, and 2 of 3"
    ):
        LeaveLast(2).stages(log_of(ROWS))
    basket = [("d", item, time) for item, time in (("x", 0), ("y", 0), ("z", 1))]
    with pytest.raises(InputError, match=r"leave-last-1 needs 3 instants of every user: user 'd' has 2"):
        LeaveLast().stages(log_of(basket, Ties.UNORDERED))
    with pytest.raises(InputError, match="k 0: expected at least 1"):
        LeaveLast(0)
