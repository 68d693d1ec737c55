"""train: one training from a config, that can be interrupted, repeated, and spread over processes."""

import hashlib
from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import tomli_w

from rota.data.log import Log
from rota.errors import InputError
from rota.evaluation.averaging import mean_of
from rota.evaluation.loading import load_comparison
from rota.evaluation.metrics.mrr import MRR
from rota.evaluation.protocol import ask
from rota.evaluation.results import Comparison
from rota.evaluation.run import Run
from rota.models.base import Network
from rota.models.blueprint import Blueprint
from rota.recipes.addresses import code_version
from rota.recipes.baselines import baseline_runs
from rota.recipes.curves import Curves
from rota.recipes.fetching import fetch_known
from rota.recipes.opening import open_log
from rota.recipes.output import appearing
from rota.recipes.priors import realised_priors
from rota.recipes.provenances import Workshop
from rota.recipes.question import Question, ask_of
from rota.recipes.reporting import comparison_of
from rota.recipes.shared_asking import ask_shared
from rota.recipes.stopping import Stopper, stoppable
from rota.recipes.study import Study
from rota.recipes.train_config import TrainConfig
from rota.recipes.training_folder import CHECKPOINTS, alone_in, is_finished, model_folder, save_study
from rota.recipes.trial import curve_of, windows_of
from rota.serving.artefact import save_artefact
from rota.tables import to_table
from rota.training.divergence import DivergedError
from rota.training.loop import StoppedError, fit
from rota.training.processes import Processes, joined
from rota.training.progress import Fitted, Progress
from rota.training.sharding import require_shards
from rota.training.snapshots import Snapshots

__all__ = ["TrainWatcher", "Trained", "train"]


@dataclass(frozen=True)
class Trained:
    """What a training came to.

    Attributes:
        comparison: Its ranks of the test, beside the untrained baselines.
        model: Folder of the model, which `evaluate` and `recommend` take.
        before: Whether it had ended before, and nothing was done now.
    """

    comparison: Comparison
    model: Path
    before: bool


class TrainWatcher(ABC):
    """Told of what a training does; the command line shows a bar."""

    @abstractmethod
    def stage(self, label: str, done: int = 0, total: int = 0) -> None:
        """This is being done now; ``total`` is 0 where it is not known."""

    @abstractmethod
    def begin(self, question: Question, config: TrainConfig) -> None:
        """This is asked, and a training is ahead, or what is left of it."""

    @abstractmethod
    def step(self, progress: Progress) -> None:
        """A step is done."""

    @abstractmethod
    def epoch(self, fitted: Fitted) -> None:
        """An epoch is done; this is what there is so far."""


def train(
    config: TrainConfig,
    out: str | Path,
    *,
    log: Log | None = None,
    watcher: TrainWatcher | None = None,
) -> Trained | None:
    """Train one model, or go on with what was begun in the folder.

    The same call after an interruption, however it came, ends with the same weights and ranks, bit for bit on
    a CPU. Under ``torchrun`` its processes share every step.

    Args:
        config: The training.
        out: Its folder: new, empty, or that of this training. It gets ``models/``, ``results.json``,
            ``ranks.parquet``, pictures, ``curves.csv``, and curves for TensorBoard.
        log: The events, instead of those that the config's ``log`` names.
        watcher: Told of progress.

    Returns:
        What it came to; ``None`` in all processes but the first.

    Raises:
        InputError: Something of the config does not fit the log, the folder is another training's or in use,
            or the training diverges.
        StoppedError: A signal came; what was learnt is kept.
        OSError: The disk is full, for instance; what was kept before stays, and the same call goes on.
    """
    with ExitStack() as held:
        stopper = held.enter_context(stoppable())
        try:
            processes = held.enter_context(joined(config.device))
            if config.sharded:
                require_shards(processes, config.precision)
            if processes.leads:
                held.enter_context(alone_in(Path(out), config.undivided))
            told = watcher if watcher is not None and processes.leads else _Untold()
            question = ask_of(_opened(config, told) if log is None else log, config.split)
            return _Work(config, Path(out), question, processes, stopper, told).done()
        except StoppedError as error:
            error.number = int(stopper.received or 0)
            raise


class _Untold(TrainWatcher):
    def stage(self, label: str, done: int = 0, total: int = 0) -> None:
        """Do nothing."""

    def begin(self, question: Question, config: TrainConfig) -> None:
        """Do nothing."""

    def step(self, progress: Progress) -> None:
        """Do nothing."""

    def epoch(self, fitted: Fitted) -> None:
        """Do nothing."""


