"""The picture of a modulation: its curves, axes and file."""

from pathlib import Path

import numpy as np
import pytest

from rota.analysis import Along, Modulation
from rota.errors import InputError
from rota.plots import draw_modulation, modulation_figure
from rota.types import Float64Array


def found(along: Along = Along.TIME, heads: int = 3, low: float = 0.0) -> Modulation:
    lags = np.arange(0, 172_801, 3600) if along == Along.TIME else np.arange(33)
    curve: Float64Array = np.linspace(1.0, low, len(lags))
    return Modulation(lags, along, np.stack([curve * (1 - 0.1 * head) for head in range(heads)]), curve**2)


def test_each_head_their_mean_and_elsewhere() -> None:
    (axis,) = modulation_figure(found(), "Clock").axes
    ground, *heads, mean, elsewhere = axis.lines
    assert set(ground.get_ydata()) == {0.0}
    assert len(heads) == 3
    hours = mean.get_xdata()
    assert (hours[0], hours[-1]) == (0.0, 48.0)
    np.testing.assert_allclose(mean.get_ydata(), 0.9 * (1 - hours / 48), atol=1e-12)
    np.testing.assert_allclose(elsewhere.get_ydata(), (1 - hours / 48) ** 2, atol=1e-12)
    assert axis.get_title(loc="left") == "Clock"
    assert axis.get_xticks().tolist() == [0, 6, 12, 18, 24, 30, 36, 42, 48]
    legend = axis.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["each head", "mean", "100 days and 5 h later"]


def test_by_position() -> None:
    (axis,) = modulation_figure(found(Along.POSITION, heads=1), "RoPE").axes
    assert axis.get_xlim() == (0.0, 32.0)
    assert all(tick == int(tick) for tick in axis.get_xticks())
    assert axis.get_xlabel() == "events between event and query"
    legend = axis.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["the head", "mean", "777 events later"]


@pytest.mark.parametrize(("low", "bottom"), [(0.0, -0.12), (-0.8, -0.86)])
def test_nothing_is_cut_off(low: float, bottom: float) -> None:
    (axis,) = modulation_figure(found(low=low), "x").axes
    assert axis.get_ylim() == pytest.approx((bottom, 1.08), abs=0.01)


def test_the_file_is_a_picture(tmp_path: Path) -> None:
    draw_modulation(found(), tmp_path / "clock.png", title="Clock")
    assert (tmp_path / "clock.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="unknown format"):
        draw_modulation(found(), tmp_path / "clock.txt", title="Clock")
