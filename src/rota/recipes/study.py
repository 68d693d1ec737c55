"""Study: what a comparison found, as a table, as figures, and as files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from rota.analysis.curves import AttentionByGap
from rota.analysis.profiles import ProfileFit
from rota.evaluation.folder import require_free
from rota.evaluation.results import Comparison
from rota.evaluation.summary import ArmSummary
from rota.plots.attention import draw_attention
from rota.plots.learning import draw_learning
from rota.plots.prior import draw_prior
from rota.plots.table import TableRow, comparison_table
from rota.recipes.baselines import untrained_names

ATTENTION, LEARNING, PRIOR = "attention.png", "learning.png", "prior.png"


@dataclass(frozen=True)
class Study:
    """Results and what was seen inside the models.

    Attributes:
        comparison: Ranks of every arm, seed and user, and the figures that follow.
        attention: For each arm, one curve a seed.
        priors: Wanted profiles of the ClockRoPE arms with the frequencies drawn for them; empty without one.
    """

    comparison: Comparison
    attention: Mapping[str, Sequence[AttentionByGap]]
    priors: Sequence[ProfileFit]

    def table(self) -> Table:
        """Means, and paired differences from the control, for a terminal."""
        found = self.comparison
        title = (
            f"{found.data['name']}: {len(found.users):,} users, {found.split_name}, "
            f"time access {found.time_access}, seen items {found.seen}"
        )
        rows = [_table_row(summary) for summary in found.rows()]
        return comparison_table(rows, control=found.control, title=title, metrics=list(found.metrics))

    def learning(self) -> Mapping[str, Sequence[Sequence[float]]]:
        """Validation score after each epoch, for each seed of each trained arm."""
        curves: dict[str, list[Sequence[float]]] = {}
        for run in self.comparison.runs:
            if run.validation:
                curves.setdefault(run.arm, []).append(run.validation)
        return curves

    def save(self, folder: str | Path) -> None:
        """Write ``ranks.parquet``, ``results.json``, then the pictures; each appears only when complete.

        Raises:
            InputError: The folder already holds results.
        """
        folder = Path(folder)
        require_free(folder, (ATTENTION, LEARNING, PRIOR))
        self.comparison.save(folder)
        draw_attention(self.attention, folder / ATTENTION)
        if learning := self.learning():
            draw_learning(learning, folder / LEARNING)
        if self.priors:
            draw_prior(self.priors, folder / PRIOR)


def _table_row(summary: ArmSummary) -> TableRow:
    means = {name: metric.mean for name, metric in summary.metrics.items()}
    paired = {
        name: (metric.paired.diff, metric.paired.lo, metric.paired.hi)
        for name, metric in summary.metrics.items()
        if metric.paired is not None
    }
    untrained = summary.arm in untrained_names()
    return TableRow(
        summary.arm, "untrained" if untrained else "trained", summary.seeds, means, paired or None
    )
