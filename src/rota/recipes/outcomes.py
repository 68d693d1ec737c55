"""Outcomes: what is left of a training, in memory or in its folder, from which a study is put together."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from rota.analysis.curves import AttentionByGap
from rota.errors import InputError
from rota.evaluation.run import Run
from rota.files import written_whole
from rota.models.base import Network
from rota.recipes.addresses import DATA, Address
from rota.recipes.jobs import Job
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question
from rota.recipes.trial import Trial, run_trial
from rota.recipes.watching import Watcher
from rota.serving.artefact import is_artefact, load_artefact
from rota.training.progress import Fitted

__all__: list[str] = []

RECORD = "trial.safetensors"
_KEY = "trial"


@dataclass(frozen=True)
class Outcome:
    """What a training came to.

    Attributes:
        run: Ranks of the test.
        fitted: Validation after each epoch, and the best.
        attention: How much it looks at events of a given age.
        network: Gives it, with the weights of its best epoch.
    """

    run: Run
    fitted: Fitted
    attention: AttentionByGap
    network: Callable[[], Network]


def work_off(job: Job, question: Question, protocol: Protocol, watcher: Watcher) -> Outcome:
    """Train, ask the test, and keep all of it in the job's folder, where it has one; its record is last.

    Raises:
        InputError: The training fails; the message begins with the arm and the seed.
    """
    try:
        trial = run_trial(job.arm, job.blueprint, question, protocol, job.folder, watcher)
    except InputError as error:
        raise InputError(f"{job.name}: {error}") from error
    if job.folder is None:
        return Outcome(trial.run, trial.fitted, trial.attention, lambda: trial.network)
    _save_record(job.folder, trial, job.address)
    return _outcome(job.folder, trial.run, trial.fitted, trial.attention)


def tried(job: Job, question: Question, protocol: Protocol, watcher: Watcher) -> Outcome | InputError:
    """`work_off`, but what it raises of a training that fails is given back, so that others can go on."""
    try:
        return work_off(job, question, protocol, watcher)
    except InputError as error:
        watcher.fail(job.arm, job.blueprint.seed, str(error))
        return InputError(str(error))  # the error itself holds on to the network


def all_of(found: Mapping[str, Outcome | InputError]) -> Mapping[str, Outcome]:
    """The outcomes, by the names of their jobs, where every training has one.

    Args:
        found: Outcomes, which are in a folder, and why the others failed.

    Raises:
        InputError: One failed; the message is that of the first, and says what else there is to know.
    """
    failed = {name: one for name, one in found.items() if isinstance(one, InputError)}
    outcomes = {name: one for name, one in found.items() if isinstance(one, Outcome)}
    if not failed:
        return outcomes
    (_, first), *others = failed.items()
    told = [str(first), *(f"{name} failed too" for name, _ in others)]
    if outcomes:
        told.append(
            f"{len(outcomes)} of {len(found)} trainings are finished and kept: the same command without an "
            "arm that failed, and without what that alone needs, goes on with them in the same folder"
        )
    raise InputError("; ".join(told)) from first


def require_same_data(folder: Path, address: Address) -> None:
    """Refuse a folder of trainings on other data, whichever of them are asked for now.

    Args:
        folder: Of the trainings; it need not exist.
        address: Of a training on the data of now, or what of it is the data.

    Raises:
        InputError: One is of other data, or was asked otherwise.
    """
    for path in sorted(folder.glob(f"*/{RECORD}")):
        record = _read(path)
        if record is not None and any(record[0]["address"].get(key) != address[key] for key in DATA):
            raise InputError(
                f"{path.parent} is of a training on other data, or asked otherwise: expected that of this "
                "log, to go on with it; choose another folder for another log"
            )


def finished(job: Job) -> Outcome | None:
    """What a job came to before, if it is in its folder: the very same training, whole."""
    record = None if job.folder is None else _read(job.folder / RECORD)
    if job.folder is None or record is None:
        return None
    facts, arrays = record
    if facts["address"] != job.address or not is_artefact(job.folder):
        return None
    validation = tuple(arrays["validation"].tolist())
    run = Run(job.arm, job.blueprint.seed, arrays["ranks"], validation)
    curve = AttentionByGap(arrays["edges_hours"], arrays["relative"], arrays["pairs"])
    return _outcome(job.folder, run, Fitted(validation, facts["best_epoch"]), curve)


def _outcome(folder: Path, run: Run, fitted: Fitted, attention: AttentionByGap) -> Outcome:
    return Outcome(run, fitted, attention, lambda: load_artefact(folder).network)


def _save_record(folder: Path, trial: Trial, address: Address) -> None:
    """Write the record of a training; the file appears only when complete."""
    facts = {"address": dict(address), "best_epoch": trial.fitted.best_epoch}
    arrays = {
        "ranks": trial.run.ranks,
        "validation": np.array(trial.fitted.validation, np.float64),
        "edges_hours": trial.attention.edges_hours,
        "relative": trial.attention.relative,
        "pairs": trial.attention.pairs,
    }
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    with written_whole(folder / RECORD) as part:
        part.write_bytes(save(whole, {_KEY: json.dumps(facts)}))


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Facts and arrays of a record; ``None`` where there is none, or none that is whole."""
    if not path.is_file():
        return None
    data = path.read_bytes()
    try:
        arrays = load(data)
    except SafetensorError:  # torn, for instance when the power went: to be trained again
        return None
    size = int.from_bytes(data[:8], "little")
    return json.loads(json.loads(data[8 : 8 + size])["__metadata__"][_KEY]), arrays
