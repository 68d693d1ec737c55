"""HSTU's bias: buckets by hand and at 60 digits, and the published semantics written out."""

import math

import mpmath
import numpy as np
import pytest
import torch
from torch import Tensor

from rota.batch import Window, collate
from rota.encodings import GapBias, PositionBias, TimeBias
from rota.encodings.thresholds import bucket_starts
from rota.errors import InputError
from rota.tables import from_table, to_table

NOW = 1_700_000_000
TEN_YEARS = 10 * 365 * 86_400


def buckets(bias: TimeBias, gaps: list[int], unit: str = "s") -> list[int]:
    module = bias.build(max_len=1, unit=unit)
    key = torch.full((len(gaps), 1), NOW)
    return module.buckets(key + torch.tensor(gaps)[:, None], key).flatten().tolist()


def test_gaps_by_hand() -> None:
    gaps = [0, 1, 2, 60, 600, 3600, 86_400, 604_800, 30 * 86_400, 365 * 86_400, TEN_YEARS, 10**9]
    assert buckets(TimeBias(), gaps) == [0, 0, 2, 13, 21, 27, 37, 44, 49, 57, 65, 68]
    assert buckets(TimeBias(), [-gap for gap in gaps]) == buckets(TimeBias(), gaps)  # |t_q - t_k|
    assert buckets(TimeBias(num_buckets=40), gaps) == [0, 0, 2, 13, 21, 27, 37, 40, 40, 40, 40, 40]


def test_every_threshold_against_the_logarithm_at_60_digits() -> None:
    """Whole gaps two to each side of every start of a bucket, up to a million years."""
    with mpmath.workdps(60):
        step = mpmath.mpf("0.301")
        starts = [int(mpmath.ceil(mpmath.exp(b * step))) for b in range(1, 105)]
        gaps = sorted({max(start + side, 1) for start in starts for side in (-2, -1, 0, 1, 2)})
        wanted = [min(int(mpmath.floor(mpmath.log(gap) / step)), 128) for gap in gaps]
    assert gaps[-1] > 10**13
    assert buckets(TimeBias(), gaps) == wanted


@pytest.mark.parametrize(("base", "unit", "width"), [(2.0, "s", 1.0), (10.0, "ms", 60.0), (1.1, "us", 0.25)])
def test_other_bases_and_units_against_whole_numbers(base: float, unit: str, width: float) -> None:
    """By a loop of comparisons of fractions: no logarithm is asked whether 8 is 2^3."""
    bias = TimeBias(num_buckets=30, bucket_base=base, bucket_unit=width)
    ticks = {"s": 1, "ms": 1000, "us": 10**6}[unit]
    starts = bucket_starts(30, base, width, unit).tolist()
    gaps = sorted({max(start + side, 0) for start in starts for side in (-1, 0, 1)})
    with mpmath.workdps(60):
        exact = [mpmath.mpf(width) * ticks * mpmath.mpf(base) ** b for b in range(1, 31)]
    assert buckets(bias, gaps, unit) == [sum(start <= gap for start in exact) for gap in gaps]


def test_powers_of_two_start_their_buckets() -> None:
    assert buckets(TimeBias(bucket_base=2.0), [1, 2, 3, 4, 7, 8, 2**31, 2**32 - 1]) == [
        0,
        1,
        1,
        2,
        2,
        3,
        31,
        31,
    ]
    assert buckets(TimeBias(bucket_base=2.0, bucket_unit="1min"), [59, 60, 119, 120, 240]) == [0, 0, 0, 1, 2]
    assert buckets(TimeBias(bucket_unit=0.001), [1351, 1352], "us") == [0, 1]  # e^0.301 = 1.35121 ms


def test_starts_beyond_int64_are_left_out() -> None:
    starts = bucket_starts(200, 10.0, 1.0, "ns")
    assert starts.tolist() == [10 ** (9 + b) for b in range(1, 10)]
    assert buckets(TimeBias(num_buckets=200, bucket_base=10.0), [9, 10, 10**15]) == [0, 1, 15]


