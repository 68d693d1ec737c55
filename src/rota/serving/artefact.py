"""Artefact: a trained model as a folder: recipe, weights, vocabulary and facts; nothing is unpickled."""

import hashlib
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from rota import __version__
from rota.batch import TimeAccess
from rota.errors import InputError
from rota.models.base import Network
from rota.models.blueprint import Blueprint
from rota.serving.catalogue import Catalogue
from rota.serving.provenance import Provenance
from rota.toml import read_recipe, write_recipe
from rota.training.checkpoint import TABLE, WEIGHTS, load_checkpoint, save_checkpoint

FORMAT = 1
FACTS, VOCABULARY = "artefact.toml", "vocabulary.parquet"


@dataclass(frozen=True, eq=False)
class Artefact:
    """A trained model with all that is needed to ask it.

    Attributes:
        blueprint: Recipe of the network and what it was built for.
        network: With its weights.
        catalogue: Items by code.
        provenance: Where it comes from.
    """

    blueprint: Blueprint
    network: Network
    catalogue: Catalogue
    provenance: Provenance

    @property
    def time_access(self) -> TimeAccess:
        """What it may know of the clock."""
        return TimeAccess.parse(self.blueprint.time_access)

    @property
    def unit(self) -> str:
        """Unit of its clock."""
        return self.blueprint.unit


def save_artefact(folder: str | Path, artefact: Artefact) -> Artefact:
    """Write a model into a folder; the table of facts is last, and without it the folder is no model.

    Args:
        folder: New, or that of an earlier state of the same training, which is replaced.
        artefact: The model; its digests, format and version are filled in.

    Returns:
        The model as it was written.
    """
    folder = Path(folder)
    save_checkpoint(folder, artefact.blueprint, artefact.network)
    artefact.catalogue.save(folder / VOCABULARY)
    facts = replace(
        artefact.provenance,
        format=FORMAT,
        version=__version__,
        catalogue=artefact.catalogue.digest,
        weights=_digest(folder / WEIGHTS),
        blueprint=_digest(folder / TABLE),
    )
    write_recipe(folder / FACTS, facts)
    return replace(artefact, provenance=facts)


def load_artefact(folder: str | Path) -> Artefact:
    """Load a model, in evaluation mode.

    Raises:
        InputError: A file is missing, damaged, of another format or of a newer version, or does not fit the
            others.
    """
    folder = Path(folder)
    if not is_artefact(folder):
        raise InputError(
            f"{folder}: no trained model (no {FACTS} in it): expected a model's folder as rota compare "
            "writes it"
        )
    _require_readable(folder / FACTS)
    facts = read_recipe(folder / FACTS, Provenance)
    catalogue = Catalogue.load(folder / VOCABULARY)
    _require_whole(folder, TABLE, facts.blueprint)
    _require_whole(folder, WEIGHTS, facts.weights)
    if catalogue.digest != facts.catalogue:
        raise _other(folder / VOCABULARY)
    blueprint, network = load_checkpoint(folder)
    return Artefact(blueprint, network, catalogue, facts)


def _require_whole(folder: Path, name: str, digest: str) -> None:
    """Refuse a file that another model was written with; one that is missing is refused by its reader."""
    path = folder / name
    if path.is_file() and _digest(path) != digest:
        raise _other(path)


def _other(path: Path) -> InputError:
    return InputError(
        f"{path} is not what {FACTS} was written beside (its digest differs): expected the files of one "
        "model; copy its whole folder again"
    )


def mark_stopped(folder: Path, why: str) -> None:
    """Write into a model's facts that its training broke off."""
    facts = read_recipe(folder / FACTS, Provenance)
    write_recipe(folder / FACTS, replace(facts, stopped=why))


def is_artefact(folder: Path) -> bool:
    """Whether a folder holds a trained model, whole."""
    return (folder / FACTS).is_file()


def _require_readable(path: Path) -> None:
    """Refuse what another rota wrote before its keys are looked at: they may mean something else."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    if table.get("format") != FORMAT:
        raise InputError(
            f"{path} has format {table.get('format')!r}: this rota reads {FORMAT}; use the rota that wrote "
            f"it ({table.get('version')}), or train the model again"
        )
    written = str(table.get("version"))
    if _release(written) > _release(__version__):
        raise InputError(
            f"{path} was written by rota {written}, and this is {__version__}: install that version or a "
            "newer"
        )


def _release(version: str) -> tuple[int, ...]:
    """Leading numbers of a version: 0.10.0rc1 is (0, 10, 0)."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
