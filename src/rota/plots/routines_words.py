"""What was found of a log's routines in words, for terminal and picture alike."""

from rota.analysis.period import Period
from rota.analysis.periods import CYCLES
from rota.analysis.recency import Recency, recency_is_told
from rota.analysis.rhythm import Rhythm
from rota.analysis.routines import Routines
from rota.plots.wording import lag_text
from rota.units import duration_text

__all__: list[str] = ["lag_words", "period_text", "period_word", "routines_facts", "routines_verdict"]

_DAY = 86_400.0
_DIGITS = 6  # of a period that are written out
_CALENDAR = {_DAY: "a day", 7 * _DAY: "a week"}
_NAMES = {3600.0: "every hour", _DAY: "every day", 7 * _DAY: "every week", 14 * _DAY: "every fortnight"}


def period_word(period: Period) -> str:
    """A period as people say it, and as a profile has it: ``"24 h"``, ``"7 d"``, ``"31.68 h"``."""
    return period_text(period.seconds)


def period_text(seconds: float) -> str:
    """The same of seconds: to three digits where it is of no round length."""
    text = duration_text(seconds)
    number = text.rstrip("dhmins")
    return lag_text(seconds) if len(number) > _DIGITS else f"{number} {text[len(number) :]}"


def lag_words(lag: float, reach: float) -> str:
    """A lag on an axis that reaches so far: in hours while that is under four days."""
    return f"{lag / 3600:.3g} h" if lag >= 2 * _DAY and reach < 4 * _DAY else lag_text(lag)


def routines_verdict(found: Routines) -> str:
    """The verdict in one line."""
    what = "what a user does" if found.by == "item" else f"a user's {found.by}"
    if found.verdict == Rhythm.ROUTINE:
        names = [_NAMES.get(each.seconds, f"every {period_word(each)}") for each in found.periods]
        return f"routine: {what} returns {_listed(names)}"
    if found.recency is not None:
        most, half = lag_text(found.recency.lag), lag_text(found.recency.half_life)
        when = f"most after about {most}" if _is_later(found, found.recency) else "the likelier the sooner"
        none = "no period worth a prior" if found.faint else "no period"
        return f"recency: {what} returns {when} (half of it is gone after {half}); {none}"
    if found.verdict == Rhythm.UNKNOWN:
        return f"unknown: whether {what} returns cannot be told from this log"
    if found.faint:
        return f"nothing worth a prior: {what} hardly depends on how long ago it was done"
    return f"nothing: {what} does not depend on how long ago it was done"


def routines_facts(found: Routines) -> list[tuple[str, str]]:
    """Labels and values of what was looked at."""
    lift, search = found.lift, found.search
    of = f"{lift.num_users:,} users"
    sample = "all" if lift.share == 1 else f"a sample: {lift.share:.1%} of the users"
    clocks = {"local": "the users' own", "utc": "UTC", "as given": "as the log gives it"}
    left = f"; {found.left_out:,} rows without user or {found.by} left out" if found.left_out else ""
    reach = f"{lag_text(lift.width / 2)} to {lag_text(float(lift.lags[-1]))}"
    facts = [
        ("log", found.name),
        ("events", f"{found.events:,} over {found.span / _DAY:,.1f} days{left}"),
        ("pairs", f"{lift.num_pairs:,} of {of}, {reach} apart: {sample}"),
        ("clock", f"{clocks[found.clock]}, to {lag_text(found.resolution)}"),
        (
            "looked for",
            f"periods from {lag_text(search.shortest)} to {lag_text(search.longest)}{_blind(found)}",
        ),
    ]
    if not found.periods and search.least:
        needed = " or ".join(f"{least:.2g} at {lag_text(each)}" for each, least in search.least.items())
        facts.append(("would be seen", f"a lift of {needed} above that between"))
    if found.at_midnight and found.resolution < _DAY:
        facts.append(
            (
                "mind",
                f"{_at_midnight(found)}: if they are dates without a time, leave these rows out, or "
                "a day may be made of them",
            )
        )
    if untold := _untold(found):
        facts.append(("not to be told", "; ".join(untold)))
    return facts


def _untold(found: Routines) -> list[str]:
    """What this log cannot tell, and why."""
    search, said = found.search, []
    if not found.periods and found.span < CYCLES * _DAY:
        said.append(f"a day: the log does not hold {CYCLES:g} of them")
    if search.blind:
        names = " and ".join(_CALENDAR[each] for each in search.blind)
        said.append(f"{names}: hardly any two events of a user lie between whole ones")
    if search.untold is not None:
        least = lag_text(search.untold)
        said.append(f"after how long, {least} or more, something returns: the log is too short")
    if not recency_is_told(found.lift):
        reach = lag_text(float(found.lift.lags[-1]) / 4)
        said.append(f"recency: no pairs of events on both sides of {reach}")
    return said


def _is_later(found: Routines, recency: Recency) -> bool:
    """Whether at shorter lags not even half of the strength is there: it returns rather than lingers."""
    half = found.octaves[-1].lift + recency.strength / 2
    return any(each.lift < half for each in found.octaves if each.longest < recency.lag)


def _blind(found: Routines) -> str:
    """What coarse times hide."""
    if found.resolution < found.search.shortest / 2:
        return ""
    least = lag_text(found.search.shortest)
    if found.at_midnight and found.resolution == _DAY:
        return (
            f"; {_at_midnight(found)}, dates among true times, so nothing below {least} can be seen: take "
            "the rows with true times alone to look for hours"
        )
    grid = "dates alone" if found.resolution == _DAY else f"a grid of {lag_text(found.resolution)}"
    return f"; its times are {grid}, so nothing below {least} can be seen"


def _at_midnight(found: Routines) -> str:
    """How many times are midnight sharp."""
    return f"{found.at_midnight:.0%} of its times are midnight sharp"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
