"""What the ClockRoPE paper proves or says of its rotation, held against the module that is built."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from rota.encodings import RFR, ClockRoPE, Encoding, HarmonicRotation, LearnableClock, RoPE, Split, TRoPE
from rota.frequencies import expected_logit
from rota.kernels import Cosine, Kernel, Laplace, VonMises, WrappedGaussian
from rota.rotary import rotation_matrix

DAILY, WEEKLY = WrappedGaussian("24h", "2h"), WrappedGaussian("7d", "14h")
NOW, HOUR, DAY = 1_700_000_000, 3600, 86_400


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def times(*shape: int, seed: int = 0) -> Tensor:
    return NOW + torch.randint(-(10**7), 10**7, shape, generator=torch.Generator().manual_seed(seed))


TABLE_1 = {
    "cosine-sym": (Cosine("24h"), False, {-1: 0.5, 1: 0.5}),
    "cosine-fold": (Cosine("24h"), True, {1: 1.0}),
    "gaussian-sym": (DAILY, False, None),
    "gaussian-fold": (DAILY, True, None),
}


@pytest.mark.parametrize(("kernel", "fold", "wanted"), TABLE_1.values(), ids=TABLE_1)
@pytest.mark.parametrize("s", [3, 6, 9, 12])
def test_table_1(kernel: Kernel, fold: bool, wanted: dict[int, float] | None, s: int) -> None:
    """``alpha_k`` of Eq. 18 up to the truncation size (Eq. 19); ``beta_k = 2 alpha_k`` where k > 0."""
    law = ClockRoPE([kernel], fold=fold, truncation=s).law(kernel)
    if wanted is None:
        period, sigma = 24.0, 2.0
        alpha = {
            k: sigma * math.sqrt(2 * math.pi) / period * math.exp(-2 * (math.pi * sigma * k / period) ** 2)
            for k in range(-s, s + 1)
        }
        weights = {k: (2 if k else 1) * alpha[k] for k in range(s + 1)} if fold else alpha
        wanted = {k: weight / sum(weights.values()) for k, weight in weights.items()}
    found = dict(zip(law.harmonics.tolist(), law.masses.tolist(), strict=True))
    assert found == pytest.approx(wanted, rel=1e-12)
    assert law.period == DAY


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("s", [4, 6])
def test_algorithm_2_number_for_number(fold: bool, s: int) -> None:
    """Lines 1-6 as they stand, for each head of each layer, then lines 7-13."""
    seed_base, layers, heads, d = 42, 3, 4, 16
    k = np.arange(0 if fold else -s, s + 1)
    alpha = np.exp(-2 * np.pi**2 * 2**2 * k**2 / 24**2) * np.where(fold & (k > 0), 2, 1)
    clock = ClockRoPE([DAILY], fold=fold, truncation=s, method="paper")
    for layer in range(1, layers + 1):
        rng = np.random.default_rng(seed_base + layer)
        theta = np.array([rng.choice(k, size=d // 2, p=alpha / alpha.sum()) for _ in range(heads)]) / DAY
        module = clock.build(head_dim=d, num_heads=heads, layer=layer - 1, seed=seed_base)
        np.testing.assert_array_equal(module.cycles_per_second.numpy(), theta)
        q, p = normal(1, heads, 5, d), times(1, 5)
        r = 2 * np.pi * np.repeat(theta, 2, axis=1)[:, None, :] * p[0].numpy()[:, None]
        v = q[0].numpy()
        rotate_pair = np.stack((-v[..., 1::2], v[..., ::2]), axis=-1).reshape(v.shape)
        wanted = v * np.cos(r) + rotate_pair * np.sin(r)
        found = module.rotate_query(q, time=p)[0].numpy()
        np.testing.assert_allclose(found, wanted, rtol=0, atol=3e-6)


def test_the_papers_seeds_are_shared_by_neighbouring_runs() -> None:
    """Seed 42's layer 2 is seed 43's layer 1; the other methods do not do that."""
    for method, shared in (("paper", True), ("iid", False)):
        clock = ClockRoPE([DAILY, WEEKLY], method=method)
        one = clock.build(head_dim=32, num_heads=4, layer=1, seed=42).harmonics
        other = clock.build(head_dim=32, num_heads=4, layer=0, seed=43).harmonics
        assert torch.equal(one, other) is shared
    clock = ClockRoPE([DAILY], method="paper")
    parts = Split([clock, clock]).build(head_dim=64, num_heads=4).parts
    assert not torch.equal(parts[0].harmonics, parts[1].harmonics)


@pytest.mark.parametrize("fold", [False, True])
def test_logits_by_equations_21_to_25(fold: bool) -> None:
    module = ClockRoPE([DAILY, Cosine("7d")], fold=fold).build(head_dim=32, num_heads=2, seed=3)
    q, k, p_m, p_n = normal(2, 2, 5, 32), normal(2, 2, 5, 32, seed=1), times(2, 5), times(2, 5, seed=1)
    turned_q, turned_k = module(q, k, query_time=p_m, key_time=p_n)
    by_pair = (turned_q * turned_k).unflatten(-1, (16, 2)).sum(-1)
    xi = module.cycles_per_second[None, :, None, :]
    angle = 2 * math.pi * xi * (p_m - p_n)[:, None, :, None].double()
    (q0, q1), (k0, k1) = (x.unflatten(-1, (16, 2)).unbind(-1) for x in (q, k))
    wanted = (q0 * k0 + q1 * k1) * torch.cos(angle) + (q0 * k1 - q1 * k0) * torch.sin(angle)
    torch.testing.assert_close(by_pair, wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "encoding",
    [ClockRoPE([DAILY, WEEKLY]), ClockRoPE([DAILY], fold=False), RFR(Laplace("12h"))],
    ids=["folded", "symmetric", "laplace"],
)
def test_the_rotation_is_block_diagonal(encoding: Encoding) -> None:
    """Algorithm 1, line 3: one matrix for each token and head, of which two make one of the difference."""
    module = encoding.build(head_dim=8, num_heads=2, seed=1)
    q, k, p_m, p_n = normal(1, 2, 3, 8), normal(1, 2, 3, 8, seed=1), times(1, 3), times(1, 3, seed=1)
    turned_q, turned_k = module(q, k, query_time=p_m, key_time=p_n)

    def matrix(head: int, time: int) -> Tensor:
        turns = module.cycles_per_second[head] * float(time)
        blocks = rotation_matrix(turns, 8)
        off = blocks.clone()
        for j in range(4):
            off[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = 0
        assert not off.any()
        return blocks

    for head, m, n in np.ndindex(2, 3, 3):
        r_m, r_n = matrix(head, p_m[0, m]), matrix(head, p_n[0, n])
        torch.testing.assert_close(turned_q[0, head, m], r_m @ q[0, head, m], rtol=0, atol=3e-6)
        torch.testing.assert_close(turned_k[0, head, n], r_n @ k[0, head, n], rtol=0, atol=3e-6)
        between = matrix(head, p_n[0, n] - p_m[0, m])
        torch.testing.assert_close(r_m.mT @ r_n, between, rtol=0, atol=1e-6)
        logit = turned_q[0, head, m] @ turned_k[0, head, n]
        torch.testing.assert_close(logit, q[0, head, m] @ between @ k[0, head, n], rtol=0, atol=2e-5)


@pytest.mark.parametrize("fold", [False, True], ids=["symmetric", "folded"])
@pytest.mark.parametrize("method", ["iid", "paper", "stratified", "systematic", "sobol", "nested_lattice"])
@pytest.mark.parametrize(
    "kernel",
    [DAILY, Cosine("24h"), VonMises("24h", 3.0), 0.7 * DAILY + 0.3 * WEEKLY],
    ids=["gaussian", "cosine", "von mises", "two periods"],
)
def test_proposition_3_1(kernel: Kernel, method: str, fold: bool) -> None:
    """Mean over draws of the modulated logit; a folded law against its own mean, not the symmetric one."""
    seeds, heads, pairs = 4, 150, 4
    clock = ClockRoPE([kernel], fold=fold, method=method)
    q, k = normal(2 * pairs, seed=4), normal(2 * pairs, seed=5)
    lags = torch.tensor([0, HOUR, 9000, -9000, 6 * HOUR, 12 * HOUR, -DAY, 2 * DAY + 7200, 30 * DAY])
    asked = torch.full((len(lags), 1), NOW)
    found = []
    for seed in range(seeds):
        module = clock.build(head_dim=2 * pairs, num_heads=heads, seed=1000 * seed)
        rows = [x.expand(len(lags), heads, 1, -1) for x in (q, k)]
        turned_q, turned_k = module(*rows, query_time=asked, key_time=asked - lags[:, None])
        found.append((turned_q * turned_k).sum((2, 3)))
    draws = torch.cat(found, 1)
    mean, error = draws.mean(1).numpy(), draws.std(1).numpy() / math.sqrt(seeds * heads)
    wanted = expected_logit(q.numpy(), k.numpy(), lags.numpy(), clock.law(kernel))
    assert (np.abs(mean - wanted) < 4.5 * error + 1e-5).all()
    if fold:  # the propositions' own mean is another
        symmetric = expected_logit(
            q.numpy(), k.numpy(), lags.numpy(), ClockRoPE([kernel], fold=False).law(kernel)
        )
        assert (np.abs(mean - symmetric) > 8 * error + 1e-5).any()


class Attention(nn.Module):
    """Causal attention whose queries and keys may pass a nonlinearity, and whose keys may be shared."""

    def __init__(
        self, rotation: HarmonicRotation, dim: int, heads: int, keys: int, act: Callable[[Tensor], Tensor]
    ) -> None:
        super().__init__()
        self.rotation, self.heads, self.keys, self.act = rotation, heads, keys, act
        self.q, self.k = nn.Linear(dim, dim), nn.Linear(dim, dim * keys // heads)
        self.v, self.out = nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        q, v = (self._heads(part, self.heads) for part in (self.act(self.q(x)), self.v(x)))
        k = self._heads(self.act(self.k(x)), self.keys)
        drawn = self.rotation.harmonics.shape[0]
        k = k.repeat_interleave(drawn // self.keys, 1)  # keys shared by heads of different draws
        q, k = self.rotation(q, k, query_time=time, key_time=time)
        k = k.repeat_interleave(self.heads // drawn, 1)
        length = x.shape[1]
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(later, -math.inf).softmax(-1)
        return x + self.out((weights @ v).transpose(1, 2).flatten(2))

    def _heads(self, x: Tensor, heads: int) -> Tensor:
        return x.unflatten(-1, (heads, x.shape[-1] // heads)).transpose(1, 2)

    def reflect(self, harmonics: Tensor) -> None:
        """Turn the second feature of each pair with a negative harmonic over, in both projections."""
        signs = torch.ones(harmonics.shape[0], harmonics.shape[1], 2, dtype=torch.float64)
        signs[..., 1][harmonics < 0] = -1
        group = self.heads // harmonics.shape[0]
        for linear, sign in (
            (self.q, signs.repeat_interleave(group, 0)),
            (self.k, signs[:: harmonics.shape[0] // self.keys]),
        ):
            linear.weight.data *= sign.reshape(-1, 1)
            linear.bias.data *= sign.flatten()


def losses(fold: bool, keys: int, drawn: int, act: Callable[[Tensor], Tensor], steps: int) -> list[float]:
    """AdamW steps of two layers in float64; the folded model starts as the symmetric one, reflected."""
    heads, dim, items = 4, 32, 11
    torch.manual_seed(0)
    embed, head = nn.Embedding(items, dim).double(), nn.Linear(dim, items).double()
    layers = nn.ModuleList()
    for layer in range(2):
        build = [
            ClockRoPE([DAILY, WEEKLY], fold=folded).build(
                head_dim=dim // heads, num_heads=drawn if drawn > keys else heads, num_kv_heads=drawn,
                layer=layer, seed=3,
            )
            for folded in (False, True)
        ]  # fmt: skip
        assert torch.equal(build[0].harmonics.abs(), build[1].harmonics)
        assert (build[0].harmonics < 0).any()
        attention = Attention(build[fold], dim, heads, keys, act).double()
        if fold:
            attention.reflect(build[0].harmonics)
        layers.append(attention)
    parameters = [*embed.parameters(), *layers.parameters(), *head.parameters()]
    optimiser = torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.01)
    generator = torch.Generator().manual_seed(2)
    found = []
    for _ in range(steps):
        seen = torch.randint(0, items, (8, 13), generator=generator)
        time = NOW + torch.randint(0, 10**7, (8, 12), generator=generator).sort(1).values
        x = embed(seen[:, :-1])
        for attention in layers:
            x = attention(x, time)
        loss = nn.functional.cross_entropy(head(x).flatten(0, 1), seen[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        found.append(loss.item())
    return found


def same(x: Tensor) -> Tensor:
    return x


@pytest.mark.parametrize(
    ("keys", "drawn", "act", "one_model"),
    [(4, 4, same, True), (2, 2, same, True), (4, 4, nn.functional.silu, False), (1, 4, same, False)],
    ids=["linear", "linear, a draw a group", "SiLU", "keys shared by different draws"],
)
def test_symmetric_and_folded_are_one_model_under_linear_projections(
    keys: int, drawn: int, act: Callable[[Tensor], Tensor], one_model: bool
) -> None:
    """Reflecting W_q and W_k carries one into the other, and training with it: no loss differs.

    Not where something nonlinear stands between projection and rotation, nor where heads that drew their own
    frequencies share their keys. So folding by itself brings no "directional awareness" (Sec. 3.3.3).
    """
    steps = 50 if one_model else 5
    symmetric, folded = (losses(fold, keys, drawn, act, steps) for fold in (False, True))
    if one_model:
        assert symmetric == pytest.approx(folded, rel=1e-13)  # equal but for the last bit of a few
    else:
        assert max(abs(one - two) for one, two in zip(symmetric, folded, strict=True)) > 1e-4


@pytest.mark.parametrize(
    "encoding",
    [
        RoPE(), TRoPE(), ClockRoPE([DAILY, WEEKLY]), RFR(Laplace("7d")), LearnableClock(),
        Split([RoPE(), ClockRoPE([DAILY]), RFR(Laplace("1d"))]),
    ],
    ids=["rope", "trope", "clockrope", "rfr", "learnable", "split"],
)  # fmt: skip
def test_padding_and_other_users_never_enter_a_row(encoding: Encoding) -> None:
    """A row's result, and its gradient, is the same whatever stands in the padding and in the other rows."""
    module = encoding.build(head_dim=24, num_heads=2, seed=0)
    valid = torch.arange(7) < torch.tensor([4, 7, 2])[:, None]
    runs = []
    for seed in (0, 1):
        q = torch.where(valid[:, None, :, None], normal(3, 2, 7, 24), normal(3, 2, 7, 24, seed=8 + seed))
        time = torch.where(valid, times(3, 7), times(3, 7, seed=8 + seed) * seed)
        if seed:
            q[1], time[1] = math.nan, -(10**9)
        q.requires_grad_()
        turned_q, turned_k = module(q, q, query_time=time, key_time=time)
        rows = [(row, slice(None), slice(count)) for row, count in ((0, 4), (2, 2))]
        sum(turned_q[row].sum() + turned_k[row].square().sum() for row in rows).backward()
        runs.append([part[row] for part in (turned_q, turned_k, q.grad) for row in rows])
        assert not q.grad.transpose(1, 2)[~valid].any()
    for one, two in zip(*runs, strict=True):
        assert torch.equal(one, two)
