"""The verdict on real logs, and their lift at the lags where a first look had read it."""

from pathlib import Path

import numpy as np
import pytest

from rota.analysis.rhythm import Rhythm
from rota.data.log import Log
from rota.data.reading import read_log
from rota.recipes.routines import lift_of_log, routines_of_log

pytestmark = [pytest.mark.slow, pytest.mark.data]
HOURS = (12, 23, 24, 25, 36, 168)
# Lift over the hour from each of HOURS on, by rough prototypes with squared shares, and the verdict.
LOGS: dict[str, tuple[list[float], Rhythm, list[float]]] = {
    "fsq_nyc": ([0.62, 2.00, 2.18, 1.36, 0.72, 2.36], Rhythm.ROUTINE, [24.0]),
    "flights": ([1.40, 0.72, 2.20, 1.00, 1.01, 1.93], Rhythm.ROUTINE, [24.0]),
    "email_eu": ([1.58, 1.24, 1.23, 1.20, 1.43, 1.14], Rhythm.RECENCY, []),
    "mathoverflow": ([2.53, 1.92, 1.87, 1.69, 1.54, 1.06], Rhythm.RECENCY, []),
    "so_badges": ([1.00, 1.02, 1.00, 1.07, 0.95, 1.06], Rhythm.NOTHING, []),
}
HALF_LIVES = {"mathoverflow": (4.0, 11.0), "flights": (12.0, 28.0), "fsq_nyc": (20 * 24.0, 60 * 24.0)}


def opened(name: str, folder: Path) -> Log:
    if name == "flights":
        return read_log("flights")
    columns = {"user": "user_id", "item": "item_id", "time": "timestamp"}
    more = {"email_eu": {"unit": "s", "epoch": "unknown"}, "fsq_nyc": {"zone": "America/New_York"}}
    return read_log(folder / f"{name}.parquet", **columns, **more.get(name, {}))


@pytest.mark.parametrize("name", LOGS)
def test_a_real_log(name: str, shared_data: Path) -> None:
    log, (lifts, told, hours) = opened(name, shared_data), LOGS[name]
    lift = lift_of_log(log, width="2min", longest="8d")
    same, expected = lift.same.sum(axis=0), lift.expected.sum(axis=0)
    hour = [slice(30 * each - 1, 30 * each + 29) for each in HOURS]
    read = np.array([same[part].sum() / expected[part].sum() for part in hour])
    # exact chance is a little less than squared shares, so the lift a little more; prototypes were rough
    np.testing.assert_allclose(read, lifts, rtol=0.12)
    found = routines_of_log(log)
    assert found.verdict == told
    assert [each.seconds / 3600 for each in found.periods] == hours
    assert found.lift.share == 1.0
    if name in HALF_LIVES:
        low, high = HALF_LIVES[name]
        assert found.recency is not None
        assert low < found.recency.half_life / 3600 < high
    if name == "fsq_nyc":  # peaks about an hour wide, and a week that is there but faint
        assert 0.5 < 2 * found.half_widths[0] / 3600 < 1.5
        assert [each.seconds / 3600 for each in found.faint] == [168.0]
    if name == "flights":  # timetables
        assert 2 * found.half_widths[0] / 3600 < 0.5
    if name == "so_badges":
        assert found.recency is None
