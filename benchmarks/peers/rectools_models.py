"""One training of a RecTools model, in RecTools' own environment: what `rectools_peer.py` starts.

    python rectools_models.py EVENTS SETTINGS OUT

`EVENTS` is an npz of `users`, `items`, `times` (seconds) and `stage` (0 train, 1 validation, 2 test), an
entry for each event, a user's events in their order. `SETTINGS` is JSON: which model, its arguments, seed,
epochs and patience. `OUT` is an npz with the list of every user asked; a JSON of the same name has the rest.

RecTools sorts by time, stably, so that events of one instant stay in the order of the rows; `require_order`
checks what its loaders hand out. The epoch is selected by a callback, as its guide to training does it:
validation MRR over all items that the user has not met, at the time of the validation event.
"""

import copy
import json
import logging
import sys
import time
import warnings
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import torch
from pytorch_lightning import Callback, Trainer, seed_everything
from rectools import Columns
from rectools.dataset import Dataset
from rectools.models import HSTUModel, SASRecModel
from rectools.models.nn.transformers.data_preparator import SequenceDataset

KINDS = {"sasrec": SASRecModel, "hstu": HSTUModel}
TRAIN, VALIDATION, TEST = range(3)


def frame(events: Any, *stages: int) -> pd.DataFrame:
    """Events of some stages as RecTools takes them."""
    table = pd.DataFrame(
        {
            Columns.User: events["users"],
            Columns.Item: events["items"],
            Columns.Weight: 1.0,
            Columns.Datetime: pd.to_datetime(events["times"], unit="s"),
        }
    )
    return table[np.isin(events["stage"], stages)].reset_index(drop=True)


class Question:
    """Histories, and who is asked for which item at what time.

    Attributes:
        model: Who is asked.
        users: Who asks, by their ids, shape ``(users,)``.
        targets: Id of the right item of each.
        dataset: The histories as RecTools has them.
    """

    def __init__(self, events: Any, seen: tuple[int, ...], asked: int, model: Any = None) -> None:
        table = frame(events, asked)
        self.model, self.context = model, table.drop(columns=Columns.Item)
        self.users, self.targets = table[Columns.User].to_numpy(), table[Columns.Item].to_numpy()
        self.dataset = Dataset.construct(frame(events, *seen))

    def given(self) -> pd.DataFrame | None:
        """The request times, for a model that takes them."""
        return self.context.copy() if self.model.require_recommend_context else None

    @cached_property
    def prepared(self) -> SimpleNamespace:
        """Batches and candidates, in the codes of the training's catalogue."""
        preparator = self.model.data_preparator
        dataset = preparator.transform_dataset_u2i(self.dataset, self.users, self.given())
        known = np.isin(self.targets, preparator.get_known_item_ids())
        met = dataset.get_user_item_matrix(include_weights=False, include_warm_items=True).toarray() > 0
        met[:, : preparator.n_item_extra_tokens] = True
        return SimpleNamespace(
            batches=list(preparator.get_dataloader_recommend(dataset, 256)),
            known=known,
            met=torch.from_numpy(met),
            rows=torch.from_numpy(dataset.user_id_map.convert_to_internal(self.users[known])),
            codes=torch.from_numpy(preparator.item_id_map.convert_to_internal(self.targets[known])),
        )

    def ranks(self, module: Any) -> np.ndarray:
        """Rank of each target among items not met, 0 where the model does not know it; ties count against."""
        prepared, was_training = self.prepared, module.training
        users, items = module._get_user_item_embeddings(prepared.batches, "cpu")
        with torch.inference_mode():
            scores = module.torch_model.similarity_module(users, items)
            scores = scores.masked_fill(prepared.met, -torch.inf)[prepared.rows]
            ahead = (scores >= scores.gather(1, prepared.codes[:, None])).sum(1)
        module.train(was_training)
        ranks = np.zeros(len(self.users), dtype=np.int64)
        ranks[prepared.known] = ahead.numpy()
        return ranks

    def lists(self, items: int) -> np.ndarray:
        """RecTools' own lists of all items, best first, -1 after their end; shape ``(users, items)``."""
        found = self.model.recommend(
            self.users, self.dataset, k=items, filter_viewed=True, context=self.given()
        )
        place = pd.Series(np.arange(len(self.users)), self.users)
        lists = np.full((len(self.users), items), -1, dtype=np.int32)
        rows, ranks = place[found[Columns.User]].to_numpy(), found[Columns.Rank].to_numpy() - 1
        lists[rows, ranks] = found[Columns.Item].to_numpy()
        return lists


