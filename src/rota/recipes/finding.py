"""Finding: the trained model that a path means."""

from pathlib import Path

from rota.errors import InputError
from rota.recipes.output import MODELS
from rota.serving.artefact import Artefact, is_artefact, load_artefact

__all__: list[str] = []


def find_model(run: str | Path) -> Path:
    """Folder of a model.

    Args:
        run: That folder, or the folder of a run that trained one model.

    Raises:
        InputError: There is none, or the run has several: the message lists them.
    """
    run = Path(run)
    if is_artefact(run):
        return run
    if not run.is_dir():
        raise InputError(f"{run}: no such folder: expected that of a model, or of a run of rota compare")
    found = sorted(path for path in [*run.iterdir(), *run.glob(f"{MODELS}/*")] if is_artefact(path))
    if not found:
        raise InputError(
            f"{run}: no trained model in it or in its folder {MODELS}: expected the folder of a model, or of "
            "a run of rota compare"
        )
    if len(found) > 1:
        raise InputError(f"{run} has {len(found)} models: give one of {', '.join(map(str, found))}")
    return found[0]


def open_model(model: Artefact | str | Path) -> Artefact:
    """A model as it is, or loaded from the folder that a path means.

    Raises:
        InputError: There is none, or it cannot be loaded.
    """
    return model if isinstance(model, Artefact) else load_artefact(find_model(model))
