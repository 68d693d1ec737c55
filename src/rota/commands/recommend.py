"""Recommend items to the users of a log, at any time, with a trained model."""

import json as js
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from rota.commands import _reading as options
from rota.commands._stages import Stages
from rota.commands._terminal import console, say
from rota.errors import InputError
from rota.files import written_whole
from rota.recipes.finding import open_model
from rota.recipes.history_file import left_out, open_history
from rota.recipes.opening import stated
from rota.recipes.recommending import recommend, recommend_to_users
from rota.serving.recommendation import Basis, Recommendations

__all__: list[str] = []

app = typer.Typer(add_completion=False, rich_markup_mode="rich")
_SHOWN = 20  # users on the screen
_NEW = None  # whom no history was given for; he has no name


@app.command(
    help="Recommend items to the users of a log, at any time, with a trained model.\n\n"
    "RUN is a model's folder as rota compare writes it (DIR/models/rope-seed0), or the folder of a run with "
    "one model. Every user of the history gets the best items for each --at; the scores of several users are "
    "in the file of --json.\n\n"
    "Times are brought to the clock that the model was trained on: without an offset they are what that "
    "clock shows, whole numbers are in its unit. A user without known items gets what is popular, and so "
    "does a new one: leave --history out.",
    epilog="Examples:\n\n"
    "  rota recommend runs/town/models/clockrope-seed0 --history mine.csv --user u --item i --time t "
    "--at 2024-05-31T18:00\n\n"
    "  rota recommend runs/town --k 20\n\n"
    "  rota recommend runs/town --history log.parquet --user u --item i --time t --at 2024-05-31T18:00+02:00 "
    "--at 2024-06-01T08:00+02:00 --k 5 --seen drop --json out.json",
)
def recommend_command(
    run: Annotated[Path, typer.Argument(help="Folder of a model, or of a run with one model.")],
    history: Annotated[
        str | None,
        typer.Option(help="Log of one or several users: a file, or any that rota reads.", metavar="FILE"),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            help="Time of the request, repeated for several: ISO 8601, or ticks of the model's unit.",
            metavar="TIME",
        ),
    ] = None,
    k: Annotated[int, typer.Option(help="Items for each user and time.")] = 10,
    seen: Annotated[str, typer.Option(help="Items of the history as candidates: keep or drop.")] = "keep",
    unknown: Annotated[
        str, typer.Option(help="Items of the history that the model does not know: skip or refuse.")
    ] = "skip",
    user: options.User = None,
    item: options.Item = None,
    time: options.Time = None,
    unit: options.Unit = None,
    zone: options.Zone = None,
    zone_column: options.ZoneColumn = None,
    offset_column: options.OffsetColumn = None,
    epoch: options.Epoch = None,
    ties: options.Ties = None,
    order: options.Order = None,
    on_error: options.OnError = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    json: Annotated[Path | None, typer.Option(help="File for all answers.", metavar="FILE")] = None,
) -> None:
    """Recommend items."""
    reading = stated(
        user=user, item=item, time=time, unit=unit, zone=zone, zone_column=zone_column,
        offset_column=offset_column, epoch=epoch, ties=ties, order=order, on_error=on_error,
    )  # fmt: skip
    if history is None and reading != stated():
        raise InputError("columns or a clock of a history are given, and no --history: expected its file")
    times = at or [""]
    with ExitStack() as held, Stages() as stages:
        part = None if json is None else held.enter_context(written_whole(json))
        if part is not None:
            part.touch()  # a folder that may not be written in says so before anything is computed
        stages.tell("loading the model", 0, 0)
        model = open_model(run)
        how: dict[str, Any] = {"k": k, "seen": seen, "unknown": unknown, "zone": zone, "device": device}
        log = None
        if history is not None:
            stages.tell("reading the history", 0, 0)
            log = open_history(history, reading, model)
        stages.tell("recommending", 0, 0)
        if log is not None:
            found = recommend_to_users(model, log, now=at or None, **how)
        else:
            answers = recommend(model, items=[], now=at or None, **how)
            found = {_NEW: answers if isinstance(answers, list) else [answers]}
        if part is not None:
            part.write_text(js.dumps(_answers(found, times), indent=2, ensure_ascii=False) + "\n", "utf-8")
    _show(found, times, f"{model.provenance.arm}, trained on {model.provenance.log}")
    if model.provenance.stopped:
        say(f"its training broke off: {model.provenance.stopped}")
    if log is not None and (missing := left_out(log)):
        say(f"{log.name}: {missing}")
    if json is not None:
        say(f"  {json}")


def _answers(found: Mapping[Any, list[Recommendations]], times: list[str]) -> list[dict[str, object]]:
    return [
        {"user": user if isinstance(user, int | str | None) else str(user), "at": at or None, **one.to_json()}
        for user, answers in found.items()
        for at, one in zip(times, answers, strict=True)
    ]


def _show(found: Mapping[Any, list[Recommendations]], times: list[str], title: str) -> None:
    say(f"{_called(next(iter(found)))}: {title}" if len(found) == 1 else title)
    console.print(_of_one(found, times) if len(found) == 1 else _of_many(found, times))
    shown = list(found.items())[:_SHOWN]
    for user, answers in shown:
        for note in _notes(user, answers[0]):
            say(note)
    if len(found) > _SHOWN:
        say(f"and {len(found) - _SHOWN:,} more users, who are in the file of --json")


def _of_one(found: Mapping[Any, list[Recommendations]], times: list[str]) -> Table:
    """Items with their scores, a column for each time."""
    (answers,) = found.values()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("", justify="right")
    for at in times:
        table.add_column(escape(at) or "best items", overflow="fold")
        table.add_column("score", justify="right", no_wrap=True)
    for place in range(max(map(len, answers))):
        best = [one[place] if place < len(one) else None for one in answers]
        cells = [("", "") if one is None else (escape(str(one.item)), f"{one.score:.3g}") for one in best]
        table.add_row(str(place + 1), *(text for cell in cells for text in cell))
    return table


def _of_many(found: Mapping[Any, list[Recommendations]], times: list[str]) -> Table:
    """Items alone, a line for each user and time."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("user", overflow="fold")
    if times != [""]:
        table.add_column("at", overflow="fold")
    table.add_column("best items", overflow="fold")
    for user, answers in list(found.items())[:_SHOWN]:
        for at, one in zip(times, answers, strict=True):
            cells = [str(user), *([at] if at else []), ", ".join(map(str, one.items))]
            table.add_row(*(escape(cell) for cell in cells))
    return table


def _called(user: object) -> str:
    return "a new user" if user is _NEW else str(user)


def _notes(user: object, one: Recommendations) -> list[str]:
    notes = []
    if user is _NEW:
        return ["what is popular: no history was given"]
    if one.basis == Basis.POPULARITY:
        notes.append(f"{user}: what is popular, for there is no item of the history that the model knows")
    if one.unknown:
        notes.append(f"{user}: skipped, not in the model's catalogue: {_listed(one.unknown)}")
    if one.untrained:
        notes.append(f"{user}: never met in training: {_listed(one.untrained)}")
    return notes


def _listed(names: tuple[Any, ...]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(str, names[:5])) + more
