"""One process of a training under torchrun: what `test_spread` starts.

    torchrun --nproc-per-node 2 spread.py OUT [DIES]

The first process writes OUT, JSON: the loss of each step, the validation, a digest of the weights and the
ranks. Another process with the rank DIES leaves without a word in the second epoch.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

import torch
from habits import blueprint, habits, weights

from rota.errors import InputError
from rota.evaluation.metrics.mrr import MRR
from rota.recipes.protocol import Protocol
from rota.recipes.shared_asking import ask_shared
from rota.recipes.stopping import stoppable
from rota.training.loop import fit
from rota.training.processes import joined
from rota.training.progress import Progress
from rota.training.recipe import Training


def main() -> None:
    torch.set_num_threads(1)
    dies = int(sys.argv[2]) if len(sys.argv) > 2 else -1
    world = habits(12, 26, missed=2)
    training = Training(epochs=9, batch_size=5, learning_rate=1e-2, patience=9, accumulate=2, clip=0.5)
    # torchrun sends SIGTERM to those that are left: as in `rota train`, it must not come before their word
    with stoppable() as stopper, stopper.training(), joined("cpu") as processes:
        network = blueprint(dropout=0.2, items=24, num_layers=1).build()
        losses, epochs = [], []

        def score() -> float:
            epochs.append(len(epochs))
            if dies == processes.rank and len(epochs) == 2:
                os._exit(9)
            ranks = ask_shared(network, world.histories, world.test, Protocol(), processes)
            return float(MRR()(ranks).mean())

        def told(progress: Progress) -> None:
            losses.append(float(progress.loss))

        fitted = fit(
            network, world.windows(), training, seed=0, validate=score, keep=lambda: None, report=told,
            processes=processes,
        )  # fmt: skip
        ranks = ask_shared(network, world.histories, world.test, Protocol(), processes).tolist()
        digest = hashlib.sha256(weights(network).numpy().tobytes()).hexdigest()
        own = torch.zeros(processes.count, 32, dtype=torch.int64)
        own[processes.rank] = torch.frombuffer(bytearray.fromhex(digest), dtype=torch.uint8).long()
        processes.add_up([own])
        found = {
            "losses": losses, "validation": fitted.validation, "ranks": ranks,
            "weights": weights(network).tolist(), "same": bool((own == own[0]).all()),
        }  # fmt: skip
        if processes.leads:
            Path(sys.argv[1]).write_text(json.dumps(found))


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"error: {error}")
