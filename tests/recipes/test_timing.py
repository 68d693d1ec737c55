"""Timing: who runs when, and what is kept."""

import time

import pytest

from rota.errors import InputError
from rota.recipes.rotary_bench import RotaryBench, bench_rotary
from rota.recipes.timing import Timing, circumstances, measure


def test_contenders_take_turns_in_both_orders() -> None:
    order: list[str] = []
    told: list[int] = []
    timings = measure(
        {"a": lambda: order.append("a"), "b": lambda: order.append("b")},
        rounds=3,
        warm=1,
        on_round=told.append,
    )
    assert "".join(order) == "ab" + "ba" + "ab" + "ba"
    assert told == [1, 2, 3, 4]
    assert [(timing.name, len(timing.seconds)) for timing in timings] == [("a", 3), ("b", 3)]


def test_a_longer_work_takes_longer() -> None:
    slow, fast = measure({"slow": lambda: time.sleep(0.02), "fast": lambda: None}, rounds=3, warm=0)
    assert slow.median >= 0.02 > fast.median


def test_median_and_spread() -> None:
    timing = Timing("x", tuple(float(n) for n in range(1, 12)))
    assert timing.median == 6
    assert timing.spread == pytest.approx((2, 10))
    assert Timing("x", (3.0,)).spread == (3.0, 3.0)


def test_circumstances_name_what_matters() -> None:
    known = circumstances("numpy", "no-such-package")
    assert set(known) == {"processor", "threads", "python", "versions", "commit"}
    versions = known["versions"]
    assert isinstance(versions, dict)
    assert versions["numpy"]
    assert versions["no-such-package"] is None


def test_bench_rotary_times_everyone(unchecked_shapes: None) -> None:
    found = bench_rotary(rounds=1, compiled=False, longest=1000)
    assert isinstance(found, RotaryBench)
    names = {timing.name for timing in found.forward}
    assert names >= {"copy", "rota", "plain"}
    assert len(names) == 6 - len(found.missing)
    assert {timing.name for timing in found.training} == {
        "copy", "rota, fixed phases", "rota, fixed phases, plain PyTorch", "rota, learnable phases",
        "rota, learnable phases, plain PyTorch",
    }  # fmt: skip
    assert [length for length, _ in found.lengths] == [1000]
    assert found.bytes_moved == 64 * 4 * 200 * 64 * 4 * 2 * 2


def test_what_cannot_be_timed_is_refused() -> None:
    with pytest.raises(InputError, match="0 rounds"):
        bench_rotary(rounds=0)
    with pytest.raises(InputError, match="on 0 threads"):
        bench_rotary(threads=0)
    with pytest.raises(InputError, match="longest 10: expected 1000 events or more"):
        bench_rotary(longest=10)
