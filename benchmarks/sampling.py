"""Error of drawn profiles, for every way of drawing; what unequal pairs leave of the gain; time of a draw.

    python benchmarks/sampling.py [--seeds 200] [--json sampling.json]

Errors are root mean squares over seeds, heads and lags: of each head's profile, and of the mean of four
heads' profiles, against the kernel. Lags go over a period, or to where the profile has died away.
"""

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from rota.frequencies import SamplingMethod, draw, kernel_rmse
from rota.kernels import (
    Cosine,
    Gaussian,
    Kernel,
    Laplace,
    Matern,
    Triangle,
    WrappedGaussian,
    certify,
    from_function,
)
from rota.recipes.timing import circumstances
from rota.rooms import offers
from rota.spectra import Lattice, Law
from rota.types import Float64Array

HEADS, HOUR = 4, 3600
PAIRS = (4, 8, 16, 32, 64)
DAILY, WEEKLY = WrappedGaussian("24h", "2h"), WrappedGaussian("7d", "14h")
KERNELS: dict[str, tuple[Kernel, float]] = {  # with the longest lag, in seconds
    "wrapped_gaussian(24h, 2h)": (DAILY, 24 * HOUR),
    "cosine(24h)": (Cosine("24h"), 24 * HOUR),
    "gaussian(2h)": (Gaussian("2h"), 8 * math.sqrt(2) * HOUR),
    "laplace(2h)": (Laplace("2h"), 8 * HOUR),
}
DECAYING: list[Kernel] = [
    Gaussian("1d"),
    Laplace("1d"),
    Matern("1d", 1.5),
    Triangle("1d"),
    DAILY * 0.7 + Gaussian("7d") * 0.3,
    DAILY * Laplace("14d"),
    Gaussian("1d") * Laplace("2d"),
]
METHODS = sorted(offers("frequencies", SamplingMethod), key=lambda name: (name != "iid", name))
Errors = dict[str, dict[str, dict[int, dict[str, float]]]]


def law_of(kernel: Kernel, fold: bool = True) -> Law:
    """Law that is drawn from: a lattice truncated as ClockRoPE does it, a density whole."""
    law = kernel.spectrum()
    law = law.truncate() if isinstance(law, Lattice) else law
    return law.fold() if fold else law


def errors(seeds: int) -> Errors:
    """Errors by kernel, method and pairs: of a head, and of the heads together."""
    found: Errors = {}
    for name, (kernel, longest) in KERNELS.items():
        law, lags = law_of(kernel), np.linspace(0, longest, 145)
        for method in METHODS:
            for pairs in PAIRS:
                drawn = [draw(law, pairs, HEADS, seed, method=method) for seed in range(seeds)]
                each = [kernel_rmse(one, kernel, lags) for one in drawn]
                head = math.sqrt(np.mean([one.heads**2 for one in each]))
                together = math.sqrt(np.mean([one.together**2 for one in each]))
                cell = {"head": head, "heads_together": together}
                found.setdefault(name, {}).setdefault(method, {})[pairs] = cell
    return found


def unequal(seeds: int, pairs: int = 32) -> dict[str, dict[str, float]]:
    """Error of a head for weights of pairs, by kind of weights and method; for the daily profile."""
    lags = np.linspace(0, 24 * HOUR, 145)
    found: dict[str, dict[str, float]] = {"equal": {}, "exponential": {}, "isotropic q and k": {}}
    for method in METHODS:
        squares: dict[str, list[float]] = {kind: [] for kind in found}
        sizes = []
        for seed in range(seeds):
            rng = np.random.default_rng([seed, 1])
            folded = draw(law_of(DAILY), pairs, HEADS, seed, method=method)
            weights = {"equal": None, "exponential": rng.exponential(size=(HEADS, pairs))}
            for kind, of in weights.items():
                squares[kind].append(float(np.mean(kernel_rmse(folded, DAILY, lags, of).heads ** 2)))
            cycles = draw(law_of(DAILY, fold=False), pairs, HEADS, seed, method=method).cycles_per_second
            logit, product = isotropic(cycles, lags, rng)
            squares["isotropic q and k"].append(float(np.mean((logit - product * DAILY(lags)) ** 2)))
            sizes.append(float(np.mean(product**2)))
        for kind, values in squares.items():
            scale = np.mean(sizes) if kind.startswith("isotropic") else 1.0  # relative to q.k
            found[kind][method] = math.sqrt(np.mean(values) / scale)
    return found


