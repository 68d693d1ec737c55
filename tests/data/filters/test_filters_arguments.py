"""Filters that cannot mean anything are refused when they are made."""

from collections.abc import Callable

import pytest

from rota.data import KCore, MinEvents, MinItemEvents, UserCap
from rota.errors import InputError
from rota.tables import from_table

COUNTED: list[tuple[str, Callable[[int], object]]] = [
    ("least", MinEvents),
    ("least", MinItemEvents),
    ("users", lambda n: KCore(users=n)),
    ("items", lambda n: KCore(items=n)),
    ("most", UserCap),
]


@pytest.mark.parametrize("number", [0, -1, True])
@pytest.mark.parametrize(("name", "make"), COUNTED)
def test_numbers_of_events(name: str, make: Callable[[int], object], number: int) -> None:
    with pytest.raises(InputError, match=rf"^{name} {number}: expected a whole number of events, at least 1"):
        make(number)


def test_which_events_of_a_user() -> None:
    with pytest.raises(InputError, match="keep 'newest': expected one of last, first"):
        UserCap(3, keep="newest")


def test_a_table_from_a_file() -> None:
    with pytest.raises(InputError, match=r"least is 2\.5: expected int"):
        from_table({"recipe": "data.filters.min_events", "least": 2.5}, MinEvents)
    with pytest.raises(InputError, match="most"):
        from_table({"recipe": "data.filters.user_cap"}, UserCap)
