"""A recipe is a frozen dataclass and one TOML table: what can be rebuilt from it is not pickled."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import Enum
from types import UnionType
from typing import Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from rota.errors import InputError
from rota.rooms import find, names

__all__ = ["Recipe", "from_table", "to_table"]

_KEY = "recipe"  # the table's key that names room and file, for instance "kernels.wrapped_gaussian"
_WHERE = re.compile(r"[a-z_]+(\.[a-z0-9_]+)+")


class Recipe:
    """Marks a frozen dataclass whose fields are numbers, texts, recipes, and tuples of those."""


R = TypeVar("R", bound=Recipe)


def to_table(recipe: Recipe) -> dict[str, object]:
    """Table of a recipe: where its class is found, then its fields; fields that are ``None`` are left out."""
    if not dataclasses.is_dataclass(recipe):
        raise TypeError(f"{type(recipe).__name__} is not a dataclass")
    table: dict[str, object] = {_KEY: type(recipe).__module__.removeprefix("rota.")}
    for field in dataclasses.fields(recipe):
        value = getattr(recipe, field.name)
        if value is not None:
            table[field.name] = _encode(value)
    return table


def unset_keys(recipe: Recipe, before: str = "") -> list[str]:
    """Dotted names of what is ``None`` in a recipe, and so in no table."""
    found = []
    for field in dataclasses.fields(recipe):  # type: ignore[arg-type]
        value, name = getattr(recipe, field.name), f"{before}{field.name}"
        if isinstance(value, Recipe):
            found += unset_keys(value, f"{name}.")
        elif value is None:
            found.append(name)
    return found


def _encode(value: object) -> object:
    if isinstance(value, Recipe):
        return to_table(value)
    if isinstance(value, tuple | list):
        return [_encode(part) for part in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, timedelta):
        return value.total_seconds()  # as whatever takes a duration reads a number
    if callable(value):
        raise InputError(
            f'{value!r} cannot be kept in a table: give the function as "module:name", by which it is found'
        )
    return value


def from_table(table: Mapping[str, object], kind: type[R]) -> R:
    """Recipe of a table.

    Args:
        table: What `to_table` made, or a person wrote.
        kind: The class, or abstract class, that is expected.

    Raises:
        InputError: The table names no member of our rooms, one of another kind, or has a key that the
            recipe does not know or lacks one that it needs.
    """
    where = table.get(_KEY)
    made = class_of(where, kind)
    known = {field.name for field in dataclasses.fields(made)}  # type: ignore[arg-type]
    given = {key: _decode(value) for key, value in table.items() if key != _KEY}
    unknown = sorted(set(given) - known)
    if unknown:
        raise InputError(
            f"table {where!r}: unknown key {unknown[0]!r}: expected some of {', '.join(sorted(known))}"
        )
    hints = get_type_hints(made)
    for key, value in given.items():
        if not _fits(value, hints[key]):
            raise InputError(f"table {where!r}: {key} is {value!r}: expected {_spelt(hints[key])}")
    needed = dataclasses.fields(made)  # type: ignore[arg-type]
    missing = [field.name for field in needed if _is_needed(field) and field.name not in given]
    if missing:
        raise InputError(f"table {where!r}: lacks the key {missing[0]!r}, which has no default")
    try:
        return made(**given)
    except TypeError as error:
        raise InputError(f"table {where!r}: {error}") from error


def _is_needed(field: "dataclasses.Field[object]") -> bool:
    return field.init and field.default is field.default_factory is dataclasses.MISSING


def class_of(where: object, kind: type[R]) -> type[R]:
    """The class that a table's key ``recipe`` names.

    Raises:
        InputError: It does not name room and file, there is no such room or file, or it is of another kind.
    """
    if not isinstance(where, str) or not _WHERE.fullmatch(where):
        raise InputError(
            f"table of {kind.__name__}: expected a key {_KEY} that names room and file, for instance "
            f'{_KEY} = "encodings.rope"; it is {where!r}'
        )
    room, _, name = where.rpartition(".")
    if not names(room):
        raise InputError(f"table {where!r}: there is no room {room!r}")
    made = find(room, name, Recipe)
    if not issubclass(made, kind):
        raise InputError(f"table {where!r} is no {kind.__name__}")
    return made


def _decode(value: object) -> object:
    if isinstance(value, Mapping):
        return from_table(value, Recipe)
    if isinstance(value, list):
        return tuple(_decode(part) for part in value)
    return value


def _spelt(hint: object) -> str:
    return hint.__name__ if isinstance(hint, type) else re.sub(r"\b[a-z_]+\.", "", str(hint))


def _fits(value: object, hint: object) -> bool:
    """Whether a decoded value is of a field's type; what a table cannot hold is not asked for."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if origin in (Sequence, tuple):
        return isinstance(value, tuple) and all(_fits(element, parts[0]) for element in value)
    if isinstance(value, bool) or hint is bool:  # to Python, True is an int
        return isinstance(value, bool) and hint is bool
    return isinstance(value, (int, float) if hint is float else hint)  # type: ignore[arg-type]
