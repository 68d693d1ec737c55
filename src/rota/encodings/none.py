"""No encoding: attention that knows neither order nor time, beyond the causal mask."""

from dataclasses import dataclass

from torch import Tensor

from rota.encodings.base import Encoding, Rotation
from rota.encodings.site import Site


class NoRotation(Rotation):
    """Leaves queries and keys as they are."""

    name = "NoEncoding"

    def turn_query(self, q: Tensor, *, time: Tensor | None = None, position: Tensor | None = None) -> Tensor:
        """Return the queries."""
        return q

    def turn_key(self, k: Tensor, *, time: Tensor | None = None, position: Tensor | None = None) -> Tensor:
        """Return the keys."""
        return k


@dataclass(frozen=True)
class NoEncoding(Encoding):
    """Recipe of the control arm."""

    needs_clock = False

    def rotation(self, site: Site) -> NoRotation:
        """Build a module that does nothing."""
        return NoRotation()