class Selection(Callback):
    """Keeps the weights of the epoch with the best validation MRR; stops when none is better for long."""

    def __init__(self, patience: int, question: Question) -> None:
        self.patience, self.question = patience, question
        self.curve: list[float] = []
        self.best: dict[str, torch.Tensor] = {}
        self.seconds = 0.0

    def __deepcopy__(self, memo: object) -> "Selection":
        return self  # RecTools trains with a copy of its trainer; what it learns is wanted here

    @property
    def best_epoch(self) -> int:
        """From 0."""
        return int(np.argmax(self.curve))

    def on_train_epoch_end(self, trainer: Trainer, pl_module: Any) -> None:
        """Ask validation."""
        began = time.perf_counter()
        ranks = self.question.ranks(pl_module)
        self.curve.append(float(np.divide(1, ranks, out=np.zeros(len(ranks)), where=ranks > 0).mean()))
        if self.best_epoch == len(self.curve) - 1:
            self.best = copy.deepcopy(pl_module.torch_model.state_dict())
        trainer.should_stop = len(self.curve) - 1 - self.best_epoch >= self.patience
        self.seconds += time.perf_counter() - began


def require_order(model: Any, events: Any) -> int:
    """Refuse a training on other sessions than ours; how many targets an epoch has."""
    preparator, count = model.data_preparator, 0
    users, items = preparator.train_dataset.user_id_map, preparator.item_id_map
    own = frame(events, TRAIN).groupby(Columns.User)[Columns.Item].agg(list)
    table = preparator.train_dataset.interactions.df
    sessions = SequenceDataset.from_interactions(table, sort_users=True).sessions
    for user, session in zip(users.external_ids, sessions, strict=True):
        if list(items.convert_to_external(session)) != own[user][-(preparator.session_max_len + 1) :]:
            raise SystemExit(f"user {user}: RecTools trains on another order of events than was given")
        count += len(session) - 1
    return count


def main() -> None:
    events, settings, out = np.load(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text()), Path(sys.argv[3])
    warnings.filterwarnings("ignore")
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    seed_everything(settings["seed"])
    validation = Question(events, (TRAIN,), VALIDATION)
    selection = Selection(settings["patience"], validation)
    model = validation.model = KINDS[settings["kind"]](
        **settings["arguments"],
        get_trainer_func=lambda: Trainer(
            max_epochs=settings["epochs"], accelerator="cpu", devices=1, logger=False, callbacks=[selection],
            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
        ),
    )  # fmt: skip
    began = time.perf_counter()
    model.fit(validation.dataset)
    seconds = time.perf_counter() - began
    targets = require_order(model, events)
    model.torch_model.load_state_dict(selection.best)
    test = Question(events, (TRAIN, VALIDATION), TEST, model)
    lists = test.lists(int(events["items"].max()) + 1)
    np.savez_compressed(out, lists=lists, users=test.users)
    facts = {
        "validation": selection.curve,
        "best_epoch": selection.best_epoch,
        "seconds": seconds - selection.seconds,
        "seconds_validating": selection.seconds,
        "steps_per_epoch": len(model.data_preparator.get_dataloader_train()),
        "targets_per_epoch": targets,
        "parameters": sum(weights.numel() for weights in model.torch_model.parameters()),
        "known_items": len(model.data_preparator.get_known_item_ids()),
        "ranks": test.ranks(model.lightning_model).tolist(),
        "threads": torch.get_num_threads(),
        "versions": {
            name: version(name) for name in ("rectools", "torch", "pytorch-lightning", "numpy", "pandas")
        },
    }
    out.with_suffix(".json").write_text(json.dumps(facts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
