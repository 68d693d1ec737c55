"""Filter: keep part of a log, before it is put in order and split."""

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass

from rota.data.events import Events
from rota.tables import Recipe


@dataclass(frozen=True)
class Filter(Recipe, ABC):
    """Which events to keep. Its fields are its recipe."""

    @abstractmethod
    def apply(self, events: Events) -> Events:
        """The part that is kept, still to be computed: an expression that any backend of Ibis can run.

        Raises:
            InputError: It does not fit the log, for instance dates where the epoch is unknown.
        """

    def __str__(self) -> str:
        """Label for tables, for instance ``k_core(users=5, items=5)``: what is ``None`` is left out."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        given = ", ".join(f"{name}={value}" for name, value in values.items() if value is not None)
        name = type(self).__module__.rpartition(".")[2]
        return f"{name}({given})" if given else name
