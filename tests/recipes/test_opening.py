"""Opening: a prepared dataset is the log that it was made of, and nothing more is said of it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from rota.data import KCore, Reading, prepare
from rota.errors import InputError
from rota.recipes.opening import open_log, stated
from town import columns, town


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    parquet.write_table(pa.table(columns(town())), tmp_path / "town.parquet")
    reading = Reading("user", "item", "when", zone="Europe/Paris")
    prepare(tmp_path / "town.parquet", tmp_path / "town", reading, filters=[KCore(2, 2)])
    return tmp_path / "town"


def test_a_prepared_dataset_is_a_log(dataset: Path) -> None:
    opened = open_log(str(dataset), stated())
    assert opened.log.zone == "Europe/Paris"
    assert dict(opened.facts)["events"] == f"{len(opened.log):,}"
    sample = open_log(str(dataset), stated(), sample_users=5)
    assert sample.log.num_users == 5
    assert sample.log.fingerprint != opened.log.fingerprint
    assert "5 users" in dict(sample.facts)["sample"]


@pytest.mark.parametrize("option", ["user", "zone", "ties", "on_error"])
def test_it_is_understood_already(dataset: Path, option: str) -> None:
    value = {"user": "user", "zone": "UTC", "ties": "unordered", "on_error": "skip"}[option]
    with pytest.raises(InputError, match=rf"is a prepared dataset: {option.replace('_', '-')} '{value}'"):
        open_log(str(dataset), stated(**{option: value}))


def test_what_is_not_said_is_left_out() -> None:
    assert stated(user=None, unit="ms") == Reading(unit="ms")
    with pytest.raises(InputError, match="epoch 'moon'"):
        stated(epoch="moon")
