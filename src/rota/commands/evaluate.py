"""Evaluate a trained model on a log, beside the untrained baselines."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from rota.commands import _reading as options
from rota.commands._stages import Stages
from rota.commands._terminal import console, describe, say
from rota.files import written_whole
from rota.recipes.evaluating import Evaluation, chosen_slices, evaluate
from rota.recipes.fetching import fetch_known
from rota.recipes.finding import open_model
from rota.recipes.opening import open_log, stated
from rota.recipes.splitting import parse_split
from rota.serving.artefact import Artefact

__all__: list[str] = []

app = typer.Typer(add_completion=False, rich_markup_mode="rich")
_ROWS = "Rows"


@app.command(
    help="Evaluate a trained model on a log, beside the untrained baselines.\n\n"
    "RUN is a model's folder as rota compare writes it (DIR/models/rope-seed0), or the folder of a run with "
    "one model. LOG is the log or prepared dataset that it was trained on, read in the same way. The model "
    "is asked the test of its split, as it was trained to be asked; another split, data, time access or "
    "treatment of seen items is refused without --anyway, and a log with items that the model does not know "
    "always.",
    epilog="Examples:\n\n"
    "  rota evaluate runs/town/models/rope-seed0 town.parquet --user u --item i --time t --slice gap,hour\n\n"
    "  rota evaluate runs/flights flights --sample-users 1000 --json figures.json\n\n"
    "  rota evaluate runs/town prepared/ --time-access history --anyway",
)
def evaluate_command(
    run: Annotated[Path, typer.Argument(help="Folder of a model, or of a run with one model.")],
    log: Annotated[
        str,
        typer.Argument(
            help="Prepared dataset, files, a table of a database by URL, or a source known by name: flights."
        ),
    ],
    split: Annotated[
        str | None,
        typer.Option(help="Who is asked what, such as 'leave_last(k=1)'; else as it was trained."),
    ] = None,
    time_access: Annotated[
        str | None,
        typer.Option(help="What is known of the clock: none, history or request; else as it was trained."),
    ] = None,
    seen: Annotated[
        str | None,
        typer.Option(help="Items of a user's own history as candidates: keep or drop; else likewise."),
    ] = None,
    by: Annotated[
        str,
        typer.Option("--slice", help="Kinds of questions to look at apart: gap,hour,history,repeat."),
    ] = "",
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Ask although it was trained to be asked otherwise.")
    ] = False,
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
    sample_users: Annotated[
        int | None, typer.Option(help="Sample of users with which it was trained.", rich_help_panel=_ROWS)
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    json: Annotated[Path | None, typer.Option(help="File for all figures.", metavar="FILE")] = None,
) -> None:
    """Evaluate a trained model."""
    reading = stated(
        user=user, item=item, time=time, unit=unit, zone=zone, zone_column=zone_column,
        offset_column=offset_column, epoch=epoch, ties=ties, order=order, on_error=on_error,
    )  # fmt: skip
    slices = chosen_slices([name.strip() for name in by.split(",") if name.strip()])
    chosen = None if split is None else parse_split(split)
    with ExitStack() as held, Stages() as stages:
        part = None if json is None else held.enter_context(written_whole(json))
        if part is not None:
            part.touch()  # a folder that may not be written in says so before anything is computed
        stages.tell("loading the model", 0, 0)
        model = open_model(run)
        fetch_known(log, stages.tell)
        stages.tell("reading", 0, 0)
        opened = open_log(log, reading, sample_users=sample_users)
        found = evaluate(
            model, opened.log, split=chosen, time_access=time_access, seen=seen, slices=slices, anyway=anyway,
            device=device, tell=stages.tell,
        )  # fmt: skip
        if part is not None:
            found.save(part)
    describe([*_facts(model), *opened.facts])
    _show(found)
    if json is not None:
        say(f"  {json}")


def _facts(model: Artefact) -> list[tuple[str, str]]:
    facts = model.provenance
    kept = f"epoch {facts.best_epoch + 1}, MRR {facts.validation_mrr:.3f} on validation"
    told = [("model", f"{facts.arm}, seed {model.blueprint.seed}, of {facts.log}"), ("trained", kept)]
    return [*told, *([("stopped", facts.stopped)] if facts.stopped else [])]


def _show(found: Evaluation) -> None:
    for departure in found.departures:
        say(f"not as it was trained: {departure}")
    for table in found.tables():
        console.print(table)
