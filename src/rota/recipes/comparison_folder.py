"""Comparison folder: new, or begun by the same comparison and not finished; for one run at a time."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from rota.errors import InputError
from rota.evaluation.folder import RESULTS
from rota.recipes.output import MODELS, PLAN, claim, require_empty, sweep
from rota.recipes.plan import Plan
from rota.tables import to_table
from rota.toml import read_recipe, write_recipe

__all__: list[str] = []

_LOCK, _WORK = ".lock", ".work"
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
        with claim(folder), _alone(folder):
            write_recipe(folder / PLAN, plan)  # first: what breaks off can be run again
            yield folder
        return
    with _alone(folder):
        require_startable(folder, plan)  # it may have ended in the meantime
        (folder / MODELS).mkdir(exist_ok=True)
        if not (folder / PLAN).is_file():
            write_recipe(folder / PLAN, plan)
        shutil.rmtree(folder / _WORK, ignore_errors=True)
        for place in (folder, folder / MODELS):
            sweep(place)
        yield folder


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


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    lock = FileLock(folder / _LOCK)  # the system lets go of it when the process ends, however it does
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise InputError(
            f"{folder} is in use by another run: expected one at a time; wait for it, or choose another "
            "folder"
        ) from error
    try:
        yield
    finally:
        with suppress(OSError):  # on Windows it must be closed first
            (folder / _LOCK).unlink(missing_ok=True)
        lock.release()


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
    own = {name for name in names if name in (MODELS, _LOCK) or name.startswith(f".{PLAN}.")}
    return PLAN in names or (bool(names) and names == own and empty)


def _require_same(folder: Path, plan: Plan) -> None:
    """Refuse the folder of a comparison with another plan."""
    before, now = _flat(to_table(read_recipe(folder / PLAN, Plan))), _flat(to_table(plan))
    for key in {**before, **now}:
        if before.get(key) != now.get(key):
            raise InputError(
                f"{folder} is of a comparison with {key} {_brief(before.get(key))}, and this has "
                f"{_brief(now.get(key))}: expected the same plan, to go on with it; choose another folder "
                "for another comparison"
            )


def _flat(table: Mapping[str, object], before: str = "") -> dict[str, object]:
    """Values by their dotted keys."""
    found: dict[str, object] = {}
    for key, value in table.items():
        own = _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {before + key: value}
        found |= own
    return found


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
