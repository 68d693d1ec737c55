"""The timestamp embedding against Time2Vec's formula at 50 digits, and that its waves can be trained."""

import mpmath
import numpy as np
import pytest
import torch
from torch import Tensor

from rota.encodings import DateWaves, TimestampEmbedding
from rota.errors import InputError

NOW = 1_700_000_000


def literally(waves: DateWaves, time: Tensor, ticks: int) -> Tensor:
    out = torch.zeros(*time.shape, len(waves.rates), dtype=torch.float64)
    with mpmath.workdps(50):
        for at in np.ndindex(*time.shape):
            tau = (mpmath.mpf(int(time[at])) / ticks - waves.origin) / mpmath.mpf(waves.span)
            for i, (rate, offset) in enumerate(
                zip(waves.rates.tolist(), waves.offsets.tolist(), strict=True)
            ):
                phase = mpmath.mpf(rate) * tau + mpmath.mpf(offset)
                out[(*at, i)] = float(phase if i == 0 else mpmath.sin(2 * mpmath.pi * phase))
    return out


@pytest.mark.parametrize(("unit", "ticks"), [("s", 1), ("ms", 10**3), ("ns", 10**9)])
def test_against_the_formula(unit: str, ticks: int) -> None:
    waves = TimestampEmbedding(waves=6, shortest="1h", longest="365d").build(4, unit).waves
    with torch.no_grad():
        waves.rates += torch.linspace(0, 0.3, 7)
        waves.offsets += torch.linspace(-0.4, 0.7, 7)
    dates = [-1_000_000_000, 0, 946_684_800, NOW, NOW + 60, 4_000_000_000]
    time = torch.tensor(dates).view(2, 3) * ticks
    got = waves(time).detach()
    assert got.dtype == torch.float32
    wanted = literally(waves, time, ticks)
    torch.testing.assert_close(got[..., 1:].double(), wanted[..., 1:], rtol=0, atol=2e-6)
    torch.testing.assert_close(got[..., 0].double(), wanted[..., 0], rtol=1e-6, atol=0)


def test_waves_start_geometric_from_a_day_to_ten_years() -> None:
    waves = TimestampEmbedding().build(4).waves
    assert waves.rates.dtype == torch.float64
    periods = waves.span / waves.rates.detach()
    assert periods.tolist() == pytest.approx([315_360_000, *np.geomspace(86_400, 315_360_000, 16)])
    assert not waves.offsets.any()


def test_a_cast_and_a_step_of_training_keep_float64_and_the_clock() -> None:
    module = TimestampEmbedding(shortest="1h").build(8).bfloat16()
    time = NOW + torch.arange(6).view(1, 6) * 60
    before = module.waves(time).detach()
    assert float((before.diff(dim=1)).abs().amax(-1).min()) > 0.005  # a minute is seen
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, weight_decay=0)
    module(time, time).square().sum().backward()
    optimizer.step()
    assert module.waves.rates.dtype == module.waves.rates.grad.dtype == torch.float64
    assert module.project.weight.dtype == torch.bfloat16
    moved = (module.waves(time).detach() - before).abs().max()
    assert (
        1e-5 < float(moved) < 0.1
    )  # of some 1e-3 tau turns: a learning rate that fits the weights fits these


def test_gradient_of_rates_and_offsets_against_finite_differences() -> None:
    waves = TimestampEmbedding(waves=3, shortest="30d", longest="365d", origin=NOW - 10**7).build(4).waves
    time = torch.tensor([[NOW, NOW + 10**6], [NOW - 10**7, NOW + 3 * 10**7]])

    def loss() -> Tensor:
        return (waves(time).double() * torch.tensor([1.0, 2.0, -1.0, 0.5])).sum()

    loss().backward()
    for parameter in (waves.rates, waves.offsets):
        for i in range(4):
            sides = []
            with torch.no_grad():
                start = float(parameter[i])
                for side in (start + 1e-3, start - 1e-3):
                    parameter[i] = side
                    sides.append(float(loss()))
                parameter[i] = start
            assert float(parameter.grad[i]) == pytest.approx((sides[0] - sides[1]) / 2e-3, rel=2e-3, abs=2e-3)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"waves": 0}, "waves 0: expected a whole number of at least 1"),
        ({"shortest": "2d", "longest": "1d"}, "expected shortest <= longest"),
        ({"shortest": "a while"}, "duration 'a while'"),
        ({"origin": 10**18}, "origin 1000000000000000000 of TimestampEmbedding: expected seconds since 1970"),
        ({"longest": -1}, "duration -1: expected a positive"),
    ],
)
def test_what_makes_no_waves_is_refused(changed: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        TimestampEmbedding(**changed)  # type: ignore[arg-type]
