"""Live: bars in the terminal while a comparison trains."""

from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from rota.evaluation.averaging import mean_of
from rota.evaluation.metrics.mrr import MRR
from rota.evaluation.run import Run
from rota.recipes.plan import Plan
from rota.recipes.question import Question
from rota.recipes.watching import Watcher
from rota.training.progress import Fitted
from rota.training.progress import Progress as Step

__all__ = ["LiveWatcher"]


class LiveWatcher(Watcher):
    """One bar for all trainings, one for the current; a line for each that is done."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=console,
            transient=True,
        )
        self.epochs, self.done = 0, 0
        self.all = self.bars.add_task("all trainings", start=False, total=None, note="epochs")
        self.one = self.bars.add_task("", start=False, total=None, note="")

    def __enter__(self) -> "LiveWatcher":
        self.bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bars.stop()

    def begin(self, question: Question, plan: Plan) -> None:
        """Say what is asked, and know how much is ahead."""
        self.question = question
        for label, value in question.describe():
            self.console.print(f"[bold]{label:<9}[/]  {value}", highlight=False)  # as wide as "rows read"
        self.epochs = plan.protocol.training.epochs
        self.bars.update(self.all, total=len(plan.arms) * plan.seeds * self.epochs)
        self.bars.start_task(self.all)

    def start(self, arm: str, seed: int) -> None:
        """Start the second bar anew."""
        self.bars.reset(self.one, description=f"{arm}, seed {seed}", total=None, note="")

    def step(self, progress: Step) -> None:
        """Move the bars."""
        done = progress.epoch * progress.steps + progress.step
        note = f"validation MRR {progress.validation[-1]:.3f}" if progress.validation else ""
        self.bars.update(self.one, completed=done, total=self.epochs * progress.steps, note=note)
        self.bars.update(self.all, completed=self.done * self.epochs + done / progress.steps)

    def finish(self, run: Run, fitted: Fitted) -> None:
        """Say what came of it."""
        self.done += 1
        best, validation = fitted.best_epoch, fitted.validation
        self.bars.update(self.all, completed=self.done * self.epochs)
        test = mean_of(MRR(), run.ranks, self.question.histories, self.question.stages.test)
        self.console.print(
            f"[green]✓[/] {run.arm}, seed {run.seed}: best epoch {best + 1} of {len(validation)}, "
            f"MRR validation {validation[best]:.3f}, test {test:.3f}",
            highlight=False,
        )
