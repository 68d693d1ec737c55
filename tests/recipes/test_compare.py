"""rota compare, end to end: its files hold what the design pins, and can be computed again from the log."""

import json
import math
import re
from itertools import pairwise
from pathlib import Path

import matplotlib.image
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from compared import ARMS, OPTIONS, Compared

from rota import cli
from rota.batch import TimeAccess
from rota.data.reading import read_log
from rota.evaluation.loading import load_comparison
from rota.evaluation.protocol import ask
from rota.evaluation.seen import SeenItems
from rota.recipes.plan import Plan
from rota.recipes.question import ask_of
from rota.tables import from_table, to_table
from rota.toml import read_recipe
from rota.training.checkpoint import load_checkpoint
from town import by_user

METRICS = {
    "HR@1": lambda rank: float(rank == 1),
    "HR@10": lambda rank: float(1 <= rank <= 10),
    "NDCG@10": lambda rank: 1 / math.log2(1 + rank) if 1 <= rank <= 10 else 0.0,
    "MRR": lambda rank: 1 / rank if rank else 0.0,
}
BASELINES = ("popularity", "popularity_now", "frequency", "routine")
RUNS = [(arm, seed) for arm in ARMS for seed in (0, 1)] + [(arm, None) for arm in BASELINES]


@pytest.fixture(scope="module")
def results(compared: Compared) -> dict:
    return json.loads((compared.out / "results.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def ranks(compared: Compared) -> dict:
    """For each (arm, seed), users with their target and rank."""
    found: dict = {}
    for row in pa.parquet.read_table(compared.out / "ranks.parquet").to_pylist():
        found.setdefault((row["arm"], row["seed"]), {})[row["user"]] = (row["target"], row["rank"])
    return found


def test_results_have_the_pinned_shape(compared: Compared, results: dict) -> None:
    assert list(results) == [
        "schema", "time_access", "seen", "control", "split", "data", "versions", "arms", "paired"
    ]  # fmt: skip
    assert results["schema"] == 1
    assert (results["time_access"], results["seen"], results["control"]) == ("request", "keep", "rope")
    assert set(results["split"]) == {"name", "hash"}
    assert results["split"]["name"] == "leave_one_out"
    assert re.fullmatch("[0-9a-f]{64}", results["split"]["hash"])
    assert {"rota", "torch", "numpy"} <= set(results["versions"])
    assert [(run["arm"], run["seed"]) for run in results["arms"]] == RUNS
    for run in results["arms"]:
        assert set(run) == {"arm", "seed", "metrics"} | ({"validation"} if run["arm"] in ARMS else set())
        assert all(0 < score <= 1 for score in run.get("validation", [])), run
        assert len(run.get("validation", [0, 0])) == 2  # its epochs
    assert all(list(run["metrics"]) == list(METRICS) for run in results["arms"])
    others = [arm for arm in (*ARMS, *BASELINES) if arm != "rope"]
    assert [(pair["arm"], pair["metric"]) for pair in results["paired"]] == [
        (arm, metric) for arm in others for metric in METRICS
    ]
    assert all(
        set(pair) == {"arm", "control", "metric", "diff", "lo", "hi"} and pair["control"] == "rope"
        for pair in results["paired"]
    )


def test_the_data_are_described_as_counted_by_hand(compared: Compared, results: dict) -> None:
    histories = by_user(compared.rows)
    kept = [compared.rows[row] for rows in histories.values() for row in rows]
    data = results["data"]
    assert data["rows"] == len(compared.rows)
    assert data["users"] == len(histories) == 30
    assert data["items"] == len({event.item for event in kept})
    assert data["unit"] == "s"
    assert data["events"] == len(kept)
    assert re.fullmatch("[0-9a-f]{64}", data["fingerprint"])
    ties = sum(
        compared.rows[one].when == compared.rows[two].when
        for rows in histories.values()
        for one, two in pairwise(rows)
    )
    assert data["ties"] == ties > 0


def test_every_run_answers_for_every_user_with_the_right_target(compared: Compared, ranks: dict) -> None:
    table = pa.parquet.read_table(compared.out / "ranks.parquet")
    assert table.column_names == ["arm", "seed", "user", "target", "rank"]
    assert list(ranks) == RUNS
    wanted = {user: compared.rows[rows[-1]].item for user, rows in by_user(compared.rows).items()}
    for answers in ranks.values():
        assert {user: target for user, (target, _) in answers.items()} == wanted
    assert len(table) == len(RUNS) * len(wanted)


def test_metrics_are_means_over_the_ranks(results: dict, ranks: dict) -> None:
    for run in results["arms"]:
        values = [rank or 0 for _, rank in ranks[run["arm"], run["seed"]].values()]
        for name, worth in METRICS.items():
            assert run["metrics"][name] == pytest.approx(sum(map(worth, values)) / len(values), abs=1e-12)


def test_paired_differences_are_between_the_same_users(results: dict, ranks: dict) -> None:
    rng = np.random.default_rng(7)

    def mean_over_seeds(arm: str, metric: str) -> np.ndarray:
        seeds = [answers for (name, _), answers in ranks.items() if name == arm]
        users = list(seeds[0])
        return np.mean([[METRICS[metric](one[user][1] or 0) for user in users] for one in seeds], axis=0)

    for pair in results["paired"]:
        by_hand = mean_over_seeds(pair["arm"], pair["metric"]) - mean_over_seeds("rope", pair["metric"])
        assert pair["diff"] == pytest.approx(by_hand.mean(), abs=1e-12)
        again = by_hand[rng.integers(0, len(by_hand), (4000, len(by_hand)))].mean(axis=1)
        lo, hi = np.quantile(again, [0.025, 0.975])
        slack = 0.1 * (hi - lo) + 1 / 60  # draws of our own; and a hit rate moves in steps of 1/60
        assert pair["lo"] == pytest.approx(lo, abs=slack)
        assert pair["hi"] == pytest.approx(hi, abs=slack)


def test_popularity_is_what_counting_says(compared: Compared, ranks: dict) -> None:
    histories = by_user(compared.rows)
    counts: dict[int, int] = {}
    for rows in histories.values():
        for row in rows:
            counts.setdefault(compared.rows[row].item, 0)
        for row in rows[:-1]:
            counts[compared.rows[row].item] += 1
    for target, rank in ranks["popularity", None].values():
        assert rank == sum(count >= counts[target] for count in counts.values())


@pytest.mark.parametrize("name", ["attention.png", "learning.png", "prior.png"])
def test_pictures_show_something(compared: Compared, name: str) -> None:
    picture = matplotlib.image.imread(compared.out / name)
    height, width, _ = picture.shape
    assert min(height, width) > 300
    assert picture[..., :3].std() > 0.02


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_kept_model_gives_its_ranks_again(compared: Compared, ranks: dict, arm: str, seed: int) -> None:
    blueprint, network = load_checkpoint(compared.out / "models" / f"{arm}-seed{seed}")
    question = ask_of(read_log(compared.parquet, user="user", item="item", time="when"))
    again = ask(
        network, question.histories, question.stages.test, access=TimeAccess.REQUEST, seen=SeenItems.KEEP
    )
    assert (blueprint.seed, blueprint.time_access, blueprint.unit) == (seed, "request", "s")
    kept = ranks[arm, seed]
    assert [kept[user][1] for user in question.users.to_pylist()] == again.tolist()


def test_the_folder_holds_this_and_nothing_else(compared: Compared) -> None:
    assert sorted(path.name for path in compared.out.iterdir()) == [
        "attention.png", "learning.png", "models", "plan.toml", "prior.png", "ranks.parquet", "results.json"
    ]  # fmt: skip
    models = sorted(path.name for path in (compared.out / "models").iterdir())
    assert models == sorted(f"{arm}-seed{seed}" for arm in ARMS for seed in (0, 1))


def test_the_plan_is_kept_and_reads_back(compared: Compared) -> None:
    plan = read_recipe(compared.out / "plan.toml", Plan)
    assert plan.arms == ARMS
    assert plan == from_table(to_table(plan), Plan)


def test_who_may_read_one_file_may_read_all(compared: Compared) -> None:
    modes = {path.stat().st_mode for path in compared.out.rglob("*") if path.is_file()}
    assert modes == {compared.parquet.stat().st_mode}


def test_a_comparison_is_read_back(compared: Compared, results: dict) -> None:
    loaded = load_comparison(compared.out).to_json()
    assert loaded == results


@pytest.mark.slow
def test_the_same_log_as_csv_in_another_folder_gives_the_same(
    compared: Compared, results: dict, tmp_path: Path
) -> None:
    out = tmp_path / "again"
    assert cli.run(["compare", str(compared.csv), *OPTIONS.split(), "--out", str(out)]) == 0
    again = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert again["data"].pop("name") == "town.csv"
    assert again == results | {
        "data": {key: value for key, value in results["data"].items() if key != "name"}
    }
    tables = [pa.parquet.read_table(folder / "ranks.parquet") for folder in (compared.out, out)]
    assert tables[0].equals(tables[1])


def test_the_same_folder_is_refused_and_left_as_it_is(
    compared: Compared, capsys: pytest.CaptureFixture[str]
) -> None:
    def content() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in compared.out.rglob("*") if path.is_file()}

    before = content()
    given = ["compare", str(compared.parquet), *OPTIONS.split(), "--out", str(compared.out)]
    assert cli.run(given) == 2
    assert "earlier result is never overwritten" in capsys.readouterr().err
    assert content() == before


def test_what_it_prints_is_what_it_found(compared: Compared, results: dict) -> None:
    said = compared.printed
    assert "unit       s, inferred from the magnitude" in said
    assert "asked      30 users with 5 events or more, leave_one_out" in said
    for run in results["arms"]:
        if run["seed"] is not None:
            assert f"✓ {run['arm']}, seed {run['seed']}: best epoch" in said
    routine = next(run["metrics"]["MRR"] for run in results["arms"] if run["arm"] == "routine")
    assert re.search(rf"routine .*{routine:.3f}".replace("0.", r"\."), said)
    for path in compared.out.iterdir():
        assert str(path) in said
