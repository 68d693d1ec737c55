"""Learning curves: what is drawn is what was measured, and the epoch that was kept is marked."""

from pathlib import Path

import pytest

from rota.errors import InputError
from rota.plots.learning import draw_learning, learning_figure

CURVES = {"rope": [(0.1, 0.3, 0.2), (0.2, 0.25)], "none": [(0.15,)]}


def test_lines_are_the_scores_and_dots_the_best() -> None:
    rope, none = learning_figure(CURVES).axes[:2]
    lines = [line.get_xydata().tolist() for line in rope.lines]
    assert [[1, 0.1], [2, 0.3], [3, 0.2]] in lines
    assert [[2, 0.3]] in lines
    assert [[2, 0.25]] in lines
    assert rope.get_title(loc="left") == "rope"
    top = [line for line in none.lines if line.get_linestyle() == "--"]
    assert top[0].get_ydata()[0] == pytest.approx((0.3 + 0.25) / 2)  # the best arm's mean


def test_a_picture_is_written(tmp_path: Path) -> None:
    draw_learning(CURVES, tmp_path / "learning.png")
    assert (tmp_path / "learning.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("curves", [{}, {"rope": []}, {"rope": [()]}])
def test_what_has_no_epoch_is_refused(curves: dict[str, list[tuple[float, ...]]]) -> None:
    with pytest.raises(InputError, match="expected at least one arm, each with epochs"):
        learning_figure(curves)
