"""Draw the pictures of ``docs/`` and the README: ``python scripts/pictures.py [FOLDER]``.

Encodings are drawn as they turn. What is no rotation is drawn by what it adds: a bias, or the vectors of
intervals, to a logit; an input to the likeness of two events. A bias by time starts as noise, and may become
anything that its buckets can hold, intervals too: drawn is the profile that ClockRoPE has by default, as near
as they come to it.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from rota import ClockRoPE, draw_design, modulation, modulation_figure, relative_intervals
from rota.analysis import Along, Modulation
from rota.attention import Intervals
from rota.encodings import Encoding, GapBias, InputRecipe, PositionBias, TimeBias
from rota.plots import house_style, save_figure
from rota.recipes.designing import design
from rota.tables import Recipe, from_table
from rota.types import Float64Array, Int64Array

DOCS = Path(__file__).parent.parent / "docs"
DESIGNS = {
    "design.png": "wrapped_gaussian(24h, 2h)",
    "design-sum.png": "wrapped_gaussian(24h, 2h) * 0.7 + wrapped_gaussian(7d, 14h) * 0.3",
}
SECONDS, EVENTS = np.arange(0, 8 * 86_400 + 1, 600), np.arange(0, 129)  # lags that are shown
NOW, LATER = 1_700_000_000, 1_700_000_000 + 100 * 86_400 + 5 * 3600  # as `modulation` has them
DRAWS, LAYERS, WIDTH, MAX_LEN = 8, 3, 256, 200
PICTURE = re.compile(r"!\[[^\]]*\]\(images/(encoding-[\w-]+\.png)\)")
TABLE = re.compile(r"```toml\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Addition:
    """What is added for a pair of events, by the lag between them: three curves and what each is."""

    lags: Int64Array
    along: Along
    pale: Float64Array
    dark: Float64Array
    dotted: Float64Array
    legend: tuple[str, str, str]
    measured: str


def gallery() -> Iterator[tuple[str, str, Recipe]]:
    """Each picture of ``docs/encodings.md``: its file, the title of its section, and what the TOML says."""
    page = (DOCS / "encodings.md").read_text(encoding="utf-8")
    for section in re.split(r"^#+ ", page, flags=re.MULTILINE):
        for name, table in zip(PICTURE.findall(section), TABLE.findall(section), strict=False):
            yield name, section.partition("\n")[0], from_table(tomllib.loads(table), Recipe)


def figure_of(recipe: Recipe, title: str) -> Figure:
    """What a recipe makes of two events by the lag between them."""
    if isinstance(recipe, Encoding):
        lags, along = (SECONDS, "time") if recipe.needs_clock else (EVENTS, "position")
        return modulation_figure(modulation(recipe, lags, along), title)
    if isinstance(recipe, TimeBias):
        return addition_figure(time_bias(recipe), title)
    if isinstance(recipe, PositionBias):
        return addition_figure(position_bias(recipe), title)
    if isinstance(recipe, InputRecipe):
        return addition_figure(likeness(recipe), title)
    assert isinstance(recipe, Intervals)
    return addition_figure(intervals(recipe), title)


def addition_figure(found: Addition, title: str) -> Figure:
    """The picture of an encoding with other curves on it."""
    figure = modulation_figure(Modulation(found.lags, found.along, found.pale, found.dotted), title)
    (axis,) = figure.axes
    axis.lines[-2].set_ydata(found.dark)
    drawn = np.concatenate([line.get_ydata() for line in axis.lines])
    margin = 0.06 * (drawn.max() - drawn.min())
    axis.set_ylim(drawn.min() - margin, drawn.max() + margin)
    axis.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
    axis.set_ylabel(found.measured)
    legend = axis.get_legend()
    assert legend is not None
    for text, said in zip(legend.get_texts(), found.legend, strict=True):
        text.set_text(said)
    return figure


def wanted(lags: Int64Array) -> Float64Array:
    """The profile that ClockRoPE has by default: 24 h, 2 h wide."""
    return ClockRoPE().kernels[0](lags.astype(np.float64))


def nearest(bucket: Tensor, buckets: int) -> Tensor:
    """The number of each bucket that comes nearest to the wanted profile over the lags in it: their mean."""
    count = torch.bincount(bucket, minlength=buckets).clamp(min=1)
    return torch.bincount(bucket, torch.from_numpy(wanted(SECONDS)), minlength=buckets) / count


def time_bias(recipe: TimeBias) -> Addition:
    """Of its buckets alone: pale each layer at the start, dark had it learned the wanted profile."""
    now, ago = torch.tensor([[NOW]]), (NOW - torch.from_numpy(SECONDS))[None]
    layers = [recipe.build(max_len=MAX_LEN, layer=layer) for layer in range(LAYERS)]
    by_time = [GapBias(layer.weight.detach(), layer.starts) for layer in layers]
    with torch.no_grad():
        start = torch.cat([layer(now, ago)[0, 0] for layer in by_time])
        bucket = by_time[0].buckets(now, ago).flatten()
        learned = GapBias(nearest(bucket, len(layers[0].weight)), layers[0].starts)(now, ago).flatten()
    legend = f"{LAYERS} layers at the start", "nearest to a day's profile", "the profile"
    return Addition(
        SECONDS, Along.TIME, start.double().numpy(), learned.numpy(), wanted(SECONDS), legend, "bias"
    )


def position_bias(recipe: PositionBias) -> Addition:
    """As at the start: pale each layer, dark their mean, dotted further on in the row."""
    place = torch.from_numpy(EVENTS)
    layers = [recipe.build(max_len=MAX_LEN, layer=layer) for layer in range(LAYERS)]
    with torch.no_grad():
        here, there = (
            np.stack(
                [
                    layer(None, None, torch.tensor([at]), at - place).flatten().double().numpy()
                    for layer in layers
                ]
            )
            for at in (1000, 1777)
        )
    legend = f"{LAYERS} layers at the start", "mean", "777 events later"
    return Addition(EVENTS, Along.POSITION, here, here.mean(0), there.mean(0), legend, "bias")


def likeness(recipe: InputRecipe) -> Addition:
    """Cosine between the features of two events, as at the start: pale each draw of the weights."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(0)
        modules = [recipe.build(WIDTH) for _ in range(DRAWS)]
        here, there = (np.stack([_cosines(module, at) for module in modules]) for at in (NOW, LATER))
    legend = f"{DRAWS} starting weights", "mean", "100 days and 5 h later"
    return Addition(SECONDS, Along.TIME, here, here.mean(0), there.mean(0), legend, "likeness")


