"""What a report on a log must have to be shown, on the terminal and on a page."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

__all__ = ["Inspected", "InspectedSpread", "Problem"]


@runtime_checkable
class Problem(Protocol):
    """One thing that is wrong with a log: ``severity`` is error, warning or note."""

    @property
    def code(self) -> str: ...  # noqa: D102
    @property
    def severity(self) -> str: ...  # noqa: D102
    @property
    def message(self) -> str: ...  # noqa: D102
    @property
    def breaks(self) -> str: ...  # noqa: D102
    @property
    def remedy(self) -> str: ...  # noqa: D102
    @property
    def options(self) -> Sequence[str]: ...  # noqa: D102


@runtime_checkable
class InspectedSpread(Protocol):
    """How a number is spread: pairs of a percentage and a value, and of a range and how many lie in it."""

    @property
    def quantiles(self) -> Sequence[tuple[int, float]]: ...  # noqa: D102
    @property
    def bars(self) -> Sequence[tuple[str, int]]: ...  # noqa: D102


@runtime_checkable
class Inspected(Protocol):
    """A report on a log: `rota.data.doctor.Diagnosis` says what each of these is."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def now(self) -> str: ...  # noqa: D102
    @property
    def rows(self) -> int: ...  # noqa: D102
    @property
    def dropped(self) -> int: ...  # noqa: D102
    @property
    def skipped(self) -> int: ...  # noqa: D102
    @property
    def events(self) -> int: ...  # noqa: D102
    @property
    def users(self) -> int: ...  # noqa: D102
    @property
    def items(self) -> int: ...  # noqa: D102
    @property
    def unit(self) -> str: ...  # noqa: D102
    @property
    def unit_stated(self) -> bool: ...  # noqa: D102
    @property
    def absolute(self) -> bool: ...  # noqa: D102
    @property
    def known_epoch(self) -> bool: ...  # noqa: D102
    @property
    def zone(self) -> str | None: ...  # noqa: D102
    @property
    def ties_rule(self) -> str: ...  # noqa: D102
    @property
    def start(self) -> str | None: ...  # noqa: D102
    @property
    def end(self) -> str | None: ...  # noqa: D102
    @property
    def span_days(self) -> float: ...  # noqa: D102
    @property
    def resolution(self) -> str | None: ...  # noqa: D102
    @property
    def ties(self) -> int: ...  # noqa: D102
    @property
    def neighbours(self) -> int: ...  # noqa: D102
    @property
    def repeated(self) -> int: ...  # noqa: D102
    @property
    def events_per_user(self) -> InspectedSpread: ...  # noqa: D102
    @property
    def gaps(self) -> InspectedSpread: ...  # noqa: D102
    @property
    def hours_utc(self) -> Sequence[int] | None: ...  # noqa: D102
    @property
    def hours_local(self) -> Sequence[int] | None: ...  # noqa: D102
    @property
    def daily_start(self) -> str | None: ...  # noqa: D102
    @property
    def daily(self) -> Sequence[int]: ...  # noqa: D102
    @property
    def silences(self) -> Sequence[tuple[int, int]]: ...  # noqa: D102
    @property
    def findings(self) -> Sequence[Problem]: ...  # noqa: D102
    @property
    def stops(self) -> bool: ...  # noqa: D102
