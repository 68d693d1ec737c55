"""What commands print with."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

console = Console(emoji=False)  # a file may be called :heart:


def describe(facts: Sequence[tuple[str, str]]) -> None:
    """Print labels and values."""
    grid = Table.grid(padding=(0, 2))
    for label, value in facts:
        grid.add_row(f"[bold]{label}[/]", escape(value))
    console.print(grid, highlight=False)


def say(line: str) -> None:
    """Print what holds a path: as it is, on one line."""
    console.print(line, highlight=False, soft_wrap=True, markup=False)
