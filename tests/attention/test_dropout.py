"""Dropout: as many as asked, independent, unbiased, decided by PyTorch's seed, and in training alone."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2

from rota.attention.dropout import Dropout, dropout
from rota.errors import InputError

LEVELS = 2**16


@given(st.floats(0.0, 0.999), st.lists(st.integers(0, 9), max_size=4), st.integers(0, 2**32))
def test_what_is_kept_is_scaled_exactly(share: float, shape: list[int], seed: int) -> None:
    torch.manual_seed(seed)
    x = torch.randn(shape, dtype=torch.float64)
    kept = dropout(x, share, training=True)
    scale = LEVELS / (LEVELS - round(share * LEVELS)) if share else 1.0
    assert kept.shape == x.shape
    assert torch.equal(kept, torch.where(kept == 0, 0.0, x * scale))


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5, 0.9])
def test_as_many_are_dropped_as_asked(share: float) -> None:
    torch.manual_seed(0)
    size = 1_000_000
    dropped = int((dropout(torch.ones(size), share, training=True) == 0).sum())
    assert binomtest(dropped, size, share).pvalue > 1e-4
    assert dropped != round(size * share)


def test_features_are_dropped_by_themselves() -> None:
    """Neighbours, the four features of a word, and what lies a row apart: all pairs of states alike."""
    torch.manual_seed(1)
    kept = (dropout(torch.ones(1000, 1000), 0.3, training=True) > 0).numpy().ravel()
    for apart in (1, 2, 3, 4, 8, 1000):
        table = np.histogram2d(kept[:-apart], kept[apart:], bins=2)[0]
        wanted = np.outer([0.3, 0.7], [0.3, 0.7]) * table.sum()
        assert chi2.sf(((table - wanted) ** 2 / wanted).sum(), 3) > 1e-4


def test_the_seed_decides() -> None:
    def drawn(seed: int, times: int = 1) -> torch.Tensor:
        torch.manual_seed(seed)
        return torch.stack([dropout(torch.ones(64), 0.5, training=True) for _ in range(times)])

    one, two = drawn(0, 2)
    assert torch.equal(drawn(0)[0], one)
    assert not torch.equal(one, two)
    assert not torch.equal(drawn(1)[0], one)
    known = torch.tensor([float(bit) for bit in "0110111101000010"]) * 2
    assert torch.equal(one[:16], known)  # PyTorch and numpy draw alike everywhere


def test_gradients_fall_where_features_are_kept() -> None:
    x = torch.randn(50, 7, dtype=torch.float64, requires_grad=True)
    kept = dropout(x, 0.4, training=True)
    kept.sum().backward()
    assert torch.equal(x.grad * x, kept)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_of_any_precision(dtype: torch.dtype) -> None:
    kept = dropout(torch.ones(1000, dtype=dtype), 0.25, training=True)
    assert kept.dtype == dtype
    assert set(kept.tolist()) == {0.0, float(torch.tensor(4 / 3, dtype=dtype))}


def test_outside_training_nothing_is_dropped() -> None:
    x = torch.randn(9)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0).train()(x) is x
    assert repr(Dropout(0.25)) == "Dropout(p=0.25)"


@pytest.mark.parametrize("share", [-0.1, 1.0, 2.0])
def test_what_is_no_share_is_refused(share: float) -> None:
    with pytest.raises(InputError, match=r"dropout .*: expected a number from 0 up to 1"):
        Dropout(share)


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked_shapes")
def test_compiled_it_is_one_graph() -> None:
    layer = Dropout(0.5).train()
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    x = torch.randn(400, requires_grad=True)
    kept = compiled(x)
    kept.sum().backward()
    assert 100 < int((kept == 0).sum()) < 300
    assert torch.equal(kept, torch.where(kept == 0, 0.0, 2 * x))
    assert not torch.equal(kept, compiled(x))
    assert torch.equal(x.grad, torch.where(kept == 0, 0.0, 2.0))
