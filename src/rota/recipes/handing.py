"""Handing a question over to other processes: as files that each maps into memory, so none has a copy."""

import json
from pathlib import Path

import numpy as np

from rota.data.arranging import Arranged, Piece
from rota.data.dataset import load_dataset, write_about, write_arrays
from rota.histories import Spans, Stages
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question
from rota.toml import read_recipe, write_recipe

__all__: list[str] = []

_LOG, _PROTOCOL, _STAGES = "log", "protocol.toml", "stages.json"
_SPANS = ("train", "validation", "test", "counted")


def hand_over(question: Question, protocol: Protocol, folder: Path) -> None:
    """Write what a training needs into a folder: the log as a prepared dataset, the stages, the protocol.

    Args:
        question: What is asked; its law stays behind, for recipes hold what they need of it.
        protocol: How.
        folder: It exists.
    """
    log, stages = question.log, question.stages
    (folder / _LOG).mkdir()
    pieces = iter([Piece(log.items, log.times, log.local)])
    arranged = Arranged(log.user_ids, log.item_ids, log.offsets, pieces)
    written = write_arrays(arranged, folder / _LOG, log.unit, lambda _: None)
    write_about(folder / _LOG, log.about, written, {})
    for name in _SPANS:
        np.save(folder / f"{name}.npy", np.stack(getattr(stages, name)))
    facts = {"name": stages.name, "hash": stages.hash}
    (folder / _STAGES).write_text(json.dumps(facts), encoding="utf-8")
    write_recipe(folder / _PROTOCOL, protocol)


def take_over(folder: Path) -> tuple[Question, Protocol]:
    """Map what `hand_over` wrote."""
    log = load_dataset(folder / _LOG)
    facts = json.loads((folder / _STAGES).read_text(encoding="utf-8"))
    train, validation, test, counted = (
        Spans(*np.load(folder / f"{name}.npy", mmap_mode="r")) for name in _SPANS
    )
    stages = Stages(facts["name"], train, validation, test, counted, facts["hash"])
    return Question(log, log.histories(), stages), read_recipe(folder / _PROTOCOL, Protocol)
