"""Pairs counted a minute by `measure_lift`, compiled and by numpy alone, beside a loop as one writes it.

    python benchmarks/routines.py run [--users N] [--events N] [--days N] [--rounds N]
    python benchmarks/routines.py write     # the table into docs/performance.md

The log is made up. The first call, which compiles, is not counted. The loop counts pairs alone, without what
is to be expected of each user, and takes each user's matrix of pairs at once.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from pages import write_between

from rota.analysis.lift import measure_lift
from rota.recipes.timing import circumstances
from rota.rotary import native

RESULT = Path(__file__).parent / "results" / "pairs.json"

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


def timed(count: Callable[[], int]) -> dict[str, float]:
    """Pairs, and seconds that it took to count them."""
    start = perf_counter()
    pairs = count()
    return {"pairs": pairs, "seconds": perf_counter() - start}


def run(users: int, events: int, days: int, rounds: int) -> None:
    """Measure all three by turns, and keep it."""
    offsets, times, items = log(users, events, days)
    longest = days * DAY

    def lift() -> int:
        return measure_lift(offsets, times, items, width=WIDTH, longest=longest).num_pairs

    compiled = native.available
    if not compiled():
        raise SystemExit("numba is not installed: pip install 'rota[fast]'")
    measure_lift(offsets[:3], times, items, width=WIDTH, longest=longest)
    found: dict[str, list[dict[str, float]]] = {"compiled": [], "numpy alone": [], "a loop over users": []}
    for _ in range(rounds):
        found["compiled"].append(timed(lift))
        native.available = lambda: False
        found["numpy alone"].append(timed(lift))
        native.available = compiled
        found["a loop over users"].append(timed(lambda: loop(offsets, times, items, longest)))
    kept = {
        "log": {"users": users, "events": events, "days": days},
        "circumstances": circumstances("numpy", "numba"),
        "measured": found,
    }
    RESULT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def section(kept: Mapping[str, Any]) -> str:
    """The table of the page."""
    when, made = kept["circumstances"], kept["log"]
    lines = [
        f"{made['events']:,} events of {made['users']:,} users over {made['days']} days, made up, in bins of "
        f"15 minutes; {when['processor']}; `{when['commit']}`.",
        "",
        "| way | pairs | seconds, each run | million pairs a minute, median |",
        "|---|--:|--:|--:|",
    ]
    for way, runs in kept["measured"].items():
        seconds = ", ".join(f"{one['seconds']:.1f}" for one in runs)
        speed = statistics.median(60e-6 * one["pairs"] / one["seconds"] for one in runs)
        lines.append(f"| {way} | {runs[0]['pairs']:,.0f} | {seconds} | {speed:,.0f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="measure and keep")
    running.add_argument("--users", type=int, default=1000)
    running.add_argument("--events", type=int, default=400_000)
    running.add_argument("--days", type=int, default=180)
    running.add_argument("--rounds", type=int, default=3)
    commands.add_parser("write", help="write the table into docs/performance.md")
    given = parser.parse_args()
    if given.command == "run":
        run(given.users, given.events, given.days, given.rounds)
    write_between("performance.md", "pairs", section(json.loads(RESULT.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
