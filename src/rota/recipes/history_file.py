"""History file: a log of a few users, read for a trained model."""

from dataclasses import replace
from pathlib import Path

from rota.data.dataset import is_dataset, load_dataset
from rota.data.events import Events, Ties
from rota.data.log import Log
from rota.data.options import Epoch, Reading
from rota.data.reading import read_events_into_log
from rota.serving.artefact import Artefact

__all__: list[str] = []


def open_history(source: str | Path, reading: Reading, artefact: Artefact) -> Log:
    """Read histories as the model's own log was read, where nothing else is said.

    Nobody asks whether the clock of a few events makes sense: there may be one event.

    Args:
        source: What `read_log` takes, or the folder of a prepared dataset.
        reading: How to understand it.
        artefact: The model: where its times count from an unknown zero those of the file do too, in its unit;
            where its ties have no order, neither have those of the file.

    Raises:
        InputError: It cannot be read.
    """
    if is_dataset(source):
        return load_dataset(source)
    facts = artefact.provenance
    if not facts.known_epoch:
        reading = replace(reading, epoch=Epoch.UNKNOWN, unit=reading.unit or artefact.unit)
    if facts.ties == Ties.UNORDERED and reading.ties is None and reading.order is None:
        reading = replace(reading, ties=Ties.UNORDERED)
    return read_events_into_log(str(source), reading, _unexamined)


def left_out(history: Log) -> str:
    """Rows that reading left out, in words; empty where it left out none."""
    about = history.about
    counts = ((about.dropped, "without a user or an item"), (about.skipped, "that could not be read"))
    parts = [f"{number:,} {what}" for number, what in counts if number]
    return f"left out of {about.rows:,} rows: {', '.join(parts)}" if parts else ""


def _unexamined(events: Events) -> None:
    """Let any clock pass."""
