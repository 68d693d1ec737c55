"""Negatives: what is drawn, how often, and the probabilities that are stated for it."""

import math
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from rota.errors import InputError
from rota.tables import from_table, to_table
from rota.training.negatives.base import Negatives
from rota.training.negatives.in_batch import InBatchNegatives
from rota.training.negatives.popularity import PopularityNegatives
from rota.training.negatives.shared import SharedNegatives
from rota.training.negatives.uniform import UniformNegatives

ALL = [
    UniformNegatives(),
    SharedNegatives(),
    InBatchNegatives(),
    PopularityNegatives(),
    PopularityNegatives(0.5, shared=True),
]
HUGE = 2**25 + 7  # float32 has every second number from 2^24 on


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def counts_of(targets: torch.Tensor, items: int) -> torch.Tensor:
    return torch.bincount(targets, minlength=items) + 1


@pytest.mark.parametrize("negatives", ALL, ids=repr)
class TestEveryMember:
    def test_it_is_a_recipe(self, negatives: Negatives) -> None:
        assert from_table(to_table(negatives), Negatives) == negatives  # type: ignore[type-abstract]

    @settings(deadline=None, max_examples=30)
    @given(st.integers(0, 6), st.integers(1, 9), st.integers(1, 12), st.integers(0, 2**32))
    def test_draws_are_items_and_probabilities_are_theirs(
        self, negatives: Negatives, targets: int, items: int, count: int, seed: int
    ) -> None:
        followed = torch.randint(items, (targets,), generator=seeded(1))
        counts = counts_of(followed, items)
        drawn = negatives.draw(count, followed, items, seeded(seed), counts)
        assert drawn.codes.dtype == torch.int64
        assert drawn.codes.numel() == 0 or 0 <= int(drawn.codes.min()) <= int(drawn.codes.max()) < items
        assert torch.equal(drawn.hits(followed), drawn.codes.expand(targets, -1) == followed[:, None])
        assert drawn.log_proposal.broadcast_to(drawn.codes.shape).le(0).all()
        assert drawn.log_others.broadcast_to(followed.shape).le(0).all()
        again = negatives.draw(count, followed, items, seeded(seed), counts)
        assert torch.equal(drawn.codes, again.codes)


def test_shapes() -> None:
    targets, counts = torch.tensor([0, 1, 1, 3]), torch.tensor([1, 2, 0, 1, 5])
    shapes = [tuple(n.draw(7, targets, 5, seeded(), counts).codes.shape) for n in ALL]
    assert shapes == [(4, 7), (5,), (4,), (4, 7), (7,)]
    fewer = [tuple(n.draw(3, targets, 5, seeded(), counts).codes.shape) for n in ALL]
    assert fewer == [(4, 3), (3,), (3,), (4, 3), (3,)]


def test_shared_negatives_are_distinct_and_in_the_end_all() -> None:
    codes = SharedNegatives().draw(30, torch.tensor([1]), 40, seeded()).codes
    assert len(set(codes.tolist())) == 30
    everything = SharedNegatives().draw(99, torch.tensor([1]), 40, seeded()).codes
    assert sorted(everything.tolist()) == list(range(40))


def test_in_batch_negatives_are_the_targets() -> None:
    targets, counts = torch.tensor([4, 2, 2, 0]), torch.tensor([1, 0, 6, 0, 3])
    drawn = InBatchNegatives().draw(4, targets, 5, seeded(), counts)
    assert torch.equal(drawn.codes, targets)
    torch.testing.assert_close(drawn.log_proposal.exp(), torch.tensor([0.3, 0.6, 0.6, 0.1]).double())
    torch.testing.assert_close(drawn.log_others.exp(), torch.tensor([0.7, 0.4, 0.4, 0.9]).double())
    firsts = [int(InBatchNegatives().draw(1, targets, 5, seeded(s), counts).codes) for s in range(400)]
    assert chisquare([firsts.count(4), firsts.count(2), firsts.count(0)], [100, 200, 100]).pvalue > 1e-4


