"""Splits as people write them, and questions of every split."""

import pyarrow as pa
import pytest

from rota.data import ByUser, HoldoutDay, LeaveLast, Splitter, Temporal, read_log
from rota.errors import InputError
from rota.recipes.question import ask_of
from rota.recipes.splitting import parse_split

DAY = 86_400
MONDAY = 1_704_067_200  # 2024-01-01 in UTC


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("leave_last", LeaveLast()),
        (" leave_last() ", LeaveLast()),
        ("leave_last(k=2)", LeaveLast(2)),
        ("temporal(test=0.7, validation=0.5)", Temporal(0.7, 0.5)),
        (
            'temporal(test="2024-01-20", validation="2024-01-10", gap="1d", targets="all")',
            Temporal("2024-01-20", "2024-01-10", gap="1d", targets="all"),
        ),
        ("by_user(seed=3)", ByUser(seed=3)),
        ("holdout_day(day='2024-01-20')", HoldoutDay("2024-01-20")),
    ],
)
def test_what_is_read(text: str, split: Splitter) -> None:
    assert parse_split(text) == split


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("last", "expected one of by_user, holdout_day, leave_last, temporal"),
        ("temporal(0.9)", "an argument without a name"),
        ("temporal(test=)", "cannot read the arguments"),
        ("temporal(test=__import__('os'))", "cannot read the arguments"),
        ("temporal(**{})", "an argument without a name"),
        ("temporal(start=1)", "unknown key 'start'"),
        ("leave_last(k=0)", "expected at least 1"),
        ("leave_last(k='2')", "k is '2': expected int"),
        ("leave_last(k=1", "expected one of"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=r"^split ") as caught:
        parse_split(text)
    assert said in str(caught.value)


def log(ties: str = "rows") -> object:
    """Ten people with an event every day of a month; the first five days in baskets of two."""
    rows = [(u, (3 * u + d) % 11, MONDAY + d * DAY + u) for u in range(10) for d in range(30)]
    rows += [(u, 11 + d, MONDAY + d * DAY + u) for u in range(10) for d in range(25, 30)]
    rows += [(99, item, MONDAY) for item in range(6)]  # six events in one basket
    users, items, times = zip(*rows, strict=True)
    table = pa.table({"u": users, "i": items, "t": times})
    return read_log(table, user="u", item="i", time="t", ties=ties)


@pytest.mark.parametrize("split", [LeaveLast(), LeaveLast(2), Temporal(), HoldoutDay(), ByUser(0.2, 0.2)])
@pytest.mark.parametrize("ties", ["rows", "unordered"])
def test_a_question_of_every_split(split: Splitter, ties: str) -> None:
    question = ask_of(log(ties), split)  # type: ignore[arg-type]
    test, offsets = question.stages.test, question.positives.offsets
    assert len(question.users) == len(test.users) == len(offsets) - 1
    assert len(question.targets) == offsets[-1]
    assert 99 not in question.users.to_pylist() or ties == "rows"
    said = dict(question.describe())["asked"]
    assert said.endswith(question.stages.name)
    assert ("targets" in said) == (len(question.targets) > len(test.users))
    assert question.facts()["ties_rule"] == ties


def test_a_basket_is_asked_as_one_set() -> None:
    question = ask_of(log("unordered"))  # type: ignore[arg-type]
    assert set(zip(question.users.to_pylist(), strict=True)) == {(user,) for user in range(10)}
    assert (question.positives.offsets == [2 * k for k in range(11)]).all()


def test_nobody_left() -> None:
    table = pa.table({"u": [1] * 6, "i": range(6), "t": [MONDAY + k * DAY for k in range(6)]})
    with pytest.raises(InputError, match="one user has 5 events or more, and as many as leave_last needs"):
        ask_of(read_log(table, user="u", item="i", time="t"))
