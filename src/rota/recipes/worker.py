"""Worker: a process that does one training after another for a comparison in another process.

It reads jobs from its standard input, a line each, and writes what happens to its standard output. Ctrl-C is
none of its business: the comparison is told, and tells it. When the comparison's process is gone, however
that went, its standard input ends, and it ends at once.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import TextIO

import torch

from rota.errors import InputError
from rota.evaluation.run import Run
from rota.recipes.handing import take_over
from rota.recipes.jobs import Job
from rota.recipes.outcomes import work_off
from rota.recipes.plan import Plan
from rota.recipes.protocol import Protocol
from rota.recipes.question import Question
from rota.recipes.watching import Watcher
from rota.training.progress import Fitted, Progress

__all__: list[str] = []

STEP = ("epoch", "step", "steps", "validation", "targets")  # of `Progress`: what is told, and the loss
_SECONDS = 0.25  # between words of steps: to read a loss may be to wait for the device


def serve() -> None:
    """Work off jobs until there are no more; arguments are the folder of the question, and threads."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not come between
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(jobs,), daemon=True).start()
    folder, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    try:
        signal.signal(signal.SIGTERM, _stop)
        question, protocol = take_over(Path(folder))
        while True:
            _tell(out, _done(jobs.get(), question, protocol, out))
    except KeyboardInterrupt:  # told to stop: what is worth keeping is kept by now
        os._exit(0)  # not by way of the interpreter's end, where the thread that reads is in the way


def _read(jobs: "queue.SimpleQueue[Job]") -> None:
    """Take jobs as they come. Their end is that of the process: all is done, or the other one is gone."""
    for line in sys.stdin:
        jobs.put(Job.from_line(line))
    os._exit(0)


def _stop(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise KeyboardInterrupt


def _done(job: Job, question: Question, protocol: Protocol, out: TextIO) -> dict[str, object]:
    """What there is to say when a job has come to its end, good or bad."""
    try:
        work_off(job, question, protocol, _Teller(out))
    except InputError as error:
        return {"say": "refused", "message": str(error)}
    except OSError as error:
        known = [error.errno, error.strerror, error.filename]
        return {"say": "system", "args": error.args if error.errno is None else known}
    except Exception:
        return {"say": "broken", "message": traceback.format_exc()}
    return {"say": "done"}


class _Teller(Watcher):
    """Tells the other process what a training does."""

    def __init__(self, out: TextIO) -> None:
        self.out, self.told = out, 0.0

    def begin(self, question: Question, plan: Plan, processes: int) -> None:
        """Do nothing: the other process knows."""

    def found(self, run: Run, fitted: Fitted) -> None:
        """Do nothing, likewise."""

    def start(self, arm: str, seed: int) -> None:
        """Tell it."""
        _tell(self.out, {"say": "start"})

    def step(self, arm: str, seed: int, progress: Progress) -> None:
        """Tell it, not too often."""
        now = time.monotonic()
        if now - self.told < _SECONDS:
            return
        self.told = now
        told = {name: getattr(progress, name) for name in STEP}
        _tell(self.out, {"say": "step", **told, "loss": float(progress.loss)})

    def finish(self, run: Run, fitted: Fitted) -> None:
        """Do nothing: it is told when all is kept."""

    def fail(self, arm: str, seed: int, why: str) -> None:
        """Do nothing: the other process is told why, and says so."""


def _tell(out: TextIO, message: dict[str, object]) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()
