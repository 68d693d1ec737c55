"""Does a person's own routine justify a prior for each cluster of people? Evidence for docs/routines.md.

    python benchmarks/personal.py run LOGS
    python benchmarks/personal.py write     # the tables into docs/routines.md

Each user's events are cut in two at the middle of his time. Users are put into clusters by the first half,
and in each cluster a law is fitted to the first halves. On the second halves, which no law has seen, the lift
of each cluster is predicted by its own law and by the law of all, each scaled to it. What a prior for each
cluster could gain is the share of the error that the own law takes away beyond noise: the same is done with
clusters drawn at random. A head can learn by itself how much of its clock it uses; so it is also told what
the shape of the own law takes away: both laws scaled and moved by any level. It is asked twice:

*Regularity*: three clusters by how often two events a whole number of days apart are of one item, against
those half a day off. Laws are of a day.

*Period*: a cluster of those whose own period is a day, a week, another, and of those who have none, see
`own_periods`. Each law, that of all too, is of the periods that are found in what it is fitted to.

A person's phase needs no prior: the profile depends on lags alone.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from halves import Halves
from own_periods import KINDS, WIDTH, alike, kinds_of
from pages import write_between

from rota.analysis.law_fit import LawFit, fit_law
from rota.analysis.lift import Lift
from rota.analysis.periods import CYCLES, search_periods
from rota.analysis.rhythm import judge_rhythm
from rota.recipes.opening import open_log, stated
from rota.recipes.question import ask_of
from rota.types import Float64Array, Int64Array
from rota.units import duration_text

RESULT = Path(__file__).parent / "results" / "personal.json"
DAY, LONGEST, CLUSTERS, DRAWS = 86_400.0, 14 * 86_400.0, 3, 20
MINUS, GAINS = "\N{MINUS SIGN}", "own law | by chance | own shape | by chance"
FEWEST = 10  # users of a cluster that gets a law
WHO = {"user": "user_id", "item": "item_id", "time": "timestamp"}
LOGS = {
    "fsq_nyc": {**WHO, "zone": "America/New_York"},
    "town": {"user": "user", "item": "item", "time": "time", "zone_column": "zone"},  # made up: all kinds
}
Fit = Callable[[Lift], LawFit]
Gain = tuple[float, float] | None  # of the law, and of its shape; None of too few users


def regularity(halves: Halves) -> Float64Array:
    """Logarithm of how much more often a user repeats at whole days than half a day off, drawn to zero."""
    found = []
    for user in halves.users:
        lift = halves.lift(halves.first, np.array([user]), LONGEST)
        off = np.abs(lift.lags / DAY - np.rint(lift.lags / DAY)) * DAY
        near, far = off <= 2 * WIDTH, off >= DAY / 2 - 2 * WIDTH
        same, expected = lift.same.sum(0), lift.expected.sum(0)
        prior = 2.0  # pairs of an average user
        at, away = ((same[some].sum() + prior) / (expected[some].sum() + prior) for some in (near, far))
        found.append(np.log(at / away))
    return np.array(found)


def of_a_day(lift: Lift) -> LawFit:
    """A law of 24 hours."""
    return fit_law(lift, [DAY])


def periods_in(lift: Lift) -> list[float]:
    """Periods that are found in a lift and are not faint, in whole seconds: as `rota prior --log` does."""
    search = search_periods(lift, shortest=DAY / 4, longest=LONGEST)
    return [float(round(each.seconds)) for each in judge_rhythm(search.periods, None)[1]]


def of_what_is_found(lift: Lift) -> LawFit:
    """A law of the periods that are found."""
    return fit_law(lift, periods_in(lift))


def error(lift: Lift, law: LawFit, *, level: bool) -> float:
    """Weighted square error of a law, scaled to a lift it has not seen, and moved by any level if so told."""
    weights = lift.expected.sum(0)
    seen = (lift.lags >= DAY / 2) & (weights > 0)
    root = np.sqrt(weights[seen] / weights[seen].sum())
    said = np.stack([law.fitted[seen], *([np.ones(seen.sum())] if level else [])], axis=1) * root[:, None]
    wanted = lift.value[seen] * root
    scale, *_ = np.linalg.lstsq(said, wanted)
    return float(((wanted - said @ scale) ** 2).sum())


def gains(halves: Halves, clusters: Sequence[Int64Array], fit: Fit, longest: float) -> list[Gain]:
    """Shares of the error that a cluster's own law, and its shape, take away from those of the law of all."""
    everyone = fit(halves.lift(halves.first, np.sort(np.concatenate(clusters)), longest))
    found: list[Gain] = []
    for users in clusters:
        if len(users) < FEWEST:
            found.append(None)
            continue
        own = fit(halves.lift(halves.first, users, longest))
        asked = halves.lift(halves.second, users, longest)
        left = [error(asked, own, level=free) / error(asked, everyone, level=free) for free in (False, True)]
        found.append((1 - left[0], 1 - left[1]))
    return found


def beside_chance(halves: Halves, clusters: Sequence[Int64Array], fit: Fit, longest: float) -> dict[str, Any]:
    """Gains of clusters, and of as many users drawn at random."""
    rng, ends = np.random.default_rng(0), np.cumsum([len(users) for users in clusters])[:-1]
    drawn = [np.split(rng.permutation(halves.users), ends) for _ in range(DRAWS)]
    return {
        "users": [len(users) for users in clusters],
        "gain": gains(halves, clusters, fit, longest),
        "gain_by_chance": [gains(halves, each, fit, longest) for each in drawn],
    }