def isotropic(
    cycles: Float64Array, lags: Float64Array, rng: np.random.Generator
) -> tuple[Float64Array, Float64Array]:
    """Rotated products of normal q and k, shape (heads, lags), and the plain ones, shape (heads, 1)."""
    q, k = rng.normal(size=(2, *cycles.shape, 2)) @ np.array([1, 1j])
    turns = np.exp(2j * np.pi * np.mod(cycles[..., None] * lags, 1))
    both = q * k.conj()
    return (both[..., None] * turns).real.sum(1), both.real.sum(1, keepdims=True)


def timings(rounds: int = 20) -> dict[str, dict[str, float]]:
    """Processor milliseconds of laws and frequencies: 12 layers, 8 heads, 64 pairs; and of inversions."""

    def all_layers(kernel: Kernel, method: str) -> None:
        for layer in range(12):
            draw(kernel.spectrum().truncate().fold(), 64, 8, seed=0, layer=layer, method=method)

    def whole(kernel: Kernel) -> None:
        law = kernel.spectrum().fold()
        for layer in range(12):
            draw(law, 64, 8, seed=0, layer=layer)

    things: dict[str, Callable[[], object]] = {
        f"{label}, {method}": partial(all_layers, kernel, method)
        for label, kernel in (("one period", DAILY), ("two periods", 0.7 * DAILY + 0.3 * WEEKLY))
        for method in METHODS
    }
    things |= {f"{kernel}": partial(whole, kernel) for kernel in DECAYING}
    things["from_function, a period: law and certificate"] = lambda: certify(from_function(DAILY, "24h"))
    things["from_function, the line: law and certificate"] = lambda: certify(from_function(DECAYING[0]))
    found = {}
    for name, thing in things.items():
        thing()
        spent = []
        for _ in range(rounds):
            start = time.process_time()
            thing()
            spent.append(1e3 * (time.process_time() - start))
        found[name] = {"median": statistics.median(spent), "fastest": min(spent)}
    return found


def tables(
    found: Errors, weights: dict[str, dict[str, float]], spent: dict[str, dict[str, float]], seeds: int
) -> None:
    console = Console(width=110)
    for name, of in found.items():
        table = Table(title=f"{name}: RMSE of a head | of {HEADS} heads together, {seeds} seeds")
        for column in ("pairs", *of):
            table.add_column(column, justify="right")
        for pairs in PAIRS:
            cells = [of[method][pairs] for method in of]
            table.add_row(
                str(pairs), *(f"{cell['head']:.3f} | {cell['heads_together']:.3f}" for cell in cells)
            )
        console.print(table)
    table = Table(title="wrapped_gaussian(24h, 2h), 32 pairs of unequal size: RMSE of a head (iid / method)")
    for column in ("sizes", *METHODS):
        table.add_column(column, justify="left" if column == "sizes" else "right")
    for kind, of_kind in weights.items():
        iid = of_kind["iid"]
        table.add_row(kind, *(f"{of_kind[one]:.3f} ({iid / of_kind[one]:.2f}x)" for one in METHODS))
    console.print(table)
    table = Table("laws and frequencies, 12 layers x 8 heads x 64 pairs", "median CPU ms", "fastest")
    for label, milliseconds in spent.items():
        table.add_row(label, f"{milliseconds['median']:.1f}", f"{milliseconds['fastest']:.1f}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    spent = timings()
    found, weights = errors(arguments.seeds), unequal(arguments.seeds)
    tables(found, weights, spent, arguments.seeds)
    if arguments.json:
        record = {"seeds": arguments.seeds, "heads": HEADS, "lags": 145}
        record |= {"circumstances": circumstances("numpy", "scipy")}
        record |= {"rmse": found, "unequal_pairs": weights, "cpu_milliseconds": spent}
        arguments.json.write_text(json.dumps(_rounded(record), indent=1) + "\n")


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return round(value, 5) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
