from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure

from rota.errors import InputError
from rota.plots import house_style, save_figure

PNG = b"\x89PNG\r\n\x1a\n"


def test_the_picture_alone_is_left(tmp_path: Path) -> None:
    save_figure(Figure(figsize=(2, 1)), tmp_path / "a.png")
    assert [file.name for file in tmp_path.iterdir()] == ["a.png"]
    content = (tmp_path / "a.png").read_bytes()
    assert content.startswith(PNG)
    assert [int.from_bytes(content[at : at + 4], "big") for at in (16, 20)] == [320, 160]  # 160 dots an inch


def test_a_failed_drawing_leaves_the_earlier_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(b"earlier")

    def fail(self: Figure, path: Path, **settings: object) -> None:
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save_figure(Figure(), tmp_path / "a.png")
    assert [file.name for file in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_bytes() == b"earlier"


def test_bad_paths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown format '.txt'; end its name in .png"):
        save_figure(Figure(), tmp_path / "a.txt")
    with pytest.raises(InputError, match=r"the folder .* does not exist; create it first"):
        save_figure(Figure(), tmp_path / "no" / "a.png")


def test_the_style_ends_with_its_block() -> None:
    before = dict(matplotlib.rcParams)
    with house_style():
        assert matplotlib.rcParams["font.family"] == ["DejaVu Sans"]
        assert not matplotlib.rcParams["axes.spines.top"]
    assert dict(matplotlib.rcParams) == before
