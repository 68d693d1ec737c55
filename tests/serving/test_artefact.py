"""An artefact: what is written is what is read, nothing is unpickled, and what does not belong is refused."""

import pickle
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from logs import log_of, random_rows
from rota import __version__
from rota.errors import InputError
from rota.models.blueprint import Blueprint
from rota.models.transformer import Transformer
from rota.serving.artefact import Artefact, is_artefact, load_artefact, save_artefact
from rota.serving.catalogue import Catalogue
from rota.training.checkpoint import load_checkpoint, save_checkpoint
from served import question_of, untrained

FILES = ["artefact.toml", "model.safetensors", "model.toml", "vocabulary.parquet"]


@pytest.fixture(scope="module")
def made() -> Artefact:
    rows = random_rows(0, users=6, most=14, instants=40, step=3600, start=1_700_000_000)
    return untrained(question_of(log_of(rows, zone="America/New_York")))


@pytest.fixture
def folder(made: Artefact, tmp_path: Path) -> Path:
    save_artefact(tmp_path / "model", made)
    return tmp_path / "model"


def test_what_is_loaded_is_what_was_saved(made: Artefact, tmp_path: Path) -> None:
    written = save_artefact(tmp_path / "model", made)
    loaded = load_artefact(tmp_path / "model")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == FILES
    assert loaded.blueprint == made.blueprint
    assert loaded.provenance == written.provenance
    assert loaded.provenance.version == __version__
    assert loaded.provenance.zone == "America/New_York"
    assert loaded.catalogue.ids.equals(made.catalogue.ids)
    assert np.array_equal(loaded.catalogue.counts, made.catalogue.counts)
    assert not loaded.network.training
    for name, tensor in made.network.state_dict().items():
        assert torch.equal(loaded.network.state_dict()[name], tensor)


def test_counts_are_those_of_training_alone() -> None:
    rows = [(user, item, 10 * place) for user in "ab" for place, item in enumerate("xyxzyw")]
    made = untrained(question_of(log_of(rows, known_epoch=False)))
    assert dict(zip("wxyz", made.catalogue.counts.tolist(), strict=True)) == {"w": 0, "x": 4, "y": 2, "z": 2}
    assert (made.provenance.first, made.provenance.last) == (0, 30)
    assert not made.provenance.known_epoch


def test_nothing_is_unpickled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    monkeypatch.setattr(torch, "load", refuse)
    load_artefact(folder)


