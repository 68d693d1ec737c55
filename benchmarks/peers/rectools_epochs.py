"""Seconds of some epochs of a RecTools model, in RecTools' own environment: what `training.py` starts.

    python rectools_epochs.py EVENTS SETTINGS

`EVENTS` is an npz of `users`, `items`, `times` (seconds) of the training; `SETTINGS` is JSON: model, its
arguments, epochs, threads. JSON goes to standard output. The first epoch is a warm-up and is not told.
"""

import json
import logging
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
import torch
from pytorch_lightning import Callback, Trainer, seed_everything
from rectools import Columns
from rectools.dataset import Dataset
from rectools.models import HSTUModel, SASRecModel

MODELS = {"sasrec": SASRecModel, "hstu": HSTUModel}


class Clock(Callback):
    """When each epoch began and ended."""

    def __init__(self) -> None:
        self.began: list[float] = []
        self.ended: list[float] = []

    def __deepcopy__(self, memo: object) -> "Clock":
        return self  # RecTools trains with a copy of its trainer

    def on_train_epoch_start(self, trainer: Trainer, pl_module: Any) -> None:
        """Begin."""
        self.began.append(time.perf_counter())

    def on_train_epoch_end(self, trainer: Trainer, pl_module: Any) -> None:
        """End."""
        self.ended.append(time.perf_counter())


def main() -> None:
    events, settings = np.load(sys.argv[1]), json.loads(sys.argv[2])
    warnings.filterwarnings("ignore")
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    torch.set_num_threads(settings["threads"])
    seed_everything(0)
    table = pd.DataFrame(
        {
            Columns.User: events["users"],
            Columns.Item: events["items"],
            Columns.Weight: 1.0,
            Columns.Datetime: pd.to_datetime(events["times"], unit="s"),
        }
    )
    clock = Clock()
    model = MODELS[settings["model"]](
        **settings["arguments"],
        get_trainer_func=lambda: Trainer(
            max_epochs=settings["epochs"] + 1, accelerator="cpu", devices=1, logger=False, callbacks=[clock],
            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
        ),
    )  # fmt: skip
    model.fit(Dataset.construct(table))
    targets = sum(int((batch["y"] > 0).sum()) for batch in model.data_preparator.get_dataloader_train())
    seconds = [end - begin for begin, end in zip(clock.began[1:], clock.ended[1:], strict=True)]
    sys.stdout.write(json.dumps({"targets": targets, "seconds": seconds}) + "\n")


if __name__ == "__main__":
    main()
