"""One process of sharded trainings under torchrun: what `test_sharding` starts.

    torchrun --nproc-per-node 2 sharded.py FOLDER [DIES]

The first process writes FOLDER/found.json. With DIES, the process of that rank leaves without a word in the
middle of a sharded training.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from habits import World, habits, weights
from sharded_worlds import PLANS, TRAINING

from rota.errors import InputError
from rota.evaluation.metrics.mrr import MRR
from rota.models.base import Network
from rota.models.blueprint import Blueprint
from rota.recipes.protocol import Protocol
from rota.recipes.shared_asking import ask_shared
from rota.recipes.stopping import stoppable
from rota.training import loop
from rota.training.divergence import DivergedError
from rota.training.lesson import Lesson
from rota.training.loop import StoppedError, fit
from rota.training.processes import Processes, joined
from rota.training.sharding import sharded_copy, share, sharing
from rota.training.snapshots import Snapshots
from rota.training.step_batch import Syllabus


class Trainer:
    """Trains networks in this process, together with the others."""

    def __init__(self, world: World, processes: Processes) -> None:
        self.world, self.processes = world, processes
        self.losses: list[float] = []

    def fit(
        self, plan: Blueprint, *, done: int = 0, wanted: Callable[[], bool] = lambda: True, **named: Any
    ) -> Network:
        """Train; epochs done before are counted, for the last shall not be the best."""
        network, signs = plan.build(), iter((1, 1, -1)[done:])
        self.losses, self.network = [], network

        def score() -> float:
            ranks = ask_shared(network, self.world.histories, self.world.test, Protocol(), self.processes)
            return next(signs) * float(MRR()(ranks).mean())

        self.fitted = fit(
            network, self.world.windows(), TRAINING, seed=plan.seed, validate=score, keep=lambda: None,
            report=lambda progress: self.losses.append(float(progress.loss)), wanted=wanted,
            processes=self.processes, **named,
        )  # fmt: skip
        return network

    def found(self, plan: Blueprint, **named: Any) -> dict[str, Any]:
        network = self.fit(plan, **named)
        ranks = ask_shared(network, self.world.histories, self.world.test, Protocol(), self.processes)
        return {
            "losses": self.losses, "weights": weights(network).tolist(), "ranks": ranks.tolist(),
            "validation": self.fitted.validation, "kind": type(network).__name__,
        }  # fmt: skip

    def shares(self, plan: Blueprint) -> list[float]:
        """Of all weights, and of all the state of the optimizer, how much is in this process."""
        copy = sharded_copy(plan.build(), "cpu", self.processes)
        syllabus = Syllabus(
            self.world.windows(), TRAINING, 0, rank=self.processes.rank, processes=self.processes.count
        )
        lesson = Lesson(copy, syllabus, "cpu", "32-true", self.processes)
        with sharing():
            lesson.learn(next(syllabus.batches(0, 0, pin=False)), [])
        state = [state["exp_avg"] for state in lesson.optimizer.state.values()]
        return [
            sum(share(tensor).numel() for tensor in tensors) / sum(tensor.numel() for tensor in tensors)
            for tensors in (list(copy.parameters()), state)
        ]

    def stopped(self, plan: Blueprint, folder: Path, after: int) -> None:
        """Train for so many steps, and leave snapshots."""
        left = iter(range(after - 1, -1, -1))
        try:
            self.fit(
                plan, wanted=lambda: bool(next(left)), snapshots=Snapshots(folder, "me", 1), sharded=True
            )
        except StoppedError:
            return
        raise AssertionError("it did not stop")

    def diverged(self, plan: Blueprint, steps: int) -> dict[str, Any]:
        """Spoil a weight of the last process after the last step of the second epoch."""
        copies: list[Network] = []
        made = loop.sharded_copy
        loop.sharded_copy = lambda *given: copies.append(made(*given)) or copies[0]  # type: ignore[func-returns-value]
        left = iter(range(2 * steps - 1, -1, -1))

        def wanted() -> bool:
            if not next(left) and not self.processes.leads:
                share(next(copies[0].parameters()).detach())[-1] = torch.nan
            return True

        try:
            self.fit(plan, wanted=wanted, sharded=True)
        except DivergedError as error:
            found = [bool(weights(self.network).isfinite().all()), 1]
            number = torch.tensor(found)
            self.processes.add_up([number])
            best = None if error.fitted is None else error.fitted.best_epoch
            return {
                "message": str(error), "best": best, "told": int(number[1]), "finite": int(number[0]) == 2
            }  # fmt: skip
        finally:
            loop.sharded_copy = made
        raise AssertionError("it did not diverge")


def check(trainer: Trainer, folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: [trainer.found(plan, sharded=sharded) for sharded in (False, True)]
        for name, plan in PLANS.items()
    }
    plan = PLANS["transformer"]
    number = torch.tensor(len(trainer.losses) // TRAINING.epochs)
    trainer.processes.add_up([number])  # the first alone is told of losses
    found["shares"] = trainer.shares(plan)
    trainer.stopped(plan, folder / "kept", 2 * int(number) + 1)
    if trainer.processes.leads:
        shutil.copytree(folder / "kept", folder / "other")
    trainer.processes.add_up([torch.zeros(())])  # the copy is there
    found["on"] = trainer.found(plan, done=2, sharded=True, snapshots=Snapshots(folder / "kept", "me"))
    found["whole"] = trainer.found(plan, done=2, snapshots=Snapshots(folder / "other", "me"))
    found["diverged"] = trainer.diverged(plan, int(number))
    return found


def main() -> None:
    torch.set_num_threads(1)
    folder, dies = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None
    with stoppable() as stopper, stopper.training(), joined("cpu") as processes:
        trainer = Trainer(habits(12, 14, missed=1), processes)
        if dies is not None:
            left = iter(range(2, -1, -1))

            def wanted() -> bool:
                if not next(left) and processes.rank == dies:
                    os._exit(9)
                return True

            trainer.fit(PLANS["transformer"], wanted=wanted, sharded=True)
        found = check(trainer, folder)
        if processes.leads:
            (folder / "found.json").write_text(json.dumps(found))


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"error: {error}")
