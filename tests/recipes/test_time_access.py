"""Who sees the request time, and what training sees: what is hidden may change and nothing is felt."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import torch

from rota import cli
from rota.batch import TimeAccess
from rota.data.log import Log
from rota.data.reading import read_log
from rota.models.transformer import Transformer
from rota.recipes.comparison import compare
from rota.recipes.plan import Plan
from rota.recipes.protocol import Protocol
from rota.recipes.study import Study
from rota.training.checkpoint import load_checkpoint
from rota.training.recipe import Training
from town import HOUR, Event, by_user, columns, town

ROWS = town(users=20, days=6)
CLOCKS = ("none", "rope+clockrope", "trope")


def log(rows: list[Event]) -> Log:
    return read_log(pa.table(columns(rows)), user="user", item="item", time="when")


def study(
    rows: list[Event], access: str, arms: tuple[str, ...], out: Path | None = None, epochs: int = 1
) -> Study:
    protocol = Protocol(TimeAccess(access), training=Training(epochs=epochs, batch_size=8))
    return compare(
        log(rows), Plan(arms, seeds=1, model=Transformer(embedding_dim=16), protocol=protocol), out=out
    )


def ranks(found: Study) -> dict[str, list[int]]:
    return {run.arm: run.ranks.tolist() for run in found.comparison.runs}


def changed(change: Callable[[int, int, Event], Event]) -> list[Event]:
    """The log with every event changed; the change is told its place (-1 is the user's last) and user."""
    rows = list(ROWS)
    for user, own in enumerate(by_user(ROWS).values()):
        for place, row in enumerate(own):
            rows[row] = change(place - len(own), user, rows[row])
    assert by_user(rows) == by_user(ROWS)  # nobody's order changes
    return rows


def later_target(place: int, user: int, event: Event) -> Event:
    """The event to be predicted happens some hours later, at another time of day."""
    return replace(event, when=event.when + (5 + user) * HOUR) if place == -1 else event


@pytest.mark.parametrize(("access", "arms"), [("history", CLOCKS), ("none", ("none", "rope"))])
def test_the_request_time_changes_no_rank_where_it_is_hidden(access: str, arms: tuple[str, ...]) -> None:
    before, after = (ranks(study(rows, access, arms)) for rows in (ROWS, changed(later_target)))
    clocks = {"popularity_now", "routine"} if access == "history" else set()
    assert set(before) == {*arms, "popularity", "frequency"} | clocks
    assert after == before


def test_the_request_time_changes_ranks_where_it_is_seen() -> None:
    before, after = (ranks(study(rows, "request", CLOCKS)) for rows in (ROWS, changed(later_target)))
    for arm in ("popularity", "frequency"):
        assert after[arm] == before[arm]
    for arm in (*CLOCKS, "popularity_now", "routine"):
        assert after[arm] != before[arm]


def test_without_a_clock_no_time_changes_any_rank() -> None:
    rows = changed(
        lambda place, user, event: replace(event, when=2 * event.when - ROWS[0].when + user * HOUR)
    )
    arms = ("none", "rope")
    assert ranks(study(rows, "none", arms, epochs=2)) == ranks(study(ROWS, "none", arms, epochs=2))


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_checkpoint(folder)[1].state_dict()


@pytest.mark.parametrize("access", [pytest.param("history", marks=pytest.mark.slow), "request"])
def test_training_never_sees_validation_or_test(access: str, tmp_path: Path) -> None:
    def moved(place: int, user: int, event: Event) -> Event:
        later = event.when + (30 + user) * HOUR
        return replace(event, item=100 + (event.item + user) % 25, when=later) if place >= -2 else event

    rows = changed(moved)
    assert log(rows).item_ids.equals(log(ROWS).item_ids)  # the catalogue is known beforehand
    study(ROWS, access, CLOCKS, tmp_path / "before")
    study(rows, access, CLOCKS, tmp_path / "after")
    for arm in CLOCKS:
        before, after = (weights(tmp_path / name / "models" / f"{arm}-seed0") for name in ("before", "after"))
        assert all(torch.equal(before[name], after[name]) for name in before)


def test_training_does_see_what_it_learns_from(tmp_path: Path) -> None:
    rows = changed(
        lambda place, user, event: replace(event, when=event.when - 1) if (place, user) == (-3, 0) else event
    )
    study(ROWS, "request", ("trope",), tmp_path / "before")
    study(rows, "request", ("trope",), tmp_path / "after")
    before, after = (weights(tmp_path / name / "models" / "trope-seed0") for name in ("before", "after"))
    assert not all(torch.equal(before[name], after[name]) for name in before)


@pytest.mark.slow
@pytest.mark.parametrize("seen", ["keep", "drop"])
def test_time_access_none_leaves_the_routine_out(
    seen: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pa.parquet.write_table(pa.table(columns(ROWS)), tmp_path / "town.parquet")
    options = (
        "--user user --item item --time when --arms none,rope --seeds 1 --epochs 1 --embedding-dim 16 "
        f"--time-access none --seen {seen} --out {tmp_path / 'out'}"
    )
    assert cli.run(["compare", str(tmp_path / "town.parquet"), *options.split()]) == 0
    assert f"time access none, seen items {seen}" in " ".join(capsys.readouterr().out.split())
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "attention.png", "learning.png", "models", "plan.toml", "ranks.parquet", "results.json"
    ]  # fmt: skip
    table = pa.parquet.read_table(tmp_path / "out" / "ranks.parquet").to_pylist()
    assert {row["arm"] for row in table} == {"none", "rope", "popularity", "frequency"}  # no clock
    own = by_user(ROWS)
    for row in table:
        known = {ROWS[past].item for past in own[row["user"]][:-1]}
        assert (row["rank"] is None) == (seen == "drop" and row["target"] in known)
    assert np.any([row["rank"] is not None for row in table])
