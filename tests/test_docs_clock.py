"""The page "Put a clock into your model": its models compute what it says. `test_docs` runs it, too."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import layer_norm, silu

from rota import Rotation
from test_docs import ROOT, run_page

PAGE = ROOT / "docs" / "clock.md"


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What the page's examples leave behind."""
    return run_page(PAGE)


def turned(rotation: Rotation, q: Tensor, k: Tensor, time: Tensor) -> tuple[Tensor, Tensor]:
    """Queries at the time of the next event, keys at their own."""
    return rotation.rotate_query(q, time=time[:, 1:]), rotation.rotate_key(k, time=time[:, :-1])


def test_the_attention_is_softmax_over_the_past(names: dict[str, Any]) -> None:
    attention, x, time = names["attention"], names["x"], names["time"]
    projected = attention.qkv(x)  # q, k, v, each of 4 heads of 32
    q, k, v = (
        torch.stack([projected[..., start + 32 * head :][..., :32] for head in range(4)], 1)
        for start in (0, 128, 256)
    )
    q, k = turned(attention.rotation, q, k, time)
    wanted = torch.zeros(2, 20, 128)
    for row in range(20):
        logits = torch.einsum("bhd,bhkd->bhk", q[:, :, row], k[:, :, : row + 1]) / math.sqrt(32)
        wanted[:, row] = torch.einsum("bhk,bhkd->bhd", logits.softmax(-1), v[:, :, : row + 1]).flatten(1)
    found = attention(x, time[:, 1:], time[:, :-1])
    torch.testing.assert_close(found, attention.out(wanted))


def test_the_hstu_layer_is_that_of_its_paper(names: dict[str, Any]) -> None:
    """Order u, v, q, k; SiLU of the logits over a constant N, without a scale; gated, normed, residual."""
    hstu, x, time = names["hstu"], names["x"], names["time"]
    u, v, q, k = silu(layer_norm(x, (128,), eps=1e-6) @ hstu.uvqk.weight.T).split(128, -1)
    heads = [torch.stack(part.split(32, -1), 1) for part in (q, k, v)]
    q, k = turned(hstu.rotation, heads[0], heads[1], time)
    attended = torch.zeros(2, 4, 20, 32)
    for i in range(20):
        for j in range(i + 1):
            weight = silu((q[:, :, i] * k[:, :, j]).sum(-1, keepdim=True)) / 31
            attended[:, :, i] += weight * heads[2][:, :, j]
    gated = u * layer_norm(torch.cat(attended.unbind(1), -1), (128,), eps=1e-6)
    found = hstu(x, query_time=time[:, 1:], key_time=time[:, :-1])
    torch.testing.assert_close(found, gated @ hstu.out.weight.T + hstu.out.bias + x)


@pytest.mark.parametrize("model", ["attention", "hstu"])
def test_no_event_sees_a_later_one(names: dict[str, Any], model: str) -> None:
    """Neither its features nor its time, but for the next event's time, at which a position asks."""
    layer, x, time = names[model], names["x"].clone(), names["time"].clone()
    before = layer(x, time[:, 1:], time[:, :-1])
    x[:, 10:] += 1
    time[:, 11:] += 5000
    after = layer(x, time[:, 1:], time[:, :-1])
    torch.testing.assert_close(after[:, :10], before[:, :10])
    assert (after[:, 10:] - before[:, 10:]).abs().amax(-1).min() > 1e-3


def test_time_matters_to_both(names: dict[str, Any]) -> None:
    x, time = names["x"], names["time"]
    for model in ("attention", "hstu"):
        asked = time[:, 1:] + torch.tensor([0] * 19 + [6 * 3600])
        moved = names[model](x, asked, time[:, :-1]) - names[model](x, time[:, 1:], time[:, :-1])
        assert torch.all(moved[:, :19] == 0)
        assert moved[:, 19].abs().max() > 1e-4


def test_each_refusal_says_what_to_do(names: dict[str, Any]) -> None:
    remedies = ("rotate all keys anew", "compute the attention in full", "drop_last(), compute it anew")
    for reason, remedy in zip(names["refused"], remedies, strict=True):
        assert remedy in reason


def test_what_it_tells_to_install_is_named_first() -> None:
    head = PAGE.read_text(encoding="utf-8").split("## ")[0]
    assert "pip install ." in head
    assert "pip install transformers" in head
