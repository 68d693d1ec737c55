"""The rotation of a layer, of whatever encoding; what turns nothing fits heads of any width."""

from rota.encodings.base import Encoding, Rotation
from rota.encodings.none import NoEncoding, NoRotation

__all__: list[str] = []


def rotation_of(
    encoding: Encoding, *, head_dim: int, num_heads: int, layer: int, seed: int, unit: str
) -> Rotation:
    """Build the rotation of one layer.

    An encoding turns pairs of features. Without one, heads may have an odd width too, as published models
    have: HSTU-large on MovieLens-1M has heads of 25.

    Args:
        encoding: Of time or position.
        head_dim: Features of a head.
        num_heads: Heads.
        layer: Index of the layer; each has its own draw.
        seed: Of the run.
        unit: Unit of the clock.

    Raises:
        InputError: The encoding does not fit the width or the clock.
    """
    if isinstance(encoding, NoEncoding):
        return NoRotation()
    return encoding.build(head_dim=head_dim, num_heads=num_heads, layer=layer, seed=seed, unit=unit)
