"""Ranks among a whole catalogue, beside the plain ways: 100,000 users, 100,000 items, width 64.

    python benchmarks/evaluation.py run [--ways rota "topk(100)" ...] [--rounds 2]
    python benchmarks/evaluation.py write     # the table into docs/performance.md

Features of users and items are random, each user has one target and fifty items seen, which are dropped, or
kept. Each measurement is a process of its own; the ways take turns, every other round in the other order.
What is timed is from the features to the ranks. Peak memory is the process's; what it held before is told
too, as are the seconds of processors that other processes took meanwhile. What is measured is added to the
results that are there, so that a long run may be done in parts.

`rota` is `rota.evaluation.ask`, as `rota evaluate` calls it, of a network that answers with the given
features. `topk(k)` multiplies a batch with all items, writes -inf at what was seen, and looks for the target
in the k best: beyond these it knows no rank. `count` counts the scores that are at least the target's, after
the same product, so it knows all ranks, as rota does. `product` makes the scores and drops them; `product in
blocks` makes them in the blocks that rota makes them in, which stay in the processor's cache.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pages import write_between
from torch import Tensor, nn

from rota.batch import TimeAccess
from rota.evaluation import ask
from rota.evaluation.counting import block_width
from rota.histories import Histories, Spans
from rota.models.base import Network
from rota.models.similarity import Similarity
from rota.recipes.timing import circumstances

RESULT = Path(__file__).parent / "results" / "evaluation.json"
ITEMS, DIM, SEEN, BATCH = 100_000, 64, 50, 256


class Given(Network):
    """A network that answers with given features: the user who asks at time ``n`` has row ``n``."""

    def __init__(self, features: Tensor, items: Tensor) -> None:
        nn.Module.__init__(self)
        self.events = nn.Module()  # type: ignore[assignment]
        self.events.items = nn.Embedding.from_pretrained(items)
        self.events.forward = lambda batch: features[batch.query_time]  # type: ignore[method-assign]
        self.similarity, self.repeat_head = Similarity(), None
        self.max_len, self.needs_clock, self.time_access = 1, True, TimeAccess.REQUEST

    def hidden(self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None) -> Tensor:
        """The features themselves."""
        return x

    def layers(self, x: Tensor, query_time: Tensor | None, key_time: Tensor | None) -> list[Tensor]:
        """None."""
        return []


@dataclass(frozen=True)
class Asked:
    """What every way is given.

    Attributes:
        features: Of the users.
        items: Of the items.
        histories: What each user has seen, and then the target, at time ``user``.
        spans: What is asked.
    """

    features: Tensor
    items: Tensor
    histories: Histories
    spans: Spans

    @classmethod
    def random(cls, users: int) -> "Asked":
        """The same in every process."""
        generator, rng = torch.Generator().manual_seed(0), np.random.default_rng(0)
        features, items = (torch.randn(rows, DIM, generator=generator) for rows in (users, ITEMS))
        offsets = np.arange(users + 1) * (SEEN + 1)
        of_events = rng.integers(0, ITEMS, offsets[-1])
        histories = Histories(of_events, np.repeat(np.arange(users), SEEN + 1), offsets, ITEMS)
        return cls(
            features, items, histories, Spans(np.arange(users), offsets[:-1], offsets[1:] - 1, offsets[1:])
        )


def rota(given: Asked, seen: str) -> np.ndarray[Any, Any]:
    """Rank by the room's own function."""
    network = Given(given.features, given.items)
    return ask(network, given.histories, given.spans, access="request", seen=seen)


def plain(given: Asked, seen: str, ranks_of: Callable[[Tensor, Tensor], Tensor]) -> np.ndarray[Any, Any]:
    """Rank by the scores of all items, some users at a time."""
    history = torch.from_numpy(given.histories.items).view(-1, SEEN + 1)
    found = []
    with torch.inference_mode():
        for first in range(0, len(history), BATCH):
            scores = given.features[first : first + BATCH] @ given.items.T
            events = history[first : first + BATCH]
            if seen == "drop":
                scores.scatter_(1, events[:, :SEEN], -torch.inf)
            found.append(ranks_of(scores, events[:, SEEN:]))
    return torch.cat(found).numpy()


