"""Seconds of some epochs of a rota model: what `training.py` starts.

    python rota_epochs.py LOG SETTINGS

`SETTINGS` is JSON: model, its arguments, time access, loss, its negatives, batch, epochs, threads. JSON goes
to standard output. The first epoch is a warm-up and is not told.
"""

import json
import sys
import time
from itertools import pairwise
from pathlib import Path

import torch

from rota.models import HSTU, SASRec
from rota.recipes.lossmaking import parse_loss
from rota.recipes.opening import open_log, stated
from rota.recipes.question import ask_of
from rota.training import Training, TrainingWindows, fit

COLUMNS = {"user": "user_id", "item": "item_id", "time": "timestamp"}
MODELS = {"sasrec": SASRec, "hstu": HSTU}


def main() -> None:
    settings = json.loads(sys.argv[2])
    torch.set_num_threads(settings["threads"])
    question = ask_of(open_log(str(Path(sys.argv[1])), stated(**COLUMNS)).log)
    histories, access = question.histories, settings["time_access"]
    model = MODELS[settings["model"]](**settings["arguments"])
    network = model.build(num_items=histories.num_items, unit=histories.unit, time_access=access, seed=0)
    windows = TrainingWindows(histories, question.stages.train, model.max_len, access)
    loss = parse_loss(settings["loss"], settings["num_negatives"], settings["negatives"])
    ends = [time.perf_counter()]

    def validate() -> float:
        ends.append(time.perf_counter())
        return float(len(ends))

    fit(
        network,
        windows,
        Training(epochs=settings["epochs"] + 1, batch_size=settings["batch"], loss=loss),
        seed=0,
        validate=validate,
        keep=lambda: None,
        report=lambda step: None,
    )
    seconds = [end - start for start, end in pairwise(ends[1:])]
    sys.stdout.write(json.dumps({"targets": int(windows.counts.sum()), "seconds": seconds}) + "\n")


if __name__ == "__main__":
    main()