def test_the_published_float32_logarithm_is_one_off_beside_some_thresholds() -> None:
    gap = torch.tensor([4_643_597, 6_274_471, 3600, 86_400])
    published = (torch.log(gap.abs().clamp(min=1)) / 0.301).clamp(0, 128).long().tolist()
    with mpmath.workdps(60):
        exact = [int(mpmath.floor(mpmath.log(int(g)) / mpmath.mpf("0.301"))) for g in gap]
    assert buckets(TimeBias(), gap.tolist()) == exact
    assert [abs(a - b) for a, b in zip(published, exact, strict=True)] == [1, 1, 0, 0]


def published(module: GapBias, timestamps: Tensor) -> Tensor:
    """The published code's semantics: history and target, then zeros; query i is shifted to time i + 1."""
    rows, n = timestamps.shape
    extended = torch.cat((timestamps, timestamps[:, n - 1 :]), 1)
    out = torch.zeros(rows, n, n)
    for row, i, j in np.ndindex(rows, n, n):
        gap = abs(int(extended[row, i + 1]) - int(timestamps[row, j]))
        bucket = min(max(math.floor(math.log(max(gap, 1)) / 0.301), 0), 128)
        out[row, i, j] = module.weight[bucket].detach()
        if module.position is not None:
            out[row, i, j] += module.position.weight[(module.position.max_len - 1) + j - i].detach()
    return out


@pytest.mark.parametrize("position", [True, False])
def test_against_the_published_semantics(position: bool) -> None:
    """Wherever a real query looks at what it may see, with query times as a batch gives them."""
    histories = [[0, 60, 3700, 90_000], [5], [0, 0, 10**6, 10**6 + 7, 3 * 10**7, 10**8], [1, 2, 3]]
    targets = [100_000, 86_405, 10**8 + 3600, 3]
    n = 9
    timestamps = torch.zeros(4, n, dtype=torch.int64)
    for row, (history, target) in enumerate(zip(histories, targets, strict=True)):
        timestamps[row, : len(history) + 1] = NOW + torch.tensor([*history, target])
    windows = [
        Window(np.arange(len(h)), NOW + np.array(h), NOW + np.array([*h[1:], t]))
        for h, t in zip(histories, targets, strict=True)
    ]
    batch = collate(windows, "request")
    module = TimeBias(position=position).build(max_len=n, seed=3)
    wanted, got = published(module, timestamps), module(batch.query_time, batch.key_time)[:, 0].detach()
    for row, history in enumerate(histories):
        for i in range(len(history)):
            torch.testing.assert_close(got[row, i, : i + 1], wanted[row, i, : i + 1], rtol=0, atol=1e-8)


def test_with_history_a_query_stands_at_its_own_event() -> None:
    key = NOW + torch.tensor([[0, 60, 3660]])
    module = TimeBias(position=False).build(max_len=3)
    assert module.buckets(key, key).tolist() == [[[0, 13, 27], [13, 0, 27], [27, 27, 0]]]


def test_tables_start_as_published_and_do_not_share_draws() -> None:
    module = TimeBias(num_buckets=5000).build(max_len=2500, seed=1, layer=2)
    assert module.position is not None
    time, place = module.weight.detach(), module.position.weight.detach()
    for weight, size in ((time, 5001), (place, 4999)):
        assert weight.shape == (size,)
        assert weight.dtype == torch.float32
        assert float(weight.std()) == pytest.approx(0.02, rel=0.05)
        assert abs(float(weight.mean())) < 5 * 0.02 / math.sqrt(size)
    assert abs(float(torch.corrcoef(torch.stack((time[:4999], place)))[0, 1])) < 0.1
    wider = TimeBias(spread=0.5).build(max_len=4)
    torch.testing.assert_close(wider.weight, 25 * TimeBias().build(max_len=4).weight)
    assert TimeBias().build(max_len=4).weight.shape == (129,)


