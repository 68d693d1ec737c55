"""The loop: steps and epochs, validation selects the epoch, the best weights are what remains."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from rota.errors import NotFiniteError
from rota.models.base import Network
from rota.training.course import Course
from rota.training.divergence import DivergedError
from rota.training.hardware import check_hardware
from rota.training.lesson import Lesson
from rota.training.losses.mixing import require_likelihood
from rota.training.processes import Processes
from rota.training.progress import Fitted, Progress
from rota.training.recipe import Training
from rota.training.schedule import is_over
from rota.training.sharding import informed, require_shards, sharded_copy, sharing, teach
from rota.training.snapshots import Snapshots
from rota.training.step_batch import Syllabus
from rota.training.windows import TrainingWindows

__all__ = ["StoppedError", "fit"]

_STEPS = 50  # between agreements of processes on GPUs


class StoppedError(Exception):
    """A training that was asked to stop, and has kept where it stood if it was told where to.

    Attributes:
        number: Of the signal that asked, or 0.
    """

    number: int = 0


def fit(
    network: Network,
    windows: TrainingWindows,
    training: Training,
    *,
    seed: int,
    validate: Callable[[], float],
    keep: Callable[[], None],
    report: Callable[[Progress], None],
    device: str = "cpu",
    precision: str = "32-true",
    snapshots: Snapshots | None = None,
    wanted: Callable[[], bool] = lambda: True,
    record: Callable[[Fitted], None] = lambda fitted: None,
    processes: Processes | None = None,
    sharded: bool = False,
) -> Fitted:
    """Train a network in place and leave it with the weights of its best epoch, also where it diverges.

    Args:
        network: With its starting weights.
        windows: Of the training stage.
        training: How.
        seed: Orders, negatives and dropout are functions of it, the epoch and the step.
        validate: Score of the network as it is, larger is better; called after each epoch.
        keep: Saves the network as it is; called after each epoch that is the best so far.
        report: Called after each step.
        device: ``"cpu"`` or ``"cuda"``.
        precision: 32-true, bf16-mixed, or on cuda 16-mixed.
        snapshots: Where it is kept while it lasts, and whence it goes on; ``None``: nowhere.
        wanted: Asked after each step; once it says no, the training is kept and ends.
        record: Told after each epoch what there is so far.
        processes: Those that share each step; ``None``: this one alone. The first keeps and is told.
        sharded: Each process holds a share of the weights, their gradients and the optimizer's state only.
            The network itself, which is validated, kept and left, waits on the host meanwhile. Snapshots are
            the same, so that any number of processes may go on with them.

    Raises:
        InputError: Unknown precision, one that the device lacks, a device that is not there, a loss that
            is no likelihood for a network with a repeat head, snapshots of another training, sharded with
            one process or with 16-mixed, or a process has died.
        DivergedError: A loss or a weight is no finite number any more; it knows the best epoch so far.
        StoppedError: It was not wanted any more.
    """
    check_hardware(device, precision)
    require_likelihood(training.loss, network.repeat_head is not None)
    shared = processes or Processes()
    syllabus = Syllabus(windows, training, seed, rank=shared.rank, processes=shared.count)
    if sharded:
        require_shards(shared, precision)
    learner = sharded_copy(network.cpu(), device, shared) if sharded else network.to(device)
    learner.train()
    course = Course(learner, Lesson(learner, syllabus, device, precision, shared))
    if snapshots is not None:
        _go_on(course, snapshots, shared)
    run = _Run(course, network, shared, snapshots, validate, keep, report, wanted, record)
    try:
        with torch.random.fork_rng(), sharing() if sharded else nullcontext():
            while not is_over(training, course.validation):
                run.epoch()
    except DivergedError as error:
        if course.best:
            error.fitted = _leave_best(course, network)
        raise
    return _leave_best(course, network)


@dataclass(frozen=True)
class _Run:
    """A training under way, and who is told of it; see `fit`."""

    course: Course
    network: Network
    processes: Processes
    snapshots: Snapshots | None
    validate: Callable[[], float]
    keep: Callable[[], None]
    report: Callable[[Progress], None]
    wanted: Callable[[], bool]
    record: Callable[[Fitted], None]

    def epoch(self) -> None:
        """Go on to the end of an epoch."""
        course, lesson = self.course, self.course.lesson
        pin = lesson.device.type == "cuda"
        course.start_clock()
        for batch in lesson.syllabus.batches(course.epoch, course.step, pin=pin):
            loss = lesson.learn(batch, course.validation)
            course.passed(batch.targets)
            if self.processes.leads:
                self.report(_progress(course, loss, batch.targets))
            self._look_around()
        seconds = time.perf_counter() - course.since
        lesson.guard.require_sound(course.epoch)
        with informed(self.network, course.network, lesson.device.type):
            if course.end_epoch(self._score(), seconds) and self.processes.leads:
                self.keep()
        if self.processes.leads:
            self.record(course.fitted())
        self._save()

    def _score(self) -> float:
        """Of the network on validation; large weights may be finite and its scores not."""
        try:
            return self.validate()
        except NotFiniteError as error:
            course = self.course
            what = "scores on validation are NaN after the last step"
            raise DivergedError(what, course.epoch, course.step - 1) from error

    def _look_around(self) -> None:
        """After a step within an epoch: whether a snapshot is due, or the end."""
        stop = self._unwanted()
        every = 0 if self.snapshots is None else self.snapshots.every
        if stop or (every and self.course.step % every == 0):
            self._save()
        if stop:
            raise StoppedError

    def _unwanted(self) -> bool:
        if self.processes.count == 1:
            return not self.wanted()
        course, lesson = self.course, self.course.lesson
        done = course.epoch * lesson.syllabus.steps + course.step
        if lesson.device.type == "cuda" and done % _STEPS:
            return False  # to agree is to wait for the device
        against = torch.tensor(float(not self.wanted()), device=lesson.device)
        self.processes.add_up([against])
        return bool(against > 0)

    def _save(self) -> None:
        if self.snapshots is None:
            return
        snapshot = self.course.snapshot()
        if self.processes.leads:
            self.snapshots.save(snapshot)


def _go_on(course: Course, snapshots: Snapshots, processes: Processes) -> None:
    found = snapshots.latest()
    place = (-1, -1) if found is None else (found.epoch, found.step)
    processes.require_agreed(place, "checkpoints (epoch, step)", course.lesson.device)
    if found is not None:
        course.restore(found)


def _progress(course: Course, loss: Tensor, targets: int) -> Progress:
    done = tuple(course.validation)
    return Progress(course.epoch, course.step, course.lesson.syllabus.steps, loss, done, targets)


def _leave_best(course: Course, network: Network) -> Fitted:
    course.network.load_state_dict(course.best)
    if network is not course.network:
        teach(network.to(course.lesson.device), course.network)
    network.eval()
    return course.fitted()
