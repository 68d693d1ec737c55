import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from rota.analysis import AttentionByGap
from rota.errors import InputError
from rota.plots import attention_figure, draw_attention


def curve(peak: float = 1.0, hours: int = 168) -> AttentionByGap:
    centres = np.arange(2 * hours + 1) / 2
    edges = np.append(centres - 0.25, hours + 0.25)
    relative = np.where(np.abs((centres + 12) % 24 - 12) <= 1, peak, 1.0)
    relative[23] = np.nan
    pairs = np.full(len(centres), 10)
    pairs[23] = 0
    return AttentionByGap(edges, relative, pairs)


def texts(figure: Figure) -> str:
    return "\n".join(text.get_text().replace("\n", " ") for text in figure.texts)


def names(figure: Figure) -> list[str]:
    return [axis.get_title(loc="left") for axis in figure.axes if axis.get_visible()]


def test_an_arm_a_panel_a_seed_a_line_and_their_mean() -> None:
    figure = attention_figure({"none": [curve(), curve()], "clockrope": [curve(4.0), curve(2.0)]})
    assert names(figure) == ["none", "clockrope"]
    first, second = figure.axes
    assert [axis.texts[0].get_text() for axis in figure.axes] == [
        "daily contrast 1.00",
        "daily contrast 3.00",
    ]
    seeds, mean, uniform = second.lines[:2], second.lines[2], second.lines[3]
    assert [line.get_ydata()[48] for line in seeds] == [4.0, 2.0]
    assert mean.get_ydata()[48] == 3.0
    assert mean.get_linewidth() > seeds[0].get_linewidth()
    assert uniform.get_ydata() == [1.0, 1.0]
    assert first.get_xlim() == second.get_xlim() == (0.0, 168.0)
    assert first.get_ylim() == second.get_ylim()
    assert first.get_yscale() == "log"
    assert "relative to uniform attention over what each query could see" in texts(figure)


def test_ticks_are_days_and_doublings() -> None:
    figure = attention_figure({"clockrope": [curve(4.0)]})
    figure.draw_without_rendering()
    (axis,) = figure.axes
    assert [label.get_text() for label in axis.get_xticklabels()][:3] == ["0", "24\n1 d", "48\n2 d"]
    low, high = axis.get_ylim()
    shown = {
        label.get_text(): at for label, at in zip(axis.get_yticklabels(), axis.get_yticks(), strict=True)
    }
    assert {text for text, at in shown.items() if low <= at <= high} == {"×½", "×1", "×2", "×4"}  # noqa: RUF001


@pytest.mark.parametrize(("arms", "unused"), [(1, 0), (2, 0), (3, 0), (4, 0), (5, 1), (7, 2)])
def test_unused_panels_are_hidden_and_every_column_shows_its_hours(arms: int, unused: int) -> None:
    figure = attention_figure({f"arm {number}": [curve()] for number in range(arms)})
    visible = [axis for axis in figure.axes if axis.get_visible()]
    assert len(visible) == arms
    assert len(figure.axes) - arms == unused
    columns = {axis.get_position().x0 for axis in visible}
    labelled = [axis for axis in visible if axis.xaxis.get_tick_params()["labelbottom"]]
    assert {axis.get_position().x0 for axis in labelled} == columns
    assert len(labelled) == len(columns)


def test_the_file_is_a_picture_and_pyplot_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    draw_attention(
        {f"arm {number}": [curve(3.0), curve(2.0)] for number in range(5)}, tmp_path / "attention.png"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["attention.png"]
    content = (tmp_path / "attention.png").read_bytes()
    width, height = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    assert 1200 < width < 3000
    assert 600 < height < 3000
    assert len(content) > 20_000
    assert "matplotlib.pyplot" not in sys.modules


def test_empty_and_zero_bins_break_the_line_only() -> None:
    nothing = AttentionByGap(curve().edges_hours, np.full(337, np.nan), np.zeros(337, dtype=np.int64))
    zeros = AttentionByGap(curve().edges_hours, np.zeros(337), np.full(337, 3))
    figure = attention_figure({"nothing": [nothing], "zeros": [zeros], "short": [curve()]})
    figure.draw_without_rendering()
    assert np.isnan(figure.axes[1].lines[0].get_ydata()).all()
    assert np.isfinite(figure.axes[0].get_ylim()).all()


def test_a_range_too_short_for_a_contrast_has_none() -> None:
    assert attention_figure({"short": [curve(hours=24)]}).axes[0].texts[0].get_text() == ""


def test_no_arms_and_arms_without_curves_are_refused() -> None:
    with pytest.raises(InputError, match="no arm was given"):
        attention_figure({})
    with pytest.raises(InputError, match="expected one or more"):
        attention_figure({"none": []})
