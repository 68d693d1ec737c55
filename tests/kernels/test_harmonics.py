"""Harmonics, fading or not: their values and laws by hand, and what is no list of harmonics."""

import tomllib

import numpy as np
import pytest
import tomli_w
from scipy.integrate import quad

from rota.errors import InputError
from rota.kernels import Cosine, FadingHarmonics, Harmonics, Kernel, parse_kernel
from rota.spectra import Density
from rota.tables import from_table, to_table

DAY = 86_400.0
BOTH = [Harmonics, FadingHarmonics]


def test_harmonics_by_hand() -> None:
    kernel = Harmonics("24h", [0, 1, 3], [2, 5, 3])
    lags = np.array([0, DAY / 6, DAY / 2, -1e9, 1e9 + 1])
    turn = 2 * np.pi * np.mod(lags, DAY) / DAY
    np.testing.assert_allclose(kernel(lags), 0.2 + 0.5 * np.cos(turn) + 0.3 * np.cos(3 * turn), atol=1e-12)
    law = kernel.spectrum()
    np.testing.assert_allclose(law.pmf([-3, -2, -1, 0, 1, 3]), [0.15, 0, 0.25, 0.2, 0.25, 0.15])
    np.testing.assert_allclose(law.characteristic(lags), kernel(lags), atol=1e-12)
    one = Harmonics("24h", [1], [7.0])
    np.testing.assert_allclose(one(lags), Cosine("24h")(lags), atol=1e-15)


@pytest.mark.parametrize("lag", [0.0, 1.3, 17, 333, 399, 401, 1234.5, -50, 40_000.3])
def test_fading_harmonics_against_integrals_of_the_density(lag: float) -> None:
    kernel = FadingHarmonics(100.0, [0, 1, 2, 5], [0.3, 0.2, 0.1, 0.4])
    law = kernel.spectrum()
    assert isinstance(law, Density)
    mean = 0j
    for left in range(7):  # a cubic on each interval: 20 cycles and more are given to QUADPACK's own rules
        a, b = left / 100, (left + 1) / 100
        for unit, name in ((1, "cos"), (1j, "sin")):
            value = quad(
                lambda x: 2 * float(law.pdf(x)), a, b, weight=name, wvar=2 * np.pi * abs(lag), epsabs=1e-13
            )[0]
            mean += unit * value * (np.sign(lag) if name == "sin" else 1)
    assert complex(law.fold().characteristic(lag)) == pytest.approx(mean, abs=1e-12)
    assert float(kernel(lag)) == pytest.approx(mean.real, abs=1e-12)


def test_quantiles_of_the_fading_law() -> None:
    law = FadingHarmonics("7d", [0, 1, 2, 9, 200], [0.3, 0.2, 0.1, 0.35, 0.05]).spectrum()
    p = np.concatenate([[0, 1e-9], np.linspace(0.001, 0.999, 4001)])
    found = law.quantile(p)
    assert (np.diff(found) >= 0).all()
    np.testing.assert_allclose(law.cdf(found), p, atol=1e-14)
    np.testing.assert_allclose(law.cdf(law.quantile(1e-12)), 1e-12, rtol=1e-6)
    assert abs(float(law.quantile(0.0))) <= 202 / (7 * DAY)
    deviation = np.sqrt(0.2 + 0.1 * 4 + 0.35 * 81 + 0.05 * 200**2 + 1 / 3) / (7 * DAY)
    assert law.scale == pytest.approx(min(deviation, 4 * -float(law.quantile(0.25))))


@pytest.mark.parametrize("made", BOTH)
def test_they_are_recipes(made: type[Harmonics] | type[FadingHarmonics]) -> None:
    kernel = made("24h", (0, 2), (0.25, 0.75))
    assert kernel == made(DAY, [0, 2], [0.25, 0.75])
    assert str(kernel).endswith("harmonics(24h, [0, 2], [0.25, 0.75])")
    assert parse_kernel(str(kernel)) == kernel
    table = tomllib.loads(tomli_w.dumps(to_table(kernel)))
    assert from_table(table, Kernel) == kernel  # type: ignore[type-abstract]
    assert hash(kernel) == hash(made(DAY, [0, 2], [0.25, 0.75]))


@pytest.mark.parametrize("made", BOTH)
@pytest.mark.parametrize(
    ("harmonics", "masses", "says"),
    [
        ([], [], "ascending whole numbers"),
        ([1, 1], [0.5, 0.5], "ascending whole numbers"),
        ([-1, 1], [0.5, 0.5], "ascending whole numbers"),
        ([0, 1], [1.0], "one each is needed"),
        ([0, 1], [1.0, -0.1], "none negative"),
        ([0], [0.0], "some positive"),
        ([0], [np.inf], "finite"),
    ],
)
def test_no_list_of_harmonics(
    made: type[Harmonics], harmonics: list[int], masses: list[float], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        made("24h", harmonics, masses)
