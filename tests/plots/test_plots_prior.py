from pathlib import Path

import numpy as np
import pytest

from rota.analysis import ProfileFit
from rota.errors import InputError
from rota.plots import draw_prior, prior_figure
from rota.types import Float64Array

DAY = 86_400.0


def cosine(lag: Float64Array) -> Float64Array:
    return np.cos(2 * np.pi * lag / DAY)


def fit(label: str = "Cosine(24h)", harmonics: tuple[int, int] = (0, 1)) -> ProfileFit:
    frequencies = np.broadcast_to(np.array(harmonics)[:, None] / DAY, (3, 2, 4))
    return ProfileFit(label, cosine, frequencies)


def test_each_head_the_wanted_profile_and_the_mean() -> None:
    (axis,) = prior_figure([fit()]).axes
    *heads, wanted, mean, _ground = axis.lines
    assert len(heads) == 6
    hours = wanted.get_xdata()
    np.testing.assert_allclose(wanted.get_ydata(), np.cos(2 * np.pi * hours / 24), atol=1e-12)
    np.testing.assert_allclose(heads[0].get_ydata(), 1.0)
    np.testing.assert_allclose(mean.get_ydata(), (1 + np.cos(2 * np.pi * hours / 24)) / 2, atol=1e-12)
    assert wanted.get_linewidth() > mean.get_linewidth() > heads[0].get_linewidth()
    assert axis.get_xlim() == (0.0, 48.0)


def test_a_profile_a_panel_with_its_size_and_errors() -> None:
    figure = prior_figure([fit("daily"), fit("exact", (1, 1))])
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["daily", "exact"]
    details = [axis.texts[0].get_text() for axis in figure.axes]
    # Half of the heads are off by 1 - cos, of RMS sqrt(3/2): a head .612 on average, their mean .612 too.
    assert details[0] == "3 × 2 heads of 4 pairs; error 0.612 a head, 0.612 their mean"  # noqa: RUF001
    assert details[1] == "3 × 2 heads of 4 pairs; error 0.000 a head, 0.000 their mean"  # noqa: RUF001


@pytest.mark.parametrize(
    ("hours", "ticks"),
    [
        (6.0, [0, 1, 2, 3, 4, 5, 6]),
        (48.0, [0, 6, 12, 18, 24, 30, 36, 42, 48]),
        (168.0, [0, 24, 48, 72, 96, 120, 144, 168]),
    ],
)
def test_ticks_are_hours_days_or_parts_of_one(hours: float, ticks: list[float]) -> None:
    (axis,) = prior_figure([fit()], hours=hours).axes
    assert axis.get_xticks().tolist() == ticks
    assert axis.xaxis.get_major_formatter().format_ticks([18.0, 24.0, 36.0]) == ["18", "24\n1 d", "36"]


def test_the_file_is_a_picture(tmp_path: Path) -> None:
    draw_prior([fit(), fit()], tmp_path / "prior.png")
    assert [file.name for file in tmp_path.iterdir()] == ["prior.png"]
    content = (tmp_path / "prior.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert 1000 < int.from_bytes(content[16:20], "big") < 3000


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(InputError, match="expected at least one"):
        prior_figure([])
    with pytest.raises(InputError, match=r"up to 0\.0 h"):
        prior_figure([fit()], hours=0.0)
