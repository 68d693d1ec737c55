"""Timing side by side: contenders take turns in one process, in both orders."""

import ctypes
import gc
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

__all__ = ["Timing", "measure"]

Work = Callable[[], object]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's malloc.h


@dataclass(frozen=True)
class Timing:
    """Seconds that a contender took, one number a round.

    Attributes:
        name: Of the contender.
        seconds: In the order of the rounds.
    """

    name: str
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median in seconds."""
        return statistics.median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """Tenth and ninetieth percentile in seconds."""
        if len(self.seconds) < 2:
            return self.median, self.median
        tenths = statistics.quantiles(self.seconds, n=10, method="inclusive")
        return tenths[0], tenths[-1]


def measure(
    contenders: Mapping[str, Work],
    *,
    rounds: int,
    warm: int = 5,
    on_round: Callable[[int], None] | None = None,
) -> list[Timing]:
    """Time contenders in turn; every other round runs in the opposite order.

    Args:
        contenders: What each does, by its name.
        rounds: Measured rounds.
        warm: Rounds before them that are not counted: memory and caches reach their steady state.
        on_round: Told the number of rounds that are done, for a progress bar.
    """
    _keep_freed_memory()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(warm + rounds):
            for name in list(contenders)[:: -1 if turn % 2 else 1]:
                start = time.perf_counter()
                done = contenders[name]()
                if torch.cuda.is_available():
                    torch.cuda.synchronize()
                end = time.perf_counter()
                del done
                if turn >= warm:
                    seconds[name].append(end - start)
            if on_round is not None:
                on_round(turn + 1)
    finally:
        if was_collecting:
            gc.enable()
    return [Timing(name, tuple(values)) for name, values in seconds.items()]


def _keep_freed_memory() -> None:
    """Let the C library keep what is freed for what is allocated next, as a long run comes to do anyway.

    Else it hands large tensors back to the system now and then, and whoever allocates next pays for fresh
    pages: noise that is larger than what is measured. Only glibc is asked; elsewhere nothing happens.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, 32 * 2**20)  # the most that it accepts
        mallopt(_TRIM_THRESHOLD, 2**31 - 1)


def circumstances(*packages: str) -> dict[str, object]:
    """What a timing depends on: processor, threads, versions, and the commit where there is one."""
    return {
        "processor": _processor(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in ("rota", "torch", *packages)},
        "commit": _commit(),
    }


def _processor() -> str:
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8").splitlines() if known.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """Commit of the code that runs, with a mark where files differ from it."""
    folder = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--exclude=*"],
            cwd=folder, capture_output=True, text=True, check=True, timeout=10,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):  # installed without git, or from a wheel
        return None
    return found.stdout.strip()
