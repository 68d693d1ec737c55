"""The design sheet and its text: curves are what they are called, and nothing overlaps."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rota.analysis import Design
from rota.errors import InputError
from rota.kernels import PeriodicGaussian, WrappedGaussian
from rota.plots import design_figure, draw_design, law_table, profile_lines
from rota.recipes import design

PROFILES = [
    "wrapped_gaussian(24h, 2h)",
    "wrapped_gaussian(24h, 2h) * 0.7 + wrapped_gaussian(7d, 14h) * 0.3",
    "periodic_gaussian(24h, 4h)",
    "cosine(24h) + gaussian(3d)",
    "laplace(2min)",
]


@pytest.fixture(scope="module")
def designs() -> dict[str, Design]:
    return {profile: design(profile, pairs=8, heads=2) for profile in PROFILES}


def test_three_panels_show_profile_law_and_truncation(designs: dict[str, Design]) -> None:
    one = designs[PROFILES[0]]
    profile, law, truncation = design_figure(one).axes
    lines = {line.get_label(): line for line in profile.lines}
    hours = np.asarray(lines["wanted"].get_xdata())
    wanted = WrappedGaussian("24h", "2h")(hours * 3600)
    np.testing.assert_allclose(lines["wanted"].get_ydata(), wanted, atol=1e-12)
    mean = np.asarray(lines["this draw, mean of heads"].get_ydata())
    assert np.sqrt(((mean - wanted) ** 2).mean()) == pytest.approx(one.rmse.together)
    masses = next(line for line in law.lines if line.get_label() == "mass")
    np.testing.assert_allclose(masses.get_ydata(), one.merged.masses)  # type: ignore[attr-defined]
    cut = next(line for line in truncation.lines if line.get_label() == "mass cut")
    at = np.asarray(cut.get_xdata()).tolist().index(6.0)
    assert np.asarray(cut.get_ydata())[at] == pytest.approx(one.law.mass_cut)


def test_what_is_not_admissible_is_labelled(designs: dict[str, Design]) -> None:
    figure = design_figure(designs["periodic_gaussian(24h, 4h)"])
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    hours = np.asarray(lines["wanted"].get_xdata())
    asked = PeriodicGaussian("24h", "4h")(hours * 3600)
    np.testing.assert_allclose(lines["wanted"].get_ydata(), asked, atol=1e-12)
    apart = np.abs(np.asarray(lines["nearest admissible"].get_ydata()) - asked).max()
    assert 1e-3 < apart <= designs["periodic_gaussian(24h, 4h)"].distance * 1.05
    assert any("Not admissible" in text.get_text() for text in figure.texts)


@pytest.mark.parametrize("profile", PROFILES)
def test_no_text_overlaps_another_or_leaves_the_sheet(profile: str, designs: dict[str, Design]) -> None:
    figure = design_figure(designs[profile])
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    texts = list(figure.texts)
    for axis in figure.axes:
        texts += [*axis.texts, axis.title, axis._left_title, axis.xaxis.label, axis.yaxis.label]  # type: ignore[attr-defined]
        texts += [] if axis.get_legend() is None else axis.get_legend().get_texts()  # type: ignore[union-attr]
        for line, limits in ((axis.xaxis, axis.get_xlim()), (axis.yaxis, axis.get_ylim())):
            ticks = zip(line.get_majorticklocs(), line.get_ticklabels(), strict=True)
            texts += [label for at, label in ticks if limits[0] <= at <= limits[1]]
    texts = [text for text in texts if text.get_text().strip()]
    boxes = [text.get_window_extent(renderer) for text in texts]
    inside = figure.bbox
    for i, (text, box) in enumerate(zip(texts, boxes, strict=True)):
        assert box.x0 >= inside.x0, text.get_text()
        assert box.x1 <= inside.x1, text.get_text()
        assert box.y0 >= inside.y0, text.get_text()
        for other, second in zip(texts[:i], boxes[:i], strict=True):
            across = min(box.x1, second.x1) - max(box.x0, second.x0)
            down = min(box.y1, second.y1) - max(box.y0, second.y0)
            assert across < 2 or down < 2, (text.get_text(), other.get_text())


def test_the_file_is_a_picture(tmp_path: Path, designs: dict[str, Design]) -> None:
    draw_design(designs[PROFILES[0]], tmp_path / "prior.png")
    assert [file.name for file in tmp_path.iterdir()] == ["prior.png"]
    assert (tmp_path / "prior.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="unknown format"):
        draw_design(designs[PROFILES[0]], tmp_path / "prior.doc")


def test_a_profile_as_text() -> None:
    lags = np.linspace(0, 86_400, 1001)
    ramp = np.linspace(1, 0, 1001)
    lines = profile_lines(lags, ramp, np.stack([ramp, ramp * 0 + 0.5]), width=40, height=9)
    assert len(lines) == 11
    assert lines[0].startswith("    1 ┤▀")
    assert lines[8].rstrip()[-1] in "▄▀█"
    first = [min((line.find(mark) for mark in "▀▄█" if mark in line), default=-1) for line in lines[:9]]
    assert first == sorted(first)  # it falls
    assert "░" in lines[0] or "░" in lines[2]
    assert lines[-1].split() == ["0", "6", "h", "12", "h", "18", "h", "24", "h"]
    with pytest.raises(InputError, match="at least 2"):
        profile_lines(lags, ramp, ramp[None], width=1)


def test_the_table_has_the_heaviest_harmonics(designs: dict[str, Design]) -> None:
    table = law_table(designs[PROFILES[1]])
    assert table.row_count == 12
    assert str(table.caption) == "other harmonics, of less mass: 1"
    harmonics = list(table.columns[0].cells)
    assert harmonics[:3] == ["0", "1", "2"]
    assert "7" in harmonics
