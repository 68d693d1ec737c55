"""Capacity: how many trainings this machine has room for at once."""

import math
import os
import sys
from pathlib import Path

from rota.errors import InputError
from rota.models.base import Model
from rota.recipes.plan import Plan
from rota.recipes.question import Question

__all__: list[str] = []

_PROCESS = 600 * 2**20  # bytes of a process that has done nothing yet but import
_SCORES = 3 * 4 * 2**25  # of the scores of one batch of questions, and what is made of them on the way
_WEIGHT = 4 * 8  # of a weight: itself, its gradient, two means of the optimiser, the best, and when written
_EVENT = 64  # of an event: in its windows
_SHARE = 0.8  # of the memory that is free: what is not used is the system's cache


def processes_for(question: Question, plan: Plan, *, trainings: int, threads: int) -> int:
    """How many trainings to do at once: as many as there are, and as cores and memory allow, at least one.

    On a GPU it is one: its memory cannot be known before.

    Args:
        question: What they learn from.
        plan: Which they are.
        trainings: How many are ahead.
        threads: Of each.
    """
    if plan.protocol.device != "cpu":
        return 1
    largest = max(training_bytes(model, question, plan) for model in plan.recipes().values())
    free = free_memory()
    fitting = trainings if free is None else int(_SHARE * free / largest)
    return max(1, min(trainings, cores() // threads, fitting))


def require_processes(processes: int | None, threads: int) -> None:
    """Refuse numbers that mean nothing.

    Raises:
        InputError: One of them is under 1.
    """
    for name, value in (("processes", processes), ("threads", threads)):
        if value is not None and value < 1:
            raise InputError(f"{name} {value}: expected a whole number of at least 1")


def training_bytes(model: Model, question: Question, plan: Plan) -> int:
    """Memory that a process with one training needs at most, estimated from above.

    Args:
        model: Recipe of the network.
        question: What it learns from.
        plan: How.
    """
    width, layers, length = model.embedding_dim, model.num_layers, model.max_len
    weights = width * (question.histories.num_items + length) + layers * 16 * width * width
    rows = math.ceil(plan.protocol.training.batch_size / plan.protocol.training.accumulate)
    of_layer = 24 * width + 6 * model.num_heads * length  # numbers of a position that the backward pass keeps
    numbers = rows * length * (layers * of_layer + 2 * 1024)  # the last: logits of negatives
    return _PROCESS + _SCORES + _WEIGHT * weights + 4 * numbers + _EVENT * len(question.log)


def cores() -> int:
    """Cores that this process may use; a share of one counts as one."""
    found = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    quota = _numbers(Path("/sys/fs/cgroup/cpu.max"))  # of a container, per period; "max" has none
    return min(found, max(1, math.ceil(quota[0] / quota[1]))) if len(quota) == 2 else found


def free_memory() -> int | None:
    """Bytes that can be had without swapping; ``None`` where the system does not say."""
    free = _available()
    limit, used = (_numbers(Path("/sys/fs/cgroup") / name) for name in ("memory.max", "memory.current"))
    if not limit or not used:
        return free
    left = max(0, limit[0] - used[0])
    return left if free is None else min(left, free)


def _available() -> int | None:
    meminfo = Path("/proc/meminfo")
    if not meminfo.is_file():
        return None
    lines = (line.split() for line in meminfo.read_text(encoding="ascii").splitlines())
    return next((int(line[1]) * 1024 for line in lines if line[0] == "MemAvailable:"), None)


def _numbers(path: Path) -> list[int]:
    """Whole numbers of a file of the system; none where it is not there, or says something else."""
    words = path.read_text(encoding="ascii").split() if path.is_file() else []
    return [int(word) for word in words] if all(word.isdecimal() for word in words) else []
