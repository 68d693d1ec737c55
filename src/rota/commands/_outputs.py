"""Files that a command writes: all of them when all went well, else none."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rota.commands._terminal import say
from rota.errors import InputError
from rota.files import written_whole

__all__: list[str] = []


@contextmanager
def outputs(named: Mapping[str, Path | None], log: str | None = None) -> Iterator[dict[str, Path]]:
    """Hold places for all files by their options; they appear when all went well, else none of them.

    Args:
        named: Path by option, or ``None`` where the option is not given; ``--out`` is a picture.
        log: What is read, which none of them may be.

    Raises:
        InputError: One of them cannot be written or is the log, or two are one file.
    """
    asked = {option: path for option, path in named.items() if path is not None}
    seen: dict[Path, str] = {}
    for option, path in asked.items():
        other = seen.setdefault(path.resolve(), option)
        if other != option:
            raise InputError(f"{path} for both {other} and {option}: expected two files")
        if log is not None and path.resolve() == Path(log).resolve():
            raise InputError(f"{option} {path} is the log itself: choose another name")
    with ExitStack() as held:
        places = {option: held.enter_context(_place(path)) for option, path in asked.items()}
        if "--out" in asked:
            from rota.plots.style import picture_format  # matplotlib takes a second: only for a picture

            picture_format(asked["--out"])
        yield places


def say_outputs(named: Mapping[str, Path | None]) -> None:
    """Tell which files were written."""
    for path in named.values():
        if path is not None:
            say(f"  {path}")


@contextmanager
def _place(path: Path) -> Iterator[Path]:
    """A file beside a path, with its suffix, that takes its place when the block ends well, and else goes."""
    with written_whole(path) as part:
        part.touch()  # a folder that may not be written in says so now
        named = part.with_name(f"{part.name}.new{path.suffix}")
        try:
            yield named
            named.replace(part)
        finally:
            named.unlink(missing_ok=True)
