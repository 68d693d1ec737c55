"""HSTU's pointwise attention against loops over pairs, forward and backward, and what it keeps."""

import math

import pytest
import torch
from torch import Tensor

from rota.attention import Divisor, PointwiseAttention
from rota.encodings import (
    BiasRecipe,
    ClockRoPE,
    Encoding,
    LogitBias,
    NoEncoding,
    PositionBias,
    RoPE,
    Split,
    TimeBias,
    TRoPE,
)
from rota.errors import InputError

ROWS, HEADS, LENGTH, WIDTH, VALUES, NOW = 2, 2, 9, 8, 6, 1_700_000_000
ENCODINGS: dict[str, Encoding] = {
    "none": NoEncoding(),
    "rope": RoPE(),
    "clock": ClockRoPE(),
    "trope": TRoPE(),
    "split": Split([RoPE(), ClockRoPE()]),
}
BIASES: dict[str, BiasRecipe | None] = {
    "no bias": None,
    "position": PositionBias(spread=1.0),
    "time": TimeBias(position=False, spread=1.0),
    "both": TimeBias(spread=1.0),
}


def made(
    encoding: str = "none",
    bias: str = "no bias",
    divisor: str = "padded",
    *,
    max_len: int = 12,
    block: int = 64,
    slack: int = 11,
) -> PointwiseAttention:
    recipe = BIASES[bias]
    rotation = ENCODINGS[encoding].build(head_dim=WIDTH, num_heads=HEADS, seed=1)
    pairs = None if recipe is None else recipe.build(max_len=max_len, seed=2)
    attention = PointwiseAttention(
        rotation, pairs, max_len=max_len, divisor=divisor, slack=slack, block=block
    )
    return attention.double()


def inputs(length: int = LENGTH, rows: int = ROWS) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    q, k = torch.randn(2, rows, HEADS, length, WIDTH, generator=generator, dtype=torch.float64)
    v = torch.randn(rows, HEADS, length, VALUES, generator=generator, dtype=torch.float64)
    key_time = NOW + torch.randint(0, 10**6, (rows, length), generator=generator).sort(-1).values
    return q, k, v, torch.cat((key_time[:, 1:], key_time[:, -1:] + 700), 1), key_time


def pair_by_pair(
    attention: PointwiseAttention, q: Tensor, k: Tensor, v: Tensor, asked: Tensor, seen: Tensor
) -> tuple[Tensor, Tensor]:
    """Weights and their sums, one query and one event at a time, of those that it sees."""
    q, k = attention.rotation(q, k, asked, seen)
    weights, sums = [], []
    for row in range(q.shape[0]):
        for head in range(q.shape[1]):
            for i in range(q.shape[2]):
                n = attention.max_len + attention.slack if attention.divisor == "padded" else i + 1
                total, line = torch.zeros(v.shape[-1], dtype=v.dtype), []
                for j in range(i + 1):
                    logit = q[row, head, i] @ k[row, head, j]
                    if attention.bias is not None:
                        at, to = torch.tensor([i]), torch.tensor([j])
                        one = slice(row, row + 1)
                        bias = attention.bias(asked[one, i : i + 1], seen[one, j : j + 1], at, to)
                        logit = logit + bias.squeeze()
                    weight = logit / (1 + torch.exp(-logit)) / n
                    line.append(weight)
                    total = total + weight * v[row, head, j]
                sums.append(total)
                weights.append(torch.stack([*line, *[weight * 0] * (q.shape[2] - i - 1)]))
    return torch.stack(weights).view(*q.shape[:3], -1), torch.stack(sums).view(v.shape)


@pytest.mark.parametrize("block", [64, 4, 1])
@pytest.mark.parametrize("divisor", list(Divisor))
@pytest.mark.parametrize("bias", BIASES)
def test_against_pairs_forward_and_backward(bias: str, divisor: str, block: int) -> None:
    attention, (q, k, v, asked, seen) = made("rope", bias, divisor, block=block), inputs(6)
    found = []
    for compute in (attention.forward, lambda *given: pair_by_pair(attention, *given)[1]):
        given = [x.clone().requires_grad_() for x in (q, k, v)]
        attention.zero_grad()
        out = compute(*given, asked, seen)
        (out * torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)).sum().backward()
        learned = [p.grad.clone() for p in attention.parameters()]
        found.append([out.detach(), *[x.grad for x in given], *learned])
    assert len(found[0]) == 4 + {"no bias": 0, "position": 1, "time": 1, "both": 2}[bias]
    for fast, slow in zip(*found, strict=True):
        torch.testing.assert_close(fast, slow, rtol=0, atol=1e-12)
        assert float(slow.abs().max()) > 1e-3


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_rotation(encoding: str) -> None:
    attention, given = made(encoding, "both", block=2), inputs(5)
    weights, sums = pair_by_pair(attention, *given)
    torch.testing.assert_close(attention(*given), sums, rtol=0, atol=1e-12)
    q, k, v, *times = given
    plain = attention.weights(q, k, *times)
    torch.testing.assert_close(plain, weights, rtol=0, atol=1e-12)
    torch.testing.assert_close(plain @ v, sums, rtol=0, atol=1e-12)
    assert (plain < 0).any()


