"""The same comparison from Python, from a DataFrame to a study in ten lines."""

import json
from pathlib import Path

import pandas
import polars
import pyarrow as pa
import pyarrow.parquet
import pytest
from compared import Compared
from rich.console import Console

from rota import InputError, Plan, Protocol, Training, Transformer, compare, parse_kernel, read_log
from town import columns

ARMS = ("rope", "rope+clockrope")
PLAN = Plan(
    arms=ARMS,
    prior=(parse_kernel("wrapped_gaussian(24h, 1h)"),),
    model=Transformer(embedding_dim=16),
    protocol=Protocol(training=Training(epochs=2, batch_size=8)),
)


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame, pa.table])
def test_a_dataframe_gives_what_the_command_line_gives(
    compared: Compared, tmp_path: Path, frame: type
) -> None:
    log = read_log(frame(columns(compared.rows)), user="user", item="item", time="when")
    study = compare(log, PLAN, out=tmp_path / "study")
    found = json.loads((tmp_path / "study" / "results.json").read_text(encoding="utf-8"))
    wanted = json.loads((compared.out / "results.json").read_text(encoding="utf-8"))
    arms = {*ARMS, "popularity", "popularity_now", "frequency", "routine"}
    assert study.comparison.to_json() == found
    for key in ("arms", "paired"):
        assert found[key] == [entry for entry in wanted[key] if entry["arm"] in arms]
    for key in ("schema", "time_access", "seen", "control", "split", "versions"):
        assert found[key] == wanted[key]
    assert found["data"] == wanted["data"] | {"name": log.name}
    by_hand = [
        row for row in pa.parquet.read_table(compared.out / "ranks.parquet").to_pylist() if row["arm"] in arms
    ]
    assert pa.parquet.read_table(tmp_path / "study" / "ranks.parquet").to_pylist() == by_hand


def test_without_a_folder_nothing_is_written_and_a_study_is_saved_later(
    compared: Compared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = read_log(polars.DataFrame(columns(compared.rows)), user="user", item="item", time="when")
    study = compare(log, PLAN)
    assert not list(tmp_path.iterdir())
    study.save("later")
    assert sorted(path.name for path in (tmp_path / "later").iterdir()) == [
        "attention.png", "learning.png", "prior.png", "ranks.parquet", "results.json"
    ]  # fmt: skip
    before = {path.name: path.read_bytes() for path in (tmp_path / "later").iterdir()}
    with pytest.raises(InputError, match="not overwritten"):
        study.save("later")
    assert {path.name: path.read_bytes() for path in (tmp_path / "later").iterdir()} == before
    for name in ("results.json", "ranks.parquet"):
        (tmp_path / "later" / name).unlink()
    with pytest.raises(InputError, match=r"attention\.png"):
        study.save("later")


def test_the_table_shows_the_means(compared: Compared, capsys: pytest.CaptureFixture[str]) -> None:
    log = read_log(pandas.DataFrame(columns(compared.rows)), user="user", item="item", time="when")
    study = compare(log, PLAN)
    Console(width=100).print(study.table())
    out = capsys.readouterr().out
    for arm in ("rope", "rope+clockrope", "popularity", "popularity_now", "frequency", "routine"):
        mean = study.comparison.metric(arm, "MRR").mean()
        (line,) = [line for line in out.splitlines() if line.split()[:1] == [arm]]
        assert f"{mean:.3f}".removeprefix("0") in line.split()
