"""Live: a table in the terminal while a comparison trains; where there is no terminal, a line each."""

import time
from dataclasses import replace
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from rota.evaluation.averaging import mean_of
from rota.evaluation.metrics.mrr import MRR
from rota.evaluation.run import Run
from rota.plots.trainings import TrainingRow, trainings_table
from rota.recipes.plan import Plan
from rota.recipes.question import Question
from rota.recipes.time_left import Pace, in_words, seconds_left
from rota.recipes.watching import Watcher
from rota.training.progress import Fitted
from rota.training.progress import Progress as Step

__all__ = ["LiveWatcher"]

_AROUND = 7  # lines of the terminal that are not rows: the table's head and foot, and what is typed next


class LiveWatcher(Watcher):
    """One row for each training, and how long is left; the table stays when all is done.

    Attributes:
        done: Trainings that are done.
        reasons: Why trainings have failed.
    """

    def __init__(self, console: Console) -> None:
        self.console, self.done = console, 0
        self.reasons: list[str] = []
        self.live: Live | None = None
        self.rows: dict[tuple[str, int], TrainingRow] = {}
        self.paces: dict[tuple[str, int], Pace] = {}
        self.since: dict[tuple[str, int], float] = {}

    def __enter__(self) -> "LiveWatcher":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            live, self.live = self.live, None  # the last picture has every row
            live.stop()
            for why in self.reasons:
                self._say_failed(why)

    def begin(self, question: Question, plan: Plan, processes: int) -> None:
        """Say what is asked, and show what is ahead."""
        self.question, self.processes = question, processes
        for label, value in question.describe():
            self.console.print(f"[bold]{label:<9}[/]  {value}", highlight=False)  # as wide as "rows read"
        self.epochs = plan.protocol.training.epochs
        for place in ((arm, seed) for arm in plan.arms for seed in range(plan.seeds)):
            self.rows[place], self.paces[place] = TrainingRow(*place), Pace(place[0])
        if self.console.is_terminal and not self.console.is_dumb_terminal:
            self.live = Live(get_renderable=self._table, console=self.console, refresh_per_second=4)
            self.live.start()

    def found(self, run: Run, fitted: Fitted) -> None:
        """Show that it was done before."""
        self._conclude(run, fitted, before=True)

    def start(self, arm: str, seed: int) -> None:
        """Show that it has begun."""
        self.since[arm, seed] = time.monotonic()
        self.rows[arm, seed] = replace(self.rows[arm, seed], done=0.0)

    def step(self, arm: str, seed: int, progress: Step) -> None:
        """Move its bar."""
        done = progress.epoch + progress.step / progress.steps
        self.rows[arm, seed] = replace(self.rows[arm, seed], done=done, validation=progress.validation)
        self.paces[arm, seed].epochs = done

    def finish(self, run: Run, fitted: Fitted) -> None:
        """Show what came of it."""
        assert run.seed is not None
        place = run.arm, run.seed
        self.paces[place].seconds = time.monotonic() - self.since.pop(place)
        self.paces[place].epochs = len(fitted.validation)
        self._conclude(run, fitted, before=False)

    def fail(self, arm: str, seed: int, why: str) -> None:
        """Show that it has failed; why is said below the table, when the others are done."""
        self.since.pop((arm, seed), None)
        self.paces.pop((arm, seed))
        self.rows[arm, seed] = replace(self.rows[arm, seed], done=None, failed=True)
        self.reasons.append(why)
        if self.live is None:
            self._say_failed(why)

    def _say_failed(self, why: str) -> None:
        self.console.print(f"[red]✗[/] {escape(why)}", highlight=False)

    def _conclude(self, run: Run, fitted: Fitted, *, before: bool) -> None:
        assert run.seed is not None
        place, best, validation = (run.arm, run.seed), fitted.best_epoch, fitted.validation
        test = mean_of(MRR(), run.ranks, self.question.histories, self.question.stages.test)
        self.rows[place] = TrainingRow(*place, None, validation, best, test, before)
        self.paces[place].length = len(validation)
        self.done += 1
        if self.live is None:
            said = "done before" if before else f"best epoch {best + 1} of {len(validation)}"
            self.console.print(
                f"[green]✓[/] {run.arm}, seed {run.seed}: {said}, MRR validation {validation[best]:.3f}, "
                f"test {test:.3f}",
                highlight=False,
            )

    def _table(self) -> Table:
        """As the terminal shows it now."""
        now = time.monotonic()
        for place, since in list(self.since.items()):  # the terminal's own thread draws
            if (pace := self.paces.get(place)) is not None:  # it may fail meanwhile
                pace.seconds = now - since
        left = seconds_left(list(self.paces.values()), self.epochs, self.processes)
        at_once = f", {self.processes} at once" if self.processes > 1 else ""
        failed = f", {len(self.reasons)} failed" if self.reasons else ""
        caption = f"{self.done} of {len(self.rows)} done{failed}{at_once}"
        if self.done + len(self.reasons) < len(self.rows):
            caption += f"; {in_words(left)}" if self.live is not None else "; interrupted"
        most = None if self.live is None else self.console.height - _AROUND
        return trainings_table(list(self.rows.values()), epochs=self.epochs, caption=caption, most=most)
