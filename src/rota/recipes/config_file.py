"""Config file: a recipe as people write it in TOML; what is wrong is named by file, table and key."""

import dataclasses
import inspect
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from rota.data.splits.base import Splitter
from rota.encodings.base import Encoding
from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.recipes.arms import arm_encoding
from rota.recipes.lossmaking import parse_loss
from rota.recipes.profile_text import read_profile
from rota.recipes.splitting import parse_split
from rota.recipes.written import parse_recipe
from rota.rooms import offers
from rota.tables import Recipe, class_of, from_table
from rota.training.losses.base import Loss
from rota.training.negatives.base import Negatives

R = TypeVar("R", bound=Recipe)

__all__ = ["read_config"]

_KEY = "recipe"
_TABLE = re.compile(r"^table '[^']*': ")  # how `from_table` begins; here the place is said otherwise


def _negatives(text: str) -> Negatives:
    kind: type[Negatives] = Negatives  # type: ignore[type-abstract]
    return parse_recipe(text, "training.negatives", kind, "negatives", "popularity(power=0.75)")


# What may be written as text instead of a table.
_WRITTEN: dict[type, Callable[[str], Recipe]] = {
    Encoding: arm_encoding,
    Kernel: read_profile,
    Loss: parse_loss,
    Negatives: _negatives,
    Splitter: parse_split,
}


def read_config(path: str | Path, kind: type[R], overrides: Sequence[str] = ()) -> R:
    """Recipe that a person wrote as TOML.

    A table needs no key ``recipe`` where the recipe it stands for has a default; losses, splits, encodings,
    negatives and profiles may be written as on the command line: ``loss = "gbce(num_negatives=64)"``.

    Args:
        path: The file.
        kind: What it should be.
        overrides: Values that take the place of the file's, ``"training.epochs=3"``.

    Raises:
        InputError: The file is missing or no TOML, a key is unknown, or a value is not what is expected.
    """
    path = Path(path)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file: expected a config in TOML") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    for override in overrides:
        _put(table, override)
    return _made(kind, table, _Place(str(path), ()))


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where in a file something is."""

    file: str
    keys: tuple[str, ...]

    def below(self, key: str) -> "_Place":
        return _Place(self.file, (*self.keys, key))

    def wrong(self, what: str) -> InputError:
        table = f" [{'.'.join(self.keys)}]" if self.keys else ""
        return InputError(f"{self.file}:{table} {_TABLE.sub('', what)}")


def _put(table: dict[str, Any], override: str) -> None:
    where, equals, text = override.partition("=")
    *tables, key = (part.strip() for part in where.split("."))
    if not equals or not key:
        raise InputError(f"--set {override!r}: expected table.key=value, such as training.epochs=3")
    for name in tables:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise InputError(f"--set {override!r}: {name} is {table!r}, no table: set it as a whole")
    try:
        table[key] = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        table[key] = text.strip()  # text needs no quotes here


def _made(kind: type[R], table: Mapping[str, Any], place: _Place, default: type | None = None) -> R:
    made = _class(kind, table, place, default)
    known = {field.name: field for field in dataclasses.fields(made)}  # type: ignore[arg-type]
    hints = get_type_hints(made)
    given: dict[str, object] = {_KEY: made.__module__.removeprefix("rota.")}
    for key, value in table.items():
        if key == _KEY:
            continue
        if key not in known:
            raise place.wrong(f"unknown key {key!r}: {_offer(key, [*known])}")
        given[key] = _value(value, hints[key], place.below(key), _default(known[key]))
    try:
        return from_table(given, made)
    except InputError as error:
        raise place.wrong(str(error)) from error


def _offer(key: str, known: Sequence[str]) -> str:
    near = [f"did you mean {name!r}? " for name in _nearest(key, known)]
    return f"{''.join(near)}expected some of {', '.join(known)}"


def _nearest(name: str, known: Sequence[str]) -> list[str]:
    """The name that is nearest, if one is near at all."""
    return get_close_matches(name, known, 1)


def _value(value: object, hint: object, place: _Place, default: type | None) -> object:
    """What stands for a key: recipes made, all else as it is."""
    kinds = [kind for kind in _kinds(hint) if issubclass(kind, Recipe)]
    if not kinds:
        return value
    if isinstance(value, list):
        return tuple(_value(part, hint, place, None) for part in value)
    try:
        if isinstance(value, str) and kinds[0] in _WRITTEN:
            return _WRITTEN[kinds[0]](value)
    except InputError as error:
        raise _Place(place.file, place.keys[:-1]).wrong(f"{place.keys[-1]}: {error}") from error
    return _made(kinds[0], value, place, default) if isinstance(value, Mapping) else value


def _kinds(hint: object) -> list[type]:
    parts = get_args(hint)
    return (
        [kind for part in parts for kind in _kinds(part)]
        if parts
        else [hint]
        if isinstance(hint, type)
        else []
    )


def _default(field: "dataclasses.Field[Any]") -> type | None:
    """Class of a field's default recipe."""
    if isinstance(field.default_factory, type):
        return field.default_factory
    return type(field.default) if isinstance(field.default, Recipe) else None


def _class(kind: type[R], table: Mapping[str, Any], place: _Place, default: type | None) -> type[R]:
    where = table.get(_KEY)
    if where is None:
        made = default or kind
        if inspect.isabstract(made):
            raise place.wrong(
                f"needs a key {_KEY}, room and file of a {kind.__name__}, such as 'encodings.rope'"
            )
        return made
    try:
        return class_of(where, kind)
    except InputError as error:
        room = kind.__module__.removeprefix("rota.").rpartition(".")[0]
        known = offers(room, kind)
        near = [f"did you mean '{room}.{name}'? " for name in _nearest(str(where).rpartition(".")[2], known)]
        expected = f"expected one of {', '.join(f'{room}.{name}' for name in known)}"
        raise place.wrong(f"{_KEY} {where!r}: {''.join(near)}{expected}") from error
