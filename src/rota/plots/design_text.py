"""A design in words and numbers, for a terminal of 80 columns."""

import numpy as np
from rich import box
from rich.table import Table

from rota.analysis.designs import Design
from rota.kernels.certificate import Verdict
from rota.plots.wording import cycle_text, lag_text
from rota.spectra.lattice import Lattice
from rota.units import duration_text

__all__ = ["design_facts", "law_table"]

_MOST_ROWS = 12
_NOTHING = 5e-4  # written as 0.000
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def design_facts(design: Design) -> list[tuple[str, str]]:
    """Labels and values, in the order in which one asks."""
    heads, pairs = design.frequencies.cycles_per_second.shape
    certificate, needed = design.certificate, design.needed
    facts = [("profile", str(design.wanted)), ("admissible", f"{certificate.verdict}: {certificate.reason}")]
    if certificate.verdict == Verdict.NO and certificate.witness is not None:
        seen = certificate.witness
        what = "quadratic form" if seen.weights is not None else "value"
        facts.append(("witness", f"{what} {seen.value:.3g} at {len(seen.points)} points"))
    if certificate.verdict != Verdict.YES:
        facts.append(
            ("drawn", f"the nearest admissible profile, {design.distance:.3g} away where it is farthest")
        )
    expected, found = design.still
    spread, rmse = design.spread, design.rmse
    facts += [
        ("law", _law(design)),
        ("truncation", _truncation(design)),
        ("folding", _folding(design)),
        ("draw", f"{heads} heads of {pairs} pairs, {design.method}, seed {design.seed}"),
        ("never rotate", f"{expected:.1%} of pairs by the law, {found:.1%} in this draw"),
        (
            "error",
            f"{rmse.heads.mean():.3f} a head, {rmse.together:.3f} their mean: RMS over lags up to "
            f"{lag_text(float(design.lags[-1]))}",
        ),
        (
            f"{spread.seeds} seeds",
            f"{_range(spread.head_error)} a head, {_range(spread.mean_error)} their mean (9 in 10)",
        ),
        (
            "needed",
            f"{needed.normal:,} independent pairs for ±{design.error:g} at a lag, with "
            f"{design.confidence:.5g} confidence; {needed.bound:,} by the bound of Prop. 3.2",
        ),
    ]  # fmt: skip
    return facts


def law_table(design: Design) -> Table:
    """Harmonics with their cycles, masses and draws; of other laws, the cycles at some quantiles."""
    law = design.merged
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    if not isinstance(law, Lattice):
        table.add_column("of all pairs", justify="right")
        table.add_column("one turn takes", justify="right")
        absolute = law if law.is_folded else law.fold()
        for part in _QUANTILES:
            table.add_row(f"{part:.0%}", f"{cycle_text(float(absolute.quantile(part)))} or more")
        return table
    for name in ("harmonic", "one turn takes", "mass", "pairs a head", "drawn"):
        table.add_column(name, justify="right")
    heads, pairs = design.frequencies.cycles_per_second.shape
    drawn = np.rint(design.frequencies.cycles_per_second * law.period).astype(np.int64)
    largest = np.sort(np.argsort(-law.masses, kind="stable")[:_MOST_ROWS])
    for harmonic, mass in zip(law.harmonics[largest].tolist(), law.masses[largest].tolist(), strict=True):
        count = int((drawn == harmonic).sum())
        table.add_row(
            str(harmonic),
            cycle_text(harmonic / law.period),
            f"{mass:.4f}",
            f"{mass * pairs:.2f}",
            f"{count / heads:.2f}",
        )
    rest = len(law.harmonics) - len(largest)
    if rest:
        table.caption, table.caption_justify = f"other harmonics, of less mass: {rest}", "left"
    return table


def _law(design: Design) -> str:
    law = design.merged
    sided = "folded: absolute frequencies" if law.is_folded else "symmetric: both directions"
    if isinstance(law, Lattice) and not law.harmonics.any():
        return "a constant: no pair turns"
    if isinstance(law, Lattice):
        return f"harmonics up to {np.abs(law.harmonics).max()} of {duration_text(law.period)}, {sided}"
    kind = type(law).__name__.lower()
    half = cycle_text(float(law.fold().quantile(0.5)))
    return f"{kind}, {sided}; half of the pairs take {half} or more for a turn"


def _truncation(design: Design) -> str:
    law = design.law
    if not law.mass_cut:
        return "none"
    return f"cuts {law.mass_cut:.2%} of the mass, changes the profile by {law.sup_error:.2g} at most"


def _folding(design: Design) -> str:
    if not design.merged.is_folded:
        return "none: the profile has no conjugate term"
    largest, lag = design.conjugate
    if largest < _NOTHING:
        return "changes nothing"
    profile = float(np.interp(lag, design.lags, design.profile))
    return f"adds q x k times up to {largest:.3f}, at a lag of {lag_text(lag)} (f is {profile:.3f} there)"


def _range(low_high: tuple[float, float]) -> str:
    return f"{low_high[0]:.3f} to {low_high[1]:.3f}"
