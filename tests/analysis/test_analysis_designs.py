"""Designs: lags worth a look, truncation as encodings do it, the spread over seeds."""

import numpy as np
import pytest

from rota.analysis import horizon, spread_over_seeds, truncated, truncation_curve
from rota.encodings import ClockRoPE
from rota.errors import InputError
from rota.frequencies import draw
from rota.kernels import Cosine, Gaussian, Kernel, WrappedGaussian
from rota.recipes import design
from rota.spectra import Lattice, Mixture

HOUR, DAY = 3600.0, 86_400.0
DAILY, WEEKLY = WrappedGaussian("24h", "2h"), WrappedGaussian("7d", "14h")


@pytest.mark.parametrize(
    ("kernel", "seconds"),
    [
        (DAILY, DAY),
        (DAILY * 0.7 + WEEKLY * 0.3, 7 * DAY),
        (DAILY.rescale(7), 7 * DAY),
        (Gaussian("2h"), np.pi * 2 * HOUR),  # half of 1 / scale, which is 2 pi widths
        (DAILY * Gaussian("14d"), np.pi * 14 * DAY),
    ],
)
def test_horizon(kernel: Kernel, seconds: float) -> None:
    assert horizon(kernel) == pytest.approx(seconds)


@pytest.mark.parametrize("kernel", [DAILY, WEEKLY, Cosine("24h"), DAILY * 0.7 + WEEKLY * 0.3])
@pytest.mark.parametrize("s", [None, 4])
def test_truncation_is_that_of_clockrope(kernel: Kernel, s: int | None) -> None:
    cut = truncated(kernel.spectrum(), s)
    ours = cut.merged() if isinstance(cut, Mixture) else cut
    theirs = ClockRoPE([kernel], truncation=s, fold=False).law(kernel)
    assert isinstance(ours, Lattice)
    np.testing.assert_array_equal(ours.harmonics, theirs.harmonics)
    np.testing.assert_allclose(ours.masses, theirs.masses, atol=1e-15)


def test_truncation_by_the_shortest_cycle() -> None:
    law = DAILY.spectrum()
    for cycle, harmonic in (("4h", 6), ("4.1h", 5), ("3.9h", 6), ("24h", 1), ("2h", 12)):
        cut = truncated(law, cycle)
        assert isinstance(cut, Lattice)
        assert np.abs(cut.harmonics).max() == harmonic
    density = Gaussian("2h").spectrum()
    assert truncated(density) is density
    cut = truncated(density, "2h")
    assert cut.cdf(1 / 7200 * 1.001) == 1
    assert cut.mass_cut == pytest.approx(1 - (2 * density.cdf(1 / 7200) - 1))
    with pytest.raises(InputError, match="harmonic 3 of a law without harmonics"):
        truncated(density, 3)


@pytest.mark.slow
def test_the_curve_of_truncation_is_what_each_cut_does() -> None:
    law = DAILY.spectrum()
    curve = truncation_curve(law)
    np.testing.assert_allclose(curve.cycles_per_second * DAY, np.arange(11))
    for at, mass, error in zip(np.arange(11), curve.mass_cut, curve.sup_error, strict=True):
        assert mass == pytest.approx(law.masses[np.abs(law.harmonics) > at].sum(), abs=1e-15)
        lags = np.linspace(0, DAY / 2, 2001)
        change = np.abs(law.truncate(int(at)).characteristic(lags) - law.characteristic(lags)).max()
        assert change * (1 - 1e-9) <= error <= change * 1.002 + 1e-12
    assert np.all(np.diff(truncation_curve((DAILY * Gaussian("14d")).spectrum()).mass_cut) <= 0)


def test_the_spread_is_that_of_plain_draws() -> None:
    law, lags = DAILY.spectrum().fold(), np.linspace(0, DAY, 49)
    spread = spread_over_seeds(law, DAILY(lags), lags, pairs=8, heads=2, method="iid")
    assert spread.seeds == 100
    draws = [draw(law, 8, 2, seed, method="iid").cycles_per_second for seed in range(100)]
    profiles = np.cos(2 * np.pi * np.multiply.outer(np.array(draws), lags)).mean(2)
    np.testing.assert_allclose(
        spread.head, np.quantile(profiles.reshape(200, -1), (0.05, 0.95), axis=0), atol=1e-12
    )
    errors = np.sqrt(((profiles.mean(1) - DAILY(lags)) ** 2).mean(1))
    np.testing.assert_allclose(spread.mean_error, np.quantile(errors, (0.05, 0.95)), atol=1e-12)
    even = spread_over_seeds(law, DAILY(lags), lags, pairs=8, heads=2, method="nested_lattice")
    assert even.head_error[1] < spread.head_error[1] / 2


def test_a_design_from_python() -> None:
    found = design(DAILY, pairs=16, heads=4)
    assert found.drawn is found.wanted
    assert found.distance == 0
    assert found.conjugate[0] == pytest.approx(0.587, abs=1e-3)
    assert found.highest == pytest.approx(6 / DAY)
    assert found.still[0] == pytest.approx(float(found.law.mass_at(0.0)))
    density = design("gaussian(2h)", pairs=16, heads=4)
    assert density.highest == np.inf
    exact = np.abs(density.law.characteristic(density.lags[::48]).imag).max()
    assert density.conjugate[0] == pytest.approx(exact, abs=5e-3)
