"""Trial: one arm, one seed: trained, tested, and looked into."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rota.analysis.curves import AttentionByGap
from rota.analysis.gaps import attention_by_gap
from rota.batch import Batch, TimeAccess, request_batch
from rota.data.events import Ties
from rota.evaluation.averaging import mean_of
from rota.evaluation.metrics.mrr import MRR
from rota.evaluation.protocol import ask
from rota.evaluation.run import Run
from rota.models.base import Network
from rota.models.blueprint import Blueprint
from rota.recipes.output import appearing
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question
from rota.recipes.watching import Watcher
from rota.training.checkpoint import save_checkpoint
from rota.training.loop import fit
from rota.training.progress import Fitted
from rota.training.windows import TrainingWindows

__all__: list[str] = []

_READ_USERS, _READ_BATCH = 512, 32  # enough users for a steady attention curve, few enough for its memory


@dataclass(frozen=True)
class Trial:
    """What a training came to.

    Attributes:
        run: Ranks of the test.
        fitted: MRR of validation after each epoch, and which was the best.
        attention: How much it looks at events of a given age.
        network: With the weights of its best epoch.
    """

    run: Run
    fitted: Fitted
    attention: AttentionByGap
    network: Network


def run_trial(
    arm: str,
    blueprint: Blueprint,
    question: Question,
    protocol: Protocol,
    folder: Path | None,
    watcher: Watcher,
) -> Trial:
    """Train an arm; the best epoch on validation is kept in the folder and asked the test, once."""
    watcher.start(arm, blueprint.seed)
    network = blueprint.build().to(protocol.device)
    log, histories, stages = question.log, question.histories, question.stages
    common = {"access": protocol.time_access, "seen": protocol.seen, "device": protocol.device}

    def validate() -> float:
        ranks = ask(network, histories, stages.validation, **common)  # type: ignore[arg-type]
        return mean_of(MRR(), ranks, histories, stages.validation)

    with nullcontext() if folder is None else appearing(folder) as partial:

        def keep() -> None:
            if partial is not None:
                save_checkpoint(partial, blueprint, network)

        fitted = fit(
            network,
            TrainingWindows(
                histories,
                stages.train,
                blueprint.model.max_len,
                protocol.time_access,
                log.times if log.about.ties == Ties.UNORDERED else None,
            ),
            protocol.training,
            seed=blueprint.seed,
            validate=validate,
            keep=keep,
            report=watcher.step,
            device=protocol.device,
            precision=protocol.precision,
        )
    run = Run(arm, blueprint.seed, ask(network, histories, stages.test, **common))  # type: ignore[arg-type]
    curve = attention_by_gap(
        network, _reading(question, protocol, blueprint.model.max_len), unit=histories.unit
    )
    watcher.finish(run, fitted)
    return Trial(run, fitted, curve, network)


def _reading(question: Question, protocol: Protocol, max_len: int) -> Iterator[Batch]:
    """Batches whose attention is read: histories of the test, of a fixed sample of users.

    Gaps need times even where the model sees none of them.
    """
    test = question.stages.test
    access = TimeAccess.HISTORY if protocol.time_access == TimeAccess.NONE else protocol.time_access
    users = np.random.default_rng(0).permutation(len(test.users))[:_READ_USERS]
    for rows in np.split(users, range(_READ_BATCH, len(users), _READ_BATCH)):
        yield request_batch(question.histories, test, rows, max_len, access).to(protocol.device)
