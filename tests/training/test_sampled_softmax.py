"""Sampled softmax against a plain loop, forward and backward."""

import math

import pytest
import torch

from rota.errors import InputError
from rota.training.losses.sampled_softmax import SampledSoftmax


def example(
    positions: int = 7, dim: int = 5, items: int = 11
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(positions, dim, dtype=torch.float64, generator=generator, requires_grad=True)
    table = torch.randn(items, dim, dtype=torch.float64, generator=generator, requires_grad=True)
    return features, torch.randint(items, (positions,), generator=generator), table


def plain(features, targets, table, negatives, temperature):
    total = torch.zeros((), dtype=torch.float64)
    for feature, target in zip(features, targets, strict=True):
        own = torch.dot(feature, table[target]) / temperature
        others = [torch.dot(feature, table[n]) / temperature for n in negatives if n != target]
        total = total + torch.logsumexp(torch.stack([own, *others]), 0) - own
    return total / len(targets)


@pytest.mark.parametrize("num_negatives", [1, 4, 11, 100])
@pytest.mark.parametrize("temperature", [1.0, 0.05])
def test_it_equals_the_plain_loop(num_negatives: int, temperature: float) -> None:
    features, targets, table = example()
    negatives = torch.randperm(11, generator=torch.Generator().manual_seed(9))[:num_negatives]
    loss = SampledSoftmax(num_negatives, temperature)(
        features, targets, table, torch.Generator().manual_seed(9)
    )
    expected = plain(features, targets, table, negatives, temperature)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5, abs=1e-6)
    found = torch.autograd.grad(loss, (features, table), retain_graph=True)
    wanted = torch.autograd.grad(expected, (features, table))
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


def test_with_all_items_as_negatives_it_is_the_full_softmax() -> None:
    features, targets, table = example()
    loss = SampledSoftmax(11)(features, targets, table, torch.Generator())
    full = torch.nn.functional.cross_entropy(features @ table.T, targets)
    assert loss.item() == pytest.approx(full.item(), rel=1e-6)


def test_negatives_are_uniform_over_the_catalogue() -> None:
    features, targets = torch.zeros(1, 2), torch.tensor([0])
    table = torch.zeros(50, 2, requires_grad=True)
    features[:] = 1.0
    generator, counts = torch.Generator().manual_seed(1), torch.zeros(50)
    for _ in range(2000):
        (gradient,) = torch.autograd.grad(SampledSoftmax(5)(features, targets, table, generator), table)
        counts += gradient[:, 0] > 0
    expected = 2000 * 5 / 50
    assert (counts[1:] - expected).abs().max() < 5 * math.sqrt(expected)
    assert counts[0] == 0  # an accidental hit is left out


@pytest.mark.parametrize(("count", "temperature"), [(0, 1.0), (5, 0.0), (5, -1.0)])
def test_impossible_settings_are_refused(count: int, temperature: float) -> None:
    with pytest.raises(InputError, match="expected"):
        SampledSoftmax(count, temperature)
