"""Routine: what this user does most, lately, around this time of day."""

from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from rota.batch import Batch
from rota.errors import InputError
from rota.histories import Histories, Spans
from rota.models.baseline import Baseline
from rota.models.frequency import Frequency
from rota.types import Duration
from rota.units import seconds, ticks_per_second, whole_ticks


@dataclass(frozen=True)
class Routine(Baseline):
    """`Frequency`, each event times ``exp(-d^2 / 2) + floor``.

    ``d`` is the distance on the clock face between the event and the query, modulo ``period``, in units of
    ``width``. A trained model that loses to this line of arithmetic has not learnt the routine.

    Attributes:
        num_items: Size of the catalogue.
        unit: Unit of the batch's times: s, ms, us or ns.
        half_life: Age, in events, at which an event counts half.
        period: Length of the clock face, a whole number of ticks.
        width: Distance at which the bump has fallen to ``exp(-1/2)``.
        floor: What an event at the opposite hour still counts.
    """

    num_items: int
    unit: str = "s"
    half_life: float | int = 50
    period: Duration = "24h"
    width: Duration = "2h"
    floor: float | int = 0.02
    max_len = None
    needs_clock = True
    personal = True

    @classmethod
    def fitted(cls, histories: Histories, counted: Spans) -> "Routine":
        """Take the size of the catalogue and the unit; what is counted is in each question."""
        return cls(histories.num_items, histories.unit)

    def __post_init__(self) -> None:
        whole_ticks(self.period, self.unit)
        seconds(self.width)
        if not self.floor >= 0:
            raise InputError(f"floor {self.floor}: expected zero or more")
        Frequency(self.num_items, self.half_life)

    def scores(self, batch: Batch) -> Float64[Tensor, "batch items"]:
        """Score of every item: the sum of its events' weights.

        Raises:
            InputError: The batch has no clock.
        """
        bump = torch.exp(-self._distance(batch).square() / 2) + self.floor
        weights = Frequency(self.num_items, self.half_life).weights(batch) * bump
        return weights.new_zeros(len(weights), self.num_items).scatter_add_(1, batch.items, weights)

    def _distance(self, batch: Batch) -> Float64[Tensor, "batch length"]:
        if batch.key_time is None or batch.query_time is None:
            raise InputError(
                "Routine needs a clock and the batch has none: choose time access history or request"
            )
        period = whole_ticks(self.period, self.unit)
        now = batch.query_time.gather(1, batch.lengths[:, None] - 1)
        # Integers to here: each time is reduced first, so that no difference can overflow.
        ahead = (now % period - batch.key_time % period) % period
        ticks = torch.minimum(ahead, period - ahead)
        return ticks.double() / (seconds(self.width) * ticks_per_second(self.unit))
