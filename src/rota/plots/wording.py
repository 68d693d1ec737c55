"""Lengths of time as pictures and tables write them: to three digits."""

__all__: list[str] = []


def cycle_text(cycles_per_second: float) -> str:
    """How long one turn takes: ``"24 h"``, ``"7 d"``, or ``"never"``."""
    if not cycles_per_second:
        return "never"
    return lag_text(1 / abs(cycles_per_second))


def lag_text(seconds: float) -> str:
    """A length of time to three digits: ``"24 h"``, ``"3.5 d"``."""
    units = (("d", 86_400.0, 2.0), ("h", 3600.0, 1.0), ("min", 60.0, 1.0))
    name, size = next(((name, size) for name, size, least in units if seconds >= least * size), ("s", 1.0))
    return f"{seconds / size:.3g} {name}" if seconds < 1e8 else f"{seconds / size:,.0f} {name}"
