"""Output folder: a run gets one of its own; what is there is never written over."""

from pathlib import Path

from rota.errors import InputError

__all__ = ["claim", "require_empty"]


def require_empty(folder: Path) -> None:
    """Refuse a folder that holds anything.

    Raises:
        InputError: It exists and is not an empty folder.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(
            f"{folder} is not empty: an earlier result is never overwritten; choose another folder"
        )
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file: expected a new folder; choose another name")


def claim(folder: Path) -> Path:
    """Make the folder of a run.

    Raises:
        InputError: It holds something already, or cannot be made.
    """
    require_empty(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made ({error.strerror}): choose another folder") from error
    return folder
