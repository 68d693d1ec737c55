"""A report on a log for a terminal of 80 columns: small bars of hours and days, and what was found."""

from collections.abc import Sequence
from itertools import zip_longest

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from rota.plots.inspection import Inspected, Problem
from rota.plots.inspection_words import inspection_facts, verdict
from rota.plots.rates import daily_rates

__all__ = ["inspection_report"]

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_COLOURS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
_HEIGHT, _WIDE = 4, 70
_DAYS = "Mo Tu We Th Fr Sa Su"
_SPACE = "   "


def inspection_report(found: Inspected) -> RenderableType:
    """The report as something that Rich prints: facts, hours, weekdays, volume, findings.

    Args:
        found: The report.
    """
    facts = Table.grid(padding=(0, 2))
    for label, value in inspection_facts(found):
        facts.add_row(f"[bold]{label}[/]", escape(value))
    findings = Table.grid(padding=(0, 1, 1, 0))
    findings.add_column(no_wrap=True)
    findings.add_column()
    for problem in found.findings:
        findings.add_row(Text(problem.severity, _COLOURS.get(problem.severity, "")), _problem(problem))
    colour = _COLOURS["error"] if found.stops else "bold green"
    parts: list[RenderableType] = [facts, Text()]
    if found.hours_utc is not None or found.hours_local is not None:
        parts += [Text("\n".join(_hours(found))), Text()]
    if len(found.daily) > 1:
        parts += [Text("\n".join(_volume(found))), Text()]
    return Group(*parts, findings, Text(verdict(found), colour))


def bars(values: Sequence[float], width: int, height: int = _HEIGHT) -> list[str]:
    """Lines of a column chart from zero to the greatest value, each column so many characters wide."""
    top = max(values, default=0) or 1
    eighths = [max(round(8 * height * value / top), value > 0) for value in values]  # little is not nothing
    return [
        "".join(_EIGHTHS[min(max(each - 8 * row, 0), 8)] * width for each in eighths)
        for row in reversed(range(height))
    ]


def _hours(found: Inspected) -> list[str]:
    """Hours of the day on each clock that is known, and weekdays on the users' own, side by side."""
    panels = []
    known = (("the users' clock", found.hours_local), ("UTC", found.hours_utc))
    for name, week in known:
        if week is not None:
            hours = [float(sum(week[hour::24])) for hour in range(24)]
            panels.append([f"hours, {name}", *bars(hours, 1), "0     6     12    18"])
    week = found.hours_local if found.hours_local is not None else found.hours_utc
    if week is not None:
        days = [float(sum(week[24 * day : 24 * day + 24])) for day in range(7)]
        spaced = [" ".join(line[2 * day : 2 * day + 2] for day in range(7)) for line in bars(days, 2)]
        panels.append(["weekdays", *spaced, _DAYS])
    lines = zip_longest(*panels, fillvalue="")
    return [_SPACE.join(f"{part:<24}" for part in line).rstrip() for line in lines]


def _volume(found: Inspected) -> list[str]:
    """Events a day over the span; where nothing is drawn, there was none."""
    volume = daily_rates(found.daily, _WIDE)
    wide = max(_WIDE // len(volume), 1)
    first, last = found.daily_start or "day 0", (found.end or f"day {len(found.daily) - 1:,}")[:10]
    room = max(len(volume) * wide - len(first), len(last) + 1)
    title = f"events a day, up to {max(volume):,.0f}"
    return [title, *bars(volume, wide, 3), f"{first}{last:>{room}}"]


def _problem(problem: Problem) -> Text:
    text = Text(problem.message, "bold")
    text.append(f"\n{problem.breaks}", "not bold dim")
    text.append(f"\n{problem.remedy}", "not bold")
    if problem.options:
        text.append("\n\N{RIGHTWARDS ARROW} ", "not bold")
        text.append(" or ".join(problem.options), "not bold cyan")
    return text