def by_regularity(halves: Halves) -> dict[str, Any]:
    """What laws of three clusters gain, and how regular each is."""
    regular = regularity(halves)
    parts = np.array_split(np.argsort(regular, kind="stable"), CLUSTERS)
    means = [float(regular[part].mean()) for part in parts]
    return {
        "regularity": means,
        **beside_chance(halves, [halves.users[part] for part in parts], of_a_day, LONGEST),
    }


def by_period(halves: Halves, people: Sequence[str] | None) -> dict[str, Any]:
    """What laws of those whose period is alike gain, and how many have it again in the second half."""
    own, again = halves.periods(halves.first, sure=True), halves.periods(halves.second, sure=False)
    kinds, longest = kinds_of(own), CYCLES * LONGEST + WIDTH
    parts = [np.flatnonzero(kinds == kind) for kind in range(len(KINDS))]
    clusters = [halves.users[part] for part in parts]
    lifts = [
        halves.lift(halves.first, users, longest) if len(users) >= FEWEST else None
        for users in [*clusters, halves.users]
    ]
    found: dict[str, Any] = {
        "again": [int(alike(own[part], again[part]).sum()) for part in parts],
        "found": [None if lift is None else periods_in(lift) for lift in lifts],
        "another_hours": sorted((own[parts[2]] / 3600).round(1).tolist()),
        **beside_chance(halves, clusters, of_what_is_found, longest),
    }
    if people is not None:
        told = Counter((people[user], KINDS[kind]) for user, kind in zip(halves.users, kinds, strict=True))
        found["people"] = {
            who: {kind: told[who, kind] for kind in KINDS} for who in sorted({one for one, _ in told})
        }
        shifts = np.array([people[user] == "shifts" for user in halves.users])
        found["shifts_found"] = int(alike(own[shifts], 36 * 3600.0).sum())
    return found


def told_of(found: Mapping[str, Any], cluster: int) -> str:
    """Cells of what a cluster's law and its shape gain; and as many by chance, where nine of ten lie."""
    if found["gain"][cluster] is None:
        return "| | |"
    cells = []
    for part, gain in enumerate(found["gain"][cluster]):
        drawn = [each[cluster][part] for each in found["gain_by_chance"]]
        low, middle, high = np.quantile(drawn, [0.05, 0.5, 0.95])
        cells += [f"{gain:.0%}", f"{middle:.0%} ({low:.0%} to {high:.0%})"]
    return " | ".join(cells).replace("-", MINUS).replace("%", " %")


def regularity_section(kept: Mapping[str, Any]) -> str:
    """A row for each third of the users."""
    lines = [f"| log | users | regularity | {GAINS} |", "|---|--:|--:|--:|--:|--:|--:|"]
    for log, told in kept.items():
        found = told["regularity"]
        for place, (users, regular) in enumerate(zip(found["users"], found["regularity"], strict=True)):
            mean = f"{regular:.2f}".replace("-", MINUS)
            lines.append(f"| `{log}` | {users} | {mean} | {told_of(found, place)} |")
    return "\n".join(lines)


def period_section(kept: Mapping[str, Any]) -> str:
    """A row for each kind of period, and one for all."""
    lines = [
        f"| log | own period | users | again | found in them | {GAINS} |",
        "|---|---|--:|--:|---|--:|--:|--:|--:|",
    ]
    for log, told in kept.items():
        found = told["period"]
        for place, (kind, users) in enumerate(zip(KINDS, found["users"], strict=True)):
            periods = found["found"][place]
            names = "too few" if periods is None else listed(periods)
            again = "\N{EN DASH}" if kind == "none" else str(found["again"][place])
            lines.append(f"| `{log}` | {kind} | {users} | {again} | {names} | {told_of(found, place)} |")
        lines.append(f"| `{log}` | all | {sum(found['users'])} | | {listed(found['found'][-1])} | | | | |")
    return "\n".join(lines)


def listed(periods: Sequence[float]) -> str:
    """Periods, the strongest first."""
    return ", ".join(duration_text(period) for period in periods) or "none"


def measure(logs: Path, name: str, folder: Path) -> dict[str, Any]:
    """Both answers of a log, or of the town, which is made in the folder."""
    path, people = (folder if name == "town" else logs) / f"{name}.parquet", None
    if name == "town":
        subprocess.run([sys.executable, "-m", "rota", "generate", path, "--kind", "town"], check=True)
    question = ask_of(open_log(str(path), stated(**LOGS[name])).log)
    if name == "town":
        who = pq.read_table(path)["user"].to_pylist()
        kinds = pq.read_table(path.with_suffix(".truth.parquet"))["kind"].to_pylist()
        known = {str(user): kind for user, kind in zip(who, kinds, strict=True)}
        people = [known[str(user)] for user in question.log.user_ids.to_pylist()]
    halves = Halves(question)
    return {"regularity": by_regularity(halves), "period": by_period(halves, people)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="measure and keep").add_argument("logs", type=Path)
    commands.add_parser("write", help="write what is kept into docs/routines.md")
    given = parser.parse_args()
    if given.command == "run":
        with TemporaryDirectory() as folder:
            found = {name: measure(given.logs, name, Path(folder)) for name in LOGS}
        RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        return
    kept = json.loads(RESULT.read_text(encoding="utf-8"))
    write_between("routines.md", "regularity", regularity_section(kept))
    write_between("routines.md", "own periods", period_section(kept))


if __name__ == "__main__":
    main()
