"""Every loss against a plain loop over its definition, forward and backward."""

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.errors import InputError
from rota.tables import from_table, to_table
from rota.training.losses.base import Loss
from rota.training.losses.bce import BCE
from rota.training.losses.full_softmax import FullSoftmax
from rota.training.losses.gbce import GBCE
from rota.training.losses.sampled_softmax import SampledSoftmax
from rota.training.negatives.in_batch import InBatchNegatives
from rota.training.negatives.popularity import PopularityNegatives
from rota.training.negatives.shared import SharedNegatives
from rota.training.negatives.uniform import UniformNegatives
from rota.training.recipe import Training

SOFTMAX = [
    SampledSoftmax(3),
    SampledSoftmax(4, 0.5, UniformNegatives()),
    SampledSoftmax(4, 1.0, UniformNegatives(), log_q=True),
    SampledSoftmax(3, 1.0, SharedNegatives(), log_q=True),
    SampledSoftmax(99, 0.7, InBatchNegatives()),
    SampledSoftmax(3, 1.0, InBatchNegatives(), log_q=False),
    SampledSoftmax(4, 2.0, PopularityNegatives()),
    SampledSoftmax(4, 1.0, PopularityNegatives(0.5, shared=True)),
    FullSoftmax(),
    FullSoftmax(0.3, logits_at_once=7),
]
BINARY = [
    BCE(),
    BCE(3, SharedNegatives()),
    BCE(5, PopularityNegatives(0.75)),
    BCE(99, InBatchNegatives()),
    GBCE(3),
    GBCE(2, 0.0),
    GBCE(2, 1.0, SharedNegatives()),
]


