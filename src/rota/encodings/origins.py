"""The one origin from which an encoding may count time, so that what it learns is well conditioned."""

from rota.encodings.numerals import is_whole, shown
from rota.errors import InputError

__all__: list[str] = []

START_OF_2020 = 1_577_836_800  # seconds since the epoch
_LATEST = 4_102_444_800  # 2100; times less such an origin fit int64 in every unit


def require_origin(origin: int, name: str) -> None:
    """Refuse an origin from which time cannot be counted.

    Args:
        origin: Seconds since the epoch.
        name: Of the recipe, for errors.

    Raises:
        InputError: It is not whole seconds between the years 1970 and 2100.
    """
    if not is_whole(origin) or not 0 <= origin <= _LATEST:
        raise InputError(
            f"origin {shown(origin)} of {name}: expected seconds since 1970, up to the year 2100, a whole "
            "number"
        )
