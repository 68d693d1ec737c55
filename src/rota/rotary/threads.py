"""PyTorch's own threads, lent to loops that are not PyTorch's.

Threads of OpenMP wait for their next work in a busy loop, so that threads of another kind would share their
cores with loops that do nothing. On Linux PyTorch's team is asked by the entry point that compilers call.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache

import torch

__all__: list[str] = []

LEAST = 2**15  # features worth another thread

Team = Callable[[int, int, int, int], None]

_forked = False


def wanted(features: int) -> int:
    """How many threads so many features are worth, as many as PyTorch has at most."""
    return max(1, min(torch.get_num_threads(), features // LEAST))


def team() -> Team | None:
    """Runs a function of C on some data by some threads at once; ``None`` where there is none to ask.

    A forked child inherits OpenMP's memory, but not its threads: there is none to ask there either.
    """
    return None if _forked else _team_of_openmp()


@cache
def _team_of_openmp() -> Team | None:
    if sys.platform != "linux" or "backend: OpenMP" not in torch.__config__.parallel_info():
        return None
    entry = getattr(ctypes.CDLL(None), "GOMP_parallel", None)  # of GNU's library, and of LLVM's and Intel's
    if entry is not None:
        entry.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
        entry.restype = None
    return entry


def _note_fork() -> None:
    global _forked
    _forked = True


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_note_fork)