def in_list(scores: Tensor, target: Tensor, *, k: int) -> Tensor:
    """Place of the target in the list of the k best, 0 where it is not there."""
    hits = scores.topk(k).indices == target
    return torch.where(hits.any(1), hits.int().argmax(1) + 1, 0)


def counted(scores: Tensor, target: Tensor) -> Tensor:
    """How many scores are at least the target's; 0 where it was dropped."""
    own = scores.gather(1, target)
    return torch.where(own[:, 0] > -torch.inf, (scores >= own).sum(1), 0)


def nothing(scores: Tensor, target: Tensor) -> Tensor:
    """No rank at all."""
    return torch.zeros(len(scores), dtype=torch.int64)


def blocks(given: Asked, seen: str) -> np.ndarray[Any, Any]:
    """Scores alone, in blocks that stay in the cache."""
    width = block_width(BATCH, ITEMS, given.items.device)
    with torch.inference_mode():
        tile = given.items.new_empty(BATCH, width)
        for few in given.features.split(BATCH):
            for block in given.items.split(width):
                torch.mm(few, block.T, out=tile[: len(few), : len(block)])
    return np.zeros(len(given.features), dtype=np.int64)


def of_list(k: int) -> Callable[[Asked, str], np.ndarray[Any, Any]]:
    """Rank in the list of the k best."""
    return partial(plain, ranks_of=partial(in_list, k=k))


WAYS: dict[str, tuple[Callable[[Asked, str], np.ndarray[Any, Any]], str]] = {
    "rota": (rota, "drop"),
    "topk(100)": (of_list(100), "drop"),
    "topk(10)": (of_list(10), "drop"),
    "topk(1000)": (of_list(1000), "drop"),
    "count": (partial(plain, ranks_of=counted), "drop"),
    "rota, seen kept": (rota, "keep"),
    "topk(100), seen kept": (of_list(100), "keep"),
    "product": (partial(plain, ranks_of=nothing), "keep"),
    "product in blocks": (blocks, "keep"),
}
KNOWS = {"rota": "all", "count": "all", "product": "none"}


def memory(field: str) -> int:
    """Bytes that this process holds (VmRSS), or held at its peak (VmHWM)."""
    told = re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text(encoding="utf-8"))
    if told is None:
        raise SystemExit(f"/proc/self/status has no {field}")
    return int(told[1]) * 1024


def busy() -> float:
    """Seconds that the processors of this machine have worked since it started, for whomever."""
    fields = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0].split()[1:]
    user, nice, system, _, _, irq, softirq = map(int, fields[:7])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def one(way: str, users: int, threads: int, out: Path) -> None:
    """Measure in this process."""
    torch.set_num_threads(threads)
    given, (rank, seen) = Asked.random(users), WAYS[way]
    before, all_before, own_before = memory("VmRSS"), busy(), time.process_time()
    began = time.perf_counter()
    ranks = rank(given, seen)
    seconds = time.perf_counter() - began
    others = busy() - all_before - (time.process_time() - own_before)
    np.save(out, ranks)
    told = {"seconds": seconds, "others": max(others, 0.0), "peak": memory("VmHWM"), "before": before}
    sys.stdout.write(json.dumps(told) + "\n")


def run(ways: Sequence[str], rounds: int, users: int, threads: int, work: Path) -> None:
    """Measure what is named, add it to what is kept of the same sizes on the same machine, compare ranks."""
    now = circumstances("numpy") | {"threads": threads}
    commit = now.pop("commit")
    setup = {"users": users, "items": ITEMS, "dim": DIM, "seen": SEEN, "batch": BATCH, "circumstances": now}
    kept = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.is_file() else {}
    if {name: kept.get(name) for name in setup} != setup:
        kept = setup | {"measured": {}, "agreement": {}}
    work.mkdir(parents=True, exist_ok=True)
    for turn in range(rounds):
        for way in list(ways)[:: -1 if turn % 2 else 1]:
            told = apart(way, users, threads, ranks_of(work, way))
            kept["measured"].setdefault(way, []).append(told | {"commit": commit})
            kept["agreement"] |= agreement(work, way, users)
            RESULT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
            sys.stdout.write(f"{way}: {told}\n")
            sys.stdout.flush()