def example(
    targets: int = 6, dim: int = 5, items: int = 8, seed: int = 0, dtype: torch.dtype = torch.float64
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(targets, dim, dtype=dtype, generator=generator, requires_grad=True)
    table = torch.randn(items, dim, dtype=dtype, generator=generator, requires_grad=True)
    followed = torch.randint(items, (targets,), generator=generator)
    return features, followed, table, torch.bincount(followed, minlength=items) + 1


def probability(negatives: object, item: int, counts: torch.Tensor) -> float:
    if isinstance(negatives, UniformNegatives | SharedNegatives):
        return 1 / len(counts)
    power = negatives.power if isinstance(negatives, PopularityNegatives) else 1.0
    return float(counts[item]) ** power / sum(float(count) ** power for count in counts)


def plain(loss: Loss, features, targets, table, seed: int, counts) -> torch.Tensor:
    """Each loss from its definition, one position and one negative at a time."""
    if isinstance(loss, FullSoftmax):
        return -torch.log_softmax(features @ table.T / loss.temperature, -1)[range(len(targets)), targets]
    generator = torch.Generator().manual_seed(seed)
    codes = loss.negatives.draw(loss.num_negatives, targets, len(table), generator, counts).codes
    losses = []
    for position, target in enumerate(targets.tolist()):
        row = (codes if codes.ndim == 1 else codes[position]).tolist()
        others = [code for code in row if code != target]
        own = torch.dot(features[position], table[target])
        scores = [torch.dot(features[position], table[other]) for other in others]
        if isinstance(loss, SampledSoftmax):
            corrected = loss.log_q or (loss.log_q is None and not loss.negatives.is_uniform)
            total = torch.exp(own / loss.temperature)
            for other, score in zip(others, scores, strict=True):
                given_no_hit = probability(loss.negatives, other, counts)
                given_no_hit /= 1 - probability(loss.negatives, target, counts)
                weight = len(others) * given_no_hit if corrected else 1.0
                total = total + torch.exp(score / loss.temperature) / weight
            losses.append(total.log() - own / loss.temperature)
            continue
        against = sum((torch.log(1 - torch.sigmoid(score)) for score in scores), torch.zeros(()).double())
        if isinstance(loss, BCE):
            losses.append(-torch.log(torch.sigmoid(own)) - against)
            continue
        assert isinstance(loss, GBCE)
        alpha, t = loss.num_negatives / (len(table) - 1), loss.calibration
        beta = alpha * (t * (1 - 1 / alpha) + 1 / alpha)
        losses.append(-(torch.log(torch.sigmoid(own) ** beta) + against) / (loss.num_negatives + 1))
    return torch.stack(losses)


@pytest.mark.parametrize("loss", [*SOFTMAX, *BINARY], ids=repr)
class TestEveryMember:
    @settings(deadline=None, max_examples=12)
    @given(st.integers(1, 7), st.integers(1, 6), st.integers(4, 9), st.integers(0, 2**20))
    def test_it_equals_the_plain_loop(
        self, loss: Loss, targets: int, dim: int, items: int, seed: int
    ) -> None:
        features, followed, table, counts = example(targets, dim, items, seed)
        found = loss.each(features, followed, table, torch.Generator().manual_seed(seed), counts)
        wanted = plain(loss, features, followed, table, seed, counts)
        torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-12)
        weights = torch.randn(targets, dtype=torch.float64, generator=torch.Generator().manual_seed(seed + 1))
        gradients = torch.autograd.grad((found * weights).sum(), (features, table))
        expected = torch.autograd.grad((wanted * weights).sum(), (features, table))
        torch.testing.assert_close(gradients, expected, rtol=1e-9, atol=1e-11)

    def test_gradcheck(self, loss: Loss) -> None:
        features, followed, table, counts = example(targets=4, dim=3, items=5)

        def each(features: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
            return loss.each(features, followed, table, torch.Generator().manual_seed(3), counts)

        assert torch.autograd.gradcheck(each, (features, table))

    def test_only_what_needs_a_gradient_gets_one(self, loss: Loss) -> None:
        for frozen in (0, 2):
            parts = example()
            parts[frozen].requires_grad_(False)
            loss(*parts[:3], torch.Generator().manual_seed(0), parts[3]).backward()
            assert parts[frozen].grad is None
            assert parts[2 - frozen].grad is not None

    def test_the_whole_is_the_mean(self, loss: Loss) -> None:
        features, followed, table, counts = example()
        whole = loss(features, followed, table, torch.Generator().manual_seed(4), counts)
        each = loss.each(features, followed, table, torch.Generator().manual_seed(4), counts)
        torch.testing.assert_close(whole, each.mean())

    def test_no_targets_cost_nothing(self, loss: Loss) -> None:
        features, followed, table, _ = example(targets=0)
        whole = loss(features, followed, table, torch.Generator(), torch.ones(8, dtype=torch.int64))
        assert whole.item() == 0
        by_features, by_table = torch.autograd.grad(whole, (features, table))
        assert by_features.shape == (0, 5)
        assert torch.equal(by_table, torch.zeros(8, 5, dtype=torch.float64))

    def test_it_is_a_recipe(self, loss: Loss) -> None:
        assert from_table(to_table(loss), Loss) == loss  # type: ignore[type-abstract]
        training = Training(loss=loss)
        assert from_table(to_table(training), Training) == training

    def test_it_is_a_likelihood_or_not(self, loss: Loss) -> None:
        """A sample that is not corrected says more of the target than the catalogue would."""
        corrected = isinstance(loss, SampledSoftmax) and (
            not loss.negatives.is_uniform if loss.log_q is None else loss.log_q
        )
        assert loss.is_likelihood == (isinstance(loss, FullSoftmax) or corrected)

    @pytest.mark.parametrize("scale", [1e-4, 300.0])
    def test_float32_at_extreme_logits(self, loss: Loss, scale: float) -> None:
        features, followed, table, counts = example(dtype=torch.float32)
        wide = (
            (features * scale).double().detach().requires_grad_(),
            table.double().detach().requires_grad_(),
        )
        narrow = tuple(part.float().detach().requires_grad_() for part in wide)
        results = []
        for features, table in (narrow, wide):
            value = loss(features, followed, table, torch.Generator().manual_seed(1), counts)
            results.append(
                (value.double(), *(g.double() for g in torch.autograd.grad(value, (features, table))))
            )
        for one, other in zip(*results, strict=True):
            torch.testing.assert_close(one, other, rtol=2e-4, atol=2e-5 * max(scale, 1))
            assert one.isfinite().all()

    def test_half_precision_is_widened(self, loss: Loss) -> None:
        features, followed, table, counts = example(dtype=torch.bfloat16)
        value = loss(features, followed, table, torch.Generator().manual_seed(1), counts)
        assert value.dtype == torch.float32
        value.backward()
        assert features.grad is not None
        assert features.grad.dtype == torch.bfloat16
        features, table = features.double(), table.double()
        exact = loss(features, followed, table, torch.Generator().manual_seed(1), counts)
        assert value.item() == pytest.approx(exact.item(), rel=0.03, abs=0.03)

    def test_under_autocast(self, loss: Loss) -> None:
        features, followed, table, counts = example(dtype=torch.float32)
        exact = loss(features, followed, table, torch.Generator().manual_seed(1), counts)
        wanted = torch.autograd.grad(exact, (features, table))
        with torch.autocast("cpu", torch.bfloat16):
            value = loss(features, followed, table, torch.Generator().manual_seed(1), counts)
        assert value.dtype == torch.float32
        assert value.item() == pytest.approx(exact.item(), rel=0.03, abs=0.03)
        found = torch.autograd.grad(value, (features, table))
        torch.testing.assert_close(found, wanted, rtol=0.05, atol=0.03)


@pytest.mark.parametrize(
    "loss", [loss for loss in [*SOFTMAX, *BINARY] if not isinstance(loss, FullSoftmax | GBCE)]
)
def test_a_position_whose_negatives_are_all_hits(loss: Loss) -> None:
    """In a catalogue of one item nothing is against the target."""
    features, followed, table, counts = example(targets=3, items=1)
    each = loss.each(features, followed, table, torch.Generator().manual_seed(0), counts)
    own = (features * table[followed]).sum(-1)
    expected = -torch.nn.functional.logsigmoid(own) if loss in BINARY else torch.zeros(3).double()
    torch.testing.assert_close(each, expected)
    gradients = torch.autograd.grad(each.sum(), (features, table))
    assert all(gradient.isfinite().all() for gradient in gradients)


def test_gbce_at_zero_calibration_is_bce_over_its_terms() -> None:
    features, followed, table, counts = example()
    one = GBCE(3, 0.0).each(features, followed, table, torch.Generator().manual_seed(2), counts)
    other = BCE(3).each(features, followed, table, torch.Generator().manual_seed(2), counts)
    torch.testing.assert_close(one, other / 4)


def test_gbce_as_published() -> None:
    """The authors' transformation of the positive logit, in float64 where its clamp does not bind."""
    features, followed, table, counts = example(targets=20, items=30)
    loss = GBCE(6)
    found = loss.each(features, followed, table, torch.Generator().manual_seed(5), counts)
    codes = UniformNegatives().draw(6, followed, 30, torch.Generator().manual_seed(5)).codes
    own = (features * table[followed]).sum(-1)
    against = torch.einsum("td,tkd->tk", features, table[codes])
    alpha = 6 / 29
    beta = alpha * (0.75 * (1 - 1 / alpha) + 1 / alpha)
    transformed = torch.log(1 / (torch.sigmoid(own) ** -beta - 1))
    logits = torch.cat((transformed[:, None], against), -1)
    labels = torch.zeros_like(logits)
    labels[:, 0] = 1
    terms = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels, reduction="none")
    terms = terms.masked_fill(torch.nn.functional.pad(codes == followed[:, None], (1, 0)), 0)
    torch.testing.assert_close(found, terms.sum(-1) / 7)