def _cosines(module: torch.nn.Module, at: int) -> Float64Array:
    time = (at - torch.from_numpy(SECONDS))[None]
    features = torch.nn.functional.normalize(module(time, time)[0].double(), dim=-1)
    return np.asarray(features @ features[0])


def intervals(recipe: Intervals) -> Addition:
    """Key vectors that hold the wanted profile for a user of one event an hour: pale another user."""
    now, ago = torch.tensor([[NOW]]), (NOW - torch.from_numpy(SECONDS))[None]
    hourly, often = (
        relative_intervals(now, ago, torch.tensor([[scale]]), recipe.num_intervals).flatten()
        for scale in (3600, 300)
    )
    table = nearest(hourly, recipe.num_intervals + 1)
    legend = "smallest gap 5 minutes", "smallest gap 1 h", "the profile"
    return Addition(
        SECONDS,
        Along.TIME,
        table[often][None].numpy(),
        table[hourly].numpy(),
        wanted(SECONDS),
        legend,
        "logit",
    )


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "images"
    for name, profile in DESIGNS.items():
        draw_design(design(profile), folder / name)
    for name, title, recipe in gallery():
        figure = figure_of(recipe, title)
        with house_style():
            save_figure(figure, folder / name)


if __name__ == "__main__":
    main()
