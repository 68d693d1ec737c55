"""From lift to law: the nearest positive-definite profile to what was measured of a log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

import numpy as np

from rota.analysis.law_columns import Column, Decay, Harmonic, averaged, columns_of
from rota.analysis.law_search import LawSearch
from rota.analysis.law_sums import sums_of_folds
from rota.analysis.lift import Lift
from rota.analysis.profiles import Observed
from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.constant import Constant
from rota.kernels.harmonics import Harmonics
from rota.kernels.laplace import Laplace
from rota.kernels.measured import Measured
from rota.kernels.weighted_sum import WeightedSum
from rota.types import BoolArray, Duration, Float64Array
from rota.units import duration_text, seconds

__all__ = ["LawFit", "fit_law"]

_FEWEST_GROUPS = 4
_DIGITS = 4  # of a share of f(0)
_ROUNDS = 4  # of fits from which the next takes its precision and its first bin
_MOST_SHORT = 43_200.0  # seconds, or half of the shortest period: so much is left out at most
_RUN = 5  # bins over which a shortfall is looked for
_SEEN = 3.0  # standard errors
_CONFIDENCE = 0.95
_COARSE, _DAY = 3600.0, 86_400.0  # seconds of a bin: a log of hours, or of days


@dataclass(frozen=True, eq=False)
class LawFit:
    """A law that was fitted to a lift.

    Attributes:
        kernel: The law: non-negative weights on what stays, what recurs and what fades.
        lift: What it was fitted to.
        peak: Lift that it reaches at lag 0; the lift at a lag is fitted by ``peak`` times the profile.
        first: Shortest lag that was fitted, in seconds. Shorter ones are left out where the lift falls short
            of any such profile: nobody is in the same place twice within the hour, which is no routine.
        too_fast: Harmonics of the fit that are not in the law, since nothing is foreseen by them.
        whole: The fit with them; ``None`` if there are none.
        untold: Something may return after so many seconds or more, which the log is too short to tell.
        at_midnight: Share of the events that seem to be dates among true times.
    """

    kernel: Measured
    lift: Lift
    peak: float
    first: float
    too_fast: int = 0
    whole: "LawFit | None" = None
    untold: float | None = None
    at_midnight: float = 0.0

    @cached_property
    def fitted(self) -> Float64Array:
        """The law's lift in each bin, averaged over it as the measured one is; shape ``(bins,)``."""
        shares: list[tuple[float, Column]] = []
        for share, part in self.kernel.periodic:
            period, numbers, masses = part.arrays()
            columns = [Harmonic(period, number) for number in numbers.tolist()]
            shares += zip((share * masses).tolist(), columns, strict=True)
        shares += [(share, Decay(seconds(part.width))) for share, part in self.kernel.recency]
        weights = np.array([share for share, _ in shares])
        level = np.full(len(self.lift.lags), 1 - weights.sum())
        if not shares:
            return self.peak * level
        means = averaged([column for _, column in shares], self.lift.lags, self.lift.width)
        return np.asarray(self.peak * (level + means @ weights))

    @cached_property
    def seen(self) -> BoolArray:
        """Bins that were fitted: not too short, and with pairs in them; shape ``(bins,)``."""
        return np.asarray((self.lift.lags >= self.first) & (self.lift.expected.sum(axis=0) > 0))

    @cached_property
    def within(self) -> float:
        """Share of the bins fitted in which the law lies inside the 95 % band of the lift."""
        low, high = self.lift.band(_CONFIDENCE)
        inside = (low <= self.fitted) & (self.fitted <= high)
        return float(inside[self.seen].mean())

    @cached_property
    def distance(self) -> float:
        """Root mean square distance from the lift, in units of ``peak``, over the bins fitted.

        Bins weigh by the pairs that chance would give them.
        """
        weights = self.lift.expected.sum(axis=0)[self.seen]
        apart = (self.fitted - self.lift.value)[self.seen] / self.peak
        return float(np.sqrt(np.average(apart**2, weights=weights)))

    def observed(self, *, level: bool = True) -> Observed:
        """The lift and its band as a profile: divided by ``peak``, so that the law is fitted to it.

        Args:
            level: With the static part; without, both are what is left of f above it, divided by that.
        """
        low, high = self.lift.band(_CONFIDENCE)
        below = 0.0 if level else self.kernel.static
        curves = ((each / self.peak - below) / (1 - below) for each in (self.lift.value, low, high))
        return Observed(self.lift.lags, *curves)

    @property
    def in_words(self) -> str:
        """The law in one line, and how near it is to what was measured."""
        if self.kernel.static == 1:
            if self.untold is not None:
                least = duration_text(float(f"{self.untold:.3g}"))
                found = f"the log is too short for what may return after {least} or more"
                return f"nothing that can be told: {found}, so no feature turns by time{self._blind}"
            return f"nothing: neither routine nor recency was found, so no feature turns by time{self._blind}"
        fast = ""
        if self.whole is not None:
            near = self.whole._nearness
            fast = f"; {self.too_fast} faster harmonics, with which it is {near}, foresee nothing more"
        return f"{self.kernel.in_words}; {self._nearness} (RMS, of f(0)){fast}{self._blind}"

    @property
    def _nearness(self) -> str:
        """How much of what was measured is in its band, and how far the law is from it."""
        low, high = self.lift.band(_CONFIDENCE)
        alike = not (high - low)[self.seen].any()  # all users are
        inside = "" if alike else f"{self.within:.0%} of lags inside the 95% band, "
        return f"{inside}{self.distance:.3f} away"

    @property
    def _blind(self) -> str:
        """What coarse bins hide, which are as wide as the grid of the times."""
        width = self.lift.width
        if width < _COARSE:
            return ""
        dates = self.at_midnight if width >= _DAY else 0.0
        mixed = f" ({dates:.0%} of the times are dates alone)" if dates else ""
        least = duration_text(2 * width)
        return f"; in bins of {duration_text(width)}{mixed}, so that nothing below {least} is seen"

    def facts(self) -> Mapping[str, object]:
        """What JSON holds of it."""
        kernel, whole = self.kernel, self.whole
        return {
            "expression": str(kernel),
            "within_band": self.within,
            "distance": self.distance,
            "with_harmonics_too_fast": None
            if whole is None
            else {
                "expression": str(whole.kernel),
                "within_band": whole.within,
                "distance": whole.distance,
            },
            "static": kernel.static,
            "periodic": [
                {
                    "period_hours": part.arrays()[0] / 3600,
                    "share": share,
                    "harmonics": part.arrays()[1].tolist(),
                    "masses": (share * part.arrays()[2]).tolist(),
                }
                for share, part in kernel.periodic
            ],
            "recency": [
                {"width_hours": seconds(part.width) / 3600, "share": share} for share, part in kernel.recency
            ],
            "harmonics_too_fast": self.too_fast,
            "peak": self.peak,
            "first_lag_hours": self.first / 3600,
            "longest_lag_hours": float(self.lift.lags[-1]) / 3600,
            "bin_hours": self.lift.width / 3600,
            "users": self.lift.num_users,
            "pairs": self.lift.num_pairs,
            "share_of_users": self.lift.share,
            "untold_hours": None if self.untold is None else self.untold / 3600,
            "share_at_midnight": self.at_midnight,
        }


