"""Files that are whole or not there."""

from pathlib import Path

import pytest

from rota.errors import InputError
from rota.files import written_whole


def test_a_file_appears_when_the_block_ends_well(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_text("before", encoding="utf-8")
    with written_whole(path) as part:
        part.write_text("after", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == "before"
    assert path.read_text(encoding="utf-8") == "after"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_of_a_block_that_fails(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"

    def fail() -> None:
        with written_whole(path) as part:
            part.write_text("half", encoding="utf-8")
            raise RuntimeError("full")

    with pytest.raises(RuntimeError, match="full"):
        fail()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "says"), [("absent/file.json", "does not exist; create it first"), ("", "is a folder")]
)
def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path, name: str, says: str) -> None:
    with (
        pytest.raises(InputError, match=says),
        written_whole(tmp_path / name),
    ):
        pass