class PerHead(LogitBias):
    """A learned number for each head and pair, the same in all rows."""

    def __init__(self) -> None:
        super().__init__()
        numbers = torch.randn(1, HEADS, LENGTH, LENGTH, generator=torch.Generator().manual_seed(0))
        self.numbers = torch.nn.Parameter(numbers)

    def forward(self, query_time, key_time, query_position=None, key_position=None):  # type: ignore[no-untyped-def]
        return self.numbers


def test_a_bias_of_heads_and_numbers_that_are_given() -> None:
    """The gradient of a bias is summed over the axes that it does not have."""
    q, k, v, asked, seen = inputs()
    attention = PointwiseAttention(made().rotation, PerHead(), max_len=9, slack=0, block=4).double()
    attention(q, k, v, asked, seen).square().sum().backward()
    numbers = attention.bias.numbers
    again = numbers.detach().clone().requires_grad_()
    ((torch.nn.functional.silu(q @ k.mT + again).tril() / 9) @ v).square().sum().backward()
    torch.testing.assert_close(numbers.grad, again.grad, rtol=0, atol=1e-12)
    bare = PointwiseAttention(made().rotation, max_len=9, slack=0)
    torch.testing.assert_close(bare(q, k, v, None, None, numbers), attention(q, k, v, asked, seen))


def test_the_divisor_is_of_the_recipe_and_not_of_the_batch() -> None:
    q, k, v, asked, seen = inputs()
    total = made(max_len=9, slack=0)(q, k, v, asked, seen) * 9
    for max_len, slack in ((9, 11), (200, 11), (50, 0)):
        short = [x[..., :4, :] for x in (q, k, v)]
        got = made(max_len=max_len, slack=slack)(*short, asked[:, :4], seen[:, :4])
        torch.testing.assert_close(got, total[..., :4, :] / (max_len + slack), rtol=0, atol=1e-14)
    seen_by_each = torch.arange(1, 10)[:, None]
    by_length = made(divisor="length")(q, k, v, asked, seen)
    torch.testing.assert_close(by_length, total / seen_by_each, rtol=0, atol=1e-14)


@pytest.mark.parametrize("divisor", list(Divisor))
@pytest.mark.parametrize("bias", BIASES)
def test_what_comes_later_changes_nothing_before(bias: str, divisor: str) -> None:
    attention, given = made("clock", bias, divisor, block=4), inputs()
    before = attention(*given)
    later = [x.clone() for x in given]
    for x in later[:3]:
        x[:, :, 6:] += 1
    later[3][:, 6:] += 90_000
    later[4][:, 6:] += 40_000
    after = attention(*later)
    assert torch.equal(after[:, :, :6], before[:, :, :6])
    assert (after[:, :, 6:] != before[:, :, 6:]).any(-1).all()
    short = [x[:, :, :5] for x in given[:3]] + [x[:, :5] for x in given[3:]]
    torch.testing.assert_close(attention(*short), before[:, :, :5], rtol=0, atol=1e-14)
    q, k, _, *times = given
    assert (attention.weights(q, k, *times).triu(1) == 0).all()


def test_without_a_clock_a_bias_by_position_needs_none() -> None:
    attention, (q, k, v, asked, seen) = made("rope", "position"), inputs()
    assert torch.equal(attention(q, k, v, None, None), attention(q, k, v, asked, seen))


def test_pairs_are_not_kept() -> None:
    """For backward it keeps queries, keys and values, and the bias where there is one."""
    for bias, pairs in (("no bias", 0), ("time", 1)):
        attention, (q, k, v, asked, seen) = made(bias=bias, max_len=256), inputs(256, rows=1)
        kept: dict[int, int] = {}

        def keep(tensor: Tensor, kept: dict[int, int] = kept) -> Tensor:
            if tensor.is_floating_point():
                kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes() // 8
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            attention(q.requires_grad_(), k.requires_grad_(), v.requires_grad_(), asked, seen)
        features = HEADS * 256 * (2 * WIDTH + VALUES)
        assert features <= sum(kept.values()) - pairs * 256**2 < features + 1000


