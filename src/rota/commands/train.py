"""Train one model from a config; the same command goes on where it was interrupted."""

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rota.commands._terminal import console, say

if TYPE_CHECKING:
    from rota.recipes.train_config import TrainConfig

__all__: list[str] = []

app = typer.Typer(add_completion=False, rich_markup_mode="rich")


@app.command(
    help="Train one model from a config; the same command goes on where it was interrupted.\n\n"
    "CONFIG is TOML. It has log, arm, prior, seed, time_access, seen, split, device, precision, "
    "sample_users, checkpoint_every and sharded, and the tables \\[reading] (columns and clock of the log), "
    "\\[model] and \\[training]; whatever is left out has a default, which --print-config shows. Paths are "
    "seen from where the command is run.\n\n"
    "The folder gets the model, results.json, ranks.parquet, curves.csv, pictures, and curves for "
    "TensorBoard. A training that was killed, stopped or ran out of disk goes on from its last checkpoint, "
    "and ends with the same weights. To share it among processes: torchrun --nproc-per-node 2 -m rota train "
    "CONFIG --out DIR; with sharded = true each of them holds a share of the weights only.",
    epilog="Examples:\n\n"
    "  rota train town.toml --out runs/town\n\n"
    "  rota train town.toml --out runs/long --set training.epochs=40 --set arm=rope+clockrope\n\n"
    "  rota train town.toml --set training.loss='gbce(num_negatives=64)' --print-config",
)
def train_command(
    config: Annotated[Path, typer.Argument(help="Config in TOML.", metavar="CONFIG")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the training: new, or of one that was begun; else runs/ and the config's name."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Instead of what the config says, repeated: training.epochs=3."
        ),
    ] = None,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the whole config with all defaults, and leave.")
    ] = False,
) -> None:
    """Train one model."""
    from rota.recipes.config_file import read_config
    from rota.recipes.train_config import TrainConfig

    found = read_config(config, TrainConfig, settings or [])
    if print_config:
        import tomli_w

        from rota.tables import to_table, unset_keys

        left = "".join(f"# {key}: not set\n" for key in unset_keys(found))
        sys.stdout.write(tomli_w.dumps(to_table(found)) + left)
        return
    _train(found, out or Path("runs") / config.stem)


def _train(config: "TrainConfig", folder: Path) -> None:
    from rota.recipes.study import Study
    from rota.recipes.train_live import LiveTrainWatcher
    from rota.recipes.training_run import train
    from rota.training.loop import StoppedError

    try:
        with LiveTrainWatcher(console) as watcher:
            trained = train(config, folder, watcher=watcher)
    except StoppedError as error:
        by = signal.Signals(error.number or signal.SIGTERM)  # 0: it came to another process of the training
        print(
            f"stopped by {by.name}: what was learnt is kept; the same command goes on from there",
            file=sys.stderr,
        )
        raise typer.Exit(128 + by) from error
    if trained is None:
        return
    if trained.before:
        say(f"this training has ended before; for another choose another folder than {folder}")
    console.print(Study(trained.comparison, {}, []).table())
    for path in sorted(path for path in folder.iterdir() if not path.name.startswith(".")):
        say(f"  {path}")
    say(f"  {trained.model}")
