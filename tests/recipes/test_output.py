"""The folder of a run: one owner, and nothing half-made under a name."""

from pathlib import Path

import pytest

from rota.errors import InputError
from rota.recipes.output import appearing, claim, require_empty


class BrokenError(Exception):
    """Whatever may go wrong."""


def broken(run: Path, made: str = "") -> None:
    """A run that makes something in its folder and fails."""
    with claim(run) as folder:
        if made:
            (folder / made).mkdir()
        raise BrokenError


def test_a_claimed_folder_is_there_with_its_parents(tmp_path: Path) -> None:
    with claim(tmp_path / "a" / "b") as folder:
        assert sorted(path.name for path in folder.iterdir()) == ["models"]
    assert (tmp_path / "a" / "b").is_dir()


def test_a_run_that_fails_early_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BrokenError):
        broken(tmp_path / "a" / "b")
    assert not list(tmp_path.iterdir())


def test_folders_that_were_there_stay(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(BrokenError):
        broken(tmp_path / "a")
    assert not list((tmp_path / "a").iterdir())


def test_what_someone_else_put_there_stays(tmp_path: Path) -> None:
    with pytest.raises(BrokenError):
        broken(tmp_path / "a" / "b", "notes")
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["notes"]


def interrupted(run: Path) -> None:
    """A run that finishes one model and is stopped amid the next."""
    with claim(run) as folder:
        with appearing(folder / "models" / "rope-seed0") as partial:
            partial.mkdir()
            (partial / "model.toml").write_text("x = 1")
        with appearing(folder / "models" / "rope-seed1") as partial:
            partial.mkdir()
            raise KeyboardInterrupt


def test_finished_models_stay(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "a")
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*"))
    assert found == ["a", "a/models", "a/models/rope-seed0", "a/models/rope-seed0/model.toml"]


def test_the_second_of_two_runs_is_refused_and_harms_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with claim(tmp_path / "a") as folder:
        with pytest.raises(InputError, match="not empty"), claim(tmp_path / "a"):
            pass
        monkeypatch.setattr("rota.recipes.output.require_empty", lambda _: None)  # both looked at once
        with pytest.raises(InputError, match="another folder"), claim(tmp_path / "a"):
            pass
        assert sorted(path.name for path in folder.iterdir()) == ["models"]


def test_a_name_too_long_is_refused_and_leaves_no_parents(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"), claim(tmp_path / "a" / ("b" * 5000)):
        pass
    assert not list(tmp_path.iterdir())


def test_an_empty_folder_is_free(tmp_path: Path) -> None:
    require_empty(tmp_path)
    require_empty(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="not empty"):
        require_empty(tmp_path)
    with pytest.raises(InputError, match="is a file"):
        require_empty(tmp_path / "file")
