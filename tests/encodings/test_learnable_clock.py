"""Frequencies that are trained: where they start, what their gradients are, and that they do train."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from rota.encodings import ClockRoPE, LearnableClock, LearnableRotation
from rota.errors import InputError
from rota.kernels import Cosine, WrappedGaussian
from rota.rotary import real_turns_reference, rotate_reference

DAILY, WEEKLY = WrappedGaussian("24h", "2h"), WrappedGaussian("7d", "14h")
NOW, HOUR, DAY = 1_700_000_000, 3600, 86_400
BOTH = ClockRoPE([DAILY, WEEKLY], fold=False)
FORMS = pytest.mark.parametrize("form", ["conditioned", "paper"])


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def times(*shape: int, seed: int = 0, days: int = 42) -> Tensor:
    return NOW + torch.randint(-days * DAY, 0, shape, generator=torch.Generator().manual_seed(seed))


def logits(module: torch.nn.Module, q: Tensor, k: Tensor, asked: Tensor, seen: Tensor) -> Tensor:
    turned_q, turned_k = module(q, k, query_time=asked, key_time=seen)
    return turned_q @ turned_k.mT


@FORMS
def test_it_starts_as_the_law_was_drawn(form: str) -> None:
    fixed = BOTH.build(head_dim=16, num_heads=4, layer=2, seed=3)
    module = LearnableClock(BOTH, form=form).build(head_dim=16, num_heads=4, layer=2, seed=3)
    torch.testing.assert_close(module.harmonics.detach(), fixed.harmonics.double(), rtol=1e-14, atol=1e-14)
    q, k, asked, seen = normal(2, 4, 5, 16), normal(2, 4, 5, 16, seed=1), times(2, 5), times(2, 5, seed=1)
    found = logits(module, q, k, asked, seen)
    torch.testing.assert_close(found, logits(fixed, q, k, asked, seen), rtol=0, atol=2e-5)


@FORMS
def test_from_zero_it_starts_without_a_rotation(form: str) -> None:
    module = LearnableClock(BOTH, "zero", form).build(head_dim=16, num_heads=4)
    q = normal(2, 4, 5, 16)
    assert torch.equal(module.rotate_query(q, time=times(2, 5)), q)


@FORMS
@pytest.mark.parametrize(("unit", "ticks"), [("s", 1), ("ms", 1000)])
def test_against_fractions_and_matrices(form: str, unit: str, ticks: int) -> None:
    clock = LearnableClock(BOTH, form=form, span="42d", origin=NOW - 20 * DAY)
    module = clock.build(head_dim=8, num_heads=4, num_kv_heads=2, unit=unit)
    module.values.data += 0.3 * normal(2, 4)
    asked, seen = times(2, 3) * ticks, times(2, 3, seed=1) * ticks + 1
    q, k = normal(2, 4, 3, 8), normal(2, 2, 3, 8, seed=1)
    turned = module(q, k, query_time=asked, key_time=seen)
    since = 0 if form == "paper" else (NOW - 20 * DAY) * ticks
    for x, out, time in zip((q, k), turned, (asked, seen), strict=True):
        for head in range(x.shape[1]):
            cycles = module.cycles_per_second[head * 2 // x.shape[1]].detach()
            turns = real_turns_reference((time - since)[..., None], cycles, ticks)
            torch.testing.assert_close(
                out[:, head].detach(), rotate_reference(x[:, head], turns), rtol=0, atol=5e-6
            )


@FORMS
def test_no_jump_at_midnight(form: str) -> None:
    """Harmonic 1.01: one minute across midnight is 0.00044 turns on; a residue of the day would say -0.01."""
    module = LearnableClock(ClockRoPE([Cosine("24h")]), form=form).build(head_dim=2, num_heads=1)
    module.values.data += 0.01 / DAY / module.step
    midnight = NOW - NOW % DAY
    x = torch.tensor([1.0, 0.0], dtype=torch.float64).expand(1, 1, 2, 2)
    before, after = module.rotate_key(x, time=torch.tensor([[midnight - 60, midnight]]))[0, 0].detach()
    turned = math.atan2(float(before[0] * after[1] - before[1] * after[0]), float(before @ after))
    assert turned == pytest.approx(2 * math.pi * 1.01 * 60 / DAY, abs=2e-6)


def plain_loss(module: LearnableRotation, values: np.ndarray, q: Tensor, k: Tensor, *at: Tensor) -> float:
    """A weighted sum of logits by Eq. 24-25 in float64, in differences of time, which lose nothing."""
    lags = (at[0][:, :, None] - at[1][:, None, :]).numpy()[:, None, ..., None] * 1.0
    cycles = module.start.numpy() + values * module.step
    angle = 2 * np.pi * lags * cycles[None, :, None, None, :]
    (q0, q1), (k0, k1) = ((x[..., ::2].numpy(), x[..., 1::2].numpy()) for x in (q, k))
    q0, q1, k0, k1 = q0[:, :, :, None], q1[:, :, :, None], k0[:, :, None], k1[:, :, None]
    terms = (q0 * k0 + q1 * k1) * np.cos(angle) + (q0 * k1 - q1 * k0) * np.sin(angle)
    return float((terms.sum(-1) * weights_of(q, k).numpy()).sum())


def weights_of(q: Tensor, k: Tensor) -> Tensor:
    return normal(q.shape[0], q.shape[1], q.shape[2], k.shape[2], seed=7)


@FORMS
@pytest.mark.parametrize("init", ["law", "zero"])
def test_gradient_against_finite_differences(form: str, init: str) -> None:
    clock = LearnableClock(BOTH, init, form, span="42d", origin=NOW - 21 * DAY)
    module = clock.build(head_dim=8, num_heads=2, seed=1)
    q, k, at = normal(2, 2, 5, 8), normal(2, 2, 5, 8, seed=1), (times(2, 5), times(2, 5, seed=1))
    (logits(module, q, k, *at) * weights_of(q, k)).sum().backward()
    values = module.values.detach().numpy()
    size = 1e-4 / (42 * DAY) / module.step  # a ten thousandth of a turn over the log
    numeric = np.zeros_like(values)
    for index in np.ndindex(*values.shape):
        for factor, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):  # of fourth order
            moved = values.copy()
            moved[index] += factor * size
            numeric[index] += weight * plain_loss(module, moved, q, k, *at) / (12 * size)
    tolerance = {"conditioned": 1e-5, "paper": 1e-3}[form]  # phases since 1970 round the gradient more
    np.testing.assert_allclose(module.values.grad, numeric, rtol=0, atol=tolerance * np.abs(numeric).max())


@FORMS
def test_gradient_at_zero_is_not_zero(form: str) -> None:
    """``2 pi (p_m - p_n) (q_0 k_1 - q_1 k_0)``, with time in hours, or in logs."""
    module = LearnableClock(BOTH, "zero", form, span="42d", origin=NOW).build(head_dim=4, num_heads=1)
    q, k = normal(1, 1, 1, 4), normal(1, 1, 1, 4, seed=1)
    asked, seen = torch.tensor([[NOW]]), torch.tensor([[NOW - 100_000]])
    logits(module, q, k, asked, seen).sum().backward()
    (q0, q1), (k0, k1) = (x.view(2, 2).unbind(-1) for x in (q, k))
    lag = 100_000 / (HOUR if form == "paper" else 42 * DAY)
    wanted = 2 * math.pi * lag * (q0 * k1 - q1 * k0)
    torch.testing.assert_close(module.values.grad[0], wanted, rtol=1e-6, atol=1e-9)
    assert (wanted != 0).all()


@pytest.mark.parametrize("optimiser", [torch.optim.Adam, torch.optim.AdamW])
def test_how_far_one_step_moves_phases(optimiser: type[torch.optim.Optimizer]) -> None:
    """The log's ends against each other by ``lr`` turns; in the paper's form today by hundreds of turns."""
    lr, moved = 1e-3, {}
    for form in ("conditioned", "paper"):
        clock = LearnableClock(BOTH, form=form, span="42d", origin=NOW - 21 * DAY)
        module = clock.build(head_dim=16, num_heads=2)
        before = module.cycles_per_second.detach().clone()
        q, k, at = normal(2, 2, 5, 16), normal(2, 2, 5, 16, seed=1), (times(2, 5), times(2, 5, seed=1))
        (logits(module, q, k, *at) * weights_of(q, k)).sum().backward()
        optimiser(module.parameters(), lr=lr, weight_decay=0).step()
        moved[form] = (module.cycles_per_second.detach() - before).abs()
    torch.testing.assert_close(moved["conditioned"] * 42 * DAY, torch.full((2, 8), lr).double())
    torch.testing.assert_close(
        moved["paper"] * NOW, torch.full((2, 8), lr * NOW / HOUR).double(), rtol=1e-6, atol=0
    )
    assert lr * NOW / HOUR == pytest.approx(472, abs=1)


def learn(form: str, dtype: torch.dtype = torch.float32, steps: int = 150) -> float:
    """Start a tenth of an hour off a routine's period, and return the period that is learnt, in hours."""
    true = 24.1 * HOUR
    clock = LearnableClock(ClockRoPE([Cosine("24h")]), form=form, span="42d", origin=NOW - 21 * DAY)
    module = clock.build(head_dim=2, num_heads=1).to(dtype)
    assert module.values.dtype == torch.float64
    x = torch.tensor([1.0, 0.0], dtype=dtype).expand(64, 1, 1, 2)
    optimiser = torch.optim.AdamW(module.parameters(), lr=0.01)
    for step in range(steps):
        asked, seen = times(64, 1, seed=2 * step), times(64, 1, seed=2 * step + 1)
        wanted = torch.cos(2 * math.pi * (asked - seen).double() / true)
        loss = (logits(module, x, x, asked, seen)[:, 0, 0, 0].double() - wanted[:, 0]).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return float(1 / module.cycles_per_second.detach()[0, 0]) / HOUR


