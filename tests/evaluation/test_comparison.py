"""A comparison: figures by hand, the pinned files, and that nothing is overwritten."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rota.errors import InputError
from rota.evaluation import Comparison, Run, load_comparison, paired_difference, require_free

RANKS = {
    ("rope", 0): [1, 2, 4, 0],
    ("rope", 1): [1, 1, 20, 2],
    ("none", 0): [2, 2, 2, 2],
    ("none", 1): [1, 5, 0, 1],
    ("popularity", None): [10, 11, 12, 1],
}


def comparison(**changes: object) -> Comparison:
    made = Comparison(
        time_access="request",
        seen="keep",
        control="none",
        split_name="leave_one_out",
        split_hash="abc",
        data={"rows": np.int64(30), "users": 4, "items": 40, "ties": 0, "unit": "s", "fingerprint": "f00"},
        versions={"rota": "0.1.0"},
        users=["ann", "bob", "cyd", "dée"],
        targets=np.array([7, 8, 9, 7]),
        runs=[Run(arm, seed, np.array(ranks)) for (arm, seed), ranks in RANKS.items()],
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_metric_by_seed_and_user() -> None:
    np.testing.assert_array_equal(comparison().metric("rope", "HR@1"), [[1, 0, 0, 0], [1, 1, 0, 0]])
    np.testing.assert_array_equal(comparison().metric("popularity", "MRR"), [[1 / 10, 1 / 11, 1 / 12, 1]])


def test_rows_by_hand() -> None:
    rows = {row.arm: row for row in comparison().rows()}
    assert list(rows) == ["rope", "none", "popularity"]
    assert [rows[arm].seeds for arm in rows] == [2, 2, 0]
    hit = rows["rope"].metrics["HR@1"]
    assert hit.mean == pytest.approx((1 / 4 + 2 / 4) / 2)
    assert hit.spread == pytest.approx(np.sqrt(2 * (1 / 8) ** 2))
    assert hit.paired is not None
    assert hit.paired.diff == pytest.approx(3 / 8 - (0 + 2 / 4) / 2)
    assert rows["none"].metrics["HR@1"].paired is None
    assert rows["popularity"].metrics["MRR"].spread is None
    assert list(rows["none"].metrics) == ["HR@1", "HR@10", "NDCG@10", "MRR"]


def sets() -> Comparison:
    """Ann is asked twice, bob once; for one, two and three targets."""
    return comparison(
        users=["ann", "bob", "ann"],
        targets=["x", "y", "z", "x", "y", "w"],
        offsets=np.array([0, 1, 3, 6]),
        metrics=(),
        runs=[
            Run("none", 0, np.array([2, 1, 3, 0, 4, 2])),
            Run("rope", 0, np.array([1, 9, 3, 1, 3, 11])),
            Run("popularity", None, np.array([3, 3, 3, 3, 3, 3])),
        ],
    )


def test_questions_of_one_user_are_averaged_first() -> None:
    made = sets()
    assert made.metrics == ("HR@1", "HR@10", "NDCG@10", "MRR", "Recall@10", "MAP")
    np.testing.assert_allclose(made.metric("none", "MRR"), [[(1 / 2 + 1 / 2) / 2, 1]])
    np.testing.assert_allclose(made.metric("rope", "Recall@10"), [[(1 + 2 / 3) / 2, 1]])
    mine = [(1 + (1 + 2 / 3 + 3 / 11) / 3) / 2, (1 / 3 + 2 / 9) / 2]  # of ann, of bob
    other = [(1 / 2 + (1 / 2 + 2 / 4) / 3) / 2, (1 + 2 / 3) / 2]
    assert made.paired["rope", "MAP"].diff == pytest.approx(np.mean(mine) - np.mean(other))
    entry = made.to_json()["arms"][1]["metrics"]  # type: ignore[index]
    assert entry["MRR"] == pytest.approx((1 + 1 / 3) / 2)


def test_one_target_each_is_the_case_without_offsets() -> None:
    plain, same = comparison(), comparison(offsets=np.arange(5))
    assert same.offsets is None
    assert same.to_json() == plain.to_json()
    assert same.metrics == ("HR@1", "HR@10", "NDCG@10", "MRR")


def test_questions_come_back_from_their_folder(tmp_path: Path) -> None:
    made = sets()
    made.save(tmp_path)
    table = pq.read_table(tmp_path / "ranks.parquet")
    assert table.column_names == ["arm", "seed", "user", "target", "rank", "question"]
    first = table.slice(0, 6).to_pydict()
    assert first["user"] == ["ann", "bob", "bob", "ann", "ann", "ann"]
    assert first["question"] == [0, 1, 1, 2, 2, 2]
    back = load_comparison(tmp_path)
    assert back.to_json() == made.to_json()
    assert back.users.to_pylist() == ["ann", "bob", "ann"]
    np.testing.assert_array_equal(back.offsets, [0, 1, 3, 6])
    for wrong, message in (([0, 1, 0, 2, 2, 2] * 3, "out of order"), (["a"] * 18, "no integers")):
        other = table.set_column(5, "question", pa.array(wrong))
        pq.write_table(other, tmp_path / "ranks.parquet")
        with pytest.raises(InputError, match=message):
            load_comparison(tmp_path)


def test_every_arm_but_the_control_is_paired_on_every_metric() -> None:
    made = comparison(metrics=("HR@10", "MRR"))
    assert list(made.paired) == [(a, m) for a in ("rope", "popularity") for m in ("HR@10", "MRR")]
    for (arm, name), found in made.paired.items():
        assert found == paired_difference(made.metric(arm, name), made.metric("none", name))


def test_a_control_alone_has_no_pairs() -> None:
    made = comparison(runs=[Run("none", 0, np.array([1, 2, 3, 0]))])
    assert made.paired == {}
    assert [row.arm for row in made.rows()] == ["none"]


def test_json_has_the_pinned_schema() -> None:
    found = comparison(metrics=("HR@1",)).to_json()
    assert list(found) == [
        "schema", "time_access", "seen", "control", "split", "data", "versions", "arms", "paired",
    ]  # fmt: skip
    assert found["split"] == {"name": "leave_one_out", "hash": "abc"}
    assert found["arms"] == [
        {"arm": "rope", "seed": 0, "metrics": {"HR@1": 0.25}},
        {"arm": "rope", "seed": 1, "metrics": {"HR@1": 0.5}},
        {"arm": "none", "seed": 0, "metrics": {"HR@1": 0.0}},
        {"arm": "none", "seed": 1, "metrics": {"HR@1": 0.5}},
        {"arm": "popularity", "seed": None, "metrics": {"HR@1": 0.25}},
    ]
    paired = found["paired"]
    assert isinstance(paired, list)
    assert [list(entry) for entry in paired] == [["arm", "control", "metric", "diff", "lo", "hi"]] * 2
    assert paired[0]["diff"] == pytest.approx(1 / 8)


def test_files(tmp_path: Path) -> None:
    comparison().save(tmp_path / "a" / "b")
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == ["ranks.parquet", "results.json"]
    written = json.loads((tmp_path / "a" / "b" / "results.json").read_text(encoding="utf-8"))
    assert written["data"]["rows"] == 30
    table = pq.read_table(tmp_path / "a" / "b" / "ranks.parquet")
    assert table.column_names == ["arm", "seed", "user", "target", "rank"]
    assert table.schema.field("seed").type == table.schema.field("rank").type == pa.int64()
    rows = [tuple(row.values()) for row in table.to_pylist()]
    expected = [
        (arm, seed, user, target, rank or None)
        for (arm, seed), ranks in RANKS.items()
        for user, target, rank in zip(["ann", "bob", "cyd", "dée"], [7, 8, 9, 7], ranks, strict=True)
    ]
    assert rows == expected


def test_round_trip(tmp_path: Path) -> None:
    made = comparison(metrics=("MRR", "HR@3"), users=pa.chunked_array([[5, 6], [7, 8]]))
    made.save(tmp_path)
    back = load_comparison(tmp_path)
    assert back.to_json() == made.to_json()
    assert (back.users, back.targets) == (made.users, made.targets)
    assert back.users.to_pylist() == [5, 6, 7, 8]
    for ours, theirs in zip(made.runs, back.runs, strict=True):
        np.testing.assert_array_equal(ours.ranks, theirs.ranks)


def test_learning_curves_come_back(tmp_path: Path) -> None:
    runs = [
        Run("none", 0, np.array([1, 2, 3, 4]), (0.25, 0.5)),
        Run("popularity", None, np.array([1, 2, 3, 4])),
    ]
    made = comparison(runs=runs)
    assert "validation" not in made.to_json()["arms"][1]  # type: ignore[index]
    made.save(tmp_path)
    assert [run.validation for run in load_comparison(tmp_path).runs] == [(0.25, 0.5), ()]


@pytest.mark.parametrize("name", ["results.json", "ranks.parquet"])
def test_an_earlier_run_is_never_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("precious")
    with pytest.raises(InputError, match=rf"{name} exists already and is not overwritten"):
        comparison().save(tmp_path)
    with pytest.raises(InputError, match="choose another folder"):
        require_free(tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["precious"]


def test_further_files_may_be_refused_too(tmp_path: Path) -> None:
    (tmp_path / "prior.png").write_text("precious")
    require_free(tmp_path)
    with pytest.raises(InputError, match=r"prior.png exists already and is not overwritten"):
        require_free(tmp_path, ("attention.png", "prior.png"))
    (tmp_path / "results.json").write_text("precious")
    with pytest.raises(InputError, match=r"results.json exists already"):
        require_free(tmp_path, ("attention.png",))


def test_a_failed_write_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(table: pa.Table, path: Path) -> None:
        path.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(OSError, match="disk full"):
        comparison().save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="is a file: expected a folder"):
        comparison().save(tmp_path / "out")


def test_ranks_of_a_run_are_its_own_and_read_only() -> None:
    ranks = np.array([1, 2])
    run = Run("a", 0, ranks)
    ranks[0] = 9
    assert run.ranks[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        run.ranks[0] = 5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"control": "absent"}, "arm 'absent': expected one of rope, none, popularity"),
        ({"metrics": ("HR@1", "AUC")}, "unknown name 'auc'"),
        ({"users": ["ann"]}, r"of \[1, 4\] rows"),
        ({"runs": [Run("none", 0, np.ones(4, np.int64))] * 2}, "two runs of one arm and seed"),
        ({"runs": []}, "there are no runs"),
        ({"offsets": np.array([0, 2, 4])}, "4 users and offsets of 2 questions"),
        ({"offsets": np.array([0, 1, 2, 3, 5])}, r"of \[4, 5\] rows"),
        ({"offsets": np.array([0, 1, 1, 2, 4])}, "question 1 has no target: expected at least one"),
    ],
)
def test_refusals(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        comparison(**changes)


def test_loading_refuses_what_is_not_a_comparison(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"results.json is missing: expected the folder of a finished"):
        load_comparison(tmp_path)
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(InputError, match=r"results.json cannot be read"):
        load_comparison(tmp_path)
    (tmp_path / "results.json").unlink()
    comparison().save(tmp_path)
    results = json.loads((tmp_path / "results.json").read_text())
    (tmp_path / "results.json").write_text(json.dumps(results | {"arms": results["arms"][::-1]}))
    with pytest.raises(InputError, match="list different runs"):
        load_comparison(tmp_path)
    (tmp_path / "results.json").write_text(json.dumps(results | {"schema": 99}))
    with pytest.raises(InputError, match="have schema 99: expected 1"):
        load_comparison(tmp_path)
    (tmp_path / "results.json").write_text(json.dumps(results))
    (tmp_path / "ranks.parquet").write_text("no parquet")
    with pytest.raises(InputError, match=r"ranks.parquet cannot be read"):
        load_comparison(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arms": None}, r"has arms = None: expected list"),
        ({"arms": []}, r"has no arms.0: expected the file as a comparison wrote it"),
        ({"arms": [{"arm": "none"}]}, r"has no arms.0.seed"),
        (
            {"arms": [{"arm": "none", "seed": "0", "metrics": {}}]},
            r"has arms.0.seed = '0': expected int \| None",
        ),
        (
            {"arms": [{"arm": "none", "seed": 0, "metrics": "MRR"}]},
            r"has arms.0.metrics = 'MRR': expected dict",
        ),
        ({"split": "leave_one_out"}, r"has no split.name"),
        ({"split": {"name": "leave_one_out"}}, r"has no split.hash"),
        ({"seen": 1}, r"has seen = 1: expected str"),
    ],
)
def test_loading_names_the_key_that_is_missing_or_of_another_type(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    comparison().save(tmp_path)
    path = tmp_path / "results.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(InputError, match=rf"results.json {message}"):
        load_comparison(tmp_path)


@pytest.mark.parametrize("key", ["time_access", "seen", "control", "split", "data", "versions", "arms"])
def test_loading_names_each_key_that_is_missing(tmp_path: Path, key: str) -> None:
    comparison().save(tmp_path)
    path = tmp_path / "results.json"
    results = json.loads(path.read_text())
    del results[key]
    path.write_text(json.dumps(results))
    with pytest.raises(InputError, match=rf"results.json has no {key}"):
        load_comparison(tmp_path)
    path.write_text('{"schema": 1}')
    with pytest.raises(InputError, match=r"results.json has no arms"):
        load_comparison(tmp_path)


def test_loading_refuses_ranks_without_their_columns(tmp_path: Path) -> None:
    comparison().save(tmp_path)
    table = pq.read_table(tmp_path / "ranks.parquet")
    pq.write_table(table.drop_columns(["target", "arm"]), tmp_path / "ranks.parquet")
    with pytest.raises(InputError, match=r"ranks.parquet has no column arm, target"):
        load_comparison(tmp_path)
    words = pa.array(["first"] * len(table))
    pq.write_table(
        table.set_column(table.column_names.index("rank"), "rank", words), tmp_path / "ranks.parquet"
    )
    with pytest.raises(InputError, match=r"ranks.parquet has ranks of type string: expected integers"):
        load_comparison(tmp_path)
