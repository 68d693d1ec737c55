"""Time of a ClockRoPE rotation of q and k, from int64 times, beside a copy and beside the plain way.

    python benchmarks/rotary.py [--threads 2] [--json rotary.json]

The plain way forms the angle of every pair of every head in float64 and rotates by real arithmetic. All run
The plain way forms the angle of every pair of every head in float64 and rotates in real arithmetic. All run
is the least that memory allows.
"""

import argparse
import json
import math
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

from rota.encodings import ClockRoPE
from rota.kernels import WrappedGaussian

SHAPE = (64, 4, 200, 64)  # batch, heads, length, head_dim
ROUNDS, WARM = 40, 5


def plain(x: Tensor, clock_time: Tensor, cycles_per_second: Tensor) -> Tensor:
    """Form every angle of every head, then rotate."""
    turns = clock_time[:, None, :, None].double() * cycles_per_second[None, :, None, :]
    angle = (2 * math.pi * (turns - turns.round())).float()
    cosine, sine = angle.cos(), angle.sin()
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack((first * cosine - second * sine, first * sine + second * cosine), -1).flatten(-2)


def contenders() -> dict[str, Callable[[], object]]:
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(SHAPE, generator=generator) for _ in range(2))
    clock_time = torch.randint(1_600_000_000, 1_700_000_000, (SHAPE[0], SHAPE[2]), generator=generator)
    clock = ClockRoPE([WrappedGaussian("24h", "2h")]).build(head_dim=SHAPE[3], num_heads=SHAPE[1])
    cycles = clock.cycles_per_second
    found = clock(q, k, clock_time, clock_time)[0]
    torch.testing.assert_close(found, plain(q, clock_time, cycles), rtol=0, atol=1e-5)  # the same work
    return {
        "copy": lambda: (q.clone(), k.clone()),
        "rota": lambda: clock(q, k, clock_time, clock_time),
        "plain": lambda: (plain(q, clock_time, cycles), plain(k, clock_time, cycles)),
    }


def measure(things: dict[str, Callable[[], object]]) -> dict[str, list[float]]:
    """Seconds of each round; every other round runs in the opposite order."""
    timings: dict[str, list[float]] = {name: [] for name in things}
    for turn in range(WARM + ROUNDS):
        names = list(things) if turn % 2 else list(things)[::-1]
        for name in names:
            start = time.perf_counter()
            things[name]()
            if turn >= WARM:
                timings[name].append(time.perf_counter() - start)
    return timings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    with torch.inference_mode():
        timings = measure(contenders())
    table = Table(title=f"q and k of {SHAPE}, float32, {arguments.threads} threads, {ROUNDS} rounds")
    for column in ("", "median ms", "fastest", "slowest", "x copy"):
        table.add_column(column, justify="left" if not column else "right")
    copy = statistics.median(timings["copy"])
    for name, seconds in timings.items():
        middle = statistics.median(seconds)
        cells = [1e3 * middle, 1e3 * min(seconds), 1e3 * max(seconds), middle / copy]
        table.add_row(name, *(f"{cell:.2f}" for cell in cells))
    Console().print(table)
    if arguments.json:
        facts = {"shape": SHAPE, "threads": arguments.threads, "torch": torch.__version__}
        record = facts | {"machine": platform.machine(), "commit": _commit(), "seconds": timings}
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")


def _commit() -> str:
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    main()
