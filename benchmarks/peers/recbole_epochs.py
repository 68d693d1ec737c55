"""Seconds of some steps of RecBole's SASRec, in RecBole's own environment: what `training.py` starts.

    python recbole_epochs.py EVENTS SETTINGS

`EVENTS` is an npz of `users`, `items`, `times` (seconds) of the training; `SETTINGS` is JSON: RecBole's own
settings, steps, epochs, threads. JSON goes to standard output.

RecBole makes a row of every prefix of a history, of which the last position alone is a target; so no target
occurs twice in an epoch, and a row is a distinct target. An epoch is as many rows as there are targets, each
computed as a window of a hundred is: it would take a quarter of an hour, so an "epoch" here is some steps of
one, of other rows each time. The first is a warm-up and is not told. RecBole's split leaves each user's last
two events out of these rows, as it does for whoever calls `run_recbole`; that changes their number, not their
speed.
"""

import json
import logging
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

NAME = "log"


class Some:
    """A few steps of an epoch at a time, for RecBole's own loop over an epoch.

    Attributes:
        steps: Of each turn.
        shuffle: As RecBole's loaders say.
        rows: Rows of the last turn.
    """

    def __init__(self, loader: Any, steps: int) -> None:
        self.batches, self.steps, self.shuffle, self.rows = iter(loader), steps, True, 0

    def __iter__(self) -> Iterator[Any]:
        self.rows = 0
        for batch in islice(self.batches, self.steps):
            self.rows += len(batch)
            yield batch


def write_log(events: Any, folder: Path) -> None:
    """Write the events as RecBole reads them."""
    table = pd.DataFrame(
        {
            "user_id:token": events["users"],
            "item_id:token": events["items"],
            "timestamp:float": events["times"],
        }
    )
    (folder / NAME).mkdir()
    table.to_csv(folder / NAME / f"{NAME}.inter", sep="\t", index=False)


def main() -> None:
    events, settings = np.load(sys.argv[1]), json.loads(sys.argv[2])
    sys.argv = sys.argv[:1]  # RecBole reads the rest as settings of its own
    warnings.filterwarnings("ignore")
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.model.sequential_recommender import SASRec
    from recbole.trainer import Trainer
    from recbole.utils import init_seed

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where RecBole leaves its own records
        write_log(events, Path(folder))
        told = {
            "data_path": folder, "checkpoint_dir": folder,
            "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
            "USER_ID_FIELD": "user_id", "ITEM_ID_FIELD": "item_id", "TIME_FIELD": "timestamp",
            "train_neg_sample_args": None, "use_gpu": False, "seed": 0, "show_progress": False,
        }  # fmt: skip
        config = Config(model="SASRec", dataset=NAME, config_dict={**told, **settings["arguments"]})
        init_seed(config["seed"], config["reproducibility"])
        logging.disable(logging.WARNING)
        train, _, _ = data_preparation(config, create_dataset(config))
        torch.set_num_threads(settings["threads"])  # RecBole may have set them
        trainer = Trainer(config, SASRec(config, train.dataset))
        some, seconds = Some(train, settings["steps"]), []
        for epoch in range(settings["epochs"] + 1):
            began = time.perf_counter()
            trainer._train_epoch(some, epoch)
            seconds.append(time.perf_counter() - began)
            if some.rows != settings["steps"] * settings["arguments"]["train_batch_size"]:
                raise SystemExit(f"{some.rows} rows in {settings['steps']} steps: the log has no more")
    sys.stdout.write(json.dumps({"targets": some.rows, "seconds": seconds[1:]}) + "\n")


if __name__ == "__main__":
    main()
