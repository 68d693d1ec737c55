"""KeyCache: one cached history asked at many instants, against attention in full."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from rota.attention import KeyCache
from rota.encodings import ClockRoPE, Encoding, LogitBias, RoPE, Rotation, Split, TRoPE
from rota.encodings.none import NoRotation
from rota.errors import InputError
from rota.kernels import WrappedGaussian

HEADS, KV_HEADS, WIDTH = 4, 2, 8
DAILY = ClockRoPE([WrappedGaussian("24h", "2h")])
ENCODINGS = [DAILY, RoPE(), Split([RoPE(), DAILY]), TRoPE()]


def built(encoding: Encoding) -> Rotation:
    return encoding.build(head_dim=WIDTH, num_heads=HEADS, num_kv_heads=KV_HEADS, seed=3)


def history(batch: int, length: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    k, v = torch.randn(2, batch, KV_HEADS, length, WIDTH, generator=generator)
    gaps = torch.randint(60, 200_000, (batch, length), generator=generator)
    return k, v, 1_700_000_000 + gaps.cumsum(1)


def in_full(
    rotation: Rotation,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    time: Tensor,
    now: Tensor,
    first: int = 0,
    last: int = 0,
) -> Tensor:
    """Attention over the events from ``first`` on by the plain formula, one key head at a time."""
    length = k.shape[2]
    position = torch.arange(length).expand(len(k), -1)
    rotated = rotation.rotate_key(k, time=time, position=position)[:, :, first:]
    asked = rotation.rotate_query(q, time=now, position=torch.full(now.shape, length - 1))
    out = torch.empty_like(q)
    for head in range(HEADS):
        group = head // (HEADS // KV_HEADS)
        logits = asked[:, head] @ rotated[:, group].mT / math.sqrt(WIDTH)
        out[:, head] = logits.softmax(-1) @ v[:, group, first:]
    return out


def cache_of(rotation: Rotation, batch: int, capacity: int, **options: object) -> KeyCache:
    return KeyCache(
        rotation, batch=batch, num_kv_heads=KV_HEADS, head_dim=WIDTH, capacity=capacity, **options
    )


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda encoding: type(encoding).__name__)
def test_one_history_asked_at_a_hundred_instants(encoding: Encoding) -> None:
    rotation = built(encoding)
    k, v, time = history(3, 20)
    cache = cache_of(rotation, 3, 20)
    cache.append(k[:, :, :12], v[:, :, :12], time=time[:, :12])
    for event in range(12, 20):
        one = slice(event, event + 1)
        cache.append(k[:, :, one], v[:, :, one], time=time[:, one])
    kept = cache.keys.clone()
    generator = torch.Generator().manual_seed(1)
    for _ in range(100):  # each user has a now of its own
        q = torch.randn(3, HEADS, 1, WIDTH, generator=generator)
        now = time[:, -1:] + torch.randint(0, 10**7, (3, 1), generator=generator)
        torch.testing.assert_close(cache.attend(q, now=now), in_full(rotation, q, k, v, time, now))
    assert torch.equal(cache.keys, kept)


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda encoding: type(encoding).__name__)
def test_a_window_that_slides(encoding: Encoding) -> None:
    rotation = built(encoding)
    k, v, time = history(2, 30)
    cache = cache_of(rotation, 2, 7)
    cache.append(k[:, :, :10], v[:, :, :10], time=time[:, :10])  # more than there is room for
    for event in range(10, 30):
        one = slice(event, event + 1)
        cache.append(k[:, :, one], v[:, :, one], time=time[:, one])
        q, now = torch.randn(2, HEADS, 1, WIDTH), time[:, one] + 5000
        seen = slice(0, event + 1)
        wanted = in_full(rotation, q, k[:, :, seen], v[:, :, seen], time[:, seen], now, first=event + 1 - 7)
        torch.testing.assert_close(cache.attend(q, now=now), wanted)


def test_eviction_by_time() -> None:
    rotation = built(DAILY)
    k, v, time = history(2, 15)
    cache = cache_of(rotation, 2, 15)
    cache.append(k, v, time=time)
    cache.evict(torch.stack((time[0, 4], time[1, 9])))
    q, now = torch.randn(2, HEADS, 1, WIDTH), time[:, -1:] + 100
    for user, first in enumerate((4, 9)):
        one = slice(user, user + 1)
        wanted = in_full(rotation, q[one], k[one], v[one], time[one], now[one], first=first)
        torch.testing.assert_close(cache.attend(q, now=now)[one], wanted)
    cache.evict(int(time.max()) + 1)
    with pytest.raises(InputError, match="user 0 of the batch has no event in the cache"):
        cache.attend(q, now=now)


def test_histories_of_different_lengths() -> None:
    rotation = built(Split([RoPE(), DAILY]))
    k, v, time = history(3, 12)
    lengths = torch.tensor([12, 5, 1])
    cache = cache_of(rotation, 3, 8)
    cache.append(k, v, time=time, lengths=lengths)
    cache.append(k[:, :, :2], v[:, :, :2], time=time[:, :2] + 10**7, lengths=torch.tensor([0, 2, 1]))
    assert cache.counts.tolist() == [12, 7, 2]
    q, now = torch.randn(3, HEADS, 1, WIDTH), time[:, -1:] + 2 * 10**7
    found = cache.attend(q, now=now)
    for user, (before, after) in enumerate(((12, 0), (5, 2), (1, 1))):
        one = slice(user, user + 1)
        keys = torch.cat((k[one, :, :before], k[one, :, :after]), 2)
        values = torch.cat((v[one, :, :before], v[one, :, :after]), 2)
        times = torch.cat((time[one, :before], time[one, :after] + 10**7), 1)
        wanted = in_full(rotation, q[one], keys, values, times, now[one], first=max(0, before + after - 8))
        torch.testing.assert_close(found[one], wanted)


def test_a_last_position_that_has_seen_another_now_is_refused() -> None:
    k, v, time = history(2, 6)
    cache = cache_of(built(DAILY), 2, 10, sees_now=True)
    asked = torch.cat((time[:, 1:5], time[:, 4:5] + 999), 1)  # the last of five stands at now
    five, sixth = slice(0, 5), slice(5, 6)
    with pytest.raises(InputError, match="pass query_time"):
        cache.append(k[:, :, five], v[:, :, five], time=time[:, five])
    cache.append(k[:, :, five], v[:, :, five], time=time[:, five], query_time=asked)
    cache.attend(torch.randn(2, HEADS, 1, WIDTH), now=time[:, 4:5] + 999)
    with pytest.raises(
        InputError, match=r"user 0 of the batch: a position was computed for now = .*drop_last"
    ):
        cache.append(k[:, :, sixth], v[:, :, sixth], time=time[:, sixth], query_time=time[:, sixth] + 5)
    cache.drop_last()
    last_two = slice(4, 6)  # the fifth computed anew for the sixth's time
    anew = torch.stack((time[:, 5], time[:, 5] + 77), 1)
    cache.append(k[:, :, last_two], v[:, :, last_two], time=time[:, last_two], query_time=anew)
    whole = cache_of(built(DAILY), 2, 10)
    whole.append(k, v, time=time)
    torch.testing.assert_close(cache.keys[:, :, :6], whole.keys[:, :, :6])
    assert cache.counts.tolist() == [6, 6]


def test_positions_that_disagree_within_one_call_are_refused() -> None:
    k, v, time = history(2, 3)
    cache = cache_of(built(DAILY), 2, 10, sees_now=True)
    wrong = torch.cat((time[:, 1:], time[:, -1:]), 1)
    wrong[1, 1] += 1
    with pytest.raises(InputError, match="user 1 of the batch"):
        cache.append(k, v, time=time, query_time=wrong)


class ByGap(NoRotation):
    cacheable = False


class Bias(LogitBias):
    def forward(
        self,
        query_time: Tensor | None,
        key_time: Tensor | None,
        query_position: Tensor | None = None,
        key_position: Tensor | None = None,
    ) -> Tensor:
        raise NotImplementedError


def test_what_cannot_be_cached_is_refused() -> None:
    with pytest.raises(InputError, match="ByGap rotates keys by more than their own time and position"):
        cache_of(ByGap(), 1, 4)
    from rota.encodings.split import SplitRotation

    with pytest.raises(InputError, match="SplitRotation rotates keys by more"):
        cache_of(SplitRotation([NoRotation(), ByGap()], [4, 4]), 1, 4)
    with pytest.raises(InputError, match="Bias is a bias of pairs"):
        cache_of(built(DAILY), 1, 4, bias=Bias())
    with pytest.raises(InputError, match="0 events: expected at least one"):
        cache_of(built(DAILY), 1, 0)


BAD: dict[str, tuple[Callable[[KeyCache, Tensor, Tensor, Tensor], object], str]] = {
    "batch": (lambda c, k, v, t: c.append(k[:1], v[:1], time=t[:1]), r"the cache expects \(2, 2, new, 8\)"),
    "no tensor": (
        lambda c, k, v, t: c.append(k, v, time=[1, 2]),
        r"time is \[1, 2\]: .* torch.int64 of shape",
    ),
    "no time": (lambda c, k, v, t: c.append(k, v, time=None), "time is None"),
    "float time": (lambda c, k, v, t: c.append(k, v, time=t.double()), "time is torch.float64"),
    "asked": (lambda c, k, v, t: c.append(k, v, time=t, query_time=t.float()), "query_time is torch.float32"),
    "floats": (lambda c, k, v, t: c.append(k, v, time=t, lengths=torch.ones(2)), "lengths is torch.float32"),
    "one length": (lambda c, k, v, t: c.append(k, v, time=t, lengths=t[:1, 0]), r"of shape \(1,\)"),
    "too long": (
        lambda c, k, v, t: c.append(k, v, time=t, lengths=torch.tensor([5, 3])),
        r"lengths \[5, 3\]: expected numbers from 0 to the 3 new events",
    ),
    "negative": (
        lambda c, k, v, t: c.append(k, v, time=t, lengths=torch.tensor([-2, 3])),
        r"lengths \[-2, 3\]",
    ),
    "float limit": (lambda c, k, v, t: c.evict(1_750_000_015.0), "before is 1750000015.0"),
    "two limits": (lambda c, k, v, t: c.evict(t), "before is torch.int64 of shape"),
    "no now": (lambda c, k, v, t: c.attend(torch.ones(2, 4, 1, 8), now=None), "now is None"),
    "float now": (
        lambda c, k, v, t: c.attend(torch.ones(2, 4, 1, 8), now=t[:, :1].float()),
        "now is torch.float32",
    ),
    "a user more": (lambda c, k, v, t: c.attend(torch.ones(3, 4, 1, 8), now=t[:, :1]), "queries of shape"),
    "odd heads": (lambda c, k, v, t: c.attend(torch.ones(2, 3, 1, 8), now=t[:, :1]), "a multiple of 2"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("encoding", [DAILY, RoPE()], ids=["clock", "rope"])
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    case: str, encoding: Encoding, unchecked_shapes: None
) -> None:
    wrong, says = BAD[case]
    k, v, time = history(2, 3)
    cache = cache_of(built(encoding), 2, 10)
    cache.append(k, v, time=time)
    before = [tensor.clone() for tensor in (cache.keys, cache.values, cache.times, cache.mask, cache.counts)]
    with pytest.raises(InputError, match=says) as caught:
        wrong(cache, k, v, time)
    assert "\n" not in str(caught.value)
    for old, new in zip(
        before, (cache.keys, cache.values, cache.times, cache.mask, cache.counts), strict=True
    ):
        assert torch.equal(old, new)


def test_sizes_that_the_rotation_was_not_built_for_are_refused() -> None:
    with pytest.raises(InputError, match="was built for"):
        KeyCache(built(DAILY), batch=1, num_kv_heads=KV_HEADS, head_dim=WIDTH + 2, capacity=4)
