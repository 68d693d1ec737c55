"""HeadSplit against its parts, and both combinations against what the paper and the issue ask of them."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from rota.encodings import (
    ClockRoPE,
    CombinedRotation,
    HeadSplit,
    HeadSplitRotation,
    LearnableClock,
    LearnableRoPE,
    NoEncoding,
    RoPE,
    Split,
    TRoPE,
    share_heads,
    share_pairs,
)
from rota.encodings.base import Encoding
from rota.encodings.site import Site
from rota.errors import InputError
from rota.kernels import WrappedGaussian

NOW = 1_700_000_000


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def times(*shape: int) -> Tensor:
    return NOW + torch.randint(0, 10**7, shape, generator=torch.Generator().manual_seed(3))


def test_each_part_gets_its_heads_and_a_draw_of_its_own() -> None:
    clock = ClockRoPE([WrappedGaussian("24h", "2h")])
    split = HeadSplit([RoPE(), clock, clock], shares=[0.5, 0.25, 0.25])
    module = split.build(head_dim=16, num_heads=8, num_kv_heads=4, layer=3, seed=9)
    assert isinstance(module, HeadSplitRotation)
    assert (module.query_heads, module.key_heads) == ([4, 2, 2], [2, 1, 1])
    q, k, time = normal(2, 8, 6, 16), normal(2, 4, 6, 16, seed=1), times(2, 6)
    turned_q, turned_k = module(q, k, time, time)
    whole = RoPE().build(head_dim=16, num_heads=4, num_kv_heads=2)
    assert torch.equal(turned_q[:, :4], whole.rotate_query(q[:, :4]))
    assert torch.equal(turned_k[:, :2], whole.rotate_key(k[:, :2]))
    for part in (1, 2):
        alone = clock.rotation(Site(16, 2, 1, 3, 9, "s", path=(part,)))
        of_query, of_key = slice(2 + 2 * part, 4 + 2 * part), slice(part + 1, part + 2)
        assert torch.equal(turned_q[:, of_query], alone.rotate_query(q[:, of_query], time=time))
        assert torch.equal(turned_k[:, of_key], alone.rotate_key(k[:, of_key], time=time))
    one, two = (module.parts[part].harmonics for part in (1, 2))
    assert not torch.equal(one, two)


@settings(deadline=None, max_examples=60)
@given(counts=st.lists(st.integers(1, 5), min_size=1, max_size=5), group=st.integers(1, 3))
def test_groups_stay_together(counts: list[int], group: int) -> None:
    """Any number of parts and shares: a query head is rotated as the key head of its group."""
    heads = sum(counts)
    clock = ClockRoPE([WrappedGaussian("24h", "2h")])
    split = HeadSplit([clock] * len(counts), [count / heads for count in counts])
    module = split.build(head_dim=4, num_heads=heads * group, num_kv_heads=heads)
    assert isinstance(module, HeadSplitRotation)
    assert module.key_heads == counts
    k, time = normal(1, heads, 3, 4), times(1, 3)
    q = k.repeat_interleave(group, 1)
    turned_q, turned_k = module(q, k, time, time)
    assert torch.equal(turned_q, turned_k.repeat_interleave(group, 1))


@settings(deadline=None)
@given(
    pairs=st.integers(1, 64),
    weights=st.lists(st.integers(1, 9), min_size=1, max_size=6),
)
def test_pairs_are_dealt_to_the_last_one_and_nobody_is_off_by_a_pair(pairs: int, weights: list[int]) -> None:
    shares = [weight / sum(weights) for weight in weights]
    try:
        counts = share_pairs(pairs, len(shares), shares)
    except InputError:
        assert min(shares) * pairs < 1  # somebody would get none
        return
    assert sum(counts) == pairs
    assert all(abs(count - share * pairs) < 1 for count, share in zip(counts, shares, strict=True))


@pytest.mark.parametrize("kind", [Split, HeadSplit])
def test_parts_may_learn_and_nest(kind: Callable[[list[Encoding]], Encoding]) -> None:
    module = kind([LearnableRoPE(), LearnableClock(), HeadSplit([TRoPE()]), Split([NoEncoding(), RoPE()])])
    rotation = module.build(head_dim=32, num_heads=4)
    assert isinstance(rotation, CombinedRotation)
    q, k, time = normal(2, 4, 5, 32), normal(2, 4, 5, 32, seed=1), times(2, 5)
    turned_q, turned_k = rotation(q, k, time, time)
    (turned_q @ turned_k.mT).square().sum().backward()
    learned = dict(rotation.named_parameters())
    assert len(learned) == 4  # two of T-RoPE
    assert all(value.grad is not None and bool(value.grad.abs().max() > 0) for value in learned.values())


def test_heads_and_features_are_not_the_same() -> None:
    parts = [RoPE(), ClockRoPE([WrappedGaussian("24h", "2h")])]
    q, time = normal(1, 2, 4, 8), times(1, 4)
    by_head, by_feature = (
        kind(parts).build(head_dim=8, num_heads=2).rotate_query(q, time=time) for kind in (HeadSplit, Split)
    )
    assert not torch.allclose(by_head, by_feature)


@pytest.mark.parametrize(
    ("heads", "parts", "shares", "counts"),
    [
        (8, 2, None, [4, 4]),
        (6, 3, None, [2, 2, 2]),
        (4, 3, [0.5, 0.25, 0.25], [2, 1, 1]),
        (10, 3, [0.1 + 0.2, 0.6, 0.1], [3, 6, 1]),
        (1, 1, None, [1]),
    ],
)
def test_heads_by_hand(heads: int, parts: int, shares: list[float] | None, counts: list[int]) -> None:
    assert share_heads(heads, parts, shares) == counts


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (
            lambda: share_heads(4, 3),
            r"4 key heads among 3 parts give 1.333, 1.333, 1.333: .* multiples of 1/4",
        ),
        (lambda: share_heads(2, 3), "expected whole heads"),
        (lambda: share_heads(4, 2, [0.9, 0.1]), "give 3.6, 0.4"),
        (lambda: share_heads(4, 2, [0.5]), "summing to 1"),
        (lambda: HeadSplit([]), "HeadSplit has no parts"),
        (lambda: HeadSplit([RoPE(), TRoPE()]).build(head_dim=4, num_heads=8, num_kv_heads=1), "1 key heads"),
    ],
)
def test_what_does_not_divide_is_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)


def test_what_it_was_not_built_for_is_refused() -> None:
    for module, x, says in (
        (HeadSplit([RoPE(), NoEncoding()]).build(head_dim=8, num_heads=2), normal(1, 3, 4, 8), "for 2 heads"),
        (Split([RoPE(), NoEncoding()]).build(head_dim=8, num_heads=2), normal(1, 2, 4, 6), "8 features"),
    ):
        for rotate in (module.rotate_query, module.rotate_key):
            with pytest.raises(InputError, match=says):
                rotate(x)


def test_parts_that_are_no_list_are_refused(unchecked_shapes: None) -> None:
    for kind in (Split, HeadSplit):
        with pytest.raises(InputError, match=rf"write {kind.__name__}\(\[RoPE"):
            kind(RoPE())


@pytest.mark.parametrize("kind", [Split, HeadSplit])
@pytest.mark.parametrize(
    ("given", "says"),
    [
        (([RoPE(), "rope"],), r"plit part 1 is 'rope': expected an encoding; write for instance RoPE\(\)"),
        (([RoPE, ClockRoPE],), r"plit part 0 is the class RoPE: expected an encoding; write RoPE\(\)"),
        ((None,), r"plit parts None: expected a list of encodings; write \w+\(\[RoPE\(\), \.\.\.\]\)"),
        (("rope",), "plit parts 'rope': expected a list"),
        (([RoPE(), RoPE()], 0.5), r"shares 0\.5 of \w*plit: expected a list .* \[0\.5, 0\.5\]"),
        (([RoPE(), RoPE()], ["a", "b"]), r"shares \['a', 'b'\] of"),
        (([RoPE(), RoPE()], "half"), "shares 'half' of"),
    ],
)
def test_what_is_of_another_kind_is_refused(
    unchecked_shapes: None, kind: Callable[..., object], given: tuple[object, ...], says: str
) -> None:
    with pytest.raises(InputError, match=says) as caught:
        kind(*given)
    assert "\n" not in str(caught.value)


def test_shares_of_another_kind_are_refused_by_name(unchecked_shapes: None) -> None:
    for share in (share_pairs, share_heads):
        with pytest.raises(
            InputError, match="shares 'half' of 2 parts: expected a list of one positive number"
        ):
            share(8, 2, "half")  # type: ignore[arg-type]