def edited(old: str, new: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        text = (folder / "artefact.toml").read_text()
        assert old in text
        (folder / "artefact.toml").write_text(text.replace(old, new))

    return edit


def other_weights(folder: Path) -> None:
    """Weights of another seed, which fit in shape."""
    plan, _ = load_checkpoint(folder)
    save_checkpoint(folder, plan, replace(plan, seed=9).build())


def wider(folder: Path) -> None:
    plan, _ = load_checkpoint(folder)
    weights = (folder / "model.safetensors").read_bytes()
    recipe = Blueprint(Transformer(embedding_dim=32), plan.num_items, plan.unit, plan.time_access, 0)
    save_checkpoint(folder, recipe, recipe.build())
    (folder / "model.safetensors").write_bytes(weights)


def fewer_items(folder: Path) -> None:
    table = folder / "model.toml"
    table.write_text(re.sub(r"num_items = \d+", "num_items = -3", table.read_text()))


def renamed_item(folder: Path) -> None:
    table = pq.read_table(folder / "vocabulary.parquet")
    ids = pa.array([*table["item"].to_pylist()[:-1], "another"])
    pq.write_table(pa.table({"item": ids, "count": table["count"]}), folder / "vocabulary.parquet")


def shorter(folder: Path) -> None:
    table = pq.read_table(folder / "vocabulary.parquet")
    pq.write_table(table.slice(1), folder / "vocabulary.parquet")


def recounted(counts: list[float]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        ids = pq.read_table(folder / "vocabulary.parquet")["item"]
        every = (counts * len(ids))[: len(ids)]
        pq.write_table(pa.table({"item": ids, "count": every}), folder / "vocabulary.parquet")

    return spoil


def without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def torn(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-9])


SPOILT: dict[str, tuple[Callable[[Path], None], tuple[str, ...]]] = {
    "another format": (edited("format = 1", "format = 2"), ("format 2", "reads 1", "train the model again")),
    "a format of words": (edited("format = 1", 'format = "x"'), ("format 'x'", "reads 1")),
    "a newer version": (
        edited(f'version = "{__version__}"', 'version = "99.1"'),
        ("99.1", __version__, "install"),
    ),
    "an unknown key": (edited("seen =", "sight ="), ("'sight'", "expected some of")),
    "a value of another type": (edited('seen = "keep"', "seen = 3"), ("seen is 3", "str")),
    "no TOML": (edited("format =", "format"), ("not TOML",)),
    "no facts": (without("artefact.toml"), ("no trained model", "artefact.toml")),
    "no recipe": (without("model.toml"), ("model.toml", "no such file")),
    "no weights": (without("model.safetensors"), ("model.safetensors", "no such file")),
    "no vocabulary": (without("vocabulary.parquet"), ("vocabulary.parquet", "no such file")),
    "torn weights": (torn("model.safetensors"), ("model.safetensors", "digest differs")),
    "torn vocabulary": (torn("vocabulary.parquet"), ("vocabulary.parquet", "cannot be read")),
    "a table of another shape": (wider, ("model.toml", "digest differs")),
    "a catalogue that cannot be": (fewer_items, ("model.toml", "digest differs")),
    "weights of another training": (other_weights, ("model.safetensors", "digest differs")),
    "another item": (renamed_item, ("vocabulary.parquet", "digest differs")),
    "counts below none": (recounted([-5]), ("vocabulary.parquet", "a count of -5")),
    "counts of halves": (recounted([1.5]), ("vocabulary.parquet", "cannot be read")),
    "an item less": (shorter, ("vocabulary.parquet", "digest differs")),
}


@pytest.mark.parametrize("case", SPOILT)
def test_what_does_not_belong_is_refused_in_one_line(case: str, folder: Path) -> None:
    spoil, said = SPOILT[case]
    load_artefact(folder)
    spoil(folder)
    with pytest.raises(InputError) as refused:
        load_artefact(folder)
    assert "\n" not in str(refused.value)
    for part in said:
        assert part in str(refused.value)


@pytest.mark.parametrize("version", ["0.0.9", "0.1.0", "0.0.10rc1"])
def test_older_versions_of_the_format_are_read(folder: Path, version: str) -> None:
    edited(f'version = "{__version__}"', f'version = "{version}"')(folder)
    assert load_artefact(folder).provenance.version == version


def test_a_write_that_breaks_off_leaves_no_model(
    made: Artefact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rota.serving.catalogue.pq.write_table", full)
    with pytest.raises(OSError, match="No space"):
        save_artefact(tmp_path / "model", made)
    assert not is_artefact(tmp_path / "model")
    with pytest.raises(InputError, match="no trained model"):
        load_artefact(tmp_path / "model")


def test_a_model_can_be_copied_and_moved(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "elsewhere")
    assert load_artefact(tmp_path / "elsewhere").provenance == load_artefact(folder).provenance


@pytest.mark.parametrize(
    ("ids", "given", "codes"),
    [
        (pa.array([3, 5, 2**60 + 1]), pa.array([5, 4, 2**60 + 1, 2**60]), [1, -1, 2, -1]),
        (pa.array([3, 5], pa.int64()), pa.array([5, 3], pa.int8()), [1, 0]),
        (pa.array([3, 2**63 + 1], pa.uint64()), pa.array([3, -1]), [0, -1]),
        (pa.array([3, 5]), pa.array([2**63 + 1, 5], pa.uint64()), [-1, 1]),
        (pa.array(["a", "é"], pa.large_string()), pa.array(["é", "e", "a"]), [1, -1, 0]),
        (pa.array(["a"]), pa.array([], pa.null()), []),
    ],
)
def test_codes_are_found_by_value(ids: pa.Array, given: pa.Array, codes: list[int]) -> None:
    catalogue = Catalogue(ids, np.zeros(len(ids), np.int64))
    assert catalogue.codes(given).tolist() == codes
    known = [code for code in codes if code >= 0]
    assert catalogue.named(np.array(known, np.int64)) == [ids[code].as_py() for code in known]


@pytest.mark.parametrize(("given", "kind"), [(pa.array(["1"]), "text"), (pa.array([True]), "bool")])
def test_ids_of_another_kind_are_refused(given: pa.Array, kind: str) -> None:
    catalogue = Catalogue(pa.array([1, 2]), np.zeros(2, np.int64))
    with pytest.raises(InputError, match=f"items are {kind}, .* whole numbers, such as 1"):
        catalogue.codes(given)


def test_the_digest_tells_catalogues_apart() -> None:
    def digest(ids: pa.Array) -> str:
        return Catalogue(ids, np.zeros(len(ids), np.int64)).digest

    same = digest(pa.array(["a", "b"]))
    assert digest(pa.array(["a", "b"], pa.large_string())) == same
    others = [["b", "a"], ["a"], ["a", "b", "c"], ["a\nb"], ["ab"]]
    assert len({same, *(digest(pa.array(ids)) for ids in others), digest(pa.array([1, 2]))}) == 7
    assert digest(pa.array([1, 2])) != digest(pa.array(["1", "2"]))
