"""Which values can name a user or an item, and the one type in which they do."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from rota.data.files import brief
from rota.data.numbers import first_inexact
from rota.errors import InputError

__all__ = []

_WHOLE = r"^(0|-?[1-9][0-9]{0,18})$"
_WHOLE_FLOAT = r"^(0|-?[1-9][0-9]{0,14})\.0+$"  # pandas writes ints so when some are missing

_NAMES_THINGS = (
    kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_date, kinds.is_timestamp, kinds.is_null,
    kinds.is_string, kinds.is_large_string, kinds.is_binary, kinds.is_large_binary,
)  # fmt: skip


def check_ids(kind: pa.DataType, where: str) -> None:
    """Check that values of a type can name things.

    Raises:
        InputError: They cannot: booleans, lists, times of day and the like.
    """
    kind = kind.value_type if kinds.is_dictionary(kind) else kind
    if not any(names_things(kind) for names_things in _NAMES_THINGS):
        raise InputError(
            f"{where}: ids of type {kind}: expected whole numbers, text or dates; convert them first"
        )


def one_type(values: pa.Array, where: str, untyped: bool) -> pa.Array:
    """Ids in the one type of their kind, so that equal ids are equal whichever library wrote them.

    Args:
        values: Ids of a type that `check_ids` accepts.
        where: Log and column, for the message.
        untyped: Text that is all whole numbers is numbers.

    Returns:
        int64 (uint64 where that is too small), large_string, dates or timestamps.

    Raises:
        InputError: A number is not whole, or bytes are not UTF-8.
    """
    kind = values.type
    if kinds.is_integer(kind) or kinds.is_null(kind):
        return _integers(values)
    if kinds.is_floating(kind):
        return _whole_floats(values, where)
    if kinds.is_date(kind) or kinds.is_timestamp(kind):
        return values
    try:
        if kinds.is_decimal(kind):
            return values.cast(pa.int64())
        text = values.cast(pa.large_string())
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{where}: ids of type {kind}: {brief(error)}: store ids as integers or text"
        ) from error
    return _numbers_if_all(text) if untyped else text


def _integers(values: pa.Array) -> pa.Array:
    try:
        return values.cast(pa.int64())
    except pa.ArrowInvalid:  # above 2^63
        return values.cast(pa.uint64())


def _whole_floats(values: pa.Array, where: str) -> pa.Array:
    present = values.filter(pc.invert(pc.is_null(values, nan_is_null=True)))
    bad = first_inexact(present.to_numpy())
    if bad is not None:
        raise InputError(
            f"{where}: {present[bad].as_py()!r} as an id, of type {values.type}: expected whole numbers "
            "that the type holds exactly; store ids as integers or text"
        )
    return pc.if_else(pc.is_nan(values), None, values).cast(pa.int64())


def _numbers_if_all(text: pa.Array) -> pa.Array:
    present = text.drop_null()
    for pattern in (_WHOLE, _WHOLE_FLOAT):
        if len(present) and pc.all(pc.match_substring_regex(present, pattern)).as_py():
            try:
                return pc.replace_substring_regex(text, r"\.0+$", "").cast(pa.int64())
            except pa.ArrowInvalid:  # 19 digits may exceed 2^63: then they are names
                return text
    return text
