"""Progress bars of what is timed."""

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from rota.commands._terminal import console


class Bars:
    """A progress bar for each thing that is timed, gone when all is done."""

    def __init__(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total} rounds"),
        )
        self.progress = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
        self.tasks: dict[str, int] = {}

    def __enter__(self) -> "Bars":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def tell(self, label: str, done: int, rounds: int) -> None:
        """Move the bar of what is timed."""
        if label not in self.tasks:
            self.tasks[label] = self.progress.add_task(label, total=rounds)
        self.progress.update(self.tasks[label], completed=done)  # type: ignore[arg-type]
