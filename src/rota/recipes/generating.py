"""generate: a log that is made up, with the truth about it."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from rota.data.worlds.base import People
from rota.data.worlds.presets import preset_world
from rota.data.worlds.world import World
from rota.data.worlds.writing import RowOrder, WrittenWorld, read_world, write_world
from rota.errors import InputError
from rota.units import duration_text

__all__ = ["changed_world", "generate"]


def changed_world(start: str | Path, options: dict[str, object], of_people: dict[str, object]) -> World:
    """A known world with some of it changed.

    Args:
        start: Name of a world (``"daily"``, ``"town"``), or the path of a ``NAME.truth.toml``.
        options: Fields of the world, each unless it is ``None``.
        of_people: Fields of kinds of people: each is given to all kinds that have it, unless it is ``None``.

    Raises:
        InputError: There is no such world, no kind has the field, or a value is out of range.
    """
    world = read_world(start) if str(start).endswith(".toml") else preset_world(str(start))
    wanted = {name: value for name, value in of_people.items() if value is not None}
    for name in wanted:
        if not any(name in _fields(kind) for kind in world.kinds):
            raise InputError(f"--{name}: the people of {start} have no such number: leave it out")
    kinds = tuple(
        dataclasses.replace(kind, **{name: value for name, value in wanted.items() if name in _fields(kind)})
        for kind in world.kinds
    )
    given = {name: value for name, value in options.items() if value is not None}
    if "zones" in given:
        given["zone_shares"] = None
    return dataclasses.replace(world, kinds=kinds, **given)  # type: ignore[arg-type]


def _fields(kind: People) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


def generate(
    world: World,
    out: str | Path,
    *,
    order: str = "user",
    on_progress: Callable[[int], None] = lambda _: None,
) -> WrittenWorld:
    """Write the log of a world, and the truth about it beside; see `write_world`.

    Args:
        world: What to make.
        out: File of the log: ``.parquet``, ``.csv`` or ``.csv.gz``.
        order: Of the rows: ``"user"`` or ``"time"``.
        on_progress: Told how many rows were made.

    Raises:
        InputError: Order or ending is unknown, the folder does not exist, or the world cannot be made.
    """
    return write_world(world, out, order=RowOrder.parse(order), on_progress=on_progress)


def world_facts(world: World) -> list[tuple[str, str]]:
    """What a person should know of a world, as labels and values."""
    return [
        ("events", f"{world.events:,} of {world.users:,} users; {world.items:,} items"),
        ("span", f"{world.days:,} days from {world.start}; {world.hours} hours"),
        ("zones", ", ".join(world.zones)),
        ("habits last", "for ever" if world.drift is None else f"{world.drift} on average"),
        ("seed", str(world.seed)),
    ]


def period_text(period: int | None) -> str:
    """A period for a table."""
    return "" if period is None else duration_text(period)
