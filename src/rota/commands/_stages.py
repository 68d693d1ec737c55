"""A progress bar for work that goes through stages, some of unknown length."""

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class Stages:
    """One bar, which names the stage; gone when all is done."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rows]}"))
        shown = Console(stderr=True)  # apart from what is printed, which may go to a file
        self.progress = Progress(
            *columns, TimeElapsedColumn(), console=shown, transient=True, disable=not shown.is_terminal
        )
        self.task: TaskID = self.progress.add_task("", total=None, rows="")

    def __enter__(self) -> "Stages":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def tell(self, label: str, done: int, total: int) -> None:
        """Show a stage, and how much of it is done where that is known."""
        rows = f"{done:,}/{total:,}" if total else ""
        self.progress.update(self.task, description=label, completed=done, total=total or None, rows=rows)
