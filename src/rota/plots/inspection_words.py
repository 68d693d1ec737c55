"""A report on a log in words: its facts and its verdict, for terminal and page alike."""

from collections.abc import Callable

from rota.plots.inspection import Inspected, InspectedSpread
from rota.plots.wording import lag_text

__all__ = ["inspection_facts", "printable", "verdict"]

_KINDS = ("error", "warning", "note")


def printable(text: str) -> str:
    """A name on one line: what cannot be shown becomes the character that stands for such."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)


def verdict(found: Inspected) -> str:
    """The report in one line: how many errors, warnings and notes, and whether `prepare` goes on."""
    counts = [sum(each.severity == kind for each in found.findings) for kind in _KINDS]
    said = [f"{n} {kind}{'' if n == 1 else 's'}" for n, kind in zip(counts, _KINDS, strict=True) if n]
    then = "prepare stops at this log" if found.stops else "prepare accepts this log"
    return f"{', '.join(said) or 'nothing found'}: {then}"


def inspection_facts(found: Inspected) -> list[tuple[str, str]]:
    """Labels and values, in the order in which one asks."""
    facts = [
        ("log", printable(found.name)),
        ("rows", _rows(found)),
        ("events", f"{found.events:,} of {found.users:,} users on {found.items:,} items"),
        ("span", _span(found)),
        ("unit", f"{found.unit}, {'as stated or by its type' if found.unit_stated else 'inferred'}"),
        ("clock", _clock(found)),
        (
            "resolution",
            f"a {found.resolution}" if found.resolution else f"finer than a second ({found.unit})",
        ),
        ("a user has", _quantiles(found.events_per_user, lambda value: f"{value:,.0f}", "events")),
    ]
    if found.gaps.quantiles:
        facts.append(("between events", _quantiles(found.gaps, lag_text, "pass")))
    share = found.ties / max(found.neighbours, 1)
    rule = {"rows": "ordered by row", "column": "ordered by a column", "unordered": "in no order"}
    return [
        *facts,
        (
            "ties",
            f"{share:.1%} of neighbouring events of a user, {rule.get(found.ties_rule, found.ties_rule)}",
        ),
        ("repeated", f"{found.repeated:,} events equal another in user, item and time"),
    ]


def _rows(found: Inspected) -> str:
    lost = [
        f"{number:,} {what}"
        for number, what in ((found.dropped, "without user or item"), (found.skipped, "not readable"))
        if number
    ]
    return f"{found.rows:,}" + (f" ({', '.join(lost)})" if lost else "")


def _span(found: Inspected) -> str:
    days = f"{found.span_days:,.1f} days"
    if found.start is None or found.end is None:
        return f"{days} from an unknown zero"
    return f"{_minute(found.start)} to {_minute(found.end)} ({days})"


def _minute(instant: str) -> str:
    return instant[:-3].replace("T", " ") if instant.count(":") == 2 and "." not in instant else instant


def _clock(found: Inspected) -> str:
    if not found.known_epoch:
        return "counts from an unknown zero: no dates, no hours"
    read = "Unix time" if found.absolute else "readings of a wall clock"
    if found.zone is None:
        return f"{read}; no zone known"
    return f"{read}; users in {'zones named by row' if found.zone == 'by row' else printable(found.zone)}"


def _quantiles(spread: InspectedSpread, say: Callable[[float], str], what: str) -> str:
    values = dict(spread.quantiles)
    return f"{say(values[50])} {what} (median), {say(values[10])} to {say(values[90])} (8 in 10)"
