"""What a person may say of a log, the same for every command that reads one."""

from typing import Annotated

import typer

_COLUMNS, _CLOCK, _ROWS = "Columns", "The clock", "Rows"

User = Annotated[str | None, typer.Option(help="Column of the user.", rich_help_panel=_COLUMNS)]
Item = Annotated[str | None, typer.Option(help="Column of the item.", rich_help_panel=_COLUMNS)]
Time = Annotated[str | None, typer.Option(help="Column of the time.", rich_help_panel=_COLUMNS)]
Unit = Annotated[
    str | None,
    typer.Option(help="Unit of whole numbers: s, ms, us or ns; else inferred.", rich_help_panel=_CLOCK),
]
Zone = Annotated[
    str | None,
    typer.Option(help="Time zone in which users live, such as Europe/Paris.", rich_help_panel=_CLOCK),
]
ZoneColumn = Annotated[
    str | None, typer.Option(help="Column of the user's time zone, instead.", rich_help_panel=_CLOCK)
]
OffsetColumn = Annotated[
    str | None, typer.Option(help="Column of minutes east of UTC, instead.", rich_help_panel=_CLOCK)
]
Epoch = Annotated[
    str | None, typer.Option(help="What whole numbers count from: unix or unknown.", rich_help_panel=_CLOCK)
]
Ties = Annotated[
    str | None,
    typer.Option(help="Events of one instant: in the order of rows, or unordered.", rich_help_panel=_ROWS),
]
Order = Annotated[str | None, typer.Option(help="Column that orders them, instead.", rich_help_panel=_ROWS)]
OnError = Annotated[
    str | None, typer.Option(help="Rows that cannot be read: stop or skip.", rich_help_panel=_ROWS)
]
