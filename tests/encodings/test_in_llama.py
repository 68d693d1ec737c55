"""ClockRoPE in a Llama of transformers, by the code of docs/clock.md: exact, shift invariant, cached."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import DynamicCache, LlamaForCausalLM
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from rota.encodings import ClockRoPE, RoPE, Split
from rota.errors import InputError
from rota.kernels import WrappedGaussian
from rota.rotary import rotate
from rota.rotary.reference import lattice_turns_reference, real_turns_reference, rotate_reference
from test_docs import ROOT, run_page

HEADS, KV_HEADS, WIDTH, LENGTH = 4, 2, 32, 12
DAY = 86_400
HIDDEN = torch.zeros(2, LENGTH, HEADS * WIDTH)  # Llama's rotary_emb looks at its shape and dtype


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the page's examples leave behind; among it a Llama with a clock."""
    return run_page(ROOT / "docs" / "clock.md")


@pytest.fixture(scope="module")
def model(names: dict[str, Any]) -> LlamaForCausalLM:
    llama: LlamaForCausalLM = names["model"]
    return llama.requires_grad_(False)


@pytest.fixture
def items() -> Tensor:
    return torch.randint(100, (2, LENGTH), generator=torch.Generator().manual_seed(1))


@pytest.fixture
def time() -> Tensor:
    """Events that are days apart, and after the last the time of the next."""
    gaps = torch.randint(DAY, 9 * DAY, (2, LENGTH + 1), generator=torch.Generator().manual_seed(2))
    return 1_700_000_000 + gaps.cumsum(1)


def with_another_first(items: Tensor) -> Tensor:
    changed = items.clone()
    changed[:, 0] = (items[:, 0] + 1) % 100
    return changed


def features() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(3)
    q = torch.randn(2, HEADS, LENGTH, WIDTH, generator=generator)
    return q, torch.randn(2, KV_HEADS, LENGTH, WIDTH, generator=generator)


def in_rotas_layout(x: Tensor) -> Tensor:
    """Llama's pairs ``(j, pairs + j)`` as ``(2j, 2j + 1)``."""
    return torch.stack(x.chunk(2, -1), -1).flatten(-2)


def by_fractions(rotary: Any, position: Tensor, time: Tensor) -> Tensor:
    order = real_turns_reference(position[..., None], rotary.order.cycles_per_position)
    clock = lattice_turns_reference(time[..., None], rotary.clock.harmonics[0], rotary.clock.periods)
    return torch.cat((order, clock), -1).unsqueeze(1)


def test_it_rotates_as_rota_does(names: dict[str, Any], model: LlamaForCausalLM, time: Tensor) -> None:
    rotary, position, own = names["rotary"], torch.arange(LENGTH), time[:, :-1]
    rotary.time = rotary.query_time = own
    q, k = features()
    found = apply_rotary_pos_emb(q, k, *rotary(HIDDEN, position[None]))
    own_split = Split([RoPE(), ClockRoPE([WrappedGaussian("24h", "2h")])]).build(head_dim=WIDTH, num_heads=1)
    turns = rotary.turns(position[None], own).unsqueeze(1)
    exact = by_fractions(rotary, position.expand(2, -1), own)
    for x, rotated in zip((q, k), found, strict=True):
        for head in range(x.shape[1]):
            one = slice(head, head + 1)
            wanted = own_split.rotate_key(in_rotas_layout(x[:, one]), time=own)
            torch.testing.assert_close(in_rotas_layout(rotated[:, one]), wanted, rtol=0, atol=2e-6)
        torch.testing.assert_close(rotated, rotate(x, turns, layout="half"), rtol=0, atol=2e-6)
        wanted = rotate_reference(x, exact, layout="half").float()
        torch.testing.assert_close(rotated, wanted, rtol=0, atol=5e-6)


