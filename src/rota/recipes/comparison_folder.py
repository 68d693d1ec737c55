"""Comparison folder: new, or begun by the same comparison and not finished; for one run at a time.

What is the same for every training must stay. Which trainings there are may change, when an arm diverges for
instance: each is known by an address of its own.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rota.errors import InputError
from rota.evaluation.folder import RESULTS
from rota.recipes.holding import LOCK, first_difference, only_run
from rota.recipes.output import MODELS, PLAN, claim, require_empty, sweep
from rota.recipes.plan import Plan
from rota.toml import read_recipe, write_recipe

__all__: list[str] = []

_WORK = ".work"
_FREE = ("arms", "control", "seeds", "prior")
_LONGEST = 60  # letters of a value in a message


def require_startable(folder: Path, plan: Plan) -> None:
    """Refuse a folder in which the comparison can neither begin nor go on; ask before the log is read.

    Raises:
        InputError: It holds a finished comparison, another's, or something else.
    """
    if not _is_begun(folder):
        require_empty(folder)
    elif (folder / PLAN).is_file():
        _require_same(folder, plan)


@contextmanager
def held(folder: Path, plan: Plan) -> Iterator[Path]:
    """Hold the folder of a comparison, new or begun before, against every other run.

    A new one is taken away again if nothing is finished in it; see `claim`.

    Raises:
        InputError: As `require_startable`, it cannot be made, or another run holds it.
    """
    require_startable(folder, plan)
    if not _is_begun(folder):
        with claim(folder), only_run(folder, tidy=True):
            write_recipe(folder / PLAN, plan)  # first: what breaks off can be run again
            yield folder
        return
    with only_run(folder, tidy=True):
        require_startable(folder, plan)  # it may have ended in the meantime
        (folder / MODELS).mkdir(exist_ok=True)
        shutil.rmtree(folder / _WORK, ignore_errors=True)
        for place in (folder, folder / MODELS):
            sweep(place)
        yield folder


def write_plan(folder: Path, plan: Plan) -> None:
    """Write the plan, once it is known that the folder may go on with it."""
    if not (folder / PLAN).is_file() or read_recipe(folder / PLAN, Plan) != plan:
        write_recipe(folder / PLAN, plan)


@contextmanager
def workspace(folder: Path | None) -> Iterator[Path]:
    """A folder for what is needed only while the trainings last.

    Args:
        folder: Of the comparison, within which it is: there is room for models too; ``None``: the system's.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="rota-") as made:
            yield Path(made)
        return
    work = folder / _WORK
    work.mkdir()
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _is_begun(folder: Path) -> bool:
    """Whether a comparison was begun here and not finished, if only just begun when it was killed."""
    try:
        names = {path.name for path in folder.iterdir()}
    except OSError:  # it is not there, or no folder, or not to be read: `require_empty` says so
        return False
    if RESULTS in names:
        return False
    models = folder / MODELS
    empty = not models.exists() or (models.is_dir() and not any(models.iterdir()))
    own = {name for name in names if name in (MODELS, LOCK) or name.startswith(f".{PLAN}.")}
    return PLAN in names or (bool(names) and names == own and empty)


def _require_same(folder: Path, plan: Plan) -> None:
    """Refuse the folder of a comparison with another plan."""
    found = first_difference(read_recipe(folder / PLAN, Plan), plan, _FREE)
    if found is not None:
        key, before, now = found
        raise InputError(
            f"{folder} is of a comparison with {key} {_brief(before)}, and this has {_brief(now)}: expected "
            "the same, but for arms, seeds and prior, to go on with it; choose another folder for another "
            "comparison"
        )


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
