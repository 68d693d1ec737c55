"""log_prior: from a log to the law of its routines, and the frequencies that realise it."""

import json
from dataclasses import dataclass
from pathlib import Path

import tomli_w

from rota.analysis.designs import Design
from rota.analysis.law_fit import LawFit
from rota.data.log import Log
from rota.files import written_whole
from rota.plots.wording import lag_text
from rota.recipes.designing import design
from rota.recipes.enough import naming
from rota.recipes.measuring import Report, measure_law
from rota.tables import to_table

__all__ = ["LogPrior", "prior_of_log"]


@dataclass(frozen=True, eq=False)
class LogPrior:
    """A law that was measured on a log, and a draw from it.

    Attributes:
        name: Of the log.
        fingerprint: Of its events.
        law: What was measured, and what was fitted to it.
        design: What was drawn.
    """

    name: str
    fingerprint: str
    law: LawFit
    design: Design

    def describe(self) -> list[tuple[str, str]]:
        """What was measured, as labels and values."""
        lift, law = self.law.lift, self.law
        users = f"{lift.num_users:,} users, {lift.num_pairs:,} pairs of events"
        some = "" if lift.share == 1 else f" ({lift.share:.0%} of users with two events, at random)"
        facts = [
            ("log", self.name),
            (
                "measured",
                f"{users}{some} up to {lag_text(float(lift.lags[-1]))} apart, in bins of "
                f"{lag_text(lift.width)}",
            ),
            ("law", law.in_words),
        ]
        if law.first > lift.width:
            facts.append(
                (
                    "left out",
                    f"lags under {lag_text(law.first)}: so soon fewer return than any such profile has",
                )
            )
        return facts

    def facts(self) -> dict[str, object]:
        """All figures: those of the design, and of what was measured."""
        measured = {"log": self.name, "fingerprint": self.fingerprint, **self.law.facts()}
        return {**self.design.facts(), "measured": measured}

    def save(self, path: str | Path) -> None:
        """Write all figures as JSON; the file appears only when complete.

        Raises:
            InputError: The folder does not exist, or the path is a folder.
        """
        with written_whole(path) as part:
            part.write_text(json.dumps(self.facts(), indent=2, allow_nan=False) + "\n", encoding="utf-8")

    def save_law(self, path: str | Path) -> None:
        """Write the law as a recipe, a TOML table that `read_recipe` reads, with where it is from above it.

        Raises:
            InputError: The folder does not exist, or the path is a folder.
        """
        facts = [*self.describe(), ("fingerprint", self.fingerprint)]
        said = [f"# {label}: {' '.join(value.split())}\n" for label, value in facts]
        with written_whole(path) as part:
            part.write_text("".join(said) + tomli_w.dumps(to_table(self.law.kernel)), encoding="utf-8")


def prior_of_log(
    log: Log,
    *,
    pairs: int = 32,
    heads: int = 8,
    seed: int = 0,
    method: str = "nested_lattice",
    fold: bool = True,
    truncation: int | str | None = None,
    error: float = 0.1,
    confidence: float = 0.95,
    report: Report = lambda _done, _total: None,
) -> LogPrior:
    """Measure the law of a log's routines, on all of its events, and draw frequencies for it.

    A comparison measures on training events alone, and so finds a law that is a little different.

    Args:
        log: Events; see `read_log`.
        pairs: As for `design`, and all that follow.
        heads: Likewise.
        seed: Likewise.
        method: Likewise.
        fold: Likewise.
        truncation: Likewise; by default what was measured is kept whole.
        error: Likewise.
        confidence: Likewise.
        report: Told of pairs counted and of all.

    Raises:
        InputError: As of `measure_law`, with the name of the log, or of `design`.
    """
    with naming(log.name):
        law = measure_law(log.histories(), instants=log.times, dated=log.about.known_epoch, report=report)
    found = design(
        law.kernel, pairs=pairs, heads=heads, seed=seed, method=method, fold=fold, truncation=truncation,
        error=error, confidence=confidence,
    )  # fmt: skip
    return LogPrior(log.name, log.fingerprint, law, found)
