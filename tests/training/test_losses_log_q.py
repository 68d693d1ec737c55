"""The correction by log q: the sampled denominator is, on average, that of the full softmax."""

import itertools

import pytest
import torch

from rota.training.losses.sampled_softmax import SampledSoftmax
from rota.training.negatives.drawn import DrawnNegatives
from rota.training.negatives.in_batch import InBatchNegatives
from rota.training.negatives.popularity import PopularityNegatives
from rota.training.negatives.shared import SharedNegatives
from rota.training.negatives.uniform import UniformNegatives

SCORES = torch.tensor([0.3, -1.2, 2.0, 0.7]).double()
COUNTS = torch.tensor([4, 1, 3, 2])


def partition(drawn: DrawnNegatives, target: int) -> float:
    """Sum that stands for the one over the catalogue, at one position."""
    hits = drawn.hits(torch.tensor([target]))
    logits = (SCORES[drawn.codes] - drawn.log_expected(hits)).reshape(-1)
    return float(SCORES[target].exp() + logits[~hits[0]].exp().sum())


@pytest.mark.parametrize("target", range(4))
@pytest.mark.parametrize("uniform", [True, False])
def test_every_draw_weighed_by_its_probability(target: int, uniform: bool) -> None:
    """All draws of three with replacement, by enumeration; given that one at least is no hit."""
    q = torch.full((4,), 0.25).double() if uniform else COUNTS / COUNTS.sum().double()
    kind = UniformNegatives() if uniform else PopularityNegatives()
    stated = kind.draw(50, torch.tensor([target]), 4, torch.Generator().manual_seed(0), COUNTS)
    average = mass = 0.0
    for codes in itertools.product(range(4), repeat=3):
        if set(codes) == {target}:
            continue
        row = torch.tensor([codes])
        weight = float(q[row].prod())
        average += weight * partition(DrawnNegatives(row, q[row].log(), stated.log_others), target)
        mass += weight
    assert average / mass == pytest.approx(float(SCORES.exp().sum()), rel=1e-12)
    torch.testing.assert_close(stated.log_proposal.expand_as(stated.codes), q[stated.codes].log())


@pytest.mark.parametrize("target", range(4))
def test_distinct_draws_too(target: int) -> None:
    log_proposal, log_others = torch.tensor(0.25).double().log(), torch.tensor(0.75).double().log()
    found = [
        partition(DrawnNegatives(torch.tensor(codes), log_proposal, log_others), target)
        for codes in itertools.permutations(range(4), 2)
    ]
    assert sum(found) / len(found) == pytest.approx(float(SCORES.exp().sum()), rel=1e-12)


@pytest.mark.parametrize(
    "negatives",
    [
        UniformNegatives(),
        SharedNegatives(),
        InBatchNegatives(),
        PopularityNegatives(0.5),
        PopularityNegatives(shared=True),
    ],
    ids=repr,
)
def test_the_loss_has_that_denominator(negatives) -> None:
    """By Monte Carlo through the loss itself: exp(loss + score of the target) is the denominator."""
    generator = torch.Generator().manual_seed(7)
    loss, table, found = SampledSoftmax(3, negatives=negatives, log_q=True), SCORES[:, None], []
    for _ in range(300):
        targets = torch.multinomial(COUNTS.double(), 60, replacement=True, generator=generator)
        features = torch.ones(60, 1, dtype=torch.float64)
        each = loss.each(features, targets, table, generator, COUNTS)
        estimates = torch.exp(each + SCORES[targets])
        others = targets != 2  # the positions of an unlikely target say more
        found.append(estimates[others & (each > 0)].mean())
    means = torch.stack(found)
    error = means.std() / len(means) ** 0.5
    assert abs(means.mean() - SCORES.exp().sum()) < 4.5 * error
    assert error < 0.05 * SCORES.exp().sum()


def test_uncorrected_it_is_not() -> None:
    drawn = PopularityNegatives().draw(2000, torch.tensor([0]), 4, torch.Generator().manual_seed(0), COUNTS)
    raw = SCORES[0].exp() + SCORES[drawn.codes[drawn.codes != 0]].exp().sum()
    assert raw > 100 * SCORES.exp().sum()
    assert partition(drawn, 0) == pytest.approx(float(SCORES.exp().sum()), rel=0.1)


def test_all_items_corrected_are_the_full_softmax() -> None:
    features = torch.ones(4, 1, dtype=torch.float64)
    each = SampledSoftmax(9, log_q=True).each(features, torch.arange(4), SCORES[:, None], torch.Generator())
    torch.testing.assert_close(each, SCORES.exp().sum().log() - SCORES, rtol=1e-12, atol=1e-14)