def fit_law(lift: Lift, periods: Sequence[Duration] = (), *, resolution: Duration | None = None) -> LawFit:
    """Fit what stays, harmonics of known periods, and decays to a lift, no weight being negative.

    The lift at a lag is how often two events so far apart are of one item, over chance. As a function of the
    lag it is the sum over items of a covariance, so that but for chance it is positive definite; the law is
    the lift divided by what the fit gives at lag 0, with the level to which it falls as its static part.
    Weighted least squares, each bin by its precision, with columns averaged over the bin as the lift is, and
    a ridge of one pair. How many harmonics and decays there are is chosen by users held out: the fewest that
    are within one standard error of the best; see `LawSearch`.

    Args:
        lift: Measured, in groups of users.
        periods: Those that were found in it; none makes a law of recency alone.
        resolution: Step of the log's clock where that is coarser than a bin.

    Raises:
        InputError: There are fewer than four groups of users, or a lag has no pair that chance would make one
            of the same item.
    """
    if len(lift.same) < _FEWEST_GROUPS or not lift.expected.sum() > 0:
        raise InputError(
            f"lift of {lift.num_users:,} users in {len(lift.same)} groups: a law is chosen by users held "
            f"out, of whom some come back to an item; expected at least {_FEWEST_GROUPS} groups"
        )
    columns = columns_of(
        [seconds(period) for period in periods],
        width=lift.width,
        resolution=0.0 if resolution is None else seconds(resolution),
        longest=float(lift.lags[-1]),
    )
    means = averaged(columns, lift.lags, lift.width)
    most = min(_MOST_SHORT, *(seconds(period) / 2 for period in periods)) if periods else _MOST_SHORT
    fit, first = np.ones(len(lift.lags)), 0
    for _ in range(_ROUNDS):
        folds = sums_of_folds(lift, means, fit, first)
        fit = means @ reduce(add, folds).solved(range(len(columns)))
        first = max(first, min(_shortfall(lift, fit), int(most / lift.width)))
    coefficients = LawSearch(columns, sums_of_folds(lift, means, fit, first)).coefficients()
    return LawFit(_kernel(columns, coefficients), lift, float(coefficients.sum()), float(lift.lags[first]))


def _shortfall(lift: Lift, fit: Float64Array) -> int:
    """How many of the first bins fall short of a fit, which no positive-definite profile can follow.

    Such a profile is largest at lag 0. Bins are looked at five together, up to the first five that are not
    three standard errors short.
    """
    expected = lift.expected.sum(axis=0)
    short = np.maximum(fit, 0) * expected - lift.same.sum(axis=0)
    run = np.ones(_RUN)
    together = np.convolve(short, run, "valid")
    error = np.sqrt(np.convolve(np.maximum(fit, 0) * expected, run, "valid"))
    enough = np.flatnonzero(~(together > _SEEN * error))
    return int(enough[0]) if len(enough) else 0


def _kernel(columns: Sequence[Column], coefficients: Float64Array) -> Measured:
    """The law of coefficients: shares of their sum, to four digits."""
    shares = np.round(coefficients / coefficients.sum(), _DIGITS)
    parts: list[tuple[Kernel, float]] = []
    periods = {column.period for column in columns if isinstance(column, Harmonic)}
    for period in sorted(periods):
        found = [
            (column.number, share)
            for column, share in zip(columns, shares.tolist(), strict=True)
            if isinstance(column, Harmonic) and column.period == period and share > 0
        ]
        if found:
            numbers, masses = zip(*found, strict=True)
            parts.append((Harmonics(period, numbers, masses), round(sum(masses), _DIGITS)))
    for column, share in zip(columns, shares.tolist(), strict=True):
        if isinstance(column, Decay) and share > 0:
            parts.append((Laplace(column.width), share))
    level = float(shares[0])
    if level > 0 or not parts:
        parts.insert(0, (Constant(), level or 1.0))
    if len(parts) == 1:
        return Measured(parts[0][0])
    return Measured(WeightedSum([part for part, _ in parts], [share for _, share in parts]))
