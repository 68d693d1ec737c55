"""Recipes as TOML files."""

import tomllib
from pathlib import Path
from typing import TypeVar

import tomli_w

from rota.errors import InputError
from rota.files import written_whole
from rota.tables import Recipe, from_table, to_table

R = TypeVar("R", bound=Recipe)


def write_recipe(path: Path, recipe: Recipe) -> None:
    """Write a recipe as TOML; the file appears only when complete."""
    with written_whole(path) as part:
        part.write_text(tomli_w.dumps(to_table(recipe)), encoding="utf-8")


def read_recipe(path: Path, kind: type[R]) -> R:
    """Recipe that a TOML file holds.

    Raises:
        InputError: The file is missing, is not TOML, or is not such a recipe.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    try:
        return from_table(table, kind)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