def apart(way: str, users: int, threads: int, out: Path) -> dict[str, float]:
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "one", way, str(users), str(threads), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{way}: {done.stderr.strip().splitlines()[-1]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def ranks_of(work: Path, way: str) -> Path:
    """Where the ranks of a way are put."""
    return work / f"ranks-{list(WAYS).index(way)}.npy"


def agreement(work: Path, way: str, users: int) -> dict[str, dict[str, int]]:
    """Ranks that a plain way knows, how many of them are rota's too, and the largest difference.

    Products of other shapes are rounded otherwise, so that two scores may change places: a rank is one off.
    """
    mine = ranks_of(work, "rota" if WAYS[way][1] == "drop" else "rota, seen kept")
    if way.startswith(("rota", "product")) or not mine.is_file():
        return {}
    ours, theirs = np.load(mine), np.load(ranks_of(work, way))
    if len(ours) != users:
        raise SystemExit(f"{mine}: ranks of {len(ours)} users, not {users}: measure rota first")
    off = np.abs(ours - theirs)[theirs > 0]
    return {way: {"known": len(off), "same": int((off == 0).sum()), "most": int(off.max(initial=0))}}


def section(kept: Mapping[str, Any]) -> str:
    """The table of the page."""
    measured = {way: kept["measured"][way] for way in WAYS if way in kept["measured"]}
    middle = {way: statistics.median(run["seconds"] for run in runs) for way, runs in measured.items()}
    flop = 2 * kept["users"] * kept["items"] * kept["dim"]
    when = kept["circumstances"]
    commits = ", ".join(dict.fromkeys(f"`{run['commit']}`" for runs in measured.values() for run in runs))
    lines = [
        f"{kept['users']:,} users, {kept['items']:,} items, width {kept['dim']}, {kept['seen']} items seen; "
        f"{when['threads']} threads of {when['processor']}, torch {when['versions']['torch']}; "
        f"{commits}. The product is {flop / 1e12:.2f} TFLOP.",
        "",
        "| way | ranks it knows | seconds, each run | median | against rota | more memory, MiB "
        "| ranks that are rota's |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for way, runs in measured.items():
        mine = middle["rota, seen kept" if WAYS[way][1] == "keep" else "rota"]
        kind = way.partition(",")[0].partition(" ")[0]
        knows = KNOWS.get(kind) or f"up to {kind[5:-1]}"
        each = ", ".join(f"{run['seconds']:.1f}" for run in runs)
        more = max(run["peak"] - run["before"] for run in runs) / 2**20
        same = kept["agreement"].get(way)
        alike = f"{same['same']:,} of {same['known']:,}" if same else ""
        ratio = f"{middle[way] / mine:.2f}"
        lines.append(f"| {way} | {knows} | {each} | {middle[way]:.1f} | {ratio} | {more:,.0f} | {alike} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="measure, add to the results")
    running.add_argument("--ways", nargs="*", choices=list(WAYS), default=list(WAYS), metavar="WAY")
    running.add_argument("--rounds", type=int, default=2)
    running.add_argument("--threads", type=int, default=2)
    running.add_argument("--users", type=int, default=100_000)
    running.add_argument("--work", type=Path, default=Path("runs/evaluation"))
    single = commands.add_parser("one", help="measure one way in this process")
    single.add_argument("way", choices=list(WAYS))
    single.add_argument("users", type=int)
    single.add_argument("threads", type=int)
    single.add_argument("out", type=Path)
    commands.add_parser("write", help="write the table into docs/performance.md")
    given = parser.parse_args()
    if given.command == "one":
        one(given.way, given.users, given.threads, given.out)
    elif given.command == "run":
        run(given.ways, given.rounds, given.users, given.threads, given.work)
    else:
        write_between("performance.md", "evaluation", section(json.loads(RESULT.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
