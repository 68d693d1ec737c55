"""What a network is told of each event: sums written out, and dropout on all of them."""

import pytest
import torch
from models_tried import ITEMS, some
from torch import nn

from rota.encodings import Calendar, TimestampEmbedding
from rota.errors import InputError
from rota.models import EventInput
from rota.models.event_input import time_features

DIM = 6


def made(*, places: int = 0, timed: bool = False, dropout: float = 0.0, scale: float = 1.0) -> EventInput:
    torch.manual_seed(0)
    features = time_features((Calendar(), TimestampEmbedding()), DIM, "s", 0.5) if timed else ()
    positions = nn.Embedding(places, DIM) if places else None
    return EventInput(nn.Embedding(ITEMS, DIM), positions, features, dropout=dropout, scale=scale)


@pytest.mark.parametrize("places", [0, 8])
@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_it_is_the_sum_of_its_parts(places: int, timed: bool, scale: float) -> None:
    events, batch = made(places=places, timed=timed, scale=scale), some("request")
    told = events(batch)
    extra = [feature(batch.key_time, batch.query_time) for feature in events.features]
    assert len(extra) == (2 if timed else 0)
    for row in range(3):
        for place in range(7):
            x = scale * events.items.weight[batch.items[row, place]]
            if events.positions is not None:
                x = x + events.positions.weight[place]
            for feature in extra:
                x = x + feature[row, place]
            torch.testing.assert_close(told[row, place], x)


def test_dropout_falls_on_the_sum_in_training_alone() -> None:
    events, batch = made(places=8, timed=True, dropout=0.4), some("request", (7,) * 60)
    dropped = events(batch).detach()
    whole = events.eval()(batch).detach()
    kept = dropped != 0
    assert float(kept.double().mean()) == pytest.approx(0.6, abs=0.04)
    # The share is a whole number of 65,536ths.
    torch.testing.assert_close(dropped[kept], whole[kept] / 0.6, rtol=2e-5, atol=0)


def test_tables_of_time_start_as_wide_as_asked() -> None:
    features = time_features((Calendar(),), 64, "s", 0.5)
    for table in features[0].children():
        assert float(table.weight.detach().std()) == pytest.approx(0.5, rel=0.15)


def test_what_is_missing_or_too_long_is_refused() -> None:
    with pytest.raises(InputError, match="7 events in a row: the network was built with max_len 5") as caught:
        made(places=5)(some("request"))
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="the calendar needs the time of each key"):
        made(timed=True)(some("none"))
