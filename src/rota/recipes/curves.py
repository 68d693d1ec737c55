"""Curves of a training, epoch by epoch, as CSV and for TensorBoard."""

import csv
import dataclasses
from pathlib import Path

from rota.files import written_whole
from rota.recipes.training_folder import CURVES, EVENTS
from rota.training.event_file import EventFile
from rota.training.progress import EpochRecord, Fitted

__all__: list[str] = []


class Curves:
    """Files of the epochs done. A run that goes on writes them anew first: no epoch is there twice."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.written = folder, 0
        self.events: EventFile | None = None

    def record(self, fitted: Fitted) -> None:
        """Write what is not written yet."""
        names = [field.name for field in dataclasses.fields(EpochRecord)]
        with written_whole(self.folder / CURVES) as part, part.open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(names)
            rows.writerows(dataclasses.astuple(record) for record in fitted.records)
        self.events = self.events or EventFile(self.folder / EVENTS)
        for record in fitted.records[self.written :]:
            told = {name: float(getattr(record, name)) for name in names if name not in ("epoch", "steps")}
            self.events.add(record.steps, told)
        self.written = len(fitted.records)
