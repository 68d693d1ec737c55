"""T-RoPE's theorems, remarks and algorithms, written out; what they leave unsaid is measured beside them."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from rota.attention import SoftmaxAttention
from rota.batch import Window, collate
from rota.encodings import ROTE, ClockRoPE, CoefficientRotation, Encoding, RoPE, TORoPE, TRoPE
from rota.encodings.site import Site
from rota.rotary import rotate

NOW, DAY = 1_700_000_000, 86_400
TIED = TRoPE(coefficients="tied", keys="stationary")
ALPHAS = st.floats(-3, 3).map(lambda alpha: round(alpha, 3))


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def build(recipe: TRoPE, head_dim: int = 16, heads: int = 2, seed: int = 3) -> CoefficientRotation:
    return recipe.build(head_dim=head_dim, num_heads=heads, seed=seed)


def with_alphas(recipe: TRoPE, alpha_q: float, alpha_k: float, beta: float = 100.0) -> CoefficientRotation:
    """One plane, whose coefficients are these."""
    module = TRoPE(beta, beta, keys=recipe.keys).build(head_dim=2, num_heads=1)
    with torch.no_grad():
        module.query_coefficients.fill_(alpha_q), module.key_coefficients.fill_(alpha_k)
    return module


def logits(module: nn.Module, q: Tensor, k: Tensor, asked: Tensor, seen: Tensor) -> Tensor:
    turned_q, turned_k = module(q, k, asked, seen)
    return (turned_q @ turned_k.mT).detach() / math.sqrt(q.shape[-1])


def times(seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return NOW + torch.randint(0, 60 * DAY, (2, 7), generator=generator).sort(-1).values


@settings(max_examples=25)
@given(st.integers(-(10**9), 10**9), st.integers(0, 100))
def test_theorem_1_shared_coefficients_see_gaps_alone(shift: int, seed: int) -> None:
    module = build(TIED, seed=seed)
    q, k = (normal(2, 2, 7, 16, seed=i, dtype=torch.float32) for i in (0, 1))
    asked, seen = times(seed) + 3600, times(seed)
    change = logits(module, q, k, asked + shift, seen + shift) - logits(module, q, k, asked, seen)
    assert float(change.abs().max()) < 1e-5


@settings(max_examples=25)
@given(ALPHAS, ALPHAS, st.integers(0, 10**8))
def test_theorem_2_each_plane_turns_by_the_sum(alpha_q: float, alpha_k: float, lag: int) -> None:
    """Eq. 9: q . R(-(alpha_q t_q + alpha_k t_k) / beta) k."""
    module = with_alphas(TRoPE(), alpha_q, alpha_k)
    q, k = normal(1, 1, 1, 2), normal(1, 1, 1, 2, seed=1)
    asked, seen = torch.tensor([[NOW]]), torch.tensor([[NOW - lag]])
    turns = -(alpha_q * NOW + alpha_k * (NOW - lag)) / 100.0 / (2 * math.pi)
    phase = torch.tensor([turns], dtype=torch.float64)
    wanted = (q * rotate(k, phase)).sum() / math.sqrt(2)
    assert float(logits(module, q, k, asked, seen)) == pytest.approx(float(wanted), abs=2e-6)


def changes(module: CoefficientRotation, shift: int) -> float:
    """Largest change of the logits of (1, 0) and of (0, 1) when all times shift."""
    q = torch.eye(2, dtype=torch.float64).view(1, 1, 2, 2)
    time = torch.tensor([[NOW, NOW - 12_345]])
    return float(
        (logits(module, q, q, time + shift, time + shift) - logits(module, q, q, time, time)).abs().max()
    )


def test_theorem_2_a_common_shift_changes_logits_but_by_whole_turns() -> None:
    one_turn_a_day = 2 * math.pi * 100.0 / DAY
    module = with_alphas(TRoPE(), 0.4, one_turn_a_day - 0.4)
    assert changes(module, 5 * DAY) < 1e-5  # a coincidence modulo whole turns, not invariance
    assert changes(module, DAY // 2) > 0.5
    assert changes(build(TRoPE(), head_dim=2, heads=1), DAY // 2) > 0.05


def test_remark_1_unequal_coefficients_break_the_symmetry_too() -> None:
    stationary = TRoPE(keys="stationary")
    assert changes(with_alphas(stationary, 0.4, 0.4), 10_000) < 1e-5
    assert changes(with_alphas(stationary, 0.4, 0.7), 10_000) > 0.05
    assert changes(with_alphas(stationary, 0.4, -0.4), 10_000) > 0.05  # the sum of both times


def test_remark_3_opposite_coefficients_are_degenerate() -> None:
    assert changes(with_alphas(TRoPE(), 0.4, -0.4), 10_000) < 1e-5
    assert changes(with_alphas(TRoPE(), 0.4, 0.4), 10_000) > 0.05


@pytest.mark.parametrize("harmonic", [1, 3])
@pytest.mark.parametrize("recipe", [TRoPE(), TRoPE(keys="stationary")], ids=["sum", "gap"])
def test_corollary_1_logits_can_be_periodic_in_the_query_time(recipe: TRoPE, harmonic: int) -> None:
    """The gap's rotation, where alpha_q = alpha_k, has it too: it does not single T-RoPE out."""
    alpha = 2 * math.pi * harmonic / (7 * DAY) * 1e5
    module = with_alphas(recipe, alpha, alpha, beta=1e5)
    q, k = normal(1, 1, 8, 2), normal(1, 1, 1, 2, seed=1)
    asked, seen = NOW + torch.arange(8)[None] * DAY, torch.tensor([[NOW - 5 * DAY]])
    found = logits(module, q[:, :, :1].expand(-1, -1, 8, -1), k, asked, seen)[0, 0, :, 0]
    assert float(found[7]) == pytest.approx(float(found[0]), abs=1e-6)
    assert float(found.max() - found.min()) > 0.1


