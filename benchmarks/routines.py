"""Pairs counted a minute by `measure_lift`, compiled and by numpy alone, beside a loop as one writes it.

``python benchmarks/routines.py [--users N] [--events N] [--days N]`` prints a line each, as JSON: who, pairs,
seconds, and millions of pairs a minute. The first call, which compiles, is not counted.
"""

import argparse
import json
from collections.abc import Callable
from time import perf_counter

import numpy as np

from rota.analysis import pair_counts
from rota.analysis.lift import measure_lift

DAY, WIDTH = 86_400, 900


def log(users: int, events: int, days: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    rng = np.random.default_rng(0)
    counts = rng.multinomial(events, rng.dirichlet(np.ones(users)))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    times = rng.integers(0, days * DAY, events)
    owner = np.repeat(np.arange(users), counts)
    return offsets, times[np.lexsort((times, owner))], rng.integers(0, 500, events)


def loop(offsets: np.ndarray, times: np.ndarray, items: np.ndarray, longest: int) -> int:  # type: ignore[type-arg]
    """Each user's own matrix of pairs."""
    bins = longest // WIDTH
    same, pairs = np.zeros(bins + 2, np.int64), np.zeros(bins + 2, np.int64)
    for user in range(len(offsets) - 1):
        own = slice(offsets[user], offsets[user + 1])
        time, item = times[own], items[own]
        gap = time[:, None] - time
        near = (gap > 0) & (gap <= longest)
        place = (gap[near] + WIDTH // 2) // WIDTH
        pairs += np.bincount(place, minlength=bins + 2)
        same += np.bincount(place[(item[:, None] == item)[near]], minlength=bins + 2)
    return int(pairs.sum())


def timed(who: str, count: Callable[[], int]) -> None:
    start = perf_counter()
    pairs = count()
    took = perf_counter() - start
    figures = {
        "who": who,
        "pairs": pairs,
        "seconds": round(took, 2),
        "millions_a_minute": round(pairs / took * 60e-6),
    }
    print(json.dumps(figures), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--events", type=int, default=400_000)
    parser.add_argument("--days", type=int, default=180)
    asked = parser.parse_args()
    offsets, times, items = log(asked.users, asked.events, asked.days)
    longest = asked.days * DAY

    def lift() -> int:
        return measure_lift(offsets, times, items, width=WIDTH, longest=longest).num_pairs

    if pair_counts.native.available():
        measure_lift(offsets[:3], times, items, width=WIDTH, longest=longest)
        timed("compiled", lift)
    pair_counts.native.available = lambda: False
    timed("numpy alone", lift)
    timed("a loop over users", lambda: loop(offsets, times, items, longest))


if __name__ == "__main__":
    main()
