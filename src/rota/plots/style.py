"""The house style: one palette, one type, thin lines; and a picture is on disk whole or not at all."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import matplotlib
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure

from rota.errors import InputError
from rota.files import written_whole

# Okabe and Ito's colours, told apart under every common colour blindness; the yellow is too pale for lines.
BLUE: Final = "#0072B2"
VERMILION: Final = "#D55E00"
GREEN: Final = "#009E73"
PURPLE: Final = "#CC79A7"
ORANGE: Final = "#E69F00"
SKY: Final = "#56B4E9"
PALETTE: Final = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
INK: Final = "#22303C"
QUIET: Final = "#66727C"
HAIRLINE: Final = "#D5DBE0"

_DPI = 160
_STYLE: Final[dict[Any, Any]] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "text.usetex": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": QUIET,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 7.0,
    "grid.color": HAIRLINE,
    "grid.linewidth": 0.5,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.major.size": 3.0,
    "ytick.major.size": 0.0,
    "xtick.major.width": 0.6,
    "lines.solid_capstyle": "round",
    "lines.solid_joinstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
}


def house_style() -> AbstractContextManager[None]:
    """Draw in the house style inside a ``with``; a user's own settings are as they were afterwards."""
    return matplotlib.rc_context(_STYLE)


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure; the format is the path's suffix (png, svg, pdf). An earlier file is replaced at once.

    Raises:
        InputError: The folder does not exist, or the suffix is no format for pictures.
    """
    kind = picture_format(path)
    with written_whole(path) as part:
        figure.savefig(part, format=kind, dpi=_DPI)


def picture_format(path: str | Path) -> str:
    """Format of a picture by its name, for instance ``"png"``.

    Raises:
        InputError: The suffix is no format for pictures.
    """
    suffix = Path(path).suffix
    kind = suffix.lstrip(".").lower()
    if kind not in FigureCanvasBase.get_supported_filetypes():
        raise InputError(f"picture {path}: unknown format {suffix!r}; end its name in .png, .svg or .pdf")
    return kind
