"""Ranks counted block by block are those of all scores at once."""

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from rota.batch import Batch, TimeAccess
from rota.errors import InputError
from rota.evaluation import SeenItems, ask, rank
from rota.evaluation.counting import at_least
from rota.histories import Histories, Spans
from rota.models import HSTU, SASRec
from rota.models.base import Network, Scorer
from rota.models.repeat_head import RepeatHead
from rota.models.similarity import Similarity


class Given(Network):
    """Features that are given: row ``n`` asks at time ``n``."""

    def __init__(self, features: Tensor, items: Tensor) -> None:
        nn.Module.__init__(self)
        self.events = nn.Module()  # type: ignore[assignment]
        self.events.items = nn.Embedding.from_pretrained(items)
        self.events.forward = lambda batch: features[batch.query_time]  # type: ignore[method-assign]
        self.similarity, self.repeat_head = Similarity(), None
        self.max_len, self.needs_clock, self.time_access = 1, True, TimeAccess.REQUEST

    def hidden(self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None) -> Tensor:
        return x

    def layers(self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None) -> list[Tensor]:
        return []


class InFull(Scorer):
    """The same network behind a scorer that hides it: asked for the scores of all items."""

    def __init__(self, network: Network) -> None:
        self.network, self.max_len, self.needs_clock = network.eval(), network.max_len, network.needs_clock

    def scores(self, batch: Batch) -> Tensor:
        return self.network.scores(batch)


def log(users: int, items: int, most: int, seed: int) -> tuple[Histories, Spans]:
    """Four events each to see, up to ``most`` to be asked for; the first of these is at time ``user``."""
    rng = np.random.default_rng(seed)
    sizes = 4 + rng.integers(1, most + 1, users)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    times = np.repeat(np.arange(users), sizes)
    histories = Histories(rng.integers(0, items, offsets[-1]), times, offsets, items)
    return histories, Spans(np.arange(users), offsets[:-1], offsets[:-1] + 4, offsets[1:])


@pytest.fixture(autouse=True)
def small_cache() -> Iterator[None]:
    with patch("rota.evaluation.counting._CACHED", 640):
        yield


def slow(features: Tensor, items: Tensor, histories: Histories, spans: Spans, seen: SeenItems) -> list[int]:
    """One question after another, in whole numbers."""
    ranks = []
    for user, (start, stop, end) in enumerate(zip(*spans[1:], strict=True)):
        scores = (features[user].long() @ items.long().T).tolist()
        shut = set(histories.items[start:stop].tolist()) if seen == SeenItems.DROP else set()
        for target in dict.fromkeys(histories.items[stop:end].tolist()):
            ahead = [i for i, score in enumerate(scores) if score >= scores[target] and i not in shut]
            ranks.append(0 if target in shut else len(ahead))
    return ranks


@settings(max_examples=60)
@given(
    users=st.integers(1, 30),
    items=st.sampled_from([1, 2, 9, 63, 64, 65, 130, 300]),
    most=st.integers(1, 5),
    batch_size=st.sampled_from([1, 3, 7, 256]),
    seen=st.sampled_from(list(SeenItems)),
    seed=st.integers(0, 99),
)
def test_ranks_are_those_of_whole_numbers(
    users: int, items: int, most: int, batch_size: int, seen: SeenItems, seed: int
) -> None:
    """Small whole numbers are exact in floats, and tie often."""
    histories, spans = log(users, items, most, seed)
    generator = torch.Generator().manual_seed(seed)
    features, table = (torch.randint(-2, 3, (n, 3), generator=generator).float() for n in (users, items))
    network = Given(features, table)
    found = ask(network, histories, spans, access="request", seen=seen, batch_size=batch_size)
    assert found.tolist() == slow(features, table, histories, spans, seen)


@pytest.mark.parametrize("seen", SeenItems)
@pytest.mark.parametrize("recipe", [SASRec(embedding_dim=16, max_len=3), HSTU(embedding_dim=16, max_len=3)])
def test_a_network_is_ranked_as_by_all_its_scores(recipe: SASRec | HSTU, seen: SeenItems) -> None:
    histories, spans = log(40, 500, 4, seed=1)
    network = recipe.build(num_items=500, unit="s", time_access=TimeAccess.REQUEST, seed=0)
    one, two = (
        ask(scorer, histories, spans, access="request", seen=seen) for scorer in (network, InFull(network))
    )
    assert np.abs(one - two).max() <= 1  # where two scores differ by a last bit
    assert (one == two).mean() > 0.98


