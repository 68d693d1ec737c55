"""Numbers as findings say them."""


def percent(part: int, whole: int) -> str:
    """A share: ``"12 %"``; ``"under 0.1 %"`` is not nothing, and ``"over 99.9 %"`` not all."""
    share = 100 * part / max(whole, 1)
    if 0 < share < 0.1:
        return "under 0.1 %"
    if 99.9 < share < 100:
        return "over 99.9 %"
    return f"{share:.1f} %" if 0 < share < 10 or 99 < share < 100 else f"{share:.0f} %"


def counted(number: int, noun: str) -> str:
    """A number and its noun: ``"1 user"``, ``"2,000 users"``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def length(seconds: float) -> str:
    """A length of time in its natural unit: ``"3.2 hours"``."""
    for noun, size in (("year", 365.25 * 86_400), ("day", 86_400.0), ("hour", 3600.0), ("minute", 60.0)):
        if seconds >= size:
            return f"{seconds / size:,.1f} {noun}s"
    return f"{seconds:,.3g} seconds"


def shortened(name: str, most: int = 40) -> str:
    """An id on one line, of bounded length."""
    line = " ".join(name.split())
    return line if len(line) <= most else line[: most - 1] + "…"
