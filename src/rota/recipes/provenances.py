"""Provenances: what a training leaves to say of its model beside the weights."""

from datetime import timedelta

import numpy as np

from rota import __version__
from rota.histories import flat_rows
from rota.models.base import Network
from rota.models.blueprint import Blueprint
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question
from rota.serving.artefact import FORMAT, Artefact
from rota.serving.catalogue import Catalogue
from rota.serving.provenance import Provenance
from rota.tables import Recipe, to_table

__all__: list[str] = []


class Workshop:
    """Makes artefacts of one training: what does not change between its epochs is found out once."""

    def __init__(self, arm: str, blueprint: Blueprint, question: Question, protocol: Protocol) -> None:
        self.blueprint = blueprint
        log, stages, histories = question.log, question.stages, question.histories
        rows = flat_rows(stages.train.starts, stages.train.stops)
        clock = histories.times[rows]
        counts = np.bincount(histories.items[rows], minlength=histories.num_items)
        self.catalogue = Catalogue(log.item_ids, counts.astype(np.int64))
        self.facts = {
            "format": FORMAT,
            "version": __version__,
            "arm": arm,
            "log": log.name,
            "fingerprint": log.fingerprint,
            "absolute": log.about.absolute,
            "known_epoch": log.about.known_epoch,
            "ties": log.about.ties.value,
            "first": int(clock.min()),
            "last": int(clock.max()),
            "catalogue": self.catalogue.digest,
            "split": written_split(protocol.split),
            "split_name": stages.name,
            "split_hash": stages.hash,
            "seen": str(protocol.seen),
            "zone": log.zone,
        }

    def artefact(self, network: Network, epoch: int, score: float, stopped: str = "") -> Artefact:
        """The model as it is after an epoch.

        Args:
            network: With the weights of that epoch.
            epoch: From 0.
            score: MRR of the validation after it.
            stopped: Why the training broke off, if it did.
        """
        provenance = Provenance(
            **self.facts,  # type: ignore[arg-type]
            weights="",
            blueprint="",
            best_epoch=epoch,
            validation_mrr=score,
            stopped=stopped,
        )
        return Artefact(self.blueprint, network, self.catalogue, provenance)


def written_split(split: Recipe) -> str:
    """A split as people write it, which `parse_split` reads: ``"leave_last(k=1)"``."""
    table = to_table(split)
    name = str(table.pop("recipe")).rpartition(".")[2]
    return f"{name}({', '.join(f'{key}={_literal(value)!r}' for key, value in table.items())})"


def _literal(value: object) -> object:
    return value.total_seconds() if isinstance(value, timedelta) else value