@pytest.mark.parametrize("negatives", [n for n in ALL if not isinstance(n, InBatchNegatives)], ids=repr)
def test_items_come_as_often_as_their_stated_probability(negatives: Negatives) -> None:
    counts = torch.tensor([5, 0, 1, 3, 11, 0, 2])
    targets = torch.zeros(50, dtype=torch.int64)
    seen, stated = torch.zeros(7), torch.full((7,), math.nan).double()
    for seed in range(200):
        drawn = negatives.draw(3, targets, 7, seeded(seed), counts)
        seen += torch.bincount(drawn.codes.flatten(), minlength=7)
        stated[drawn.codes.flatten()] = drawn.log_proposal.expand_as(drawn.codes).flatten().exp()
    if negatives.is_uniform:
        torch.testing.assert_close(stated, torch.full((7,), 1 / 7).double())
    else:
        assert torch.equal(stated.isnan(), counts == 0)  # never a target, never drawn
        power = negatives.power if isinstance(negatives, PopularityNegatives) else 1.0
        wanted = counts.double() ** power
        torch.testing.assert_close(stated.nan_to_num(), wanted / wanted.sum(), rtol=1e-9, atol=0)
    drawn_ever = stated > 0
    expected = stated[drawn_ever] * seen.sum()
    assert chisquare(seen[drawn_ever], expected, sum_check=False).pvalue > 1e-4
    others = negatives.draw(3, targets, 7, seeded(), counts).log_others.expand(50).exp()
    torch.testing.assert_close(others, (1 - stated[0]).expand(50))


def require_uniform_above_float32(codes: torch.Tensor) -> None:
    above = codes[codes > 2**24]
    assert 0.45 < len(above) / codes.numel() < 0.55
    assert 0.4 < (above % 2).double().mean() < 0.6  # a float32 in between leaves no odd ones


def test_items_above_two_to_the_24th_are_exact() -> None:
    targets = torch.zeros(2000, dtype=torch.int64)
    require_uniform_above_float32(UniformNegatives().draw(16, targets, HUGE, seeded()).codes)
    counts = torch.zeros(HUGE, dtype=torch.int64)
    counts[-4:] = torch.tensor([1, 2, 0, 1])
    popular = PopularityNegatives().draw(2, targets, HUGE, seeded(), counts).codes
    frequencies = torch.bincount(popular.flatten() - (HUGE - 4), minlength=4)
    assert chisquare(frequencies[[0, 1, 3]], [1000, 2000, 1000]).pvalue > 1e-4
    assert frequencies[2] == 0


@pytest.mark.slow
def test_items_above_two_to_the_24th_are_exact_where_all_are_touched() -> None:
    targets = torch.zeros(1, dtype=torch.int64)
    require_uniform_above_float32(SharedNegatives().draw(4000, targets, HUGE, seeded()).codes)
    counts = torch.ones(HUGE, dtype=torch.int64)
    powered = PopularityNegatives(0.5, shared=True).draw(4000, targets, HUGE, seeded(), counts)
    require_uniform_above_float32(powered.codes)


def test_popularity_of_more_events_than_float32_can_count() -> None:
    counts = torch.tensor([2**40, 1, 2**40 + 1])
    drawn = PopularityNegatives().draw(3000, torch.tensor([1]), 3, seeded(), counts)
    share = torch.bincount(drawn.codes.flatten(), minlength=3)
    assert share[1] == 0
    assert abs(int(share[0]) - 1500) < 150
    assert drawn.log_others.item() == pytest.approx(-1 / (2**41 + 2), rel=1e-9)


def test_a_steep_power_keeps_what_is_rare() -> None:
    counts = torch.tensor([10**9, 1])
    drawn = PopularityNegatives(power=30.0).draw(8, torch.tensor([1]), 2, seeded(), counts)
    assert drawn.log_proposal.isfinite().all()
    assert drawn.log_others.item() < 0


@dataclass(frozen=True)
class Case:
    negatives: Negatives
    counts: list[int] | None
    message: str


@pytest.mark.parametrize(
    "case",
    [
        Case(PopularityNegatives(), None, r"no counts were given: pass counts="),
        Case(InBatchNegatives(), None, r"no counts were given: pass counts="),
        Case(PopularityNegatives(), [1, 2], r"2 counts for a catalogue of 3 items: .*bincount"),
        Case(PopularityNegatives(), [0, 0, 0], r"counts from 0 to 0: expected"),
        Case(InBatchNegatives(), [1, -1, 2], r"counts from -1 to 2: expected"),
        Case(InBatchNegatives(), [1, 0, 2], r"item 1 is a target of the batch and has count 0: expected"),
    ],
    ids=str,
)
def test_counts_that_do_not_fit(case: Case) -> None:
    counts = None if case.counts is None else torch.tensor(case.counts)
    with pytest.raises(InputError, match=case.message):
        case.negatives.draw(2, torch.tensor([1]), 3, seeded(), counts)


@pytest.mark.parametrize("power", [0.0, -1.0, math.inf, math.nan])
def test_impossible_powers_are_refused(power: float) -> None:
    with pytest.raises(InputError, match=r"power .*expected a finite number above 0"):
        PopularityNegatives(power)
