"""The verdict on worlds of which all is known: no false routine, and the periods that people live by."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from rota.analysis.lift import measure_lift
from rota.analysis.periods import find_periods
from rota.analysis.recency import find_recency
from rota.analysis.rhythm import Rhythm, judge_rhythm
from rota.data.worlds import World
from rota.data.worlds.presets import preset_world
from rota.types import Duration

SEEDS = 20
Found = tuple[Rhythm, list[float]]


def verdict(world: World, width: Duration = "30min") -> Found:
    """Verdict and periods in hours."""
    table = pa.Table.from_batches(world.batches())
    counts = np.unique(table["user"].to_numpy(), return_counts=True)[1]
    lift = measure_lift(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), table["time"].to_numpy(),
        table["item"].to_numpy(), width=width, longest=world.span,
    )  # fmt: skip
    found = find_periods(lift)
    told, periods, _ = judge_rhythm(found, find_recency(lift, [each.seconds for each in found]))
    return told, [each.seconds / 3600 for each in periods]


def small(kind: str, seeds: int = SEEDS, **changed: object) -> list[Found]:
    world = replace(preset_world(kind), users=200, events=20_000, span="60d", **changed)  # type: ignore[arg-type]
    return [verdict(replace(world, seed=seed)) for seed in range(seeds)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("aimless", {Rhythm.NOTHING}),
        ("repeating", {Rhythm.RECENCY}),
        ("day_before", {Rhythm.NOTHING, Rhythm.RECENCY}),
    ],
)
@pytest.mark.parametrize(("hours", "seeds"), [("evening", SEEDS), ("office", 5)])
def test_no_routine_is_found_where_nobody_has_one(
    kind: str, told: set[Rhythm], hours: str, seeds: int
) -> None:
    found = small(kind, seeds, hours=hours)
    assert sum(each[0] == Rhythm.ROUTINE for each in found) <= 1
    assert sum(each[0] in told for each in found) >= len(found) - 1


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "hours"), [("daily", 24.0), ("weekly", 168.0), ("shifts", 36.0)])
def test_each_routine_is_found_and_no_other(kind: str, hours: float) -> None:
    found = small(kind)
    right = [told == Rhythm.ROUTINE and len(periods) == 1 for told, periods in found]
    assert sum(right) >= len(found) - 1
    for _, periods in found:
        assert periods[0] == pytest.approx(hours, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("period", ["31h", "42.5h", "8d"])
def test_shifts_of_any_length_are_found(period: str) -> None:
    world = preset_world("shifts")
    kinds = tuple(replace(kind, period=period) for kind in world.kinds)  # type: ignore[call-arg]
    for seed in range(3):
        told, periods = verdict(replace(world, seed=seed, users=200, events=20_000, span="60d", kinds=kinds))
        assert told == Rhythm.ROUTINE
        hours = float(period[:-1]) * (24 if period[-1] == "d" else 1)
        assert periods == [pytest.approx(hours, rel=0.02)]


@pytest.mark.slow
def test_a_town_has_the_periods_of_its_people() -> None:
    for seed in range(3):
        told, periods = verdict(replace(preset_world("town"), seed=seed, span="90d"), "1h")
        assert told == Rhythm.ROUTINE
        assert periods[0] == pytest.approx(24.0, rel=0.01)
        for each in periods[1:]:
            assert each in (pytest.approx(168.0, rel=0.01), pytest.approx(36.0, rel=0.01))
