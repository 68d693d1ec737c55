"""Train live: a bar in the terminal while one model trains, and a line for each epoch."""

import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from rota.recipes.question import Question
from rota.recipes.train_config import TrainConfig
from rota.recipes.training_run import TrainWatcher
from rota.training.progress import Fitted, Progress

__all__ = ["LiveTrainWatcher"]

_SECONDS = 0.5  # between looks at the loss and the speed: to read a loss is to wait for the device


class LiveTrainWatcher(TrainWatcher):
    """A bar over all steps, with loss, targets a second and the time that is left."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )
        self.task = self.bars.add_task("", total=None, note="")
        self.epochs, self.told, self.looked, self.targets = 0, 0, 0.0, 0

    def __enter__(self) -> "LiveTrainWatcher":
        self.bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bars.stop()

    def stage(self, label: str, done: int = 0, total: int = 0) -> None:
        """Name what is done."""
        self.bars.update(self.task, description=label, total=total or None, completed=done, note="")

    def begin(self, question: Question, config: TrainConfig) -> None:
        """Say what is asked."""
        for label, value in question.describe():
            self.console.print(f"[bold]{label:<9}[/]  {value}", highlight=False)
        self.epochs = config.training.epochs
        self.bars.reset(self.task, description=f"{config.name}, seed {config.seed}", total=None, note="")
        self.looked, self.targets = time.monotonic(), 0

    def step(self, progress: Progress) -> None:
        """Move the bar."""
        self.targets += progress.targets
        done = progress.epoch * progress.steps + progress.step
        self.bars.update(self.task, completed=done, total=self.epochs * progress.steps)
        now = time.monotonic()
        if now - self.looked >= _SECONDS:
            speed = self.targets / (now - self.looked)
            place = f"epoch {progress.epoch + 1} of {self.epochs}"
            self.bars.update(
                self.task, note=f"{place}, loss {float(progress.loss):.3f}, {speed:,.0f} targets/s"
            )
            self.looked, self.targets = now, 0

    def epoch(self, fitted: Fitted) -> None:
        """Say what an epoch came to; of a training that goes on, those before are said too."""
        for record in fitted.records[self.told :]:
            score = f"{record.validation:.3f}{' (best)' if record.epoch == fitted.best_epoch else ''}"
            speed = f"{record.targets_per_second:,.0f} targets/s"
            self.console.print(
                f"epoch {record.epoch + 1}: loss {record.loss:.3f}, validation MRR {score}, {speed}",
                highlight=False,
            )
        self.told = len(fitted.records)
        self.looked, self.targets = time.monotonic(), 0
