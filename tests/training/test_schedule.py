"""Learning rate and end of a training, against PyTorch's own scheduler and a slow count."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.optim.lr_scheduler import ReduceLROnPlateau

from rota.training.recipe import Training
from rota.training.schedule import best_epoch, is_over, learning_rate, lowered

SCORES = st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), max_size=12)


@given(SCORES, st.integers(1, 4))
def test_it_is_lowered_when_pytorch_lowers_it(scores: list[float], plateau: int) -> None:
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    peer = ReduceLROnPlateau(optimizer, "max", factor=0.5, patience=plateau - 1, threshold=0)
    for score in scores:
        peer.step(score)
    training = Training(learning_rate=1.0, plateau=plateau)
    assert learning_rate(training, 0, scores) == optimizer.param_groups[0]["lr"]
    assert lowered(scores, 0) == 0


def test_it_rises_over_the_warm_up_and_then_stays() -> None:
    training = Training(learning_rate=0.4, warmup=4)
    rates = [learning_rate(training, step, ()) for step in range(6)]
    assert rates == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.4, 0.4])
    assert rates[4] == learning_rate(Training(learning_rate=0.4), 0, ()) == 0.4


@given(SCORES, st.integers(1, 4), st.integers(1, 12))
def test_it_ends_when_the_last_epochs_brought_nothing(
    scores: list[float], patience: int, epochs: int
) -> None:
    training = Training(epochs=epochs, patience=patience)
    best, since = -1.0, 0
    for score in scores:
        best, since = (score, 0) if score > best else (best, since + 1)
    assert is_over(training, scores) == (len(scores) >= epochs or since >= patience)
    assert best_epoch(scores) == (scores.index(max(scores)) if scores else -1)
