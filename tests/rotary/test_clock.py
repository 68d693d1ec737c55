"""A log's times that can serve as a clock, and those that cannot."""

import inspect

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from rota.errors import InputError
from rota.rotary import require_clock
from rota.rotary.clock import require_range, values_known

NOW = 1_700_000_000


@pytest.mark.parametrize(("unit", "ticks"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_times_that_vary_are_returned_as_they_are(unit: str, ticks: int) -> None:
    time = torch.tensor([[NOW, NOW + 60], [NOW, NOW]]) * ticks
    assert require_clock(time, unit=unit) is time
    assert require_clock(time[:1, :1], unit=unit).shape == (1, 1)  # a single time cannot vary


def test_the_years_1900_to_2200() -> None:
    edges = torch.tensor([-2_208_988_800, 7_258_118_399])
    assert require_clock(edges) is edges
    for beyond in (edges - 1, edges + 1):
        with pytest.raises(InputError, match="expected the years 1900 to 2200; check the unit"):
            require_clock(beyond)


@pytest.mark.parametrize(
    ("time", "says"),
    [
        (torch.tensor([NOW, NOW + 1]).double(), r"query_time is torch\.float64: expected torch\.int64"),
        (torch.tensor([True, False]), r"query_time is torch\.bool"),
        (torch.tensor([NOW, NOW + 1], dtype=torch.int32), r"query_time is torch\.int32"),
        (torch.zeros(0, dtype=torch.int64), "query_time is empty"),
        (torch.full((3, 4), NOW), "query_time is 1700000000 throughout: expected times that vary"),
        (torch.zeros(3, dtype=torch.int64), "query_time is 0 throughout"),
        (torch.tensor([NOW, NOW + 1]) * 1000, "in s: expected the years 1900 to 2200; check the unit"),
    ],
)
def test_what_is_no_clock_is_refused(time: torch.Tensor, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        inspect.unwrap(require_clock)(time, name="query_time")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("none", [[NOW, NOW + 1], None, NOW, torch.tensor([NOW]).numpy()])
def test_what_is_no_tensor_is_refused(none: object) -> None:
    with pytest.raises(InputError, match=r"time: expected a torch\.int64 tensor, got"):
        inspect.unwrap(require_clock)(none)


@pytest.mark.parametrize(("unit", "ticks"), [("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_times_out_of_range_name_value_date_and_remedy(unit: str, ticks: int) -> None:
    fine = torch.tensor([[NOW, 0], [-5, NOW]])
    require_range(fine, 1, "query time")
    require_range(fine * ticks, ticks, "query time")
    with pytest.raises(
        InputError, match=rf'query time {NOW * ticks} is .* the years 1900 to 2200; .*unit="{unit}"'
    ):
        require_range(fine * ticks, 1, "query time")


def test_the_range_and_what_is_said_of_it() -> None:
    edges = torch.tensor([-2_208_988_800, 7_258_118_399])
    require_range(edges, 1, "time")
    require_range(torch.zeros(0, dtype=torch.int64), 1, "time")
    with pytest.raises(InputError, match="time 7258118400 is 2200-01-01 at 1 ticks a second"):
        require_range(edges + 1, 1, "time")
    with pytest.raises(InputError, match="time -2208988801 is 1899-12-31"):
        require_range(edges - 1, 1, "time")
    with pytest.raises(InputError, match=r"is no date at 1 ticks a second: .*; check the log"):
        require_range(torch.tensor([-(2**63)]), 1, "time")


def test_values_are_looked_at_only_where_that_is_cheap() -> None:
    beyond = torch.tensor([NOW * 10**9])
    assert values_known(beyond)
    seen = []

    def look(time: torch.Tensor) -> torch.Tensor:
        seen.append(values_known(time))
        require_range(time, 1, "time")
        return time + 1

    torch.vmap(look)(beyond)
    look(beyond.to("meta"))
    with FakeTensorMode():
        look(torch.ones(1, dtype=torch.int64))
    make_fx(look)(beyond)
    torch.compile(look, backend="eager", fullgraph=True)(beyond)
    assert seen == [False] * 5


def test_a_unit_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="time unit 'min'"):
        require_clock(torch.tensor([1, 2]), unit="min")
