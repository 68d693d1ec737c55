"""The repeat head's gate, trained from end to end: it learns how many of the next items are copies."""

from itertools import count

import numpy as np
import pytest
import torch

from rota.batch import TimeAccess, row_batch
from rota.errors import InputError
from rota.histories import Histories, Spans
from rota.models import RepeatHead, Transformer
from rota.training.loop import fit
from rota.training.losses.base import Loss
from rota.training.losses.full_softmax import FullSoftmax
from rota.training.losses.sampled_softmax import SampledSoftmax
from rota.training.negatives.base import Negatives
from rota.training.negatives.shared import SharedNegatives
from rota.training.negatives.uniform import UniformNegatives
from rota.training.recipe import Training
from rota.training.windows import TrainingWindows

ITEMS, LENGTH, LEARNT, ASKED, COPIES = 300, 12, 500, 200, 0.5
NONE = TimeAccess.NONE


def world(users: int, seed: int) -> Histories:
    """Half of the items are each that of one of the user's earlier events; the others any, at random."""
    rng = np.random.default_rng(seed)
    items = rng.integers(0, ITEMS, (users, LENGTH))
    for place in range(1, LENGTH):
        copied = rng.random(users) < COPIES
        items[copied, place] = items[copied, rng.integers(0, place, users)[copied]]
    return Histories(items.ravel(), np.arange(items.size), np.arange(users + 1) * LENGTH, ITEMS)


def learnt_share(loss: Loss) -> float:
    """Share of the copies, as the gate of a network says that was trained so, for users whom it never met."""
    model = Transformer(embedding_dim=16, num_layers=1, max_len=LENGTH, dropout=0.0, repeat_head=RepeatHead())
    network = model.build(num_items=ITEMS, unit="s", time_access=NONE, seed=0)
    histories = world(LEARNT, seed=1)
    starts, stops = histories.offsets[:-1], histories.offsets[1:]
    fit(
        network,
        TrainingWindows(histories, Spans(np.arange(LEARNT), starts, stops, stops), LENGTH, NONE),
        Training(epochs=5, batch_size=25, learning_rate=0.01, patience=1, loss=loss),
        seed=0,
        validate=map(float, count()).__next__,  # each epoch for better than the last
        keep=lambda: None,
        report=lambda _: None,
    )
    others = world(ASKED, seed=2)
    with torch.no_grad():
        said = network.eval()(row_batch(others, others.offsets[:-1], others.offsets[1:], NONE)).copies
    assert said is not None
    return float(1 - said.log_new.exp()[:, 1:-1].mean())


class Uncorrected(SampledSoftmax):
    """What `require_likelihood` refuses, passed off as a likelihood."""

    @property
    def is_likelihood(self) -> bool:
        return True


@pytest.fixture(scope="module")
def of_full_softmax() -> float:
    """Share that a network learns from the whole catalogue."""
    return learnt_share(FullSoftmax())


def test_full_softmax_teaches_the_gate_the_true_share(of_full_softmax: float) -> None:
    assert of_full_softmax == pytest.approx(COPIES, abs=0.05)


@pytest.mark.parametrize("negatives", [SharedNegatives(), UniformNegatives()], ids=repr)
def test_a_corrected_sample_teaches_it_the_same(negatives: Negatives, of_full_softmax: float) -> None:
    share = learnt_share(SampledSoftmax(96, negatives=negatives, log_q=True))
    assert share == pytest.approx(COPIES, abs=0.05)
    assert share == pytest.approx(of_full_softmax, abs=0.05)


def test_a_sample_that_is_not_corrected_would_close_it() -> None:
    """Among few negatives the catalogue seems a better source than it is: so such a loss is refused."""
    with pytest.raises(InputError, match="gives no probability"):
        learnt_share(SampledSoftmax(32))
    assert learnt_share(Uncorrected(32, log_q=False)) < COPIES - 0.09