@pytest.mark.parametrize("how", ["cast", "autocast"])
@pytest.mark.parametrize("divisor", list(Divisor))
def test_bfloat16_counts_beyond_256(how: str, divisor: str) -> None:
    """Sums and divisors of many small parts: bfloat16 knows no 257."""
    length = 700
    attention = made("clock", "both", divisor, max_len=length)
    ones, time = torch.ones(1, HEADS, length, WIDTH).double(), torch.full((1, length), NOW)
    q, k, v = (ones * scale for scale in (0.2, 0.3, 1.0))
    exact = attention(q, k, v, time, time)
    given = [x.bfloat16().requires_grad_() for x in (q, k, v)]
    if how == "cast":
        rounded = attention.bfloat16()(*given, time, time)
    else:
        with torch.autocast("cpu", torch.bfloat16):
            rounded = attention.float()(*given, time, time)
    assert rounded.dtype == torch.bfloat16
    rough = {"cast": 0.1, "autocast": 0.02}[how]  # the bias is rounded too
    torch.testing.assert_close(rounded.double(), exact, rtol=rough, atol=1e-3)
    rounded.sum().backward()
    slopes = [x.clone().requires_grad_() for x in (q, k, v)]
    made("clock", "both", divisor, max_len=length)(*slopes, time, time).sum().backward()
    for narrow, wide in zip(given, slopes, strict=True):
        difference = (narrow.grad.double() - wide.grad).norm() / wide.grad.norm()
        assert float(difference) < rough


@pytest.mark.slow
@pytest.mark.parametrize("bias", ["no bias", "both"])
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")  # PyTorch's own
def test_compiled_equals_eager(bias: str, unchecked_shapes: None) -> None:
    attention, (q, k, v, asked, seen) = made("clock", bias, block=4), inputs()
    compiled = torch.compile(attention, fullgraph=True, backend="aot_eager")
    found = []
    for module in (compiled, attention):
        given = [x.clone().requires_grad_() for x in (q, k, v)]
        out = module(*given, asked, seen)
        out.square().sum().backward()
        found.append([out.detach(), *[x.grad for x in given]])
    for one, two in zip(*found, strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=1e-12)


def test_what_does_not_fit_is_refused() -> None:
    q, k, v, asked, seen = inputs()
    rotation = NoEncoding().build(head_dim=WIDTH, num_heads=HEADS)
    for name, wrong in (("max_len", 0), ("slack", -1), ("block", 0)):
        with pytest.raises(InputError, match=f"{name} {wrong}: expected a whole number of at least"):
            PointwiseAttention(rotation, **{"max_len": 9, name: wrong})
    with pytest.raises(InputError, match="divisor 'long': expected one of padded, length"):
        PointwiseAttention(rotation, max_len=9, divisor="long")
    with pytest.raises(InputError, match="ClockRoPE needs the time of each query"):
        made("clock")(q, k, v, None, None)
    with pytest.raises(InputError, match="the time bias needs the time of each query"):
        made("none", "time").weights(q, k, None, None)
    with pytest.raises(InputError, match=r"8 positions apart: .* max_len 5"):
        made("none", "position", max_len=5)(q, k, v, asked, seen)
    with pytest.raises(InputError, match="was built for 2 heads of 8 features"):
        made("rope")(q[..., :4], k[..., :4], v, asked, seen)


def test_weights_of_nothing_are_nothing() -> None:
    """SiLU is zero at zero: without softmax a query may attend to nothing, and slope there is a half."""
    attention, (_, _, v, asked, seen) = made(), inputs()
    zero = torch.zeros(ROWS, HEADS, LENGTH, WIDTH, dtype=torch.float64, requires_grad=True)
    assert not attention.weights(zero, zero, asked, seen).any()
    assert not attention(zero, zero, v, asked, seen).any()
    numbers = torch.zeros(1, 1, LENGTH, LENGTH, dtype=torch.float64, requires_grad=True)
    attention(zero, zero, torch.ones_like(v), asked, seen, numbers).sum().backward()
    half = ROWS * HEADS * VALUES / 2 / 23
    assert math.isclose(float(numbers.grad[0, 0, 5, 3]), half)
    assert not numbers.grad.triu(1).any()
