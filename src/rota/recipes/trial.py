"""Trial: one arm, one seed: trained, tested, and looked into."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
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
from rota.recipes.provenances import Workshop
from rota.recipes.question import Question
from rota.recipes.watching import Watcher
from rota.serving.artefact import is_artefact, mark_stopped, save_artefact
from rota.training.divergence import DivergedError
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
    """Train an arm; the best epoch on validation is kept in the folder and asked the test, once.

    Raises:
        InputError: The training diverges; the best epoch so far stays in the folder, and the message says so.
    """
    watcher.start(arm, blueprint.seed)
    network = blueprint.build().to(protocol.device)
    histories, stages = question.histories, question.stages
    common = {"access": protocol.time_access, "seen": protocol.seen, "device": protocol.device}
    workshop = Workshop(arm, blueprint, question, protocol)
    scores: list[float] = []

    def validate() -> float:
        ranks = ask(network, histories, stages.validation, **common)  # type: ignore[arg-type]
        scores.append(mean_of(MRR(), ranks, histories, stages.validation))
        return scores[-1]

    with nullcontext() if folder is None else _kept(folder) as partial:

        def keep() -> None:
            if partial is not None:
                save_artefact(partial, workshop.artefact(network, len(scores) - 1, scores[-1]))

        try:
            fitted = fit(
                network,
                windows_of(question, protocol, blueprint.model.max_len),
                protocol.training,
                seed=blueprint.seed,
                validate=validate,
                keep=keep,
                report=lambda progress: watcher.step(arm, blueprint.seed, progress),
                device=protocol.device,
                precision=protocol.precision,
            )
        except DivergedError as error:
            if partial is None:
                raise error.told() from error
            if error.fitted is not None:
                best = error.fitted.best_epoch
                save_artefact(partial, workshop.artefact(network, best, scores[best], str(error)))
            raise
    ranks = ask(network, histories, stages.test, **common)  # type: ignore[arg-type]
    run = Run(arm, blueprint.seed, ranks, fitted.validation)
    curve = curve_of(network, question, protocol, blueprint.model.max_len)
    watcher.finish(run, fitted)
    return Trial(run, fitted, curve, network)


def curve_of(network: Network, question: Question, protocol: Protocol, max_len: int) -> AttentionByGap:
    """How much a trained network looks at events of a given age."""
    reading = _reading(question, protocol, max_len)
    return attention_by_gap(network, reading, unit=question.histories.unit)


@contextmanager
def _kept(folder: Path) -> Iterator[Path]:
    """`appearing`, but the best epoch of a training that breaks off appears too, marked as such."""
    broken: BaseException | None = None
    with appearing(folder) as partial:
        try:
            yield partial
        except DivergedError as error:
            if error.fitted is None:
                raise error.told() from error
            broken = error
        except BaseException as error:
            if not is_artefact(partial):
                raise
            mark_stopped(partial, " ".join(f"{type(error).__name__} {error}".split()))
            broken = error
    if isinstance(broken, DivergedError):
        raise broken.told(str(folder)) from broken
    if broken is not None:
        raise broken


def windows_of(question: Question, protocol: Protocol, max_len: int) -> TrainingWindows:
    """What a training learns from."""
    log = question.log
    unordered = log.about.ties == Ties.UNORDERED
    return TrainingWindows(
        question.histories,
        question.stages.train,
        max_len,
        protocol.time_access,
        log.times if unordered else None,
    )


def _reading(question: Question, protocol: Protocol, max_len: int) -> Iterator[Batch]:
    """Batches whose attention is read: histories of the test, of a fixed sample of users.

    Gaps need times even where the model sees none of them.
    """
    test = question.stages.test
    access = TimeAccess.HISTORY if protocol.time_access == TimeAccess.NONE else protocol.time_access
    users = np.random.default_rng(0).permutation(len(test.users))[:_READ_USERS]
    for rows in np.split(users, range(_READ_BATCH, len(users), _READ_BATCH)):
        yield request_batch(question.histories, test, rows, max_len, access).to(protocol.device)
