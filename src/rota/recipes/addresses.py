"""Address of a training: digests of all that decides its result; what has the same is not done again."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import rota
from rota.models.blueprint import Blueprint
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question
from rota.tables import Recipe, to_table

__all__: list[str] = []

Address = Mapping[str, str]
DATA = ("fingerprint", "split")  # of an address: what of it is the data
_SHOWING = ("cli.py", "commands/", "plots/")
_LIBRARIES = ("torch", "numpy", "scipy", "numba")  # whose numbers go into weights and ranks


def address_of(blueprint: Blueprint, protocol: Protocol, question: Question, threads: int) -> Address:
    """Address of one training.

    Args:
        blueprint: Of its network, with the seed.
        protocol: How it is trained and asked.
        question: What it learns from and is asked.
        threads: That it computes with: sums over parts come out differently in the last bits.

    Returns:
        ``recipe`` (SHA-256 of the tables of blueprint and protocol), ``fingerprint`` of the events, ``split``
        (who is asked what), ``code`` (see `code_version`) and ``threads``.

    Raises:
        InputError: The recipe cannot be kept in a table.
    """
    return {
        "recipe": _digest([blueprint, protocol]),
        **data_of(question),
        "code": code_version(),
        "threads": str(threads),
    }


def data_of(question: Question) -> Address:
    """What of an address is the data: ``fingerprint`` and ``split``."""
    return {"fingerprint": question.log.fingerprint, "split": question.stages.hash}


@cache
def code_version() -> str:
    """Version of rota with a digest of its source, but for what only shows, and of libraries that compute."""
    digest, root = hashlib.sha256(), Path(rota.__path__[0])
    for name in sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py")):
        if not name.startswith(_SHOWING):
            digest.update(f"{name} {_of_file(root / name)}\n".encode())
    libraries = [f"{name} {found}" for name in _LIBRARIES if (found := _version(name))]
    return f"rota {rota.__version__} {digest.hexdigest()[:16]}, {', '.join(libraries)}"


def _digest(recipes: list[Recipe]) -> str:
    text = json.dumps([to_table(recipe) for recipe in recipes], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _of_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:  # numba is not needed: without it the loops are PyTorch's
        return ""
