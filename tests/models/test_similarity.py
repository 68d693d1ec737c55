"""Similarity: products, or cosines over a temperature, whoever computes them."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rota.errors import InputError
from rota.models import Similarity
from rota.tables import from_table, to_table


@given(st.booleans(), st.floats(0.01, 10), st.integers(0, 10**6))
def test_the_product_of_both_sides_is_the_logit(normalised: bool, temperature: float, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(2, 3, 5, generator=generator, dtype=torch.float64)
    items = torch.randn(4, 5, generator=generator, dtype=torch.float64)
    similarity = Similarity(normalised=normalised, temperature=temperature)
    logits = similarity.of_features(features) @ similarity.of_items(items).T
    for row in range(2):
        for place in range(3):
            for item in range(4):
                one, two = features[row, place].tolist(), items[item].tolist()
                by_hand = math.fsum(a * b for a, b in zip(one, two, strict=True)) / temperature
                by_hand /= math.hypot(*one) * math.hypot(*two) if normalised else 1
                assert float(logits[row, place, item]) == pytest.approx(by_hand, rel=1e-9, abs=1e-9)


def test_plain_products_are_left_alone() -> None:
    features, items = torch.randn(2, 3), torch.randn(4, 3)
    assert Similarity().of_features(features) is features
    assert Similarity().of_items(items) is items


def test_nothing_has_no_direction_and_no_bad_gradient() -> None:
    nothing = torch.zeros(1, 3, requires_grad=True)
    cosine = Similarity(normalised=True, temperature=0.05)
    said = cosine.of_features(nothing) @ cosine.of_items(torch.ones(2, 3)).T
    assert (said == 0).all()
    said.sum().backward()
    assert nothing.grad is not None
    assert nothing.grad.isfinite().all()


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.inf, math.nan])
def test_no_such_temperature(temperature: float) -> None:
    with pytest.raises(
        InputError, match=f"temperature {temperature} of Similarity: expected a finite number"
    ):
        Similarity(temperature=temperature)


def test_it_is_a_table() -> None:
    similarity = Similarity(normalised=True, temperature=0.05)
    assert from_table(to_table(similarity), Similarity) == similarity