def test_the_sign_of_appendix_a3_corrected() -> None:
    """q . R(-theta) k = (q.k) cos + (q_1 k_2 - q_2 k_1) sin; the paper prints the other sign."""
    q, k, theta = normal(2), normal(2, seed=1), 0.7
    value = float((q * rotate(k, torch.tensor([-theta / (2 * math.pi)], dtype=torch.float64))).sum())
    same, sine = float(q @ k) * math.cos(theta), float(q[0] * k[1] - q[1] * k[0]) * math.sin(theta)
    assert value == pytest.approx(same + sine, abs=1e-12)
    assert abs(value - (same - sine)) > 0.1


def algorithm_1(
    q: Tensor, k: Tensor, time: Tensor, alpha_q: Tensor, alpha_k: Tensor, beta: Tensor, back: bool
) -> tuple[Tensor, Tensor]:
    """Forward pass, lines 1 to 9, in float64; ``(batch, length, heads, head_dim)`` as in the paper."""
    phase_q = alpha_q * time[..., None].double() / beta
    phase_q = torch.cat((phase_q[:, 1:], phase_q[:, -1:]), 1)  # RollLeft, and the last keeps its time
    phase_k = alpha_k * time[..., None].double() / beta
    return algorithm_2(q, phase_q[:, :, None], back=False), algorithm_2(k, phase_k[:, :, None], back)


def algorithm_2(x: Tensor, phase: Tensor, back: bool) -> Tensor:
    cosine, sine = phase.cos(), phase.sin()
    rotated = 2 * phase.shape[-1]
    first, second = x[..., :rotated:2], x[..., 1:rotated:2]
    if back:
        y = first * cosine + second * sine, -first * sine + second * cosine
    else:
        y = first * cosine - second * sine, first * sine + second * cosine
    return torch.cat((torch.stack(y, -1).flatten(-2), x[..., rotated:]), -1)


def algorithm_3(x: Tensor, grad: Tensor, phase: Tensor, back: bool) -> tuple[Tensor, Tensor]:
    """dX, and dPhi summed over heads (axis 2)."""
    cosine, sine = phase.cos(), phase.sin()
    rotated = 2 * phase.shape[-1]
    (x0, x1), (g0, g1) = ((y[..., :rotated:2], y[..., 1:rotated:2]) for y in (x, grad))
    if back:
        dx = g0 * cosine - g1 * sine, g0 * sine + g1 * cosine
        by_phase = g0 * (-x0 * sine + x1 * cosine) + g1 * (-x1 * sine - x0 * cosine)
    else:
        dx = g0 * cosine + g1 * sine, -g0 * sine + g1 * cosine
        by_phase = g0 * (-x0 * sine - x1 * cosine) + g1 * (x0 * cosine - x1 * sine)
    dx_all = torch.cat((torch.stack(dx, -1).flatten(-2), grad[..., rotated:]), -1)
    return dx_all, by_phase.sum(2)


@pytest.mark.parametrize("keys", ["nonstationary", "stationary"])
@pytest.mark.parametrize("tail", [0, 3])
def test_algorithms_1_to_3(keys: str, tail: int) -> None:
    """Forward with the shifted query, backward to features and coefficients (Eq. 10); the tail stays."""
    module = TRoPE(keys=keys).rotation(Site(8, 3, 3, 0, 0, "s"))  # not held to heads of 8 features alone
    q, k = (normal(2, 5, 3, 8 + tail, seed=i).requires_grad_() for i in (0, 1))
    time = NOW + torch.arange(10).view(2, 5) * 40_000
    asked = torch.cat((time[:, 1:], time[:, -1:]), 1)
    turned = module(q.transpose(1, 2), k.transpose(1, 2), asked, time)
    beta, back = 1 / (2 * math.pi * module.cycles_per_second), keys == "nonstationary"
    alphas = module.query_coefficients.detach(), module.key_coefficients.detach()
    wanted = algorithm_1(q.detach(), k.detach(), time, *alphas, beta, back)
    grads = normal(2, 5, 3, 8 + tail, seed=2), normal(2, 5, 3, 8 + tail, seed=3)
    sum((out.transpose(1, 2) * grad).sum() for out, grad in zip(turned, grads, strict=True)).backward()
    for x, out, want, grad, at, alpha, turns_back in (
        (q, turned[0], wanted[0], grads[0], asked, module.query_coefficients, False),
        (k, turned[1], wanted[1], grads[1], time, module.key_coefficients, back),
    ):
        torch.testing.assert_close(out.transpose(1, 2).detach(), want, rtol=0, atol=1e-5)
        assert torch.equal(out.transpose(1, 2)[..., 8:], x[..., 8:])
        over_beta = at[..., None].double() / beta
        dx, by_phase = algorithm_3(x.detach(), grad, (alpha.detach() * over_beta)[:, :, None], turns_back)
        torch.testing.assert_close(x.grad, dx, rtol=0, atol=1e-5)
        by_alpha = (by_phase * over_beta).sum((0, 1))  # Eq. 10
        torch.testing.assert_close(alpha.grad, by_alpha, rtol=1e-5, atol=1e-6 * float(by_alpha.abs().max()))