def test_gbce_learns_where_the_published_code_has_no_gradient() -> None:
    features = torch.tensor([[30.0]], requires_grad=True)
    (slope,) = torch.autograd.grad(
        GBCE(1).each(features, torch.tensor([0]), torch.tensor([[1.0], [-1.0]]), torch.Generator()).sum(),
        features,
    )
    assert slope.item() < 0


@pytest.mark.parametrize("loss", [SampledSoftmax(5), BCE(5), GBCE(5), FullSoftmax()], ids=repr)
def test_impossible_settings_are_refused(loss: Loss) -> None:
    wrong = {
        "num_negatives": [0, -1],
        "temperature": [0.0, -1.0, math.inf, math.nan],
        "calibration": [-0.1, 1.1, math.nan],
        "logits_at_once": [0],
    }
    for name, values in wrong.items():
        for value in values if hasattr(loss, name) else []:
            with pytest.raises(InputError, match=rf"{name} .*expected"):
                replace(loss, **{name: value})


def test_gbce_refuses_what_its_calibration_does_not_cover() -> None:
    with pytest.raises(InputError, match=r"GBCE with PopularityNegatives: expected uniform .*use"):
        GBCE(negatives=PopularityNegatives())
    features, followed, table, _ = example(items=5)
    assert GBCE(4, 1.0).beta(5) == pytest.approx(1.0)
    with pytest.raises(InputError, match=r"num_negatives 5 in a catalogue of 5 items: expected at most 4"):
        GBCE(5)(features, followed, table, torch.Generator())
    says = "GBCE in a catalogue of 1 item: expected at least 2, .*; use a log with more items"
    with pytest.raises(InputError, match=says) as caught:
        GBCE(1)(torch.zeros(1, 2), torch.tensor([0]), torch.zeros(1, 2), torch.Generator())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "loss", [SampledSoftmax(4, negatives=PopularityNegatives()), BCE(1, InBatchNegatives())]
)
def test_missing_counts_are_named(loss: Loss) -> None:
    features, followed, table, _ = example()
    with pytest.raises(InputError, match="no counts were given: pass counts="):
        loss(features, followed, table, torch.Generator())


def test_the_default_draws_and_scores_as_it_always_did() -> None:
    assert SampledSoftmax() == SampledSoftmax(512, 1.0, SharedNegatives(), None)
    assert Training().loss == SampledSoftmax()
