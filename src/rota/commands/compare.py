"""Train time encodings on one log and say which one learnt the routine."""

import os
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from rota.batch import TimeAccess
from rota.commands import _reading as options
from rota.commands._stages import Stages
from rota.commands._terminal import console, describe, say
from rota.errors import InputError
from rota.evaluation.seen import SeenItems
from rota.models.repeat_head import RepeatHead
from rota.models.transformer import Transformer
from rota.recipes.arm_models import parse_inputs
from rota.recipes.comparison_folder import require_startable
from rota.recipes.fetching import fetch_known
from rota.recipes.live import LiveWatcher
from rota.recipes.lossmaking import parse_loss
from rota.recipes.opening import open_log, stated
from rota.recipes.output import MODELS
from rota.recipes.plan import DEFAULT_ARMS, Plan
from rota.recipes.profile_text import read_profile
from rota.recipes.protocol import Protocol
from rota.recipes.splitting import parse_split
from rota.recipes.study import Study
from rota.training.recipe import Training

__all__: list[str] = []

app = typer.Typer(add_completion=False, rich_markup_mode="rich")
_ROWS, _MODEL, _TRAINING = "Rows", "The model", "Training"


@app.command(
    help="Train time encodings on one log and say which one learnt the routine.\n\n"
    "Users with five events or more are asked, by default for their last event. Every arm and seed is "
    "trained on the same split with the same access to the clock, beside the untrained baselines. The "
    "folder gets results.json, ranks.parquet, learning.png, attention.png, prior.png, and each model.\n\n"
    "Trainings run side by side, as cores and memory allow. After an interruption of any kind the same "
    "command with the same --out goes on, with other arms or seeds too: what is finished there, from the "
    "same recipe, data and code, is not done again. Where a training diverges the others are done first.",
    epilog="Examples:\n\n"
    "  rota compare flights --sample-users 1000 --prior 'wrapped_gaussian(24h, 0.5h)'\n\n"
    "  rota compare checkins.parquet --user user_id --item venue --time timestamp --zone America/New_York\n\n"
    "  rota compare log.csv --user u --item i --time t --unit ms --arms rope,rope+clockrope --seeds 5\n\n"
    "  rota compare log.csv --user u --item i --time t --arms sasrec,tisasrec,hstu,hstu:rope+clockrope\n\n"
    '  rota compare prepared/ --split \'temporal(test="2012-12-01", validation="2012-11-01", gap="1d")\'',
)
def compare_command(
    log: Annotated[
        str,
        typer.Argument(
            help="Prepared dataset, files, a table of a database by URL, or a source known by name: flights."
        ),
    ],
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
        int | None, typer.Option(help="Ask a random sample of so many users.", rich_help_panel=_ROWS)
    ] = None,
    arms: Annotated[
        str,
        typer.Option(
            help="Encodings and models, separated by commas: rope+clockrope, hstu, sasrec:calendar+repeat. "
            "A + shares a head's features, or adds a bias, an input or a repeat head."
        ),
    ] = ",".join(DEFAULT_ARMS),
    control: Annotated[
        str | None, typer.Option(help="Arm that others are compared with; else the first.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Trainings of each arm.", min=1)] = 2,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            help="Profile of the arms that have one, repeated for several: 'wrapped_gaussian(24h, 2h)', or a "
            "TOML file that rota prior --save wrote."
        ),
    ] = None,
    time_access: Annotated[
        str, typer.Option(help="What every arm knows of the clock: none, history or request.")
    ] = "request",
    seen: Annotated[
        str, typer.Option(help="Items of a user's own history as candidates: keep or drop.")
    ] = "keep",
    split: Annotated[
        str,
        typer.Option(
            help="Who is asked what: leave_last, temporal, holdout_day or by_user, with arguments or not: "
            "'temporal(test=0.9, validation=0.8)'."
        ),
    ] = "leave_last",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for results: new, or of the same comparison, interrupted; by default a new one in "
            "runs/, named by log and time."
        ),
    ] = None,
    embedding_dim: Annotated[int, typer.Option(rich_help_panel=_MODEL)] = Transformer.embedding_dim,
    num_layers: Annotated[int, typer.Option(rich_help_panel=_MODEL)] = Transformer.num_layers,
    num_heads: Annotated[int, typer.Option(rich_help_panel=_MODEL)] = Transformer.num_heads,
    max_len: Annotated[
        int, typer.Option(help="Events that it looks at.", rich_help_panel=_MODEL)
    ] = Transformer.max_len,
    dropout: Annotated[float, typer.Option(rich_help_panel=_MODEL)] = Transformer.dropout,
    inputs: Annotated[
        str | None,
        typer.Option(
            help="Features of time added to the items' embeddings, separated by commas, or none; else those "
            "of each model: the transformer has calendar.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    repeat_head: Annotated[
        bool,
        typer.Option(
            "--repeat-head",
            help="The next item may come from the user's own history.",
            rich_help_panel=_MODEL,
        ),
    ] = False,
    temperature: Annotated[
        float | None,
        typer.Option(help="Of every arm's logits; else each model's own.", rich_help_panel=_MODEL),
    ] = None,
    normalised: Annotated[
        bool | None,
        typer.Option(
            "--normalised/--not-normalised",
            help="Every arm compares by cosine, or by product; else as each model does.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    epochs: Annotated[int, typer.Option(help="At most.", rich_help_panel=_TRAINING)] = Training.epochs,
    patience: Annotated[
        int, typer.Option(help="Epochs without a better validation.", rich_help_panel=_TRAINING)
    ] = Training.patience,
    batch_size: Annotated[int, typer.Option(rich_help_panel=_TRAINING)] = Training.batch_size,
    learning_rate: Annotated[float, typer.Option(rich_help_panel=_TRAINING)] = Training.learning_rate,
    weight_decay: Annotated[float, typer.Option(rich_help_panel=_TRAINING)] = Training.weight_decay,
    loss: Annotated[
        str,
        typer.Option(help="sampled_softmax, full_softmax, bce or gbce.", rich_help_panel=_TRAINING),
    ] = "sampled_softmax",
    num_negatives: Annotated[
        int | None, typer.Option(help="Items that a loss draws.", rich_help_panel=_TRAINING)
    ] = None,
    negatives: Annotated[
        str | None,
        typer.Option(help="shared, uniform, in_batch or popularity.", rich_help_panel=_TRAINING),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            help="Trainings at once; by default as many as cores and memory allow. It changes no number.",
            min=1,
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    threads: Annotated[int, typer.Option(help="Of each training.", min=1, rich_help_panel=_TRAINING)] = 1,
    device: Annotated[str, typer.Option(help="cpu or cuda.", rich_help_panel=_TRAINING)] = "cpu",
    precision: Annotated[
        str, typer.Option(help="32-true, bf16-mixed, or on cuda 16-mixed.", rich_help_panel=_TRAINING)
    ] = "32-true",
) -> None:
    """Train time encodings on one log and say which one learnt the routine."""
    plan = Plan(
        tuple(arm.strip() for arm in arms.split(",")),
        control or "",
        seeds,
        tuple(map(read_profile, prior or [])),
        Transformer(
            embedding_dim=embedding_dim,
            num_layers=num_layers,
            num_heads=num_heads,
            max_len=max_len,
            dropout=dropout,
            repeat_head=RepeatHead() if repeat_head else None,
        ),
        Protocol(
            TimeAccess.parse(time_access),
            SeenItems.parse(seen),
            Training(
                epochs,
                batch_size,
                learning_rate,
                weight_decay,
                patience,
                parse_loss(loss, num_negatives, negatives),
            ),
            device,
            precision,
            parse_split(split),
        ),
        None if inputs is None else parse_inputs(inputs),
        normalised,
        temperature,
    )
    folder = out or _default_folder(log)
    require_startable(folder, plan)
    reading = stated(
        user=user, item=item, time=time, unit=unit, zone=zone, zone_column=zone_column,
        offset_column=offset_column, epoch=epoch, ties=ties, order=order, on_error=on_error,
    )  # fmt: skip
    with Stages() as stages:
        fetch_known(log, stages.tell)
        stages.tell("reading", 0, 0)
        opened = open_log(log, reading, sample_users=sample_users)
    describe(opened.facts)
    from rota.recipes.comparison import compare  # torch takes seconds: not before there is work for it

    try:
        with LiveWatcher(console) as watcher:
            study = compare(
                opened.log, plan, out=folder, watcher=watcher, processes=processes, threads=threads
            )
    except BaseException as error:
        if (folder / MODELS).is_dir() and any((folder / MODELS).iterdir()):
            say(f"the models finished so far are in {folder / MODELS}{os.sep}")
            if not isinstance(error, InputError):  # which says how to go on
                say(f"the same command with --out {folder} goes on from there")
        raise
    _conclude(study, folder)


def _default_folder(log: str) -> Path:
    return Path("runs") / f"{Path(log).name.partition('.')[0]}-{datetime.now():%Y%m%d-%H%M%S}"


def _conclude(study: Study, folder: Path) -> None:
    console.print(study.table())
    for path in sorted(folder.iterdir()):
        say(f"  {path}{os.sep if path.is_dir() else ''}")
