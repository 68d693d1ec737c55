"""The sheet of a measured law: curves are what they are called, and no text lies on another."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from rota.analysis import Lift, fit_law
from rota.analysis.law_fit import LawFit
from rota.kernels import Constant, Harmonics, Laplace, Measured
from rota.plots import measured_figure
from rota.recipes import design

DAY, WIDTH = 86_400.0, 3600.0
DAILY = Measured(Constant() * 0.3 + Harmonics("24h", [1, 2, 3], [3, 2, 1]) * 0.5 + Laplace("16h") * 0.2)


def fitted(profile: Measured, periods: list[str], *, hole: int = 0) -> LawFit:
    lags = WIDTH * np.arange(1, 14 * 24 + 1)
    expected = np.full((20, len(lags)), 50.0)
    same = np.random.default_rng(0).poisson(expected * 2 * profile(lags)).astype(np.int64)
    same[:, :hole] = 0
    return fit_law(Lift(lags, WIDTH, same, same, expected, 20, 1000, 1.0), periods)


LAWS = {
    "daily": fitted(DAILY, ["24h"]),
    "daily, nobody at once": fitted(DAILY, ["24h"], hole=3),
    "fading": fitted(Measured(Constant() * 0.3 + Laplace("16h") * 0.7), []),
    "nothing": fitted(Measured(Constant()), []),
}


def test_curves_are_the_lift_the_law_and_the_draw() -> None:
    law = LAWS["daily"]
    found = design(law.kernel, pairs=8, heads=2)
    near, far, harmonics, shares = measured_figure(law, found, "a log").axes
    lines = {str(line.get_label()): line for line in near.lines}
    lag = np.asarray(lines["law"].get_xdata()) * 3600
    np.testing.assert_allclose(lines["law"].get_ydata(), law.kernel(lag))
    np.testing.assert_allclose(lines["measured"].get_ydata(), law.lift.value[:48] / law.peak)
    mean = np.cos(2 * np.pi * np.multiply.outer(lag, found.frequencies.cycles_per_second)).mean((1, 2))
    np.testing.assert_allclose(lines["drawn, mean of heads"].get_ydata(), mean, atol=1e-9)
    assert (near.get_xlim()[1], far.get_xlim()[1]) == (48, 14 * 24)
    masses = next(line for line in harmonics.lines if line.get_label() == "24 h")
    share, part = law.kernel.periodic[0]
    np.testing.assert_allclose(masses.get_ydata(), share * part.arrays()[2])
    assert sum(bar.get_width() for bar in shares.patches) == pytest.approx(1)


@pytest.mark.parametrize("name", LAWS)
def test_no_text_lies_on_another_or_leaves_the_sheet(name: str) -> None:
    law = LAWS[name]
    figure = measured_figure(law, design(law.kernel, pairs=8, heads=2), "a log, sample of 1000")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    texts = [*figure.texts, *(text for axis in figure.axes for text in axis.texts)]
    for axis in figure.axes:
        texts += [axis.title, axis._left_title, axis.xaxis.label]  # type: ignore[attr-defined]
    boxes = [text.get_window_extent(renderer) for text in texts if text.get_text() and text.get_visible()]
    width, height = canvas.get_width_height()
    for place, box in enumerate(boxes):
        assert min(box.x0, box.y0) >= 0
        assert box.x1 <= width
        assert box.y1 <= height
        for other in boxes[place + 1 :]:
            assert not box.overlaps(other)


def test_what_was_not_fitted_is_marked() -> None:
    for name, marked in (("daily", False), ("daily, nobody at once", True)):
        law = LAWS[name]
        figure = measured_figure(law, design(law.kernel, pairs=8, heads=2), name)
        assert any("not fitted" in text.get_text() for text in figure.axes[0].texts) == marked