def test_the_conditioned_form_trains_and_the_papers_does_not() -> None:
    assert learn("conditioned") == pytest.approx(24.1, abs=0.002)
    assert learn("conditioned", torch.bfloat16) == pytest.approx(24.1, abs=0.01)
    assert abs(learn("paper") - 24.1) > 0.1


def test_autocast_rounds_neither_phases_nor_gradients() -> None:
    gradients = []
    for cast in (False, True):
        module = LearnableClock(BOTH).build(head_dim=16, num_heads=2)
        q = normal(2, 2, 5, 16, dtype=torch.float32)
        with torch.autocast("cpu", torch.bfloat16, enabled=cast):
            turned = module.rotate_query(q, time=times(2, 5))
        (turned * normal(2, 2, 5, 16, seed=1, dtype=torch.float32)).sum().backward()
        gradients.append(module.values.grad)
    assert torch.equal(*gradients)


def test_logits_do_not_depend_on_the_origin_but_rounding_of_gradients_does() -> None:
    far, near = (
        LearnableClock(BOTH, origin=origin).build(head_dim=16, num_heads=2) for origin in (0, NOW - 21 * DAY)
    )
    q, k, at = normal(2, 2, 5, 16), normal(2, 2, 5, 16, seed=1), (times(2, 5), times(2, 5, seed=1))
    torch.testing.assert_close(logits(far, q, k, *at), logits(near, q, k, *at), rtol=0, atol=2e-5)
    off = []
    for module in (far, near):
        exact, rounded = (
            torch.autograd.grad(
                (logits(module, q.to(dtype), k.to(dtype), *at) * weights_of(q, k)).sum(), module.values
            )[0]
            for dtype in (torch.float64, torch.float32)
        )
        off.append(float((exact - rounded).norm() / exact.norm()))
    assert off[0] > 20 * off[1]
    assert off[1] < 1e-5


