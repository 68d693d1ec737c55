"""What a rotation by harmonics refuses; its numbers are ClockRoPE's tests."""

import inspect

import pytest
import torch

from rota.encodings import HarmonicRotation
from rota.errors import InputError


@pytest.mark.parametrize("period", [1, 0, -86_400])
def test_a_period_under_two_ticks_is_refused(period: int) -> None:
    with pytest.raises(
        InputError, match=f"period {period} is under two ticks of the unit 'ms': use a finer unit"
    ):
        HarmonicRotation(torch.ones(1, 2).long(), torch.tensor([86_400, period]), num_heads=1, unit="ms")


@pytest.mark.parametrize("shape", [(1, 3), (3, 3), (2, 4), (3, 2)])
def test_times_of_other_tokens_are_refused(shape: tuple[int, int]) -> None:
    module = HarmonicRotation(torch.ones(2, 4).long(), torch.full((4,), 86_400), num_heads=2)
    for rotate in (module.rotate_query, module.rotate_key):
        with pytest.raises(
            InputError, match=r"ClockRoPE expects \(batch, length\) \(2, 3\), one time for each"
        ):
            inspect.unwrap(rotate.__func__)(module, torch.zeros(2, 2, 3, 8), time=torch.zeros(shape).long())


def test_features_of_another_size_are_refused() -> None:
    module = HarmonicRotation(torch.ones(2, 4).long(), torch.full((4,), 86_400), num_heads=4)
    time = torch.zeros(2, 3).long()
    for x in (torch.zeros(2, 3, 3, 8), torch.zeros(2, 4, 3, 6)):
        with pytest.raises(InputError, match="built for 4 heads of 8 features"):
            module.rotate_query(x, time=time)
    with pytest.raises(InputError, match="built for 2 heads of 8 features"):
        module.rotate_key(torch.zeros(2, 4, 3, 8), time=time)
