"""Blueprint: all that rebuilds a network, in one TOML table beside its weights."""

from dataclasses import dataclass

from rota.batch import TimeAccess
from rota.models.base import Model, Network
from rota.tables import Recipe


@dataclass(frozen=True)
class Blueprint(Recipe):
    """A model's recipe and what it was built for.

    Attributes:
        model: Recipe of the network.
        num_items: Size of the catalogue.
        unit: Unit of the clock.
        time_access: none, history or request.
        seed: Of the run.
    """

    model: Model
    num_items: int
    unit: str
    time_access: str
    seed: int

    def build(self) -> Network:
        """Build the network with its starting weights.

        Raises:
            InputError: Parts do not fit together.
        """
        return self.model.build(
            num_items=self.num_items,
            unit=self.unit,
            time_access=TimeAccess.parse(self.time_access),
            seed=self.seed,
        )
