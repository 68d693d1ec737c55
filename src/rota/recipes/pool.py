"""Pool: trainings in processes of their own, as many at once as there is room for.

Workers are new interpreters, as ``spawn`` has them, and none is forked: threads of PyTorch and of OpenMP do
not survive a fork. They are started without importing the main module again, so that a script needs no
``if __name__ == "__main__"``. Nothing is pickled.
"""

import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from rota.errors import InputError
from rota.recipes.jobs import Job
from rota.recipes.outcomes import Outcome, finished
from rota.recipes.watching import Watcher
from rota.training.progress import Progress

__all__: list[str] = []

_GRACE = 20.0  # seconds in which a worker may keep its best epoch
_LOOK = 1.0  # seconds between looks for Ctrl-C on systems where a wait cannot be interrupted
_Message = Mapping[str, Any] | None


def worked_off(
    jobs: Sequence[Job],
    folder: Path,
    *,
    processes: int,
    threads: int,
    watcher: Watcher,
    patient: bool = True,
) -> list[Outcome | InputError]:
    """Do trainings in processes of their own.

    However this ends, no process is left. Where it ends before its time, what is finished stays in its
    folder, and of what is not the best epoch so far.

    Args:
        jobs: In the order in which they are taken up; each with a folder.
        folder: What `hand_over` wrote.
        processes: How many at once.
        threads: Of each.
        watcher: Told of each.
        patient: Whether the others are done where one fails.

    Returns:
        The outcomes of the jobs, in their order; of one that fails, why.

    Raises:
        InputError: The process of a training dies, or one fails and that is the end; the message begins with
            the arm and the seed.
        OSError: The disk is full, for instance.
    """
    waiting, inbox = deque(jobs), _Inbox()
    outcomes: dict[str, Outcome | InputError] = {}
    workers: list[_Worker] = []
    try:
        for number in range(min(processes, len(jobs))):
            workers.append(_Worker(folder, number, threads, inbox))
            workers[-1].give(waiting.popleft())
        while len(outcomes) < len(jobs):
            worker, message = inbox.next()
            outcome = worker.heard(message, watcher)
            if isinstance(outcome, InputError) and not patient:
                raise outcome
            if outcome is not None:
                outcomes[worker.given.name] = outcome
                worker.give(waiting.popleft() if waiting else None)
    finally:
        _end(workers)
    for line in dict.fromkeys(line for worker in workers for line in worker.said()):  # warnings
        print(line, file=sys.stderr)
    return [outcomes[job.name] for job in jobs]


class _Inbox:
    """What all workers say, in the order in which it comes."""

    def __init__(self) -> None:
        self.messages: queue.SimpleQueue[tuple[_Worker, _Message]] = queue.SimpleQueue()

    def next(self) -> "tuple[_Worker, _Message]":
        """The next message; ``None`` is a worker's last."""
        while True:
            with suppress(queue.Empty):
                return self.messages.get(timeout=_LOOK)


class _Worker:
    """A process and what it does.

    Attributes:
        given: Its job, or its last.
        busy: Whether it has one.
    """

    given: Job

    def __init__(self, folder: Path, number: int, threads: int, inbox: _Inbox) -> None:
        self.busy, self.log = False, folder / f"worker-{number}.log"
        code = f"import sys; sys.path[:] = {sys.path!r}; from rota.recipes.worker import serve; serve()"
        with self.log.open("wb") as errors, _without_interrupts():
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", code, str(folder), str(threads)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8",
            )  # fmt: skip
        self.listener = threading.Thread(target=self._listen, args=(inbox,), daemon=True)
        self.listener.start()

    def _listen(self, inbox: _Inbox) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                inbox.messages.put((self, json.loads(line)))
        inbox.messages.put((self, None))

    def give(self, job: Job | None) -> None:
        """Give it a job, or tell it that there are no more."""
        assert self.process.stdin is not None
        self.busy = job is not None
        with suppress(BrokenPipeError):  # it has died: `heard` is told so
            if job is None:
                self.process.stdin.close()
                return
            self.given = job
            self.process.stdin.write(job.to_line())
            self.process.stdin.flush()

    def heard(self, message: _Message, watcher: Watcher) -> Outcome | InputError | None:
        """Pass on what it says; the outcome, once its job is done, or why it failed.

        Raises:
            InputError: It has died.
            OSError: The system refused something.
        """
        place = self.given.arm, self.given.blueprint.seed
        if message is None:
            if self.busy:
                raise InputError(f"{self.given.name}: {self._death()}")
            return None
        if message["say"] == "start":
            watcher.start(*place)
        elif message["say"] == "step":
            watcher.step(*place, _progress(message))
        elif message["say"] == "refused":
            watcher.fail(*place, message["message"])
            return InputError(message["message"])
        elif message["say"] == "system":
            raise OSError(*message["args"])
        elif message["say"] == "broken":
            raise RuntimeError(f"{self.given.name}: {message['message']}")
        else:
            outcome = finished(self.given)
            assert outcome is not None, f"{self.given.folder} is not what its process has written"
            watcher.finish(outcome.run, outcome.fitted)
            return outcome
        return None

    def _death(self) -> str:
        """How it has died, in words."""
        code = self.process.wait()
        how = f"ended with exit code {code}"
        if code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
        last = [line for line in self.said() if line.strip()][-1:]
        said = f" ({last[0].strip()})" if last else ""
        return (
            f"its process {how}{said}: where the memory was full, use fewer processes; what is finished is "
            "kept, and the same comparison in the same folder goes on with the rest"
        )

    def said(self) -> list[str]:
        """Lines that it, or a library, wrote to its standard error."""
        return self.log.read_text(encoding="utf-8", errors="replace").splitlines()


def _progress(message: Mapping[str, Any]) -> Progress:
    epoch, step, steps = (message[name] for name in ("epoch", "step", "steps"))
    loss, validation = torch.tensor(message["loss"]), tuple(message["validation"])
    return Progress(epoch, step, steps, loss, validation, message["targets"])


def _end(workers: Sequence[_Worker]) -> None:
    """See all of them out: those that are busy may keep what they have, but not take long over it."""
    until = time.monotonic() + _GRACE
    try:
        for worker in workers:
            worker.process.terminate() if worker.busy else worker.give(None)
        for worker in workers:
            with suppress(subprocess.TimeoutExpired):
                worker.process.wait(max(0.0, until - time.monotonic()))
    finally:  # a second Ctrl-C comes here at once
        for worker in workers:
            worker.process.kill()
            worker.process.wait()
            worker.listener.join()
            worker.give(None)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """What is started here never gets Ctrl-C: it is for the process that started it."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
