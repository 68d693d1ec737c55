"""RoPE against transformers; FoPE, LearnableRoPE and SIREN-RoPE against their formulas."""

import math
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from rota.encodings import ClockRoPE, Encoding, FoPE, HeadSplit, LearnableRoPE, RoPE, SIRENRoPE, Split
from rota.encodings.fope import WaveRotation
from rota.encodings.learnable_rope import LearnablePositionRotation
from rota.encodings.siren import SirenRotation
from rota.errors import InputError

NOW, DAY = 1_700_000_000, 86_400


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def halves(x: Tensor) -> Tensor:
    """Pairs ``(2j, 2j + 1)`` as transformers has them, ``(j, pairs + j)``."""
    return torch.cat((x[..., ::2], x[..., 1::2]), -1)


@pytest.mark.parametrize(("base", "width"), [(10_000.0, 64), (500_000.0, 128), (10_000.0, 6)])
def test_rope_is_transformers(base: float, width: int) -> None:
    config = LlamaConfig(
        hidden_size=2 * width,
        num_attention_heads=2,
        head_dim=width,
        rope_parameters={"rope_type": "default", "rope_theta": base},
    )
    q, k = (
        normal(2, 2, 300, width, dtype=torch.float32),
        normal(2, 2, 300, width, seed=1, dtype=torch.float32),
    )
    position = torch.arange(300)
    cosine, sine = LlamaRotaryEmbedding(config)(q, position[None])
    theirs = apply_rotary_pos_emb(halves(q), halves(k), cosine, sine)
    ours = RoPE(base).build(head_dim=width, num_heads=2)(q, k)
    for own, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(halves(own), other, rtol=0, atol=2e-4)  # they form angles in float32
    near = slice(0, 16)  # where float32 angles are good
    torch.testing.assert_close(halves(ours[0])[:, :, near], theirs[0][:, :, near], rtol=0, atol=5e-6)


def test_as_a_part_rope_has_the_ladder_of_its_own_features() -> None:
    split = Split([RoPE(), RoPE(base=500.0)], shares=[0.75, 0.25]).build(head_dim=16, num_heads=1)
    alone = RoPE().build(head_dim=12, num_heads=1)
    x = normal(1, 1, 9, 16)
    assert torch.equal(split.rotate_key(x)[..., :12], alone.rotate_key(x[..., :12]))


