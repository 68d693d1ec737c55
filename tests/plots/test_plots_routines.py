"""The picture and the words of a log's routines: what was found is there, in its place, and nothing else."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from rich.console import Console

from rota.analysis.lift import Lift
from rota.analysis.period import Period
from rota.analysis.periods import PeriodSearch
from rota.analysis.recency import Octave, Recency
from rota.analysis.rhythm import Rhythm
from rota.analysis.routines import Routines
from rota.errors import InputError
from rota.plots import draw_routines, routines_figure
from rota.plots.routines_text import routines_report
from rota.plots.routines_words import lag_words, period_word, routines_facts, routines_verdict

HOUR, DAY = 3600.0, 86_400.0
RECENT = Recency(0.5, 0.4, 0.6, 2 * HOUR, 3 * DAY, 2 * DAY, 5 * DAY)


def lift(width: float, longest: float, groups: int = 12) -> Lift:
    """Twice chance within an hour of whole days, and half of it elsewhere."""
    lags = width * np.arange(1, round(longest / width) + 1, dtype=np.float64)
    away = np.abs(lags / DAY - np.rint(lags / DAY)) * DAY
    expected = np.full((groups, len(lags)), 50.0)
    same = np.rint(expected * np.where(away <= HOUR, 2.0, 0.5)).astype(np.int64)
    same += np.random.default_rng(0).integers(-5, 6, same.shape)
    return Lift(lags, width, same, same * 3, expected, 300, int(same.sum()) * 3, 1.0)


def period(seconds: float, strength: float) -> Period:
    return Period(seconds, seconds, seconds, strength, strength * 0.9, strength * 1.1, HOUR, 9.0, 4.0)


def routines(*periods: Period, faint: tuple[Period, ...] = (), recency: Recency | None = RECENT) -> Routines:
    verdict = Rhythm.ROUTINE if periods else Rhythm.NOTHING if recency is None else Rhythm.RECENCY
    octaves = tuple(
        Octave(HOUR * 2**k, HOUR * 2 ** (k + 1), 1.5 - 0.1 * k, 1.4 - 0.1 * k, 1.6) for k in range(8)
    )
    near = lift(600, 2.25 * DAY) if periods else lift(HOUR, 60 * DAY)
    return Routines(
        "check-ins", "item", "local", 1000, 0, 150 * DAY, 1.0, verdict,
        PeriodSearch((*periods, *faint), 2 * HOUR, 60 * DAY, {DAY: 0.08, 7 * DAY: 0.06}), periods, faint,
        (HOUR,) * len(periods), recency, octaves, lift(HOUR, 60 * DAY), near,
    )  # fmt: skip


def printed(found: Routines, width: int = 80) -> str:
    console = Console(width=width, emoji=False, color_system=None)
    with console.capture() as capture:
        console.print(routines_report(found), highlight=False)
    return capture.get()


def titles(figure: Figure) -> list[str]:
    return [axis.get_title(loc="left") for axis in figure.axes]


def test_a_routine_has_its_panels_and_names() -> None:
    figure = routines_figure(routines(period(DAY, 1.5), faint=(period(7 * DAY, 0.2),)))
    assert titles(figure) == [
        "From near: the first cycles of 24 h", "The first cycles of 7 d", "All lags, by octaves: recency",
    ]  # fmt: skip
    near, far, octaves = figure.axes
    assert near.get_xlim() == (0, 2.25 * DAY)
    assert far.get_xlim()[1] == pytest.approx(15.75 * DAY, rel=0.01)
    assert [text.get_text().strip() for text in near.texts] == ["24 h: +1.50 (1.35 to 1.65)"]
    assert "7 d: +0.20 (0.18 to 0.22), faint" in [text.get_text().strip() for text in far.texts]
    upright = [line.get_xdata()[0] for line in near.lines if line.get_xdata()[0] == line.get_xdata()[1]]
    assert upright == [DAY, 2 * DAY]
    assert "gone after 3 d" in octaves.texts[0].get_text()
    assert figure.texts[0].get_text() == "Routine: what a user does returns every day"


def test_the_lift_is_drawn_as_it_is_with_its_band() -> None:
    found = routines(period(DAY, 1.5))
    axis = routines_figure(found).axes[0]
    (curve,) = [line for line in axis.lines if len(line.get_xdata()) > 2]
    np.testing.assert_array_equal(curve.get_ydata(), found.near.value)
    band = axis.collections[0].get_paths()[0].vertices[:, 1]
    lo, hi = found.near.band(0.95)
    assert (band.min(), band.max()) == pytest.approx((lo.min(), hi.max()))


def test_without_a_period_the_first_days_are_shown() -> None:
    for recency in (RECENT, None):
        figure = routines_figure(routines(recency=recency))
        assert titles(figure) == ["The first days", "All lags, by octaves: recency"]
        assert not figure.axes[0].texts
        assert len(figure.axes[1].texts) == (recency is not None)


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_picture_is_written(tmp_path: Path, suffix: str) -> None:
    draw_routines(routines(period(DAY, 1.5)), tmp_path / f"found{suffix}")
    assert (tmp_path / f"found{suffix}").stat().st_size > 10_000
    with pytest.raises(InputError, match="unknown format"):
        draw_routines(routines(period(DAY, 1.5)), tmp_path / "found.doc")


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_has_all_within_its_width(width: int) -> None:
    found = routines(period(DAY, 1.5), period(7 * DAY, 0.4), faint=(period(36 * HOUR, 0.2),))
    text = printed(replace(found, name="w" * 120 + "\x1b[31m"), width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text
    for said in ("every day and every week", "1.35 to 1.65", "faint", "half gone after 3 d", "use: a clock"):
        assert said in " ".join(text.split())


def test_the_small_picture_has_its_peaks_and_the_level_of_chance() -> None:
    lines = printed(routines(period(DAY, 1.5))).splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("lift by lag"))
    rows, axis, below = lines[start + 1 : start + 8], lines[start + 8], lines[start + 9]
    assert rows[0].startswith("   2 ┤")
    assert [row[:5].strip() for row in rows].count("1") == 1
    tall = [k for k, mark in enumerate(rows[1]) if mark == "█"]
    ticks = [k for k, mark in enumerate(axis) if mark == "┴"]
    assert len(ticks) == 3  # at zero, one and two days
    assert {min(abs(k - tick) for tick in ticks) for k in tall} <= {0, 1, 2}
    assert {min(abs(k - tick) for k in tall) for tick in ticks[1:]} <= {0, 1}
    assert "24 h" in below
    assert "48 h" in below


def test_verdicts_in_words() -> None:
    assert (
        routines_verdict(routines(period(36 * HOUR, 1.0))) == "routine: what a user does returns every 36 h"
    )
    assert "the likelier the sooner (half of it is gone after 3 d)" in routines_verdict(routines())
    late = replace(RECENT, lag=40 * HOUR)  # the first octaves are as high: it lingers
    assert "the likelier the sooner" in routines_verdict(routines(recency=late))
    found = routines(recency=late)
    low = tuple(replace(each, lift=0.5) for each in found.octaves[:2])
    assert "most after about 40 h" in routines_verdict(replace(found, octaves=low + found.octaves[2:]))
    nothing = routines(recency=None)
    assert (
        routines_verdict(nothing) == "nothing: what a user does does not depend on how long ago it was done"
    )
    faint = replace(nothing, faint=(period(DAY, 0.06),))
    assert routines_verdict(faint).startswith("nothing worth a prior: what a user does hardly depends")
    assert "; no period worth a prior" in routines_verdict(replace(faint, recency=RECENT))
    unknown = replace(nothing, verdict=Rhythm.UNKNOWN)
    assert "cannot be told from this log" in routines_verdict(unknown)
    assert "cannot be told" in printed(unknown)
    by = replace(routines(period(DAY, 1.0)), by="kind", left_out=1234)
    assert routines_verdict(by) == "routine: a user's kind returns every day"
    assert "1,234 rows without user or kind left out" in dict(routines_facts(by))["events"]


def test_a_period_is_written_as_its_prior_has_it() -> None:
    for seconds, text in ((87_012, "24.17 h"), (7 * DAY, "7 d"), (1500, "25 min"), (87_013.37, "24.2 h")):
        found = routines(period(seconds, 1.0))
        assert period_word(found.periods[0]) == text
        assert f"every {text}" in routines_verdict(found) or seconds == 7 * DAY
        if seconds != 87_013.37:
            assert f"wrapped_gaussian({text.replace(' ', '')}, " in str(found.prior)


def test_what_cannot_be_told_is_said() -> None:
    found = routines(recency=None)
    assert "not to be told" not in dict(routines_facts(found))
    search = PeriodSearch((), 2 * HOUR, 60 * DAY, {}, untold=50 * DAY)
    said = dict(routines_facts(replace(found, search=search)))
    assert said["not to be told"].startswith("a day and a week: hardly any two events of a user lie between")
    assert "50 d or more" in said["not to be told"]
    assert "would be seen" not in said
    far = found.lift.lags > 50 * DAY
    apart = replace(found.lift, expected=np.where(far, found.lift.expected, 0.0))
    assert "recency: no pairs" in dict(routines_facts(replace(found, lift=apart)))["not to be told"]


def test_what_coarse_times_hide_is_said() -> None:
    fine = dict(routines_facts(routines(recency=None)))
    assert fine["looked for"] == "periods from 2 h to 60 d"
    assert "0.08 at 24 h" in fine["would be seen"]
    search = PeriodSearch((), 2 * DAY, 60 * DAY, {})
    dates = replace(routines(recency=None), resolution=DAY, search=search)
    assert "dates alone, so nothing below 2 d can be seen" in dict(routines_facts(dates))["looked for"]
    assert (lag_words(2 * DAY, 2.25 * DAY), lag_words(2 * DAY, 9 * DAY)) == ("48 h", "2 d")
