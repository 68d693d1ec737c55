"""Provenance: where a trained model comes from, and what must be known to ask it."""

from dataclasses import dataclass

from rota.tables import Recipe


@dataclass(frozen=True)
class Provenance(Recipe):
    """Facts of a trained model, in one TOML table beside its weights.

    What it was built for (catalogue size, unit of the clock, time access, seed) is in its `Blueprint`.

    Attributes:
        format: Number of the folder's format.
        version: Version of rota that wrote it.
        arm: Name under which it was trained.
        log: Name of the log.
        fingerprint: Digest of the events of those who were asked, as ``results.json`` has it.
        absolute: Whole numbers count from 1970 in UTC; otherwise they are readings of a wall clock.
        known_epoch: False where times count from an unknown zero: no dates, no hours.
        ties: What orders events of one instant: rows, column or unordered.
        first: Clock of the first event that training could see, in ticks.
        last: Clock of the last.
        catalogue: Digest of the items by code.
        weights: SHA-256 of the file of weights.
        blueprint: SHA-256 of the table that rebuilds the network.
        split: The split as people write it, for instance ``"leave_last(k=1)"``.
        split_name: Name of the stages.
        split_hash: Digest of who was asked what.
        seen: Whether items of a user's own history were candidates: keep or drop.
        best_epoch: Epoch of these weights, from 0.
        validation_mrr: MRR of the validation after it.
        zone: Time zone whose wall clock the model saw, or ``"by row"``; ``None``: UTC, or the clock that the
            log shows.
        stopped: Why its training broke off; empty where it came to its end.
    """

    format: int
    version: str
    arm: str
    log: str
    fingerprint: str
    absolute: bool
    known_epoch: bool
    ties: str
    first: int
    last: int
    catalogue: str
    weights: str
    blueprint: str
    split: str
    split_name: str
    split_hash: str
    seen: str
    best_epoch: int
    validation_mrr: float
    zone: str | None = None
    stopped: str = ""
