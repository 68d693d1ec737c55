"""Course: what a training is between two steps: what it learnt, and where it stands."""

import time
from dataclasses import astuple
from typing import Any

import torch
from torch import Tensor

from rota.models.base import Network
from rota.training.lesson import Lesson
from rota.training.optimizer import restore_state, state_tensors
from rota.training.progress import EpochRecord, Fitted
from rota.training.schedule import best_epoch, learning_rate
from rota.training.sharding import dealt_like, gathered
from rota.training.snapshots import Snapshot

__all__: list[str] = []

_NETWORK, _BEST, _OPTIMIZER, _SCALER, _TALLY = "network/", "best/", "optimizer/", "scaler/", "tally"


class Course:
    """Where a training stands; its whole state goes into a snapshot and comes back bit for bit.

    Order, negatives and dropout are functions of (seed, epoch, step), and learning rate and end follow from
    the validation, so that no state of a generator or a schedule need be kept.

    Attributes:
        epoch: In which the next step is, from 0.
        step: The next step, in that epoch, from 0.
        validation: Scores of the epochs done.
        best: Weights of the best epoch so far.
        records: Of the epochs done.
    """

    def __init__(self, network: Network, lesson: Lesson) -> None:
        self.network, self.lesson = network, lesson
        self.epoch, self.step = 0, 0
        self.validation: list[float] = []
        self.best: dict[str, Tensor] = {}
        self.records: list[EpochRecord] = []
        self.begin_epoch(0)

    def begin_epoch(self, epoch: int) -> None:
        """Stand before an epoch's first step."""
        self.epoch, self.step = epoch, 0
        self.lesson.tally.zero_()
        self.start_clock()

    def start_clock(self) -> None:
        """Measure speed from here on."""
        self.since, self.counted = time.perf_counter(), 0

    def passed(self, targets: int) -> None:
        """A step is done."""
        self.step += 1
        self.counted += targets

    def end_epoch(self, score: float, seconds: float) -> bool:
        """Note an epoch's score, and keep its weights if it is the best so far.

        Args:
            score: Of the validation.
            seconds: That its steps took.

        Returns:
            Whether it is.
        """
        before = tuple(self.validation)
        self.validation.append(score)
        losses, targets = self.lesson.tally.tolist()
        done = (self.epoch + 1) * self.lesson.syllabus.steps
        rate = learning_rate(self.lesson.training, done - 1, before)
        speed = self.counted / seconds if seconds > 0 else 0.0
        self.records.append(EpochRecord(self.epoch, done, losses / targets, rate, score, speed))
        better = best_epoch(self.validation) == self.epoch
        if better:
            self.best = {name: tensor.detach().clone() for name, tensor in self.network.state_dict().items()}
        self.begin_epoch(self.epoch + 1)
        return better

    def fitted(self) -> Fitted:
        """What it left."""
        return Fitted(tuple(self.validation), best_epoch(self.validation), tuple(self.records))

    def snapshot(self) -> Snapshot:
        """Where it stands; of a sharded network all processes must ask, and the first is told."""
        tensors: dict[str, Tensor] = {_TALLY: self.lesson.tally}
        tensors |= {_NETWORK + name: tensor for name, tensor in self.network.state_dict().items()}
        tensors |= {_BEST + name: tensor for name, tensor in self.best.items()}
        optimizer = state_tensors(self.lesson.optimizer, self.network)
        tensors |= {_OPTIMIZER + name: tensor for name, tensor in optimizer.items()}
        facts: dict[str, Any] = {
            "validation": self.validation,
            "records": [astuple(record) for record in self.records],
            "scaler": self.lesson.scaler.state_dict(),
        }
        return Snapshot(self.epoch, self.step, facts, gathered(tensors, self.lesson.processes))

    def restore(self, snapshot: Snapshot) -> None:
        """Stand where a snapshot was taken."""
        self.begin_epoch(snapshot.epoch)
        self.step, self.validation = snapshot.step, list(snapshot.facts["validation"])
        self.records = [EpochRecord(*record) for record in snapshot.facts["records"]]
        self.network.load_state_dict(self._dealt(_named(snapshot, _NETWORK)))
        self.best = self._dealt(_named(snapshot, _BEST))
        restore_state(self.lesson.optimizer, self.network, _named(snapshot, _OPTIMIZER))
        if snapshot.facts["scaler"]:
            self.lesson.scaler.load_state_dict(snapshot.facts["scaler"])
        with torch.no_grad():
            self.lesson.tally.copy_(snapshot.tensors[_TALLY])

    def _dealt(self, state: dict[str, Tensor]) -> dict[str, Tensor]:
        """What this process holds of a state of the network, on its device."""
        own, device = self.network.state_dict(), self.lesson.device
        return {name: dealt_like(tensor.to(device), own[name]) for name, tensor in state.items()}


def _named(snapshot: Snapshot, prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in snapshot.tensors.items()
        if name.startswith(prefix)
    }
