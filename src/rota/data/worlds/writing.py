"""A world as files: the log, and the truth about it beside."""

import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import tomli_w

from rota.choice import Choice
from rota.data.worlds.rows import LOG, SCHEMA, TRUTH
from rota.data.worlds.sinks import ending, opened_sink
from rota.data.worlds.sorting import by_time
from rota.data.worlds.tally import KindTally, Tally
from rota.data.worlds.world import World
from rota.errors import InputError
from rota.files import written_whole
from rota.tables import from_table, to_table

__all__ = ["RowOrder", "WrittenWorld", "read_world", "write_world"]

_ROWS = 131_072  # of a batch, which becomes a row group
_FORMAT = "rota.world/1"


class RowOrder(Choice):
    """Order of the rows.

    Attributes:
        USER: By user, and for each by time: as they are made.
        TIME: By time over all users, as a server would have logged them.
    """

    USER = "user"
    TIME = "time"


@dataclass(frozen=True)
class WrittenWorld:
    """What was written.

    Attributes:
        log: File of the log.
        truth: File with the truth about each row, in the same order.
        about: File of the recipe, with what was counted.
        kinds: What was counted, by kind of people.
    """

    log: Path
    truth: Path
    about: Path
    kinds: tuple[KindTally, ...]


def write_world(
    world: World,
    path: str | Path,
    *,
    order: RowOrder = RowOrder.USER,
    on_progress: Callable[[int], None] = lambda _: None,
) -> WrittenWorld:
    """Write the log of a world and, beside it, ``NAME.truth.parquet`` and ``NAME.truth.toml``.

    All three appear only when complete. In the order of users, memory does not grow with events; by time,
    DuckDB sorts, which spills to the folder of the log.

    Args:
        world: What to make.
        path: File of the log; the ending decides: ``.parquet``, ``.csv``, ``.csv.gz``.
        order: Of the rows.
        on_progress: Told how many rows were made.

    Raises:
        InputError: The ending is unknown, the folder does not exist, or the world cannot be made.
    """
    path = Path(path)
    kind = ending(path)
    stem = path.name.removesuffix(kind)
    truth, about = (path.with_name(f"{stem}.truth{suffix}") for suffix in (".parquet", ".toml"))
    tally = Tally(world)
    with ExitStack() as places:  # what is entered last is in its place first: the log when all is there
        log_part, about_part, truth_part = (
            places.enter_context(written_whole(one)) for one in (path, about, truth)
        )
        with opened_sink(log_part, kind, LOG) as log, opened_sink(truth_part, ".parquet", TRUTH) as known:
            for batch in _ordered(_told(world, tally, on_progress), order, path):
                log(batch.select(LOG.names))
                known(batch.select(TRUTH.names))
        _describe(world, tally, order, about_part)
    return WrittenWorld(path, truth, about, tally.kinds())


def _told(world: World, tally: Tally, on_progress: Callable[[int], None]) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in world.batches(_ROWS):
        tally.add(batch)
        done += len(batch)
        on_progress(done)
        yield batch


def _ordered(batches: Iterator[pa.RecordBatch], order: RowOrder, path: Path) -> Iterator[pa.RecordBatch]:
    return batches if order == RowOrder.USER else by_time(batches, SCHEMA, path, _ROWS)


def _describe(world: World, tally: Tally, order: RowOrder, part: Path) -> None:
    table = {
        "format": _FORMAT,
        "order": order.value,
        "world": to_table(world),
        "kinds": [kind.to_dict() for kind in tally.kinds()],
    }
    part.write_text(tomli_w.dumps(table), encoding="utf-8")


def read_world(path: str | Path) -> World:
    """The world of a ``NAME.truth.toml``.

    Raises:
        InputError: The file is missing, or is not such a file.
    """
    path = Path(path)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    inner = table.get("world")
    if not isinstance(inner, dict):
        raise InputError(f"{path}: expected a table [world], as `rota generate` writes it")
    try:
        return from_table(inner, World)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
