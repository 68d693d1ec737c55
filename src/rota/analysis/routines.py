"""Routines: what was found in a log, the verdict, and what to make of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from rota.analysis.lift import Lift
from rota.analysis.period import Period
from rota.analysis.periods import PeriodSearch
from rota.analysis.recency import Octave, Recency
from rota.analysis.rhythm import Rhythm
from rota.units import duration_text

__all__: list[str] = ["Routines"]

SCHEMA = "rota.routines/1"
_HOUR, _DAY = 3600.0, 86_400.0
_TO_GAUSSIAN = 1.1774  # half the width at half the height of a Gaussian, in standard deviations


@dataclass(frozen=True, eq=False)
class Routines:
    """What `rota routines` finds.

    Attributes:
        name: Of the log.
        by: What had to be the same: ``"item"``, or the name of a column.
        clock: Whose hours: ``"local"``, ``"utc"``, or ``"as given"`` where no zone is known.
        events: How many were looked at.
        left_out: Rows that had no user, or none of what had to be the same.
        span: From the first event to the last, in seconds.
        resolution: Grid of the times, in seconds.
        verdict: Routine, recency, nothing, or unknown.
        search: What periods were looked for; those found, faint ones among them.
        periods: Those that the verdict is of, the strongest first.
        faint: Those that are told from chance but too weak to be worth a prior.
        half_widths: Of the first peak of each of the periods at half its height, in seconds.
        recency: Recency, if there is any.
        octaves: The lift by octaves of the lag.
        lift: Up to 2.5 times the longest period looked for.
        near: Over the first cycles of the strongest period in fine bins; without any, as ``lift``.
        at_midnight: Share of the events that seem to be dates among true times, see `midnight_share`. Where
            they are many the resolution is a day.
    """

    name: str
    by: str
    clock: str
    events: int
    left_out: int
    span: float
    resolution: float
    verdict: Rhythm
    search: PeriodSearch
    periods: tuple[Period, ...]
    faint: tuple[Period, ...]
    half_widths: tuple[float, ...]
    recency: Recency | None
    octaves: tuple[Octave, ...]
    lift: Lift
    near: Lift
    at_midnight: float = 0.0

    @property
    def prior(self) -> str | None:
        """A profile by hand that comes near the periods, as an expression; ``None`` without any.

        Wrapped Gaussians as wide as the peaks are at half their height; several weigh as their strengths.
        """
        total = sum(each.strength for each in self.periods)
        parts = []
        for each, half in zip(self.periods, self.half_widths, strict=True):
            weight = "" if len(self.periods) == 1 else f" * {each.strength / total:.2g}"
            width = duration_text(_short(half / _TO_GAUSSIAN))
            parts.append(f"wrapped_gaussian({duration_text(each.seconds)}, {width}){weight}")
        return " + ".join(parts) or None

    @property
    def use(self) -> str:
        """What to make of it, in a sentence or two."""
        if self.verdict == Rhythm.ROUTINE:
            beside = " beside RoPE, which sees how recent an event is" if self.recency is not None else ""
            return (
                f"a clock: ClockRoPE{beside}. The prior {self.prior} comes near; `rota prior --log` draws "
                "the law that the log itself has, and the arm rope+clockrope-measured takes it from training "
                "events."
            )
        if self.verdict == Rhythm.RECENCY:
            return (
                "order and age, no hour: RoPE, or a profile that decays with the lag. A periodic prior would "
                "spend features on a return that is not there."
            )
        if self.verdict == Rhythm.UNKNOWN:
            return "a longer log, or one of other hours: this one cannot tell whether anything returns."
        why = (
            "what returns is too faint to be worth one"
            if self.faint
            else "how long ago an event was says nothing of whether it is repeated"
        )
        return f"no clock: {why}. Popularity, order and content are what is left to learn."

    def to_json(self) -> Mapping[str, object]:
        """All figures but the bins', by name; lags and periods in hours."""
        return {
            "schema": SCHEMA,
            "verdict": str(self.verdict),
            "use": self.use,
            "prior": self.prior,
            "periods": [
                {**_of_period(each), "half_width_hours": half / _HOUR}
                for each, half in zip(self.periods, self.half_widths, strict=True)
            ],
            "faint": [_of_period(each) for each in self.faint],
            "recency": None if self.recency is None else _of_recency(self.recency),
            "octaves": [_of_octave(each) for each in self.octaves],
            "looked_for": {
                "shortest_hours": self.search.shortest / _HOUR,
                "longest_hours": self.search.longest / _HOUR,
                "least_strength": {duration_text(each): least for each, least in self.search.least.items()},
                "no_pairs_to_tell": [duration_text(each) for each in self.search.blind],
                "untold_hours": None if self.search.untold is None else self.search.untold / _HOUR,
            },
            "log": {
                "name": self.name,
                "by": self.by,
                "clock": self.clock,
                "events": self.events,
                "left_out": self.left_out,
                "span_days": self.span / _DAY,
                "resolution_seconds": self.resolution,
                "share_at_midnight": self.at_midnight,
            },
            "pairs": {
                "counted": self.lift.num_pairs,
                "users": self.lift.num_users,
                "share_of_users": self.lift.share,
                "longest_lag_hours": float(self.lift.lags[-1]) / _HOUR,
                "bin_seconds": self.lift.width,
            },
        }


def _of_period(each: Period) -> dict[str, object]:
    return {
        "period_hours": each.seconds / _HOUR,
        "strength": each.strength,
        "lo": each.lo,
        "hi": each.hi,
        "shortest_hours": each.shortest / _HOUR,
        "longest_hours": each.longest / _HOUR,
        "z": each.z,
        "critical_z": each.critical,
    }


def _of_recency(found: Recency) -> dict[str, object]:
    return {
        "strength": found.strength,
        "lo": found.lo,
        "hi": found.hi,
        "lag_hours": found.lag / _HOUR,
        "half_life_hours": found.half_life / _HOUR,
        "half_life_lo_hours": found.half_life_lo / _HOUR,
        "half_life_hi_hours": found.half_life_hi / _HOUR,
    }


def _of_octave(each: Octave) -> dict[str, float]:
    lags = {"from_hours": each.shortest / _HOUR, "to_hours": each.longest / _HOUR}
    return {**lags, **{name: value for name, value in asdict(each).items() if name in ("lift", "lo", "hi")}}


def _short(length: float) -> float:
    """To two digits of seconds, from a minute on to whole ones, from two hours on to ten of them."""
    if length < 60:
        return float(f"{length:.2g}")
    step = 60.0 if length < 2 * _HOUR else 600.0
    return step * round(length / step)