def test_position_is_an_addend_and_its_future_half_is_never_read() -> None:
    key = NOW + torch.arange(5).expand(2, -1) * 1000
    both, alone = TimeBias().build(max_len=5, seed=4), TimeBias(position=False).build(max_len=5, seed=4)
    place = PositionBias().build(max_len=5, seed=4)
    torch.testing.assert_close(both(key, key), alone(key, key) + place(key, key))
    seen = torch.ones(5, 5).tril()
    (place(key, key) * seen).sum().backward()
    assert place.weight.grad.tolist() == [1, 2, 3, 4, 5, 0, 0, 0, 0]


def test_layers_of_one_recipe_have_the_same_buckets() -> None:
    key = NOW + torch.tensor([[0, 60, 3660, 3661]])
    first, second = (TimeBias().build(max_len=4, layer=layer) for layer in range(2))
    shared = second.of_buckets(first.buckets(key + 9, key), key + 9, key)
    assert torch.equal(shared, second(key + 9, key))
    assert not torch.equal(shared, first(key + 9, key))


def test_a_bfloat16_model_sums_gradients_wide() -> None:
    module = TimeBias(position=False).build(max_len=40).bfloat16()
    key = torch.full((2, 40), NOW)
    module(key, key).sum().backward()
    assert module.weight.grad.dtype == torch.bfloat16
    assert float(module.weight.grad[0]) == 3200  # one by one in bfloat16 it would stop at 256


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"num_buckets": 0}, "num_buckets 0: .* expected a whole number of at least 1"),
        ({"num_buckets": -3}, "num_buckets -3"),
        ({"bucket_base": 1.0}, r"bucket_base 1\.0: expected a finite number over 1"),
        ({"bucket_base": float("inf")}, "bucket_base inf"),
        ({"bucket_base": float("nan")}, "bucket_base nan"),
        ({"bucket_unit": "soon"}, "duration 'soon': expected a number and one of s, min, h, d, w"),
        ({"bucket_unit": 0}, "duration 0: expected a positive"),
    ],
)
def test_what_makes_no_buckets_is_refused(changed: dict[str, float], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        TimeBias(**changed)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_a_table_with_zero_buckets_is_refused_by_name() -> None:
    table = {**to_table(TimeBias()), "num_buckets": 0}
    with pytest.raises(InputError, match="num_buckets 0"):
        from_table(table, TimeBias)


def test_rows_that_do_not_fit_are_refused() -> None:
    module, key = TimeBias().build(max_len=4), torch.full((1, 5), NOW)
    with pytest.raises(InputError, match=r"5 events in a row: .* max_len 4"):
        module(key, key)
    with pytest.raises(
        InputError, match=r"cannot tell where they stand; pass query_position and key_position"
    ):
        module(key[:, :1], key[:, :3])
    at, far = torch.tensor([[4]]), torch.tensor([[0]])
    for query, event in ((at, far), (far, at), (at[0], far[0])):
        with pytest.raises(InputError, match=r"4 positions apart: .* max_len 4 and expects at most 3; build"):
            module(key[:, :1], key[:, :1], query, event)
    module(key[:, :1], key[:, :1], torch.tensor([100]), torch.tensor([97]))  # only the distance counts


def test_numbers_of_another_kind_are_refused(unchecked_shapes: None) -> None:
    for kind, changed, says in (
        (TimeBias, {"num_buckets": 3.5}, r"num_buckets 3\.5: .* expected a whole number"),
        (
            TimeBias,
            {"spread": float("nan")},
            "spread nan of TimeBias: expected a finite number of at least 0",
        ),
        (TimeBias, {"spread": -1.0}, r"spread -1\.0 of TimeBias"),
        (PositionBias, {"spread": -1.0}, r"spread -1\.0 of PositionBias"),
    ):
        with pytest.raises(InputError, match=says):
            kind(**changed)
    for recipe in (TimeBias(), PositionBias()):
        with pytest.raises(InputError, match=r"max_len 2\.5: expected a whole number of at least 1"):
            recipe.build(max_len=2.5)  # type: ignore[arg-type]
