"""Training folder: what one training keeps, for one run at a time, and for no other training."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rota.errors import InputError
from rota.evaluation.folder import RESULTS
from rota.recipes.config_file import read_config
from rota.recipes.holding import LOCK, first_difference, only_run
from rota.recipes.output import MODELS, model_name, require_empty
from rota.recipes.study import Study
from rota.recipes.train_config import TrainConfig
from rota.toml import write_recipe

__all__: list[str] = []

CONFIG, CHECKPOINTS, CURVES, EVENTS = "train.toml", "checkpoints", "curves.csv", "events.out.tfevents.rota"
_RESULTS_PART = ".results.part"


@contextmanager
def alone_in(folder: Path, config: TrainConfig) -> Iterator[None]:
    """Hold the folder of a training, new or begun before, against every other run.

    Raises:
        InputError: Another run holds it, it is of a training that was set up otherwise, or it holds something
            else.
    """
    if not (folder / CONFIG).is_file() and not (folder / LOCK).is_file():
        require_empty(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made ({error.strerror}): choose another folder") from error
    with only_run(folder):
        _require_same(folder, config)
        yield


def is_finished(folder: Path) -> bool:
    """Whether the training in a folder has come to its end, and all of its results are there."""
    return (folder / RESULTS).is_file()


def model_folder(folder: Path, config: TrainConfig) -> Path:
    """Where its model is once it has ended."""
    return folder / MODELS / model_name(config.name, config.seed)


def save_study(folder: Path, study: Study) -> None:
    """Write results into the folder, last those that say that it has ended; a killed run writes them anew."""
    part = folder / _RESULTS_PART
    shutil.rmtree(part, ignore_errors=True)
    study.save(part)
    for path in sorted(part.iterdir(), key=lambda path: path.name == RESULTS):
        os.replace(path, folder / path.name)
    part.rmdir()


def _require_same(folder: Path, config: TrainConfig) -> None:
    """Refuse a folder of another training; one that is new gets its config."""
    path = folder / CONFIG
    if not path.is_file():
        write_recipe(path, config)
        return
    found = first_difference(read_config(path, TrainConfig), config)
    if found is not None:
        key, before, now = found
        raise InputError(
            f"{folder} is of a training with {key} {before!r}, and this has {now!r}: expected the same "
            "config, to go on with it; choose another folder for another training"
        )