def fope_plainly(module: WaveRotation, x: Tensor, position: Tensor) -> Tensor:
    """Every pair of every head by its own sum over waves, in numpy."""
    out, group = x.clone().numpy(), x.shape[1] // module.cosine_mix.shape[0]
    theta = 2 * np.pi * module.cycles_per_position.numpy()
    for head in range(x.shape[1]):
        for at, place in enumerate(position.tolist()):
            for plane in range(module.cosine_mix.shape[2]):
                c = sum(np.cos(theta * place) * module.cosine_mix[head // group, :, plane].numpy())
                s = sum(np.sin(theta * place) * module.sine_mix[head // group, :, plane].numpy())
                a, b = x[:, head, at, 2 * plane].numpy(), x[:, head, at, 2 * plane + 1].numpy()
                out[:, head, at, 2 * plane], out[:, head, at, 2 * plane + 1] = a * c - b * s, b * c + a * s
    return torch.from_numpy(out)


def test_fope_against_the_plain_sum() -> None:
    module = FoPE(train_length=64).build(head_dim=16, num_heads=4, num_kv_heads=2, seed=3)
    assert isinstance(module, WaveRotation)
    q, k, position = normal(2, 4, 5, 16), normal(2, 2, 5, 16, seed=1), torch.tensor([0, 1, 7, 60, 1000])
    turned = module(q, k, None, None, position, position)
    for own, x in zip(turned, (q, k), strict=True):
        torch.testing.assert_close(own, fope_plainly(module, x, position), rtol=0, atol=1e-5)


def test_fope_keeps_no_wave_longer_than_training_and_does_not_double_the_rest() -> None:
    module = FoPE(train_length=512).build(head_dim=64, num_heads=2)
    assert isinstance(module, WaveRotation)
    periods = 1 / module.cycles_per_position
    assert float(periods.max()) <= 512
    ladder = [2 * math.pi * 10_000 ** (2 * j / 64) for j in range(32)]
    assert len(periods) == sum(period <= 512 for period in ladder) == 16
    assert module.cosine_mix.shape == (2, 16, 16)
    x = normal(1, 2, 9, 64)
    assert torch.equal(module.rotate_key(x)[..., 32:], x[..., 32:])  # the published code: (1 + i) x
    assert not torch.equal(module.cosine_mix, module.sine_mix)
    assert not torch.equal(module.cosine_mix[0], module.cosine_mix[1])


def test_fope_without_noise_is_rope_of_the_kept_waves() -> None:
    module, rope = (
        recipe.build(head_dim=16, num_heads=1) for recipe in (FoPE(train_length=64, gain=0.0), RoPE())
    )
    x = normal(1, 1, 50, 16)
    kept = sum(2 * math.pi * 10_000 ** (j / 8) <= 64 for j in range(8))
    assert kept == 3
    ours, theirs = module.rotate_key(x), rope.rotate_key(x)
    torch.testing.assert_close(ours[..., : 2 * kept], theirs[..., : 2 * kept], rtol=0, atol=1e-6)
    assert torch.equal(ours[..., 2 * kept :], x[..., 2 * kept :])


def test_fope_matrices_are_xavier_and_one_wave() -> None:
    module = FoPE(train_length=10**9, gain=0.5).build(head_dim=256, num_heads=16)
    assert isinstance(module, WaveRotation)
    mix = module.cosine_mix
    assert mix.shape == (16, 128, 64)
    own = torch.zeros(128, 64, dtype=torch.float64)
    own[torch.arange(64) * 2, torch.arange(64)] = 1
    noise = mix - own
    assert float(noise.std()) == pytest.approx(0.5 * math.sqrt(2 / 192), rel=0.01)
    assert abs(float(noise.mean())) < 1e-3


def test_learnable_rope_starts_as_rope_and_follows_its_frequencies() -> None:
    module = LearnableRoPE(base=500.0).build(head_dim=16, num_heads=4, num_kv_heads=2)
    assert isinstance(module, LearnablePositionRotation)
    q, k = normal(2, 4, 300, 16), normal(2, 2, 300, 16, seed=1)
    rope = RoPE(base=500.0).build(head_dim=16, num_heads=4, num_kv_heads=2)
    for own, other in zip(module(q, k), rope(q, k), strict=True):
        torch.testing.assert_close(own, other, rtol=0, atol=1e-6)
    with torch.no_grad():
        module.log_frequencies[1] += math.log(2.0)  # twice as fast: as far at half the positions
    twice = rope.rotate_key(k, position=2 * torch.arange(300))
    moved = module.rotate_key(k)
    torch.testing.assert_close(moved[:, 1], twice[:, 1], rtol=0, atol=2e-6)
    torch.testing.assert_close(moved[:, 0], rope.rotate_key(k)[:, 0], rtol=0, atol=1e-6)
    assert torch.equal(module.rotate_query(k.repeat_interleave(2, 1))[:, 2:], moved[:, [1, 1]])


def test_learnable_rope_s_gradient_is_the_derivative() -> None:
    """``d logit / d log theta = theta (p_q - p_k) (q_0 k_1 - q_1 k_0)`` of one pair, at ``theta = 1``."""
    module = LearnableRoPE().build(head_dim=2, num_heads=1)
    q, k = torch.tensor([[[[1.0, 0.5]]]]).double(), torch.tensor([[[[0.25, 2.0]]]]).double()
    at_q, at_k = torch.tensor([9]), torch.tensor([4])

    def logit() -> Tensor:
        turned_q, turned_k = module(q, k, None, None, at_q, at_k)
        return (turned_q * turned_k).sum()

    logit().backward()
    (parameter,) = module.parameters()
    assert parameter.grad is not None
    complex_q, complex_k = complex(1.0, 0.5), complex(0.25, 2.0)
    turn = complex(math.cos(5), math.sin(5))
    wanted = (1j * 5 * turn * complex_q * complex_k.conjugate()).real
    assert float(parameter.grad) == pytest.approx(wanted, abs=1e-5)


def siren_plainly(module: SirenRotation, time: int, position: int) -> np.ndarray:  # type: ignore[type-arg]
    """Radians of one token, from the calendar and loops over layers."""
    moment = datetime.fromtimestamp(time, UTC)
    second = (moment - moment.replace(hour=0, minute=0, second=0)).total_seconds()
    day = 2 * math.pi * second / DAY
    since_thursday = (moment.weekday() - 3) % 7  # the epoch was a Thursday
    week = 2 * math.pi * (since_thursday * DAY + second) / (7 * DAY)
    seen = np.array([math.cos(day), math.cos(week), math.sin(day), math.sin(week), time / 31_536_000 - 55])

    def network(part: torch.nn.Module, act: np.ufunc) -> np.ndarray:  # type: ignore[type-arg]
        x = seen
        for layer in range(3):
            x = part.weights[layer].detach().numpy() @ x + part.biases[layer].detach().numpy()  # type: ignore[index,operator]
            x = act(x) if layer < 2 else x
        return x

    smooth = network(module.smooth, lambda x: np.sin(10 * x))  # type: ignore[arg-type]
    sharp = network(module.sharp, lambda x: np.maximum(x, 0))  # type: ignore[arg-type]
    theta = 10_000.0 ** (-np.arange(len(smooth)) / len(smooth))
    return (smooth + sharp) * module.scale.detach().numpy() + module.order.item() * position * theta


def test_siren_against_the_plain_way() -> None:
    module = SIRENRoPE(width=16).build(head_dim=8, num_heads=2, seed=4)
    assert isinstance(module, SirenRotation)
    with torch.no_grad():
        module.order += 0.25
        module.scale += torch.linspace(-1, 1, 4)
    time = torch.tensor([[NOW, NOW + 12_345, NOW + 400 * DAY]])
    position = torch.tensor([0, 3, 70])
    x = normal(1, 2, 3, 8)
    turned = module.rotate_key(x, time=time, position=position)
    for at in range(3):
        angle = siren_plainly(module, int(time[0, at]), int(position[at]))
        pairs = x[0, :, at].view(2, 4, 2).numpy()
        wanted = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angle)
        own = torch.view_as_complex(turned[0, :, at].view(2, 4, 2)).detach().numpy()
        np.testing.assert_allclose(own, wanted, atol=2e-5)


def test_siren_learns_everything_that_it_has() -> None:
    module = SIRENRoPE(width=8).build(head_dim=8, num_heads=2)
    q, k = normal(2, 2, 6, 8), normal(2, 2, 6, 8, seed=1)
    time = NOW + torch.arange(12).view(2, 6) * 50_000
    turned_q, turned_k = module(q, k, time, time)
    (turned_q @ turned_k.mT).square().sum().backward()
    for name, value in module.named_parameters():
        assert value.grad is not None, name
        assert bool(value.grad.abs().max() > 0), name


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: FoPE(train_length=6), "train_length 6: no wave completes a turn"),
        (lambda: FoPE(base=1.0), "RoPE base 1.0"),
        (lambda: FoPE(gain=float("nan")), "gain nan of FoPE: expected a finite number of at least 0"),
        (lambda: FoPE(gain=-1.0), "gain -1.0 of FoPE"),
        (lambda: LearnableRoPE(base=0.5), "RoPE base 0.5"),
        (lambda: SIRENRoPE(base=-1.0), "RoPE base -1.0"),
        (lambda: SIRENRoPE(width=8.5), "width 8.5 and omega 10.0 of SIREN-RoPE: expected a whole number"),  # type: ignore[arg-type]
        (lambda: SIRENRoPE(omega=float("inf")), "omega inf of SIREN-RoPE: expected .* a finite one above 0"),
    ],
)
def test_recipes_that_do_not_work_are_refused(
    unchecked_shapes: None, made: Callable[[], Encoding], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        made().build(head_dim=8, num_heads=2)


def test_what_they_were_not_built_for_is_refused() -> None:
    with pytest.raises(InputError, match="width 0"):
        SIRENRoPE(width=0)
    with pytest.raises(InputError, match="above 0"):
        SIRENRoPE(omega=0.0)
    for recipe in (FoPE(), LearnableRoPE()):
        module = recipe.build(head_dim=8, num_heads=2)
        with pytest.raises(InputError, match="built for 2 heads of 8 features"):
            module.rotate_key(normal(1, 3, 4, 8))


@pytest.mark.slow
@pytest.mark.parametrize(
    "encoding",
    [FoPE(train_length=64), LearnableRoPE(), SIRENRoPE(width=8), HeadSplit([RoPE(), ClockRoPE()])],
    ids=["fope", "learnable_rope", "siren", "head_split"],
)
def test_compiled_equals_eager(unchecked_shapes: None, encoding: Encoding) -> None:
    module = encoding.build(head_dim=16, num_heads=4, num_kv_heads=2)
    q, k = normal(2, 4, 7, 16, dtype=torch.float32), normal(2, 2, 7, 16, seed=1, dtype=torch.float32)
    time = NOW + torch.arange(14).view(2, 7) * 10_000
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    for eager, fast in zip(module(q, k, time, time), compiled(q, k, time, time), strict=True):
        torch.testing.assert_close(eager, fast, rtol=0, atol=2e-6)
