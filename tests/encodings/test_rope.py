"""RoPE against the formula as it is written in the paper, and Split against its parts."""

import inspect
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from rota.encodings import ClockRoPE, NoEncoding, RoPE, Split, share_pairs
from rota.encodings.base import Encoding
from rota.encodings.site import Site
from rota.errors import InputError


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def classic(x: Tensor, position: Tensor, base: float) -> Tensor:
    """theta_i = base^(-2i/d); x cos + (-x2, x1) sin on interleaved pairs, in float64."""
    theta = base ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    angle = (position[:, None].double() * theta).repeat_interleave(2, -1)
    swapped = torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)
    return x.double() * angle.cos() + swapped.double() * angle.sin()


@pytest.mark.parametrize("base", [10_000.0, 500.0])
def test_against_the_formula(base: float) -> None:
    module = RoPE(base).build(head_dim=64, num_heads=2)
    q, k, position = normal(2, 2, 300, 64), normal(2, 2, 300, 64, seed=1), torch.arange(300)
    turned_q, turned_k = module(q, k)
    torch.testing.assert_close(turned_q.double(), classic(q, position, base), rtol=0, atol=3e-6)
    torch.testing.assert_close(turned_k.double(), classic(k, position, base), rtol=0, atol=3e-6)
    far = torch.arange(300) + 10**6
    turned = module.rotate_key(k, position=far)
    torch.testing.assert_close(turned.double(), classic(k, far, base), rtol=0, atol=3e-6)


def test_only_the_distance_matters_and_heads_are_alike() -> None:
    module = RoPE().build(head_dim=16, num_heads=2)
    q, k, position = normal(1, 2, 20, 16), normal(1, 2, 20, 16, seed=1), torch.arange(20)

    def logits(query: Tensor, key: Tensor) -> Tensor:
        turned_q, turned_k = module(q, k, query_position=query, key_position=key)
        return turned_q @ turned_k.mT

    near = logits(position, position)
    torch.testing.assert_close(logits(position + 5000, position + 5000), near, rtol=0, atol=2e-5)
    assert float((logits(position + 3, position) - near).abs().max()) > 0.1
    alike = module.rotate_query(normal(1, 1, 20, 16).expand(-1, 2, -1, -1))
    assert torch.equal(alike[:, 0], alike[:, 1])


def test_rows_may_have_positions_of_their_own() -> None:
    module = RoPE().build(head_dim=8, num_heads=2)
    k, position = normal(3, 2, 5, 8), torch.tensor([[0, 1, 2, 3, 4], [7, 8, 9, 10, 11], [4, 3, 2, 1, 0]])
    rows = [module.rotate_key(k[i : i + 1], position=position[i]) for i in range(3)]
    assert torch.equal(module.rotate_key(k, position=position), torch.cat(rows))


@pytest.mark.parametrize(
    ("position", "says"),
    [
        (torch.arange(5.0), r"positions are torch\.float32: RoPE expects torch\.int64"),
        (torch.ones(3, 5, dtype=torch.bool), r"positions are torch\.bool"),
        (torch.arange(4), r"positions of shape \(4,\).*RoPE expects \(length,\) or \(batch, length\)"),
        (torch.zeros(2, 5, dtype=torch.int64), r"positions of shape \(2, 5\)"),
        (torch.zeros(1, 5, dtype=torch.int64), r"positions of shape \(1, 5\)"),
    ],
)
def test_positions_that_do_not_fit_are_refused(position: Tensor, says: str) -> None:
    module, k = RoPE().build(head_dim=8, num_heads=2), normal(3, 2, 5, 8)
    for rotate in (module.rotate_query, module.rotate_key):
        with pytest.raises(InputError, match=says):
            inspect.unwrap(rotate.__func__)(module, k, position=position)


def test_split_gives_each_part_its_block_and_its_own_draw() -> None:
    clock = ClockRoPE()
    split = Split([RoPE(), clock, clock], shares=[0.5, 0.25, 0.25])
    module = split.build(head_dim=32, num_heads=4, num_kv_heads=2, layer=3, seed=9, unit="ms")
    assert module.widths == [16, 8, 8]
    x, time = normal(2, 4, 6, 32), 1_700_000_000_000 + torch.arange(12).view(2, 6) * 3_600_000
    turned = module.rotate_query(x, time=time)
    sizes = {"num_heads": 4, "num_kv_heads": 2, "layer": 3, "seed": 9, "unit": "ms"}
    assert torch.equal(turned[..., :16], RoPE().build(head_dim=16, **sizes).rotate_query(x[..., :16]))
    for part, block in ((1, slice(16, 24)), (2, slice(24, 32))):
        alone = clock.rotation(Site(8, 4, 2, 3, 9, "ms", path=(part,)))
        assert torch.equal(turned[..., block], alone.rotate_query(x[..., block], time=time))
    one, two = (module.parts[part].harmonics for part in (1, 2))
    assert not torch.equal(one, two)


@pytest.mark.parametrize(
    ("parts", "needs"),
    [
        ([RoPE(), NoEncoding()], False),
        ([RoPE(), ClockRoPE()], True),
        ([NoEncoding(), Split([RoPE(), ClockRoPE()])], True),
    ],
)
def test_split_needs_a_clock_where_a_part_does(parts: list[Encoding], needs: bool) -> None:
    assert Split(parts).needs_clock == needs
    assert Split(parts).build(head_dim=16, num_heads=1).needs_clock == needs


@pytest.mark.parametrize(
    ("pairs", "parts", "shares", "counts"),
    [
        (16, 2, None, [8, 8]),
        (7, 2, None, [4, 3]),
        (8, 3, None, [3, 3, 2]),
        (16, 3, [0.5, 0.25, 0.25], [8, 4, 4]),
        (10, 3, [0.55, 0.3, 0.15], [6, 3, 1]),  # 5.5, 3, 1.5: of equal remainders the earlier part's
        (10, 2, [0.1 + 0.2, 0.7], [3, 7]),
        (3, 3, None, [1, 1, 1]),
        (1, 1, [1.0], [1]),
    ],
)
def test_shares_by_hand(pairs: int, parts: int, shares: list[float] | None, counts: list[int]) -> None:
    assert share_pairs(pairs, parts, shares) == counts


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: share_pairs(8, 2, [0.5]), "one positive number each, summing to 1"),
        (lambda: share_pairs(8, 2, [0.5, 0.6]), "summing to 1"),
        (lambda: share_pairs(8, 2, [1.5, -0.5]), "positive"),
        (lambda: share_pairs(8, 2, [1.0, 0.0]), "positive"),
        (lambda: share_pairs(8, 2, [float("nan"), 0.5]), "positive"),
        (lambda: share_pairs(2, 3), "one part gets none; use a larger head_dim"),
        (lambda: share_pairs(4, 2, [0.95, 0.05]), "one part gets none"),
        (lambda: Split([]), "Split has no parts"),
        (lambda: Split([RoPE(), ClockRoPE()]).build(head_dim=2, num_heads=1), "one part gets none"),
        (lambda: RoPE(base=1.0).build(head_dim=4, num_heads=1), "RoPE base 1.0"),
    ],
)
def test_shares_that_do_not_fit_are_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("base", ["x", float("inf"), float("nan"), 1.0, None])
def test_a_base_that_makes_no_ladder_is_refused(unchecked_shapes: None, base: float) -> None:
    with pytest.raises(InputError, match=rf"RoPE base {base!r}: expected a finite number above 1") as caught:
        RoPE(base)
    assert "\n" not in str(caught.value)
