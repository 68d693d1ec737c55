"""One training of a rota model, beside `rectools_models.py`: what `rectools_peer.py` starts.

    python rota_models.py LOG SETTINGS OUT

`LOG` is the Parquet file. `SETTINGS` is JSON: which model, its arguments, seed, training and windows. `OUT`
is an npz with the rank of every target of the test; a JSON of the same name has the rest.

`windows` says what an epoch learns from: `all` is what rota does, every target of every user once; `newest`
is what RecTools does, the newest `max_len` targets of each user and nothing of what came before.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rota.evaluation import MRR, ask, mean_of
from rota.histories import Spans
from rota.models import HSTU, SASRec, Similarity
from rota.models.base import Model
from rota.recipes.opening import open_log, stated
from rota.recipes.question import Question, ask_of
from rota.training import FullSoftmax, Training, TrainingWindows, fit

COLUMNS = {"user": "user_id", "item": "item_id", "time": "timestamp"}


def question_of(log: Path) -> Question:
    """Leave-one-out on a log: the last event of each user is the test, the one before it validation."""
    return ask_of(open_log(str(log), stated(**COLUMNS)).log)


def recipe(settings: dict[str, Any]) -> Model:
    """Network of one training."""
    arguments = dict(settings["arguments"])
    if settings["kind"] == "sasrec":
        return SASRec(**arguments)
    temperature = arguments.pop("temperature")
    return HSTU(**arguments, similarity=Similarity(normalised=True, temperature=temperature))


def learnt_from(spans: Spans, windows: str, max_len: int) -> Spans:
    """What of each user is learnt from."""
    if windows == "all":
        return spans
    return spans._replace(starts=np.maximum(spans.starts, spans.stops - max_len - 1))


def main() -> None:
    question, settings = question_of(Path(sys.argv[1])), json.loads(Path(sys.argv[2]).read_text())
    out = Path(sys.argv[3])
    torch.set_num_threads(1)
    histories, stages, seed = question.histories, question.stages, settings["seed"]
    model, access = recipe(settings), settings["time_access"]
    network = model.build(num_items=histories.num_items, unit=histories.unit, time_access=access, seed=seed)
    spans = learnt_from(stages.train, settings["windows"], model.max_len)
    windows = TrainingWindows(histories, spans, model.max_len, access)
    training = Training(**settings["training"], loss=FullSoftmax())
    seconds = 0.0

    def validate() -> float:
        nonlocal seconds
        began = time.perf_counter()
        ranks = ask(network, histories, stages.validation, access=access, seen="drop")
        found = mean_of(MRR(), ranks, histories, stages.validation)
        seconds += time.perf_counter() - began
        return found

    began = time.perf_counter()
    fitted = fit(
        network, windows, training, seed=seed, validate=validate, keep=lambda: None, report=lambda step: None
    )
    whole = time.perf_counter() - began
    ranks = ask(network, histories, stages.test, access=access, seen="drop")
    np.savez_compressed(out, ranks=ranks, users=stages.test.users)
    facts = {
        "validation": fitted.validation,
        "best_epoch": fitted.best_epoch,
        "seconds": whole - seconds,
        "seconds_validating": seconds,
        "steps_per_epoch": -(-len(windows) // training.batch_size),
        "targets_per_epoch": int(windows.lengths.sum()),
        "parameters": sum(weights.numel() for weights in network.parameters()),
        "threads": torch.get_num_threads(),
    }
    out.with_suffix(".json").write_text(json.dumps(facts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