class Layers(nn.Module):
    """Two causal attention layers in float64 over learned items."""

    def __init__(self, recipe: TRoPE) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.items = nn.Embedding(11, 16)
        self.layers = nn.ModuleList(
            SoftmaxAttention(16, 2, recipe.build(head_dim=8, num_heads=2, layer=layer, seed=1))
            for layer in range(2)
        )
        self.double()

    def forward(self, items: Tensor, asked: Tensor, seen: Tensor) -> Tensor:
        x = self.items(items)
        for layer in self.layers:
            x = x + layer(x, asked, seen)
        return x @ self.items.weight.T

    def relabel(self) -> None:
        """Give the other name to the coefficients of keys: R(-alpha) is R(alpha') with alpha' = -alpha."""
        for layer in self.layers:
            layer.rotation.key_coefficients.data.neg_()


def losses(network: Layers, steps: int = 50) -> list[float]:
    optimiser = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1e-3)
    generator = torch.Generator().manual_seed(4)
    seen, found = times(), []
    for _ in range(steps):
        items = torch.randint(0, 11, (2, 8), generator=generator)
        scores = network(items[:, :-1], torch.cat((seen[:, 1:], seen[:, -1:] + 60), 1), seen)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), items[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        found.append(float(loss.detach()))
    return found


def test_free_coefficients_stationary_and_nonstationary_keys_are_one_model() -> None:
    nonstationary, stationary = Layers(TRoPE()), Layers(TRoPE(keys="stationary"))
    stationary.relabel()
    first = losses(nonstationary)
    assert first == losses(stationary)  # to the last bit, at each of the 50 steps
    assert first[-1] != first[0]
    tied = [
        losses(Layers(TRoPE(coefficients="tied", keys=keys)), 5) for keys in ("nonstationary", "stationary")
    ]
    assert abs(tied[0][0] - tied[1][0]) > 1e-4  # not one model, and there is nothing to relabel


def rows() -> list[Window]:
    generator = torch.Generator().manual_seed(8)
    made = []
    for length in (3, 7, 1):
        at = (NOW + torch.randint(0, 10**7, (length + 1,), generator=generator).sort().values).numpy()
        made.append(Window(at[:-1] % 5, at[:-1], at[1:]))
    return made


@pytest.mark.parametrize("access", ["history", "request"])
@pytest.mark.parametrize(
    "encoding",
    [RoPE(), TRoPE(), TIED, ClockRoPE(), TORoPE(), TORoPE("head"), ROTE(), ROTE("previous")],
    ids=["rope", "trope", "tied", "clock", "torope", "torope-head", "rote", "rote-previous"],
)
def test_padding_and_other_users_never_enter_a_rows_times(encoding: Encoding, access: str) -> None:
    """The query's time is shifted row by row: a jagged batch turns as its rows do one by one."""
    module, together = encoding.build(head_dim=8, num_heads=2, seed=1), collate(rows(), access)
    q, k = normal(3, 2, 7, 8, dtype=torch.float32), normal(3, 2, 7, 8, seed=1, dtype=torch.float32)
    turned = module(q, k, together.query_time, together.key_time)
    for row, window in enumerate(rows()):
        alone, length = collate([window], access), len(window.times)
        each = module(
            q[row : row + 1, :, :length], k[row : row + 1, :, :length], alone.query_time, alone.key_time
        )
        for both, one in zip(turned, each, strict=True):
            torch.testing.assert_close(both[row, :, :length], one[0], rtol=0, atol=1e-6)


def test_rolling_a_packed_batch_mixes_users() -> None:
    """Algorithm 1's roll over packed users gives a last query the first time of the next one."""
    lengths, packed = [3, 2], torch.tensor([10, 20, 30, 100, 200])
    assert packed.roll(-1).split(lengths)[0].tolist() == [20, 30, 100]
    one, two = (x.numpy() for x in packed.split(lengths))
    batch = collate([Window(one, one, one + 1), Window(two, two, two + 1)], "request")
    assert batch.query_time.tolist() == [[11, 21, 31], [101, 201, 201]]
