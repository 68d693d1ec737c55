"""Which values can name a user or an item, and the one type in which they do."""

from collections.abc import Mapping

import ibis.expr.datatypes as dt
import ibis.expr.types as ir

from rota.data.numbers import inexact
from rota.data.places import Place
from rota.errors import InputError

__all__ = []

_WHOLE = r"^(0|-?[1-9][0-9]{0,18})$"
_WHOLE_FLOAT = r"^(0|-?[1-9][0-9]{0,14})\.0+$"  # pandas writes ints so when some are missing
_MOST = 2**63 - 1


def check_ids(kind: dt.DataType, place: Place) -> None:
    """Check that values of a type can name things.

    Raises:
        InputError: They cannot: booleans, lists, times of day and the like.
    """
    names_things = (kind.is_numeric() and not kind.is_boolean()) or kind.is_string()
    if not (names_things or kind.is_date() or kind.is_timestamp()):
        raise InputError(f"{place}: ids of type {kind}: expected whole numbers, text or dates; convert them")


def present(place: Place) -> ir.BooleanValue:
    """Whether a row has an id: not null, not NaN."""
    values = place.values
    return values.notnull() & ~values.isnan() if values.type().is_floating() else values.notnull()


def questions(place: Place, untyped: bool) -> Mapping[str, ir.Scalar]:
    """What must be known of a column before its type is chosen, as aggregates over the rows with ids."""
    values, kind = place.values, place.values.type()
    if kind.is_floating() or kind.is_decimal():
        return {"inexact": inexact(values).any()}
    if kind.is_integer() and kind == dt.uint64:
        return {"huge": (values > _MOST).any()}
    if kind.is_string() and untyped:
        wide = values.try_cast("int64").isnull()  # 19 digits may exceed 2^63: then they are names
        return {
            "words": (~values.re_search(_WHOLE) | wide).any(),
            "no_floats": (~values.re_search(_WHOLE_FLOAT)).any(),
        }
    return {}


def one_type(place: Place, answers: Mapping[str, object]) -> ir.Value:
    """Ids in the one type of their kind, so that equal ids are equal whichever library wrote them.

    Returns:
        int64 (uint64 where that is too small), string, date or timestamp.

    Raises:
        InputError: A number is not whole.
    """
    values, kind = place.values, place.values.type()
    if answers.get("inexact"):
        where, value = place.first(present(place) & inexact(values))
        raise InputError(
            f"{where}: {value!r} as an id, of type {kind}: expected whole numbers that the type holds "
            "exactly; store ids as integers or text"
        )
    if kind.is_numeric():
        return values.cast("uint64" if answers.get("huge") else "int64")
    if "words" in answers and answers["words"] is False:
        return values.cast("int64")
    if "no_floats" in answers and answers["no_floats"] is False:
        return values.re_replace(r"\.0+$", "").cast("int64")
    return values