def test_items_of_one_embedding_tie_wherever_they_stand() -> None:
    """In full blocks and in the last, which is narrower: all are beside the target, none before it."""
    histories, spans = log(16, 333, 1, seed=2)
    features = torch.randn(16, 24, generator=torch.Generator().manual_seed(0))
    network = Given(features, features[:1].expand(333, -1).contiguous())
    assert ask(network, histories, spans, access="request", seen="keep").tolist() == [333] * 16


def test_a_first_guess_that_is_off_moves_no_rank() -> None:
    """What a product of another shape may do: the target's score comes out in another last bit.

    Each item is there ten times, so that a last bit decides on ties.
    """
    histories, spans = log(12, 200, 1, seed=3)
    generator = torch.Generator().manual_seed(0)
    features, table = (torch.randn(rows, 24, generator=generator) for rows in (12, 20))
    network = Given(features, table.repeat(10, 1))
    right = ask(network, histories, spans, access="request", seen="drop")
    exact = Tensor.diagonal
    for way in torch.tensor([torch.inf, -torch.inf]):
        with patch.object(Tensor, "diagonal", lambda product, way=way: exact(product).nextafter(way)):
            assert ask(network, histories, spans, access="request", seen="drop").tolist() == right.tolist()


@pytest.mark.parametrize("spoilt", ["features", "items", "sum"])
def test_nan_is_refused_by_its_place(spoilt: str) -> None:
    histories, spans = log(5, 300, 1, seed=4)
    features, table = torch.ones(5, 2), torch.ones(300, 2)
    if spoilt == "features":
        features[2, 0], place = torch.nan, "2, 0"
    elif spoilt == "items":
        table[131, 1], place = torch.nan, "0, 131"
    else:
        table[131], place = torch.tensor([torch.inf, -torch.inf]), "0, 131"
    with pytest.raises(InputError, match=rf"scores\[{place}\] is NaN"):
        ask(Given(features, table), histories, spans, access="request", seen="keep")


@pytest.mark.parametrize("seen", SeenItems)
def test_infinite_scores_are_ranked(seen: SeenItems) -> None:
    histories, spans = log(9, 300, 2, seed=5)
    features, table = torch.full((9, 1), 3e38), torch.arange(-150.0, 150.0)[:, None]
    found = ask(Given(features, table), histories, spans, access="request", seen=seen)
    full = ask(InFull(Given(features, table)), histories, spans, access="request", seen=seen)
    assert found.tolist() == full.tolist()


def test_another_catalogue_and_a_target_outside_it_are_refused() -> None:
    histories, spans = log(4, 50, 1, seed=6)
    with pytest.raises(InputError, match="Given scores 49 items: expected the whole catalogue of 50"):
        ask(Given(torch.ones(4, 2), torch.ones(49, 2)), histories, spans, access="request", seen="keep")
    wrong = Histories(histories.items + 1000, histories.times, histories.offsets, 50)
    with pytest.raises(InputError, match="expected an item code from 0 to 49"):
        ask(Given(torch.ones(4, 2), torch.ones(50, 2)), wrong, spans, access="request", seen="keep")


def test_a_repeat_head_is_asked_for_all_scores() -> None:
    histories, spans = log(20, 90, 2, seed=7)
    recipe = SASRec(embedding_dim=16, max_len=3, repeat_head=RepeatHead())
    network = recipe.build(num_items=90, unit="s", time_access=TimeAccess.REQUEST, seed=0)
    one, two = (
        ask(scorer, histories, spans, access="request", seen="keep") for scorer in (network, InFull(network))
    )
    assert one.tolist() == two.tolist()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64])
def test_counts_of_every_kind_of_number(dtype: torch.dtype) -> None:
    scores = torch.randint(-3, 4, (2, 5, 5000), generator=torch.Generator().manual_seed(1)).to(dtype)
    bar = scores[..., :1]
    assert torch.equal(at_least(scores, bar), (scores >= bar).sum(-1))
    assert torch.equal(rank(scores, torch.zeros(2, 5, dtype=torch.int64)), (scores >= bar).sum(-1))


def test_scores_that_learn_may_be_ranked() -> None:
    scores = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    assert rank(scores, torch.tensor([1])).tolist() == [2]
