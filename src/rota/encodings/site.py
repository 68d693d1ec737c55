"""Site: where in a network a rotation sits."""

from dataclasses import dataclass, replace

from rota.errors import InputError
from rota.units import ticks_per_second


@dataclass(frozen=True)
class Site:
    """What an encoding must know to build the rotation of one layer, or of a part of its features.

    Attributes:
        head_dim: Features of a head that are its to rotate, even.
        num_heads: Query heads.
        num_kv_heads: Key heads, a divisor of ``num_heads``; each key head and the queries of its group share
            one draw.
        layer: Index of the layer; each has its own draw.
        seed: Of the run.
        unit: Unit of the clock: s, ms, us or ns.
        path: Which part of a composed encoding this is; ``()`` for a whole one.

    Raises:
        InputError: A size is no whole number, the unit is unknown, ``head_dim`` is odd, or the key heads do
            not divide the heads.
    """

    head_dim: int
    num_heads: int
    num_kv_heads: int
    layer: int
    seed: int
    unit: str
    path: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("head_dim", "num_heads", "num_kv_heads", "layer", "seed"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise InputError(f"{name} {value!r}: expected a whole number")
        ticks_per_second(self.unit)
        if self.head_dim < 2 or self.head_dim % 2:
            raise InputError(
                f"head_dim {self.head_dim}: a rotation turns pairs of features; expected an even number"
            )
        if self.num_kv_heads < 1 or self.num_heads < 1 or self.num_heads % self.num_kv_heads:
            raise InputError(
                f"num_kv_heads {self.num_kv_heads}: expected a divisor of num_heads {self.num_heads}"
            )

    @property
    def pairs(self) -> int:
        """Pairs of features of a head."""
        return self.head_dim // 2

    def part(self, index: int, head_dim: int) -> "Site":
        """Site of one part of a composed encoding, on so many of the features."""
        return replace(self, head_dim=head_dim, path=(*self.path, index))
