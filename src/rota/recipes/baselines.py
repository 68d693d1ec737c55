"""Untrained baselines: the lines of arithmetic that every trained arm stands beside."""

from collections.abc import Mapping

from rota.batch import TimeAccess
from rota.evaluation.protocol import ask
from rota.evaluation.run import Run
from rota.histories import flat_rows
from rota.models.base import Scorer
from rota.models.frequency import Frequency
from rota.models.popularity import Popularity
from rota.models.routine import Routine
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question

__all__ = ["baseline_runs"]


def baseline_runs(question: Question, protocol: Protocol) -> list[Run]:
    """Test ranks of popularity, frequency and routine; without a clock there is no routine.

    Popularity counts what the split lets it count; the others count the history that each question shows.
    """
    histories, test, counted = question.histories, question.stages.test, question.stages.counted
    models: Mapping[str, Scorer] = {
        "popularity": Popularity.of(
            histories.items[flat_rows(counted.starts, counted.stops)], histories.num_items
        ),
        "frequency": Frequency(histories.num_items),
        "routine": Routine(histories.num_items, histories.unit),
    }
    return [
        Run(name, None, ask(model, histories, test, access=protocol.time_access, seen=protocol.seen))
        for name, model in models.items()
        if not (model.needs_clock and protocol.time_access == TimeAccess.NONE)
    ]