def test_a_checkpoint_brings_start_and_what_was_learnt() -> None:
    trained = LearnableClock(BOTH).build(head_dim=16, num_heads=2, seed=5)
    trained.values.data += normal(2, 8)
    assert set(trained.state_dict()) == {"values", "start"}
    other = LearnableClock(BOTH, "zero").build(head_dim=16, num_heads=2)
    other.load_state_dict(trained.state_dict())
    assert torch.equal(other.cycles_per_second, trained.cycles_per_second)
    assert trained.values.dtype == trained.start.dtype == torch.float64


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: LearnableClock(init="random"), "init 'random' of LearnableClock: expected \"law\" or"),
        (lambda: LearnableClock(form="free"), "form 'free' of LearnableClock: expected"),
        (lambda: LearnableClock(span="-1d"), "duration '-1d'"),
        (lambda: LearnableClock(origin=NOW * 1000), "expected seconds since 1970, up to the year 2100"),
        (lambda: LearnableClock(ClockRoPE([])), "ClockRoPE has no kernel"),
        (lambda: LearnableClock(BOTH).build(head_dim=2, num_heads=1), "larger head_dim"),
        (
            lambda: LearnableClock().build(head_dim=8, num_heads=1)(*[normal(1, 1, 2, 8)] * 2),
            "LearnableClock needs the time",
        ),
        (
            lambda: (
                LearnableClock()
                .build(head_dim=8, num_heads=2)
                .rotate_key(normal(1, 1, 3, 8), time=times(1, 3))
            ),
            "LearnableClock was built for 2 heads of 8 features",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(wrong: Callable[[], object], says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)


def test_a_clock_that_is_none_is_refused(unchecked_shapes: None) -> None:
    for wrong in ([Cosine("24h")], Cosine("24h"), None, ClockRoPE):
        with pytest.raises(
            InputError, match=r"of LearnableClock: expected a ClockRoPE; write .*\["
        ) as caught:
            LearnableClock(wrong)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=r"origin 1\.5 of LearnableClock: expected seconds since 1970"):
        LearnableClock(origin=1.5)  # type: ignore[arg-type]