def test_a_query_asks_at_its_own_now(names: dict[str, Any], model: LlamaForCausalLM, time: Tensor) -> None:
    rotary, position = names["rotary"], torch.arange(LENGTH)
    rotary.time, rotary.query_time = time[:, :-1], time[:, 1:]
    q, k = features()
    ahead = rotary.ask(torch.nn.Identity(), (), q.transpose(1, 2).flatten(2))
    ahead = ahead.unflatten(-1, (HEADS, WIDTH)).transpose(1, 2)
    found, _ = apply_rotary_pos_emb(ahead, k, *rotary(HIDDEN, position[None]))
    exact = by_fractions(rotary, position.expand(2, -1), time[:, 1:])
    wanted = rotate_reference(q, exact, layout="half").float()
    torch.testing.assert_close(found, wanted, rtol=0, atol=5e-6)


@pytest.mark.parametrize("use_cache", [False, True])
def test_attention_crosses_events_that_are_days_apart(
    model: LlamaForCausalLM, items: Tensor, time: Tensor, use_cache: bool
) -> None:
    both = [
        model(some, time=time[:, :-1], use_cache=use_cache).logits
        for some in (items, with_another_first(items))
    ]
    assert (both[0] - both[1]).abs().amax((0, 2)).min() > 1e-3  # of every later position


def test_every_event_has_weight(model: LlamaForCausalLM, items: Tensor, time: Tensor) -> None:
    model.set_attn_implementation("eager")
    try:
        weights = model(items, time=time[:, :-1], use_cache=False, output_attentions=True).attentions
    finally:
        model.set_attn_implementation("sdpa")
    seen = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    assert len(weights) == 2
    for layer in weights:
        assert torch.equal(layer > 0, seen.expand_as(layer))


def test_times_as_position_ids_would_cut_the_history(
    names: dict[str, Any], items: Tensor, time: Tensor
) -> None:
    """What the page warns of: transformers takes jumps for borders of documents, where it has no cache."""
    plain = LlamaForCausalLM(names["config"]).eval()

    def last(some: Tensor, position: Tensor, use_cache: bool) -> Tensor:
        with torch.no_grad():
            logits: Tensor = plain(some, position_ids=position, use_cache=use_cache).logits
        return logits[:, -1]

    changed, jumps, steps = with_another_first(items), time[:, :-1], torch.arange(LENGTH).expand(2, -1)
    assert torch.equal(last(items, jumps, False), last(changed, jumps, False))
    for position, use_cache in ((steps, False), (steps, True), (jumps, True)):
        assert not torch.allclose(last(items, position, use_cache), last(changed, position, use_cache))


@pytest.mark.parametrize("shift", [1_000_000_000, -1_000_000_000, 10**12 + 7])
def test_only_gaps_matter(model: LlamaForCausalLM, items: Tensor, time: Tensor, shift: int) -> None:
    for asked in ({}, {"query_time": time[:, 1:]}):
        later = {name: when + shift for name, when in asked.items()}
        torch.testing.assert_close(
            model(items, time=time[:, :-1] + shift, **later).logits,
            model(items, time=time[:, :-1], **asked).logits,
        )


def test_time_and_order_both_matter(model: LlamaForCausalLM, items: Tensor, time: Tensor) -> None:
    own = time[:, :-1]
    logits = model(items, time=own).logits
    moved = own.clone()
    moved[:, 0] += 6 * 3600
    assert (model(items, time=moved).logits - logits)[:, 1:].abs().max() > 1e-4
    whole_days = torch.full_like(own, DAY) * torch.arange(LENGTH)  # alike to the clock
    swapped = items[:, [1, 0, *range(2, LENGTH)]]
    last = [model(some, time=whole_days).logits[:, -1] for some in (items, swapped)]
    assert (last[0] - last[1]).abs().max() > 1e-4


def test_cached_one_event_at_a_time(
    names: dict[str, Any], model: LlamaForCausalLM, items: Tensor, time: Tensor
) -> None:
    own, cache, steps = time[:, :-1], DynamicCache(config=names["config"]), []
    for event in range(LENGTH):
        one = slice(event, event + 1)
        steps.append(model(items[:, one], time=own[:, one], cache=cache).logits)
    torch.testing.assert_close(torch.cat(steps, 1), model(items, time=own, use_cache=False).logits)


