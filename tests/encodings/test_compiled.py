"""Encodings under torch.compile: one graph, the same numbers."""

import pytest
import torch

from rota.encodings import ClockRoPE, RoPE, Split, TRoPE
from rota.encodings.base import Encoding
from rota.kernels import Cosine, WrappedGaussian

CLOCK = ClockRoPE([WrappedGaussian("24h", "2h"), Cosine("7d")])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    "encoding", [CLOCK, TRoPE(), Split([RoPE(), CLOCK])], ids=["clock", "trope", "split"]
)
def test_compiled_equals_eager(unchecked_shapes: None, encoding: Encoding, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    time = torch.randint(-2_000_000_000, 2_000_000_000, (2, 7), generator=generator)
    q, k = (torch.randn(2, heads, 7, 16, generator=generator).to(dtype) for heads in (4, 2))
    module = encoding.build(head_dim=16, num_heads=4, num_kv_heads=2, seed=1)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    for eager, fast in zip(module(q, k, time, time), compiled(q, k, time, time), strict=True):
        assert eager.dtype == fast.dtype == dtype
        torch.testing.assert_close(eager, fast, rtol=0, atol=2e-6 if dtype == torch.float32 else 0.04)
