"""Is this the question that a model was trained for? What differs is refused, or told."""

from dataclasses import replace

import numpy as np

from rota.batch import TimeAccess
from rota.data.log import Log
from rota.errors import InputError
from rota.evaluation.seen import SeenItems
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question
from rota.serving.artefact import Artefact

__all__: list[str] = []

_NAMED = 5  # of unknown items, in a message


def fit_catalogue(question: Question, artefact: Artefact) -> Question:
    """The question with items coded and counted as in the model's catalogue.

    Raises:
        InputError: The log has items that the catalogue does not have, or its clock is another kind of clock.
    """
    log, facts = question.log, artefact.provenance
    if log.unit != artefact.unit:
        raise InputError(
            f"{log.name} has a clock of {log.unit}, the model was trained on one of {artefact.unit}: read "
            f"the log so (unit=, --unit {artefact.unit})"
        )
    if (log.about.absolute, log.about.known_epoch) != (facts.absolute, facts.known_epoch):
        raise InputError(
            f"{log.name} has times of another kind than the log of the model ({facts.log}): read it as that "
            "was read (epoch=, --epoch), from a column with the same type of time"
        )
    codes = artefact.catalogue.codes(log.item_ids)
    strange = np.flatnonzero(codes < 0)
    if len(strange):
        names = [repr(log.item_ids[int(place)].as_py()) for place in strange[:_NAMED]]
        more = f" and {len(strange) - _NAMED} more" if len(strange) > _NAMED else ""
        raise InputError(
            f"{log.name} has {len(strange)} of {log.num_items} items that are not in the model's catalogue "
            f"of {len(artefact.catalogue):,}: {', '.join(names)}{more}: evaluate it on the log that it was "
            "trained on"
        )
    if log.item_ids.equals(artefact.catalogue.ids):
        return question
    coded: Log = replace(
        log,
        items=codes[log.items],
        item_ids=artefact.catalogue.ids,
        known_fingerprint=log.fingerprint,
    )
    return replace(question, log=coded, histories=coded.histories())


def departures(question: Question, artefact: Artefact, protocol: Protocol) -> tuple[str, ...]:
    """What is asked otherwise than the model was trained, a phrase each.

    Args:
        question: What is asked.
        artefact: The model.
        protocol: How it is asked.

    Raises:
        InputError: The model cannot answer at this time access.
    """
    facts, trained = artefact.provenance, artefact.time_access
    access = TimeAccess.parse(protocol.time_access)
    if access == TimeAccess.NONE != trained:
        raise InputError(
            f"time access none: the model was trained at {trained} and cannot answer without times: ask it so"
        )
    pairs = {
        "time access": (access, trained),
        "seen items": (SeenItems.parse(protocol.seen), SeenItems.parse(facts.seen)),
        "zone": (question.log.zone, facts.zone),
        "data fingerprint": (question.log.fingerprint, facts.fingerprint),
        "split": (question.stages.name, facts.split_name),
        "split hash": (question.stages.hash, facts.split_hash),
    }
    return tuple(
        f"{name} {_short(now)}, trained at {_short(then)}"
        for name, (now, then) in pairs.items()
        if now != then
    )


def _short(value: str | None) -> str:
    """Digests by their beginning."""
    return str(value)[:16]
