"""A recipe is a frozen dataclass and one TOML table: what can be rebuilt from it is not pickled."""

import dataclasses
import tomllib
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TypeVar

from rota.errors import InputError
from rota.rooms import find

__all__ = ["Recipe", "from_table", "read_recipe", "to_table"]

_KEY = "recipe"  # the table's key that names room and file, for instance "kernels.wrapped_gaussian"


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


def _encode(value: object) -> object:
    if isinstance(value, Recipe):
        return to_table(value)
    if isinstance(value, tuple | list):
        return [_encode(part) for part in value]
    if isinstance(value, Enum):
        return value.value
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
    if not isinstance(where, str) or "." not in where:
        raise InputError(
            f'a {kind.__name__} table needs a key {_KEY}, for instance {_KEY} = "encodings.rope"'
        )
    made = _class_of(where, kind)
    known = {field.name for field in dataclasses.fields(made)}  # type: ignore[arg-type]
    given = {key: _decode(value) for key, value in table.items() if key != _KEY}
    unknown = sorted(set(given) - known)
    if unknown:
        raise InputError(
            f"table {where!r}: unknown key {unknown[0]!r}: expected some of {', '.join(sorted(known))}"
        )
    try:
        return made(**given)
    except TypeError as error:
        raise InputError(f"table {where!r}: {error}") from error


def _class_of(where: str, kind: type[R]) -> type[R]:
    room, _, name = where.rpartition(".")
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


def read_recipe(path: Path, kind: type[R]) -> R:
    """Recipe that a TOML file holds.

    Raises:
        InputError: The file is missing, is not TOML, or is not such a recipe.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    try:
        return from_table(table, kind)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
