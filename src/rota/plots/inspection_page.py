"""A report on a log as a page for a browser: one file, light or dark, for a desk and for a phone."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

from rota.plots.inspection import Inspected, InspectedSpread, Problem
from rota.plots.inspection_svg import area_svg, bar_svg, columns_svg, heat_svg
from rota.plots.inspection_words import inspection_facts, printable, verdict
from rota.plots.wording import lag_text

__all__ = ["inspection_html"]

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_TEMPLATE = "inspection.html"


def inspection_html(found: Inspected) -> str:
    """The page as text. Names of logs and users may hold anything: they are shown, never obeyed.

    Args:
        found: The report.
    """
    template = Template(files("rota.plots").joinpath(_TEMPLATE).read_text(encoding="utf-8"))
    return template.substitute(
        name=_text(found.name),
        now=_text(found.now),
        verdict=_text(verdict(found)),
        state="stop" if found.stops else "care" if _warned(found) else "go",
        tiles=_tiles(found),
        findings="".join(map(_card, found.findings))
        or '<p class="calm">Nothing found that needs mending.</p>',
        clocks=_clocks(found),
        volume=_volume(found),
        spreads=_spreads(found),
        facts="".join(
            f"<tr><th>{_text(label)}</th><td>{_text(value)}</td></tr>"
            for label, value in inspection_facts(found)
        ),
    )


def _text(text: str) -> str:
    return escape(printable(text).replace(" %", "\N{NO-BREAK SPACE}%"))


def _warned(found: Inspected) -> bool:
    return any(each.severity == "warning" for each in found.findings)


def _tiles(found: Inspected) -> str:
    events, gaps = dict(found.events_per_user.quantiles), dict(found.gaps.quantiles)
    tiles = [
        (f"{found.events:,}", "events"),
        (f"{found.users:,}", "users"),
        (f"{found.items:,}", "items"),
        (lag_text(86_400 * found.span_days) if found.span_days < 3 else f"{found.span_days:,.0f} d", "span"),
        (f"{events[50]:,.0f}", "events of the median user"),
        (lag_text(gaps[50]) if gaps else "none", "median time to the next event"),
        (f"{found.ties / max(found.neighbours, 1):.1%}", "of neighbouring events tied"),
    ]
    return "".join(f"<li><b>{_text(value)}</b><span>{label}</span></li>" for value, label in tiles)


def _card(problem: Problem) -> str:
    options = "".join(
        f'<button type="button" class="option" title="Copy">{_text(option)}</button>'
        for option in problem.options
    )
    mended = f'<p class="options">{options}</p>' if options else ""
    kind = _text(problem.severity)
    return (
        f'<article class="{kind}"><h3><span class="kind">{kind}</span>{_text(_title(problem.code))}</h3>'
        f"<p>{_text(problem.message)}</p>"
        f'<p class="part"><b>What it breaks</b>{_text(problem.breaks)}</p>'
        f'<p class="part"><b>What mends it</b>{_text(problem.remedy)}</p>{mended}</article>'
    )


def _title(code: str) -> str:
    return code.replace("_", " ").capitalize()


def _clocks(found: Inspected) -> str:
    known = (("On the users\u2019 clocks", found.hours_local), ("In UTC", found.hours_utc))
    panels = [_clock(title, week) for title, week in known if week is not None]
    if not panels:
        return ""
    return f'<section><h2>Hours of the week</h2><div class="pair">{"".join(panels)}</div></section>'


def _clock(title: str, week: Sequence[int]) -> str:
    hours = [sum(week[hour::24]) for hour in range(24)]
    total = sum(week) or 1
    shares = "".join(f"<span>{sum(week[24 * d : 24 * d + 24]) / total:.0%}</span>" for d in range(7))
    days = "".join(f"<span>{day}</span>" for day in _WEEKDAYS)
    ticks = "".join(f"<span>{hour:02d}</span>" for hour in range(0, 24, 3))
    peak = max(range(24), key=hours.__getitem__)
    return (
        f'<figure class="clock"><figcaption>{title}</figcaption>'
        f"{columns_svg(hours, f'Events by hour of the day, most at {peak:02d}:00')}"
        f'<div class="rows days">{days}</div>{heat_svg(week, "Events by weekday and hour")}'
        f'<div class="rows shares">{shares}</div><div class="ticks">{ticks}</div></figure>'
    )


def _volume(found: Inspected) -> str:
    if len(found.daily) < 2:
        return ""
    first = found.daily_start or "day 0"
    last = (found.end or f"day {len(found.daily) - 1:,}").partition("T")[0]
    mean = sum(found.daily) / len(found.daily)
    missing = sum(days for _, days in found.silences)
    band = f'<span class="key">{missing:,} silent days</span>' if missing else ""
    picture = area_svg(found.daily, found.silences, f"Events a day from {first} to {last}")
    return (
        f"<section><h2>Events a day</h2><figure>{picture}"
        f'<div class="ends"><span>{_text(first)}</span><span>{_text(last)}</span></div>'
        f'<figcaption class="below">{mean:,.0f} events a day in the mean. {band}</figcaption>'
        "</figure></section>"
    )


def _spreads(found: Inspected) -> str:
    panels = [
        _spread("Events of a user", found.events_per_user, "users"),
        _spread("Time to a user\u2019s next event", found.gaps, "pairs of events, ties left out"),
    ]
    return f'<section class="pair">{"".join(panels)}</section>'


def _spread(title: str, spread: InspectedSpread, what: str) -> str:
    top, total = max((n for _, n in spread.bars), default=0) or 1, sum(n for _, n in spread.bars)
    rows = "".join(
        f"<span>{_text(label)}</span>{bar_svg(number / top)}<span>{number:,}</span>"
        for label, number in spread.bars
    )
    return (
        f'<figure><h2>{title}</h2><div class="bars">{rows}</div>'
        f'<figcaption class="below">{total:,} {what}</figcaption></figure>'
    )
