"""The unit of a clock: as stated, as its type says, or inferred from the magnitude; nothing is rounded."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import ibis
import ibis.expr.types as ir

from rota.data.places import Place
from rota.errors import InputError
from rota.units import UNITS, Unit, ticks_per_second

__all__ = []


@ibis.udf.scalar.builtin(name="divide")  # type: ignore[untyped-decorator]
def _divide(ticks: int, by: int) -> int:  # type: ignore[empty-body]
    """DuckDB's division of whole numbers: Ibis' ``//`` goes by way of float64 and may be one off."""


# A log's median event lies in between: the four units' ranges do not overlap, so the magnitude decides.
_EARLIEST, _LATEST = 315_532_800, 7_258_118_400  # 1980 and 2200, Unix seconds
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Instants:
    """Times of all events, still to be computed.

    Attributes:
        ticks: Unix time, or the reading of a wall clock, in whole ticks of ``unit``: int64.
        unit: Unit of ``ticks``.
        stated: The unit was stated or is part of the column's type; otherwise inferred from the magnitude.
        absolute: The ticks are instants (Unix time) and not the reading of a wall clock.
        zone: Time zone that the column's type names, if any.
    """

    ticks: ir.IntegerValue
    unit: Unit
    stated: bool
    absolute: bool = True
    zone: str | None = None


@dataclass(frozen=True)
class Times:
    """A time column whose type is understood, before its unit is settled.

    Attributes:
        place: The column.
        ticks: Its ticks: int64.
        unit: Unit of those ticks; ``None`` for plain numbers.
        absolute: They are instants and not the reading of a wall clock.
        zone: Zone that the type names.
    """

    place: Place
    ticks: ir.IntegerValue
    unit: Unit | None = None
    absolute: bool = True
    zone: str | None = None

    def questions(self) -> Mapping[str, ir.Scalar]:
        """What must be known before the unit is settled, as aggregates over all rows."""
        ticks = self.ticks
        asked: dict[str, ir.Scalar] = {"count": ticks.count(), "least": ticks.min(), "most": ticks.max()}
        if self.unit is None:
            for unit in UNITS:
                size = ticks_per_second(unit)
                asked[f"before_{unit}"] = (ticks < _EARLIEST * size).sum()
                asked[f"until_{unit}"] = (ticks < _LATEST * size).sum()
            return asked
        for power in range(1, UNITS.index(self.unit) + 1):
            asked[f"finer_{power}"] = (ticks % 1000**power != 0).any()
        return asked

    def settle(self, unit: Unit | None, known_epoch: bool, answers: Mapping[str, object]) -> Instants:
        """Choose the unit.

        Args:
            unit: As stated; ``None`` takes that of datetimes (the coarsest that is exact), or infers that
                of numbers from their magnitude.
            known_epoch: Numbers count from 1970.
            answers: To `questions`.

        Raises:
            InputError: It cannot be told, or would round or overflow.
        """
        if self.unit is not None:
            if not known_epoch:
                raise InputError(
                    f"{self.place} has dates, which count from a known day: leave the unknown epoch out "
                    "(epoch=, --epoch)"
                )
            return self._datetimes(unit, self.unit, answers)
        return Instants(self.ticks, unit or self._infer(known_epoch, answers), stated=unit is not None)

    def _infer(self, known_epoch: bool, answers: Mapping[str, object]) -> Unit:
        if not known_epoch:
            raise InputError(
                f"{self.place} counts from an unknown zero, so the magnitude does not tell its unit: state "
                "it (unit=, --unit)"
            )
        middle = cast(int, answers["count"]) // 2
        for unit in UNITS:
            if cast(int, answers[f"before_{unit}"]) <= middle < cast(int, answers[f"until_{unit}"]):
                return unit
        raise InputError(
            f"{self.place} runs from {answers['least']} to {answers['most']}: its median is no Unix time "
            "between 1980 and 2200 in s, ms, us or ns: state the unit (unit=, --unit), and if it does not "
            "count from 1970, that too (epoch=, --epoch unknown)"
        )

    def _datetimes(self, stated: Unit | None, held: Unit, answers: Mapping[str, object]) -> Instants:
        """In the coarsest unit in which all are whole: the same log whichever library chose the type."""
        finest = UNITS.index(held)
        powers = [power for power in range(1, finest + 1) if not answers[f"finer_{power}"]]
        coarsest = UNITS[finest - max(powers, default=0)]
        unit = stated or coarsest
        if ticks_per_second(unit) < ticks_per_second(coarsest):
            raise InputError(
                f"{self.place} has datetimes exact to {coarsest}, which unit {unit!r} would round: "
                f"state {coarsest!r} or leave the unit out"
            )
        shrink = ticks_per_second(held) // ticks_per_second(coarsest)
        grow = ticks_per_second(unit) // ticks_per_second(coarsest)
        reach = max(abs(cast(int, answers["least"])), abs(cast(int, answers["most"])))
        if reach // shrink * grow > _LARGEST:
            raise InputError(
                f"{self.place} has datetimes too far from 1970 for int64 in unit {unit!r}: "
                "state a coarser unit"
            )
        ticks = _divide(self.ticks, shrink) * grow
        return Instants(ticks.cast("int64"), unit, True, self.absolute, self.zone)