def _opened(config: TrainConfig, told: TrainWatcher) -> Log:
    fetch_known(config.log, told.stage)
    told.stage("reading")
    return open_log(config.log, config.reading, sample_users=config.sample_users).log


@dataclass(frozen=True)
class _Work:
    """One training on one question."""

    config: TrainConfig
    folder: Path
    question: Question
    processes: Processes
    stopper: Stopper
    told: TrainWatcher

    def done(self) -> Trained | None:
        """What it comes to, or came to before."""
        model = model_folder(self.folder, self.config)
        if is_finished(self.folder):
            return Trained(self._before(), model, before=True) if self.processes.leads else None
        network = self._blueprint.build()
        fitted = self._fit(network)
        if not self.processes.leads:
            return None
        self.told.stage("asking the test")
        study = self._study(network, fitted)
        save_study(self.folder, study)
        return Trained(study.comparison, model, before=False)

    def _before(self) -> Comparison:
        """What it came to before."""
        found, log = load_comparison(self.folder), self.question.log
        known = (found.data["fingerprint"], found.split_hash)
        if known != (log.fingerprint, self.question.stages.hash):
            raise InputError(
                f"{self.folder} is of a training on other data than {log.name} has now: expected the same, "
                "to show what it came to; choose another folder"
            )
        return found

    @property
    def _blueprint(self) -> Blueprint:
        num_items, unit = self.question.histories.num_items, self.question.log.unit
        time_access = str(self.config.protocol.time_access)
        return Blueprint(self.config.recipe, num_items, unit, time_access, self.config.seed)

    def _fit(self, network: Network) -> Fitted:
        config, protocol = self.config, self.config.protocol
        snapshots = Snapshots(self.folder / CHECKPOINTS, self._owner(), config.checkpoint_every)
        curves = Curves(self.folder)

        def validate() -> float:
            histories, stage = self.question.histories, self.question.stages.validation
            ranks = ask_shared(network, histories, stage, protocol, self.processes)
            return mean_of(MRR(), ranks, histories, stage)

        def record(fitted: Fitted) -> None:
            curves.record(fitted)
            self.told.epoch(fitted)

        self.told.begin(self.question, config)
        try:
            with self.stopper.training():
                fitted = fit(
                    network,
                    windows_of(self.question, protocol, config.recipe.max_len),
                    config.training,
                    seed=config.seed,
                    validate=validate,
                    keep=lambda: None,  # the best epoch is in every snapshot
                    report=self.told.step,
                    device=config.device,
                    precision=config.precision,
                    snapshots=snapshots,
                    wanted=self.stopper.wanted,
                    record=record,
                    processes=self.processes,
                    sharded=config.sharded,
                )
        except DivergedError as error:
            kept = None
            if error.fitted is not None and self.processes.leads:
                kept = str(self._keep(network, error.fitted, str(error)))
            raise error.told(kept) from error
        if self.processes.leads:
            self._keep(network, fitted, "")
        return fitted

    def _keep(self, network: Network, fitted: Fitted, stopped: str) -> Path:
        """Write the model, instead of one that a run before this may have left."""
        model = model_folder(self.folder, self.config)
        model.parent.mkdir(exist_ok=True)
        workshop = Workshop(self.config.name, self._blueprint, self.question, self.config.protocol)
        best = fitted.best_epoch
        with appearing(model) as partial:
            save_artefact(partial, workshop.artefact(network, best, fitted.validation[best], stopped))
        return model

    def _study(self, network: Network, fitted: Fitted) -> Study:
        config, protocol, question = self.config, self.config.protocol, self.question
        ranks = ask(
            network,
            question.histories,
            question.stages.test,
            access=protocol.time_access,
            seen=protocol.seen,
            device=protocol.device,
        )
        run = Run(config.name, config.seed, ranks, fitted.validation)
        return Study(
            comparison_of(question, protocol, config.name, [run, *baseline_runs(question, protocol)]),
            {config.name: [curve_of(network, question, protocol, config.recipe.max_len)]},
            realised_priors(config.recipe.encoding, network),
        )

    def _owner(self) -> str:
        """Digest of all that decides the bits of the weights, but for the machine."""
        known = {"config": to_table(self.config.undivided), "code": code_version()}
        known |= {"log": self.question.log.fingerprint, "split": self.question.stages.hash}
        return hashlib.sha256(tomli_w.dumps(known).encode()).hexdigest()
