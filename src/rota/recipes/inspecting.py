"""inspect: the doctor's report on a log, as figures, as JSON, and as a page."""

import json
from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from rota.data.database import database
from rota.data.doctor.diagnosis import Diagnosis
from rota.data.doctor.examining import examine
from rota.data.events import Events
from rota.data.opening import open_events
from rota.data.options import Reading
from rota.files import written_whole

__all__ = ["diagnosis_table", "inspect_events", "inspect_log", "save_diagnosis", "save_diagnosis_page"]

SCHEMA = 1


def inspect_log(source: object, *, now: date | None = None, **reading: str | None) -> Diagnosis:
    """Open a log and examine it.

    Args:
        source: What `rota.data.read_log` takes.
        now: As in `inspect_events`.
        reading: How to understand it, by the names of `rota.data.Reading`; ``None`` is as if left out.

    Raises:
        InputError: It cannot be opened, or not be examined.
    """
    stated = {name: value for name, value in reading.items() if value is not None}
    with database() as connection:
        return inspect_events(open_events(connection, source, Reading(**stated)), now)


def inspect_events(events: Events, now: date | None = None) -> Diagnosis:
    """Examine a log; see `examine`.

    Args:
        events: Any log.
        now: The day of the examination, by default today in UTC: what is later is in the future.

    Raises:
        InputError: It has no event, a zone of it is unknown, or its times lie too far apart for int64.
    """
    return examine(events, datetime.now(UTC).date() if now is None else now)


def diagnosis_table(found: Diagnosis) -> dict[str, Any]:
    """All figures of a report, by name, as JSON holds them."""
    return {"schema": SCHEMA, "stops": found.stops, **asdict(found)}


def save_diagnosis(found: Diagnosis, path: str | Path) -> None:
    """Write all figures of a report as JSON; long rows of numbers take one line.

    Raises:
        InputError: The folder does not exist, or the path is a folder.
    """
    with written_whole(path) as part:
        part.write_text(_json(diagnosis_table(found)) + "\n", encoding="utf-8")


def save_diagnosis_page(found: Diagnosis, path: str | Path) -> None:
    """Write a report as a page for a browser: one file that needs no other and no network.

    Raises:
        InputError: The folder does not exist, or the path is a folder.
    """
    from rota.plots.inspection_page import inspection_html

    with written_whole(path) as part:
        part.write_text(inspection_html(found), encoding="utf-8")


def _json(value: object, indent: str = "") -> str:
    inner = indent + "  "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json.dumps(key)}: {_json(part, inner)}" for key, part in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list | tuple) and any(isinstance(part, dict) for part in value):
        return "[\n" + ",\n".join(f"{inner}{_json(part, inner)}" for part in value) + f"\n{indent}]"
    return json.dumps(value)