@pytest.mark.parametrize("forgets", [True, False])
def test_cached_with_a_moving_now(
    names: dict[str, Any], model: LlamaForCausalLM, items: Tensor, time: Tensor, forgets: bool
) -> None:
    """Asked at three instants before each event; the last position's keys have seen now, so they go."""
    own, cache = time[:, :-1], DynamicCache(config=names["config"])
    model(items[:, :1], time=own[:, :1], query_time=own[:, :1] + 60, cache=cache)
    for event in range(1, LENGTH):
        if forgets:
            cache.crop(-1)
        two = slice(event - forgets, event + 1)
        for hours in (1, 5, 11):
            asked = torch.cat((own[:, two][:, 1:], own[:, event : event + 1] + 3600 * hours), 1)
            step = model(items[:, two], time=own[:, two], query_time=asked, cache=cache).logits[:, -1]
            known = torch.cat((own[:, 1 : event + 1], asked[:, -1:]), 1)
            seen = slice(0, event + 1)
            wanted = model(items[:, seen], time=own[:, seen], query_time=known, use_cache=False).logits[:, -1]
            if forgets:
                torch.testing.assert_close(step, wanted)
            if hours < 11:
                cache.crop(two.start - two.stop)
    assert torch.allclose(step, wanted, atol=1e-5) == forgets  # the trap is real


def test_left_padding_brings_its_own_times(model: LlamaForCausalLM, items: Tensor, time: Tensor) -> None:
    own = time[:, :-1]
    padded = torch.cat((torch.zeros(2, 3, dtype=torch.int64), items), 1)
    times = torch.cat((own[:, :1].expand(-1, 3), own), 1)
    mask = torch.ones_like(padded)
    mask[:, :3] = 0
    found = model(padded, time=times, attention_mask=mask).logits[:, 3:]
    torch.testing.assert_close(found, model(items, time=own).logits)


def test_bfloat16_keeps_the_clock(names: dict[str, Any], time: Tensor) -> None:
    rotary = names["RotaryClock"](WIDTH, [WrappedGaussian("24h", "2h")]).to(torch.bfloat16)
    rotary.time = rotary.query_time = time[:, :-1]
    cosine, sine = rotary(HIDDEN.bfloat16(), torch.arange(LENGTH)[None])
    exact = by_fractions(rotary, torch.arange(LENGTH).expand(2, -1), time[:, :-1])[:, 0]
    angle = 2 * torch.pi * torch.cat((exact, exact), -1)
    assert cosine.dtype == torch.bfloat16
    assert (cosine.double() - angle.cos()).abs().max() < 2.1e-3
    assert (sine.double() - angle.sin()).abs().max() < 2.1e-3


def test_it_comes_back_from_a_checkpoint(
    names: dict[str, Any], model: LlamaForCausalLM, items: Tensor, time: Tensor, tmp_path: Path
) -> None:
    model.save_pretrained(tmp_path)
    loaded = LlamaForCausalLM.from_pretrained(tmp_path).eval()
    names["RotaryClock"](WIDTH, [WrappedGaussian("24h", "2h")]).put_into(loaded)
    with torch.no_grad():
        found = loaded(items, time=time[:, :-1]).logits
    torch.testing.assert_close(found, model(items, time=time[:, :-1]).logits)


def test_it_trains(names: dict[str, Any], items: Tensor, time: Tensor) -> None:
    llama = LlamaForCausalLM(names["config"]).train()
    names["RotaryClock"](WIDTH, [WrappedGaussian("24h", "2h")]).put_into(llama)
    optimizer = torch.optim.AdamW(llama.parameters(), lr=1e-3)
    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        loss = llama(items, time=time[:, :-1], query_time=time[:, 1:], labels=items, use_cache=False).loss
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.9 * losses[0]


def test_times_that_are_missing_or_do_not_fit(model: LlamaForCausalLM, items: Tensor, time: Tensor) -> None:
    with pytest.raises(KeyError, match="time"):
        model(items)
    for wrong in (time, time[:, :1], time[:1, :-1]):
        with pytest.raises(ValueError, match="times of shape"):
            model(items, time=wrong)
        with pytest.raises(ValueError, match="times of shape"):
            model(items, time=time[:, :-1], query_time=wrong)


@pytest.mark.usefixtures("unchecked_shapes")
def test_float_times_are_refused(model: LlamaForCausalLM, items: Tensor, time: Tensor) -> None:
    with pytest.raises(InputError, match=r"time is torch\.float32"):
        model(items, time=time[:, :-1].float())
