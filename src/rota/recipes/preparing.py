"""prepare: a log of any size to a folder that loads at once, and a table of what each step kept."""

from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.table import Table

from rota.data.filters.base import Filter
from rota.data.filters.collapse_duplicates import CollapseDuplicates
from rota.data.filters.first_interaction import FirstInteraction
from rota.data.filters.k_core import KCore
from rota.data.filters.min_events import MinEvents
from rota.data.filters.min_item_events import MinItemEvents
from rota.data.filters.time_range import TimeRange
from rota.data.filters.user_cap import UserCap
from rota.data.log import Log
from rota.data.options import Reading
from rota.data.preparing import Report, prepare

__all__: list[str] = []


def chosen_filters(
    *,
    since: str | None = None,
    until: str | None = None,
    collapse_duplicates: bool = False,
    first_interaction: bool = False,
    min_item_events: int | None = None,
    min_events: int | None = None,
    k_core: int | None = None,
    user_cap: int | None = None,
) -> list[Filter]:
    """Filters in the one order in which the command line applies them, which is that of the arguments."""
    filters: list[Filter] = []
    if since is not None or until is not None:
        filters.append(TimeRange(_limit(since), _limit(until)))
    if collapse_duplicates:
        filters.append(CollapseDuplicates())
    if first_interaction:
        filters.append(FirstInteraction())
    if min_item_events is not None:
        filters.append(MinItemEvents(min_item_events))
    if min_events is not None:
        filters.append(MinEvents(min_events))
    if k_core is not None:
        filters.append(KCore(k_core, k_core))
    if user_cap is not None:
        filters.append(UserCap(user_cap))
    return filters


def _limit(text: str | None) -> str | int | None:
    """A date as text, or a number in the log's unit."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        return text


def step_table(log: Log) -> Table:
    """What each step kept, for a terminal."""
    table = Table(title="Kept", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for name in ("step", "events", "", "users", "items"):
        table.add_column(name, justify="left" if name == "step" else "right")
    first = log.about.steps[0].events
    for step in log.about.steps:
        share = f"{step.events / first:.1%}"
        table.add_row(step.label, f"{step.events:,}", share, f"{step.users:,}", f"{step.items:,}")
    return table


def prepare_with(source: str, out: Path, reading: Reading, filters: Sequence[Filter], report: Report) -> Log:
    """`rota.data.prepare`, for the command line.

    Raises:
        InputError: What it raises, or the doctor found an error.
    """
    return prepare(source, out, reading, filters=filters, report=report)
