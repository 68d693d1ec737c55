"""Does a person's own routine justify a prior for each cluster of people? Evidence for docs/routines.md.

    python benchmarks/personal.py run LOGS
    python benchmarks/personal.py table

Each user's events are cut in two at the middle of his time. On the first half it is measured how regular he
is: how often two events a whole number of days apart are of one item, against those half a day off. Users
are put into three clusters by that, and in each a law is fitted to the first halves. On the second halves,
which no law has seen, the lift of each cluster is predicted by its own law and by the law of all, each scaled
to it. What a prior for each cluster could gain is the share of the error that the own law takes away beyond
noise: the same is done with clusters drawn at random.

A person's phase needs no prior: the profile depends on lags alone. His period does, if it is not the crowd's.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from rota.analysis.law_fit import LawFit, fit_law
from rota.analysis.lift import Lift, measure_lift
from rota.recipes.opening import open_log, stated
from rota.recipes.question import Question, ask_of
from rota.types import Float64Array, Int64Array

RESULT = Path(__file__).parent / "results" / "personal.json"
DAY, WIDTH, LONGEST, CLUSTERS, DRAWS = 86_400.0, 1800.0, 14 * 86_400.0, 3, 20
WHO = {"user": "user_id", "item": "item_id", "time": "timestamp"}
LOGS = {
    "fsq_nyc": {**WHO, "zone": "America/New_York"},
    "town": {
        "user": "user",
        "item": "item",
        "time": "time",
        "zone_column": "zone",
    },  # made up: people of all kinds
}


def halves(question: Question) -> tuple[list[Int64Array], list[Int64Array]]:
    """Rows of each user's training, before and after the middle of his time."""
    first, second, times = [], [], question.histories.times
    train = question.stages.train
    for start, stop in zip(train.starts, train.stops, strict=True):
        rows = np.arange(start, stop)
        middle = (times[start] + times[stop - 1]) // 2 if stop > start else 0
        first.append(rows[times[rows] <= middle])
        second.append(rows[times[rows] > middle])
    return first, second


def lift_of(question: Question, rows: list[Int64Array], users: Int64Array) -> Lift:
    """Lift of some users over some of their events."""
    chosen = [rows[user] for user in users]
    offsets = np.cumsum([0, *map(len, chosen)]).astype(np.int64)
    every, histories = np.concatenate(chosen), question.histories
    return measure_lift(
        offsets, histories.times[every], histories.items[every], unit=histories.unit, width=WIDTH,
        longest=LONGEST, groups=100,
    )  # fmt: skip


def regularity(question: Question, rows: list[Int64Array]) -> Float64Array:
    """Logarithm of how much more often a user repeats at whole days than half a day off, drawn to zero."""
    found = np.full(len(rows), np.nan)
    for user, own in enumerate(rows):
        if len(own) < 10:
            continue
        lift = lift_of(question, rows, np.array([user]))
        off = np.abs(lift.lags / DAY - np.rint(lift.lags / DAY)) * DAY
        near, far = off <= 2 * WIDTH, off >= DAY / 2 - 2 * WIDTH
        same, expected = lift.same.sum(0), lift.expected.sum(0)
        prior = 2.0  # pairs of an average user
        at, away = ((same[some].sum() + prior) / (expected[some].sum() + prior) for some in (near, far))
        found[user] = np.log(at / away)
    return found


def error(lift: Lift, law: LawFit) -> float:
    """Weighted square error of a law, scaled to a lift it has not seen."""
    weights = lift.expected.sum(0)
    seen = (lift.lags >= DAY / 2) & (weights > 0)
    wanted, said = lift.value[seen], law.fitted[seen]
    scale = np.average(wanted * said, weights=weights[seen]) / np.average(said**2, weights=weights[seen])
    return float(np.average((wanted - scale * said) ** 2, weights=weights[seen]))


def gains(
    question: Question, first: list[Int64Array], second: list[Int64Array], clusters: Any
) -> Iterator[float]:
    """Share of the error that a cluster's own law takes away from that of the law of all."""
    everyone = fit_law(lift_of(question, first, np.concatenate(clusters)), [DAY])
    for users in clusters:
        own, asked = fit_law(lift_of(question, first, users), [DAY]), lift_of(question, second, users)
        yield 1 - error(asked, own) / error(asked, everyone)


def evidence(question: Question) -> dict[str, Any]:
    """Gains by regularity and by chance, and how regular each cluster is."""
    first, second = halves(question)
    regular = regularity(question, first)
    enough = np.flatnonzero(~np.isnan(regular) & (np.array([len(own) for own in second]) >= 10))
    order = enough[np.argsort(regular[enough], kind="stable")]
    rng = np.random.default_rng(0)
    return {
        "users": len(enough),
        "regularity": [float(regular[users].mean()) for users in np.array_split(order, CLUSTERS)],
        "gain": list(gains(question, first, second, np.array_split(order, CLUSTERS))),
        "gain_by_chance": [
            list(gains(question, first, second, np.array_split(rng.permutation(enough), CLUSTERS)))
            for _ in range(DRAWS)
        ],
    }


def table(kept: dict[str, Any]) -> Table:
    """A row for each cluster."""
    shown = Table(title="what a law of its own takes from a cluster's error", header_style="bold")
    for column in ("log", "users", "regularity", "own law", "clusters by chance"):
        shown.add_column(column, justify="left" if column == "log" else "right")
    for log, found in kept.items():
        chance = np.array(found["gain_by_chance"]).ravel()
        said = (
            f"{np.median(chance):+.1%} ({np.quantile(chance, 0.05):+.1%} to {np.quantile(chance, 0.95):+.1%})"
        )
        for regular, gain in zip(found["regularity"], found["gain"], strict=True):
            shown.add_row(log, str(found["users"]), f"{regular:.2f}", f"{gain:+.1%}", said)
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="measure and keep").add_argument("logs", type=Path)
    commands.add_parser("table", help="show what is kept")
    given = parser.parse_args()
    if given.command == "run":
        found = {}
        with TemporaryDirectory() as folder:
            for name, reading in LOGS.items():
                log = given.logs / f"{name}.parquet"
                if name == "town":
                    log = Path(folder) / log.name
                    subprocess.run(
                        [sys.executable, "-m", "rota", "generate", log, "--kind", "town"], check=True
                    )
                found[name] = evidence(ask_of(open_log(str(log), stated(**reading)).log))
        RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    Console().print(table(json.loads(RESULT.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
