"""The full softmax in blocks: exact, and in little memory."""

import subprocess
import sys
from textwrap import dedent

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from rota.training.losses.full_softmax import FullSoftmax


def example(
    targets: int, items: int, dim: int = 6, dtype: torch.dtype = torch.float64
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(targets + items)
    features = torch.randn(targets, dim, dtype=dtype, generator=generator, requires_grad=True)
    table = torch.randn(items, dim, dtype=dtype, generator=generator, requires_grad=True)
    return features, torch.randint(items, (targets,), generator=generator), table


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 40), st.integers(1, 50), st.integers(1, 3000), st.floats(0.05, 5))
def test_any_block_gives_the_same(targets: int, items: int, at_once: int, temperature: float) -> None:
    features, followed, table = example(targets, items)
    each = FullSoftmax(temperature, at_once).each(features, followed, table, torch.Generator())
    wanted = cross_entropy(features @ table.T / temperature, followed, reduction="none")
    torch.testing.assert_close(each, wanted, rtol=1e-10, atol=1e-10)
    weights = torch.linspace(-1, 2, targets, dtype=torch.float64)
    found = torch.autograd.grad(each @ weights, (features, table))
    expected = torch.autograd.grad(wanted @ weights, (features, table))
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


def test_more_targets_than_a_block_has_rows() -> None:
    features, followed, table = example(1500, 700, dtype=torch.float32)
    loss = FullSoftmax(logits_at_once=2**15)(features, followed, table, torch.Generator())
    wanted = cross_entropy(features @ table.T, followed)
    torch.testing.assert_close(loss, wanted, rtol=1e-6, atol=0)
    found = torch.autograd.grad(loss, (features, table))
    expected = torch.autograd.grad(wanted, (features, table))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-8)


def test_autocast_is_as_exact_as_the_plain_loss_under_it() -> None:
    features, followed, table = example(64, 300, dim=32, dtype=torch.float32)
    exact = cross_entropy(features.double() @ table.double().T, followed)
    wanted = torch.autograd.grad(exact, (features, table))
    errors = []
    for loss in (FullSoftmax(logits_at_once=4096), None):
        with torch.autocast("cpu", torch.bfloat16):
            value = (
                cross_entropy(features @ table.T, followed)
                if loss is None
                else loss(features, followed, table, torch.Generator())
            )
        found = torch.autograd.grad(value, (features, table))
        assert all(gradient.dtype == torch.float32 for gradient in found)
        errors.append([float((a - b).norm() / b.norm()) for a, b in zip(found, wanted, strict=True)])
        assert value.item() == pytest.approx(exact.item(), rel=1e-2)
    ours, plain = errors
    assert 1e-6 < max(ours) < 0.02  # products were indeed taken in bfloat16
    assert all(one < 1.5 * other for one, other in zip(ours, plain, strict=True))


def test_autocast_leaves_float64_alone() -> None:
    features, followed, table = example(9, 30)
    with torch.autocast("cpu", torch.bfloat16):
        value = FullSoftmax(logits_at_once=64)(features, followed, table, torch.Generator())
    torch.testing.assert_close(value, cross_entropy(features @ table.T, followed))


@pytest.mark.slow
def test_a_million_items_fit() -> None:
    """2,400 targets: the matrix of logits, with its gradient, would be 19 GB."""
    code = """
        import re, torch
        from pathlib import Path
        from torch.nn.functional import cross_entropy
        from rota.training.losses.full_softmax import FullSoftmax

        def peak():  # MiB; getrusage would count what the parent process had
            return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) / 2**10
        generator = torch.Generator().manual_seed(0)
        items = torch.randn(10**6, 64, generator=generator).mul_(0.2).requires_grad_()
        features = torch.randn(2400, 64, generator=generator, requires_grad=True)
        targets = torch.randint(10**6, (2400,), generator=generator)
        FullSoftmax()(features[:8], targets[:8] % 9, items[:9].detach(), generator).backward()  # loads code
        features.grad = None
        before = peak()
        each = FullSoftmax().each(features, targets, items, generator)
        forward = peak() - before
        each.mean().backward()
        both = peak() - before
        some = slice(0, 2400, 200)
        part = cross_entropy(features[some].detach() @ items.detach().T, targets[some], reduction="none")
        print(forward, both, float((each[some].detach() - part).abs().max()))
        shares = torch.softmax(features[some].detach() @ items.detach().T, 1)
        shares[range(len(shares)), targets[some]] -= 1
        wanted = shares @ items.detach() / 2400
        print(float((features.grad[some] - wanted).norm() / wanted.norm()))
    """
    done = subprocess.run([sys.executable, "-c", dedent(code)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    forward, both, apart, slope_apart = map(float, done.stdout.split())
    gradient = 10**6 * 64 * 4 / 2**20  # of the embeddings: 244 MiB
    assert forward < 100
    assert gradient < both < gradient + 150
    assert apart < 1e-4
    assert slope_apart < 1e-4
